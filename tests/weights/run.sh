#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord weights` and -fchord-weights=FILE: they give the same counts with fewer additions. Prints ok, FAIL or skip for each test;
# status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"

before() { cp "$here/prog.c" .; }

# run NAME: its output goes to NAME.out, its profile to NAME.chord
run() { CHORD_FILE=$1.chord "./$1" 20000 >"$1.out" || no "$1 ends with status $?"; }

# first: the build that says how often edges ran
first() {
	want $cc -O2 -o first prog.c
	run first
	want "$CHORD" weights -o weights ./first first.chord
}

# alike MEASURE: `with` and `without` write the same and count the same, and something. An event that is nothing but what its
# counter has (own-event) depends on where that is added to.
alike() {
	local name events=.events
	[[ " $(measures own-event) " != *" $1 "* ]] || events='.events | keys'
	for name in with without; do
		run $name
		want "$CHORD" report --insns ./$name $name.chord && mv out $name.counts
		want "$CHORD" report --json ./$name $name.chord && jq -S "$events" out >>$name.counts
	done
	cmp with.out without.out || no "$1: another output"
	diff without.counts with.counts >diff || no "$1: other counts: $(head -n 5 diff)"
	grep -Eq "^step |instructions|\"$1\"" with.counts || no "$1: no counts: $(head -n 5 with.counts)"
}

# executed NAME: instructions for 20,000 more rounds, by another's count
executed() {
	local n sum=0
	for n in 20000 40000; do
		CHORD_FILE=/dev/null valgrind --tool=callgrind --callgrind-out-file=cg "./$1" $n >out 2>err || no "callgrind: $(tail -n 3 err)"
		sum=$(($(sed -n 's/^summary: //p' cg) - sum))
	done
	echo $sum
}

# What is rare runs all the time here, and both builds count the same. With weights there is less to do.
t_fewer() {
	first
	want $cc -O2 -fchord-weights=weights -o second prog.c
	run second
	cmp first.out second.out || no "another output"
	want "$CHORD" report --insns ./first first.chord && mv out a
	want "$CHORD" report --insns ./second second.chord && mv out b
	diff a b >diff || no "other counts: $(head -n 5 diff)"
	[ -s a ] || no "no counts"
	want gcc -O2 -o plain prog.c
	none=$(executed plain) a=$(executed first) b=$(executed second)
	[ $((b - none)) -lt $(((a - none) * 19 / 20)) ] || no "$none instructions plain, $a without, $b with weights"
}

# Each measure counts the same with weights as without.
t_measures() {
	first
	for measure in $(measures); do
		want $cc -O2 "-fchord=$measure" -o without prog.c
		want $cc -O2 "-fchord=$measure" -fchord-weights=weights -o with prog.c
		alike $measure
	done
}

# From profiles of other measures, from a profile itself, from a file of paths of interest: the same code.
t_sources() {
	first
	want $cc -O2 -fchord=paths -o paths prog.c
	run paths
	want "$CHORD" weights -o paths.weights ./paths paths.chord
	cmp weights paths.weights || no "edges and paths give other weights"
	want $cc -O2 -fchord-weights=weights -c -o by.weights prog.c
	want "$CHORD" paths select --rule hot:100% -o interest ./paths paths.chord
	for from in first.chord paths.chord interest; do
		want $cc -O2 -fchord-weights=$from -c -o by.$from prog.c
		objdump -d by.weights | tail -n +4 >a
		objdump -d by.$from | tail -n +4 >b
		cmp a b || no "other code with $from"
		[ ! -s err ] || no "$from: $(cat err)"
	done
	want $cc -O2 -c -o by.guess prog.c
	objdump -d by.guess | tail -n +4 >b
	! cmp -s a b || no "weights change nothing"
}

# Runs add up, and processes of other builds are left out.
t_sum() {
	first
	mv first.chord first.1.chord
	CHORD_FILE=first.2.chord ./first 20000 >/dev/null
	want "$CHORD" weights ./first
	awk '/^ran/ { for (i = 2; i <= NF; i++) $i = $i / 2 } { print }' out | cmp - weights || no "two runs are not twice one"
	want $cc -O1 -o first prog.c
	CHORD_FILE=first.3.chord ./first 20000 >/dev/null
	want "$CHORD" weights ./first
	[ "$(grep -c 'first\..\.chord: left out: of another build' err)" = 2 ] || no "said: $(cat err)"
}

# Two events by the same additions, and by fewer.
t_events() {
	first
	want $cc -O2 -fchord-events=instructions,branches,loads -o without prog.c
	want $cc -O2 -fchord-events=instructions,branches,loads -fchord-weights=weights -o with prog.c
	run without
	run with
	want "$CHORD" report --json ./without without.chord && jq -S .events out >a
	want "$CHORD" report --json ./with with.chord && jq -S .events out >b
	grep -q instructions a || no "no events: $(cat a)"
	cmp a b || no "other events: $(cat a b)"
	a=$(executed without) b=$(executed with)
	[ "$b" -lt "$a" ] || no "$a instructions without, $b with weights"
}

