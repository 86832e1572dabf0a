/* SPDX-License-Identifier: MIT */
/* Profiles of paths: random procedures are walked at random, by a register and tables as the weaver's code has them,
 * with activations that are abandoned at calls, return twice, or were begun by a parent. What the reader makes of the
 * profile has to be what was walked. */
#include "graph/graph.h"
#include "profile_bytes.h"

static uint64_t state = 88172645463325252u;

static uint32_t
rnd(uint32_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 20) % n);
}

/* ---- a procedure ---- */

enum { MOST_BLOCKS = 9, MOST_ARCS = 48, INSNS = 5, TABLE_AT = 2, MOST_PATHS = 4096, REGIONS = 3 };

struct fake {
	struct pool *pool;
	uint32_t nblock, narc;
	struct { uint32_t from, to; enum chord_edge kind; } arc[MOST_ARCS];
	uint32_t ncall;
	struct { uint32_t block, insn, flags; } call[2 * MOST_BLOCKS];
	bool twice[MOST_BLOCKS], noreturn[MOST_BLOCKS];
	enum chord_path_kind kind;
	uint32_t bits;
	struct graph *g;
	struct dag *dag;
	struct paths *paths;
	/* Counted by the walk; in dense tables and in lists of each region. */
	uint64_t truth[MOST_ARCS], inside[MOST_BLOCKS][INSNS];
	uint64_t sum[REGIONS][MOST_PATHS];
	VEC(struct chord_exit) exit;
	VEC(struct chord_unfinished) unfinished;
	uint32_t under_way;
};

static void
add_arc(struct fake *f, uint32_t from, uint32_t to, enum chord_edge kind)
{
	f->arc[f->narc].from = from;
	f->arc[f->narc].to = to;
	f->arc[f->narc++].kind = kind;
}

static void
make_arcs(struct fake *f)
{
	uint32_t entry = f->nblock, exit = f->nblock + 1;

	add_arc(f, entry, 0, CHORD_EDGE_ENTRY);
	for (uint32_t v = 0; v < f->nblock; v++) {
		uint32_t kind = rnd(9), out = kind ? 1 + rnd(3) : 0;

		f->twice[v] = kind == 1;
		f->noreturn[v] = kind == 2;
		if (f->noreturn[v])
			add_arc(f, v, exit, CHORD_EDGE_EXIT);
		else if (v + 1 == f->nblock && !f->twice[v])
			add_arc(f, v, exit, CHORD_EDGE_EXIT);
		else
			for (out = f->twice[v] ? 1 : out; out; out--)
				add_arc(f, v, rnd(f->nblock), CHORD_EDGE_JUMP);
	}
	if (rnd(3) == 0)
		add_arc(f, entry, rnd(f->nblock), CHORD_EDGE_LAND);
	add_arc(f, exit, entry, CHORD_EDGE_CLOSE);
}

static void
make_calls(struct fake *f)
{
	for (uint32_t v = 0; v < f->nblock; v++) {
		uint32_t last = INSNS - 1;

		if (rnd(2)) {
			f->call[f->ncall].block = v;
			f->call[f->ncall++].insn = 1 + rnd(2);
		}
		if (!f->twice[v] && !f->noreturn[v])
			continue;
		f->call[f->ncall].block = v;
		f->call[f->ncall].insn = last;
		f->call[f->ncall++].flags = f->twice[v] ? CHORD_CALL_TWICE : CHORD_CALL_NORETURN;
	}
}

static void
make_graph(struct fake *f)
{
	const char *why;
	struct order *o;
	bool *cold;
	double *w;

	f->g = graph_new(f->pool, f->nblock + 2, f->nblock, f->nblock + 1);
	for (uint32_t e = 0; e < f->narc; e++) {
		if (f->arc[e].kind == CHORD_EDGE_CLOSE)
			graph_close(f->g);
		else
			graph_edge(f->g, f->arc[e].from, f->arc[e].to);
	}
	graph_complete(f->g);
	o = order_dfs(f->g);
	cold = pool_array(f->pool, f->g->nedge, sizeof *cold);
	w = pool_array(f->pool, f->g->nedge, sizeof *w);
	for (uint32_t e = 0; e < f->g->nedge; e++) {
		w[e] = 1 + rnd(100);
		cold[e] = e < f->narc && f->arc[e].to != f->g->exit && f->arc[e].kind != CHORD_EDGE_CLOSE &&
			(rnd(6) == 0 || (f->arc[e].from < f->nblock && f->twice[f->arc[e].from]));
	}
	f->dag = dag_new(f->g, o, w, cold, MOST_PATHS, &why);
	f->paths = f->dag ? paths_number(f->dag, &why) : NULL;
	if (!f->paths)
		fail_msg("%s", why);
}

