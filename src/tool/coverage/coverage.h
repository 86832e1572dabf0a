/* SPDX-License-Identifier: MIT */
/* What the files of `chord coverage` share: coverage.c has the options, gate.c the limits, the others print. */
#ifndef CHORD_TOOL_COVERAGE_H
#define CHORD_TOOL_COVERAGE_H

#include "tool/print.h"
#include "view/coverage.h"

/* Of which part is at least so much to have run: one of the kinds, or of the lines of a change. */
enum { LIMIT_CHANGED = COVERAGE_KINDS, LIMITS };
struct limit {
	const char *text;        /* as it was given, NULL: there is none */
	uint64_t millionths;     /* of a percent */
};

enum coverage_format { COVERAGE_TEXT, COVERAGE_JSON, COVERAGE_MARKDOWN };

struct coverage_options {
	enum coverage_format format;
	bool uncovered;          /* name the lines that never ran */
	bool initial;            /* programs without a profile have not run */
	const char *diff;        /* NULL: none */
	struct limit limit[LIMITS];
	struct coverage_choice choice;
};

struct coverage_tool {
	const struct coverage_options *opt;
	struct run *run;
	struct coverage c;
	struct changed changed;  /* with a diff */
	uint64_t refused;        /* procedures */
};

/* "80.00" or, where some of it is not known, "78.05-80.49"; "-" if there is nothing. */
enum { SHARE = 40 };
const char *share_text(char out[SHARE], const struct coverage_share *s);
/* Lines of one state, in ranges: "3-5, 9"; a range has no line with code of another state in it. Appends. */
struct coverage_lines {
	const struct coverage_line *at;
	size_t n;
	bool some;               /* not all lines of the file that have code: ranges have no other line in them */
};
void put_ranges(struct buf *out, struct coverage_lines lines, enum view_ran ran);

/* gate.c: reads [KIND:]PCT,...; false: it is none. */
bool gate_read(struct coverage_options *o, const char *text);
/* Says what is below its limit, or may be. True: something is. */
bool gate_fails(const struct coverage_tool *t);

/* Lines that a change added or altered, with code or without. */
uint64_t changed_lines(const struct changed *ch);

/* False: it could not be written. */
bool coverage_text(const struct coverage_tool *t);
bool coverage_markdown(const struct coverage_tool *t);
bool coverage_json(const struct coverage_tool *t, bool failed);

#endif
