/* SPDX-License-Identifier: MIT */
/* Two runs side by side, as text and as JSON. */
#include "tool/diff/diff.h"
#include "tool/json.h"
#include "tool/table.h"

#include <inttypes.h>
#include <string.h>

/* "+1,234", "-1,234" or "0". */
static const char *
signed_text(char out[34], uint64_t before, uint64_t after)
{
	char n[32];

	if (after == before)
		return "0";
	grouped(n, after > before ? after - before : before - after);
	snprintf(out, 34, "%c%s", after > before ? '+' : '-', n);
	return out;
}

static bool
is_exact(const struct difference *r)
{
	return bounds_exact(&r->before) && bounds_exact(&r->after);
}

static const char *
change_text(char out[RANGE], const struct difference *r)
{
	char low[34], high[34];

	if (is_exact(r))
		return signed_text(out, r->before.least, r->after.least);
	snprintf(out, RANGE, "%s to %s", r->before.most == COUNT_NO_BOUND ? "?" : signed_text(low, r->before.most, r->after.least),
	         r->after.most == COUNT_NO_BOUND ? "?" : signed_text(high, r->before.least, r->after.most));
	return out;
}

static const char *
percent_text(char out[32], const struct difference *r)
{
	double change = (double)r->after.least - (double)r->before.least;

	if (!r->was || !r->is)
		return r->was ? "gone" : "new";
	if (!r->before.least || r->before.least == r->after.least || !is_exact(r))
		return "";
	snprintf(out, 32, "%+.2f%%", 100 * change / (double)r->before.least);
	return out;
}

static void
print_counts(struct table *t, const struct difference *r)
{
	char change[RANGE], percent[32];

	table_bounds(t, &r->before, true);
	table_bounds(t, &r->after, true);
	table_text(t, change_text(change, r));
	table_text(t, percent_text(percent, r));
}

static void
print_row(struct table *t, const struct difference *r)
{
	print_counts(t, r);
	table_text(t, r->name ? image_readable(r->name) : "");
	fputs(r->name ? "  " : "", stdout);
	if (*r->file && r->line)
		printf("%s:%u", shown_path(r->file), r->line);
	else
		printf("%s%s", shown_path(r->file), r->name ? "" : ":?");
	table_end(t);
}

static void
print_rows(const struct diff *d, const struct difference *at, size_t all, const char *what)
{
	const struct column columns[] = {{"before", 18, 0}, {"after", 18, 0}, {"change", 18, 0}, {"", 9, 0}, {what, 0, 0}};
	size_t n = table_rows(d->opt->top, all);
	struct table t = TABLE(columns);

	if (!all) {
		printf("\nNo %s has another number of instructions.\n", what);
		return;
	}
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < n; i++)
		print_row(&t, &at[i]);
	table_more(&t, n, all, NULL);
}

static void
print_totals(const struct diff *d)
{
	static const struct column columns[] = {{"before", 18, 0}, {"after", 18, 0}, {"change", 18, 0}, {NULL, 9, 0}, {NULL, 0, 0}};
	struct table t = TABLE(columns);

	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < d->found.total.n; i++) {
		print_counts(&t, &d->found.total.at[i]);
		table_text(&t, d->found.total.at[i].name);
		table_end(&t);
	}
}

static const char *
program_of(const struct side *s)
{
	return s->program ? s->program : s->run.binary.at[0].path;
}

static void
print_side(const struct side *s, const char *what)
{
	printf("%s %s: %s\n", what, shown_path(program_of(s)), s->profile);
}

/* The first few are enough to show what it is about. */
enum { FEW = 10 };

static void
print_left_out(const struct diff *d)
{
	size_t n = d->found.left_out.n;

	if (n)
		printf("\nNot compared, and in no sum above:\n");
	for (size_t i = 0; i < n && (i < FEW || !d->opt->top); i++)
		printf("  %s: %s\n", image_readable(d->found.left_out.at[i].name), d->found.left_out.at[i].reason);
	if (n > FEW && d->opt->top)
		printf("  ... and %zu more (--top=0 lists all)\n", n - FEW);
}

