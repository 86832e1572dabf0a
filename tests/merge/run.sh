#!/bin/bash
# SPDX-License-Identifier: MIT
# `chord merge` of many profiles: in any order, in any groups, with names from a list, without more memory; the recipes of
# docs/many.md. Prints ok, FAIL or skip for each test; status 1 if one failed.
# run.sh [NAME...]
set -u
. "$(dirname "$0")/../cases.sh"

# holds FILTER: of the JSON in ./out
holds() { jq -e "$1" out >/dev/null || no "not so: $1: $(jq -c . out | head -c 800)"; }

program() {
	cat >prog.c <<-'END'
		#include <stdlib.h>
		__attribute__((noipa)) static int step(int n) { return n + 1; }
		int main(int argc, char **argv)
		{
			int n = 0;
			for (int i = argc > 1 ? atoi(argv[1]) : 0; i; i--)
				n = step(n);
			return n == 12345;
		}
	END
	want $cc -O1 -g -o prog prog.c
}

# copies FROM N FOLDER: the same counts, each with an identity of its own, as other processes would have left them
copies() {
	mkdir -p "$3"
	perl -e 'my ($from, $n, $to) = @ARGV; local $/; open(F, "<", $from); binmode F; my $d = <F>; close F;
		for my $i (1 .. $n) {
			substr($d, 64, 32) = pack("Q<4", $i, 77, $i, 78);
			open(F, ">", "$to/$i.chord"); binmode F; print F $d; close F;
		}' "$1" "$2" "$3"
}

t_order() {
	program
	for i in 1 2 3 4 5 6 7 8 9; do CHORD_FILE=p.$i.chord ./prog $i; done
	want "$CHORD" merge -o all p.?.chord
	want "$CHORD" merge -o back p.9.chord p.7.chord p.8.chord p.1.chord p.3.chord p.2.chord p.6.chord p.5.chord p.4.chord
	cmp -s all back || no "another order gives another sum"
	want "$CHORD" merge -o a p.1.chord p.5.chord
	want "$CHORD" merge -o b p.[2346].chord
	want "$CHORD" merge -o c p.[789].chord b
	want "$CHORD" merge -o grouped c a
	cmp -s all grouped || no "groups give another sum"
	want "$CHORD" report --json ./prog all
	holds '.functions | map({(.name): .calls}) | add | .step == 45 and .main == 9'
}

t_list() {
	program
	mkdir "a folder"
	for i in 1 2 3; do CHORD_FILE=p.$i.chord ./prog $i; done
	CHORD_FILE="$PWD/a folder/q.chord" ./prog 10
	want "$CHORD" merge -o all p.?.chord "a folder"
	printf '%s\n' p.?.chord "a folder" >list
	"$CHORD" merge -o sum - <list || no "status $?"
	cmp -s all sum || no "a list on standard input gives another sum"
	printf '%s\0' p.?.chord "a folder/q.chord" >zero
	want "$CHORD" merge --files-from=zero -o sum
	cmp -s all sum || no "a list with zero bytes gives another sum"
	printf 'p.2.chord\n\np.3.chord' >list
	want "$CHORD" merge --files-from list -o sum p.1.chord "a folder"
	cmp -s all sum || no "a list and names give another sum"
	printf '\nabsent\n' >>list
	refused 1 '^chord: absent: No such file' "$CHORD" merge -o none --files-from=list p.1.chord
	[ ! -e none ] || no "there is a sum"
	: >list
	refused 1 '^chord: list: it names no profile' "$CHORD" merge -o none --files-from=list
	refused 1 '^chord: p.1.chord: it is a profile, and no list' "$CHORD" merge -o none --files-from=p.1.chord
	refused 1 '^chord: nowhere: No such file' "$CHORD" merge -o none --files-from=nowhere
	refused 2 'which profiles' "$CHORD" merge -o none
	# a list has what is in a sum as well: it is added once
	"$CHORD" merge -o sum - 2>err < <(printf '%s\n' all p.1.chord p.2.chord) || no "status $?"
	cmp -s all sum && grep -q 'p.1.chord: what it has is in the sum already' err || no "it is added twice: $(cat err)"
}