# Code that has changed is measured as ever, and it is said.
t_changed() {
	first
	sed -i 's/n % 7/n % 6 \&\& n % 7/' prog.c
	want $cc -O2 -fchord-weights=weights -o second prog.c
	grep -q 'warning: prog.c: 1 procedure is not those of .*weights: their weights are guessed' err || no "said: $(cat err)"
	want $cc -O2 -o third prog.c
	run second
	run third
	want "$CHORD" report --insns ./second second.chord && mv out a
	want "$CHORD" report --insns ./third third.chord && mv out b
	diff a b >diff || no "other counts: $(head -n 5 diff)"
	[ -s a ] || no "no counts"
}

# Of what has gone since, a profile has no weights, which is said.
t_gone() {
	echo 'int one(int n) { return n > 3 ? n : 2 * n; }' >lib.c
	echo 'int one(int); int main(void) { return one(2) != 4; }' >main.c
	want $cc -O2 -shared -fPIC -o libone.so lib.c
	want $cc -O2 -o first main.c ./libone.so
	run first
	want $cc -O2 -fchord-weights=first.chord -c main.c
	[ ! -s err ] || no "said: $(cat err)"
	rm libone.so
	want $cc -O2 -fchord-weights=first.chord -c main.c
	grep -q 'warning: .*first.chord: no weights of 1 procedures or objects; of .*libone.so: No such file' err || no "said: $(cat err)"
}

# What a process wrote of itself on the way is used where its program is named, and it is said how.
t_snapshot() {
	cat >half.c <<-END
		#include <signal.h>
		static volatile int sum;
		static __attribute__((noinline)) void one(int n) { sum += n; }
		int main(void)
		{
			for (int half = 0; half < 2; half++) {
				for (int i = 0; i < 500; i++)
					one(i);
				if (!half)
					raise(SIGUSR1);
			}
			return 0;
		}
	END
	want $cc -O1 -o half half.c
	CHORD_SIGNAL=USR1 CHORD_FILE=half.chord ./half || no "status $?"
	want "$CHORD" weights ./half half.1.chord
	grep -A1 '^procedure.one' out | grep -q '^ran 500 ' || no "not half: $(cat out)"
	want "$CHORD" weights ./half half.chord
	grep -A1 '^procedure.one' out | grep -q '^ran 1000 ' || no "not all: $(cat out)"
	want "$CHORD" merge -o both.chord half.1.chord half.1.chord
	for profile in half.1.chord both.chord; do
		refused 1 "$profile: no weights: it has counts of a snapshot .*only where the program is named .*chord weights PROGRAM" \
			$cc -O1 -fchord-weights=$profile -c half.c
		! grep -q 'while the program is there' err || no "of programs that are gone: $(cat err)"
		[ ! -e half.o ] || no "an object was left behind"
	done
	want $cc -O1 -fchord-weights=half.chord -c half.c
}

# Whatever it says, it is a hint.
t_absurd() {
	first
	awk -v most=18446744073709551615 '/^ran/ { for (i = 2; i <= NF; i++) $i = i % 3 ? most : i } { print }' weights >absurd
	for measure in edges events paths; do
		want $cc -O2 -fchord=$measure -fchord-weights=absurd -o with prog.c
		want $cc -O2 -fchord=$measure -o without prog.c
		alike $measure
	done
	sed '/^ran/s/ [0-9]*$//' weights >short
	refused 1 'short:[0-9]+: .*has another number of edges' $cc -O2 -fchord-weights=short -c prog.c
}

t_wrong() {
	first
	refused 1 'nowhere: No such file' $cc -fchord-weights=nowhere -c prog.c
	refused 2 'unknown option' $cc -fchord-weights= -c prog.c
	refused 1 'prog.c:1: neither a profile nor a file of weights' $cc -fchord-weights=prog.c -c prog.c
	refused 1 'weights:1: a file of weights' $cc -fchord-paths=weights -c prog.c
	sed 1s/1/9/ weights >later
	refused 1 'later:1: of another version of Chord' $cc -fchord-weights=later -c prog.c
	sed 's/^ran 1/ran x/' weights >word
	refused 1 'word:3: not how often an edge ran' $cc -fchord-weights=word -c prog.c
	sed 2,3p weights >twice
	refused 1 'twice:[0-9]*: (a procedure listed twice|how often)' $cc -fchord-weights=twice -c prog.c
	head -c 100 first.chord >torn
	refused 1 'torn: ' $cc -fchord-weights=torn -c prog.c
	refused 2 'which program' "$CHORD" weights
	refused 1 'nowhere' "$CHORD" weights nowhere
	refused 1 'prog.c: not an ELF file' "$CHORD" weights prog.c first.chord
	mkdir empty
	cp first empty
	(cd empty && refused 1 'no profile of this build' "$CHORD" weights ./first) || exit 1
	want $cc -O2 -fchord=events -o events prog.c
	run events
	refused 1 "no procedure's edges are known to have run" "$CHORD" weights ./events events.chord
	mv first elsewhere
	refused 1 'first.chord: no weights: .*chord weights' $cc -fchord-weights=first.chord -c prog.c
	refused 1 'events.chord: no weights' $cc -fchord-weights=events.chord -c prog.c
	[ ! -e prog.o ] || no "an object was left behind"
}

for name in fewer measures sources sum events changed gone snapshot absurd wrong; do
	test_case $name
done
exit $failed
