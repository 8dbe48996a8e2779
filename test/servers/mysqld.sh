# shellcheck shell=bash disable=SC2034,SC2154 # recipes and this file share variables
# What MySQL and MariaDB share. A recipe defines the function "programs", which sets
# $mysqld, the words that run the server with its own files, and sets $options, those
# of its version, and $single, those of a server that is no part of a cluster.
. "$(dirname "${BASH_SOURCE[0]}")/server.sh"

# Only this host gets in; the data needs no care; the sessions' time zone is the same everywhere.
common=(--bind-address=127.0.0.1 --skip-name-resolve --max-connections=200
  --innodb-buffer-pool-size=64M --innodb-flush-log-at-trx-commit=0
  --character-set-server=utf8mb4 --default-time-zone=+00:00 --socket=server.sock)
[ "$(id -u)" != 0 ] || common+=(--user=root)

# The user of the tests may do everything, from everywhere, without a password.
grants="CREATE DATABASE qgen;
CREATE USER 'qgen'@'%' IDENTIFIED BY '';
GRANT ALL ON *.* TO 'qgen'@'%' WITH GRANT OPTION;"

dsn() { echo "qgen@tcp(127.0.0.1:$1)/qgen?parseTime=true"; }

# fresh copies the data folder that the cache keeps; auto.cnf would give two servers one name.
fresh() {
  [ ! -d "$2" ] || return 0
  mkdir -p "$(dirname "$2")"
  cp -r --reflink=auto --sparse=always "$1" "$2.part"
  rm -f "$2.part/auto.cnf"
  mv "$2.part" "$2"
}

# mysqld_on sets $command to the words that run the server on a data folder. A server
# clears its folder for temporary files when it starts, so no two may share one.
mysqld_on() {
  mkdir -p "$1.tmp"
  command=("${mysqld[@]}" "${common[@]}" "${options[@]}" --datadir="$1" --tmpdir="$1.tmp" "${more[@]}")
}

# once runs the server on $part/data in one of its modes for a new database.
once() {
  local command
  mysqld_on "$part/data"
  "${command[@]}" "$@" >"$part/data.log" 2>&1 ||
    { tail -n 20 "$part/data.log" >&2; fail "cannot make an empty database"; }
}

# serve launches a server on a data folder: `serve DIR PORT OPTION…`.
serve() {
  local command
  mysqld_on "$1"
  launch "$1" "${command[@]}" --port="$2" --pid-file=server.pid "${@:3}"
}

# ready tells whether the server of a data folder takes clients.
ready() { grep -qs 'ready for connections' "$1.log"; }

attempt() {
  local ports
  free_ports 1
  serve "$dir" "${ports[0]}" "${single[@]}"
  await 60 ready "$dir" && dsn "${ports[0]}"
}

start_server() {
  programs "$home"
  fresh "$home/data" "$dir"
  retry_ports attempt
}

stop_server() { halt TERM "$dir"; }
