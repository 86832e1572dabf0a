/* SPDX-License-Identifier: MIT */
/* Source with counts beside it. */
#include "tool/annotate/annotate.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const struct column columns[] = {{"count", 15, 0}, {"instructions", 15, 0}, {"line", 6, 0}, {NULL, 0, 0}};

/* Prints what was executed for a file. Returns whether that is all known. */
static bool
put_executed(const struct view_file *f)
{
	char n[32];
	bool unknown = false;

	for (size_t i = 0; i < f->line.n; i++)
		unknown |= f->line.at[i].unknown;
	printf("%s: %s%s instructions executed", shown_path(f->name), f->insns || !unknown ? grouped(n, f->insns) : "?",
	       f->insns && unknown ? " or more" : "");
	return !unknown;
}

static void
put_heading(const struct annotate *a, struct table *t, const struct view_file *f)
{
	bool known = put_executed(f);
	char share[PERCENT];

	if (a->insns && a->exact && known)
		printf(" (%s%%)", percent_of(share, f->insns, a->insns, 2));
	printf("; %zu %s code\n\n", f->line.n, of_many(f->line.n, "line has", "lines have"));
	table_widen_for(t, a->insns);
	table_head(t);
}

static void
put_both(struct table *t, const char *text)
{
	table_text(t, text);
	table_text(t, text);
}

static void
put_counts(const struct annotate *a, struct table *t, const struct view_line *l)
{
	if (!l) {
		table_skip(t, 2);
	} else if (l->unknown && !l->insns.least) {
		put_both(t, "?");
	} else if (!l->insns.least) {
		annotate_dim(a);
		put_both(t, "#####");
	} else {
		annotate_hot(a, l->insns.least);
		table_number(t, l->most.least);
		table_number(t, l->insns.least);
		t->mark = l->unknown ? '?' : 0;
	}
}

static void
put_branches(const struct annotate *a, struct table *t, uint32_t file, unsigned line)
{
	size_t n;
	const struct view_branch *b = view_branches(&a->list, file, line, &n);
	char taken[32], fell[32], share[PERCENT];

	for (; n; n--, b++) {
		table_skip(t, 3);
		table_printf(t, "| branch at %" PRIx64 ": ", a->list.insn.at[b->insn].addr);
		if (!b->known)
			printf("not known");
		else if (!b->taken && !b->fell)
			printf("never executed");
		else
			printf("taken %s (%s%%), not taken %s", grouped(taken, b->taken),
			       percent_of(share, b->taken, b->taken + b->fell, 1), grouped(fell, b->fell));
		table_end(t);
	}
}

static void
put_line(const struct annotate *a, struct table *t, const struct view_line *l, const struct view_file *f, unsigned line)
{
	struct str text = {0};

	put_counts(a, t, l);
	table_printf(t, "%u", line);
	if (view_source_line(f->name, line, &text) && text.n) {
		table_text(t, "");
		print_source(text);
	}
	annotate_plain(a);
	table_end(t);
	if (a->branches && l)
		put_branches(a, t, (uint32_t)(f - a->list.file.at), line);
}

/* Of a function, and of a file from elsewhere that was not asked for, only lines near code are shown: at most this far. */
enum { NEAR = 3 };

static bool
is_whole(const struct annotate *a, const struct view_file *f)
{
	return !a->functions && (a->wanted.n || *shown_path(f->name) != '/');
}

/* Is the line near code, if the next line that has code is at[next]? Lines after the last one that has code are not. */
static bool
is_near(const struct view_file *f, size_t next, unsigned line)
{
	return (next < f->line.n && f->line.at[next].line - line <= NEAR) ||
	       (next && next < f->line.n && line - f->line.at[next - 1].line <= NEAR);
}

/* Puts all lines of a file that can be read, or else the lines that have code. */
static void
put_file(const struct annotate *a, const struct view_file *f)
{
	size_t all = view_source_lines(f->name), at = 0;
	bool whole = is_whole(a, f), gap = false;
	struct table t = TABLE(columns);

	put_heading(a, &t, f);
	for (unsigned line = 1; line <= all; line++) {
		bool has = at < f->line.n && f->line.at[at].line == line;
		bool shown = whole || is_near(f, at, line);

		if (shown && gap && at) {
			table_skip(&t, 2);
			table_text(&t, "...");
			table_end(&t);
		}
		gap = !shown;
		if (shown)
			put_line(a, &t, has ? &f->line.at[at] : NULL, f, line);
		at += has;
	}
	for (; at < f->line.n; at++)
		put_line(a, &t, &f->line.at[at], f, f->line.at[at].line);
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
annotate_shows_file(const struct annotate *a, const struct view_file *f)
{
	if (a->functions || a->wanted.n)
		return a->functions || annotate_wants_file(a, f->name);
	return f->insns && view_source_lines(f->name);
}

bool
annotate_lacks_file(const struct annotate *a, const struct view_file *f)
{
	return !a->functions && !a->wanted.n && f->insns && !view_source_lines(f->name);
}

/* The numbers of the files of a kind, the hottest first (heap). */
static uint32_t *
files_that(const struct annotate *a, bool (*is)(const struct annotate *a, const struct view_file *f), uint32_t *n)
{
	uint32_t *order = xcalloc(a->list.file.n + 1, sizeof *order);

	*n = 0;
	for (uint32_t i = 0; i < a->list.file.n; i++)
		if (is(a, &a->list.file.at[i]))
			order[(*n)++] = i;
	sorted_by = a;
	qsort(order, *n, sizeof *order, hottest_first);
	return order;
}

/* At most so many files that cannot be read are named. */
enum { FEW = 10 };

static void
put_lacking(const struct annotate *a)
{
	uint32_t n, *order = files_that(a, annotate_lacks_file, &n);

	if (n)
		printf("Not shown, since they cannot be read (named, they are listed without text):\n");
	for (uint32_t i = 0; i < n && (i < FEW || n == FEW + 1); i++) {
		fputs("  ", stdout);
		put_executed(&a->list.file.at[order[i]]);
		putchar('\n');
	}
	if (n > FEW + 1)
		printf("  and %" PRIu32 " more (--json names all)\n", n - FEW);
	free(order);
}

bool
annotate_source(struct annotate *a)
{
	uint32_t n, *order = files_that(a, annotate_shows_file, &n);

	for (uint32_t i = 0; i < n; i++)
		put_file(a, &a->list.file.at[order[i]]);
	if (n)
		put_lacking(a);
	free(order);
	return n;
}
