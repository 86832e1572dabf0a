/* SPDX-License-Identifier: MIT */
/* Which calls may lead back into the calling procedure: such a procedure may have several activations in a thread. Only calls and
 * jumps whose target the code names are considered. */
#include "run/run.h"

#include <stdlib.h>

enum { NONE = UINT32_MAX };

struct site {
	uint32_t to;             /* procedure number, over all binaries */
	struct call *call;       /* NULL: a jump */
	struct image *image;
};

struct calls {
	struct run *r;
	struct pool *pool;
	uint32_t n;              /* procedures */
	uint32_t *first;         /* by binary: number of its first procedure */
	struct strmap name;
	VEC(struct site) site;
	uint32_t *at;            /* by procedure: its sites are site[at[v] .. at[v + 1]) */
};

/* Names of procedures to which other objects may refer. If several have a name, the first one is taken. */
static void
take_names(struct calls *g)
{
	uint64_t have;

	g->first = pool_array(g->pool, g->r->binary.n + 1, sizeof *g->first);
	for (size_t k = 0; k < g->r->binary.n; k++) {
		const struct map *m = &g->r->binary.at[k].map;

		g->first[k] = g->n;
		for (uint32_t i = 0; i < m->nproc; i++, g->n++)
			if (!strmap_get(&g->name, str_of(m->proc[i].name), &have))
				strmap_put(&g->name, str_of(m->proc[i].name), g->n);
	}
}

static uint32_t
target_of(struct calls *g, size_t binary, const struct proc *p, const struct insn *in, uint64_t addr)
{
	struct binary *bin = &g->r->binary.at[binary];
	uint64_t to = addr + (uint64_t)(int64_t)(int32_t)(in->target - (uint32_t)addr), have;
	const struct part_at *part = in->attr & INSN_REL ? parts_find(&bin->parts, to) : NULL;
	struct callee c;

	if (part)
		return g->first[binary] + (uint32_t)(part->proc - bin->map.proc);
	c = callee_of(bin, p, in, addr);
	for (size_t i = 0; i < c.n; i++)
		if (strmap_get(&g->name, str_of(callee_name(g->pool, &c, i)), &have))
			return (uint32_t)have;
	return NONE;
}

static struct call *
call_at(struct proc *p, uint32_t block, uint32_t insn)
{
	for (uint32_t k = p->block[block].call; k < p->block[block].call + p->block[block].ncall; k++)
		if (p->call[k].insn == insn)
			return &p->call[k];
	return NULL;
}

static void
add_insn(struct calls *g, size_t binary, struct proc *p, uint32_t block, const struct walk *w)
{
	struct call *call = call_at(p, block, w->i);
	struct insn in;
	uint32_t to;

	if (!w->addr || !image_insn(g->r->binary.at[binary].image, w->addr, &in))
		return;
	to = target_of(g, binary, p, &in, w->addr);
	if (to != NONE && (call || to != g->first[binary] + (uint32_t)(p - g->r->binary.at[binary].map.proc)))
		VEC_PUSH(g->site, (struct site){to, call, g->r->binary.at[binary].image});
}

static bool
may_leave(enum chord_insn kind)
{
	return kind == CHORD_INSN_CALL || kind == CHORD_INSN_ICALL || kind == CHORD_INSN_JUMP || kind == CHORD_INSN_BRANCH ||
	       kind == CHORD_INSN_IJUMP;
}

static void
find_sites(struct calls *g)
{
	uint32_t v = 0;

	g->at = pool_array(g->pool, g->n + 1, sizeof *g->at);
	for (size_t k = 0; k < g->r->binary.n; k++)
		for (uint32_t i = 0; i < g->r->binary.at[k].map.nproc; i++) {
			struct proc *p = &g->r->binary.at[k].map.proc[i];
			struct walk w;

			g->at[v++] = (uint32_t)g->site.n;
			for (uint32_t b = 0; b < p->nblock; b++)
				for (walk_start(&w, p, NULL, b); walk_next(&w);)
					if (may_leave(w.kind))
						add_insn(g, k, p, b, &w);
		}
	g->at[v] = (uint32_t)g->site.n;
}

/* ---- circles: strongly connected components (Tarjan), not recursive ---- */

struct circles {
	uint32_t *number, *low, *of; /* by procedure; of: its circle, NONE until known */
	uint32_t *stack, nstack, *next, *way, count;
};

static void
enter(struct circles *c, const struct calls *g, uint32_t v, uint32_t *depth)
{
	c->number[v] = c->low[v] = ++c->count;
	c->next[v] = g->at[v];
	c->stack[c->nstack++] = v;
	c->way[(*depth)++] = v;
}

static void
leave(struct circles *c, uint32_t v)
{
	if (c->low[v] != c->number[v])
		return;
	while (c->of[v] == NONE)
		c->of[c->stack[--c->nstack]] = v;
}

static void
search(struct circles *c, const struct calls *g, uint32_t root)
{
	uint32_t depth = 0;

	enter(c, g, root, &depth);
	while (depth) {
		uint32_t v = c->way[depth - 1], to;

		if (c->next[v] == g->at[v + 1]) {
			leave(c, v);
			if (--depth && c->low[v] < c->low[c->way[depth - 1]])
				c->low[c->way[depth - 1]] = c->low[v];
			continue;
		}
		to = g->site.at[c->next[v]++].to;
		if (!c->number[to])
			enter(c, g, to, &depth);
		else if (c->of[to] == NONE && c->number[to] < c->low[v])
			c->low[v] = c->number[to];
	}
}

static void
mark(const struct site *s)
{
	s->call->recursive = true;
	if (s->call->back)
		s->call->frame = (uint32_t)image_frame_size(s->image, s->call->back - 1);
}

static void
mark_circles(struct calls *g)
{
	struct circles c = {0};
	uint32_t **at[] = {&c.number, &c.low, &c.of, &c.stack, &c.next, &c.way};

	for (size_t i = 0; i < sizeof at / sizeof *at; i++)
		*at[i] = pool_array(g->pool, g->n + 1, sizeof **at[i]);
	for (uint32_t v = 0; v < g->n; v++)
		c.of[v] = NONE;
	for (uint32_t v = 0; v < g->n; v++)
		if (!c.number[v])
			search(&c, g, v);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t i = g->at[v]; i < g->at[v + 1]; i++)
			if (g->site.at[i].call && c.of[v] == c.of[g->site.at[i].to])
				mark(&g->site.at[i]);
}

void
mark_recursive_calls(struct run *r)
{
	struct calls g = {.r = r, .pool = pool_new()};

	take_names(&g);
	find_sites(&g);
	mark_circles(&g);
	free(g.site.at);
	strmap_free(&g.name);
	pool_free(g.pool);
}
