# SPDX-License-Identifier: MIT
# xz: autotools; the program linked with its own archive.

fetch()
{
	source_package xz-utils
}

build()
{
	copy_source xz-utils "$1"
	cd "$1"
	CC="$2" CFLAGS="$5" LDFLAGS="$6" ./configure --disable-shared --disable-nls --disable-doc --disable-xzdec --disable-lzmadec \
		--disable-lzmainfo --disable-dependency-tracking
	# What Debian patched is not made anew.
	make ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=: $([ "${CHORD_SMALL:-0}" = 0 ] || echo -C src)
}

programs()
{
	echo src/xz/xz
}

suite()
{
	cd "$1"
	make ACLOCAL=: AUTOCONF=: AUTOHEADER=: AUTOMAKE=: check
}

workload()
{
	corpus xz-utils 1 input
	cp "$1/src/xz/xz" .
	./xz -6 -c input >input.xz
	rm -f ./*.chord
	echo "./xz -T1 -1 -c input >output"
	echo "./xz -T1 -6 -c input >output"
	echo "./xz -T1 -d -c input.xz >output"
}

bench()
{
	corpus xz-utils 3 input
	cp "$1/src/xz/xz" .
	./xz -T1 -6 -c input >input.xz
	rm -f ./*.chord
	echo "xz ./xz -T1 -6 -c input"
	echo "unxz for i in 1 2 3 4 5 6 7 8; do ./xz -T1 -d -c input.xz; done"
}
