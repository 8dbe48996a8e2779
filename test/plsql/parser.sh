#!/usr/bin/env bash
# The grammar of Oracle's SQL and PL/SQL that the tests check statements with.
#
#   parser.sh install VERSION     puts the parser into the cache
#   parser.sh start VERSION DIR   does so too, prints the folder that holds it
#   parser.sh stop VERSION DIR    does nothing: no process runs
#
# VERSION is that of the npm package, which holds the parser that ANTLR makes of
# its public PlSql grammar; npm's own configuration says from where it comes. It
# stays in ${QGEN_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/qgen}. It needs Node.js 18
# or later, which comes with npm.

# shellcheck source=../servers/server.sh
. "$(dirname "$0")/../servers/server.sh"

product="PL/SQL parser"
package=@griffithswaite/ts-plsql-parser
runtime=antlr4@4.13.2 # the ANTLR that made the parser; the 4.13.0 that it asks for takes five times as long
version=${2:-none}
[ "$version" != none ] || usage
home=$cache/plsql-$version-${runtime/@/-}

install_server() {
  install "$home" fetch
  command -v node >/dev/null || fail "node is needed to run the parser: install nodejs"
}

fetch() {
  npm_package "$package@$version"
  mkdir -p "$part/node_modules/antlr4"
  part=$part/node_modules/antlr4 npm_package "$runtime"
}

start_server() { echo "$home"; }

stop_server() { :; }

run "$@"
