/* SPDX-License-Identifier: MIT */
/* From tokens to paths: which procedure has the counter, which of its paths it counts, which blocks are on that path. */
#include "trace/internal.h"

#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* The counters of a procedure's paths. */
struct table {
	uint64_t addr, size;     /* link-time address, counters */
	const struct proc *proc;
	struct path_graph *graph; /* made when it is first needed */
	const struct outcomes *outcomes; /* for paths that have words; else NULL */
	struct path path;
	struct replay_witness **witness; /* by arc; NULL: not made yet, or none */
};

/* A path that ends with a given witness: its sum, and where it begins. */
struct way {
	uint32_t from;
	bool anew;               /* it may be the first path of an activation, or the first one after a call */
	uint64_t sum;
};

struct replay_witness {
	struct way *way;
	size_t n;
	struct replay_path *end; /* what all of these paths have in common; made when it is first needed */
};

struct tables {
	struct table *at;        /* by address */
	size_t n;
};

struct replay_code {
	struct pool *pool;
	const struct trace_file *file;
	struct tables *tables;   /* by module of the profile */
	const uint32_t *number;  /* by module of the trace: the module of the profile; UINT32_MAX: its code is not at hand */
	struct replay_path ***known; /* by module of the trace, then by token from its lowest on; the latter when first needed */
	struct replay_path none; /* stands for tokens whose meaning is not known */
	struct replay_path damaged; /* stands for tokens that are no path */
	uint32_t npath;          /* paths made so far, without these two */
	/* The module of the last token, looked up with `listed` modules: its tokens, and their paths. */
	size_t listed;
	uint32_t low, bytes;     /* bytes 0: there was none */
	struct replay_path **at;
};