static struct fake *
make(void)
{
	struct pool *pool = pool_new();
	struct fake *f = pool_alloc(pool, sizeof *f);

	f->pool = pool;
	f->nblock = 1 + rnd(MOST_BLOCKS - 1);
	f->kind = rnd(2) ? CHORD_PATH_DENSE : CHORD_PATH_HASHED;
	f->bits = rnd(4);
	make_arcs(f);
	make_calls(f);
	make_graph(f);
	return f;
}

static void
destroy(struct fake *f)
{
	free(f->exit.at);
	free(f->unfinished.at);
	pool_free(f->pool);
}

/* ---- walking ---- */

struct activation {
	uint32_t v, from;        /* the block; the instruction before which control is */
	int64_t r;
};

static uint64_t
table(const struct fake *f)
{
	(void)f;
	return COUNTERS + 8 * TABLE_AT;
}

static void
record(struct fake *f, int64_t sum)
{
	if (sum < 0 || (uint64_t)sum >= f->paths->n)
		fail_msg("sum %lld of %llu", (long long)sum, (unsigned long long)f->paths->n);
	f->sum[rnd(REGIONS)][sum]++;
}

static void
stop_at(struct fake *f, uint32_t call, int64_t r, bool reentry)
{
	uint32_t v = f->call[call].block;
	uint64_t path = f->kind == CHORD_PATH_HASHED ? (uint64_t)r : table(f) + 8 * (uint64_t)r;
	struct chord_exit e = exit_at(CODE + 1 + call, 1, reentry);

	VEC_PUSH(f->exit, e);
	/* Where it is known there is no register. */
	VEC_PUSH(f->unfinished, (struct chord_unfinished){e.key, f->paths->probes->known[v] ? rnd(100) : path, 1, 0});
}

/* Along edge e; the register as struct probes has it. */
static void
go(struct fake *f, struct activation *a, uint32_t e)
{
	const struct probes *p = f->paths->probes;

	f->truth[e]++;
	if (f->dag->cut[e]) {
		record(f, a->r + p->add[e]);
		a->r = p->start[f->arc[e].to];
	} else {
		a->r += p->add[e];
		if (f->arc[e].to == f->g->exit)
			record(f, a->r);
	}
	a->v = f->arc[e].to;
	a->from = 0;
}

static uint32_t
any_way_out(struct fake *f, uint32_t v)
{
	uint32_t n = 0, found = GRAPH_NONE;

	for (uint32_t e = 0; e < f->narc; e++)
		if (f->arc[e].from == v && rnd(++n) == 0)
			found = e;
	return found;
}

/* How often an activation still does each thing. */
struct plan {
	uint32_t steps, returns;
	bool killed;
};

/* A call that may return twice: the record is made before it. Does it come back? */
static bool
call_twice(struct fake *f, struct activation *a, uint32_t call, uint32_t e)
{
	record(f, a->r + f->paths->probes->add[e]);
	if (rnd(8) == 0) {
		stop_at(f, call, a->r, false);
		return false;
	}
	f->truth[e]++;
	a->r = f->paths->probes->start[f->arc[e].to];
	a->v = f->arc[e].to;
	a->from = 0;
	return true;
}

static void walk(struct fake *f, struct activation a, struct plan *plan);

/* Abandoned at this call by a jump to one that returns again. */
static void
jump_back(struct fake *f, struct plan *plan)
{
	for (uint32_t i = 0; i < f->ncall && plan->returns; i++) {
		struct activation a = {0};
		uint32_t e;

		if (!(f->call[i].flags & CHORD_CALL_TWICE))
			continue;
		e = any_way_out(f, f->call[i].block);
		a.v = f->arc[e].to;
		a.r = f->paths->probes->start[a.v];
		plan->returns--;
		stop_at(f, i, a.r, true);
		f->truth[e]++;
		walk(f, a, plan);
		return;
	}
}

static bool
has_twice(const struct fake *f)
{
	for (uint32_t i = 0; i < f->ncall; i++)
		if (f->call[i].flags & CHORD_CALL_TWICE)
			return true;
	return false;
}

