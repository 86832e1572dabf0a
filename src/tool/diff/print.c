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

const char *
change_text(char out[RANGE], const struct difference *r)
{
	char low[34], high[34];

	if (is_exact(r))
		return signed_text(out, r->before.least, r->after.least);
	snprintf(out, RANGE, "%s to %s", r->before.most == COUNT_NO_BOUND ? "?" : signed_text(low, r->before.most, r->after.least),
	         r->after.most == COUNT_NO_BOUND ? "?" : signed_text(high, r->before.least, r->after.most));
	return out;
}

const char *
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
widen(struct table *t, const struct difference *at, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		char change[RANGE];

		table_widen(t, &at[i].before);
		table_widen(t, &at[i].after);
		table_widen_to(t, change_text(change, &at[i]));
	}
}

static void
print_row(struct table *t, const struct difference *r)
{
	print_counts(t, r);
	table_text(t, r->name ? shown_name(r->name) : "");
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
		printf("\nNo %s's instruction count changed.\n", what);
		return;
	}
	widen(&t, at, n);
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

	widen(&t, d->found.total.at, d->found.total.n);
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < d->found.total.n; i++) {
		print_counts(&t, &d->found.total.at[i]);
		table_text(&t, d->found.total.at[i].name);
		table_end(&t);
	}
}

static void
print_side(const struct side *s, const char *what)
{
	printf("%s %s: %s%s\n", what, shown_path(diff_program(s)), plain_text(s->profile), s->stored ? " (chord stat)" : "");
	if (s->nmissing)
		printf("       %zu %s of it could not be used: %s counts are missing\n", s->nmissing,
		       s->nmissing == 1 ? "profile" : "profiles", s->nmissing == 1 ? "its" : "their");
}

/* The first few are enough to show what the reasons are. */
enum { FEW = 10 };

static void
print_left_out(const struct diff *d)
{
	size_t n = d->found.left_out.n;

	if (n)
		printf("\nNot compared, and in no sum above:\n");
	for (size_t i = 0; i < n && (i < FEW || !d->opt->top); i++)
		printf("  %s: %s\n", plain_name(d->found.left_out.at[i].name), d->found.left_out.at[i].reason);
	if (n > FEW && d->opt->top)
		printf("  ... and %zu more (--top=0 lists all)\n", n - FEW);
}

/* The notes on a side. */
static const char *const *
notes_of(const struct side *s, size_t *n)
{
	*n = s->stored ? s->note.n : s->run.note.n;
	return s->stored ? s->note.at : s->run.note.at;
}

static void
print_notes(const struct diff *d)
{
	static const char *const what[] = {"before", "after"};
	const struct side *a = &d->side[0], *b = &d->side[1];
	const char *const *note;
	size_t na, nb;

	notes_of(a, &na);
	notes_of(b, &nb);
	if (a->processes != b->processes || na || nb)
		printf("\nNote:\n");
	if (a->processes != b->processes)
		printf("  processes: %" PRIu64 " before, %" PRIu64 " after\n", a->processes, b->processes);
	for (int i = 0; i < 2; i++) {
		note = notes_of(&d->side[i], &na);
		for (size_t k = 0; k < na; k++)
			printf("  %s: %s\n", what[i], image_readable_text(note[k]));
	}
}

/* If there are several programs, prints each by itself. */
static void
print_binaries(const struct diff *d)
{
	static const struct column columns[] = {
		{"before", 18, 0}, {"after", 18, 0}, {"change", 18, 0}, {"", 9, 0}, {"program or library", 0, 0},
	};
	struct table t = TABLE(columns);

	if (d->found.binary.n < 2)
		return;
	widen(&t, d->found.binary.at, d->found.binary.n);
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < d->found.binary.n; i++) {
		print_counts(&t, &d->found.binary.at[i]);
		table_text(&t, d->found.binary.at[i].name);
		table_end(&t);
	}
}

static void
print_limits(const struct diff *d)
{
	char reached[GATE_REACHED];

	if (d->limit.n)
		printf("\nLimits:\n");
	for (size_t i = 0; i < d->limit.n; i++) {
		const struct diff_limit *l = &d->limit.at[i];

		printf("  %s: %s, limit %.*s %%: %s\n", gate_name(d->found.pool, l),
		       l->unknown ? l->unknown : gate_reached(reached, l), (int)strcspn(l->text, "%"), l->text,
		       l->unknown ? "not known" : l->exceeded ? "exceeded" : "kept");
	}
}

bool
diff_text(const struct diff *d)
{
	print_side(&d->side[0], "before");
	print_side(&d->side[1], "after ");
	print_totals(d);
	print_binaries(d);
	if (d->opt->lines)
		print_rows(d, d->found.line.at, d->found.line.n, "line");
	else if (d->found.by_function)
		print_rows(d, d->found.function.at, d->found.function.n, "function");
	print_limits(d);
	print_left_out(d);
	print_notes(d);
	return print_whole(NULL, stdout);
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
	size_t n;
	const char *const *note = notes_of(s, &n);

	js_set(o, "program", js_text(diff_program(s)));
	js_set(o, "profile", js_text(s->profile));
	if (!s->stored)
		js_set(o, "build_id", js_text(image_hex(s->run.pool, image_build_id(s->run.binary.at[0].image))));
	js_set(o, "processes", js_number(s->processes, true));
	js_set(o, "missing", js_number(s->nmissing, true));
	js_set(o, "notes", js_texts(note, n));
	return o;
}

static json_t *
limits(const struct diff *d)
{
	static const char *const of[] = {[LIMIT_EVENT] = "event", [LIMIT_FUNCTION] = "function", [LIMIT_PROGRAM] = "program"};
	json_t *a = json_array();

	for (size_t i = 0; i < d->limit.n; i++) {
		const struct diff_limit *l = &d->limit.at[i];
		const struct difference *m = l->most;
		json_t *o = json_object();

		js_set(o, "of", js_text(of[l->of]));
		js_set(o, "event", js_text(l->event));
		js_set(o, "limit_percent", json_real((double)l->millionths / 1e6));
		js_set(o, "reached_percent", l->unknown || !gate_is_exact(l) || (m && !l->before.least) ? json_null() :
		       json_real(m ? 100 * (double)(m->after.least - m->before.least) / (double)l->before.least : 0));
		js_set(o, "most", m && l->of != LIMIT_EVENT ? js_text(m->name) : json_null());
		js_set(o, "exceeded", l->unknown ? json_null() : json_boolean(l->exceeded));
		js_set(o, "unknown", l->unknown ? js_text(l->unknown) : json_null());
		js_append(a, o);
	}
	return a;
}

bool
diff_json(const struct diff *d, bool failed)
{
	json_t *o = js_document("chord diff");

	js_set(o, "before", side(&d->side[0]));
	js_set(o, "after", side(&d->side[1]));
	js_set(o, "failed", json_boolean(failed));
	js_set(o, "limits", limits(d));
	js_set(o, "totals", totals(d));
	if (d->found.binary.n)
		js_set(o, "programs", rows(d->found.binary.at, d->found.binary.n));
	if (d->found.by_function)
		js_set(o, "functions", rows(d->found.function.at, d->found.function.n));
	if (d->opt->lines)
		js_set(o, "lines", rows(d->found.line.at, d->found.line.n));
	js_set(o, "not_compared", js_named_list(d->found.left_out.at, d->found.left_out.n));
	return js_print_whole(o);
}
