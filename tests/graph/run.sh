#!/bin/sh
# SPDX-License-Identifier: MIT
# Runs `chord graph` on every graph here, and compares its output with NAME.expect, which ends with the exit status if that is not
# 0.
#
#   run.sh CHORD            one line per case; status 1 if any failed
#   run.sh --rewrite CHORD  makes what CHORD prints the expected output
rewrite=
if [ "$1" = --rewrite ]; then
	rewrite=yes
	shift
elif [ "$2" = --rewrite ]; then
	rewrite=yes
fi
if [ ! -x "$1" ]; then
	echo "usage: $0 [--rewrite] CHORD" >&2
	exit 2
fi
chord=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
cd "$(dirname "$0")" || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
failed=0

verdict() { # NAME STATUS
	if [ "$2" = 0 ]; then
		echo "ok $1"
	else
		echo "FAIL $1"
		failed=1
	fi
}

# A graph whose first line is `# chord graph OPTIONS` is run with these.
run() { # FILE
	options=
	[ -f "$1" ] && options=$(head -c 200 "$1" | sed -nE '1s/^# chord graph (--[a-z0-9= -]+)$/\1/p' 2>/dev/null)
	# shellcheck disable=SC2086
	"$chord" graph $options "$1" 2>&1
	status=$?
	[ $status = 0 ] || echo "exit status $status"
}

# Refused, with a line number, and quietly: not a crash, not a page of bytes.
refused() { # NAME FILE
	run "$2" >"$tmp/out"
	[ "$(wc -l <"$tmp/out")" = 2 ] && [ "$(wc -c <"$tmp/out")" -lt 400 ] &&
		grep -q "^chord: .*:[0-9]*: " "$tmp/out" && grep -q '^exit status 1$' "$tmp/out"
	verdict "$1" $?
}

for graph in *.graph; do
	name=${graph%.graph}
	if [ $rewrite ]; then
		run "$graph" >"$name.expect"
		continue
	fi
	run "$graph" >"$tmp/out"
	diff -u "$name.expect" "$tmp/out" >"$tmp/diff" 2>&1
	same=$?
	verdict "$name" $same
	[ $same = 0 ] || cat "$tmp/diff"
done
[ $rewrite ] && exit 0

refused its-own-binary "$chord"
head -c 1000000 /dev/zero | tr '\0' x >"$tmp/long"
refused long-word "$tmp/long"
{ printf 'root P\nexit R\nedge P R '; head -c 1000000 /dev/zero | tr '\0' ' '; echo; printf 'edge P '; cat "$tmp/long"; echo; } >"$tmp/long-name"
printf 'edge %s R\nedge R P\n' "$(head -c 100000 "$tmp/long")" >>"$tmp/long-name"
refused long-name "$tmp/long-name"
run "$tmp" >"$tmp/out"
grep -q '^chord: .*directory' "$tmp/out" && grep -q '^exit status 1$' "$tmp/out"
verdict directory $?
run "$tmp/nothing" >"$tmp/out"
grep -q '^chord: .*No such file' "$tmp/out" && grep -q '^exit status 1$' "$tmp/out"
verdict no-such-file $?
"$chord" graph >/dev/null 2>&1
[ $? = 2 ]
verdict usage $?
"$chord" graph --events --events self-loop.graph >/dev/null 2>&1
[ $? = 2 ]
verdict two-views $?
"$chord" graph --events=fast self-loop.graph >/dev/null 2>&1
[ $? = 2 ]
verdict wrong-how $?
status=0
for limit in 0 -1 x 1x '' 4294967297 99999999999999999999; do
	"$chord" graph --paths="$limit" self-loop.graph >/dev/null 2>&1
	[ $? = 2 ] || status=1
done
verdict wrong-limit $status
"$chord" graph - <self-loop.graph 2>&1 | diff -q - self-loop.expect >/dev/null
verdict standard-input $?
exit $failed
