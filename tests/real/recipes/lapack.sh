# SPDX-License-Identifier: MIT
# LAPACK: Fortran; the part for double precision, with BLAS of its own, and the tests of that part.

fetch()
{
	source_package lapack
}

build()
{
	copy_source lapack "$1"
	cd "$1"
	cat >make.inc <<-END
		SHELL = /bin/sh
		CC = $2
		CFLAGS = $5
		FC = $4
		FFLAGS = $5 -frecursive
		FFLAGS_DRV = $5 -frecursive
		FFLAGS_NOOPT = -O0 -frecursive
		LDFLAGS = $6
		AR = ar
		ARFLAGS = cr
		RANLIB = ranlib
		TIMER = INT_ETIME
		BLASLIB = \$(TOPSRCDIR)/librefblas.a
		LAPACKLIB = \$(TOPSRCDIR)/liblapack.a
		TMGLIB = \$(TOPSRCDIR)/libtmglib.a
	END
	for part in BLAS/SRC SRC TESTING/MATGEN TESTING/LIN TESTING/EIG; do
		make -C $part double
	done
}

programs()
{
	printf '%s\n' TESTING/LIN/xlintstd TESTING/EIG/xeigtstd
}

# Inputs of the tests of linear equations, and of eigenvalues.
linear="dtest"
eigen="nep sep se2 svd dec ded dgg dgd dsb dsg dbal dbak dgbal dgbak dbb glm gqr gsv csd lse"

suite()
{
	cd "$1/TESTING"
	for name in $linear; do LIN/xlintstd <"$name.in"; done
	for name in $eigen; do [ ! -f "$name.in" ] || EIG/xeigtstd <"$name.in"; done
}

# All that is said, but for the time.
summary()
{
	grep -av 'Total time used' "$1"
}

workload()
{
	cp "$1/TESTING/LIN/xlintstd" "$1/TESTING/EIG/xeigtstd" .
	cp "$1/TESTING/dgbal.in" "$1/TESTING/dbal.in" "$1/TESTING/dec.in" .
	for name in dgbal dbal dec; do
		echo "./xeigtstd <$name.in >output"
	done
}

bench()
{
	cp "$1/TESTING/LIN/xlintstd" "$1/TESTING/EIG/xeigtstd" .
	cp "$1/TESTING"/*.in .
	echo "lapack-linear ./xlintstd <dtest.in"
	echo "lapack-eigen for i in nep sep svd dgg dsb; do ./xeigtstd <\$i.in; done"
}
