/* SPDX-License-Identifier: MIT */
/* What the files of `chord diff` share. */
#ifndef CHORD_DIFF_H
#define CHORD_DIFF_H

#include "tool/report.h"

struct diff_options {
	bool lines, json;
	size_t top;              /* 0: all */
	/* In millionths of a percent of all instructions before; the text as it was given, NULL: no limit. */
	uint64_t above, function_above;
	const char *above_text, *function_above_text;
};

/* A profile, or several summed, and what it is of. */
struct side {
	const char *program;     /* NULL: found through the profile */
	const char *profile;
	struct run run;
	struct report report;    /* its tables */
};

/* A function, a line, or a total. */
struct diff_row {
	const char *name;        /* of a function or total; NULL: a line */
	const char *file;
	unsigned line;           /* 0: not known */
	uint64_t before, after;
	uint64_t before_most, after_most; /* they are between these */
	bool was, is;            /* there at all */
};

struct diff {
	struct pool *pool;
	const struct diff_options *opt;
	struct side side[2];     /* before, after */
	VEC(struct diff_row) total;    /* instructions, then others, and events counted on both sides */
	VEC(struct diff_row) function; /* all that changed, the largest change first */
	VEC(struct diff_row) line;     /* likewise, if asked for */
	VEC(struct named) left_out;    /* functions that cannot be compared */
	bool by_function;        /* there are functions to compare */
};

/* match.c: fills all tables. False, *why: there is nothing to compare, or a sum does not fit 64 bits. */
bool diff_match(struct diff *d, const char **why);
/* diff_print.c. False: it could not be written. */
bool diff_text(const struct diff *d);
bool diff_json(const struct diff *d, bool failed);

#endif
