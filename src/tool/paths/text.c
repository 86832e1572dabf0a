/* SPDX-License-Identifier: MIT */
/* chord paths: the hottest paths, as text. */
#include "tool/paths/paths.h"
#include "tool/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { INDENT = 8, WIDTH = 120 };

static const char *
number(char out[32], uint64_t n)
{
	if (n == UINT64_MAX)
		return strcpy(out, "too many");
	return grouped(out, n);
}

/* Puts a share in percent, with one decimal. */
static void
put_share(struct table *t, uint64_t part, uint64_t all)
{
	char text[PERCENT];

	if (!all || part == UINT64_MAX || all == UINT64_MAX)
		table_skip(t, 1);
	else
		table_printf(t, "%s %%", percent_of(text, part, all, 1));
}

static void
put_number(struct table *t, uint64_t n)
{
	char text[32];

	table_text(t, number(text, n));
}

/* ---- one path ---- */

struct words {
	int at;
};

static void
put_word(struct words *w, const char *text)
{
	int n = (int)strlen(text);

	if (!w->at || w->at + 1 + n > WIDTH) {
		printf("%s%*s%s", w->at ? "\n" : "", INDENT, "", text);
		w->at = INDENT + n;
	} else {
		printf(" %s", text);
		w->at += 1 + n;
	}
}

static void
end_words(struct words *w)
{
	if (w->at)
		putchar('\n');
	w->at = 0;
}

static bool
follows(const struct view_place *l, const struct view_place *before)
{
	return l->line == before->line + 1 && !strcmp(l->file, before->file);
}

/* Prints lines; consecutive lines as ranges. */
static void
print_lines(struct pool *pool, const struct view_places *lines)
{
	struct words w = {0};
	const char *file = NULL;

	for (size_t i = 0, k; i < lines->n; i = k) {
		const struct view_place *l = &lines->at[i];
		const char *from;

		for (k = i + 1; k < lines->n && follows(&lines->at[k], &lines->at[k - 1]);)
			k++;
		from = file && !strcmp(file, l->file) ? "" : pool_printf(pool, "%s:", shown_path(l->file));
		file = l->file;
		put_word(&w, k - i == 1 ? pool_printf(pool, "%s%u", from, l->line)
		                        : pool_printf(pool, "%s%u-%u", from, l->line, lines->at[k - 1].line));
	}
	end_words(&w);
}

static void
print_blocks(struct pool *pool, const struct view_path *row, const struct path *path)
{
	const struct proc *p = row->of->proc;
	struct words w = {0};

	put_word(&w, "blocks");
	for (uint32_t i = 0; i < path->n; i++) {
		const struct arc *a = &p->arc[path->edge[i]];
		const char *how = view_path_edge_name(p, path, i);

		if (a->from < p->nblock)
			put_word(&w, pool_printf(pool, *how ? "%" PRIu32 " (%s)" : "%" PRIu32, a->from, how));
	}
	if (row->stopped)
		put_word(&w, pool_printf(pool, "%" PRIu32, path->end));
	end_words(&w);
}

/* The line of the call, or of the instruction that was not executed any more. */
static const char *
stop_place(struct pool *pool, const struct view_path *row, const struct path *path)
{
	uint32_t to = stopped_insns(row->of->proc, row->stopped) + (row->stopped->cut != NULL);
	struct view_places l = view_block_lines(pool, row->of->binary, row->of->proc, path->end, to);

	if (!l.n)
		return "";
	return pool_printf(pool, " (%s:%u)", shown_path(l.at[l.n - 1].file), l.at[l.n - 1].line);
}

static const struct column columns[] = {{"instructions", 18, 0}, {"share", 8, 0}, {"count", 16, 0}, {"length", 8, 0}, {NULL, 0, 0}};
static const struct column without[] = {{"instructions", 18, 0}, {"", 8, 0}, {"count", 16, 0}, {"length", 8, 0}, {NULL, 0, 0}};

void
paths_print_heading(bool share)
{
	struct table t = TABLE(columns);

	t.column = share ? columns : without;
	table_head(&t);
}

static void
print_numbers(const struct view_path *row, uint64_t all)
{
	struct table t = TABLE(columns);

	put_number(&t, row->insns);
	put_share(&t, row->insns, all);
	put_number(&t, row->count);
	put_number(&t, row->length);
	table_text(&t, shown_name(row->of->proc->name));
}

void
paths_print_row(const struct view_path *row, uint64_t all, bool source)
{
	struct pool *pool = pool_new();
	struct path path = view_path_edges(pool, row);
	const struct proc *p = row->of->proc;
	struct view_places lines = view_path_lines(pool, row, &path);

	print_numbers(row, all);
	if (!row->stopped && !row->many)
		printf(", path %" PRIu64, row->sum);
	printf("%s: begins %s, %s%s%s\n", row->exact ? "" : " (not exact)", view_path_begin(pool, p, &path),
	       row->stopped ? "" : "ends ", view_path_end(pool, row, &path), row->stopped ? stop_place(pool, row, &path) : "");
	if (source)
		paths_print_source(&lines, INDENT);
	else
		print_lines(pool, &lines);
	print_blocks(pool, row, &path);
	pool_free(pool);
}

