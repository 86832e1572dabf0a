#!/bin/bash
# SPDX-License-Identifier: MIT
# Bad input, and a failing environment: errors are clear, nothing crashes, no files are left, and the build or the program goes on
# as it would without Chord. Prints ok, FAIL or skip for each test; status 1 if one failed.
# run.sh [--full] [NAME...]: --full with texts of 100 MB; only the tests of these names.
set -u
here=$(cd "$(dirname "$0")" && pwd)
CHORD=$(realpath "${CHORD:-$here/../../build/chord}")
w=${CHORD_TEST_DIR:-$(mktemp -d)}
mounted=
[ -n "${CHORD_TEST_DIR-}" ] || trap '[ -z "$mounted" ] || umount "$mounted"; rm -rf "$w"' EXIT
export LC_ALL=C ASAN_OPTIONS=detect_leaks=0:${ASAN_OPTIONS-} UBSAN_OPTIONS=print_stacktrace=1:${UBSAN_OPTIONS-}
unset CHORD_CC CHORD_CXX CHORD_AS CHORD_FILE COMPILER_PATH CHORD_KEEP
hook=$("$CHORD" hook) || exit 1
as=$(command -v as)
cc="$CHORD cc"
full=
[ "${1-}" != --full ] || { full=1; shift; }
only=" $* "
failed=0

# ---- what the tests are made of ----

skip() { echo "skip $1: $2"; }

# no WHY...: the test that runs fails
no() { echo "$*" >"$w/why"; exit 1; }

# sound STATUS: neither a signal nor a sanitizer's report
sound() {
	[ "$1" -lt 124 ] || no "status $1: $(head -c 300 err)"
	! grep -Eq 'Sanitizer:|runtime error:|^chord: bug' err || no "$(grep -E -m1 -A8 'Sanitizer|runtime error|bug' err | head -c 1500)"
}

# want COMMAND...: it succeeds and has nothing to say on standard error
want() {
	"$@" >out 2>err
	local got=$?
	sound $got
	[ $got = 0 ] || no "status $got of $*: $(head -c 400 err)"
	[ ! -s err ] || no "$* said: $(head -c 400 err)"
}

# refused STATUS PATTERN COMMAND...: it fails so, with a message of that pattern
refused() {
	local status=$1 pattern=$2
	shift 2
	"$@" >out 2>err
	local got=$?
	sound $got
	[ $got = "$status" ] || no "status $got, not $status, of $*: $(head -c 400 err)"
	grep -Eq -- "$pattern" err || no "not '$pattern' but: $(head -c 400 err)"
}

# as_plain FILE [ARGUMENT...]: as the assembler takes it, so does the stand-in, with the same words
as_plain() {
	local file=$1 status
	shift
	rm -f plain.o ours.o
	"$as" "$@" -o plain.o "$file" >plain.out 2>plain
	status=$?
	"$hook/as" "$@" -o ours.o "$file" >out 2>err
	local got=$?
	sound $got
	[ $got = $status ] || no "status $got, not $status, for $file: $(head -c 400 err)"
	sed 's/plain\.o/ours.o/' plain | cmp -s - <(sed '/^chord: warning:.*not measured/d' err) || no "for $file it says: $(diff plain err | head -c 400)"
	[ -e plain.o ] || [ ! -e ours.o ] || no "there is an object of $file"
}

measured_object() { readelf -SW "$1" | grep -q '\.chord\.map' || no "$1 has no map"; }

nothing_left() { [ -z "$(ls -A tmp)" ] || no "left behind: $(ls -A tmp)"; }

test_case() {
	local name=$1
	[ "$only" = "  " ] || [[ $only == *" $name "* ]] || return
	rm -rf "${w:?}/$name"
	mkdir -p "$w/$name/tmp"
	echo "it ended badly" >"$w/why"
	rm -f "$w/note" "$w/skip"
	if (cd "$w/$name" && cp "$here/prog.c" . && TMPDIR=$PWD/tmp && export TMPDIR && "t_${name//-/_}" && nothing_left); then
		if [ -e "$w/skip" ]; then skip "$name" "$(cat "$w/skip")"; else echo "ok $name$(cat "$w/note" 2>/dev/null)"; fi
	else
		echo "FAIL $name: $(tr '\n' ' ' <"$w/why")"
		failed=1
	fi
	rm -rf "${w:?}/$name"
}

# build: a measured program and its profile
build() {
	want $cc -O2 -g -o prog prog.c
	run_prog
}
# run_prog [COMMAND...]: it prints its number and ends with its status
run_prog() {
	"$@" ./prog >number 2>err
	local got=$?
	[ $got = 3 ] || no "status $got of the program: $(head -c 300 err)"
	[ "$(cat number)" = 294 ] || no "the program prints $(cat number)"
}
# one_line PATTERN: standard error is one line of that pattern
one_line() {
	[ "$(wc -l <err)" = 1 ] || no "not one line: $(head -c 400 err)"
	grep -Eq "^chord: .*$1" err || no "not '$1' but: $(cat err)"
}
# small_disk FOLDER SIZE: a file system of that size; false if there can be none
small_disk() {
	mkdir -p "$1"
	mount -t tmpfs -o "size=$2" none "$1" 2>/dev/null || { echo "no small file system can be mounted here" >"$w/skip"; return 1; }
}

# ---- text ----

