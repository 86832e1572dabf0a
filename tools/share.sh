#!/bin/sh
# SPDX-License-Identifier: MIT
# share.sh DESTDIR PREFIX: installs the files that other tools read: completions for bash and zsh, and files for pkg-config, CMake
# and Meson.
set -eu
cd "$(dirname "$0")/../share"
share=$1$2/share
version=$(sed -n 's/^#define CHORD_VERSION "\(.*\)"/\1/p' ../src/tool/tool.h)

# put FILE TARGET: with the prefix and the version filled in.
put()
{
	install -d "$(dirname "$share/$2")"
	sed -e "s|@PREFIX@|$prefix|g" -e "s|@VERSION@|$version|g" "$1" >"$share/$2"
	chmod 644 "$share/$2"
}

# A prefix may have anything in its name.
prefix=$(printf '%s\n' "$2" | sed 's/[|&\\]/\\&/g')
put completion/chord.bash bash-completion/completions/chord
put completion/_chord zsh/site-functions/_chord
put pkgconfig/chord.pc.in pkgconfig/chord.pc
put cmake/ChordConfig.cmake cmake/Chord/ChordConfig.cmake
put cmake/ChordConfigVersion.cmake.in cmake/Chord/ChordConfigVersion.cmake
put cmake/ChordToolchain.cmake cmake/Chord/ChordToolchain.cmake
put meson/chord.ini.in meson/native/chord.ini
