# SPDX-License-Identifier: MIT
# GCC's torture tests, from Debian's source package. To be sourced: set "torture" to the folder of this file first.
real=$torture/../real
. "$real/lib.sh"
# The package of the installed compiler.
gcc_source=gcc-$(gcc -dumpversion | cut -d. -f1)

# It is a tarball in a tarball, and huge: only the tests are unpacked. Takes the
# place of what source_package calls.
unpack_package()
{
	rm -rf "$2" && mkdir -p "$2/tree" && cd "$2" &&
		apt_own source --download-only --only-source "$1" &&
		inner=$(tar -tf ./*.orig.tar.* | grep -m 1 -E '/gcc-[0-9.]+(-dfsg)?\.tar\.[a-z0-9]+$') &&
		tar -xOf ./*.orig.tar.* "$inner" >"inner.${inner##*.}" &&
		tar -xf "inner.${inner##*.}" -C tree --strip-components=3 --wildcards \
			'*/gcc/testsuite/gcc.c-torture' '*/gcc/testsuite/g++.dg/eh' &&
		touch tree/.chord-fetched
}
