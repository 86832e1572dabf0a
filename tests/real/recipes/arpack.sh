# SPDX-License-Identifier: MIT
# arpack: Fortran with CMake; a shared library and its example programs.

fetch()
{
	source_package arpack
}

build()
{
	copy_source arpack "$1"
	mkdir "$1/out"
	cd "$1/out"
	CC="$2" CXX="$3" FC="$4" CFLAGS="$5" FFLAGS="$5" LDFLAGS="$6" \
		cmake -DCMAKE_BUILD_TYPE=None -DEXAMPLES=ON ..
	if [ "${CHORD_SMALL:-0}" = 0 ]; then
		make
	else
		make dsdrv1 dndrv2 znsimp dsbdr1 zndrv4
	fi
}

programs()
{
	cd "$1"
	find out/lib out/EXAMPLES out/TESTS -type f \( -name 'libarpack.so.*' -o -perm /111 \) | sort
}

suite()
{
	cd "$1/out"
	ctest --output-on-failure
}

# The library is found where it was built.
workload()
{
	for name in SYM/dsdrv1 NONSYM/dndrv2 SIMPLE/znsimp BAND/dsbdr1; do
		cp "$1/out/EXAMPLES/$name" .
		echo "./${name#*/} >output"
	done
}

bench()
{
	cp "$1/out/EXAMPLES/COMPLEX/zndrv4" .
	echo "arpack for i in 1 2 3 4 5 6 7 8; do ./zndrv4; done"
}