t_rejected() {
	printf '\t.text\nf:\n\tnop\n\tfoox %%eax\n\tret\n' >bad.s
	as_plain bad.s
	grep -q '^bad.s:4: Error' err || no "$(cat err)"
}
t_unknown_measure() { refused 2 "^chord: -fchord=nonsense: unknown measure" $cc -fchord=nonsense -c prog.c; }
t_bad_events() {
	local line
	bad() { refused 2 "^chord: -fchord-events: $2" $cc -fchord=events "-fchord-events=$1" -c prog.c; }
	bad lods "'lods' is no event; there are instructions, "
	bad instructions: "'instructions:' is no event; there are instructions, "
	bad "" "an empty name"
	bad loads, "an empty name"
	bad call: "call:: an empty pattern"
	bad 'call:read|' 'call:read\|: an empty pattern'
	bad 'call:/(/' 'call:/\(/: /\(/: '
	bad cost: "cost: needs the name of a file"
	bad cost:none "none: No such file or directory"
	printf 'load 4\nlods 3\n' >costs
	bad cost:costs "costs:2: 'lods' is no class of instructions; there are default, "
	for line in "load x" "load -1" "load 4294967296"; do
		echo "$line" >costs
		bad cost:costs "costs:1: '${line#load }' is no cost: a whole number below 2\^32"
	done
	for line in load "load 1 2"; do
		echo "$line" >costs
		bad cost:costs "costs:1: a line has a class and its cost"
	done
	$cc -fchord-events=call:nobody,insn:xyz,loads -o prog prog.c 2>err || no "patterns that match nothing: $(cat err)"
	[ "$(cat err)" = "chord: warning: prog: call:nobody: nothing that is measured in it matches
chord: warning: prog: insn:xyz: nothing that is measured in it matches" ] || no "patterns that match nothing: $(cat err)"
}
t_empty() {
	: >empty.s
	as_plain empty.s
	as_plain empty.s -g
	want $cc -c -x c /dev/null -o null.o
	want "$hook/as" -o null.o </dev/null
}
t_no_newline() {
	printf '\t.text\n\t.globl f\n\t.type f,@function\nf:\tnop\n\tret\n\t.size f,.-f' >f.s
	as_plain f.s
	measured_object ours.o
	printf '\t.text\nf:\tret' >g.s
	as_plain g.s
	printf '\t.text\nf:\tfoox' >h.s
	as_plain h.s
	printf '\t.ascii "' >i.s
	as_plain i.s
	printf '/*' >j.s
	as_plain j.s
	printf '\\' >k.s
	as_plain k.s
	printf '\t.macro x' >l.s
	as_plain l.s
	printf "'" >m.s
	as_plain m.s
}
t_crlf() {
	want gcc -O2 -S prog.c
	sed 's/$/\r/' prog.s >crlf.s
	as_plain crlf.s
	measured_object ours.o
	want $cc -o prog crlf.s
	run_prog
	want "$CHORD" report ./prog
	grep -q '10  work' out || no "work was not called 10 times: $(cat out)"
}
t_garbage() {
	as_plain /bin/sh
	as_plain "$as"
	as_plain prog.c
	for i in $(seq 12); do
		openssl enc -aes-128-ctr -K 00 -iv 0$i -in /dev/zero 2>/dev/null | head -c 20000 >r.s
		[ -s r.s ] || awk -v seed="$i" 'BEGIN { srand(seed); for (i = 0; i < 20000; i++) printf "%c", int(rand() * 256) }' >r.s
		as_plain r.s
	done
	printf 'f:\0\n\tnop\0\n\0\tret\n\0' >nul.s
	as_plain nul.s
	printf '\t.text\n\t.globl f\n\t.type f,@function\nf:\tmovl\0$1,%%eax\n\tret\n\t.size f,.-f\n' >nul2.s
	as_plain nul2.s
	head -c 100000 /dev/zero >zero.s
	as_plain zero.s
	head -c 100000 /dev/zero | tr '\0' '\377' >ff.s
	as_plain ff.s
}
# Text of the compiler's with a piece cut out, doubled, or a byte changed.
t_damaged() {
	want gcc -O2 -g -S prog.c
	local size n=${full:+1500}
	size=$(wc -c <prog.s)
	RANDOM=4711
	for i in $(seq ${n:-150}); do
		local at=$(((RANDOM * 32768 + RANDOM) % size)) len=$((RANDOM % 300))
		case $((i % 4)) in
		0) head -c $at prog.s ;;
		1) head -c $at prog.s; tail -c +$((at + len)) prog.s ;;
		2) head -c $((at + len)) prog.s; tail -c +$((at + 1)) prog.s ;;
		3) head -c $at prog.s; printf "\\x$(printf %x $((RANDOM % 256)))"; tail -c +$((at + 2)) prog.s ;;
		esac >damaged.s
		cp damaged.s "$w/damaged.s"
		as_plain damaged.s
	done
	rm -f "$w/damaged.s"
}
t_long_line() {
	{
		printf '\t.text\n\t.globl f\n\t.type f,@function\nf:'
		yes ' nop;' | head -170000 | tr -d '\n'
		printf ' ret\n\t.size f,.-f\n'
	} >line.s
	as_plain line.s
	measured_object ours.o
	name=$(head -c 1000000 /dev/zero | tr '\0' x)
	printf '\t.text\n\t.globl %s\n\t.type %s,@function\n%s:\tret\n\t.size %s,.-%s\n' "$name" "$name" "$name" "$name" "$name" >name.s
	as_plain name.s
	{ printf '\t.data\nx:\t.long 1'; yes ',1' | head -500000 | tr -d '\n'; echo; } >data.s
	as_plain data.s
	{ printf '\t.text\nf:\tret #'; head -c 1000000 /dev/zero | tr '\0' y; echo; } >comment.s
	as_plain comment.s
	{ printf '\t.text\nf:\tret\n'; yes '((((((((((' | head -5000 | tr -d '\n'; } >nest.s
	"$hook/as" -o x.o nest.s >out 2>err
	sound $?
	{ yes '	.rept 2' | head -300; echo nop; } >rept.s
	"$hook/as" -o x.o rept.s >out 2>err
	sound $?
}
# code BYTES: text of that size, small functions with a loop
code() {
	awk -v size="$1" 'BEGIN {
		print "\t.text"
		while (n < size) {
			t = sprintf("\t.p2align 4\n\t.globl f%d\n\t.type f%d, @function\nf%d:\n\t.cfi_startproc\n\tmovl $0, -4(%%rsp)\n\txorl %%ecx, %%ecx\n" \
				"\ttestl %%edi, %%edi\n\tjs .L4%d\n.L3%d:\n\tmovl -4(%%rsp), %%edx\n\tmovl -4(%%rsp), %%eax\n\txorl %%edi, %%edx\n\taddl $1, %%eax\n" \
				"\taddl %%edx, %%ecx\n\tmovl %%eax, -4(%%rsp)\n\tcmpl $99, %%eax\n\tjle .L3%d\n.L4%d:\n\tmovl %%ecx, %%eax\n\tret\n\t.cfi_endproc\n\t.size f%d, .-f%d\n", \
				i, i, i, i, i, i, i, i, i)
			printf "%s", t
			n += length(t)
			i++
		}
	}'
}
# cost FILE: seconds and MB, in $seconds and $mb; with the measures in $measures
cost() {
	/usr/bin/time -o cost -f '%U %S %M' "$hook/as" ${measures:+--chord=$measures} -o x.o "$1" >out 2>err
	local got=$?
	sound $got
	[ $got = 0 ] || no "status $got: $(head -c 300 err)"
	read -r seconds system mb <cost
	seconds=$(awk -v u="$seconds" -v s="$system" 'BEGIN { print u + s }')
	mb=$((mb / 1024))
}
# four times the text must not cost eight times the processor's time, in one of three attempts: others may use its caches meanwhile
linear() {
	local what=$1 small big
	for _ in 1 2 3; do
		cost "$what-1.s"
		small=$seconds
		cost "$what-4.s"
		big=$seconds
		echo -n " ($what: $(($(stat -c %s "$what-4.s") / 1000000)) MB in $big s, $mb MB of memory; a quarter of it in $small s)" >>"$w/note"
		awk -v a="$small" -v b="$big" 'BEGIN { exit b < 8 * a + 0.5 ? 0 : 1 }' && return
	done
	no "not linear: $(cat "$w/note")"
}
t_much_data() {
	local mb=${full:+100}
	mb=${mb:-20}
	for part in 1 4; do
		{ printf '\t.data\nx:\n'; yes '	.long 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16' | head -c $((mb * 250000 * part)) | sed '$d'; } >data-$part.s
	done
	linear data
}
t_much_code() {
	local size=${full:+25000000} measures
	size=${size:-1000000}
	code $size >code-1.s
	code $((4 * size)) >code-4.s
	for measures in edges paths; do
		linear code
		measured_object x.o
	done
}
t_much_procedure() {
	local n=${full:+100000}
	n=${n:-5000}
	for part in 1 4; do
		awk -v n=$((n * part)) 'BEGIN {
			print "\t.text\n\t.globl big\n\t.type big,@function\nbig:\n\t.cfi_startproc"
			for (i = 0; i < n; i++)
				printf ".L%d:\tdecl %%edi\n\tje .L%d\n\taddl $%d, %%eax\n\tcall g\n", i, i * 7919 % n, i
			print "\tret\n\t.cfi_endproc\n\t.size big,.-big"
		}' >procedure-$part.s
	done
	linear procedure
}
# Registers that are never written down: it is found out from block to block that they are not known.
t_much_unknown() {
	local measures=trace,data n=${full:+20000}
	n=${n:-1000}
	for part in 1 4; do
		awk -v n=$((n * part)) 'BEGIN {
			print "\t.text\n\t.globl chain\n\t.type chain,@function\nchain:\n\t.cfi_startproc"
			for (i = 0; i < n; i++)
				printf "\tmovl (%%rsi), %%ecx\n\ttestl $%d, %%edi\n\tje .L%d\n\taddl $%d, %%eax\n.L%d:\txorl (%%rdx), %%eax\n", i, i, i, i
			print "\tret\n\t.cfi_endproc\n\t.size chain,.-chain"
		}' >chain-$part.s
	done
	linear chain
}
# reads SECONDS COMMAND...: the processor's time of a command that reads a program and its profile
reads() {
	local most=$1
	shift
	/usr/bin/time -o cost -f '%U' "$@" >out 2>err || no "status $? of $*: $(head -c 300 err)"
	read -r seconds <cost
	echo -n " ($1 ${2-}: $seconds s)" >>"$w/note"
	awk -v s="$seconds" -v most="$most" 'BEGIN { exit s < most ? 0 : 1 }' || no "$* takes $seconds s, more than $most"
}
# Bounds for a procedure with many blocks, in a process that was killed.
t_much_killed() {
	awk 'BEGIN {
		print "\t.text\n\t.globl big\n\t.type big,@function\nbig:\n\t.cfi_startproc"
		for (i = 0; i < 40000; i++)
			printf "\ttestl $%d, %%edi\n\tje .L%d\n\taddl $%d, %%eax\n.L%d:\taddl $1, %%eax\n", i, i, i, i
		print "\tret\n\t.cfi_endproc\n\t.size big,.-big\n\t.section .note.GNU-stack,\"\",@progbits"
	}' >big.s
	printf '%s\n' '#include <stdio.h>' '#include <unistd.h>' 'int big(int);' \
		'int main(void) { big(3); puts("ready"); fflush(stdout); for (;;) pause(); }' >prog.c
	want $cc -o prog prog.c big.s
	mkfifo ready
	./prog >ready &
	read -r _ <ready
	kill -KILL $!
	wait $! 2>/dev/null
	reads 3 "$CHORD" report ./prog
	grep -q '  1 to 2  *big' out || no "the process is not in flight: $(cat out)"
}
t_much_functions() {
	awk 'BEGIN {
		for (i = 0; i < 30000; i++)
			printf "int f%d(int n)\n{\n\treturn n;\n}\n", i
		print "int main(void)\n{\n\treturn f1(0);\n}"
	}' >prog.c
	want $cc -g -o prog prog.c
	want ./prog
	reads 2.5 "$CHORD" export --format=lcov ./prog
	[ "$(grep -c '^FN:' out)" = 30001 ] || no "$(grep -c '^FN:' out) functions"
}
t_much_files() {
	awk 'BEGIN {
		for (i = 0; i < 8000; i++)
			printf "# 1 \"/somewhere/in/the/same/folder/file%d.c\"\nint f%d(int n)\n{\n\treturn n;\n}\n", i, i
		print "int main(int n, char **argument)\n{\n\twhile (n-- > 1)\n\t\tf7(0);\n\treturn 0;\n}"
	}' >prog.c
	want $cc -g -o prog prog.c
	CHORD_FILE=a.chord want ./prog
	CHORD_FILE=b.chord want ./prog 1 2 3
	reads 3 "$CHORD" diff --lines ./prog a.chord b.chord
	grep -q 'file7.c:2$' out || no "no line of file7.c: $(cat out)"
}