static int
by_addr(const void *a, const void *b)
{
	const struct table *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

static struct tables
tables_of(struct pool *pool, const struct map *map)
{
	struct tables t = {pool_array(pool, map->nproc, sizeof *t.at), 0};

	for (uint32_t i = 0; i < map->nproc; i++) {
		const struct proc *p = &map->proc[i];

		if (!p->refused && p->paths && (p->paths->kind == CHORD_PATH_DENSE || paths_are_followed(p->paths)) && p->counters)
			t.at[t.n++] = (struct table){.addr = p->counters + 8 * p->paths->table, .size = p->paths->size, .proc = p};
	}
	if (t.n)
		qsort(t.at, t.n, sizeof *t.at, by_addr);
	return t;
}

struct replay_code *
replay_code_new(const struct trace_file *f, const struct profile *p, const struct map *const *map)
{
	struct pool *pool = pool_new();
	struct replay_code *c = pool_alloc(pool, sizeof *c);
	uint32_t *number = pool_array(pool, f->module.n, sizeof *number);

	c->pool = pool;
	c->file = f;
	c->tables = pool_array(pool, p->module.n, sizeof *c->tables);
	for (size_t i = 0; i < p->module.n; i++)
		if (map[i])
			c->tables[i] = tables_of(pool, map[i]);
	for (size_t i = 0; i < f->module.n; i++) {
		uint32_t n = f->module.at[i].module;

		number[i] = n < p->number.n && map[p->number.at[n]] ? p->number.at[n] : UINT32_MAX;
	}
	c->number = number;
	c->known = pool_array(pool, f->module.n, sizeof *c->known);
	return c;
}

void
replay_code_free(struct replay_code *c)
{
	if (c)
		pool_free(c->pool);
}

bool
replay_code_has_words(const struct replay_code *c)
{
	for (size_t i = 0; i < c->file->module.n; i++) {
		const struct tables *t = c->number[i] == UINT32_MAX ? NULL : &c->tables[c->number[i]];

		for (size_t k = 0; t && k < t->n; k++)
			if (t->at[k].proc->paths->kind == CHORD_PATH_BITS)
				return true;
	}
	return false;
}

static struct table *
table_at(const struct tables *t, uint64_t addr)
{
	size_t lo = 0, hi = t->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (t->at[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo && (addr - t->at[lo - 1].addr) / 8 < t->at[lo - 1].size ? &t->at[lo - 1] : NULL;
}

/* ---- paths ---- */

enum chord_insn
trace_last_insn(const struct block *b)
{
	uint32_t n = b->ninsn;

	while (n && b->insn[n - 1] >> 4 == CHORD_INSN_PAD)
		n--;
	return n ? b->insn[n - 1] >> 4 : CHORD_INSN_OTHER;
}

static enum replay_end
end_of(const struct proc *p, const struct replay_path *path, const struct arc *last)
{
	enum chord_insn insn = path->n ? trace_last_insn(&p->block[path->block[path->n - 1]]) : CHORD_INSN_OTHER;
	bool out = last->to == PROC_EXIT(p);

	if (last->from < p->nblock && (insn == CHORD_INSN_CALL || insn == CHORD_INSN_ICALL))
		return REPLAY_CALLS;
	if (!out)
		return REPLAY_CUT;
	if (last->kind != CHORD_EDGE_EXIT)
		return REPLAY_STOPS;
	if (insn == CHORD_INSN_RET)
		return REPLAY_RETURNS;
	return insn == CHORD_INSN_JUMP || insn == CHORD_INSN_IJUMP || insn == CHORD_INSN_BRANCH ? REPLAY_TAIL : REPLAY_STOPS;
}

/* Does the path end with an indirect jump that may leave the procedure? Nothing is written on the edge from the hub to EXIT. */
static bool
may_leave(const struct proc *p, const struct replay_path *path, const struct arc *last)
{
	if (!path->n || trace_last_insn(&p->block[path->block[path->n - 1]]) != CHORD_INSN_IJUMP || last->to < p->nblock)
		return false;
	for (uint32_t e = 0; e < p->narc; e++)
		if (proc_leaves_unseen(p, e) && p->arc[e].from == last->to)
			return true;
	return false;
}

static enum replay_begin
begin_of(const struct proc *p, const struct path *path)
{
	uint8_t kind = p->arc[path->edge[0]].kind;

	if (path->begin != PROC_ENTRY(p))
		return REPLAY_GOES_ON;
	return kind == CHORD_EDGE_LAND || kind == CHORD_EDGE_RECEIVE ? REPLAY_LANDS : REPLAY_ENTERS;
}

/* ---- what a path may reach ---- */

/* Edges by which an exception or a jump arrives begin no activation. */
static bool
goes_along(const struct proc *p, uint32_t e)
{
	uint8_t kind = p->arc[e].kind;

	return p->arc[e].from == PROC_ENTRY(p) ? kind != CHORD_EDGE_LAND && kind != CHORD_EDGE_RECEIVE : !p->paths->cut[e];
}

bool
trace_reaches(const struct proc *p, uint32_t from, uint32_t block)
{
	bool *there = xcalloc(p->nvert, sizeof *there), more = true, found;

	there[from] = true;
	while (more && !there[block]) {
		more = false;
		for (uint32_t e = 0; e < p->narc; e++)
			if (there[p->arc[e].from] && !there[p->arc[e].to] && goes_along(p, e))
				there[p->arc[e].to] = more = true;
	}
	found = there[block];
	free(there);
	return found;
}

/* ---- witnesses ---- */

/* A search backward from a witness. Along edges that write nothing there is at most one way from each vertex. */
struct back {
	const struct path_graph *pg;
	uint32_t *along;         /* by vertex: the edge that leads on to the witness; GRAPH_NONE: not reached yet */
	uint32_t *stack, n;
};

static bool
ends_with_call(const struct proc *p, uint32_t v)
{
	enum chord_insn insn = v < p->nblock ? trace_last_insn(&p->block[v]) : CHORD_INSN_OTHER;

	return insn == CHORD_INSN_CALL || insn == CHORD_INSN_ICALL;
}

/* May a path that begins at v follow a call, or a jump that left the procedure unseen? */
static bool
begins_anew(const struct proc *p, uint32_t v)
{
	for (uint32_t e = 0; e < p->narc; e++)
		if (p->paths->cut[e] && p->arc[e].to == v && ends_with_call(p, p->arc[e].from))
			return true;
	for (uint32_t e = 0; e < p->narc && v >= p->nblock; e++)
		if (p->arc[e].from == v && p->arc[e].to == PROC_EXIT(p))
			return true;
	return false;
}

static uint64_t
sum_from(const struct back *b, uint32_t v, uint64_t end)
{
	uint64_t sum = (uint64_t)b->pg->val[end];

	if (v != b->pg->dag->g->root)
		sum += (uint64_t)b->pg->val[b->pg->dag->begin[v]];
	for (; b->along[v] != end; v = b->pg->proc->arc[b->along[v]].to)
		sum += (uint64_t)b->pg->val[b->along[v]];
	return sum;
}

static void
go_back(struct back *b, uint32_t v)
{
	const struct graph *g = b->pg->dag->g;

	for (uint32_t i = g->in_at[v]; i < g->in_at[v + 1]; i++) {
		uint32_t e = g->in[i], u = g->edge[e].from;

		if (e >= b->pg->proc->narc || e == g->close || b->pg->dag->cut[e] || b->along[u] != GRAPH_NONE)
			continue;
		b->along[u] = e;
		b->stack[b->n++] = u;
	}
}

static struct replay_witness *
find_ways(struct pool *pool, const struct path_graph *pg, uint32_t end)
{
	struct pool *tmp = pool_new();
	const struct graph *g = pg->dag->g;
	struct back b = {pg, pool_array(tmp, g->nvert, sizeof *b.along), pool_array(tmp, g->nvert, sizeof *b.stack), 0};
	struct replay_witness *w = pool_alloc(pool, sizeof *w);
	VEC(struct way) way = {0};

	memset(b.along, 0xff, g->nvert * sizeof *b.along);
	b.along[g->edge[end].from] = end;
	b.stack[b.n++] = g->edge[end].from;
	while (b.n) {
		uint32_t v = b.stack[--b.n];

		if (v == g->root || pg->dag->begin[v] != GRAPH_NONE)
			VEC_PUSH(way, (struct way){v, v == g->root || begins_anew(pg->proc, v), sum_from(&b, v, end)});
		go_back(&b, v);
	}
	w->way = pool_array(pool, way.n, sizeof *w->way);
	if (way.n)
		memcpy(w->way, way.at, way.n * sizeof *w->way);
	w->n = way.n;
	free(way.at);
	pool_free(tmp);
	return w;
}

static const struct replay_witness *
witness_of(struct replay_code *c, struct table *t, uint32_t end)
{
	if (t->proc->paths->kind != CHORD_PATH_WITNESS)
		return NULL;
	if (!t->witness)
		t->witness = pool_array(c->pool, t->proc->narc, sizeof *t->witness);
	if (!t->witness[end])
		t->witness[end] = find_ways(c->pool, t->graph, end);
	return t->witness[end];
}

static struct replay_path *
path_of(struct replay_code *c, struct table *t, uint64_t sum)
{
	const struct proc *p = t->proc;
	const struct arc *last;
	struct replay_path *path;
	const char *why;

	if (!t->graph) {
		t->graph = path_graph_new(c->pool, p, &why);
		if (!t->graph)
			return &c->none;
		t->path = path_new(c->pool, t->graph);
		if (p->paths->kind == CHORD_PATH_BITS)
			t->outcomes = path_outcomes(t->graph);
	}
	if (!path_find(t->graph, sum, &t->path) || !t->path.n)
		return &c->damaged;
	path = pool_alloc(c->pool, sizeof *path);
	*path = (struct replay_path){.proc = p, .sum = sum, .block = pool_array(c->pool, t->path.n, sizeof *path->block)};
	path->number = c->npath++;
	path->narc = t->path.n;
	path->arc = pool_array(c->pool, t->path.n, sizeof *path->arc);
	memcpy(path->arc, t->path.edge, t->path.n * sizeof *path->arc);
	for (uint32_t i = 0; i < t->path.n; i++) {
		uint32_t v = p->arc[t->path.edge[i]].from;

		if (v >= p->nblock)
			continue;
		path->block[path->n++] = v;
		path->insns += p->block[v].ninsn;
	}
	last = &p->arc[t->path.edge[t->path.n - 1]];
	path->from = t->path.begin;
	path->begin = begin_of(p, &t->path);
	path->end = end_of(p, path, last);
	path->choices = t->graph->num[path->begin == REPLAY_GOES_ON ? path->from : p->arc[path->arc[0]].to];
	path->next = last->to == PROC_EXIT(p) ? GRAPH_NONE : last->to;
	path->witness = witness_of(c, t, path->arc[path->narc - 1]);
	path->softly = t->outcomes && path->end == REPLAY_CUT;
	path->may_leave = may_leave(p, path, last);
	path->outcomes = t->outcomes && !t->outcomes->known[last->from] ? t->outcomes : NULL;
	return path;
}

static struct replay_path *
find(struct replay_code *c, const struct chord_trace_module *m, uint32_t module, uint32_t token)
{
	uint64_t addr = m->first + (token - m->low);
	struct table *t = module == UINT32_MAX ? NULL : table_at(&c->tables[module], addr);
	struct replay_path *path = &c->none;

	if (module != UINT32_MAX)
		path = t ? path_of(c, t, (addr - t->addr) / 8) : &c->damaged;
	path->module = module;
	return path;
}

/* May the trace have tokens of modules that are not listed, or tokens that look like another module's? */
static bool
may_mistake(const struct trace_file *f)
{
	return f->fault || f->flags & (CHORD_TRACE_STOPPED | CHORD_TRACE_UNKNOWN);
}

/* The meaning of counter number k of a module of the trace. */
static struct replay_path *
path_at(struct replay_code *c, uint32_t i, uint32_t k)
{
	const struct chord_trace_module *m = &c->file->module.at[i];
	struct replay_path **p;

	if (!c->known[i])
		c->known[i] = pool_array(c->pool, m->bytes / 8 + 1, sizeof **c->known);
	p = &c->known[i][k];
	if (!*p) {
		*p = find(c, m, c->number[i], m->low + 8 * k);
		(*p)->listed = i;
		(*p)->counter = k;
	}
	return *p;
}

/* Makes the token's module, with n modules listed, the current one. False: there is none. */
static bool
look_at(struct replay_code *c, uint32_t token, size_t n)
{
	uint32_t i = trace_module_of(c->file, token, n);
	const struct chord_trace_module *m;

	if (i == UINT32_MAX)
		return false;
	m = &c->file->module.at[i];
	path_at(c, i, (token - m->low) / 8);
	c->listed = n;
	c->low = m->low;
	c->bytes = m->bytes;
	c->at = c->known[i];
	return true;
}

const struct replay_path *
replay_path_of(struct replay_code *c, uint32_t token, size_t n, bool *damaged)
{
	const struct replay_path *p = n == c->listed && token - c->low < c->bytes ? c->at[(token - c->low) / 8] : NULL;

	if (!p)
		p = look_at(c, token, n) ? c->at[(token - c->low) / 8] : &c->damaged;
	*damaged = p == &c->damaged && !may_mistake(c->file);
	return p == &c->none || p == &c->damaged ? NULL : p;
}

const struct replay_path *
replay_path_from(struct replay_code *c, uint32_t token, size_t n, uint32_t from, bool *sure)
{
	bool damaged;
	const struct replay_path *p = replay_path_of(c, token, n, &damaged);
	const struct way *found = NULL;

	if (!p || !p->witness)
		return p;
	if (sure)
		*sure = true;
	for (size_t i = 0; i < p->witness->n; i++) {
		const struct way *w = &p->witness->way[i];

		if (from == REPLAY_ANEW ? w->anew : w->from == from)
			found = w;
		else if (sure)
			*sure = false;
	}
	return found ? replay_path_of(c, token + 8 * (uint32_t)(found->sum - p->sum), n, &damaged) : NULL;
}

static const struct replay_path *
end_alone(struct replay_code *c, const struct replay_path *p)
{
	struct replay_witness *w = p ? (struct replay_witness *)(uintptr_t)p->witness : NULL;
	struct replay_path *end;

	if (!w || w->end)
		return w ? w->end : p;
	end = w->end = pool_alloc(c->pool, sizeof *end);
	*end = *p;
	end->partial = true;
	end->number = c->npath++;
	end->arc = &p->arc[p->narc - 1];
	end->narc = 1;
	end->from = p->proc->arc[*end->arc].from;
	end->begin = REPLAY_GOES_ON;
	end->n = end->from < p->proc->nblock;
	end->block = p->block + p->n - end->n;
	end->insns = end->n ? p->proc->block[*end->block].ninsn : 0;
	return end;
}

const struct replay_path *
replay_path_end(struct replay_code *c, uint32_t token, size_t n)
{
	bool damaged;

	return end_alone(c, replay_path_of(c, token, n, &damaged));
}

const struct replay_path *
replay_path_again(struct replay_code *c, uint32_t listed, uint32_t counter, bool partial)
{
	const struct replay_path *p;

	if (listed >= c->file->module.n || counter >= c->file->module.at[listed].bytes / 8)
		return NULL;
	p = path_at(c, listed, counter);
	if (p == &c->none || p == &c->damaged)
		return NULL;
	return partial ? end_alone(c, p) : p;
}
