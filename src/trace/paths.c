/* SPDX-License-Identifier: MIT */
/* From tokens to paths: which procedure has the counter, which of its paths that is, which blocks are on it. */
#include "trace/internal.h"

#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* The counters of a procedure's paths. */
struct table {
	uint64_t addr, size;     /* link-time address, counters */
	const struct proc *proc;
	struct path_graph *graph; /* when first asked for */
	struct path path;
};

struct tables {
	struct table *at;        /* by address */
	size_t n;
};

struct replay_code {
	struct pool *pool;
	const struct trace_file *file;
	struct tables *tables;   /* by module of the profile */
	const uint32_t *number;  /* by module of the trace: that of the profile; UINT32_MAX: its code is not at hand */
	struct replay_path ***known; /* by module of the trace, by token from its lowest on; the latter when first needed */
	struct replay_path none; /* stands for tokens of which it is not known what they are */
	struct replay_path damaged; /* and for those that are no path */
	uint32_t npath;          /* others so far */
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

		if (!p->refused && p->paths && p->paths->kind == CHORD_PATH_DENSE && p->counters)
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

static enum replay_begin
begin_of(const struct proc *p, const struct path *path)
{
	uint8_t kind = p->arc[path->edge[0]].kind;

	if (path->begin != PROC_ENTRY(p))
		return REPLAY_GOES_ON;
	return kind == CHORD_EDGE_LAND || kind == CHORD_EDGE_RECEIVE ? REPLAY_LANDS : REPLAY_ENTERS;
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

/* May there be tokens of modules that are not listed, or that are taken for another one's? */
static bool
may_mistake(const struct trace_file *f)
{
	return f->fault || f->flags & (CHORD_TRACE_STOPPED | CHORD_TRACE_UNKNOWN);
}

const struct replay_path *
replay_path_of(struct replay_code *c, uint32_t token, size_t n, bool *damaged)
{
	uint32_t i = trace_module_of(c->file, token, n);
	const struct chord_trace_module *m;
	struct replay_path **at;

	*damaged = i == UINT32_MAX && !may_mistake(c->file);
	if (i == UINT32_MAX)
		return NULL;
	m = &c->file->module.at[i];
	if (!c->known[i])
		c->known[i] = pool_array(c->pool, m->bytes / 8 + 1, sizeof **c->known);
	at = &c->known[i][(token - m->low) / 8];
	if (!*at)
		*at = find(c, m, c->number[i], token);
	*damaged = *at == &c->damaged && !may_mistake(c->file);
	return *at == &c->none || *at == &c->damaged ? NULL : *at;
}
