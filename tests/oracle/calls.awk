# SPDX-License-Identifier: MIT
# calls.awk -v program=PATH -v got=FILE -v depth=N SITES CALLGRIND: what happened between calls and their returns, by
# callgrind's contexts, in lines that "got" has as Chord counted them:
#   edge CALLER CALLEE CALLS INSTRUCTIONS   where the caller calls it by its name
#   calls CALLER CALLEE CALLS               where it calls it through a pointer (as well)
#   all CALLER INSTRUCTIONS                 of all its calls
# SITES: name NAME, of a measured function; site CALLER CALLEE CALLS INSTRUCTIONS; through CALLER CALLEE CALLS.
# CALLGRIND: with --separate-callers=N every function is named with all that called it, and what it costs is part of each
# call between two of these. A function that calls itself is there once: such calls are left out, and the sums
# of its callers. Costs of other code than the measured functions do not count.
function put(line) { print line > got }

FNR == 1 { part++ }

part == 1 && $1 == "name" { known[$2] = 1 }
part == 1 && $1 == "site" { site[$2, $3] += $4; sum[$2, $3] += $5; all[$2] += $5; if ($2 == $3) itself[$2] = 1 }
part == 1 && $1 == "through" { through[$2, $3] += $4; if ($2 == $3) itself[$2] = 1 }
part == 1 { next }

/^ob=/ { mine = substr($0, 4) == program }
/^fn=/ {
	n = split(substr($0, 4), f, "'")
	if (n >= depth) {
		print "deeper than " depth ": " substr($0, 4, 60) > "/dev/stderr"
		exit 1
	}
	counts = mine && f[1] in known
}
/^cfn=/ { split(substr($0, 5), to, "'") }
/^calls=/ {
	split(substr($0, 7), times, " ")
	if (counts && to[1] in known)
		calls[f[1], to[1]] += times[1]
	getline
	next
}
/^[0-9+*-]/ && counts {
	for (i = 1; i < n; i++) {
		if (f[i] in known && f[i + 1] in known)
			cost[f[i + 1], f[i]] += $2
		if (f[i + 1] in known)
			total[f[i + 1]] += $2
	}
}

END {
	for (k in calls) {
		split(k, p, SUBSEP)
		if (p[1] == p[2])
			itself[p[1]] = 1
		else if (k in through)
			print "calls", p[1], p[2], calls[k]
		else
			print "edge", p[1], p[2], calls[k], cost[k] + 0
	}
	for (k in site) {
		split(k, p, SUBSEP)
		if (p[1] != p[2] && p[2] in known && site[k] && !(k in through))
			put("edge " p[1] " " p[2] " " site[k] " " sum[k])
	}
	for (k in through) {
		split(k, p, SUBSEP)
		if (p[1] != p[2] && p[2] in known)
			put("calls " p[1] " " p[2] " " through[k] + site[k])
	}
	for (f1 in total)
		if (total[f1] && !(f1 in itself))
			print "all", f1, total[f1]
	for (f1 in all)
		if (all[f1] && !(f1 in itself))
			put("all " f1 " " all[f1])
}
