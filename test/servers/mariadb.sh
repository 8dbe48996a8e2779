#!/usr/bin/env bash
# MariaDB servers for the tests, without root and without Docker.
#
#   mariadb.sh install VERSION     puts the server's programs and an empty database into the cache
#   mariadb.sh start VERSION DIR   starts one with its data in DIR, prints its DSN
#   mariadb.sh stop VERSION DIR    stops it; DIR stays
#
# VERSION is 10.5, 10.11 or 11.8. The programs are those of Debian 11, 12 and 13,
# unpacked into ${QGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qgen}, which is safe to
# keep between CI runs. Servers listen on 127.0.0.1, know a user "qgen" without a
# password, and do not sync to disk: their data is worth nothing after the test.

# shellcheck disable=SC2034 # the files that are sourced read the variables
. "$(dirname "${BASH_SOURCE[0]}")/mysqld.sh"
. "$here/debian.sh"

product=MariaDB
version=${2:-none}
case $version in
10.5) suite=bullseye packages=(mariadb-server-core-10.5) ;;
10.11) suite=bookworm packages=(mariadb-server-core galera-4) ;; # the cluster of galera.sh is of this version
11.8) suite=trixie packages=(mariadb-server-core) ;;
*) usage ;;
esac
home=$cache/mariadb-$version
options=(--innodb-doublewrite=0 --innodb-flush-method=nosync --innodb-use-native-aio=0 --innodb-log-file-size=16M)
single=()

# programs sets $mysqld to the server below a folder of the cache.
programs() {
  local root=$1/root
  share=$root/usr/share/mysql
  [ -e "$share/fill_help_tables.sql" ] || share=$root/usr/share/mariadb
  debian_loader "$root"
  mysqld=("${loader[@]}" "$root/usr/sbin/mariadbd" --no-defaults --basedir="$root/usr" --lc-messages-dir="$share"
    --character-sets-dir="$share/charsets" --plugin-dir="$root/usr/lib/mysql/plugin")
}

install_server() { install "$home" fill; }

# The server's own script for a new database runs programs that would not find
# the loader; this is what it does, without the help texts and the host's name.
fill() {
  local file
  debian_root "$suite" "$part/root" "${packages[@]}"
  programs "$part"
  mkdir -p "$part/data/mysql"
  {
    printf 'CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\n'
    for file in "$share"/m{ysql,ariadb}_{system_tables,performance_tables,system_tables_data,sys_schema}.sql; do
      [ ! -e "$file" ] || sed '/@current_hostname/d' "$file"
    done
    printf 'FLUSH PRIVILEGES;\n%s\n' "$grants"
  } | once --bootstrap --log-warnings=0 --enforce-storage-engine= --max-allowed-packet=8M
}

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0
run "$@"
