/* SPDX-License-Identifier: MIT */
/* Two runs side by side for reviewers of a change: Markdown, GitHub's annotations, GitLab's code quality report. */
#include "tool/diff/diff.h"
#include "tool/json.h"
#include "tool/table.h"

#include <inttypes.h>
#include <string.h>

static const struct difference *
instructions(const struct diff *d)
{
	for (size_t i = 0; i < d->found.total.n; i++)
		if (!strcmp(d->found.total.at[i].name, "instructions"))
			return &d->found.total.at[i];
	return NULL;
}

/* The change of a function's least count, as a share of all instructions executed before, with its sign. */
static double
share_of_all(const struct diff *d, const struct difference *r)
{
	const struct difference *all = instructions(d);
	double change = (double)r->after.least - (double)r->before.least;

	return all && all->before.least ? 100 * change / (double)all->before.least : 0;
}

static bool
grew(const struct difference *r)
{
	return r->after.least > r->before.most;
}

static bool
is_exceeded_by(const struct diff *d, const struct difference *f)
{
	for (size_t i = 0; i < d->limit.n; i++)
		if (gate_is_exceeded_by(&d->limit.at[i], f))
			return true;
	return false;
}

/* Appends a sentence such as "parse(): 1,000 to 1,031 instructions, +3.10%, +0.52% of all". */
static void
put_sentence(const struct diff *d, const struct difference *f, struct buf *out)
{
	char before[RANGE], after[RANGE], percent[32];
	const char *name = image_readable(f->name), *text = percent_text(percent, f);

	buf_printf(out, "%s%s: %s to %s instructions", name, strchr(name, '(') ? "" : "()",
	           range(before, f->before.least, f->before.most), range(after, f->after.least, f->after.most));
	if (*text)
		buf_printf(out, ", %s", text);
	buf_printf(out, ", %+.2f%% of all", share_of_all(d, f));
}

/* ---- Markdown ---- */

static void
put_cells(const struct difference *r)
{
	char before[RANGE], after[RANGE], change[RANGE], percent[32];

	printf(" | %s | %s | %s | %s |", range(before, r->before.least, r->before.most),
	       range(after, r->after.least, r->after.most), change_text(change, r), percent_text(percent, r));
}

static void
put_rows(const struct difference *at, size_t n, const char *what)
{
	printf("\n| %s | before | after | change | |\n|:--|--:|--:|--:|--:|\n", what);
	for (size_t i = 0; i < n; i++) {
		fputs("| ", stdout);
		put_escaped(at[i].name);
		put_cells(&at[i]);
		putchar('\n');
	}
}

static void
put_functions(const struct diff *d)
{
	size_t all = d->found.function.n, n = table_rows(d->opt->top, all);

	if (!all) {
		printf("\nNo function's instruction count changed.\n");
		return;
	}
	printf("\n| function | before | after | change | | of all |\n|:--|--:|--:|--:|--:|--:|\n");
	for (size_t i = 0; i < n; i++) {
		const struct difference *f = &d->found.function.at[i];

		fputs("| ", stdout);
		put_escaped(image_readable(f->name));
		put_cells(f);
		printf(" %+.2f%% |\n", share_of_all(d, f));
	}
	if (n < all)
		printf("\nand %zu more\n", all - n);
}

static void
put_limits(const struct diff *d)
{
	char reached[GATE_REACHED];

	if (d->limit.n)
		putchar('\n');
	for (size_t i = 0; i < d->limit.n; i++) {
		const struct diff_limit *l = &d->limit.at[i];

		fputs(l->exceeded ? "- **" : "- ", stdout);
		put_escaped(gate_name(d->found.pool, l));
		printf(": %s, limit %.*s %%%s\n", l->unknown ? l->unknown : gate_reached(reached, l), (int)strcspn(l->text, "%"),
		       l->text, l->unknown ? ": not known**" : l->exceeded ? ": exceeded**" : "");
	}
}

bool
diff_markdown(const struct diff *d)
{
	const struct difference *t = instructions(d);
	char percent[32], change[RANGE];

	if (t)
		printf("### Instructions: %s %s\n", change_text(change, t), percent_text(percent, t));
	else
		printf("### Events\n");
	put_limits(d);
	put_rows(d->found.total.at, d->found.total.n, "in all");
	if (d->found.binary.n > 1)
		put_rows(d->found.binary.at, d->found.binary.n, "program or library");
	if (d->found.by_function)
		put_functions(d);
	if (d->side[0].nmissing || d->side[1].nmissing)
		printf("\n**Profiles could not be used, and their counts are missing: %zu of before, %zu of after**\n",
		       d->side[0].nmissing, d->side[1].nmissing);
	if (d->found.left_out.n)
		printf("\nNot compared, and in no sum above: %zu (`chord diff --top=0` names them)\n", d->found.left_out.n);
	return print_whole(NULL, stdout);
}

/* ---- GitHub: workflow commands on standard output ---- */

/* Commas and colons would end a property. */
static void
put_command_text(const char *s, bool property)
{
	for (; *s; s++)
		if (strchr("%\r\n", *s) || (property && strchr(",:", *s)))
			printf("%%%02X", (unsigned char)*s);
		else
			putchar(*s);
}

