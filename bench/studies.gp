# SPDX-License-Identifier: MIT
# gnuplot -e "tsv='...'; stem='...'; program='...'" studies.gp: draws Fig. 6 and 7 of Apiwattanapong & Harrold (2002) from the
# output of build/studies.
set datafile separator "\t"
set datafile missing "NaN"
set grid ytics lc rgb "#dddddd" lt 1
set border 3
set tics nomirror out
set yrange [0:*]
set ylabel "probes / probes for all paths"

set terminal svg size 900,420 rounded font "sans-serif,12" background "white"
set output stem."-6.svg"
set title "Probes for one path, ".program." (mean over its paths, by procedure)"
set xlabel "procedures by paths / 2^{probes for all}: trees on the left, chains on the right"
set key top left horizontal box
plot tsv every ::1 using 1:5:(0.1):(0) with vectors nohead lw 2.5 lc rgb "#d62728" title "as printed", \
     '' every ::1 using 1:6:(0.1):(0) with vectors nohead lw 2.5 lc rgb "#1f77b4" title "sound", \
     '' every ::1 using 1:7:(0.1):(0) with vectors nohead lw 2.5 lc rgb "#2ca02c" title "woven"

# A panel for each way; the more paths the darker, as there.
shade = "x x #9ecae1 #6baed6 #3182bd #08306b"
set terminal svg size 900,960 rounded font "sans-serif,12" background "white"
set output stem."-7.svg"
set multiplot layout 3,1
set key bottom right vertical box
do for [k = 0:2] {
	set title "Probes for 2 to 5 paths, ".program.", ".(k == 0 ? "as printed" : k == 1 ? "sound" : "woven")
	plot for [n = 2:5] tsv every ::1 using 1:(column(5 + 3 * (n - 1) + k)):(0.1):(0) with vectors nohead lw 2.5 \
		lc rgb word(shade, n + 1) title sprintf("%d paths", n)
}
unset multiplot
