# SPDX-License-Identifier: MIT
# zlib: its own configure; an archive, a shared library, and the program minigzip with each of them.

fetch()
{
	source_package zlib
}

build()
{
	copy_source zlib "$1"
	cd "$1"
	CC="$2" CFLAGS="$5" LDFLAGS="$6" ./configure
	if [ "${CHORD_SMALL:-0}" = 0 ]; then make; else make minigzip; fi
}

programs()
{
	printf '%s\n' minigzip minigzipsh minigzip64 example libz.so.1
}

suite()
{
	cd "$1"
	make test
}

workload()
{
	corpus zlib 2 input
	gzip -6 -n <input >input.gz
	cp "$1/minigzip" .
	echo "./minigzip -9 <input >output"
	echo "./minigzip -1 -f <input >output"
	echo "./minigzip -h <input >output"
	echo "./minigzip -d <input.gz >output"
}

bench()
{
	corpus zlib 40 input
	cp "$1/minigzip" .
	echo "minigzip ./minigzip <input"
}
