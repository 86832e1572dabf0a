/* SPDX-License-Identifier: MIT */
/* chord graph --json: what is computed for a graph, as an object. */
#include "tool/graph/graph.h"
#include "tool/json.h"
#include "tool/print.h"

#include <errno.h>
#include <string.h>

static json_t *
name_of(const struct study *s, uint32_t v)
{
	return js_text(graph_name(s->g, v));
}

static json_t *
vertex_of(const struct study *s, uint32_t v)
{
	uint32_t loop = s->loops->inner[v];
	json_t *o = json_object();

	js_set(o, "name", name_of(s, v));
	js_set(o, "pre", js_number(s->order->pre[v], true));
	js_set(o, "post", js_number(s->order->post[v], true));
	js_set(o, "loop", loop == GRAPH_NONE ? json_null() : name_of(s, s->loops->head[loop]));
	js_set(o, "guessed_weight", json_real(study_vertex_weight(s->g, s->heuristic, v)));
	if (s->given)
		js_set(o, "weight", json_real(study_vertex_weight(s->g, s->given, v)));
	if (s->count)
		js_set(o, "count", js_number(study_vertex_count(s, v), true));
	js_set(o, "left_early", js_number(s->file.vertex.at[v].early, true));
	js_set(o, "reentered", js_number(s->file.vertex.at[v].reentry, true));
	return o;
}

static json_t *
loop_of(const struct study *s, uint32_t k)
{
	const struct loops *l = s->loops;
	json_t *o = json_object();

	js_set(o, "head", name_of(s, l->head[k]));
	js_set(o, "depth", js_number(l->depth[l->head[k]], true));
	js_set(o, "inside", l->parent[k] == GRAPH_NONE ? json_null() : name_of(s, l->head[l->parent[k]]));
	js_set(o, "irreducible", json_boolean(l->irreducible[k]));
	return o;
}

static json_t *
edge_of(const struct study *s, uint32_t e)
{
	const struct edge *d = &s->g->edge[e];
	json_t *o = json_object();

	js_set(o, "from", name_of(s, d->from));
	js_set(o, "to", name_of(s, d->to));
	js_set(o, "guessed_weight", json_real(s->heuristic[e]));
	if (s->given)
		js_set(o, "weight", json_real(s->given[e]));
	if (s->count)
		js_set(o, "count", js_number(s->count[e], true));
	js_set(o, "cost", json_real(d->cost));
	js_set(o, "chord", json_boolean(!s->tree[e] && !d->phantom));
	js_set(o, "counted", json_boolean(e < s->file.edge.n && s->file.edge.at[e].counted));
	js_set(o, "back", json_boolean(s->order->back[e]));
	js_set(o, "fixed", json_boolean(d->fixed));
	js_set(o, "phantom", json_boolean(d->phantom));
	js_set(o, "closing", json_boolean(e == s->g->close));
	return o;
}

static void
add_placement(json_t *to, const struct study *s, const char *what, struct study_placement p)
{
	json_t *o = json_object();

	js_set(o, "what", js_text(what));
	js_set(o, "counters", js_number(p.counters, true));
	js_set(o, "guessed_cost", json_real(p.heuristic));
	if (s->given)
		js_set(o, "cost", json_real(p.given));
	if (s->count)
		js_set(o, "executed", js_number(p.executed, p.fits));
	js_append(to, o);
}

static json_t *
placements(const struct study *s)
{
	json_t *a = json_array();

	add_placement(a, s, "every vertex", study_every_vertex(s));
	if (s->counted)
		add_placement(a, s, "counts in the file", study_placement(s, s->counted, true));
	if (s->given || s->file.tree)
		add_placement(a, s, "chords of guessed weights", study_placement(s, s->by_heuristic, false));
	add_placement(a, s, "chords", study_placement(s, s->tree, false));
	return a;
}

bool
graph_json(const struct study *s)
{
	json_t *o = js_document("chord graph"), *vertices = json_array(), *loops = json_array(), *edges = json_array();
	const uint32_t *by_pre = study_by_preorder(s);

	for (uint32_t i = 0; i < s->g->nvert; i++)
		js_append(vertices, vertex_of(s, by_pre[i]));
	for (uint32_t k = 0; k < s->loops->nloop; k++)
		js_append(loops, loop_of(s, k));
	for (uint32_t e = 0; e < s->g->nedge; e++)
		js_append(edges, edge_of(s, e));
	js_set(o, "root", name_of(s, s->g->root));
	js_set(o, "exit", name_of(s, s->g->exit));
	js_set(o, "vertices", vertices);
	js_set(o, "loops", loops);
	js_set(o, "edges", edges);
	js_set(o, "placements", placements(s));
	return js_print_whole(o);
}
