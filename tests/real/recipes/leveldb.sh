# SPDX-License-Identifier: MIT
# leveldb: C++ with CMake, threads, exceptions from the standard library.

fetch()
{
	source_package leveldb
}

build()
{
	copy_source leveldb "$1"
	mkdir "$1/out"
	cd "$1/out"
	CC="$2" CXX="$3" CFLAGS="$5" CXXFLAGS="$5" LDFLAGS="$6" \
		cmake -DCMAKE_BUILD_TYPE=None -DLEVELDB_BUILD_BENCHMARKS=OFF ..
	if [ "${CHORD_SMALL:-0}" = 0 ]; then
		make
	else
		make table_test bloom_test
	fi
}

programs()
{
	printf 'out/%s\n' leveldbutil c_test db_test table_test env_posix_test skiplist_test corruption_test
}

# The tests wait for the disk most of the time. One of them fails where the background
# thread is quicker than it expects, plain or measured.
suite()
{
	cd "$1/out"
	[ ! -w /dev/shm ] || export TEST_TMPDIR=$(mktemp -d /dev/shm/leveldb.XXXXXX)
	trap 'rm -rf "${TEST_TMPDIR:-}"' EXIT
	GTEST_FILTER=-DBTest.HiddenValuesAreRemoved ctest --output-on-failure
}

# What has no threads. (callgrind.sh would see googletest, which nobody measures.)
workload()
{
	cp "$1/out/bloom_test" .
	echo "./bloom_test --gtest_print_time=0 --gtest_random_seed=42 >output"
}

bench()
{
	cp "$1/out/table_test" .
	echo "leveldb ./table_test --gtest_print_time=0 --gtest_random_seed=42"
}
