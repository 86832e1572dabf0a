/* SPDX-License-Identifier: MIT */
/* Event counting (Ball 1994): one counter for each event, in each linked module, and what every chord adds to it.
 *
 * Calls are queries (section 4 of the paper): when control leaves for another procedure, the counters are right. So activations may
 * end at any call without a correction, and a query needs no walk of the stack. In the graph all calls and root are one vertex. A
 * block with calls is an edge to its first call, an edge for the code between each two calls, and an edge from its last call.
 *
 * At calls of a local procedure (local.c) the counters lack as much as where the procedure is entered. So these calls are a vertex
 * of their own. An edge joins it to root, and the events of this edge are what the counters lack. In the procedure's own graph this
 * vertex is free and joined to the first block. An edge from root to it, which adds nothing, is taken into the tree only if no
 * other path leads there. */
#include "asm/dest.h"
#include "weave/internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct events_of {
	const struct unit *u;
	struct woven *w, *all;
	const struct event_list *list;
	struct graph *g;        /* edges: the arcs, one for each block, one for each call-free run, then some without a site */
	uint32_t nsite;         /* number of the edges with a site */
	uint32_t begin;         /* the vertex at which the procedure is entered: root, if it is not local */
	VEC(struct woven *) callees; /* local procedures that it calls, without itself */
	double *weight;
	uint32_t *insn;         /* by block: number of its first instruction in w->events */
};

/* ---- what instructions and edges add ---- */

