/* SPDX-License-Identifier: MIT */
/* What the files of `chord diff` share: diff.c has the options and the verdict, print.c prints. */
#ifndef CHORD_DIFF_H
#define CHORD_DIFF_H

#include "compare/compare.h"
#include "tool/print.h"

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
};

struct diff {
	const struct diff_options *opt;
	struct side side[2];     /* before, after */
	struct comparison found;
};

/* The sides that operands name, two to four: [PROGRAM] A [PROGRAM] B. In any case diff_close(). */
void diff_open(struct diff *d, char **name, int n);
/* Loads and compares them. False: reported. */
bool diff_find(struct diff *d);
void diff_close(struct diff *d);

/* False: it could not be written. */
bool diff_text(const struct diff *d);
bool diff_json(const struct diff *d, bool failed);

#endif
