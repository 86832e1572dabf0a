#!/bin/bash
# SPDX-License-Identifier: MIT
# What other tools find of an installed Chord: completions of shells, pkg-config, CMake, Meson, Debian's packages. Prints ok, FAIL
# or skip for each test; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"
root=$(cd "$here/../.." && pwd)

# Installs what was built.
installed() {
	prefix=$PWD/place
	want make -s -C "$root" BUILD="$(dirname "$CHORD")" PREFIX="$prefix" install
	program
}

program() {
	printf '#include <stdio.h>\nint main(void)\n{\n\tputs("ran");\n}\n' >prog.c
	printf '#include <cstdio>\nint main()\n{\n\tstd::puts("ran");\n}\n' >prog.cc
}

# A program that was built with counters: it runs, and the report is about it.
measured() {
	want "$1"
	grep -qx ran out || no "it does not run: $(cat out err)"
	want "$prefix/bin/chord" report --json "$1"
	[ "$(jq -r '.functions[] | select(.name == "main") | .calls' out)" = 1 ] || no "main is not counted: $(cat out)"
}

# What bash would offer behind these words.
bash_offers() {
	bash -c '. "$0/share/bash-completion/completions/chord"; words=("$@"); words[0]="$0/bin/chord"; COMP_WORDS=("${words[@]}")
		COMP_CWORD=$((${#words[@]} - 1)); _chord "$0/bin/chord"; printf "%s\n" "${COMPREPLY[@]}"' "$prefix" "$@" >out 2>err
	[ ! -s err ] || no "$*: $(cat err)"
}

# The commands that have a page of the manual.
pages() { ls "$prefix/share/man/man1" | sed -n 's/^chord-\(.*\)\.1$/\1/p' | sort; }

t_bash() {
	installed
	bash_offers chord re
	grep -qx report out || no "no report: $(cat out)"
	bash_offers chord ''
	# Each has a page, or is one with another.
	[ "$(sort out | tr '\n' ' ')" = "$(pages | tr '\n' ' ')" ] || no "not the commands: $(cat out)"
	bash_offers chord report --line
	[ "$(cat out)" = --lines ] || no "not --lines: $(cat out)"
	bash_offers chord export --format = lc
	grep -qx lcov out || no "not lcov: $(cat out)"
	bash_offers chord export -f call
	[ "$(cat out)" = callgrind ] || no "not callgrind: $(cat out)"
	touch program.chord
	bash_offers chord report prog
	grep -qx program.chord out || no "no file: $(cat out)"
}

# zsh's completion runs in its line editor: words are typed, and <Tab>.
t_zsh() {
	command -v zsh >/dev/null || skip "no zsh"
	installed
	cat >typed <<-'END'
		zmodload zsh/zpty
		zpty z zsh -f -i
		zpty -w z "PS1='> '; fpath=('$PREFIX/share/zsh/site-functions' \$fpath); PATH='$PREFIX/bin':\$PATH; autoload -U compinit; compinit -u -D; LISTMAX=1000; print rea''dy"
		zpty -r z got '*ready*'
		# Each is read for as long as it takes.
		for typed in 'chord repo>*report*' 'chord export --form>*--format*' 'chord export -f lco>*lcov*'; do
			zpty -n -w z "${typed%%>*}"$'\t'
			zpty -r -m z got "${typed#*>}"
			print -r -- "${got//$'\r'/}"
			zpty -n -w z $'\x15'
		done
	END
	PREFIX=$prefix TERM=dumb timeout 60 zsh -f typed >out 2>err </dev/null
	for offered in report --format lcov; do
		grep -qe "$offered" out || no "no $offered: $(cat -v out err)"
	done
}

t_pkg_config() {
	command -v pkg-config >/dev/null || skip "no pkg-config"
	installed
	export PKG_CONFIG_PATH="$prefix/share/pkgconfig"
	want pkg-config --modversion chord
	[ "$(cat out)" = "$("$CHORD" --version | sed 's/chord //')" ] || no "version $(cat out)"
	printf '#include <chord.h>\nint main(void) { return chord_counted(instructions) ? 0 : 3; }\n' >here.c
	# shellcheck disable=SC2046
	want "$prefix/bin/chord" cc -fchord=events $(pkg-config --cflags chord) -o here here.c
	want ./here
	want "$(pkg-config --variable=hook chord)/as" --version
}

# Test programs of a build system have left none.
no_profiles() { [ -z "$(find . -name '*.chord')" ] || no "profiles of test programs: $(find . -name '*.chord')"; }

t_cmake() {
	command -v cmake >/dev/null || skip "no cmake"
	installed
	mkdir project
	cp prog.c prog.cc project
	cat >project/CMakeLists.txt <<-'END'
		cmake_minimum_required(VERSION 3.20)
		project(it C CXX)
		find_package(Chord 0.1 REQUIRED)
		include(CheckCSourceRuns)
		check_c_source_runs("int main(void) { return 0; }" RUNS)
		add_executable(c prog.c)
		add_executable(cxx prog.cc)
		target_link_libraries(c Chord::chord)
		message(STATUS "chord is ${CHORD_EXECUTABLE}")
	END
	want cmake --toolchain "$prefix/share/cmake/Chord/ChordToolchain.cmake" -DCMAKE_PREFIX_PATH="$prefix" -S project -B built
	grep -q "chord is $prefix/bin/chord" out || no "no CHORD_EXECUTABLE: $(cat out)"
	grep -q 'RUNS - Success' out || no "its test programs do not run: $(cat out)"
	no_profiles
	want cmake --build built
	measured ./built/c
	measured ./built/cxx
}

t_meson() {
	command -v meson >/dev/null || skip "no meson"
	installed
	mkdir project
	cp prog.c prog.cc project
	printf "project('it', 'c', 'cpp')\nexecutable('c', 'prog.c')\nexecutable('cxx', 'prog.cc')\n" >project/meson.build
	# Found by its name in the folders for data, as distributions have it.
	want env XDG_DATA_DIRS="$prefix/share:/usr/share" meson setup --native-file chord.ini built project
	no_profiles
	want meson compile -C built
	measured ./built/c
	measured ./built/cxx
}

# Each page says of its command what it is.
t_man() {
	command -v lexgrog >/dev/null || skip "no lexgrog"
	installed
	for command in $(pages); do
		want lexgrog "$prefix/share/man/man1/chord-$command.1"
		grep -iq '^\.sh EXIT STATUS' "$prefix/share/man/man1/chord-$command.1" ||
			no "chord-$command.1 does not say its exit statuses"
		"$CHORD" "$command" --help >out 2>err || [ "$command" = c++ ] || [ "$command" = cc ] || no "there is no chord $command"
	done
}

# It says what it depends on, and lintian has nothing against it but that nobody maintains it for Debian.
t_deb() {
	command -v dpkg-buildpackage >/dev/null && command -v dh >/dev/null || skip "no debhelper"
	want env DEB_BUILD_OPTIONS="parallel=2 nodbgsym noopt" "$root/tools/deb.sh" packages
	deb=$(echo packages/chord_*.deb)
	want dpkg-deb -f "$deb" Depends
	for library in libelf1 libdw1 libzydis libjansson4 gcc libc6-dev; do
		grep -q "$library" out || no "it does not depend on $library: $(cat out)"
	done
	mkdir tree
	want dpkg-deb -x "$deb" tree
	prefix=$PWD/tree/usr
	program
	want "$prefix/bin/chord" cc -O2 -o prog prog.c
	measured ./prog
	want "$prefix/bin/chord" html -o pages ./prog
	[ -e tree/usr/share/doc/chord/README.md.gz ] || no "it has no README"
	command -v lintian >/dev/null || skip "built and run; no lintian"
	# Its status tells of the host of the address.
	lintian $([ "$(id -u)" = 0 ] && echo --allow-root) "$deb" >out 2>&1
	if grep '^[EW]:' out | grep -qv bogus-mail-host; then
		no "lintian: $(grep '^[EW]:' out)"
	fi
}

for name in bash zsh pkg-config cmake meson man deb; do
	test_case "$name"
done
exit $failed
