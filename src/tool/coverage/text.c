/* SPDX-License-Identifier: MIT */
/* Coverage as text, and as Markdown. */
#include "tool/coverage/coverage.h"
#include "tool/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *
share_text(char out[SHARE], const struct coverage_share *s)
{
	uint64_t all = coverage_of(s), ran = s->n[VIEW_RAN];

	if (!all)
		snprintf(out, SHARE, "-");
	else if (s->n[VIEW_MAYBE])
		snprintf(out, SHARE, "%.2f-%.2f", percent_shown(ran, all, 0.01), percent_shown(ran + s->n[VIEW_MAYBE], all, 0.01));
	else
		snprintf(out, SHARE, "%.2f", percent_shown(ran, all, 0.01));
	return out;
}

void
put_ranges(struct buf *out, struct coverage_lines lines, enum view_ran ran)
{
	bool any = false;

	for (size_t i = 0; i < lines.n; i++) {
		size_t first = i;

		if (lines.at[i].ran != ran)
			continue;
		while (i + 1 < lines.n && lines.at[i + 1].ran == ran &&
		       (!lines.some || lines.at[i + 1].line == lines.at[i].line + 1))
			i++;
		buf_printf(out, "%s%u", any ? ", " : "", lines.at[first].line);
		if (i > first)
			buf_printf(out, "-%u", lines.at[i].line);
		any = true;
	}
}

/* ---- text ---- */

static void
print_name(const char *name)
{
	print_source(str_of(name));
}

static void
put_share(struct table *t, const struct coverage_share *s)
{
	char share[SHARE];

	table_text(t, share_text(share, s));
	table_printf(t, "%" PRIu64 "/%" PRIu64, s->n[VIEW_RAN], coverage_of(s));
}

static void
put_row(struct table *t, const struct coverage_share share[COVERAGE_KINDS], const char *name)
{
	for (int k = 0; k < COVERAGE_KINDS; k++)
		put_share(t, &share[k]);
	table_text(t, name);
	table_end(t);
}

/* Is anything not known? Then shares need more room. */
static bool
has_maybe(const struct coverage *c)
{
	for (int k = 0; k < COVERAGE_KINDS; k++)
		if (c->share[k].n[VIEW_MAYBE])
			return true;
	return false;
}

static void
print_table(const struct coverage *c)
{
	int wide = has_maybe(c) ? 13 : 8;
	const struct column columns[] = {
		{"lines %", wide, 0}, {"", -11, 0}, {"branches %", wide > 10 ? wide : 10, 0}, {"", -11, 0},
		{"functions %", wide > 11 ? wide : 11, 0}, {"", -9, 0},
		{"blocks %", wide, 0}, {"", -11, 0}, {"file", 0, 0},
	};
	struct table t = TABLE(columns);

	putchar('\n');
	table_head(&t);
	put_row(&t, c->share, "in all");
	for (size_t i = 0; i < c->file.n; i++)
		put_row(&t, c->file.at[i].share, shown_path(c->file.at[i].name));
}

/* Lines of one state, file by file. */
static void
print_lines(const struct coverage *c, enum view_ran ran, const char *title)
{
	bool any = false;

	for (size_t i = 0; i < c->file.n; i++) {
		const struct coverage_file *f = &c->file.at[i];
		struct buf b = {0};

		put_ranges(&b, (struct coverage_lines){f->line.at, f->line.n, false}, ran);
		if (b.n && !any)
			printf("\n%s:\n", title);
		if (b.n) {
			fputs("  ", stdout);
			print_name(shown_path(f->name));
			printf(": %.*s\n", (int)b.n, b.at);
		}
		any |= b.n;
		buf_free(&b);
	}
}

static void
print_changed_lines(const struct changed *ch, enum view_ran ran, const char *title)
{
	struct str text;

	if (ch->share.n[ran])
		printf("  %s:\n", title);
	for (size_t i = 0; i < ch->file.n && ch->share.n[ran]; i++) {
		const struct changed_file *f = &ch->file.at[i];

		for (size_t k = 0; k < f->code.n; k++) {
			if (f->code.at[k].ran != ran)
				continue;
			fputs("    ", stdout);
			print_name(f->name);
			printf(":%u", f->code.at[k].line);
			if (view_source_line(f->file->name, f->code.at[k].line, &text)) {
				fputs(": ", stdout);
				print_source(text);
			}
			putchar('\n');
		}
	}
}

uint64_t
changed_lines(const struct changed *ch)
{
	uint64_t n = 0;

	for (size_t i = 0; i < ch->file.n; i++)
		n += ch->file.at[i].line.n;
	return n;
}

