#!/bin/sh
# SPDX-License-Identifier: MIT
# Compares Chord's instructions with callgrind's, function by function.
#
#	callgrind.sh PLAIN... MEASURED
#
# PLAIN is what callgrind wrote of the program built without Chord, a file for each run. MEASURED is what `chord export -f callgrind`
# wrote of as many runs. Prints each function of MEASURED that has another number in PLAIN, with callgrind's and Chord's. Status 1 if
# there is one. docs/checking.md says how to make the files, and why numbers may differ.
[ $# -ge 2 ] || {
	echo "callgrind.sh PLAIN... MEASURED" >&2
	exit 2
}
for file; do
	[ -r "$file" ] || {
		echo "callgrind.sh: $file: cannot be read" >&2
		exit 2
	}
done
awk -v last=$# '
# For callgrind the cold part of a function is a function of its own, and so are calls within the function itself.
function name_of(text) {
	if (match(text, /^\([0-9]+\)/)) {
		id = substr(text, 1, RLENGTH)
		if (length(text) > RLENGTH)
			name[file, id] = substr(text, RLENGTH + 2)
		text = name[file, id]
	}
	sub(/\047[0-9]+$/, "", text)
	sub(/(\.cold| \[clone \.cold\])(\.[0-9]+)?$/, "", text)
	return text
}
FNR == 1 {
	file++
	side = file == last ? 2 : 1
}
/^positions:/ { positions = NF - 1 }
/^c?fn=/ {
	called = name_of(substr($0, index($0, "=") + 1))
	if (/^f/)
		function_ = called
}
/^calls=/ { getline; next }
/^(0x|[0-9+*-])/ {
	self[side, function_] += $(positions + 1)
	if (side == 2)
		counted[function_]
}
END {
	for (f in counted) {
		n++
		if (self[1, f] + 0 == self[2, f])
			continue
		printf "%s: %.0f instructions by callgrind, %.0f by Chord\n", f, self[1, f], self[2, f] | "sort"
		differ++
	}
	close("sort")
	printf "%d functions compared, %d differ\n", n, differ
	exit !n || differ
}' "$@"
