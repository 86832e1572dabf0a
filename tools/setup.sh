#!/bin/sh
# SPDX-License-Identifier: MIT
# setup.sh SET...: installs the Debian packages that a set needs and the machine lacks, from the mirror for which the machine is
# configured. If all are there it does nothing, and needs no rights and no network.
#   build  to build Chord    check  to run its tests    bench  to run its benchmarks    deb  to make a package of it
set -eu
cd "$(dirname "$0")/.."

build="gcc g++ make binutils libc6-dev libzydis-dev libelf-dev libdw-dev libjansson-dev libiberty-dev libprotobuf-c-dev protobuf-c-compiler zlib1g-dev libzstd-dev libxxhash-dev"
# Of these only files are needed, for the pages of chord html: they are unpacked into .packages, without the packages that they
# depend on to run by themselves.
pages="node-d3 node-dagre-layout"

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
	deb) echo "dpkg-dev debhelper" ;;
	*) echo "setup.sh: no set '$1'" >&2; exit 2 ;;
	esac
}

# A|B is one of the two.
is_there()
{
	for name in $(echo "$1" | tr '|' ' '); do
		dpkg-query -W -f='${Status}\n' "$name" 2>/dev/null | grep -q '^install ok installed' && return 0
	done
	return 1
}

# The first of A|B that this release of Debian has, for each package named. If it has neither, the tests that need one are skipped.
known()
{
	for package in "$@"; do
		first=
		for name in $(echo "$package" | tr '|' ' '); do
			[ -n "$first" ] || [ -z "$(apt-cache policy "$name" | sed -n '/Candidate: (none)/d; /Candidate:/p')" ] || first=$name
		done
		if [ -z "$first" ] && [ "$package" != "${package%%|*}" ]; then
			echo "setup.sh: this release has none of $package" >&2
		else
			echo "${first:-$package}"
		fi
	done
}

missing()
{
	for set in "$@"; do
		for package in $(packages_of "$set"); do
			is_there "$package" || echo "$package"
		done
	done | sort -u
}

# Which of the pages' packages are neither installed nor unpacked.
pages_missing()
{
	for package in $pages; do
		is_there "$package" || [ -r ".packages/usr/share/doc/$package/copyright" ] || echo "$package"
	done
}

# Packages unpacked into .packages.
unpack()
{
	mkdir -p .packages/deb
	(cd .packages/deb && apt-get -q -o APT::Sandbox::User=root download "$@")
	for package in .packages/deb/*.deb; do
		dpkg-deb -x "$package" .packages
	done
	rm -rf .packages/deb
}

need=$(missing "$@")
files=
case " $* " in
*" build "*) files=$(pages_missing) ;;
esac
[ -n "$need$files" ] || exit 0
command -v apt-get >/dev/null || { echo "setup.sh: not a Debian system; needed:" $need $files >&2; exit 1; }
root=
if [ "$(id -u)" != 0 ]; then
	command -v sudo >/dev/null || { echo "setup.sh: root or sudo is needed to install:" $need $files >&2; exit 1; }
	root=sudo
fi
echo "setup.sh: installing" $need $files
export DEBIAN_FRONTEND=noninteractive
$root apt-get -q update
[ -z "$need" ] || $root apt-get -q -y --no-install-recommends install $(known $need)
[ -z "$files" ] || unpack $files