# ---- files that cannot be used ----

t_unreadable() {
	as_plain no-such.s
	mkdir folder.s
	as_plain folder.s
	refused 1 'no-such' $cc -c no-such.s
	cp prog.c secret.s
	chmod 0 secret.s
	[ -r secret.s ] || as_plain secret.s
	as_plain /proc/self/mem
}
t_unwritable() {
	want gcc -O2 -S prog.c
	for o in /no/such/folder/x.o prog.s/x.o tmp; do
		"$as" -o "$o" prog.s 2>plain
		refused 1 '' "$hook/as" -o "$o" prog.s
		[ -s plain ] && cmp -s plain err || no "for $o it says: $(diff plain err | head -c 400)"
		refused 1 '' $cc -c -o "$o" prog.c
	done
	refused 1 'No such file|cannot open' $cc -o /no/such/folder/x prog.c
	"$as" -o /dev/full prog.s 2>plain
	refused 1 "$(sed -n 's/.*: //p' plain | tail -1)" "$hook/as" -o /dev/full prog.s
	[ -c /dev/full ] || no "/dev/full is gone"
}
# What commands print goes to a full disk, or to nobody: each says why, once, and only then.
t_full_output() {
	local command got
	[ -c /dev/full ] || { no "/dev/full is gone"; }
	build
	CHORD_FILE=first.chord run_prog
	want gcc -O2 -S prog.c
	want $cc -g -O1 -fchord=trace -o traced "$here/../tracing/long.c"
	CHORD_FILE=traced.chord ./traced >out
	while read -r command; do
		# shellcheck disable=SC2086
		"$CHORD" $command >/dev/full 2>err
		got=$?
		sound $got
		[ $got = 1 ] && [ "$(cat err)" = 'chord: standard output: No space left on device' ] || no "status $got of $command: $(head -c 400 err)"
		# shellcheck disable=SC2086
		(trap '' PIPE; "$CHORD" $command 2>err; echo $? >got) | : # it may be written before nobody reads
		[ "$(cat got)" = 0 ] || [ "$(cat err)" = 'chord: standard output: Broken pipe' ] || no "status $(cat got) of $command: $(head -c 400 err)"
	done <<-EOF
		report ./prog first.chord
		report --json ./prog first.chord
		annotate --both ./prog first.chord
		coverage --json ./prog first.chord
		export -f lcov ./prog first.chord
		diff ./prog first.chord first.chord
		verify ./prog
		verify --json ./prog
		merge --json -o sum first.chord
		merge -o - first.chord
		weights ./prog first.chord
		trace --insns ./traced traced.chord
		trace --json --insns ./traced traced.chord
		trace --together --lines ./traced traced.chord
		trace --chrome --from=main ./traced traced.chord
		trace --encodings ./traced traced.chord
		show prog.s
		hook
		help
		--version
		report --help
	EOF
	"$CHORD" trace --insns ./traced traced.chord 2>err | head -n 1 >out
	[ ${PIPESTATUS[0]} = 141 ] && [ ! -s err ] || no "it did not end by SIGPIPE: $(head -c 400 err)"
}

