#!/usr/bin/env bash
# A Galera cluster of three MariaDB servers for the tests, without root and without Docker.
#
#   galera.sh install VERSION                 puts the servers' programs and an empty database into the cache
#   galera.sh start VERSION DIR [OPTION…]     starts the cluster with its data below DIR, each server with
#                                             the options, and prints a DSN per node
#   galera.sh stop VERSION DIR                kills it; DIR stays, but is of no use to another start
#
# VERSION is 10.11. Programs and users are those of mariadb.sh.
. "$(dirname "$0")/mariadb.sh"
. "$here/cluster.sh"

[ "$version" = 10.11 ] || usage
product=Galera
cluster=$cache/galera-$version

# The server looks for its script of a state transfer there.
PATH=$here:$PATH

# join launches a node: `join N ADDRESSES OPTION…`.
join() {
  local n=$1 group=$2
  serve "$dir/$n" "${sql[n]}" --binlog-format=ROW --innodb-autoinc-lock-mode=2 \
    --wsrep-on=ON --wsrep-provider="$home/root/usr/lib/galera/libgalera_smm.so" \
    --wsrep-cluster-name=qgen --wsrep-node-name="node$n" --wsrep-node-address=127.0.0.1 \
    --wsrep-cluster-address="gcomm://$group" --wsrep-sst-method=copy --wsrep-slave-threads=2 \
    --wsrep-provider-options="base_host=127.0.0.1;base_port=${talk[n]};gmcast.listen_addr=tcp://127.0.0.1:${talk[n]};ist.recv_addr=127.0.0.1:${ist[n]};gcache.size=64M;socket.ssl=NO" \
    "${@:3}"
}

synced() { grep -qs 'Synchronized with group, ready for connections' "$1.log"; }

install_server() {
  install "$home" fill
  install "$cluster" found
}

# found makes the data that all nodes begin with: that of a cluster of one.
found() {
  local dir=$part
  programs "$home"
  retry_ports found_alone
  rm -f "$part/1/gvwstate.dat" "$part/1/galera.cache"
}

found_alone() {
  pick_ports
  rm -rf "$dir/1"
  fresh "$home/data" "$dir/1"
  join 1 "" --wsrep-new-cluster
  await 60 synced "$dir/1" || return 1
  halt TERM "$dir/1"
}

pick_ports() {
  local ports
  free_ports 9
  sql=(0 "${ports[@]:0:3}") talk=(0 "${ports[@]:3:3}") ist=(0 "${ports[@]:6:3}")
}

attempt() {
  local n
  stop_server
  rm -rf "$dir"
  pick_ports
  for n in 1 2 3; do fresh "$cluster/1" "$dir/$n"; done
  join 1 "" --wsrep-new-cluster
  await 60 synced "$dir/1" || return 1
  for n in 2 3; do
    join "$n" "127.0.0.1:${talk[1]},127.0.0.1:${talk[2]},127.0.0.1:${talk[3]}"
    await 60 synced "$dir/$n" || return 1
  done
  for n in 1 2 3; do dsn "${sql[n]}"; done
}

run "$@"
