# SPDX-License-Identifier: MIT
# sqlite3: one file of 250,000 lines, the shell, and the program in which its own tests run (an extension of Tcl), which libtool
# links from 70 files in one command.

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

# Some tests refuse to be run with root's right to open any file.
fixture()
{
	if [ "$(id -u)" = 0 ]; then
		setpriv --bounding-set=-dac_override,-dac_read_search ../testfixture "$@"
	else
		../testfixture "$@"
	fi
}

# A suite of its own making: extraquick without the slow ones.
chosen()
{
	cat <<-END
		set testdir [file dirname \$argv0]
		source \$testdir/permutations.test
		test_suite chosen -prefix "" -files [test_set \$allquicktests \\
			-exclude *malloc* *ioerr* *fault* *bigfile* *_err* wal3.test fts4merge* sort2.test \\
			mmap1.test walcrash* percentile.test where8m.test walcksum.test savepoint3.test \\
			fuzzer1.test fuzzer3.test fts3expr3.test $(grep -v '^#' "$real/recipes/sqlite3.slow" | tr '\n' ' ')]
		run_test_suite chosen
		finish_test
	END
}

few="select1 select7 join where insert trigger1 expr func fts3aa rtree1 json101 window1 wal btree01 vacuum"

suite()
{
	mkdir -p "$1/run"
	cd "$1/run"
	if [ "${CHORD_SAMPLE:-0}" = 1 ]; then
		for name in $few; do
			fixture "../test/$name.test"
		done >suite.log
	else
		chosen >../test/chosen.tcl
		fixture ../test/chosen.tcl >suite.log || :
	fi
	grep -E '^! .* (expected|got):' suite.log || :
	tail -n 20 suite.log
	echo "test files: $(grep -c '^Time: ' suite.log)"
	grep -qE '^0 errors out of [0-9]+ tests' suite.log
}

# Not the number of tests: some draw lots.
summary()
{
	grep '^test files:' "$1"
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
	sed -e 's/limit 5000/limit 100000/' -e '/broken from nothing/d' "$real/workload.sql" >bench.sql
	echo "sqlite3 ./sqlite3 -batch :memory: <bench.sql"
}
