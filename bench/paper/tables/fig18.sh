# SPDX-License-Identifier: MIT
# Fig. 18: the graph that shows why weights have to be a flow.
cat <<'END'
## Fig. 18: a weighting that is a flow, and one that is not

Our copy of the paper has lost the drawing, and its text gives none of the drawing's numbers. The text says two things.
(a) The heuristic's weights obey Kirchhoff's law, and the placement that follows from them is optimal. (b) If the
weight of an edge is the postorder number of its source (Goldberg 1991), the placement is not optimal.
`tests/graph/fig18a.graph` is made from the text. It has a conditional in one arm of another one:
`if P then { if Q then A else B; K } else E; J`. The figure may have another shape. `chord graph` says of this graph:

END
echo "| weights | counters | cost by the heuristic's weights |"
echo "|---|---|---|"
"$CHORD" graph "$paper/../../tests/graph/fig18a.graph" | awk '$1 == "chords" { printf "| (a) the heuristic | %s | %s |\n", $2, $3 }'
"$CHORD" graph "$paper/../../tests/graph/fig18b.graph" |
	awk '$1 == "chords" && $2 != "of" { printf "| (b) postorder numbers | %s | %s |\n", $2, $3 }'
