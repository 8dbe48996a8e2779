# shellcheck shell=bash disable=SC2034,SC2154 # recipes and this file share variables
# Programs of any Debian suite in a folder of their own, beside whatever the host
# runs: the host needs apt-get and dpkg-deb, no root, and none of its packages change.

# What the servers' packages ask for and the servers themselves never run: scripts
# around them and their installation need it.
debian_absent="adduser coreutils debconf debianutils galera-3 gawk init-system-helpers iproute2
  libdbd-mariadb-perl libdbi-perl libterm-readkey-perl lsb-base lsof mariadb-common media-types
  mysql-common passwd perl perl-base perl-modules procps psmisc rsync socat sysvinit-utils"

# debian_mirror prints where packages come from: QGEN_DEBIAN_MIRROR, else the mirror
# of the host, else Debian's own.
debian_mirror() {
  local found
  found=$({
    echo "${QGEN_DEBIAN_MIRROR:-}"
    sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources
    sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\).*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list
  } 2>/dev/null | grep '/debian/*$' | head -n 1) || true
  echo "${found:-http://deb.debian.org/debian}"
}

# debian_root unpacks packages of a suite, and all that they depend on, into a
# folder: `debian_root SUITE FOLDER PACKAGE…`. The suite's signed lists say which
# versions; what is there is taken.
debian_root() {
  local suite=$1 root=$2 apt=$2.apt keys=/usr/share/keyrings/debian-archive-keyring.gpg name archive
  shift 2
  command -v apt-get >/dev/null || fail "apt-get is needed to fetch the server; start one yourself and name it in QGEN_TEST_…"
  [ -r "$keys" ] || fail "the package debian-archive-keyring is needed to fetch the server"
  mkdir -p "$root" "$apt"/{lists/partial,archives/partial}
  echo "deb [signed-by=$keys] $(debian_mirror) $suite main" >"$apt/sources.list"
  for name in $debian_absent; do
    printf '%s\n' "Package: $name" "Status: install ok installed" "Version: 99:99" "Architecture: amd64" \
      "Multi-Arch: allowed" "Maintainer: nobody" "Description: absent" ""
  done >"$apt/status"
  cat >"$apt/apt.conf" <<END
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
Dir::State "$apt";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt";
Dir::Cache::archives "$apt/archives";
APT::Architecture "amd64";
APT::Architectures "amd64";
APT::Install-Recommends "false";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Acquire::Retries "3";
Debug::NoLocking "true";
END
  # Mirrors that lag behind are good enough, so lists may be old; they must be signed.
  # The host's configuration may hold hooks that want root; it is read for its proxy alone.
  grep -rqsi proxy /etc/apt/apt.conf.d || echo 'Dir::Etc::parts "/dev/null";' >>"$apt/apt.conf"
  say "fetching $* of Debian $suite"
  # A suite that moves between its lists and its packages is asked once more.
  debian_fetch "$apt" "$@" || debian_fetch "$apt" "$@" || fail "could not fetch $* of Debian $suite"
  for archive in "$apt"/archives/*.deb; do dpkg-deb -x "$archive" "$root"; done
  rm -rf "$apt" "$root"/usr/share/{doc,man,locale,lintian,bug}
}

debian_fetch() {
  local apt=$1
  shift
  APT_CONFIG=$apt/apt.conf apt-get -qq -o APT::Update::Error-Mode=any update >&2 &&
    APT_CONFIG=$apt/apt.conf apt-get -qq -y --download-only install "$@" >&2
}

# debian_loader sets $loader to the words before a program of such a folder: the
# folder's own loader and libraries, because the host's may be older.
debian_loader() {
  local root=$1 lib=$1/usr/lib
  loader=("$(find "$root" \( -name ld-linux-x86-64.so.2 -o -name 'ld-2*.so' \) -type f -print -quit)"
    --library-path "$lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu:$lib/x86_64-linux-gnu/gperftools:$lib/mysql/private:$lib/galera")
}
