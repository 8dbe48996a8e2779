# shellcheck shell=bash disable=SC2034,SC2154 # recipes and this file share variables
# How a cluster of three servers starts and stops; sourced by the scripts that know
# what a node needs, which give `attempt`, behind the script of the single server.

start_server() {
  programs "$home"
  retry_ports attempt
}

# Leaving in good order takes long, and nobody comes back.
stop_server() {
  local n
  for n in 1 2 3; do halt KILL "$dir/$n"; done
}
