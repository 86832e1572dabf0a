/* SPDX-License-Identifier: MIT */
/* chord report: report.c has the options, the others print. */
#ifndef CHORD_REPORT_H
#define CHORD_REPORT_H

#include "tool/print.h"

enum report_what { REPORT_FUNCTIONS, REPORT_INSNS, REPORT_BLOCKS, REPORT_EDGES };

struct report_options {
	enum report_what what;
	enum view_sort sort;
	bool json, lines, files, calls, tree, unmeasured;
	size_t top;              /* 0: all */
};

struct report {
	struct run *run;
	struct report_options opt;
	struct view_tables table;
};

void report_raw(const struct report *r);
void report_text(const struct report *r);
/* tree.c: calls, each procedure's below it. */
void report_tree(const struct report *r);
int report_json(const struct report *r);

#endif