/* The calls in the block; false if the walk is over. */
static bool
pass_block(struct fake *f, struct activation *a, struct plan *plan)
{
	for (uint32_t i = a->from; i < INSNS; i++) {
		f->inside[a->v][i]++;
		for (uint32_t k = 0; k < f->ncall; k++) {
			if (f->call[k].block != a->v || f->call[k].insn != i || f->call[k].flags)
				continue;
			if (plan->steps && rnd(10))
				continue;
			if (plan->killed) {
				f->under_way++;
				return false;
			}
			stop_at(f, k, a->r, false);
			if (has_twice(f) && plan->returns)
				jump_back(f, plan);
			return false;
		}
	}
	return true;
}

static void
walk(struct fake *f, struct activation a, struct plan *plan)
{
	while (a.v != f->g->exit) {
		uint32_t e;

		if (!pass_block(f, &a, plan))
			return;
		if (f->twice[a.v]) {
			uint32_t call = 0;

			while (f->call[call].block != a.v || !f->call[call].flags)
				call++;
			if (!call_twice(f, &a, call, any_way_out(f, a.v)))
				return;
		} else if ((e = any_way_out(f, a.v)) == GRAPH_NONE) {
			/* Nothing is known to follow: it is killed there. */
			f->under_way++;
			return;
		} else {
			go(f, &a, e);
		}
		if (plan->steps)
			plan->steps--;
		else if (rnd(300) == 0) { /* a loop without a call */
			f->under_way++;
			return;
		}
	}
}

static void
call_it(struct fake *f, bool killed)
{
	struct plan plan = {.steps = rnd(60), .returns = rnd(3), .killed = killed};
	struct activation a = {.r = f->paths->probes->start[f->g->root]};
	uint32_t e = any_way_out(f, f->g->root);

	/* A landing pad takes up an activation that ended: as good as any other. */
	go(f, &a, e);
	walk(f, a, &plan);
}

/* A forked child goes on behind a call to which its parent came: that is walked in a procedure like it. */
static void
inherit(struct fake *f, bool killed)
{
	struct fake *parent = pool_alloc(f->pool, sizeof *parent);
	struct plan plan = {.steps = rnd(60), .killed = killed};
	struct activation a = {.r = f->paths->probes->start[f->g->root]};
	uint32_t steps = 0;

	*parent = *f;
	parent->exit.at = NULL;
	parent->unfinished.at = NULL;
	go(parent, &a, any_way_out(parent, f->g->root));
	while (a.v != f->g->exit && steps++ < 20 && !f->twice[a.v]) {
		uint32_t e = any_way_out(parent, a.v);

		for (uint32_t k = 0; k < f->ncall; k++)
			if (f->call[k].block == a.v && !f->call[k].flags && rnd(2)) {
				stop_at(f, k, a.r, true);
				a.from = f->call[k].insn + 1;
				walk(f, a, &plan);
				return;
			}
		if (e == GRAPH_NONE)
			return;
		go(parent, &a, e);
	}
}

/* ---- bytes ---- */

