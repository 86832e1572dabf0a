/* SPDX-License-Identifier: MIT */
/* The way of a path, in the source and in the graph. */
#include "view/paths.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef VEC(struct view_place) line_list;

static void
add_line(line_list *list, struct image_place place)
{
	const struct view_place *last = list->n ? &list->at[list->n - 1] : NULL;

	if (!last || last->line != place.line || strcmp(last->file, place.file))
		VEC_PUSH(*list, (struct view_place){place.file, place.line});
}

static void
add_block(line_list *list, struct binary *bin, const struct proc *p, uint32_t block, uint32_t to)
{
	struct image_place place;
	struct walk w;

	for (walk_start(&w, p, NULL, block); walk_next(&w) && w.i < to;)
		if (w.addr && w.kind != CHORD_INSN_PAD && image_place(bin->image, w.addr, &place))
			add_line(list, place);
}

static struct view_places
take_lines(struct pool *pool, line_list *list)
{
	struct view_places lines = {pool_array(pool, list->n, sizeof *lines.at), list->n};

	if (list->n)
		memcpy(lines.at, list->at, list->n * sizeof *lines.at);
	free(list->at);
	return lines;
}

struct view_places
view_block_lines(struct pool *pool, struct binary *bin, const struct proc *p, uint32_t block, uint32_t to)
{
	line_list list = {0};

	add_block(&list, bin, p, block, to);
	return take_lines(pool, &list);
}

struct view_places
view_path_lines(struct pool *pool, const struct view_path *row, const struct path *path)
{
	const struct proc *p = row->of->proc;
	line_list list = {0};

	for (uint32_t i = 0; i < path->n; i++) {
		uint32_t v = p->arc[path->edge[i]].from;

		if (v < p->nblock)
			add_block(&list, row->of->binary, p, v, UINT32_MAX);
	}
	if (row->stopped)
		add_block(&list, row->of->binary, p, path->end, stopped_insns(p, row->stopped));
	return take_lines(pool, &list);
}

/* A name is only needed where control had a choice. */
const char *
view_path_edge_name(const struct proc *p, const struct path *path, uint32_t i)
{
	const struct arc *a = &p->arc[path->edge[i]];
	const struct block *b = a->from < p->nblock ? &p->block[a->from] : NULL;
	unsigned last = b && b->ninsn ? b->insn[b->ninsn - 1] >> 4 : CHORD_INSN_OTHER;

	if (last == CHORD_INSN_BRANCH)
		return a->kind == CHORD_EDGE_FALL ? "not taken" : "taken";
	return last == CHORD_INSN_IJUMP ? "indirect" : "";
}

const char *
view_path_begin(struct pool *pool, const struct proc *p, const struct path *path)
{
	const struct arc *first = path->n ? &p->arc[path->edge[0]] : NULL;

	if (path->begin != PROC_ENTRY(p))
		return path->begin < p->nblock ? pool_printf(pool, "at block %" PRIu32, path->begin) : "at a jump table";
	if (first && first->kind == CHORD_EDGE_LAND)
		return "at a landing pad";
	return first && first->kind == CHORD_EDGE_RECEIVE ? "where a jump was received" : "at entry";
}

static const char *
exit_name(const struct proc *p, const struct arc *last)
{
	const struct block *b = last->from < p->nblock ? &p->block[last->from] : NULL;

	if (last->kind == CHORD_EDGE_NONLOCAL || last->kind == CHORD_EDGE_LOST)
		return "with a jump into another activation";
	switch (b && b->ninsn ? b->insn[b->ninsn - 1] >> 4 : CHORD_INSN_OTHER) {
	case CHORD_INSN_RET: return "with a return";
	case CHORD_INSN_CALL:
	case CHORD_INSN_ICALL: return "with a call that does not come back";
	case CHORD_INSN_TRAP: return "with a trap";
	default: return "with a tail call";
	}
}

const char *
view_path_end(struct pool *pool, const struct view_path *row, const struct path *path)
{
	const struct proc *p = row->of->proc;
	const struct arc *last;

	if (row->stopped && row->stopped->cut)
		return row->stopped->reentry ? "was run by the parent process up to a signal" : "was left between calls";
	if (row->stopped)
		return row->stopped->reentry ? "was run by the parent process up to a call" : "was left at a call";
	last = &p->arc[path->edge[path->n - 1]];
	if (last->to == PROC_EXIT(p))
		return exit_name(p, last);
	for (uint32_t i = 0; i < path->n; i++)
		if (p->arc[path->edge[i]].from == last->to)
			return pool_printf(pool, "with the way back to block %" PRIu32, last->to);
	return last->to < p->nblock ? pool_printf(pool, "with the way to block %" PRIu32, last->to) : "at a jump table";
}