static void
print_change(const struct coverage_tool *t)
{
	const struct changed *ch = &t->changed;
	uint64_t all = coverage_of(&ch->share);
	char share[SHARE];
	bool any = false;

	printf("\nOf %" PRIu64 " changed lines %" PRIu64 " have code, and %" PRIu64 " of these ran", changed_lines(ch), all,
	       ch->share.n[VIEW_RAN]);
	if (all)
		printf(" (%s %%)", share_text(share, &ch->share));
	printf("\n");
	print_changed_lines(ch, VIEW_NEVER, "never ran");
	print_changed_lines(ch, VIEW_MAYBE, "not known");
	for (size_t i = 0; i < ch->file.n; i++) {
		if (!ch->file.at[i].unplaced || !ch->file.at[i].line.n)
			continue;
		fputs("  not known, for there is no line information: ", stdout);
		print_name(ch->file.at[i].name);
		putchar('\n');
	}
	for (size_t i = 0; i < ch->file.n; i++) {
		if (ch->file.at[i].file || !ch->file.at[i].line.n)
			continue;
		fputs(any ? ", " : "  in none of these programs, or left out: ", stdout);
		print_name(ch->file.at[i].name);
		any = true;
	}
	if (any)
		putchar('\n');
}

/* Counts files whose code has no lines: shares of lines do not contain them. put: prints their names, too. */
static size_t
without_lines(const struct coverage *c, void (*put)(const char *name))
{
	size_t n = 0;

	for (size_t i = 0; i < c->file.n; i++) {
		if (!coverage_lacks_lines(&c->file.at[i]))
			continue;
		if (put && n)
			fputs(", ", stdout);
		if (put)
			put(shown_path(c->file.at[i].name));
		n++;
	}
	return n;
}

static uint64_t
excluded_lines(const struct coverage *c)
{
	uint64_t n = 0;

	for (size_t i = 0; i < c->file.n; i++)
		n += c->file.at[i].excluded;
	return n;
}

static void
print_left_out(const struct coverage_tool *t)
{
	uint64_t excluded = excluded_lines(&t->c);

	if (t->c.left_out.n || excluded || t->refused || without_lines(&t->c, NULL))
		putchar('\n');
	if (t->c.left_out.n)
		printf("Left out: %zu %s with code (--json names them; --include='*' has all)\n", t->c.left_out.n,
		       t->c.left_out.n == 1 ? "file" : "files");
	if (excluded)
		printf("Left out: %" PRIu64 " %s that comments exclude (--no-markers has them)\n", excluded,
		       excluded == 1 ? "line" : "lines");
	if (t->refused)
		printf("Not known: %" PRIu64 " %s Chord refused (`chord verify` lists them)\n", t->refused,
		       t->refused == 1 ? "procedure that" : "procedures that");
	if (without_lines(&t->c, NULL)) {
		fputs("Not known: lines of files without line information (built without -g?): ", stdout);
		without_lines(&t->c, print_name);
		putchar('\n');
	}
}

bool
coverage_text(const struct coverage_tool *t)
{
	print_run_profiles(t->run);
	print_table(&t->c);
	if (t->opt->uncovered) {
		print_lines(&t->c, VIEW_NEVER, "Never ran");
		print_lines(&t->c, VIEW_MAYBE, "Not known whether it ran");
	}
	if (t->opt->diff)
		print_change(t);
	print_left_out(t);
	print_run_unknown(t->run);
	print_run_notes(t->run);
	return print_whole(NULL, stdout);
}

/* ---- Markdown ---- */

static void
put_cells(const struct coverage_share share[COVERAGE_KINDS])
{
	char text[SHARE];

	for (int k = 0; k < COVERAGE_KINDS; k++) {
		uint64_t all = coverage_of(&share[k]);

		printf(" %s%s (%" PRIu64 "/%" PRIu64 ") |", share_text(text, &share[k]), all ? " %" : "", share[k].n[VIEW_RAN],
		       all);
	}
	putchar('\n');
}

/* Puts a file with its lines, if there are any. */
static void
put_item(const char *name, const struct buf *lines)
{
	if (!lines->n)
		return;
	fputs("- ", stdout);
	put_escaped(name);
	printf(": %.*s\n", (int)lines->n, lines->at);
}

static void
put_changed_ranges(const struct changed *ch, enum view_ran ran, const char *title)
{
	if (ch->share.n[ran])
		printf("\n%s:\n\n", title);
	for (size_t i = 0; i < ch->file.n && ch->share.n[ran]; i++) {
		const struct changed_file *f = &ch->file.at[i];
		struct buf b = {0};

		put_ranges(&b, (struct coverage_lines){f->code.at, f->code.n, true}, ran);
		put_item(f->name, &b);
		buf_free(&b);
	}
}

