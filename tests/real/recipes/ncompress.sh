# SPDX-License-Identifier: MIT
# ncompress: a program of one file with computed copies and gotos.

fetch()
{
	source_package ncompress
}

build()
{
	copy_source ncompress "$1"
	cd "$1"
	make CC="$2" CFLAGS="$5" LDFLAGS="$6" compress
}

programs()
{
	echo compress
}

suite()
{
	cd "$1"
	make check
}

workload()
{
	corpus ncompress 1 input
	cp "$1/compress" .
	echo "./compress -c <input >input.Z"
	echo "./compress -b 12 -c <input >output"
	echo "./compress -d -c <input.Z >output"
}

bench()
{
	corpus ncompress 60 input
	cp "$1/compress" .
	echo "ncompress ./compress -c <input"
}
