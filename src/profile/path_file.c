/* SPDX-License-Identifier: MIT */
/* Paths in a profile. Entries of hash tables are no counters, because each region has them in an order of its own. So they are
 * taken out of the counters when they are read, and are kept in the same form as paths for which there was no room in a table. */
#include "profile/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_BITS = 28 };

static uint64_t
words(const struct path_table *t)
{
	return (uint64_t)2 << t->bits;
}

static int
tables_by_addr(const void *a, const void *b)
{
	const struct path_table *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

/* Are the tables sorted, inside the module's counters, and disjoint? */
static bool
are_tables(const struct module *m, const struct path_table *t, uint64_t n)
{
	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = (t[i].addr - m->base) / 8;

		if (t[i].addr < m->base || t[i].addr % 8 || at > m->ncount || words(&t[i]) > m->ncount - at ||
		    (i && t[i - 1].addr + 8 * words(&t[i - 1]) > t[i].addr))
			return false;
	}
	return true;
}

bool
paths_same_tables(const struct module *a, const struct module *b)
{
	for (uint32_t i = 0; a->ntable == b->ntable && i < a->ntable; i++)
		if (a->table[i].addr != b->table[i].addr || a->table[i].bits != b->table[i].bits)
			return false;
	return a->ntable == b->ntable;
}

const char *
paths_read_tables(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at)
{
	struct module found;

	if (!m)
		return "damaged: tables of a module that is not there";
	found = *m;
	if (h->a > (h->size - sizeof *h) / sizeof(struct chord_path_at))
		return "damaged: fewer tables of paths than announced";
	found.table = pool_array(p->pool, h->a, sizeof *found.table);
	found.ntable = (uint32_t)h->a;
	for (uint64_t i = 0; i < h->a; i++) {
		struct chord_path_at t;

		memcpy(&t, at + sizeof *h + i * sizeof t, sizeof t);
		if (t.bits > MOST_BITS)
			return "damaged: a table of paths that makes no sense";
		found.table[i] = (struct path_table){t.addr, (uint32_t)t.bits};
	}
	if (h->a)
		qsort(found.table, h->a, sizeof *found.table, tables_by_addr);
	if (!are_tables(m, found.table, h->a))
		return "damaged: a table of paths that makes no sense";
	if (m->table ? !paths_same_tables(m, &found) : m->count != NULL)
		return "damaged: tables of paths that come late";
	*m = found;
	return NULL;
}

static bool
is_hashed(const struct proc *p)
{
	return !p->refused && p->paths && p->paths->kind == CHORD_PATH_HASHED && p->paths->size <= MOST_BITS;
}

void
paths_take_tables(struct profile *p, struct module *m, const struct map *map)
{
	struct path_table *t = pool_array(p->pool, map->nproc, sizeof *t);
	uint32_t n = 0;

	if (m->ntable)
		return;
	for (uint32_t i = 0; i < map->nproc; i++)
		if (is_hashed(&map->proc[i]))
			t[n++] = (struct path_table){map->proc[i].counters + 8 * map->proc[i].paths->table,
			                             (uint32_t)map->proc[i].paths->size};
	if (n)
		qsort(t, n, sizeof *t, tables_by_addr);
	if (!are_tables(m, t, n))
		return;
	m->table = t;
	m->ntable = n;
}

static int
by_sum(const void *a, const void *b)
{
	const struct hashed *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return (x->sum > y->sum) - (x->sum < y->sum);
}

/* Might there be a path for which all eight entries are taken? */
static bool
is_crowded(const struct path_table *t, const unsigned char *at)
{
	uint64_t n = (uint64_t)1 << t->bits, run = 0;

	for (uint64_t i = 0; i < n + CHORD_PATH_TRIES && run < CHORD_PATH_TRIES; i++) {
		struct chord_path_entry e;

		memcpy(&e, at + (i & (n - 1)) * sizeof e, sizeof e);
		run = e.key ? run + 1 : 0;
	}
	return run == CHORD_PATH_TRIES;
}

