/* SPDX-License-Identifier: MIT */
/* Branches that paths took: paths of interest also tell about these (Apiwattanapong & Harrold 2002, section 6). */
#include "view/paths.h"

#include <stdlib.h>

/* Adds a row's count to those of its edges. If a child continued a path, its parent ran the beginning, so the count is
 * subtracted. */
static void
add_edges(uint64_t *count, const struct view_path *row)
{
	struct pool *pool = pool_new();
	struct path path = view_path_edges(pool, row);
	bool less = row->stopped && row->stopped->reentry;

	for (uint32_t i = 0; i < path.n; i++)
		count[path.edge[i]] += less ? -row->count : row->count;
	pool_free(pool);
}

static bool
is_branch(const struct block *b)
{
	return b->ninsn && b->insn[b->ninsn - 1] >> 4 == CHORD_INSN_BRANCH;
}

/* The place of the block's last instruction that has one. */
static struct view_place
place_of(struct pool *pool, const struct view_paths_proc *of, uint32_t block)
{
	struct view_places l = view_block_lines(pool, of->binary, of->proc, block, UINT32_MAX);

	return l.n ? l.at[l.n - 1] : (struct view_place){NULL, 0};
}

static void
add_branches(struct view_path_branches *b, struct pool *pool, const struct view_paths_proc *of, const uint64_t *count)
{
	const struct proc *p = of->proc;
	size_t first = b->row.n;
	uint64_t *at = pool_array(pool, (size_t)p->nblock + 1, sizeof *at);

	for (uint32_t i = 0; i < p->nblock; i++) {
		if (!is_branch(&p->block[i]))
			continue;
		at[i] = b->row.n + 1;
		VEC_PUSH(b->row, (struct view_path_branch){.of = of, .block = i, .place = place_of(pool, of, i)});
	}
	for (uint32_t e = 0; e < p->narc; e++) {
		const struct arc *a = &p->arc[e];
		struct view_path_branch *row;

		if (a->from >= p->nblock || !at[a->from])
			continue;
		row = &b->row.at[at[a->from] - 1];
		*(a->kind == CHORD_EDGE_FALL ? &row->fell : &row->taken) += count[e];
	}
	for (size_t i = first; i < b->row.n; i++) {
		b->ran += (uint64_t)(b->row.at[i].taken > 0) + (b->row.at[i].fell > 0);
		b->both += b->row.at[i].taken && b->row.at[i].fell;
	}
}

static void
add_rows(const struct view_paths *r, const struct view_path *row, size_t n, uint64_t *const *count)
{
	for (size_t i = 0; i < n; i++)
		add_edges(count[row[i].of - r->proc.at], &row[i]);
}

void
view_path_branches(struct view_path_branches *b, const struct view_paths *r)
{
	uint64_t **count = pool_array(r->pool, r->proc.n + 1, sizeof *count);

	*b = (struct view_path_branches){0};
	for (size_t i = 0; i < r->proc.n; i++)
		count[i] = pool_array(r->pool, (size_t)r->proc.at[i].proc->narc + 1, sizeof **count);
	add_rows(r, r->row.at, r->row.n, count);
	add_rows(r, r->stopped.at, r->stopped.n, count);
	for (size_t i = 0; i < r->proc.n; i++)
		add_branches(b, r->pool, &r->proc.at[i], count[i]);
}