# Output given the name of a program, or of what a process left: they stay. What Chord made may be made anew.
t_output_spares() {
	build
	set -- prog.*.chord
	mv "$1" one
	cp prog kept
	cp one kept.one
	want $cc -O2 -fchord=trace -o traced prog.c
	CHORD_FILE=traced.chord ./traced >number 2>err
	local file
	for file in prog one traced.chord.trace; do
		cp $file before
		for command in "export -f csv -o $file ./prog one" "weights -o $file ./prog one" "merge -o $file kept.one" \
			"stat -o $file ./prog" "record -o $file ./prog" "trace -o $file ./traced traced.chord"; do
			refused 1 "^chord: $file: .*would be" "$CHORD" $command
			cmp -s before $file || no "$command changed $file"
		done
	done
	want "$CHORD" export -f csv -o out.csv ./prog one
	want "$CHORD" export -f csv -o out.csv ./prog one
	want "$CHORD" merge -o sum one
	want "$CHORD" merge -o sum one
}

# What was there stays, whatever name leads to it; what is new and could not be finished goes.
t_output_kept() {
	local name
	build
	CHORD_FILE=second.chord run_prog
	set -- prog.*.chord
	mv "$1" first.chord
	want "$CHORD" merge -o one first.chord
	want "$CHORD" merge -o both first.chord second.chord
	if mknod full c 1 7 2>/dev/null && { true >full; } 2>/dev/null; then
		refused 1 'full: No space left' "$CHORD" export -f lcov -o full ./prog first.chord
		refused 1 'full: No space left' "$CHORD" merge -o full first.chord
		[ -c full ] || no "the device is gone"
	fi
	mounted=$PWD/small
	small_disk small 64k || return 0
	trap 'umount "$mounted"' EXIT
	cp one small/link
	ln -s small/link lk
	echo old >small/hard
	ln small/hard small/other
	head -c 70000 /dev/zero >small/filler 2>/dev/null
	for name in lk small/link small/hard; do
		refused 1 "$name: No space left" "$CHORD" merge -o $name one second.chord
	done
	cmp -s one lk && cmp -s one small/link || no "the file behind a link is not what it was"
	[ "$(cat small/hard small/other | tr '\n' ' ')" = "old old " ] || no "the file of two names is not what it was"
	refused 1 'No space left' "$CHORD" export -f json -o small/new ./prog first.chord
	[ -z "$(ls small | grep -vx 'link\|hard\|other\|filler')" ] || no "left behind: $(ls small)"
	rm small/filler
	for name in lk small/hard; do
		want "$CHORD" merge -o $name first.chord second.chord
		cmp -s both $name || no "$name is not the sum"
	done
	[ -L lk ] && cmp -s both small/link || no "the link was replaced, not what it leads to"
	cmp -s both small/other || no "the other name has not the sum"
	umount "$mounted"
	trap - EXIT
}
# Pipes can be read once, and are what a file of that text is.
t_pipes() {
	build
	mv prog.*.chord first.chord
	"$CHORD" stat --json -o stored.json ./prog >out 2>err
	[ -s stored.json ] || no "nothing is stored: $(head -c 400 err)"
	want "$CHORD" diff stored.json stored.json
	sed 's/stored\.json/PIPE/g' out >files
	want "$CHORD" diff <(cat stored.json) <(cat stored.json)
	diff files <(sed 's,/dev/fd/[0-9]*,PIPE,g' out) >unlike || no "$(head -c 400 unlike)"
	want "$CHORD" diff ./prog first.chord <(cat first.chord)
	want "$CHORD" coverage --json ./prog first.chord
	jq .files out >files
	want "$CHORD" coverage --json ./prog <(cat first.chord)
	jq .files out | cmp -s files - || no "coverage of a pipe is another one"
	want "$CHORD" annotate ./prog <(cat first.chord) main
}
t_full_disk() {
	want gcc -O2 -S prog.c
	mounted=$PWD/small
	small_disk small 16k || return 0
	trap 'umount "$mounted"' EXIT
	head -c 15000 /dev/zero >small/filler
	"$as" -o small/x.o prog.s 2>plain
	local status=$?
	"$hook/as" -o small/x.o prog.s 2>err >out
	local got=$?
	sound $got
	[ $got != 0 ] || [ -s small/x.o ] || no "no object and no error"
	[ $got != 0 ] || readelf -h small/x.o >/dev/null 2>&1 || no "a broken object and no error"
	[ $status = 0 ] || [ $got != 0 ] || no "no error where the assembler has one"
	rm -f small/x.o
	head -c 20000 /dev/zero >>small/filler 2>/dev/null
	refused 1 'No space left' "$hook/as" -o small/x.o prog.s
	# nothing of Chord's needs the folder for temporary files
	TMPDIR=$PWD/small want "$hook/as" -o x.o prog.s
	measured_object x.o
	TMPDIR=$PWD/small want $cc -pipe -c -x assembler -o x.o - <prog.s
	TMPDIR=/no/such/folder want "$hook/as" -o x.o prog.s
}
# What the compiler may write in files of that size, it may write with Chord.
t_file_size() {
	local limit
	want gcc -O2 -c -o plain.o prog.c
	for limit in 3 4 16 64; do
		rm -f ours.o
		(ulimit -f $limit; exec $cc -O2 -pipe -c -o ours.o prog.c) >out 2>err || no "status $? with ulimit -f $limit: $(head -c 300 err)"
		[ ! -s err ] || grep -q ': not measured: ' err || no "it says $(head -c 300 err)"
		gcc -o prog ours.o || no "no object with ulimit -f $limit"
	done
}
t_killed() {
	code 3000000 >code.s
	for sig in TERM INT HUP KILL; do
		for when in 0.02 0.2 0.6 1.2; do
			rm -f x.o
			(trap - INT; exec setsid "$hook/as" -al=list -o x.o code.s) >out 2>err &
			local pid=$!
			sleep $when
			kill -$sig $pid 2>/dev/null
			wait $pid 2>/dev/null
			sleep 0.1
			nothing_left
			[ $sig = KILL ] || ! readelf -h x.o >/dev/null 2>&1 || measured_object x.o
		done
	done
	want "$hook/as" -o x.o code.s
}