# What belongs together does so by others, too, in any order.
t_related() {
	printf 'int shared(int n) { return n + 1; }\n' >lib.c
	want $cc -shared -fpic -o libshared.so lib.c
	want $cc -o alone -x c - <<<'int main(void) { return 0; }'
	want $cc -o plain -x c - <<<'#include <dlfcn.h>
		int main(int c, char **v) { return c > 1 ? !dlopen("./libshared.so", RTLD_NOW) : 0; }' -ldl
	want $cc -o user -x c - -x none -L. -lshared -Wl,-rpath,"$PWD" <<<'int shared(int); int main(void) { return shared(-1); }'
	CHORD_FILE=a ./plain
	CHORD_FILE=b ./user
	CHORD_FILE=c ./plain now
	CHORD_FILE=d ./alone
	want "$CHORD" merge -o all c a b
	want "$CHORD" merge -o other a b c
	for p in plain user; do
		cmp <("$CHORD" report --json ./$p all | jq '.totals, .events') <("$CHORD" report --json ./$p other | jq '.totals, .events') ||
			no "the order matters"
	done
	refused 1 '^chord: b: of another build' "$CHORD" merge -o none a b
	refused 1 '^chord: d: of another build' "$CHORD" merge -o none a c b d
	[ ! -e none ] || no "there is a sum"
	want "$CHORD" merge --unrelated -o all a b c d
	want "$CHORD" report --json ./alone all
	holds '.totals.procedures >= 1'
}

# Ten and ten thousand profiles take the same memory, but for their names and identities.
t_memory() {
	local time few many
	time=$(type -P time) || skip "no GNU time"
	program
	CHORD_FILE=one.chord ./prog 3
	copies one.chord 10000 all
	echo all/1.chord >list
	for n in 10 1000 10000; do
		seq 1 $n | sed 's|.*|all/&.chord|' >list
		"$time" -f %M -o kb.$n "$CHORD" merge -o sum.$n - <list 2>err || no "status $?: $(head -c 300 err)"
	done
	few=$(tail -n 1 kb.10) many=$(tail -n 1 kb.10000)
	# their bytes alone would be fifty times that
	[ "$many" -lt $((2 * few)) ] || no "10: $few KB, 1000: $(tail -n 1 kb.1000) KB, 10000: $many KB"
	want "$CHORD" report --json ./prog sum.10000
	holds '.functions | map({(.name): .calls}) | add | .step == 30000 and .main == 10000'
}

# Processes that were killed: where they stood stays apart in sums of sums.
t_killed() {
	want $cc -O1 -g -o endless -x c - <<<'int main(int c, char **v) { for (volatile long i = 0; c > 1;) i++; return 0; }'
	for i in 1 2 3; do CHORD_FILE=k.$i.chord bash -c 'timeout -s KILL 0.1 ./endless now; :' 2>/dev/null; done
	CHORD_FILE=e.chord ./endless
	want "$CHORD" merge -o one k.?.chord e.chord
	want "$CHORD" merge -o a k.2.chord e.chord
	want "$CHORD" merge -o b k.1.chord
	want "$CHORD" merge -o c k.3.chord b
	want "$CHORD" merge -o two c a
	for sum in one two; do
		want "$CHORD" report --json ./endless $sum
		jq 'del(.profiles)' out >$sum.json
	done
	cmp -s one.json two.json || no "$(diff one.json two.json | head -n 5)"
	jq -e '.notes | map(test("^3 processes were killed")) | any' one.json >/dev/null || no "$(jq -c .notes one.json)"
}

# suite: three test programs and a library in ./tests and here. None leaves a child behind: counts of one that runs on are bounds.
suite() {
	mkdir tests
	printf 'int words(const char *s)\n{\n\tint n = 0;\n\tfor (; *s; s++)\n\t\tn += *s == 32;\n\treturn n;\n}\n' >words.c
	want $cc -O1 -g -shared -fpic -o libwords.so words.c
	for i in 1 2 3; do
		want $cc -O1 -g -o tests/test_$i -x c - -x none -L. -lwords -Wl,-rpath,'$ORIGIN/..' <<-END
			#include <stdio.h>
			#include <sys/wait.h>
			#include <unistd.h>
			int words(const char *);
			int main(void) { int n = 0; for (int i = 0; i < $i; i++) n += words("a b c"); if ($i > 2 && fork()) wait(0); return n != 2 * $i; }
		END
	done
}
# recipe NAME: the block of docs/many.md
recipe() {
	sed -n "/^<!-- recipe: $1 -->/,/^\`\`\`\$/p" "$here/../../docs/many.md" | sed '/^<!--/d; /^```/d'
	mkdir -p bin
	ln -sf "$CHORD" bin/chord
}
t_xargs() {
	suite
	recipe xargs >run
	[ -s run ] || no "no recipe"
	PATH=$PWD/bin:$PATH bash -e run >out 2>err || no "status $?: $(cat err)"
	want "$CHORD" coverage --json profiles
	holds '.processes >= 4 and (.files[] | select(.file | endswith("/words.c")) | .function[0].calls == 6)'
}
t_parallel() {
	command -v parallel >/dev/null || skip "no GNU parallel"
	suite
	recipe parallel >run
	[ -s run ] || no "no recipe"
	printf '1/:\n' >hosts
	PATH=$PWD/bin:$PATH HOME=$PWD bash -e run >out 2>err || no "status $?: $(cat err)"
	want "$CHORD" coverage --json tests/test_* libwords.so all.chord
	holds '.files[] | select(.file | endswith("/words.c")) | .function[0].calls == 6'
}

