# SPDX-License-Identifier: MIT
# Bars side by side: a group for each row of the file `rows`, and a bar for each column; `what` is the label of the axis. The
# background is white, so the page may be dark.
columns = int(system("head -n 1 '" . rows . "' | tr '\t' '\n' | wc -l"))
groups = int(system("wc -l <'" . rows . "'")) - 1
set terminal svg size (160 + 70 * groups < 480 ? 480 : 160 + 70 * groups), 360 font "sans-serif,12" background rgb "white"
set output to
set datafile separator tab
set datafile missing "-"
set style data histogram
set style histogram clustered gap 1
set style fill solid 0.9 noborder
set ylabel what
set yrange [0:*]
set grid ytics lc rgb "#cccccc"
set border 3
set tics nomirror out
set xtics rotate by -30
set key outside top center horizontal autotitle columnhead samplen 1.5
array colour[12] = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999999", "#f0e442", "#000000", "#7f3b08", "#762a83", "#1b7837"]
plot for [i = 2:columns] rows using i:xtic(1) lc rgb colour[i - 1]