static void
print_notes(const struct diff *d)
{
	static const char *const what[] = {"before", "after"};
	const struct run *a = &d->side[0].run, *b = &d->side[1].run;
	bool any = a->sum->nsummed != b->sum->nsummed || a->note.n || b->note.n;

	if (any)
		printf("\nNote:\n");
	if (a->sum->nsummed != b->sum->nsummed)
		printf("  before are %" PRIu64 " processes, after %" PRIu64 "\n", a->sum->nsummed, b->sum->nsummed);
	for (int i = 0; i < 2; i++)
		for (size_t k = 0; k < d->side[i].run.note.n; k++)
			printf("  %s: %s\n", what[i], image_readable_text(d->side[i].run.note.at[k]));
}

bool
diff_text(const struct diff *d)
{
	print_side(&d->side[0], "before");
	print_side(&d->side[1], "after ");
	print_totals(d);
	if (d->opt->lines)
		print_rows(d, d->found.line.at, d->found.line.n, "line");
	else if (d->found.by_function)
		print_rows(d, d->found.function.at, d->found.function.n, "function");
	print_left_out(d);
	print_notes(d);
	return !fflush(stdout) && !ferror(stdout);
}

/* ---- JSON ---- */

static json_t *
change(uint64_t before, uint64_t after)
{
	bool grew = after >= before;
	uint64_t by = grew ? after - before : before - after;

	return by > INT64_MAX ? json_null() : json_integer(grew ? (json_int_t)by : -(json_int_t)by);
}

static json_t *
counts(json_t *o, const struct difference *r)
{
	js_set_total(o, "before", &r->before, true);
	js_set_total(o, "after", &r->after, true);
	js_set(o, "change", is_exact(r) ? change(r->before.least, r->after.least) : json_null());
	if (is_exact(r))
		return o;
	js_set(o, "change_at_least", change(r->before.most, r->after.least));
	js_set(o, "change_at_most", r->after.most == COUNT_NO_BOUND ? json_null() : change(r->before.least, r->after.most));
	return o;
}

static json_t *
totals(const struct diff *d)
{
	json_t *o = json_object();

	for (size_t i = 0; i < d->found.total.n; i++)
		js_set(o, d->found.total.at[i].name, counts(json_object(), &d->found.total.at[i]));
	return o;
}

static json_t *
rows(const struct difference *at, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		json_t *o = json_object();

		if (at[i].name)
			js_set_function(o, "name", at[i].name);
		js_set(o, "file", js_text(at[i].file));
		js_set(o, "line", js_number(at[i].line, at[i].line > 0));
		js_set(o, "state", js_text(!at[i].was ? "new" : !at[i].is ? "gone" : "changed"));
		js_append(a, counts(o, &at[i]));
	}
	return a;
}

static json_t *
side(const struct side *s)
{
	json_t *o = json_object();

	js_set(o, "program", js_text(program_of(s)));
	js_set(o, "profile", js_text(s->profile));
	js_set(o, "build_id", js_text(image_hex(s->run.pool, image_build_id(s->run.binary.at[0].image))));
	js_set(o, "processes", js_number(s->run.sum->nsummed, true));
	js_set(o, "notes", js_texts(s->run.note.at, s->run.note.n));
	return o;
}

bool
diff_json(const struct diff *d, bool failed)
{
	json_t *o = json_object();

	js_set(o, "before", side(&d->side[0]));
	js_set(o, "after", side(&d->side[1]));
	js_set(o, "failed", json_boolean(failed));
	js_set(o, "totals", totals(d));
	if (d->found.by_function)
		js_set(o, "functions", rows(d->found.function.at, d->found.function.n));
	if (d->opt->lines)
		js_set(o, "lines", rows(d->found.line.at, d->found.line.n));
	js_set(o, "not_compared", js_named_list(d->found.left_out.at, d->found.left_out.n));
	return js_print(o, stdout);
}