void
paths_doubt_tables(struct profile *p, const struct module *m, uint32_t number, const unsigned char *at)
{
	for (uint32_t i = 0; i < m->ntable; i++) {
		struct hashed doubt = {number, m->table[i].addr, UINT64_MAX, PATHS_UNKNOWN};
		bool known = false;

		for (size_t k = 0; k < p->hashed.n; k++)
			known |= !by_sum(&p->hashed.at[k], &doubt) && p->hashed.at[k].count == doubt.count;
		if (!known && is_crowded(&m->table[i], at + (m->table[i].addr - m->base)))
			VEC_PUSH(p->hashed, doubt);
	}
}

static void
take_table(struct profile *p, uint32_t module, const struct path_table *t, const unsigned char *at)
{
	for (uint64_t i = 0; i < (uint64_t)1 << t->bits; i++) {
		struct chord_path_entry e;

		memcpy(&e, at + i * sizeof e, sizeof e);
		if (e.key && e.count)
			VEC_PUSH(p->hashed, (struct hashed){module, t->addr, e.key - 1, e.count});
	}
}

static bool
add_words(struct module *m, const unsigned char *at, uint64_t from, uint64_t to)
{
	bool fits = true;

	for (uint64_t i = from; i < to; i++) {
		uint64_t v;

		memcpy(&v, at + 8 * i, 8);
		fits &= count_add(&m->count[i], v);
	}
	return fits;
}

bool
profile_add_counters(struct profile *p, struct module *m, uint32_t number, const unsigned char *at)
{
	uint64_t from = 0;
	bool fits = true;

	for (uint32_t i = 0; i < m->ntable; i++) {
		uint64_t to = (m->table[i].addr - m->base) / 8;

		fits &= add_words(m, at, from, to);
		take_table(p, number, &m->table[i], at + 8 * to);
		from = to + words(&m->table[i]);
	}
	return add_words(m, at, from, m->ncount) && fits;
}

const char *
paths_read_hashed(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at)
{
	(void)m;
	if (h->a > (h->size - sizeof *h) / sizeof(struct chord_path_count))
		return "damaged: fewer records of paths than announced";
	for (uint64_t i = 0; i < h->a; i++) {
		struct chord_path_count c;

		memcpy(&c, at + sizeof *h + i * sizeof c, sizeof c);
		if (c.table && c.count)
			VEC_PUSH(p->hashed, (struct hashed){CHORD_EXIT_MODULE(c.table), CHORD_EXIT_ADDR(c.table), c.sum, c.count});
	}
	return NULL;
}

uint64_t
paths_bias(uint64_t path, uint64_t raw)
{
	return raw ? (raw - path) & INT64_MAX : 0;
}

/* A module that is loaded above 1 TiB has another address in each run. So its bias does not distinguish records: within one process
 * it is the same for all, and records of several runs have to be joined. */
static uint64_t
told_by(uint64_t bias)
{
	const uint64_t high = 1ull << 40;

	return bias < high ? bias : high;
}

const char *
paths_read_unfinished(struct profile *p, struct module *m, const struct chord_extent_head *h, const unsigned char *at)
{
	(void)m;
	if (h->a > (h->size - sizeof *h) / sizeof(struct chord_unfinished))
		return "damaged: fewer records of unfinished paths than announced";
	for (uint64_t i = 0; i < h->a; i++) {
		struct chord_unfinished u;

		memcpy(&u, at + sizeof *h + i * sizeof u, sizeof u);
		if (u.key && u.count)
			VEC_PUSH(p->unfinished, (struct unfinished){CHORD_EXIT_MODULE(u.key), u.key & CHORD_EXIT_REENTRY,
			                                            CHORD_EXIT_ADDR(u.key), u.path, paths_bias(u.path, u.raw),
			                                            u.count});
	}
	return NULL;
}

static bool
has_table(const struct module *m, uint64_t addr)
{
	for (uint32_t i = 0; i < m->ntable; i++)
		if (m->table[i].addr == addr)
			return true;
	return false;
}

const char *
paths_check(const struct profile *p)
{
	for (size_t i = 0; i < p->hashed.n; i++) {
		const struct hashed *e = &p->hashed.at[i];

		if (!has_table(&p->module.at[e->module], e->table) && (e->table || e->sum != UINT64_MAX))
			return "damaged: a path of a table that is not there";
	}
	return NULL;
}

/* ---- sums ---- */