/* Lines of one state, file by file. */
static void
put_all_ranges(const struct coverage *c, enum view_ran ran, const char *title)
{
	if (c->share[COVERAGE_LINES].n[ran])
		printf("\n%s:\n\n", title);
	for (size_t i = 0; i < c->file.n; i++) {
		const struct coverage_file *f = &c->file.at[i];
		struct buf b = {0};

		put_ranges(&b, (struct coverage_lines){f->line.at, f->line.n, false}, ran);
		put_item(shown_path(f->name), &b);
		buf_free(&b);
	}
}

static void
put_change(const struct changed *ch)
{
	static const char *const title[] = {
		"Changed, and there is no line information of it", "Changed, and in none of these programs, or left out",
	};
	char share[SHARE];

	printf("\n**%" PRIu64 " of %" PRIu64 "** changed lines with code ran", ch->share.n[VIEW_RAN], coverage_of(&ch->share));
	printf(coverage_of(&ch->share) ? " (%s %%).\n" : ".\n", share_text(share, &ch->share));
	put_changed_ranges(ch, VIEW_NEVER, "Changed and never ran");
	put_changed_ranges(ch, VIEW_MAYBE, "Changed, and not known whether it ran");
	for (int absent = 0; absent < 2; absent++) {
		bool any = false;

		for (size_t i = 0; i < ch->file.n; i++) {
			const struct changed_file *f = &ch->file.at[i];

			if (!f->line.n || !(absent ? !f->file : f->unplaced))
				continue;
			if (!any)
				printf("\n%s:\n\n", title[absent]);
			fputs("- ", stdout);
			put_escaped(f->name);
			putchar('\n');
			any = true;
		}
	}
}

static void
put_named(const struct named *at, size_t n, const char *title)
{
	size_t group, shown;

	if (n)
		printf("\n%s:\n\n", title);
	for (size_t i = 0; i < n; i += group) {
		group = print_group(at + i, n - i, &shown);
		for (size_t k = i; k < i + shown; k++) {
			fputs("- ", stdout);
			put_escaped(image_readable(at[k].name));
			fputs(": ", stdout);
			put_escaped(at[k].reason);
			putchar('\n');
		}
		if (shown < group)
			printf("- and %zu more, for the same reason (`--json` names all)\n", group - shown);
	}
}

/* Puts what is in no number above. */
static void
put_not_known(const struct coverage_tool *t)
{
	uint64_t excluded = excluded_lines(&t->c);

	if (t->c.left_out.n)
		printf("\nFiles with code that are left out: %zu\n", t->c.left_out.n);
	if (excluded)
		printf("\nLines that comments exclude: %" PRIu64 "\n", excluded);
	if (t->refused)
		printf("\nNot known, for Chord refused them: %" PRIu64 " procedures (`chord verify` lists them)\n", t->refused);
	if (without_lines(&t->c, NULL)) {
		fputs("\nNot known, for there is no line information: lines of ", stdout);
		without_lines(&t->c, put_escaped);
		putchar('\n');
	}
	put_named(t->run->left_out.at, t->run->left_out.n, "Profiles that are left out");
	put_named(t->run->unknown.at, t->run->unknown.n, "Not known, and in no sum above");
	for (size_t i = 0; i < t->run->note.n; i++) {
		fputs(i ? "- " : "\nNote:\n\n- ", stdout);
		put_escaped(image_readable_text(t->run->note.at[i]));
		putchar('\n');
	}
}

bool
coverage_markdown(const struct coverage_tool *t)
{
	char share[SHARE];

	printf("### Coverage: %s%s\n", share_text(share, &t->c.share[COVERAGE_LINES]),
	       coverage_of(&t->c.share[COVERAGE_LINES]) ? " % of lines" : " lines");
	if (t->opt->diff)
		put_change(&t->changed);
	printf("\n| file | lines | branches | functions | blocks |\n|:--|--:|--:|--:|--:|\n| **in all** |");
	put_cells(t->c.share);
	for (size_t i = 0; i < t->c.file.n; i++) {
		fputs("| ", stdout);
		put_escaped(shown_path(t->c.file.at[i].name));
		fputs(" |", stdout);
		put_cells(t->c.file.at[i].share);
	}
	if (t->opt->uncovered) {
		put_all_ranges(&t->c, VIEW_NEVER, "Never ran");
		put_all_ranges(&t->c, VIEW_MAYBE, "Not known whether it ran");
	}
	put_not_known(t);
	return print_whole(NULL, stdout);
}