# home NAME: a folder that is all that a host has, and a command that runs others there, with nothing of here but where chord is. A
# login has a shell in its environment; what calls the tests need not.
home() {
	mkdir -p "$1/home/bin"
	ln -s "$CHORD" "$1/home/bin/chord"
	cat >"$1/login" <<-END
		#!/bin/sh
		cd '$PWD/$1/home' && HOME=\$PWD SHELL=/bin/sh PATH="\$PWD/bin:$PATH" exec sh -c "\$SSH_ORIGINAL_COMMAND"
	END
	chmod +x "$1/login"
}

# host NAME PORT: one with a daemon of ssh's, which lets its logins run nothing but that
host() {
	local daemon
	daemon=$(type -P sshd || echo /usr/sbin/sshd)
	home "$1"
	cat >"$1/config" <<-END
		ListenAddress 127.0.0.1:$2
		HostKey $PWD/host_key
		AuthorizedKeysFile $PWD/user_key.pub
		StrictModes no
		PidFile none
		AuthenticationMethods publickey
		PermitRootLogin yes
		ForceCommand $PWD/$1/login
	END
	"$daemon" -D -e -f "$1/config" 2>"$1/log" &
	echo $! >"$1/pid"
	echo "1/ssh -p $2 -i $PWD/user_key -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR 127.0.0.1" >>hosts
}

# The recipe, over ./hosts: one and two
over_hosts() {
	suite
	recipe parallel >run
	PATH=$PWD/bin:$PATH HOME=$PWD bash -e run >out 2>err || no "status $?: $(cat err)"
	want "$CHORD" coverage --json tests/test_* libwords.so all.chord
	holds '.files[] | select(.file | endswith("/words.c")) | .function[0].calls == 6'
	[ -z "$(find one/home two/home -name '*.sum' -o -name '*.chord' -o -name 'test_*')" ] || no "left there: $(find one/home two/home -type f)"
}

# In place of ssh a script that goes to the host's folder.
t_hosts() {
	for tool in parallel rsync; do
		command -v $tool >/dev/null || skip "no $tool"
	done
	for name in one two; do
		home $name
		cat >ssh-$name <<-END
			#!/bin/sh
			while [ "\$1" != $name ]; do shift; done
			shift
			[ "\$1" != -- ] || shift
			echo "\$*" >>'$PWD/$name/log'
			SSH_ORIGINAL_COMMAND="\$*" exec '$PWD/$name/login'
		END
		chmod +x ssh-$name
		echo "1/$PWD/ssh-$name $name" >>hosts
	done
	over_hosts
	[ "$(grep -l GNU_Parallel_worker one/log two/log | wc -l)" = 2 ] || no "one was left out: $(cut -c 1-100 one/log two/log)"
}

# A port of this machine that nobody has
free_port() { perl -MIO::Socket::INET -e 'print IO::Socket::INET->new(LocalAddr => "127.0.0.1", Listen => 1)->sockport'; }

# Over the network, where a daemon of ssh's is there: nobody wants one to be installed for a test.
t_ssh() {
	for tool in parallel ssh ssh-keygen rsync perl; do
		command -v $tool >/dev/null || skip "no $tool"
	done
	type -P sshd >/dev/null || [ -x /usr/sbin/sshd ] || skip "no sshd (Debian: openssh-server)"
	[ "$(id -u)" != 0 ] || mkdir -p /run/sshd 2>/dev/null || skip "sshd has no /run/sshd"
	ssh-keygen -q -t ed25519 -N '' -f host_key && ssh-keygen -q -t ed25519 -N '' -f user_key || no "no keys"
	trap 'kill $(cat one/pid two/pid) 2>/dev/null' EXIT
	host one "$(free_port)"
	host two "$(free_port)"
	for name in one two; do
		for _ in $(seq 50); do
			grep -q 'Server listening' $name/log && break
			kill -0 "$(cat $name/pid)" 2>/dev/null || skip "sshd does not run here: $(tail -n 1 $name/log)"
			sleep 0.1
		done
	done
	head -n 1 hosts | sed 's|^1/||; s|$| true|' | sh 2>err || skip "no login by ssh here: $(cat err; tail -n 1 one/log)"
	over_hosts
	[ "$(grep -l 'Accepted publickey' one/log two/log | wc -l)" = 2 ] || no "one was left out: $(cat one/log two/log)"
}

for name in order list related memory killed xargs parallel hosts ssh; do
	test_case "$name"
done
exit $failed