static int
by_key(const void *a, const void *b)
{
	const struct unfinished *x = a, *y = b;

	if (x->module != y->module)
		return x->module < y->module ? -1 : 1;
	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	if (x->reentry != y->reentry)
		return x->reentry ? 1 : -1;
	if (x->path != y->path)
		return x->path < y->path ? -1 : 1;
	return (told_by(x->bias) > told_by(y->bias)) - (told_by(x->bias) < told_by(y->bias));
}

/* Adds the counts of two entries that by_sum() does not tell apart. Without one of them the sum is not known either. */
static bool
add_hashed(struct hashed *sum, const struct hashed *e)
{
	if (e->sum != UINT64_MAX || (sum->count != PATHS_UNKNOWN && e->count != PATHS_UNKNOWN))
		return count_add(&sum->count, e->count);
	sum->count = PATHS_UNKNOWN;
	return true;
}

bool
paths_join(struct profile *p)
{
	size_t n = 0;
	bool fits = true;

	if (p->hashed.n)
		qsort(p->hashed.at, p->hashed.n, sizeof *p->hashed.at, by_sum);
	for (size_t i = 0; i < p->hashed.n; i++) {
		if (n && !by_sum(&p->hashed.at[n - 1], &p->hashed.at[i]))
			fits &= add_hashed(&p->hashed.at[n - 1], &p->hashed.at[i]);
		else
			p->hashed.at[n++] = p->hashed.at[i];
	}
	p->hashed.n = n;
	if (p->unfinished.n)
		qsort(p->unfinished.at, p->unfinished.n, sizeof *p->unfinished.at, by_key);
	n = 0;
	for (size_t i = 0; i < p->unfinished.n; i++) {
		if (n && !by_key(&p->unfinished.at[n - 1], &p->unfinished.at[i]))
			fits &= count_add(&p->unfinished.at[n - 1].count, p->unfinished.at[i].count);
		else
			p->unfinished.at[n++] = p->unfinished.at[i];
	}
	p->unfinished.n = n;
	return fits;
}

const struct hashed *
paths_of_table(const struct profile *p, uint32_t module, uint64_t table, size_t *n)
{
	size_t lo = 0, hi = p->hashed.n;
	const struct hashed key = {.module = module, .table = table};

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (by_sum(&p->hashed.at[mid], &key) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (*n = 0; lo + *n < p->hashed.n; ++*n)
		if (p->hashed.at[lo + *n].module != module || p->hashed.at[lo + *n].table != table)
			break;
	return *n ? &p->hashed.at[lo] : NULL;
}

/* ---- writing ---- */

void
paths_write_tables(const struct module *m, uint32_t i, struct buf *out)
{
	if (!m->ntable)
		return;
	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_TABLES, .module = i, .a = m->ntable},
	               m->ntable * sizeof(struct chord_path_at), false);
	for (uint32_t k = 0; k < m->ntable; k++) {
		struct chord_path_at t = {m->table[k].addr, m->table[k].bits};

		buf_add(out, &t, sizeof t);
	}
	profile_fill_page(out);
}

static void
write_hashed(const struct profile *p, uint64_t of, struct buf *out)
{
	if (!p->hashed.n)
		return;
	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_PATHS, .a = p->hashed.n, .b = of},
	               p->hashed.n * sizeof(struct chord_path_count), false);
	for (size_t i = 0; i < p->hashed.n; i++) {
		const struct hashed *e = &p->hashed.at[i];
		struct chord_path_count c = {(uint64_t)(e->module + 1) << 48 | e->table, e->sum, e->count, 0};

		buf_add(out, &c, sizeof c);
	}
	profile_fill_page(out);
}

void
paths_write(const struct profile *p, uint64_t of, struct buf *out)
{
	write_hashed(p, of, out);
	if (!p->unfinished.n)
		return;
	profile_extent(out, (struct chord_extent_head){.type = CHORD_EXTENT_UNFINISHED, .a = p->unfinished.n, .b = of},
	               p->unfinished.n * sizeof(struct chord_unfinished), false);
	for (size_t i = 0; i < p->unfinished.n; i++) {
		const struct unfinished *e = &p->unfinished.at[i];
		struct chord_unfinished u = {(uint64_t)(e->module + 1) << 48 | e->addr | (e->reentry ? CHORD_EXIT_REENTRY : 0),
			e->path, e->count, e->bias ? (e->path + e->bias) | 1ull << 63 : 0};

		buf_add(out, &u, sizeof u);
	}
	profile_fill_page(out);
}
