# SPDX-License-Identifier: MIT
# What the recipes and the drivers share. To be sourced: set "real" to the folder of this file first.
#
# Sources come from Debian's source packages, by a configuration of apt that only this script uses: it reads the machine's own lists
# and never writes them. No root is needed.

: "${CHORD_CACHE:=${XDG_CACHE_HOME:-$HOME/.cache}/chord}"
export LC_ALL=C TZ=UTC
unset MAKEFLAGS MFLAGS MAKELEVEL || :

die()
{
	echo "chord tests: $*" >&2
	exit 1
}

# The machine's "deb" entries as "deb-src" entries, in both of apt's styles.
apt_sources()
{
	sed -nE 's/^[[:space:]]*deb([[:space:]])/deb-src\1/p' \
		/etc/apt/sources.list /etc/apt/sources.list.d/*.list 2>/dev/null >"$1/chord.list" || :
	for file in /etc/apt/sources.list.d/*.sources; do
		[ -f "$file" ] || continue
		sed -E 's/^Types:.*/Types: deb-src/' "$file" >"$1/$(basename "$file")"
	done
}

# own COMMAND...: apt-get or apt-cache with our own apt: state, lists and cache below the cache folder. Everything else
# (proxy, credentials, keys) is as the machine has it.
own()
{
	command=$1
	shift
	"$command" -q -o "Dir::State=$CHORD_CACHE/apt/state" -o "Dir::Cache=$CHORD_CACHE/apt/cache" \
		-o Dir::State::status=/var/lib/dpkg/status \
		-o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$CHORD_CACHE/apt/parts" \
		-o "APT::Sandbox::User=$(id -un)" -o Acquire::Languages=none -o Acquire::Retries=3 "$@"
}

apt_own()
{
	own apt-get "$@"
}

# versions_of NAME: those of a source package that the lists have, newest first. What lists name a mirror may not have yet.
versions_of()
{
	own apt-cache showsrc --only-source "$1" | sed -n 's/^Version: //p' | sort -rVu
}

# download_package NAME: the newest version that can be had.
download_package()
{
	for version in $(versions_of "$1"); do
		apt_own source --download-only --only-source "$1=$version" && return 0
		rm -f ./*
	done
	return 1
}

apt_update()
{
	mkdir -p "$CHORD_CACHE/apt/state/lists/partial" "$CHORD_CACHE/apt/cache/archives/partial" "$CHORD_CACHE/apt/parts"
	apt_sources "$CHORD_CACHE/apt/parts"
	# A list of somebody else that has no sources is no error; a missing package is.
	apt_own update || :
}

# unpack_package NAME FRESH: download and unpack into FRESH/tree. (No "set -e" in
# what is called in a condition: hence the chain.)
unpack_package()
{
	rm -rf "$2" && mkdir -p "$2" && cd "$2" &&
		download_package "$1" &&
		dpkg-source --no-check -x ./*.dsc tree &&
		touch tree/.chord-fetched
}

lists_are_fresh()
{
	[ -n "$(find "$CHORD_CACHE/apt/state/lists" -name '*Sources*' -mtime -1 2>/dev/null)" ]
}

# source_package NAME: the unpacked and patched source in $CHORD_CACHE/src/NAME,
# fetched once. Builds work on copies of it.
source_package()
{
	tree=$CHORD_CACHE/src/$1
	[ ! -f "$tree/.chord-fetched" ] || return 0
	mkdir -p "$CHORD_CACHE/src"
	(
		flock 9
		[ ! -f "$tree/.chord-fetched" ] || exit 0
		lists_are_fresh || apt_update
		fresh=$CHORD_CACHE/src/.new.$1
		(unpack_package "$1" "$fresh") || exit 1
		rm -rf "$tree"
		mv "$fresh/tree" "$tree"
		rm -rf "$fresh"
	) 9>"$CHORD_CACHE/.fetching" || die "cannot fetch the source package $1"
}

# copy_source NAME DIR: a copy to build in.
copy_source()
{
	rm -rf "$2"
	mkdir -p "$(dirname "$2")"
	cp -a "$CHORD_CACHE/src/$1" "$2"
}

# corpus NAME MEGABYTES FILE: real text, always the same: the package's own files,
# one after another, again and again. A file that is there is kept.
corpus()
{
	[ ! -e "$3" ] || return 0
	(
		cd "$CHORD_CACHE/src/$1"
		find . -type f ! -path './debian/*' ! -path './.pc/*' ! -name '.chord*' | sort | tr '\n' '\0' | xargs -0 cat
	) >"$3.once"
	: >"$3"
	while [ "$(stat -c %s "$3")" -lt $(($2 * 1000000)) ]; do
		cat "$3.once" >>"$3"
	done
	truncate -s $(($2 * 1000000)) "$3"
	rm "$3.once"
}

# What of the log of a suite that ended well must be the same, plain and measured; never nothing. Recipes say more.
summary()
{
	grep -E '^# (TOTAL|PASS|SKIP|XFAIL|FAIL|XPASS|ERROR):|tests passed' "$1" || echo "its status alone says that it passed"
}