static void
put_signed(struct buf *b, int64_t n)
{
	buf_uleb(b, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

static uint64_t
table_size(const struct fake *f)
{
	return f->kind == CHORD_PATH_HASHED ? (uint64_t)2 << f->bits : f->paths->n;
}

static void
put_paths(struct buf *b, const struct fake *f)
{
	uint32_t nbegin = f->dag->graph->nedge - f->g->nedge;

	PUT(b, f->kind, TABLE_AT * 8, f->kind == CHORD_PATH_HASHED ? (int)f->bits : (int)f->paths->n);
	for (uint32_t e = 0; e < f->narc; e++)
		PUT(b, f->dag->cut[e]);
	buf_uleb(b, f->narc + nbegin);
	for (uint32_t e = 0; e < f->narc; e++)
		put_signed(b, f->paths->val[e]);
	for (uint32_t v = 0; v < f->g->nvert; v++)
		if (f->dag->begin[v] != GRAPH_NONE)
			put_signed(b, f->paths->val[f->dag->begin[v]]);
	for (uint32_t v = 0; v < f->nblock + 2; v++) {
		PUT(b, !f->paths->probes->known[v]);
		put_signed(b, f->paths->probes->query[v] + (f->paths->probes->known[v] ? f->paths->probes->value[v] : 0));
		put_signed(b, f->paths->probes->start[v]);
	}
	PUT(b, 0);
}

static void
put_map(struct buf *out, const struct fake *f)
{
	struct chord_part part = {CODE, f->nblock * INSNS, 100};
	struct chord_map_head h = {.magic = CHORD_MAP_MAGIC, .version = CHORD_FORMAT_VERSION, .counters = COUNTERS,
		.section = CODE, .ncounter = (uint32_t)(TABLE_AT + table_size(f)), .npart = 1};
	uint32_t nevent = 0, nblob;
	struct buf b = {0};

	PUT(&b, CHORD_PATHS);
	put_string(&b, "f");
	put_string(&b, "f.c");
	put_string(&b, "");
	PUT(&b, (int)f->nblock);
	for (uint32_t v = 0; v < f->nblock; v++) {
		uint8_t code[INSNS];

		memset(code, insn(1, CHORD_INSN_OTHER), INSNS);
		put_block(&b, v * INSNS, 0, code, INSNS);
	}
	PUT(&b, (int)f->nblock + 2, (int)f->narc);
	for (uint32_t e = 0; e < f->narc; e++)
		PUT(&b, (int)f->arc[e].from, (int)f->arc[e].to, f->arc[e].kind, 0);
	PUT(&b, (int)f->ncall);
	for (uint32_t i = 0; i < f->ncall; i++)
		PUT(&b, (int)f->call[i].block, (int)f->call[i].insn, (int)f->call[i].flags);
	PUT(&b, 0, 0);
	put_paths(&b, f);
	nblob = (uint32_t)b.n;
	h.size = (uint32_t)(sizeof h + sizeof part + 4 + 4 * f->ncall + 4 + 4 + nblob);
	buf_add(out, &h, sizeof h);
	buf_add(out, &part, sizeof part);
	buf_add(out, &f->ncall, 4);
	for (uint32_t i = 0; i < f->ncall; i++)
		buf_add(out, &(uint32_t){1 + i}, 4);
	buf_add(out, &nevent, 4);
	buf_add(out, &nblob, 4);
	buf_add(out, b.at, b.n);
	buf_free(&b);
}

static void
put_extent(struct buf *b, struct chord_extent_head h, const void *data, size_t n, bool page)
{
	struct buf all = {0};
	size_t head = page ? CHORD_PAGE : sizeof h;

	h.size = (head + n + CHORD_PAGE - 1) / CHORD_PAGE * CHORD_PAGE;
	buf_add(&all, &h, sizeof h);
	buf_reserve(&all, head);
	memset(all.at + all.n, 0, head - sizeof h);
	all.n = head;
	buf_add(&all, data, n);
	put_page(b, all.at, all.n);
	buf_free(&all);
}

/* The table of a region, as the runtime would fill it; what has no room goes to *more. */
static void
fill_table(const struct fake *f, uint32_t region, uint64_t *count, struct chord_path_count *more, size_t *nmore)
{
	struct chord_path_entry *entry = (struct chord_path_entry *)(void *)(count + TABLE_AT);
	uint32_t n = 1u << f->bits;

	for (uint64_t s = 0; s < f->paths->n; s++) {
		uint32_t at = f->bits ? (uint32_t)s * CHORD_PATH_HASH >> (32 - f->bits) : 0, tries = 0;

		if (!f->sum[region][s])
			continue;
		while (entry[at].key && ++tries < n)
			at = (at + 1) & (n - 1);
		if (entry[at].key)
			more[(*nmore)++] = (struct chord_path_count){1ull << 48 | table(f), s, f->sum[region][s], 0};
		else
			entry[at] = (struct chord_path_entry){s + 1, f->sum[region][s]};
	}
}

static void
put_profile_of(struct buf *b, const struct fake *f, enum chord_state ended)
{
	uint64_t ncount = TABLE_AT + table_size(f);
	struct chord_path_count *more = pool_array(f->pool, (size_t)REGIONS * f->paths->n, sizeof *more);
	struct chord_path_at at = {table(f), f->bits};
	unsigned char module[64] = "id1";
	size_t nmore = 0;

	put_head(b, ended);
	strcpy((char *)module + 32, "/bin/prog");
	put_extent(b, (struct chord_extent_head){.type = CHORD_EXTENT_MODULE, .a = COUNTERS, .b = ncount * 8, .c = 3}, module,
	           sizeof module, false);
	if (f->kind == CHORD_PATH_HASHED)
		put_extent(b, (struct chord_extent_head){.type = CHORD_EXTENT_TABLES, .a = 1}, &at, sizeof at, false);
	for (uint32_t r = 0; r < REGIONS; r++) {
		uint64_t *count = pool_array(f->pool, ncount, sizeof *count);

		if (f->kind == CHORD_PATH_HASHED)
			fill_table(f, r, count, more, &nmore);
		else
			memcpy(count + TABLE_AT, f->sum[r], f->paths->n * sizeof *count);
		put_extent(b, (struct chord_extent_head){.type = CHORD_EXTENT_COUNTS, .a = r}, count, ncount * 8, true);
	}
	put_extent(b, (struct chord_extent_head){.type = CHORD_EXTENT_PATHS, .a = nmore}, more, nmore * sizeof *more, false);
	put_extent(b, (struct chord_extent_head){.type = CHORD_EXTENT_EXITS, .a = f->exit.n}, f->exit.at,
	           f->exit.n * sizeof *f->exit.at, false);
	put_extent(b, (struct chord_extent_head){.type = CHORD_EXTENT_UNFINISHED, .a = f->unfinished.n}, f->unfinished.at,
	           f->unfinished.n * sizeof *f->unfinished.at, false);
	finish(b);
}

/* ---- comparing ---- */

struct read {
	struct pool *pool;
	struct buf mapped;
	struct map map;
	struct profile *profile;
	struct counts *counts;
};

/* The profile is merged with itself written and read again: all counts are twice as large. */
static void
read_it(struct read *r, const struct fake *f, enum chord_state ended, bool merged)
{
	struct buf b = {0}, twice = {0};
	const char *why;

	*r = (struct read){.pool = pool_new()};
	put_map(&r->mapped, f);
	r->map = parse_map(r->pool, &r->mapped);
	put_profile_of(&b, f, ended);
	r->profile = parse_profile(r->pool, &b);
	if (merged) {
		struct profile *sum = profile_new();

		assert_true(profile_add(sum, r->profile, r->pool, &why));
		profile_write(sum, &twice);
		profile_free(sum);
		sum = parse_profile(r->pool, &twice);
		assert_true(profile_add(sum, r->profile, r->pool, &why));
		profile_free(r->profile);
		r->profile = sum;
	}
	buf_free(&b);
	buf_free(&twice);
	r->counts = profile_solve(r->pool, &r->map, r->profile, profile_module(r->profile, STR("id1")), NULL);
}

static void
unread(struct read *r)
{
	profile_free(r->profile);
	buf_free(&r->mapped);
	pool_free(r->pool);
}

static void
compare(const struct fake *f, const struct read *r, uint64_t times)
{
	const struct counts *c = &r->counts[0];
	struct walk w;

	if (c->why)
		fail_msg("%s", c->why);
	assert_int_equal(c->paths->under_way, 0);
	for (uint32_t e = 0; e < f->narc; e++)
		if (f->arc[e].kind != CHORD_EDGE_CLOSE && c->arc[e] != times * f->truth[e])
			fail_msg("edge %u: %llu, not %llu", e, (unsigned long long)c->arc[e], (unsigned long long)f->truth[e]);
	for (uint32_t v = 0; v < f->nblock; v++)
		for (walk_start(&w, &r->map.proc[0], c, v); walk_next(&w);)
			if (w.count != times * f->inside[v][w.i])
				fail_msg("block %u, instruction %u: %llu, not %llu", v, w.i, (unsigned long long)w.count,
				         (unsigned long long)f->inside[v][w.i]);
}

/* Instructions of all paths, finished or not, are those of the procedure. */
static void
compare_insns(const struct fake *f, const struct read *r)
{
	const struct counts *c = &r->counts[0];
	const char *why;
	struct path_graph *pg = path_graph_new(r->pool, &r->map.proc[0], &why);
	struct path path = path_new(r->pool, pg);
	uint64_t n = 0;

	assert_non_null(pg);
	for (size_t i = 0; i < c->paths->nran; i++) {
		assert_true(path_find(pg, c->paths->ran[i].sum, &path));
		assert_true(dag_has(f->dag, path.begin, path.edge, path.n));
		assert_int_equal(dag_sum(f->dag, f->paths->val, path.begin, path.edge, path.n), c->paths->ran[i].sum);
		n += c->paths->ran[i].count * path_insns(&r->map.proc[0], &path, NULL);
	}
	for (const struct stopped *s = c->paths->stopped; s; s = s->next) {
		uint64_t one;

		if (!path_goes_on(&r->map.proc[0], s->call))
			continue;
		assert_true(path_stopped(pg, s, &path));
		one = s->count * path_insns(&r->map.proc[0], &path, s);
		n += s->reentry ? -one : one;
	}
	assert_int_equal(n, c->insns);
}

static void
whole(void **unused)
{
	uint64_t npath = 0, nstop = 0;
	uint32_t hashed = 0;

	(void)unused;
	for (int round = 0; round < 4000; round++) {
		struct fake *f = make();
		struct read r;

		for (uint32_t n = rnd(8); n; n--)
			call_it(f, false);
		for (uint32_t n = rnd(3); n && !f->under_way; n--)
			inherit(f, false);
		if (!f->under_way) {
			bool merged = rnd(2);

			read_it(&r, f, CHORD_STATE_ENDED, merged);
			compare(f, &r, 1 + merged);
			compare_insns(f, &r);
			npath += r.counts[0].paths->nran;
			nstop += f->exit.n;
			hashed += f->kind == CHORD_PATH_HASHED;
			unread(&r);
		}
		destroy(f);
	}
	/* It was no idle talk. */
	assert_true(npath > 4000 && nstop > 2000 && hashed > 500);
}

/* Of a process that was killed counts are off by at most the activations that were under way. */
static void
killed(void **unused)
{
	uint32_t n_known = 0, n_under_way = 0;

	(void)unused;
	for (int round = 0; round < 4000; round++) {
		struct fake *f = make();
		struct read r;

		for (uint32_t n = rnd(8); n; n--)
			call_it(f, rnd(2));
		for (uint32_t n = rnd(3); n; n--)
			inherit(f, rnd(2));
		read_it(&r, f, CHORD_STATE_RUNNING, false);
		if (r.counts[0].why)
			fail_msg("%s", r.counts[0].why);
		for (uint32_t e = 0; e < f->narc; e++) {
			uint64_t n = r.counts[0].arc[e], is = f->truth[e];

			if (f->arc[e].kind != CHORD_EDGE_CLOSE && (n > is + f->under_way || n + f->under_way < is))
				fail_msg("edge %u: %llu, is %llu", e, (unsigned long long)n, (unsigned long long)is);
		}
		n_known++;
		n_under_way += f->under_way;
		unread(&r);
		destroy(f);
	}
	assert_true(n_known && n_under_way > 1000);
}

/* What the runtime could not tell is not known. */
static void
missing(void **unused)
{
	uint32_t n = 0;

	(void)unused;
	for (int round = 0; round < 2000; round++) {
		struct fake *f = make();
		struct read r;
		bool counted = false;

		for (uint32_t k = 0; k < 4; k++)
			call_it(f, false);
		for (uint32_t i = 0; i < f->ncall; i++)
			for (size_t k = 0; k < f->unfinished.n; k++)
				counted |= !f->call[i].flags && !f->paths->probes->known[f->call[i].block] &&
					CHORD_EXIT_ADDR(f->unfinished.at[k].key) == CODE + 1 + i;
		if (!f->under_way && counted) {
			f->unfinished.n = 0;
			read_it(&r, f, CHORD_STATE_ENDED, false);
			assert_non_null(r.counts[0].why);
			assert_non_null(strstr(r.counts[0].why, "how far"));
			unread(&r);
			n++;
		}
		destroy(f);
	}
	assert_true(n > 100);
}

/* A profile that lacks a path, or has one too many, does not fit. */
static void
wrong(void **unused)
{
	uint32_t seen = 0, noticed = 0;

	(void)unused;
	for (int round = 0; round < 2000; round++) {
		struct fake *f = make();
		struct read r;
		uint64_t begin;
		uint32_t *edge = pool_array(f->pool, f->g->nvert, sizeof *edge), n;
		uint32_t sum = rnd((uint32_t)f->paths->n);

		call_it(f, false);
		begin = paths_edges(f->paths, sum, edge, &n);
		f->sum[0][sum]++;
		if (!f->under_way) {
			bool real = true, whole_way = begin == f->g->root && !f->dag->cut[edge[n - 1]];

			for (uint32_t i = 0; i < n; i++)
				real &= edge[i] < f->narc;
			for (uint32_t e = f->narc; e < f->g->nedge; e++)
				real &= f->dag->g->edge[e].to != begin || f->dag->begin[begin] != GRAPH_NONE;
			read_it(&r, f, CHORD_STATE_ENDED, false);
			seen++;
			noticed += r.counts[0].why != NULL;
			/* A whole way through is a call more; all else begins or ends in nothing, or returns to where it began. */
			if (real && !r.counts[0].why && !whole_way)
				assert_int_equal(f->arc[edge[n - 1]].to, begin);
			unread(&r);
		}
		destroy(f);
	}
	assert_true(seen > 500 && noticed > 200);
}

/* Whatever the bytes of the map are, the reader does no harm; most damage it finds. */
static void
damaged(void **unused)
{
	const size_t head = sizeof(struct chord_map_head);

	(void)unused;
	for (int round = 0; round < 20000; round++) {
		struct fake *f = make();
		struct pool *pool = pool_new();
		struct buf b = {0};
		struct map map;
		const char *why;

		put_map(&b, f);
		for (uint32_t n = 1 + rnd(3); n; n--)
			b.at[head + rnd((uint32_t)(b.n - head))] ^= (char)(1 << rnd(8));
		if (map_parse(pool, bytes_of(&b), &map, &why)) {
			struct counts *c = profile_solve(pool, &map, NULL, NULL, NULL);

			assert_true(!c->why || *c->why);
		} else {
			assert_non_null(why);
		}
		buf_free(&b);
		pool_free(pool);
		destroy(f);
	}
}

/* Nor are those of a profile trusted: extents of tables, paths and unfinished paths as well. */
static void
damaged_profile(void **unused)
{
	uint32_t refused = 0, unknown = 0;

	(void)unused;
	for (int round = 0; round < 4000; round++) {
		struct fake *f = make();
		struct pool *pool = pool_new();
		struct buf b = {0}, mapped = {0};
		struct profile *p;
		struct map map;
		const char *why = NULL;

		call_it(f, false);
		call_it(f, false);
		put_map(&mapped, f);
		map = parse_map(pool, &mapped);
		put_profile_of(&b, f, CHORD_STATE_ENDED);
		/* Heads of extents and what follows them, where there is something to damage. */
		for (uint32_t n = 1 + rnd(4); n; n--)
			b.at[CHORD_PAGE * (1 + rnd((uint32_t)(b.n / CHORD_PAGE - 1))) + rnd(rnd(2) ? 48 : 300)] ^=
				(char)(1 << rnd(8));
		p = profile_parse(pool, bytes_of(&b), &why);
		if (p)
			unknown += profile_solve(pool, &map, p, profile_module(p, STR("id1")), NULL)->why != NULL;
		else
			refused++;
		assert_true(p || why);
		profile_free(p);
		buf_free(&b);
		buf_free(&mapped);
		pool_free(pool);
		destroy(f);
	}
	assert_true(refused > 500 && unknown > 100);
}

/* What a profile says of tables has to make sense. */
static void
bad_tables(void **unused)
{
	static const struct {
		uint64_t addr, bits;
		const char *why;
	} bad[] = {
		{COUNTERS + 8 * TABLE_AT + 4, 0, "makes no sense"}, /* not aligned */
		{COUNTERS - 8, 0, "makes no sense"},
		{COUNTERS + 8 * 1000, 0, "makes no sense"},
		{COUNTERS, 20, "makes no sense"},
		{COUNTERS, 64, "makes no sense"},
	};
	struct fake *f = make();

	(void)unused;
	while (f->kind != CHORD_PATH_HASHED || f->bits < 2) {
		destroy(f);
		f = make();
	}
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct chord_path_at at = {bad[i].addr, bad[i].bits};
		struct pool *pool = pool_new();
		struct buf b = {0};
		const char *why = NULL;

		put_profile_of(&b, f, CHORD_STATE_ENDED);
		memcpy(b.at + 2 * CHORD_PAGE + sizeof(struct chord_extent_head), &at, sizeof at);
		assert_null(profile_parse(pool, bytes_of(&b), &why));
		assert_non_null(strstr(why, bad[i].why));
		buf_free(&b);
		pool_free(pool);
	}
	destroy(f);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(killed),
		cmocka_unit_test(missing),
		cmocka_unit_test(wrong),
		cmocka_unit_test(damaged),
		cmocka_unit_test(damaged_profile),
		cmocka_unit_test(bad_tables),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
