# SPDX-License-Identifier: MIT
# sqlite3: one file of 250,000 lines, the shell, and the program its own tests
# run in (an extension of Tcl), linked by libtool from 70 files in one command.

options="-DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_FTS4 -DSQLITE_ENABLE_FTS5 -DSQLITE_ENABLE_RTREE
	-DSQLITE_ENABLE_MATH_FUNCTIONS -DSQLITE_ENABLE_SESSION -DSQLITE_ENABLE_PREUPDATE_HOOK"

configure()
{
	./configure --enable-all --disable-readline --with-tcl="$(dirname "$(find /usr/lib -name tclConfig.sh | head -1)")"
}

fetch()
{
	source_package sqlite3
	cd "$CHORD_CACHE/src/sqlite3"
	[ ! -f sqlite3.c ] || return 0
	configure
	make sqlite3.c shell.c
}

build()
{
	copy_source sqlite3 "$1"
	cd "$1"
	# As one would with the amalgamation: two files in one command.
	$2 $5 $options $6 -o sqlite3-static shell.c sqlite3.c -lm -ldl -lpthread
	[ "${CHORD_SMALL:-0}" = 0 ] || return 0
	CC="$2" CFLAGS="$5" LDFLAGS="$6" configure
	make testfixture
}

programs()
{
	printf '%s\n' sqlite3-static testfixture
}

# Two that fail everywhere: with Debian's page size, and without root's limits.
known='io-5\.5|oserror-1\.4\.[12]'

# Some tests refuse to be run with root's right to open any file.
fixture()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --bounding-set=-dac_override,-dac_read_search ../testfixture "$@"
	else
		../testfixture "$@"
	fi
}

suite()
{
	mkdir -p "$1/run"
	cd "$1/run"
	if [ "${CHORD_SAMPLE:-0}" = 1 ]; then
		for name in select1 select7 join where insert trigger1 expr func fts3aa rtree1 json101 window1 wal btree01 vacuum; do
			fixture "../test/$name.test"
		done >suite.log
	else
		fixture ../test/extraquick.test >suite.log || :
	fi
	tail -n 20 suite.log
	grep -E '^[0-9]+ errors out of [0-9]+ tests' suite.log
	! grep -E '^! .* (expected|got):' suite.log | grep -vE "^! ($known) "
}

workload()
{
	cp "$1/sqlite3-static" sqlite3
	cp "$real/workload.sql" .
	echo "./sqlite3 -batch :memory: <workload.sql >output"
	echo "./sqlite3 -batch file.db <workload.sql >output"
}

bench()
{
	cp "$1/sqlite3-static" sqlite3
	sed 's/limit 5000/limit 100000/' "$real/workload.sql" >bench.sql
	echo "sqlite3 ./sqlite3 -batch :memory: <bench.sql >/dev/null"
}
