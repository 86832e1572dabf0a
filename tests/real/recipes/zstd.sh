# SPDX-License-Identifier: MIT
# zstd: plain make; a program with threads and assembly by hand for decoding.

fetch()
{
	source_package libzstd
}

build()
{
	copy_source libzstd "$1"
	cd "$1"
	make -C programs zstd CC="$2" CFLAGS="$5" LDFLAGS="$6" HAVE_ZLIB=0 HAVE_LZMA=0 HAVE_LZ4=0
	[ "${CHORD_SMALL:-0}" != 0 ] || make -C tests datagen CC="$2" CFLAGS="$5" LDFLAGS="$6"
}

programs()
{
	printf '%s\n' programs/zstd tests/datagen
}

# The program's own tests of its command line, with files that datagen makes.
suite()
{
	cd "$1/tests"
	ZSTD_BIN="$1/programs/zstd" DATAGEN_BIN="$1/tests/datagen" ./playTests.sh
}

# Each heading of its tests.
summary()
{
	grep -a '^===> ' "$1"
}

workload()
{
	corpus libzstd 1 input
	cp "$1/programs/zstd" .
	./zstd -q -12 -c input >input.zst
	rm -f ./*.chord
	echo "./zstd -q --single-thread -1 -c input >output"
	echo "./zstd -q --single-thread -19 -c input >output"
	echo "./zstd -q --single-thread -d -c input.zst >output"
}

bench()
{
	corpus libzstd 12 input
	cp "$1/programs/zstd" .
	echo "zstd ./zstd -q -f --single-thread -12 -c input"
}