# ---- profiles and programs ----

# each READER COMMAND on a bad profile: status 1 and `chord: NAME: WHY`
bad_profile() {
	refused 1 "^chord: .*$1: ." "$CHORD" report ./prog "$1"
	[ ! -s out ] || no "it reports something on $1"
	refused 1 "^chord: .*$1: ." "$CHORD" merge -o merged "$1"
	[ ! -e merged ] || no "there is a merged file of $1"
	refused 1 "^chord: .*$1: ." "$CHORD" merge -o merged good "$1"
	[ ! -e merged ] || no "there is a merged file of $1"
}
t_bad_profile() {
	build
	mv prog.*.chord good
	want "$CHORD" report ./prog good
	: >bad
	refused 1 '^chord: bad: the file is empty' "$CHORD" report ./prog bad
	refused 1 '^chord: merged: there is nothing' "$CHORD" merge -o merged bad
	[ ! -e merged ] || no "there is a merged file of nothing"
	local size
	size=$(wc -c <good)
	for n in 1 7 8 63 64 100 4095 4096 4097 8192 $((size / 2)) $((size - 4096)) $((size - 1)); do
		head -c $n good >bad
		bad_profile bad
	done
	head -c 100000 /dev/zero >bad
	bad_profile bad
	cp "$CHORD" bad
	bad_profile bad
	cp prog.c bad
	bad_profile bad
	{ printf 'X'; tail -c +2 good; } >bad
	bad_profile bad
	refused 1 "^chord: none: No such file" "$CHORD" report ./prog none
	refused 1 "^chord: tmp: ." "$CHORD" report ./prog tmp
	refused 1 "^chord: good: a profile: name the program first" "$CHORD" report good prog
}
# A byte changed anywhere: an error or numbers, never a crash.
t_damaged_profile() {
	build
	mv prog.*.chord good
	local size n=${full:+1500}
	size=$(wc -c <good)
	RANDOM=42
	for i in $(seq ${n:-120}); do
		local at=$(((RANDOM * 32768 + RANDOM) % (i % 3 ? 300 : size)))
		cp good bad
		printf "\\x$(printf %x $((RANDOM % 256)))" | dd of=bad bs=1 seek=$at conv=notrunc status=none
		"$CHORD" report --json ./prog bad >out 2>err
		sound $?
		"$CHORD" merge -o merged good bad >out 2>err
		sound $?
	done
}
# A snapshot has what its process' own profile has as well.
t_summed_twice() {
	want $cc -o prog -x c - <<<'#include <signal.h>
		int main(void) { return raise(SIGUSR1) + raise(SIGUSR1); }'
	CHORD_SIGNAL=USR1 CHORD_FILE=p.chord ./prog || no "status $?"
	want "$CHORD" merge -o sum p.1.chord p.2.chord
	[ ! -s err ] || no "of two snapshots: $(cat err)"
	"$CHORD" merge -o sum p.2.chord p.chord p.1.chord 2>err || no "status $?"
	[ "$(wc -l <err)" = 1 ] && grep -q '^chord: warning: p.chord: the sum has a snapshot and the whole profile of process [0-9]*:' err || no "$(cat err)"
}
# What a mistyped word may have been meant to be; -h and --help are the same everywhere.
t_command_lines() {
	refused 2 '^chord: reprot: no such command; did you mean `chord report`\?' "$CHORD" reprot
	refused 2 '^chord: xyzzy: no such command; `chord --help`' "$CHORD" xyzzy
	refused 2 '^chord: "": no such command; `chord --help`' "$CHORD" ""
	refused 1 '^chord: "": No such file or directory$' "$CHORD" report ""
	refused 2 'did you mean `chord report`\?' "$CHORD" help reprot
	want "$CHORD" report --help
	mv out help
	want "$CHORD" help report
	cmp -s out help || no "chord help report is not chord report --help"
	refused 2 "^chord: chord report: unrecognized option '--lnes'; did you mean --lines\?" "$CHORD" report ./prog --lnes
	refused 2 "^chord: chord paths split: unrecognized option .--prats.; did you mean --parts" "$CHORD" paths split --prats=2 x
	refused 2 "^chord: chord paths select: unrecognized option '--rlue'; did you mean --rule\?" "$CHORD" paths select --rlue=top:1 x
	refused 2 "unrecognized option '--nonsense'" "$CHORD" report --nonsense x
	# What an option is given, and what a program that is run is given, is no option of Chord's.
	refused 1 '^chord: none: No such file' "$CHORD" paths --function --lnes none
	refused 1 '^chord: ./none: No such file' "$CHORD" stat -e loads ./none --evnt
	for command in report stat annotate export diff query paths "paths select" "paths split" "paths merge" weights merge verify graph show; do
		want "$CHORD" $command --help
		mv out help
		want "$CHORD" $command -h
		[ -s help ] && cmp -s out help || no "$command -h is not its --help"
	done
	for command in report diff paths "paths merge"; do
		want "$CHORD" $command --help
		grep -q -e --full-names out || no "$command has no --full-names"
	done
	want "$CHORD" --version
	mv out version
	want "$CHORD" version
	grep -q '^chord [0-9]' version && cmp -s out version || no "chord version: $(cat out)"
}
# What is no assembly text is one error, not one for each of its lines.
t_show_no_text() {
	want $cc -O2 -o prog prog.c
	refused 1 '^chord: ./prog: a program, library or object, and not assembly text' "$CHORD" show ./prog
	[ "$(wc -l <err)" = 1 ] || no "more than one line: $(wc -l <err)"
	printf 'x\0y' >zero
	refused 1 '^chord: zero: this is no assembly text' "$CHORD" show zero
	seq 1000 | sed 's/^/no such instruction /' >words
	refused 1 '^chord: words: the assembler rejects it' "$CHORD" show words
	[ "$(wc -l <err)" -lt 20 ] || no "too many lines: $(wc -l <err)"
	grep -q 'and more messages' err || no "not said that there are more: $(cat err)"
}
# No option is dropped without a word.
t_options_apart() {
	local raw other
	for raw in insns blocks edges; do
		for other in json lines files tree calls unmeasured top=3 sort=name; do
			refused 2 "^chord report: --$raw cannot be combined with --${other%=*}" "$CHORD" report --$raw --$other ./prog
			refused 2 "^chord report: --$raw cannot be combined with --${other%=*}" "$CHORD" report --$other --$raw ./prog
		done
	done
	for other in both summary mnemonics; do
		refused 2 "only one of --asm, --both, --summary and --mnemonics" "$CHORD" annotate --asm --$other ./prog
		refused 2 "^chord annotate: --branches is for source lines" "$CHORD" annotate --branches --$other ./prog
	done
	refused 2 "either --functions or --lines" "$CHORD" diff --functions --lines ./prog a b
	refused 2 "^chord paths: --coverage cannot be combined with --source" "$CHORD" paths --coverage --source ./prog
	refused 2 "^chord paths: --coverage cannot be combined with --top" "$CHORD" paths --coverage --top=3 ./prog
	refused 2 "^chord paths: --source cannot be combined with --json" "$CHORD" paths --json --source ./prog
}
# A few of very many profiles are named, in JSON all.
t_many_profiles() {
	build
	rm -f prog.*.chord
	local i n
	for n in 11 12 40; do
		for i in $(seq $n); do
			CHORD_FILE=prog.$i.chord ./prog >out
		done
		want "$CHORD" report ./prog
		[ "$(head -n 1 out | grep -o 'prog\.[0-9]*\.chord' | wc -l)" = $((n > 11 ? 10 : n)) ] || no "$n: $(head -n 1 out)"
		[ $n = 11 ] || head -n 1 out | grep -q "^./prog: sum of $n profiles: .* and $((n - 10)) more (--json names all)$" ||
			no "$n: $(head -n 1 out)"
		want "$CHORD" report --json ./prog
		[ "$(grep -c '^  "prog\.[0-9]*\.chord"' out)" = $n ] || no "not $n in JSON"
	done
}
# A linker can be told a build id of any length. Profiles have 32 bytes of it.
t_build_id() {
	local id
	build
	for id in 0x01 0x010203040506 0x$(printf 'ab%.0s' {1..33}) 0x$(printf 'cd%.0s' {1..64}); do
		rm -f prog.*.chord
		want $cc -O2 -g -o prog prog.c -Wl,--build-id=$id
		run_prog
		want "$CHORD" report --json ./prog
		grep -q "\"build_id\": \"$(head -c 64 <<<"${id#0x}")\"" out || no "not the first 32 bytes of $id"
	done
}
t_other_build() {
	build
	mv prog.*.chord old
	want $cc -O2 -DOTHER -g -o prog prog.c -Wl,--build-id=0x0123456789abcdef
	refused 1 "^chord: old: of another build" "$CHORD" report ./prog old
	run_prog
	mv prog.*.chord new
	want $cc -o other -x c - <<<'int main(void) { return 0; }'
	./other
	refused 1 "^chord: .*of another program" "$CHORD" report ./prog other.*.chord
	refused 1 '^chord: new: of another build' "$CHORD" merge -o both old new
	[ ! -e both ] || no "there is a merged file of two builds"
	refused 1 '^chord: .*map' "$CHORD" report "$as"
	gcc -o plain prog.c
	refused 1 '^chord: plain: .*not built with' "$CHORD" report plain
	refused 1 '^chord: plain: .*not built with' "$CHORD" verify plain
	want "$CHORD" verify prog other
	[ "$(grep -c '^\(prog\|other\): .* 0 refused' out)" = 2 ] || no "verify says of two programs: $(cat out)"
	refused 1 '^chord: plain: .*not built with' "$CHORD" verify prog plain other
	grep -q '^other: .* 0 refused' out || no "verify says nothing of the last program: $(cat out)"
	refused 2 'one program at a time' "$CHORD" verify --json prog other
	gcc -c prog.c
	refused 1 '^chord: prog.o: .' "$CHORD" report prog.o
	refused 1 '^chord: prog.c: .' "$CHORD" report prog.c
	refused 1 '^chord: none: No such file' "$CHORD" report none
	refused 1 '^chord: tmp: .' "$CHORD" verify tmp
}
t_damaged_program() {
	build
	mv prog.*.chord good
	cp prog whole
	local size n=${full:+1000}
	size=$(wc -c <whole)
	RANDOM=7
	for n in 0 1 16 63 64 100 1000 $((size / 4)) $((size / 2)) $((size - 100)) $((size - 1)); do
		head -c "$n" whole >prog
		"$CHORD" report --lines ./prog good >out 2>err
		local got=$?
		sound $got
		[ $got = 1 ] && grep -q '^chord: ' err || no "status $got for $n bytes: $(head -c 300 err)"
		[ "$n" -lt 64 ] || grep -q '^chord: ./prog: truncated: ' err || no "for $n bytes: $(head -c 300 err)"
	done
	local map
	map=$(readelf -SW whole | sed -n 's/.*\.chord\.map *PROGBITS *[0-9a-f]* \([0-9a-f]*\) .*/\1/p')
	for i in $(seq ${full:+1000} 80); do
		cp whole prog
		local at=$(((RANDOM * 32768 + RANDOM) % size))
		[ $((i % 2)) = 0 ] || at=$((0x$map + RANDOM % 300))
		printf "\\x$(printf %x $((RANDOM % 256)))" | dd of=prog bs=1 seek=$at conv=notrunc status=none
		"$CHORD" report --json --lines ./prog good >out 2>err
		sound $?
		"$CHORD" verify ./prog >out 2>err
		sound $?
	done
}
t_stripped() {
	build
	"$CHORD" report --insns ./prog prog.*.chord >before 2>err || no "$(cat err)"
	strip prog
	want "$CHORD" report ./prog
	grep -q '10  work' out || no "the report of the stripped program: $(cat out)"
	grep -q 'no symbol table' out || no "the report does not say what cannot be told: $(cat out)"
	want "$CHORD" verify ./prog
	grep -q 'cannot be told' out && ! grep -q '0 functions not built' out || no "verify says of the stripped program: $(cat out)"
	"$CHORD" report --insns ./prog prog.*.chord >after 2>err || no "$(cat err)"
	[ -s before ] && cmp -s before after || no "stripped, it counts otherwise"
	rm -f prog.*.chord
	run_prog
	want "$CHORD" report ./prog
	"$CHORD" verify ./prog >out 2>err
	sound $?
	objcopy -R .pdr.chord.map prog nomap
	refused 1 '^chord: nomap: .*map' "$CHORD" report nomap
}

# ---- the world of the program that runs ----

# somebody: not root, for whom nothing is forbidden
somebody=()
[ "$(id -u)" != 0 ] || somebody=(setpriv --reuid=65534 --regid=65534 --clear-groups)
t_unwritable_folder() {
	want $cc -O2 -o prog prog.c
	export CHORD_FILE
	for CHORD_FILE in /no/such/folder/p /dev/null/p prog.c/p; do
		run_prog
		one_line .
	done
	CHORD_FILE=$PWD
	run_prog
	one_line .
	unset CHORD_FILE
	chmod 755 "$w" "$PWD"
	if "${somebody[@]}" test -x ./prog && ! "${somebody[@]}" test -w .; then
		chmod 555 .
		run_prog "${somebody[@]}"
		chmod 755 .
		one_line .
		[ -z "$(ls ./*.chord 2>/dev/null)" ] || no "there is a profile"
	else
		echo " (not as another user)" >"$w/note"
	fi
}
t_unreadable_folder() {
	build
	mkdir folder
	mv prog.*.chord folder
	chmod 755 "$w" "$PWD"
	chmod 700 folder
	"${somebody[@]}" test -x ./prog && "${somebody[@]}" test -x "$CHORD" || skip "not as another user"
	[ ${#somebody[@]} -gt 0 ] || chmod 0 folder
	refused 1 '^chord: folder: Permission denied$' "${somebody[@]}" "$CHORD" report ./prog folder
	chmod 700 folder
	want "$CHORD" report ./prog folder
}
t_full_disk_for_profile() {
	want $cc -O2 -o prog prog.c
	CHORD_FILE=/dev/full run_prog
	[ -c /dev/full ] || no "/dev/full is gone"
	mounted=$PWD/small
	small_disk small 32k || return 0
	trap 'umount "$mounted"' EXIT
	for k in 0 4 8 12 16 20 24 28; do
		rm -f small/*
		head -c $((32768 - k * 1024)) /dev/zero >small/filler
		CHORD_FILE=$PWD/small/p run_prog
		[ ! -s err ] || one_line .
		if [ ! -s err ]; then
			[ -s small/p ] || no "neither a profile nor a word, with $k kB free"
			want "$CHORD" report ./prog small/p
			grep -q '10  work' out || no "with $k kB free: $(cat out)"
		elif [ -e small/p ]; then
			"$CHORD" report ./prog small/p >out 2>err
			local got=$?
			sound $got
			[ $got = 1 ] || grep -q '10  work' out || no "wrong numbers with $k kB free: $(cat out)"
		fi
	done
}
t_file_limit() {
	want $cc -O2 -o prog prog.c
	want $cc -O2 -static -o static prog.c
	local limit
	for limit in "f 1" "f 4" "f 8" "f 12" "f 16" "f 1000" "n 4" "v 8000" "v 20000" "v 60000"; do
		rm -f ./*.chord
		sh -c "ulimit -$limit; exec ./prog" >/dev/null 2>&1
		local got=$?
		# too little for the C library itself
		[ $got != 127 ] || continue
		run_prog sh -c "ulimit -$limit; exec ./prog"
		[ ! -s err ] || one_line .
		[ "$limit" != "n 4" ] || [ ! -s err ] || no "one descriptor is enough: $(cat err)"
	done
	mv static prog
	run_prog sh -c "ulimit -n 3; exec ./prog"
	one_line 'Too many open files'
}

# crash: a measured program that crashed, its profile prog.chord and its core file
crash() {
	grep -q '^core' /proc/sys/kernel/core_pattern || { echo "no core files are written here" >"$w/skip"; return 1; }
	cat >crash.c <<-'END'
		static volatile int turns = 10;
		static __attribute__((noinline)) void work(volatile int *p) { *p = 1; }
		int main(void) { int here; while (turns-- > 0) work(turns ? &here : (int *)0); return 0; }
	END
	want $cc -O2 -o "$1" crash.c
	{ (ulimit -c unlimited; CHORD_FILE=$PWD/$1.chord ./"$1"); } >/dev/null 2>&1
	mv core* "$1.core" 2>/dev/null || { echo "no core file was written" >"$w/skip"; return 1; }
}
t_bad_core() {
	crash prog || return 0
	want "$CHORD" report --core prog.core ./prog
	grep -q '10  work' out || no "$(cat out)"
	refused 1 "^chord: none: No such file" "$CHORD" report --core none ./prog
	refused 1 "^chord: crash.c: not a core file" "$CHORD" report --core crash.c ./prog
	refused 1 "^chord: ./prog: not a core file" "$CHORD" report --core ./prog ./prog
	refused 1 "^chord: prog.core: neither an executable" "$CHORD" report --core prog.core prog.core
	refused 2 "--core takes one profile" "$CHORD" report --core prog.core ./prog a b
	refused 1 "^chord: crash.c: not a profile" "$CHORD" report --core prog.core ./prog crash.c
	rm prog.chord
	refused 1 "holds no counts, and the profile of its process is not at hand" "$CHORD" report --core prog.core ./prog
}
t_other_core() {
	crash prog || return 0
	mv prog.core first.core
	mv prog.chord first.chord
	sed -i s/10/11/ crash.c
	want $cc -O2 -o other crash.c
	refused 1 "of another program|of another build" "$CHORD" report --core first.core ./other first.chord
	crash prog
	refused 1 "^chord: first.chord: of process [0-9]+, the core is of [0-9]+" "$CHORD" report --core prog.core ./prog first.chord
	# Another run has taken the name: its file is not this run's.
	rm prog.chord
	{ (CHORD_FILE=$PWD/prog.chord ./prog); } >/dev/null 2>&1
	refused 1 "holds no counts" "$CHORD" report --core prog.core ./prog
	want "$CHORD" report --core first.core ./prog first.chord
}
# Whatever is cut off or changed: a result or an error, no crash.
t_damaged_core() {
	crash prog || return 0
	local size at got control
	size=$(stat -c %s prog.core)
	control=$(grep -obUa CHRDCTL1 prog.core | head -n 1)
	control=${control%%:*}
	[ -n "$control" ] || no "the core has no control block"
	for at in 0 16 63 64 100 500 1000 2000 5000 9000 20000 100000 $((size / 2)) $((size - 1)); do
		head -c "$at" prog.core >cut.core
		"$CHORD" report --core cut.core ./prog >out 2>err
		got=$?
		sound $got
		[ $got -le 1 ] || no "status $got with $at bytes: $(head -c 400 err)"
	done
	for at in $(seq 4 37 4000) $(seq $control 4 $((control + 160))); do
		cp prog.core bad.core
		printf '\377\377\377' | dd of=bad.core bs=1 seek="$at" conv=notrunc status=none
		"$CHORD" report --core bad.core ./prog >out 2>err
		got=$?
		sound $got
		[ $got -le 1 ] || no "status $got with damage at $at: $(head -c 400 err)"
	done
}

for name in rejected unknown-measure bad-events empty no-newline crlf garbage damaged long-line much-data much-code much-procedure much-unknown much-killed much-functions much-files \
	unreadable unwritable output-spares output-kept full-output pipes full-disk file-size killed bad-profile damaged-profile summed-twice command-lines show-no-text options-apart many-profiles build-id other-build damaged-program stripped \
	unwritable-folder unreadable-folder full-disk-for-profile file-limit bad-core other-core damaged-core; do
	test_case $name
done
exit $failed
