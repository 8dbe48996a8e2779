#!/usr/bin/env bash
# A Group Replication cluster of three MySQL servers, all of which write, for the tests,
# without root and without Docker.
#
#   group.sh install VERSION                 puts the servers' programs and an empty database into the cache
#   group.sh start VERSION DIR [OPTION…]     starts the cluster with its data below DIR, each server with
#                                            the options, and prints a DSN per node
#   group.sh stop VERSION DIR                kills it; DIR stays, but is of no use to another start
#
# VERSION is 9.7. Programs and users are those of mysql.sh.
. "$(dirname "$0")/mysql.sh"
. "$here/cluster.sh"

[ "$version" = 9.7 ] || usage
product="Group Replication"
cluster=$cache/groupreplication-$version

# join launches a node: `join N OPTION…`.
join() {
  local n=$1
  serve "$dir/$n" "${sql[n]}" --server-id="$n" --report-host=127.0.0.1 --gtid-mode=ON --enforce-gtid-consistency=ON \
    --log-bin=binlog --sync-binlog=0 --plugin-load-add=group_replication.so \
    --auto-increment-increment=3 --auto-increment-offset="$n" --group-replication-auto-increment-increment=3 \
    --group-replication-group-name=00000000-0000-4000-8000-000000000001 \
    --group-replication-local-address="127.0.0.1:${sql[n]}" \
    --group-replication-group-seeds="127.0.0.1:${sql[1]},127.0.0.1:${sql[2]},127.0.0.1:${sql[3]}" \
    --group-replication-communication-stack=MYSQL --group-replication-message-cache-size=134217728 \
    --group-replication-single-primary-mode=OFF --group-replication-enforce-update-everywhere-checks=ON \
    --group-replication-recovery-get-public-key=ON "${@:2}"
}

install_server() {
  install "$home" fill
  install "$cluster" found
}

# found makes the data that all nodes begin with: that of a server which knows how to
# log in at another when it joins. Only a running server can be told.
found() {
  local dir=$part sql=(0 1 2 3)
  programs "$home"
  fresh "$home/data" "$part/1"
  printf '%s\n' "SET SQL_LOG_BIN = 0;" \
    "CHANGE REPLICATION SOURCE TO SOURCE_USER = 'qgen', SOURCE_PASSWORD = '' FOR CHANNEL 'group_replication_recovery';" >"$part/source.sql"
  join 1 --skip-networking --group-replication-start-on-boot=OFF --init-file="$part/source.sql"
  await 60 ready "$part/1" || { tail -n 20 "$part/1.log" >&2; fail "cannot make an empty database"; }
  halt TERM "$part/1"
  rm -f "$part/1"/binlog.* "$part/1/auto.cnf"
}

# online counts the nodes that a node has seen come online.
online() {
  local seen
  seen=$(grep -cs 'was declared online within the replication group' "$dir/$1.log") || true
  [ "${seen:-0}" -ge "$2" ]
}

attempt() {
  local n ports sql
  stop_server
  rm -rf "$dir"
  free_ports 3
  sql=(0 "${ports[@]}")
  for n in 1 2 3; do fresh "$cluster/1" "$dir/$n"; done
  join 1 --group-replication-bootstrap-group=ON
  await 60 online 1 1 || return 1
  for n in 2 3; do
    join "$n"
    await 60 online "$n" 1 && await 60 online 1 "$n" || return 1
  done
  for n in 1 2 3; do dsn "${sql[n]}"; done
}

run "$@"
