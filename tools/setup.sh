#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh SET...: installs the Debian packages that a set needs and the machine
# lacks, from the mirror that it is configured for. Does nothing, needs no
# rights and no network if all are there.
#   build  to build Chord    check  to run its tests    bench  to run its benchmarks
set -eu
cd "$(dirname "$0")/.."

build="gcc g++ make binutils libc6-dev libzydis-dev libelf-dev libdw-dev libjansson-dev libiberty-dev libprotobuf-c-dev protobuf-c-compiler zlib1g-dev node-d3 node-dagre-layout"

# Names in the PACKAGES files of the tests, comments left out.
listed()
{
	cat "$@" 2>/dev/null | sed -e 's/#.*//' | tr -s ' \t\n' ' '
}

packages_of()
{
	case $1 in
	build) echo "$build" ;;
	check) echo "libcmocka-dev $(listed tests/PACKAGES tests/*/PACKAGES)" ;;
	bench) listed bench/PACKAGES ;;
	*) echo "setup.sh: no set '$1'" >&2; exit 2 ;;
	esac
}

missing()
{
	for set in "$@"; do
		for package in $(packages_of "$set"); do
			dpkg-query -W -f='${Status}\n' "$package" 2>/dev/null | grep -q '^install ok installed' || echo "$package"
		done
	done | sort -u
}

need=$(missing "$@")
[ -n "$need" ] || exit 0
command -v apt-get >/dev/null || { echo "setup.sh: not a Debian system; needed:" $need >&2; exit 1; }
root=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || { echo "setup.sh: root or sudo is needed to install:" $need >&2; exit 1; }
	root=sudo
fi
echo "setup.sh: installing" $need
export DEBIAN_FRONTEND=noninteractive
$root apt-get -q update
$root apt-get -q -y --no-install-recommends install $need
