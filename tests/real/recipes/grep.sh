# SPDX-License-Identifier: MIT
# grep: GNU build system, gnulib; its own regular expressions and those of libc.

fetch()
{
	source_package grep
	cd "$CHORD_CACHE/src/grep"
	[ ! -f .chord-touched ] || return 0
	# A patch declares a variable right behind a label, which clang 14 refuses.
	sed -i 's/^ *char const \*userevalwarn;/          ;&/' lib/dfa.c
	# Patches made the generated files look old.
	touch aclocal.m4
	sleep 1
	touch configure config.hin .chord-touched
	find . -name Makefile.in -exec touch {} +
}

# grep looks at its own mappings at start, line by line, and no two processes have the
# same: where runs are compared, it looks at a file in the run folder.
fixed_maps()
{
	sed -i 's|"/proc/self/maps"|"maps"|' lib/stackvma.c
}

build()
{
	copy_source grep "$1"
	cd "$1"
	[ "${CHORD_FIXED:-0}" = 0 ] || fixed_maps
	CC="$2" CFLAGS="$5" LDFLAGS="$6" ./configure --disable-dependency-tracking --without-included-regex
	make -C lib
	make -C src
}

programs()
{
	echo src/grep
}

# Half of the tests want locales that few machines have.
own_locales()
{
	mkdir -p locales
	for name in en_US fr_FR ja_JP tr_TR ru_RU; do
		[ -d "locales/$name.UTF-8" ] || localedef -c -i $name -f UTF-8 "locales/$name.UTF-8" || :
	done
	localedef -c -i ja_JP -f EUC-JP locales/ja_JP.eucJP || :
	export LOCPATH="$PWD/locales"
}

suite()
{
	cd "$1"
	# Its tests would take another grep, did ours not exist.
	[ -x src/grep ]
	own_locales
	make -C tests check
	# gnulib's 200 small programs, where asked for.
	[ "${CHORD_LONG:-0}" = 0 ] || make -C gnulib-tests check
}

workload()
{
	corpus grep 2 input
	cp "$1/src/grep" .
	echo "1000-7fffffffffff rw-p 00000000 00:00 0 everything" >maps
	# A status of 1 (no match) is no failure, nor a difference.
	cat <<-'END'
		./grep -c the input >output
		./grep -n -i 'static.*return' input >output
		./grep -E -o '[a-z_]+\(([a-z]+, )*[a-z]+\)' input >output
		./grep -F -w -e int -e char -e struct -e void input >output
		./grep -v -x '' input >output
		./grep -E '([a-z])([a-z])\2\1' input >output
		./grep -A2 -B1 -m50 'error' input >output
	END
}

bench()
{
	corpus grep 20 input
	cp "$1/src/grep" .
	echo "grep ./grep -c -v -E '[aeiou][^aeiou ]+[aeiou].*[0-9]' input input input input input input input input input input"
}
