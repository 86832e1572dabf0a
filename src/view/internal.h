/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_VIEW_INTERNAL_H
#define CHORD_VIEW_INTERNAL_H

#include "view/view.h"

/* ---- blocks.c: the edges that leave each block ---- */

struct leaving {
	const struct proc *proc; /* of which it is; NULL: none yet */
	uint32_t *first;         /* by block, and one more: where its edges begin in */
	uint32_t *arc;           /* numbers of edges, by block and number */
};
/* Makes it that of the procedure, if it is of another one. */
void leaving_of(struct leaving *l, const struct proc *p);
void leaving_free(struct leaving *l);

/* ---- table.c: lines being collected ---- */

struct line_cell {
	uint32_t file;
	struct view_line line;
};
/* File names come from the line table, where one name has an address for each unit: here it has one number. */
struct line_table {
	struct strmap number;
	VEC(const char *) name;
	VEC(struct line_cell) cell;
	size_t *slot, nslot;     /* open addressing into cell, + 1 */
	const char *last;        /* the name looked up last, by its address, and its number */
	uint32_t last_number;
};
uint32_t line_table_file(struct line_table *t, const char *name);
/* The line, which is new if nothing was counted for it; until the next call. */
struct view_line *line_table_line(struct line_table *t, uint32_t file, unsigned line);
void line_table_free(struct line_table *t);

#endif
