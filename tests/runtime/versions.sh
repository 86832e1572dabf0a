# shellcheck shell=bash disable=SC2154 # w, dir, status, ...: of run.sh, which reads this
# SPDX-License-Identifier: MIT
# Modules with runtimes of other versions: the version that comes first is measured, and the others run all the same.
mkdir -p versions
own=$(sed -n 's/^#define CHORD_FORMAT_VERSION //p' "$root/format/format.h")
cp "$w/runtime.s" versions/$own.s
for v in 2 99; do
	CHORD_RT_VERSION=$v "$root/runtime/pack.sh" -o versions/$v.s || failed=1
done
for v in 2 $own 99; do
	cp versions/$v.s "$w/runtime.s"
	obj versions/s$v.o "$here/shadow.c" -I"$root" -fPIC && obj versions/p$v.o "$here/versions.c" -I"$root" -fPIE &&
		gcc -o versions/p$v versions/p$v.o versions/s$v.o && obj versions/l.o "$here/runs.c" -I"$root" -fPIC &&
		gcc -shared -o versions/l$v.so versions/l.o versions/s$v.o && cp versions/l$v.so versions/m$v.so || failed=1
done
cp versions/$own.s "$w/runtime.s"
for libs in "l99" "l2" "l99 l2" "l$own l99" "l99 m99 l2 m2 l$own m$own"; do
	name=versions-$(echo $libs | tr ' ' -)
	held "$name" "$w/versions/p$own" $(for l in $libs; do echo "$w/versions/$l.so"; done)
	"$w/sums" "$(ls -S "$dir"/*.chord | head -1)" | grep -q '^text code that was built' || fail "$name" "it is not said"
	for v in 2 99; do # another version's program: it runs, and so does the library
		name=versions-$(echo $libs | tr ' ' -)-in-$v
		run "$name" "$w/versions/p$v" $(for l in $libs; do echo "$w/versions/$l.so"; done) && ok "$name"
	done
done
# A library's constructor comes before the program's: the process is the library's.
for v in 2 99; do
	name=versions-linked-$v
	gcc -o versions/linked versions/p$own.o versions/s$own.o -Wl,--no-as-needed "$w/versions/l$v.so" -Wl,-rpath,"$w/versions"
	run $name "$w/versions/linked" "$w/versions/m$own.so" && ok $name
done