/* The symbol that a field of an instruction is relocated by, or NULL. */
static const char *
symbol_in(const struct object *o, const struct obj_section *s, const struct insn *in)
{
	for (uint32_t lo = 0, hi = s->nreloc; lo < hi;) {
		uint32_t mid = (lo + hi) / 2;
		const struct obj_reloc *r = &o->relocs[s->reloc + mid];

		if (r->off >= in->off && r->off < in->off + in->len)
			return *o->symbols[r->sym].name ? o->symbols[r->sym].name : NULL;
		if (r->off < in->off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* The name of the procedure that begins at the target of a call or jump. A jump to the start of its own procedure is a loop, so it
 * has none. */
static const char *
procedure_at(const struct unit *u, const struct code *c, const struct insn *in, const struct proc_text *own)
{
	struct dest d = dest_of(u, c, in);
	const struct proc_text *p;
	uint32_t proc, part;

	if (!(in->attr & INSN_REL) || !d.section || !unit_find(u, d.section, d.off, &proc, &part))
		return NULL;
	p = &u->procs.at[proc];
	if (p->parts.at[0].code->section != d.section || p->parts.at[0].lo != d.off || (p == own && !insn_is_call(in)))
		return NULL;
	return p->name;
}

/* The symbol that a call, or a jump out of the procedure, leads to. Through memory, only if that memory is in the linker's table of
 * addresses (-fno-plt). */
const char *
woven_callee(const struct unit *u, const struct code *c, const struct insn *in, const struct proc_text *own)
{
	const struct obj_section *s = &u->object->sections[c->section];
	const char *name;
	struct str text;

	switch (in->cls) {
	case CHORD_INSN_CALL: case CHORD_INSN_JUMP: case CHORD_INSN_BRANCH:
		name = symbol_in(u->object, s, in);
		return name ? name : procedure_at(u, c, in, own);
	case CHORD_INSN_ICALL: case CHORD_INSN_IJUMP:
		text = in->stmt == UINT32_MAX ? STR("") : stmt_str(u->text, &u->text->stmts.at[in->stmt]);
		return u->machine->text->by_got(text) ? symbol_in(u->object, s, in) : NULL;
	default:
		return NULL;
	}
}

static void
facts_of(const struct unit *u, const struct code *c, const struct insn *in, struct facts *f)
{
	const struct obj_section *s = &u->object->sections[c->section];

	if (!u->machine->facts(s->data + in->off, s->size - in->off, f))
		bug("an instruction at +0x%x is none any more", in->off);
}

static void
read_events(struct events_of *x)
{
	const struct proc_text *p = x->w->proc;
	uint32_t n = 0;

	x->insn = pool_array(x->u->pool, p->blocks.n + 1, sizeof *x->insn);
	for (uint32_t b = 0; b < p->blocks.n; b++) {
		x->insn[b] = n;
		n += p->block_text.at[b].last - p->block_text.at[b].first;
	}
	x->w->events = pool_array(x->u->pool, (size_t)n * x->list->n, sizeof *x->w->events);
	for (uint32_t b = 0; b < p->blocks.n; b++) {
		const struct block_text *k = &p->block_text.at[b];
		const struct code *c = p->parts.at[k->part].code;

		for (uint32_t i = k->first; i < k->last; i++) {
			const struct insn *in = &c->insns.at[i];
			const char *callee = woven_callee(x->u, c, in, p);
			struct facts f;

			facts_of(x->u, c, in, &f);
			for (uint32_t e = 0; e < x->list->n; e++)
				x->w->events[(size_t)(x->insn[b] + i - k->first) * x->list->n + e] =
					event_of_insn(&x->list->at[e], in, &f, callee);
		}
	}
}

/* What instructions [lo, hi) of a block add to event e. */
static uint64_t
sum_insns(const struct events_of *x, uint32_t block, uint32_t lo, uint32_t hi, uint32_t e)
{
	uint32_t at = x->insn[block] - x->w->proc->block_text.at[block].first;
	uint64_t sum = 0;

	for (uint32_t i = lo; i < hi; i++)
		sum += x->w->events[(size_t)(at + i) * x->list->n + e];
	return sum;
}

/* Places are compared as before weaving: by part, then by offset. */
static bool
is_behind(const struct block_text *a, const struct block_text *b)
{
	return a->part != b->part ? a->part > b->part : a->first > b->first;
}

/* The last block that jumps into the hub. */
static uint32_t
last_into_hub(const struct proc_text *p)
{
	uint32_t last = GRAPH_NONE;

	for (uint32_t e = 0; e < p->arcs.n; e++) {
		const struct edge *d = &p->graph->edge[e];

		if (d->to == p->hub && d->from < p->blocks.n &&
		    (last == GRAPH_NONE || is_behind(&p->block_text.at[d->from], &p->block_text.at[last])))
			last = d->from;
	}
	return last;
}

/* Is the edge a backward jump? An indirect jump counts as if it stood where the last jump into its hub stands, so that every
 * cycle has a backward edge. */
static bool
leads_back(const struct proc_text *p, uint32_t e, uint32_t last)
{
	const struct edge *d = &p->graph->edge[e];
	uint32_t from = d->from == p->hub ? last : d->from, to = proc_lands(p, d->to);

	if (from >= p->blocks.n || to >= p->blocks.n || !(p->arc_text.at[e].jump || d->from == p->hub))
		return false;
	return !is_behind(&p->block_text.at[to], &p->block_text.at[from]);
}

/* A conditional jump out of the procedure counts like any other conditional jump. */
static uint32_t
edge_kind(const struct woven *w, uint32_t e)
{
	const struct proc_text *p = w->proc;
	uint32_t from = p->graph->edge[e].from;

	if (p->arc_text.at[e].jump && from < p->blocks.n &&
	    woven_insn(w, from, p->block_text.at[from].last - 1)->cls == CHORD_INSN_BRANCH)
		return CHORD_EDGE_TAKEN;
	return p->arcs.at[e].kind;
}

/* What a conditional jump to another procedure adds when it is taken. */
static uint64_t
out_of(const struct events_of *x, const struct event *event, uint32_t e)
{
	const struct proc_text *p = x->w->proc;
	const struct edge *d = &p->graph->edge[e];
	const struct block_text *from;

	if (d->to != p->exit || edge_kind(x->w, e) != CHORD_EDGE_TAKEN)
		return 0;
	from = &p->block_text.at[d->from];
	return event_of_jump_out(event, woven_callee(x->u, p->parts.at[from->part].code,
	                                          woven_insn(x->w, d->from, from->last - 1), p));
}

/* ---- the graph ---- */

/* The first call of a block at or after instruction i, or the block's end. */
static uint32_t
next_call(const struct woven *w, uint32_t block, uint32_t i)
{
	while (i < w->proc->block_text.at[block].last && !insn_is_call(woven_insn(w, block, i)))
		i++;
	return i;
}

/* The vertex at which a block's out-edges begin: a second vertex of the block or, if it ends with a call, root. */
static uint32_t
vertex_behind(const struct woven *w, uint32_t block)
{
	const struct graph *g = w->proc->graph;

	if (insn_is_call(woven_insn(w, block, w->proc->block_text.at[block].last - 1)))
		return g->root;
	return g->nvert + block;
}

static struct woven *
local_call(const struct events_of *x, uint32_t block, uint32_t i)
{
	const struct proc_text *p = x->w->proc;

	return local_callee(x->u, x->all, p->parts.at[p->blocks.at[block].part].code, woven_insn(x->w, block, i));
}

/* Lists the local procedures that it calls. In a cycle of calls a callee may be placed later: it is local no longer. */
static void
find_callees(struct events_of *x)
{
	for (uint32_t b = 0; b < x->w->proc->blocks.n; b++)
		for (uint32_t i = x->w->proc->block_text.at[b].first; i < x->w->proc->block_text.at[b].last; i++) {
			struct woven *callee = local_call(x, b, i);
			size_t k = 0;

			if (!callee)
				continue;
			if (callee != x->w && !callee->query) {
				callee->local = false;
				continue;
			}
			if (insn_is_call(woven_insn(x->w, b, i)))
				VEC_PUSH(x->w->entered, (struct entered){b, i, callee});
			while (k < x->callees.n && x->callees.at[k] != callee)
				k++;
			if (callee != x->w && k == x->callees.n)
				VEC_PUSH(x->callees, callee);
		}
}

/* The vertex of a call, or of a jump in place of one. It is `other` if that leads to no local procedure. */
static uint32_t
vertex_of_call(const struct events_of *x, uint32_t block, uint32_t i, uint32_t other)
{
	const struct woven *callee = local_call(x, block, i);
	uint32_t k = 0;

	if (!callee || callee == x->w)
		return callee ? x->begin : other;
	while (x->callees.at[k] != callee)
		k++;
	return x->g->nvert - 1 - k;
}

static void
add_edge(struct events_of *x, uint32_t from, uint32_t to, const struct site *s, double weight)
{
	uint32_t e = graph_edge(x->g, from, to);

	x->g->edge[e].fixed = s->where == SITE_NONE;
	x->g->edge[e].cost = x->g->edge[e].fixed ? 1 : s->price;
	x->weight[e] = weight;
}

/* The edge from ENTRY begins at the vertex of the procedure's own calls. A jump in place of a call ends at the vertex of that
 * call. */
static void
add_arc(struct events_of *x, uint32_t e, uint32_t from)
{
	const struct proc_text *p = x->w->proc;
	uint32_t block = p->graph->edge[e].from, to = p->graph->edge[e].to;

	if (!e)
		from = x->begin;
	if (p->arc_text.at[e].jump && to == p->exit && block < p->blocks.n)
		to = vertex_of_call(x, block, p->block_text.at[block].last - 1, to);
	graph_edge(x->g, from, to);
}

static void
add_arcs(struct events_of *x)
{
	const struct proc_text *p = x->w->proc;
	const struct graph *g = p->graph;

	for (uint32_t i = 0; i < g->nedge; i++) {
		const struct edge *d = &g->edge[i];
		uint32_t from = d->from < p->blocks.n ? vertex_behind(x->w, d->from) : d->from;

		if (i == g->close) {
			graph_close(x->g);
		} else {
			add_arc(x, i, from);
			x->g->edge[i].fixed = d->fixed;
			x->g->edge[i].phantom = d->phantom;
			x->g->edge[i].cost = d->cost;
			/* Nothing runs after a call that leads to EXIT. */
			if (from == g->root && d->to == g->exit)
				x->g->edge[i].fixed = false;
		}
		x->weight[i] = x->w->weight[i];
	}
}

static void
find_call_free(struct events_of *x)
{
	struct woven *w = x->w;

	for (uint32_t b = 0; b < w->proc->blocks.n; b++) {
		uint32_t last = w->proc->block_text.at[b].last;

		for (uint32_t i = next_call(w, b, w->proc->block_text.at[b].first), k; i + 1 < last; i = k) {
			struct call_free run = {.block = b, .first = i + 1};

			k = next_call(w, b, i + 1);
			run.last = k < last ? k + 1 : last;
			run.site = place_between(x->u, w, b, i + 1, run.last - 1);
			VEC_PUSH(w->call_free, run);
		}
	}
}

static bool
is_between_calls(const struct woven *w, const struct call_free *run)
{
	return insn_is_call(woven_insn(w, run->block, run->last - 1));
}

static void
build(struct events_of *x)
{
	struct woven *w = x->w;
	const struct graph *g = w->proc->graph;
	uint32_t nblock = (uint32_t)w->proc->blocks.n;
	double *runs = pool_array(x->u->pool, nblock, sizeof *runs);

	find_call_free(x);
	find_callees(x);
	x->g = graph_new(x->u->pool, g->nvert + nblock + w->local + (uint32_t)x->callees.n, g->root, g->exit);
	x->begin = w->local ? g->nvert + nblock : g->root;
	x->weight = pool_array(x->u->pool, g->nedge + nblock + w->call_free.n + x->callees.n + 1, sizeof *x->weight);
	for (uint32_t i = 0; i < g->nedge; i++)
		if (g->edge[i].to < nblock)
			runs[g->edge[i].to] += w->weight[i];
	add_arcs(x);
	for (uint32_t b = 0; b < nblock; b++) {
		uint32_t call = next_call(w, b, w->proc->block_text.at[b].first);
		bool has = call < w->proc->block_text.at[b].last;

		add_edge(x, b, has ? vertex_of_call(x, b, call, g->root) : g->nvert + b, &w->block[b], runs[b]);
	}
	for (size_t i = 0; i < w->call_free.n; i++) {
		const struct call_free *run = &w->call_free.at[i];

		add_edge(x, g->root, is_between_calls(w, run) ? vertex_of_call(x, run->block, run->last - 1, g->root) :
		         g->nvert + run->block, &run->site, runs[run->block]);
	}
	x->nsite = x->g->nedge;
	for (uint32_t k = 0; k < x->callees.n; k++) {
		uint32_t e = graph_edge(x->g, g->root, x->g->nvert - 1 - k);

		x->g->edge[e].fixed = true;
	}
	/* It has weight 0, and is for a procedure that only calls itself until it ends elsewhere. */
	if (w->local)
		graph_edge(x->g, g->root, x->begin);
	graph_index(x->g);
}

/* ---- increments ---- */

static int64_t *
events_by_edge(const struct events_of *x, uint32_t e)
{
	const struct woven *w = x->w;
	const struct proc_text *p = w->proc;
	const struct event *event = &x->list->at[e];
	int64_t *n = pool_array(x->u->pool, x->g->nedge, sizeof *n);
	uint32_t k = p->graph->nedge, last = last_into_hub(p);

	for (uint32_t i = 0; i < p->arcs.n; i++)
		n[i] = (int64_t)(event_of_edge(event, edge_kind(w, i), leads_back(p, i, last)) + out_of(x, event, i));
	for (uint32_t b = 0; b < p->blocks.n; b++) {
		const struct block_text *block = &p->block_text.at[b];
		uint32_t call = next_call(w, b, block->first);

		n[k++] = (int64_t)(event_of_block(event) +
		                   sum_insns(x, b, block->first, call < block->last ? call + 1 : block->last, e));
	}
	for (size_t i = 0; i < w->call_free.n; i++)
		n[k++] = (int64_t)sum_insns(x, w->call_free.at[i].block, w->call_free.at[i].first, w->call_free.at[i].last, e);
	for (size_t i = 0; i < x->callees.n; i++)
		n[k++] = x->callees.at[i]->lag[e];
	return n;
}

static struct site *
site_of(const struct woven *w, uint32_t edge)
{
	uint32_t narc = w->proc->graph->nedge, nblock = (uint32_t)w->proc->blocks.n;

	if (edge < narc)
		return &w->edge[edge];
	return edge < narc + nblock ? &w->block[edge - narc] : &w->call_free.at[edge - narc - nblock].site;
}

bool
site_add(struct woven *w, struct site *s, uint32_t e, uint32_t n, int64_t add)
{
	if (s->where == SITE_NONE || add > INT32_MAX || add <= INT32_MIN) {
		w->proc->reason = s->where == SITE_NONE ? "events that cannot be counted apart" :
			"an event's increment of more than 31 bits";
		return false;
	}
	if (!s->add)
		s->add = pool_array(w->proc->graph->pool, n, sizeof *s->add);
	s->add[e] = add;
	s->probes |= CHORD_SET(EVENTS);
	if (s->where == SITE_SPLIT)
		w->split[s->block] = true;
	return true;
}

static bool
place_event(struct events_of *x, const bool *tree, uint32_t e)
{
	const char *why;
	const struct events *ev = events_place(x->g, tree, events_by_edge(x, e), &why);
	uint32_t nblock = (uint32_t)x->w->proc->blocks.n;

	if (!ev) {
		x->w->proc->reason = why;
		return false;
	}
	for (uint32_t i = 0; i < x->nsite; i++)
		if (ev->increment[i] && !x->g->edge[i].phantom &&
		    !site_add(x->w, site_of(x->w, i), e, x->list->n, ev->increment[i]))
			return false;
	for (uint32_t b = 0; b < nblock; b++)
		x->w->query[(size_t)b * x->list->n + e] = ev->query[b];
	x->w->lag[e] = ev->query[x->begin];
	return true;
}

/* A site that adds something. Lists are in text order, and sites at one place are in the order in which they are woven in. */
struct used {
	struct site *site;
	uint32_t edge;
	uint8_t order;          /* among those at one place */
};

static int
uses_by_place(const void *a, const void *b)
{
	const struct used *x = a, *y = b;

	if (x->site->block != y->site->block)
		return x->site->block < y->site->block ? -1 : 1;
	if (x->site->insn != y->site->insn)
		return x->site->insn < y->site->insn ? -1 : 1;
	if (x->order != y->order)
		return x->order < y->order ? -1 : 1;
	return x->edge < y->edge ? -1 : 1;
}

/* Code that splits a block comes first, then code of edges into it, then all other code, as in emit_site.c. */
static uint8_t
order_of(const struct events_of *x, uint32_t edge)
{
	const struct site *s = site_of(x->w, edge);

	if (s->where != SITE_BLOCK)
		return s->where != SITE_SPLIT;
	return edge < x->w->proc->graph->nedge && x->w->proc->graph->edge[edge].from != s->block ? 1 : 2;
}

static uint32_t
find_used(struct events_of *x, struct used **used)
{
	uint32_t n = 0;

	*used = pool_array(x->u->pool, x->nsite, sizeof **used);
	for (uint32_t e = 0; e < x->nsite; e++)
		if (site_of(x->w, e)->add)
			(*used)[n++] = (struct used){site_of(x->w, e), e, order_of(x, e)};
	if (n)
		qsort(*used, n, sizeof **used, uses_by_place);
	return n;
}

/* What the counter lacks after a site. `before`: what the sites of the block add up to there. If the code is not in a block, this
 * is what the counter lacks at the vertex to which the edge leads. */
static int64_t
lag_behind(const struct events_of *x, const struct used *u, uint32_t e, int64_t before)
{
	const struct site *s = u->site;
	uint32_t nblock = (uint32_t)x->w->proc->blocks.n, first = x->w->proc->block_text.at[s->block].first;
	uint32_t at = s->where == SITE_BLOCK || s->where == SITE_SPLIT ? s->block : x->g->edge[u->edge].to;
	int64_t query = at < nblock ? x->w->query[(size_t)at * x->list->n + e] : 0;

	if (s->where != SITE_BLOCK && s->where != SITE_SPLIT)
		return query;
	return query + (int64_t)(event_of_block(&x->list->at[e]) + sum_insns(x, s->block, first, s->insn, e)) - before;
}

static bool
find_lag(struct events_of *x, const struct used *used, uint32_t n, uint32_t e)
{
	int64_t before = 0, lag;

	for (uint32_t i = 0; i < n; i++) {
		struct site *s = used[i].site;

		if (!i || s->block != used[i - 1].site->block)
			before = 0;
		before += s->where == SITE_BLOCK ? site_ahead(s, x->list, e) : 0;
		lag = lag_behind(x, &used[i], e, before);
		if (lag >= INT32_MAX || lag <= INT32_MIN) {
			x->w->proc->reason = "an event's increment of more than 31 bits";
			return false;
		}
		if (!s->lag)
			s->lag = pool_array(x->u->pool, x->list->n, sizeof *s->lag);
		s->lag[e] = (int32_t)lag;
	}
	return true;
}

/* Neighbours add to different numbers. Sites of timed events get what the counter lacks there. */
static bool
finish_sites(struct events_of *x, uint32_t *way)
{
	struct used *used;
	uint32_t n = find_used(x, &used);

	for (uint32_t i = 0; i < n; i++)
		used[i].site->way = (uint8_t)(*way)++;
	for (uint32_t e = 0; e < x->list->n; e++)
		if (x->list->at[e].timed && !find_lag(x, used, n, e))
			return false;
	return true;
}

/* The clock needs no spanning tree. */
static bool
has_chords(const struct event_list *list)
{
	return list->n > 1 || list->at[0].kind != EVENT_CLOCK;
}

static bool
place_each(struct events_of *x, uint32_t *way)
{
	const struct unit *u = x->u;
	struct woven *w = x->w;
	uint32_t n = x->list->n, bad = 0;
	const bool *tree = has_chords(x->list) ? span_max(x->g, x->weight, &bad) : NULL;

	if (!tree && has_chords(x->list)) {
		w->proc->reason = "ways that cannot be counted apart meet behind a call";
		return false;
	}
	w->query = pool_array(u->pool, w->proc->blocks.n * n, sizeof *w->query);
	w->lag = pool_array(u->pool, n, sizeof *w->lag);
	for (uint32_t e = 0; e < n; e++)
		if (x->list->at[e].kind == EVENT_CLOCK ? !place_clock(u, w, x->all, e, n) : !place_event(x, tree, e))
			return false;
	return finish_sites(x, way);
}

bool
place_events(const struct unit *u, struct woven *w, struct woven *all, const struct event_list *list, uint32_t *way)
{
	struct events_of x = {.u = u, .w = w, .all = all, .list = list};
	bool ok;

	place_weights(u, w);
	read_events(&x);
	build(&x);
	ok = place_each(&x, way);
	free(x.callees.at);
	return ok;
}

static void
forget_site(struct woven *w, struct site *s)
{
	s->add = NULL;
	s->probes &= ~CHORD_SET(EVENTS);
	s->lag = NULL;
	if (s->where == SITE_SPLIT && !s->probes)
		w->split[s->block] = false;
}

void
forget_events(struct woven *w)
{
	w->local = false;
	w->query = w->lag = NULL;
	w->call_free.n = w->entered.n = 0;
	if (!w->edge)
		return;
	for (uint32_t e = 0; e < w->proc->arcs.n; e++)
		forget_site(w, &w->edge[e]);
	for (uint32_t b = 0; b < w->proc->blocks.n; b++)
		forget_site(w, &w->block[b]);
}

/* ---- names ---- */

void
event_name_of(struct buf *b, const struct event *e)
{
	for (const char *s = e->name; *s; s++) {
		if (isalnum((unsigned char)*s))
			buf_char(b, *s);
		else
			buf_printf(b, "_%02x", (unsigned char)*s);
	}
}

void
event_symbol_of(struct buf *b, const char *what, const struct event *e)
{
	buf_printf(b, "__chord_%s_", what);
	event_name_of(b, e);
}
