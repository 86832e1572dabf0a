# SPDX-License-Identifier: MIT
# bzip2: plain make; a program with a shared library of its own, and the same
# program linked with the archive.

fetch()
{
	source_package bzip2
}

build()
{
	copy_source bzip2 "$1"
	cd "$1"
	all="bzip2 bzip2recover"
	[ "${CHORD_SMALL:-0}" = 0 ] || all=bzip2.o
	make CC="$2" CFLAGS="-D_FILE_OFFSET_BITS=64 $5" LDFLAGS="$6" $all libbz2.a
	$2 $5 $6 -o bzip2-static bzip2.o libbz2.a
}

programs()
{
	printf '%s\n' bzip2 libbz2.so.1.0.4 bzip2-static bzip2recover
}

suite()
{
	cd "$1"
	make -o bzip2 test
}

workload()
{
	corpus bzip2 1 input
	bzip2 -6 <input >input.bz2
	cp "$1/bzip2-static" bzip2
	echo "./bzip2 -9 -c input >output"
	echo "./bzip2 -d -c input.bz2 >output"
	echo "./bzip2 -1 -s -v <input >output"
}

bench()
{
	corpus bzip2 10 input
	cp "$1/bzip2-static" bzip2
	echo "bzip2 ./bzip2 -9 -c input"
}
