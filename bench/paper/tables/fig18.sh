# SPDX-License-Identifier: MIT
# Fig. 18: the graph that shows why weights have to be a flow.
cat <<'END'
## Fig. 18: a weighting that is a flow, and one that is not

The drawing is lost in the text that we have, and no number in it is told there. What the text says: (a) the
heuristic's weights obey Kirchhoff's law, and the placement that follows is optimal; (b) with the postorder number
of its source as an edge's weight (Goldberg 1991) it is not. `tests/graph/fig18a.graph` has what the text says, a
conditional in one arm of another: `if P then { if Q then A else B; K } else E; J`. That is not necessarily the
shape of the figure. What `chord graph` says of it:

END
echo "| weights | counters | cost by the heuristic's weights |"
echo "|---|---|---|"
"$CHORD" graph "$paper/../../tests/graph/fig18a.graph" | awk '$1 == "chords" { printf "| (a) the heuristic | %s | %s |\n", $2, $3 }'
"$CHORD" graph "$paper/../../tests/graph/fig18b.graph" |
	awk '$1 == "chords" && $2 != "of" { printf "| (b) postorder numbers | %s | %s |\n", $2, $3 }'
