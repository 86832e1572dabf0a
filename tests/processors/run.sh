#!/bin/bash
# SPDX-License-Identifier: MIT
# run.sh [--cpus "CPU..."] [--measures "MEASURE..."] [--every N] [--keep DIR] [NAME...]: measured programs on processors that this
# machine does not have. Situations (of tests/situations) that need nothing special, or those that are named, are built here. They run
# here and in virtual machines: qemu emulates the processors, and Debian's kernel runs there. Output, status, and what the report says
# of calls have to be the same. CPU is what qemu's -cpu takes, and may end in /OPTION for the kernel: max/norandmaps.
# It needs root and Debian's packages qemu-system-x86, linux-image-amd64, busybox-static and cpio.
set -u
here=$(cd "$(dirname "$0")" && pwd)
: "${CHORD:=$here/../../build/chord}"
CHORD=$(realpath "$CHORD") || exit 1
situations=$here/../situations
cpus="qemu64 Nehalem max,la57=on max/norandmaps"
measures="edges calls paths trace"
every=4
work=
failed=0
while [ $# -gt 1 ]; do
	case $1 in
	--cpus) cpus=$2 ;;
	--measures) measures=$2 ;;
	--every) every=$2 ;;
	--keep) work=$2 ;;
	*) break ;;
	esac
	shift 2
done
unset CHORD_DIR CHORD_FILE CHORD_CC

skip() { echo "skip processors: $*"; exit 0; }

for tool in qemu-system-x86_64 busybox cpio modprobe jq; do
	command -v $tool >/dev/null || skip "no $tool"
done
kernel=$(find /boot -name 'vmlinuz-*' | sort -V | tail -n 1)
[ -r "${kernel:-/none}" ] || skip "no kernel in /boot"
ldd "$(command -v busybox)" >/dev/null 2>&1 && skip "busybox is not static"
if [ -n "$work" ]; then
	mkdir -p "$work" && work=$(cd "$work" && pwd) || exit 1
else
	work=$(mktemp -d)
	trap 'rm -rf "$work"' EXIT
fi
shared=$work/shared

# The file from which the machine boots: busybox, and the modules for the shared folder, in the order in which they are loaded.
make_root()
{
	local root=$work/root version=${kernel##*/vmlinuz-} n=10 module tool
	rm -rf "$root"
	mkdir -p "$root"/{bin,dev,proc,mnt,modules}
	cp "$(command -v busybox)" "$root/bin/busybox"
	for tool in sh cat chroot insmod mkdir mount poweroff umount; do
		ln -s busybox "$root/bin/$tool"
	done
	for module in virtio_pci 9pnet_virtio 9p; do
		modprobe -S "$version" --show-depends "$module" || return
	done | awk '$1 == "insmod" && !seen[$2]++ { print $2 }' >"$work/modules"
	while read -r module; do
		cp "$module" "$root/modules/$((n++))-${module##*/}" || return
	done <"$work/modules"
	cp "$here/inside.sh" "$root/init"
	chmod +x "$root/init"
	(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$work/boot.gz"
}

# plain_situations: those that are built and run in the usual way.
plain_situations()
{
	grep -LE '^/\* (build|need|run|report|only|without): ' "$situations"/*.c | awk -v every="$every" 'NR % every == 1 || every == 1'
}

# build SOURCE: with all measures.
build()
{
	local name measure options
	name=$(basename "$1" .c)
	options=$(sed -n 's|^/\* options: \(.*\) \*/|\1|p' "$1")
	for measure in $measures; do
		# shellcheck disable=SC2086
		"$CHORD" cc "-fchord=$measure" -O2 -g -I"$situations" "$1" $options -o "$shared/p/$name.$measure" >"$work/build.log" 2>&1 ||
			{ echo "FAIL processors/$name.$measure: $(head -n 1 "$work/build.log")"; failed=1; }
	done
}

# share_libraries: what the programs are linked with, where they look for it.
share_libraries()
{
	local library
	for library in $(ldd "$shared"/p/* | grep -oE '/[^ ]+' | grep -E '\.so' | sort -u); do
		mkdir -p "$shared$(dirname "$library")"
		cp -L "$library" "$shared$library"
	done
}

# machine CPU FOLDER
machine()
{
	local option='' programs=("$shared"/p/*)
	[[ $1 != */* ]] || option=${1#*/}
	timeout -k 5 $((60 + 20 * ${#programs[@]})) qemu-system-x86_64 -accel tcg,thread=multi -smp 2 -m 2G -cpu "${1%%/*}" -kernel "$kernel" -initrd "$work/boot.gz" \
		-append "console=ttyS0 quiet panic=-1 processors=$2 $option" -nographic -no-reboot -nic none \
		-virtfs local,path="$shared",mount_tag=shared,security_model=passthrough </dev/null >"$work/$2.log" 2>&1
}

# facts FOLDER PROGRAM: what it did there, and what the report says.
facts()
{
	local run=$shared/$1/$2
	(
		cd "$run" 2>/dev/null || exit 1
		echo "status $(cat status)"
		sed 's/^/out /' out
		sed -E 's/[0-9]+/N/g; s/^/err /' err
		# shellcheck disable=SC2046
		"$CHORD" report --json "$shared/p/$2" $(find . -name '*.chord*' ! -name '*.trace' | sort) 2>&1 >"$work/json" | sed -E 's/[0-9]+/N/g; s/^/says /'
		jq -r '(.functions[] | "calls \(.name) \(.calls // [.calls_at_least, .calls_at_most])"),
			([.notes[], (.unknown[] | "\(.name): \(.reason)")] | .[] | gsub("[0-9]+"; "N") | "note " + .)' "$work/json" | sort
	)
}

# compare FOLDER PROGRAM: was it there as it is here?
compare()
{
	local label=processors/$1/$2
	if [ ! -s "$shared/$1/$2/status" ]; then
		echo "FAIL $label: it did not run: $(tail -n 1 "$work/$1.log")"
		return 1
	fi
	facts here "$2" >"$work/want"
	facts "$1" "$2" >"$work/got"
	if ! grep -q '^calls main ' "$work/want"; then
		echo "FAIL $label: the report here has no main: $(grep -m 1 '^says' "$work/want")"
	elif ! cmp -s "$work/want" "$work/got"; then
		echo "FAIL $label: $(diff "$work/want" "$work/got" | grep '^[<>]' | head -n 4 | tr '\n' ' ')"
	else
		echo "ok $label"
		return 0
	fi
	return 1
}

mkdir -p "$shared"/{p,proc,dev,tmp} || exit 1
cp "$(command -v busybox)" "$shared/busybox"
cp "$here/all.sh" "$shared/"
make_root || skip "the kernel's modules cannot be found"
if [ $# -gt 0 ]; then
	for name; do build "$situations/$name.c"; done
else
	for source in $(plain_situations); do build "$source"; done
fi
share_libraries
(cd "$shared" && RUNNER='' sh all.sh here) 2>/dev/null
for cpu in $cpus; do
	folder=${cpu//[^A-Za-z0-9]/-}
	machine "$cpu" "$folder"
	for program in "$shared"/p/*; do
		compare "$folder" "${program##*/}" || failed=1
	done
done
exit $failed