static void
put_annotation(const struct diff *d, const struct difference *f)
{
	struct buf text = {0};

	put_sentence(d, f, &text);
	buf_char(&text, 0);
	printf("::%s file=", is_exceeded_by(d, f) ? "error" : "warning");
	put_command_text(path_from_here(f->file), true);
	if (f->line)
		printf(",line=%u", f->line);
	fputs(",title=more instructions::", stdout);
	put_command_text(text.at, false);
	putchar('\n');
	buf_free(&text);
}

/* Puts limits that nothing else reports: limits of programs, and limits that cannot be checked. */
static void
put_limit_command(const struct diff *d, const struct diff_limit *l)
{
	char reached[GATE_REACHED];

	if (!l->unknown && !(l->of == LIMIT_PROGRAM && l->exceeded))
		return;
	fputs("::error title=chord diff::", stdout);
	put_command_text(gate_name(d->found.pool, l), false);
	fputs(": ", stdout);
	put_command_text(l->unknown ? l->unknown : gate_reached(reached, l), false);
	printf(", limit %.*s %%25: %s\n", (int)strcspn(l->text, "%"), l->text, l->unknown ? "not known" : "exceeded");
}

static void
put_event(const struct diff *d, const struct difference *t)
{
	char before[RANGE], after[RANGE], percent[32];
	bool exceeded = false;

	for (size_t i = 0; i < d->limit.n; i++)
		exceeded |= d->limit.at[i].of == LIMIT_EVENT && d->limit.at[i].exceeded && !strcmp(d->limit.at[i].event, t->name);
	printf("::%s title=chord diff::", exceeded ? "error" : "notice");
	put_command_text(t->name, false);
	printf(": %s to %s", range(before, t->before.least, t->before.most), range(after, t->after.least, t->after.most));
	if (*percent_text(percent, t)) {
		fputs(", ", stdout);
		put_command_text(percent, false);
	}
	putchar('\n');
}

bool
diff_github(const struct diff *d)
{
	size_t shown = 0;

	for (size_t i = 0; i < d->found.total.n; i++)
		if (!strcmp(d->found.total.at[i].name, "instructions") || !d->found.by_function)
			put_event(d, &d->found.total.at[i]);
	for (size_t i = 0; i < d->limit.n; i++)
		if (d->limit.at[i].of == LIMIT_EVENT && d->found.by_function && strcmp(d->limit.at[i].event, "instructions"))
			for (size_t k = 0; k < d->found.total.n; k++)
				if (!strcmp(d->found.total.at[k].name, d->limit.at[i].event))
					put_event(d, &d->found.total.at[k]);
	for (size_t i = 0; i < d->found.function.n && (!d->opt->top || shown < d->opt->top); i++) {
		if (!grew(&d->found.function.at[i]))
			continue;
		put_annotation(d, &d->found.function.at[i]);
		shown++;
	}
	for (size_t i = 0; i < d->limit.n; i++)
		put_limit_command(d, &d->limit.at[i]);
	if (d->side[0].nmissing || d->side[1].nmissing)
		printf("::error title=chord diff::profiles could not be used, and their counts are missing: %zu of before, "
		       "%zu of after\n", d->side[0].nmissing, d->side[1].nmissing);
	if (d->found.left_out.n)
		printf("::warning title=chord diff::not compared, and in no sum: %zu (chord diff --top=0 names them)\n",
		       d->found.left_out.n);
	return print_whole(NULL, stdout);
}

/* ---- GitLab: a list of issues as Code Climate has them ---- */

/* A function has the same fingerprint in each run, so GitLab can tell what is new. */
static json_t *
fingerprint(struct pool *pool, const struct difference *f)
{
	const char *key = pool_printf(pool, "chord diff\n%s\n%s", f->name, f->file);

	return js_text(pool_printf(pool, "%016" PRIx64 "%016" PRIx64, str_hash(str_of(key)), str_hash(str_of(key + 1))));
}

static json_t *
issue(const struct diff *d, const struct difference *f)
{
	json_t *o = json_object(), *location = json_object(), *lines = json_object();
	struct buf text = {0};

	put_sentence(d, f, &text);
	buf_char(&text, 0);
	js_set(o, "type", js_text("issue"));
	js_set(o, "check_name", js_text("chord diff"));
	js_set(o, "description", js_text(text.at));
	js_set(o, "categories", json_pack("[s]", "Performance"));
	js_set(o, "severity", js_text(is_exceeded_by(d, f) ? "major" : "minor"));
	js_set(o, "fingerprint", fingerprint(d->found.pool, f));
	js_set(lines, "begin", js_number(f->line ? f->line : 1, true));
	js_set(location, "path", js_text(path_from_here(f->file)));
	js_set(location, "lines", lines);
	js_set(o, "location", location);
	buf_free(&text);
	return o;
}

bool
diff_gitlab(const struct diff *d)
{
	json_t *a = json_array();
	size_t shown = 0;

	for (size_t i = 0; i < d->found.function.n && (!d->opt->top || shown < d->opt->top); i++) {
		if (!grew(&d->found.function.at[i]))
			continue;
		js_append(a, issue(d, &d->found.function.at[i]));
		shown++;
	}
	return js_print_whole(a);
}
