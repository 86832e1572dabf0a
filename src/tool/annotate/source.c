/* SPDX-License-Identifier: MIT */
/* Source with counts beside it. */
#include "tool/annotate/annotate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void
put_heading(const struct annotate *a, const struct view_file *f)
{
	char n[32];

	printf("%s: %s instructions executed", shown_path(f->name), grouped(n, f->insns));
	if (a->insns)
		printf(" (%.2f%%)", 100.0 * (double)f->insns / (double)a->insns);
	printf("; %zu lines have code\n\n", f->line.n);
	printf("%15s %15s %6s\n", "count", "instructions", "line");
}

static void
put_counts(const struct annotate *a, const struct view_line *l)
{
	char most[32], insns[32];

	if (!l) {
		printf("%15s %15s ", "", "");
	} else if (l->unknown && !l->insns.least) {
		printf("%15s %15s ", "?", "?");
	} else if (!l->insns.least) {
		annotate_dim(a);
		printf("%15s %15s ", "#####", "#####");
	} else {
		annotate_hot(a, l->insns.least);
		printf("%15s %15s%c", grouped(most, l->most.least), grouped(insns, l->insns.least), l->unknown ? '?' : ' ');
	}
}

static void
put_branches(const struct annotate *a, uint32_t file, unsigned line)
{
	size_t n;
	const struct view_branch *b = view_branches(&a->list, file, line, &n);
	char taken[32], fell[32];

	for (; n; n--, b++) {
		printf("%15s %15s %6s  | branch at %" PRIx64 ": ", "", "", "", a->list.insn.at[b->insn].addr);
		if (!b->known)
			printf("not known\n");
		else if (!b->taken && !b->fell)
			printf("never executed\n");
		else
			printf("taken %s (%.1f%%), not taken %s\n", grouped(taken, b->taken),
			       100.0 * (double)b->taken / ((double)b->taken + (double)b->fell), grouped(fell, b->fell));
	}
}

static void
put_line(const struct annotate *a, const struct view_line *l, const struct view_file *f, unsigned line)
{
	struct str text = {0};

	put_counts(a, l);
	printf("%6u", line);
	if (view_source_line(f->name, line, &text) && text.n) {
		fputs("  ", stdout);
		print_source(text);
	}
	annotate_plain(a);
	putchar('\n');
	if (a->branches && l)
		put_branches(a, (uint32_t)(f - a->list.file.at), line);
}

/* Of a function, and of files from elsewhere that nobody asked for: lines that are no further than this from code. */
enum { NEAR = 3 };

static bool
is_whole(const struct annotate *a, const struct view_file *f)
{
	return !a->functions && (a->wanted.n || *shown_path(f->name) != '/');
}

/* Is the line to be shown, if the next one that has code is at[next]? */
static bool
is_near(const struct view_file *f, size_t next, unsigned line)
{
	return (next < f->line.n && f->line.at[next].line - line <= NEAR) ||
	       (next && next < f->line.n && line - f->line.at[next - 1].line <= NEAR);
}

/* All lines of a file that can be read; of another those that have code. */
static void
put_file(const struct annotate *a, const struct view_file *f)
{
	size_t all = view_source_lines(f->name), at = 0;
	bool whole = is_whole(a, f), gap = false;

	put_heading(a, f);
	for (unsigned line = 1; line <= all; line++) {
		bool has = at < f->line.n && f->line.at[at].line == line;
		bool shown = whole || is_near(f, at, line);

		if (shown && gap && at)
			printf("%15s %15s %6s\n", "", "", "...");
		gap = !shown;
		if (shown)
			put_line(a, has ? &f->line.at[at] : NULL, f, line);
		at += has;
	}
	for (; at < f->line.n; at++)
		put_line(a, &f->line.at[at], f, f->line.at[at].line);
	if (!all)
		printf("(the file cannot be read: only the lines that have code are listed)\n");
	putchar('\n');
}

static const struct annotate *sorted_by;

static int
hottest_first(const void *a, const void *b)
{
	const struct view_file *x = &sorted_by->list.file.at[*(const uint32_t *)a];
	const struct view_file *y = &sorted_by->list.file.at[*(const uint32_t *)b];

	if (x->insns != y->insns)
		return x->insns > y->insns ? -1 : 1;
	return x < y ? -1 : x > y;
}

bool
annotate_source(struct annotate *a)
{
	uint32_t *order = xcalloc(a->list.file.n + 1, sizeof *order), n = 0;

	for (uint32_t i = 0; i < a->list.file.n; i++) {
		const struct view_file *f = &a->list.file.at[i];
		bool ran = f->insns && view_source_lines(f->name);

		if (a->functions || (a->wanted.n ? annotate_wants_file(a, f->name) : ran))
			order[n++] = i;
	}
	sorted_by = a;
	qsort(order, n, sizeof *order, hottest_first);
	for (uint32_t i = 0; i < n; i++)
		put_file(a, &a->list.file.at[order[i]]);
	free(order);
	return n;
}
