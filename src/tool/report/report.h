/* SPDX-License-Identifier: MIT */
/* chord report: report.c has the options, the others print. */
#ifndef CHORD_REPORT_H
#define CHORD_REPORT_H

#include "tool/print.h"
#include "tool/table.h"

enum report_what { REPORT_FUNCTIONS, REPORT_INSNS, REPORT_BLOCKS, REPORT_EDGES };

struct report_options {
	enum report_what what;
	enum view_sort sort;
	bool json, lines, files, calls, tree, inlined, hottest, inclusive, unmeasured;
	bool source;             /* the text of lines, too */
	size_t top;              /* 0: all */
	struct view_choice choice;
};

struct report {
	struct run *run;
	struct report_options opt;
	struct view_tables table;
};

void report_raw(const struct report *r);
void report_text(const struct report *r);
/* The columns of a call's row, and the cells of its events. */
enum { CALL_COLUMNS = CHORD_SUMS + 2 };
struct table report_calls_table(struct column column[CALL_COLUMNS], const struct view_call *c);
void report_call_events(struct table *t, const struct view_call *c);
/* tree.c: calls, each procedure's below it. */
void report_tree(const struct report *r);
/* inclusive.c: functions with what they called. */
void report_inclusive(const struct report *r);
/* hottest.c */
void report_hottest(const struct report *r);
struct json_t;
struct json_t *report_hottest_json(const struct report *r);
int report_json(const struct report *r);

#endif
