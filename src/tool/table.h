/* SPDX-License-Identifier: MIT */
/* Tables as all commands print them: titles above columns, cells aligned below them. */
#ifndef CHORD_TABLE_H
#define CHORD_TABLE_H

#include "view/view.h"

/* A column. There are two blanks before a text, one before a number, and none before the first column, unless `gap` says
 * otherwise. */
struct column {
	const char *title;       /* NULL: the line of titles ends before it */
	int width;               /* above 0: a number, aligned right; below 0: a text, aligned left; 0: a text of any length */
	int gap;                 /* blanks before it; 0: as above */
};

struct table {
	FILE *to;
	const struct column *column;
	size_t n, at;            /* number of columns; column of the next cell */
	int indent;              /* blanks before the first column */
	char mark;               /* replaces the first blank before the next cell; 0: nothing does */
	int wide;                /* columns of large numbers are at least this wide: table_widen() */
};

/* A table on standard output with the columns of an array. */
#define TABLE(columns) ((struct table){.to = stdout, .column = (columns), .n = sizeof (columns) / sizeof *(columns)})

/* Make columns of large numbers (at least 15 wide) wide enough for this value. Call them before the first row is printed. */
void table_widen(struct table *t, const struct bounds *b);
void table_widen_for(struct table *t, uint64_t n);
void table_widen_to(struct table *t, const char *text);

/* Prints the line of titles. */
void table_head(struct table *t);

/* Print the next cell of the row. */
void table_text(struct table *t, const char *text);
void table_printf(struct table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void table_number(struct table *t, uint64_t n);      /* with its digits in groups of three */
void table_bounds(struct table *t, const struct bounds *b, bool known);
/* A share in percent that is shown in such steps (0.01: two decimals). One that is not all, or not nothing, is not rounded to that:
 * it is at least a step away. */
double percent_shown(uint64_t part, uint64_t all, double step);
/* The same as text, such as "12.50" with two decimals. One that is not all, or not nothing, but would be rounded to that, is
 * ">99.99" or "<0.01": it is not the step itself, either. */
enum { PERCENT = 24 };
const char *percent_of(char out[PERCENT], uint64_t part, uint64_t all, int decimals);
void table_share(struct table *t, uint64_t part, uint64_t all); /* in percent */
/* Leaves n cells empty. */
void table_skip(struct table *t, size_t n);
/* Ends the row. What is printed directly before that stands after its last cell. */
void table_end(struct table *t);

/* How many of n rows are shown if at most `top` are (0: all). */
size_t table_rows(size_t top, size_t n);
/* Prints below the first column how many of n rows were not shown, if some were not. what: what they are, or NULL. */
void table_more(struct table *t, size_t shown, size_t n, const char *what);

#endif
