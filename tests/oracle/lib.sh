# SPDX-License-Identifier: MIT
# Runs of the real programs' workloads that can be compared: they have the same folder, names, environment and arguments, and
# addresses are not randomised. To be sourced, with "oracle" set to the folder of this file.
real=$oracle/../real
real=$(cd "$real" && pwd)
. "$real/lib.sh"
. "$real/configs.sh"
export CHORD_SMALL=1 CHORD_FIXED=1

work=${CHORD_WORK:-$CHORD_CACHE/work/oracle}
failures=0

say_ok()
{
	echo "ok oracle/$*"
}

say_fail()
{
	failures=$((failures + 1))
	echo "FAIL oracle/$*"
}

# same COMMAND...: the environment and the address space of every run.
same()
{
	env -i PATH="$PATH" HOME="$work" LC_ALL=C TZ=UTC CHORD_FILE="$profile" $fixed "$@"
}

# Some containers do not allow it; workloads should not mind then.
fixed="setarch -R"
$fixed true 2>/dev/null || fixed=

# built PROGRAM CONFIG MEASURE: a measured build in $work/PROGRAM.CONFIG.MEASURE.
built()
{
	build_measured "$1" "$2" "$work/$1.$2.$3" "$3" >"$work/$1.$2.$3.log" 2>&1
}

# prepared PROGRAM BUILD: an empty run folder, always the same, with the workload's
# files in it; the commands go to $work/commands; with "small" set the small ones.
prepared()
{
	rm -rf "$work/here"
	mkdir -p "$work/here"
	(cd "$work/here" && "$real/recipe.sh" "$1" workload "$2") >"$work/commands"
	[ -z "${small:-}" ] || (small_workload "$1") >"$work/commands"
}

# small_workload PROGRAM: commands that run few instructions: each costs lackey a line.
small_workload()
{
	cd "$work/here"
	case $1 in
	bzip2)
		head -c 4000 input >small
		bzip2 <small >small.bz2
		echo "./bzip2 -9 -c small >output"
		echo "./bzip2 -d -c small.bz2 >output"
		;;
	lua5.4)
		cat >small.lua <<-'END'
			local t = {}
			for i = 1, 200 do t[i] = tostring(i * 7 % 31) .. string.format("%.3f", math.sin(i)) end
			table.sort(t)
			local co = coroutine.wrap(function() for w in table.concat(t, ","):gmatch("%d+") do coroutine.yield(w) end end)
			local n = 0
			for w in co do n = n + tonumber(w) // 3 end
			print(n, pcall(error, "x"), #t)
		END
		echo "./lua small.lua >output"
		;;
	sqlite3)
		cat >small.sql <<-'END'
			create table t(a integer primary key, b text, c real);
			with recursive n(i) as (select 1 union all select i + 1 from n where i < 60) insert into t select i, 'row ' || i, i / 7.0 from n;
			create index tb on t(b);
			select count(*), sum(c), max(b) from t where b like '%1%';
			select a.a, b.b from t a join t b on a.a = b.a * 2 order by b.b desc limit 5;
		END
		echo "./sqlite3 -batch :memory: <small.sql >output"
		;;
	grep)
		head -c 6000 input >small
		echo "./grep -c the small >output"
		echo "./grep -n -E '([a-z])([a-z])[0-9]*\\2\\1|static.*int' small >output"
		;;
	esac
}

# run_here WRAPPER COMMAND: a line of the commands, the program behind a wrapper. What
# it wrote and said is in $work/said.
run_here()
{
	(
		cd "$work/here"
		rm -f output
		eval "same $1 $2" 2>stderr
	) || echo "status $?" >>"$work/here/stderr"
	cat "$work/here/output" "$work/here/stderr" >"$work/said" 2>/dev/null || :
}

program_of()
{
	basename "${1%% *}"
}

# each PROGRAM BUILD FUNCTION STEM: FUNCTION STEM.NUMBER COMMAND for every command of the
# workload, in order, until one fails.
each()
{
	prepared "$1" "$2" || return 1
	number=0
	while read -r command <&3; do
		number=$((number + 1))
		"$3" "$4.$number" "$command" || return 1
	done 3<"$work/commands"
}

# For each: as it runs without anything. STEM.out is what it said.
run_plain()
{
	profile=/dev/null
	run_here "" "$2"
	cp "$work/said" "$1.out"
}

# For each: a measured run. STEM.insns has its counts.
run_measured()
{
	profile=$1.chord
	rm -f "$profile"
	run_here "" "$2"
	cp "$work/said" "$1.out"
	"$CHORD" report --insns "$work/here/$(program_of "$2")" "$profile" >"$1.insns" 2>"$1.err"
}

# options NAME...: --programs and --configs for every script here.
options()
{
	while [ $# -gt 0 ]; do
		case $1 in
		--programs) programs=$2; shift ;;
		--configs) configs=$2; shift ;;
		--work) work=$2; shift ;;
		*) die "$0: what is $1?" ;;
		esac
		shift
	done
	mkdir -p "$work"
	exec 7>"$work/lock"
	flock -n 7 || die "another run works in $work (take another with --work)"
}

finished()
{
	[ "$failures" = 0 ]
}
