/* SPDX-License-Identifier: MIT */
/* Profiles of paths: what the reader makes of a profile has to be what was walked. */
#include "paths_bytes.h"

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

/* Of a process that was killed bounds hold for one activation that was under way; here there may be more. */
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
			uint64_t is = f->truth[e], more = f->under_way > 1 ? f->under_way - 1 : 0;
			uint64_t least = r.counts[0].arc[e], most = r.counts[0].most->arc[e];

			if (f->arc[e].kind != CHORD_EDGE_CLOSE && (least > is + more || most + more < is))
				fail_msg("edge %u: %llu to %llu, is %llu", e, (unsigned long long)least, (unsigned long long)most,
				         (unsigned long long)is);
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(killed),
		cmocka_unit_test(missing),
		cmocka_unit_test(wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
