/* SPDX-License-Identifier: MIT */
/* Event counting as the paper shows it (Ball 1994), with symbols for the events. Everything is linear in the events. So the
 * coefficients of a symbol are the increments for which that symbol alone is 1. */
#include "study/study.h"

#include <stdlib.h>
#include <string.h>

/* The limit for symbols times edges and vertices. */
enum { MANY = 1 << 24 };

/* ---- symbols ---- */

static uint32_t
symbol_of(struct study_events *c, const struct file_events *ev, const char *own)
{
	uint64_t known;

	if (ev->symbol && strmap_get(&c->number, str_of(ev->symbol), &known))
		return (uint32_t)known;
	if (ev->symbol)
		strmap_put(&c->number, str_of(ev->symbol), c->name.n);
	VEC_PUSH(c->name, (struct symbol){ev->symbol ? ev->symbol : own, ev->given && !ev->symbol, ev->n});
	return (uint32_t)c->name.n - 1;
}

static bool
has_events(const struct file_events *ev)
{
	return ev->symbol || ev->n;
}

const char *
study_edge_name(const struct graph_file *f, uint32_t e)
{
	const struct edge *d = &f->g->edge[e];

	if (e < f->edge.n && f->edge.at[e].name)
		return f->edge.at[e].name;
	return pool_printf(f->pool, "%s -> %s", graph_name(f->g, d->from), graph_name(f->g, d->to));
}

/* ---- the graph of Fig. 2 ---- */

static bool
is_split(const struct graph_file *f, uint32_t v)
{
	return !f->has_events || has_events(&f->vertex.at[v].events);
}

static void
split_vertices(struct study_events *c)
{
	const struct graph *g = c->f->g;
	const char **name = pool_array(c->f->pool, 2 * (size_t)g->nvert, sizeof *name);
	uint32_t n = g->nvert;

	c->behind = pool_array(c->f->pool, g->nvert, sizeof *c->behind);
	for (uint32_t v = 0; v < g->nvert; v++) {
		c->behind[v] = is_split(c->f, v) ? n++ : v;
		name[v] = name[c->behind[v]] = graph_name(g, v);
	}
	c->g = graph_new(c->f->pool, n, g->root, c->behind[g->exit]);
	for (uint32_t e = 0; e < g->nedge; e++) {
		graph_edge(c->g, c->behind[g->edge[e].from], g->edge[e].to);
		c->g->edge[e].fixed = g->edge[e].fixed;
		c->g->edge[e].phantom = g->edge[e].phantom;
	}
	c->g->close = g->close;
	c->g->name = name;
	for (uint32_t v = 0; v < g->nvert; v++)
		if (c->behind[v] != v)
			graph_edge(c->g, v, c->behind[v]);
	graph_index(c->g);
}

/* The symbols, by edge. Edges of vertices are last, but get the first symbols, because vertices are named first. */
static void
name_events(struct study_events *c)
{
	const struct graph_file *f = c->f;
	uint32_t last = f->g->nedge;

	c->symbol = pool_array(f->pool, c->g->nedge, sizeof *c->symbol);
	memset(c->symbol, 0xff, c->g->nedge * sizeof *c->symbol);
	for (uint32_t v = 0; v < f->g->nvert; v++)
		if (c->behind[v] != v)
			c->symbol[last++] = symbol_of(c, &f->vertex.at[v].events, f->vertex.at[v].name);
	for (uint32_t e = 0; e < f->edge.n; e++)
		if (has_events(&f->edge.at[e].events))
			c->symbol[e] = symbol_of(c, &f->edge.at[e].events, study_edge_name(f, e));
}

/* A tree of the file's graph, and all edges of vertices. */
static bool
find_tree(struct study_events *c)
{
	bool *tree = graph_file_tree(c->f, graph_file_weights(c->f));

	if (!tree)
		return false;
	c->tree = pool_array(c->f->pool, c->g->nedge, sizeof *c->tree);
	memcpy(c->tree, tree, c->f->g->nedge * sizeof *tree);
	for (uint32_t e = c->f->g->nedge; e < c->g->nedge; e++)
		c->tree[e] = true;
	return true;
}

/* ---- solving ---- */

static bool
place(const struct study_events *c, const int64_t *events, struct events **ev, struct events **right)
{
	const char *why;
	struct events *sound = events_place(c->g, c->tree, events, &why);

	*right = sound;
	*ev = c->printed ? events_printed(c->g, c->tree, events) : sound;
	if (*ev && sound)
		return true;
	say_error(c->f->path, "%s", why ? why : "an increment does not fit 64 bits");
	return false;
}

static bool
place_symbols(struct study_events *c)
{
	int64_t *unit = pool_array(c->f->pool, c->g->nedge, sizeof *unit);

	c->term = pool_array(c->f->pool, c->name.n, sizeof *c->term);
	c->right = pool_array(c->f->pool, c->name.n, sizeof *c->right);
	for (uint32_t i = 0; i < c->name.n; i++) {
		for (uint32_t e = 0; e < c->g->nedge; e++)
			unit[e] = c->symbol[e] == i;
		if (!place(c, unit, &c->term[i], &c->right[i]))
			return false;
	}
	return true;
}

static bool
solve(struct study_events *c)
{
	int64_t *events = pool_array(c->f->pool, c->g->nedge, sizeof *events);
	size_t size = (size_t)c->g->nedge + c->g->nvert;
	bool all = c->f->has_events;

	for (size_t i = 0; i < c->name.n; i++)
		all &= c->name.at[i].valued;
	for (uint32_t e = 0; e < c->g->nedge; e++)
		events[e] = c->symbol[e] == GRAPH_NONE ? 0 : c->name.at[c->symbol[e]].value;
	if (all && !place(c, events, &c->sum, &c->right_sum))
		return false;
	if (c->name.n * size <= MANY)
		return place_symbols(c);
	if (!all)
		say_error(c->f->path, "%zu symbols are too many for so large a graph: give numbers of events", c->name.n);
	return all;
}

bool
study_events(struct study_events *c, const struct graph_file *f, bool printed)
{
	*c = (struct study_events){.f = f, .printed = printed};
	split_vertices(c);
	name_events(c);
	return find_tree(c) && solve(c);
}

void
study_events_free(struct study_events *c)
{
	free(c->name.at);
	strmap_free(&c->number);
}

/* ---- results ---- */

int64_t
study_event(const struct events *ev, bool query, uint32_t i)
{
	return query ? ev->query[i] : ev->increment[i];
}

bool
study_event_is_right(const struct study_events *c, bool query, uint32_t at)
{
	for (size_t i = 0; c->term && i < c->name.n; i++)
		if (study_event(c->term[i], query, at) != study_event(c->right[i], query, at))
			return false;
	return !c->sum || study_event(c->sum, query, at) == study_event(c->right_sum, query, at);
}

bool
study_event_is_zero(const struct study_events *c, uint32_t e)
{
	if (c->sum)
		return !c->sum->increment[e];
	for (size_t i = 0; i < c->name.n; i++)
		if (c->term[i]->increment[e])
			return false;
	return true;
}
