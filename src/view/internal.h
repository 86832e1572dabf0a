/* SPDX-License-Identifier: MIT */
/* What the files of this folder share. */
#ifndef CHORD_VIEW_INTERNAL_H
#define CHORD_VIEW_INTERNAL_H

#include "view/view.h"

/* ---- blocks.c: the edges that leave each block ---- */

struct leaving {
	const struct proc *proc; /* the procedure; NULL: none yet */
	uint32_t *first;         /* by block, and one more at the end: index of its first edge in `arc` */
	uint32_t *arc;           /* numbers of edges, by block, ascending */
};
/* Fills *l for the procedure, unless it is filled for it already. */
void leaving_of(struct leaving *l, const struct proc *p);
void leaving_free(struct leaving *l);

/* ---- table.c: lines while they are collected ---- */

struct line_cell {
	uint32_t file;
	struct view_line line;
};
/* Lines by file and number. File names come from the line table, where one name has a different address in each unit; here each
 * name has one number. */
struct line_table {
	struct strmap number;
	VEC(const char *) name;
	VEC(struct line_cell) cell;
	size_t *slot, nslot;     /* open addressing: index in cell, + 1 */
	const char *last;        /* the name that was looked up last, by its address; its number */
	uint32_t last_number;
};
/* The number of a name. */
uint32_t line_table_file(struct line_table *t, const char *name);
/* The line, which is added if it is new. The pointer is valid until the next call. */
struct view_line *line_table_line(struct line_table *t, uint32_t file, unsigned line);
void line_table_free(struct line_table *t);

#endif
