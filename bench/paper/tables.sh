# SPDX-License-Identifier: MIT
# What the scripts in tables/ share. Each of them prints a part of the page from files of results, and draws its figure. To be
# sourced, with "data" set to the folder of results, "link" to that folder as the page names it, and "plots" to 1 if figures are to
# be drawn.

# The eight runs of bench/run.sh, then the others.
order="bzip2 minigzip ncompress sqlite3 grep lua-recursion lua-tables lua-strings fib small loops leveldb dgemm arpack zstd xz"
rows=$(mktemp)
trap 'rm -f "$rows"' EXIT

# table PROGRAM [NAME=VALUE...] FILE...: a table, its cells with tabs between them, by an awk program that calls columns() and then,
# for each i in 1..n, line(names[i]) and cell() for each cell but the first. It finds in v[name, x, c] what the column c (by its
# name) has in the row that begins with name and x. Cells of averaged() have a geometric mean at the end, of the lines that have all
# of these: means of different runs are not to be compared.
table()
{
	program=$1
	shift
	awk -F '\t' -v order="$order" "$program"'
		# No number: "".
		function ratio(a, b) { return a == "" || a == "-" || b == "" || b == "-" || b == 0 ? "" : a / b }
		function columns(all) { gsub(/ *\| */, "\t", all); title_line = all }
		function line(name) { if (out != "") print out; out = name; column = 1; lines++ }
		function cell(format, x) { column++; out = out "\t" (x == "" ? "-" : sprintf(format, x)) }
		function averaged(format, x)
		{
			cell(format, x)
			formats[column] = format
			if (x <= 0) return
			logs[lines, column] = log(x)
			known[column] = 1
		}
		function is_complete(k,   c) {
			for (c in known) if (!((k, c) in logs)) return 0
			return 1
		}
		function means(   c, k, last, all, whole, sum) {
			last = column
			all = lines
			for (k = 1; k <= all; k++) {
				if (!is_complete(k)) continue
				whole++
				for (c in known) sum[c] += logs[k, c]
			}
			line("geometric mean" (whole < all ? " of " whole + 0 " that have all" : ""))
			for (c = 2; c <= last; c++)
				if (c in formats) cell(formats[c], whole && c in known ? exp(sum[c] / whole) : "")
				else { out = out "\t"; column++ }
		}
		FNR == 1 { split("", title); for (i = 1; i <= NF; i++) title[i] = $i; next }
		{
			second = title[2] == "placement" ? $2 "/" $3 : title[2] == "build" ? $2 : ""
			for (i = 2; i <= NF; i++) v[$1, second, title[i]] = $i
			seen[$1] = 1
		}
		END {
			k = split(order, wanted, " ")
			for (i = 1; i <= k; i++) if (wanted[i] in seen) { names[++n] = wanted[i]; delete seen[wanted[i]] }
			for (name in seen) names[++n] = name
			prepare()
			print title_line
			for (i = 1; i <= n; i++) row(names[i])
			if (length(formats)) means()
			line("")
		}' "$@" >"$rows"
}

# page: the table of table(), for the page.
page()
{
	awk -F '\t' -v OFS=' | ' '{ $1 = $1; print "| " $0 " |" } NR == 1 { gsub(/[^|]+/, "---"); print "|" $0 "|" }' "$rows"
}

# plot NAME Y-LABEL COLUMNS: bars, a group for each row of table(), a bar for each of these columns (as cut -f has them). The page
# gets a line with it.
plot()
{
	[ "$plots" = 1 ] || return 0
	bars=$(mktemp)
	grep -v '^geometric mean' "$rows" | cut -f "1,$3" | with_bars >"$bars"
	gnuplot -e "rows='$bars'; to='$data/$1.svg'; what='$2'" "$paper/bars.gp" || exit 1
	rm "$bars"
	printf '\n![%s](%s%s.svg)\n' "$2" "$link" "$1"
}

# Without columns in which no row has a number.
with_bars()
{
	awk -F '\t' '
		{ line[NR] = $0; for (i = 1; i <= NF; i++) if (NR > 1 && $i != "-") any[i] = 1 }
		END {
			for (r = 1; r <= NR; r++) {
				n = split(line[r], word, FS)
				for (i = 1; i <= n; i++) if (any[i]) printf "%s%s", (i > 1 ? FS : ""), word[i]
				print ""
			}
		}'
}

# is_measured FILE: has it a row?
is_measured()
{
	[ -e "$data/$1" ] && [ "$(wc -l <"$data/$1")" -gt 1 ]
}
