#!/bin/sh
# SPDX-License-Identifier: MIT
# deb.sh [--tree] OUT: makes a Debian package of this tree in OUT, by dpkg-buildpackage, from a copy of the tree. With --tree it
# makes only the copy, OUT/chord-VERSION, for people who build the package themselves (mk-build-deps, sbuild).
set -eu

tree_only=
[ "$1" != --tree ] || { tree_only=yes; shift; }

# What belongs to the tree, with a null byte behind each: what git knows or, without git, all but what is built.
files()
{
	git ls-files -z 2>/dev/null && return
	find . \( -name .git -o -path './build*' \) -prune -o -type f -print0
}

mkdir -p "$1"
out=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
version=$(sed -n 's/^#define CHORD_VERSION "\(.*\)"/\1/p' src/tool/tool.h)
build=$(sed -n 's/^\(build\|pages\)="\(.*\)"/\2/p' tools/setup.sh | tr '\n' ' ' | sed 's/ $//')
tree=$out/chord-$version
rm -rf "$tree"
mkdir -p "$tree"
files | tar -cf - --null -T - | tar -xf - -C "$tree"
cp -R share/debian "$tree/debian"
[ ! -d .packages ] || cp -R .packages "$tree"
# In a shared folder all may be executable, and debhelper would run what is not meant for that.
chmod 644 "$tree"/debian/*
chmod 755 "$tree/debian/rules"
maintainer="${DEBFULLNAME:-The Chord authors} <${DEBEMAIL:-chord@localhost}>"
sed -e "s/@BUILD@/$(echo "$build" | sed -E 's/ +/, /g')/" -e "s/@MAINTAINER@/$maintainer/" share/debian/control >"$tree/debian/control"
printf 'chord (%s) unstable; urgency=medium\n\n  * See NEWS.md.\n\n -- %s  %s\n' \
	"$version" "$maintainer" "$(date -R -r NEWS.md)" >"$tree/debian/changelog"
{ sed '1,4d' LICENSE | sed -e 's/^$/./' -e 's/^/ /'; } >>"$tree/debian/copyright"
[ -z "$tree_only" ] || { echo "$tree"; exit 0; }
# tools/setup.sh has seen to what it needs, but may have unpacked some of it only: dpkg would miss these.
(cd "$tree" && dpkg-buildpackage -us -uc -b -d)
rm -rf "$tree"