/* ---- all ---- */

static void
print_total(uint64_t n, const char *what)
{
	static const struct column column[] = {{NULL, 18, 0}, {NULL, 0, 0}};
	struct table t = TABLE(column);

	put_number(&t, n);
	table_text(&t, what);
	table_end(&t);
}

static void
print_totals(const struct view_paths *r)
{
	char possible[32], share[32] = "";
	struct pool *pool = pool_new();

	if (r->possible && r->possible != UINT64_MAX)
		snprintf(share, sizeof share, " (%.3g %%)", 100.0 * (double)r->ran / (double)r->possible);
	if (r->insns_known)
		print_total(r->insns, "instructions");
	print_total(r->ran, pool_printf(pool, "%s ran, of %s in %zu %s%s", of_many(r->ran, "path", "paths"),
	                                number(possible, r->possible), r->proc.n,
	                                of_many(r->proc.n, "procedure", "procedures"), share));
	if (r->stopped.n)
		print_total(r->stopped.n, pool_printf(pool, "%s did not come to an end", of_many(r->stopped.n, "path", "paths")));
	if (r->under_way)
		print_total(r->under_way, pool_printf(pool, "%s under way on a path that is not known",
		                                      of_many(r->under_way, "activation was", "activations were")));
	if (r->inexact.n)
		print_total(r->inexact.n, pool_printf(pool, "%s counts are not exact",
		                                      of_many(r->inexact.n, "procedure's", "procedures'")));
	pool_free(pool);
}

static void
print_rows(const char *title, const struct view_path *row, size_t n, const struct view_paths *r, const struct paths_options *opt)
{
	size_t shown = table_rows(opt->top, n);

	if (!n)
		return;
	printf("\n%s\n", title);
	paths_print_heading(true);
	for (size_t i = 0; i < shown; i++)
		paths_print_row(&row[i], r->insns_known ? r->insns : 0, opt->source);
	if (shown < n)
		printf("  and %zu more (--top=0 shows all)\n", n - shown);
}

static void
print_coverage(const struct view_paths *r)
{
	static const struct column coverage[] = {{"paths that ran", 18, 0}, {"possible", 18, 0}, {"", 8, 0}, {NULL, 0, 0}};
	struct table t = TABLE(coverage);

	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < r->proc.n; i++) {
		const struct view_paths_proc *p = &r->proc.at[i];

		put_number(&t, p->ran);
		put_number(&t, p->possible);
		put_share(&t, p->ran, p->possible);
		table_text(&t, shown_name(p->proc->name));
		printf("%s%s", p->proc->paths->kind == CHORD_PATH_SELECTED ? " (of those of interest)" : "",
		       p->why ? " (not exact)" : "");
		table_end(&t);
	}
}

static void
print_branches(const struct view_paths *r)
{
	static const struct column branches[] = {{"taken", 18, 0}, {"not taken", 18, 0}, {NULL, 0, 0}};
	struct table t = TABLE(branches);
	struct view_path_branches b;
	size_t n;

	view_path_branches(&b, r);
	n = b.row.n;
	print_total(b.ran, n ? "ways at conditional jumps were taken" : "ways: there is no conditional jump");
	print_total(b.both, "conditional jumps went both ways");
	print_total(n, "conditional jumps in all");
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < n; i++) {
		const struct view_path_branch *row = &b.row.at[i];

		put_number(&t, row->taken);
		put_number(&t, row->fell);
		table_text(&t, shown_name(row->of->proc->name));
		printf(", block %" PRIu32, row->block);
		if (row->place.file)
			printf(" (%s:%u)", shown_path(row->place.file), row->place.line);
		printf("%s%s", row->of->proc->paths->kind == CHORD_PATH_SELECTED ? " (by paths of interest)" : "",
		       row->of->why ? " (not exact)" : "");
		table_end(&t);
	}
	free(b.row.at);
}

void
paths_print_named(const char *title, const char *of, const struct named *at, size_t n)
{
	if (n)
		printf("\n%s%s:\n", title, of);
	for (size_t i = 0; i < n; i++)
		printf("  %s: %s\n", plain_name(at[i].name), at[i].reason);
}

void
paths_print_doubts(const struct view_paths *r, const char *of)
{
	paths_print_named("Not measured", of, r->refused.at, r->refused.n);
	paths_print_named("Damaged", of, r->damaged.at, r->damaged.n);
	paths_print_named("Not exact in what is shown above", of, r->inexact.at, r->inexact.n);
	paths_print_named("Not known, and in no number above", of, r->unknown.at, r->unknown.n);
	print_run_notes(r->run);
}

void
paths_print(const struct view_paths *r, const struct paths_options *opt)
{
	print_run_profiles(r->run);
	print_totals(r);
	if (opt->coverage) {
		print_coverage(r);
	} else if (opt->branches) {
		print_branches(r);
	} else if (opt->def_use) {
		paths_print_def_use(r, opt->top);
	} else {
		print_rows("Paths", r->row.at, r->row.n, r, opt);
		print_rows("Paths that did not come to an end", r->stopped.at, r->stopped.n, r, opt);
	}
	paths_print_doubts(r, "");
}
