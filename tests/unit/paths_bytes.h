/* SPDX-License-Identifier: MIT */
/* The map of a procedure that was walked, and the profile that its process would have left. */
#ifndef TEST_PATHS_BYTES_H
#define TEST_PATHS_BYTES_H

#include "paths_walk.h"

static inline void
put_signed(struct buf *b, int64_t n)
{
	buf_uleb(b, (uint64_t)n << 1 ^ (uint64_t)(n >> 63));
}

static inline uint64_t
table_size(const struct fake *f)
{
	return f->kind == CHORD_PATH_HASHED ? (uint64_t)2 << f->bits : f->paths->n;
}

static inline void
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

static inline void
put_map(struct buf *out, const struct fake *f)
{
	struct chord_part part = {CODE, f->nblock * INSNS, 100};
	struct chord_map_head h = {.magic = CHORD_MAP_MAGIC, .version = CHORD_FORMAT_VERSION, .counters = COUNTERS,
		.section = CODE, .ncounter = (uint32_t)(TABLE_AT + table_size(f)), .npart = 1};
	uint32_t nevent = 0, nblob;
	struct buf b = {0}, paths = {0};

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
	PUT(&b, 0);
	put_paths(&paths, f);
	put_section(&b, "paths", &paths);
	buf_free(&paths);
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

static inline void
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
static inline void
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

static inline void
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

#endif
