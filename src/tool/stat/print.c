/* SPDX-License-Identifier: MIT */
/* What chord stat prints. */
#include "tool/json.h"
#include "tool/stat/stat.h"
#include "tool/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct column columns[] = {{NULL, 26, 0}, {NULL, -18, 0}, {NULL, 0, 0}};

static struct bounds
of_event(const struct view_spread *r)
{
	return (struct bounds){r->median, r->median_most};
}

static struct bounds
of_thread(const struct tally_event *e)
{
	return (struct bounds){e->n, e->most};
}

/* Makes the table that all events are printed in. */
static struct table
table_of(const struct stat_result *s, FILE *to)
{
	struct table t = TABLE(columns);
	struct view_spread r;
	struct bounds b;

	t.to = to;
	for (uint32_t e = 0; e < s->runs.events.n; e++) {
		r = view_runs_spread(&s->runs, e);
		b = of_event(&r);
		if (!r.why)
			table_widen(&t, &b);
		for (size_t i = 0; s->opt->per_thread && i < s->runs.thread.n; i++) {
			b = of_thread(&s->runs.thread.at[i].at[e]);
			table_widen(&t, &b);
		}
	}
	return t;
}

static void
print_event(struct table *t, const struct stat_result *s, uint32_t event)
{
	struct view_spread r = view_runs_spread(&s->runs, event);
	const char *name = s->runs.events.at[event].name;
	struct bounds b = of_event(&r);
	char least[32], most[32];

	table_bounds(t, &b, !r.why);
	if (r.why) {
		fprintf(t->to, "  %s  (%s)", name, r.why);
		table_end(t);
		return;
	}
	table_text(t, name);
	if (s->runs.nrun > 1 && r.min == r.max_most)
		table_text(t, "+- 0");
	else if (s->runs.nrun > 1)
		table_printf(t, "%s to %s", grouped(least, r.min), r.max_most == COUNT_NO_BOUND ? "?" : grouped(most, r.max_most));
	table_end(t);
}

static void
print_thread(struct table *t, const struct view_thread *th, const char *name, uint32_t event, bool several)
{
	struct bounds b = of_thread(&th->at[event]);

	table_bounds(t, &b, !th->at[event].why);
	table_text(t, name);
	table_printf(t, "thread %u", th->number);
	if (several)
		fprintf(t->to, " of process %ju", (uintmax_t)th->pid);
	table_end(t);
}

static void
print_threads(struct table *t, const struct stat_result *s)
{
	bool several = false;

	for (size_t i = 1; i < s->runs.thread.n; i++)
		several |= s->runs.thread.at[i].pid != s->runs.thread.at[0].pid;
	for (uint32_t e = 0; e < s->runs.events.n && s->opt->per_thread; e++) {
		fputc('\n', t->to);
		for (size_t i = 0; i < s->runs.thread.n; i++)
			print_thread(t, &s->runs.thread.at[i], s->runs.events.at[e].name, e, several);
	}
}

static void
print_command(const struct stat_result *s, FILE *to)
{
	fprintf(to, "\n '");
	for (char **a = s->opt->argv; *a; a++)
		fprintf(to, "%s%s", a == s->opt->argv ? "" : " ", plain_text(*a));
	fputc('\'', to);
	if (s->runs.nrun > 1)
		fprintf(to, ", %u runs", s->runs.nrun);
	if (s->runs.processes > 1)
		fprintf(to, s->runs.nrun > 1 ? ", the last of %ju processes" : ", %ju processes", (uintmax_t)s->runs.processes);
	fprintf(to, ":\n\n");
}

static void
print_left_out(const struct stat_result *s, FILE *to)
{
	if (!s->runs.refused && !s->runs.unmeasured && !s->runs.stripped && !s->runs.library.n && !s->runs.unknown.n &&
	    !s->runs.missing.n)
		return;
	fprintf(to, "\n Not in these counts:\n");
	if (s->runs.refused)
		fprintf(to, "   %ju %s that Chord refused (`chord verify` lists them)\n", (uintmax_t)s->runs.refused,
		        s->runs.refused == 1 ? "procedure" : "procedures");
	if (s->runs.stripped)
		fprintf(to, "   what was not built with Chord: the program has no symbol table, so it cannot be told\n");
	else if (s->runs.unmeasured)
		fprintf(to, "   %ju %s not built with Chord (`chord verify` lists them)\n", (uintmax_t)s->runs.unmeasured,
		        s->runs.unmeasured == 1 ? "function" : "functions");
	for (size_t i = 0; i < s->runs.missing.n; i++)
		fprintf(to, "   the process of %s: %s\n", plain_text(s->runs.missing.at[i].name), s->runs.missing.at[i].reason);
	for (size_t i = 0; i < s->runs.library.n; i++)
		fprintf(to, "%s%s", i ? ", " : "   ", s->runs.library.at[i]);
	if (s->runs.library.n)
		fprintf(to, ": not built with Chord\n");
	for (size_t i = 0; i < s->runs.unknown.n; i++)
		fprintf(to, "   %s: not known: %s\n", plain_text(s->runs.unknown.at[i].name), s->runs.unknown.at[i].reason);
}

static void
print_notes(const struct stat_result *s, FILE *to)
{
	if (s->runs.note.n)
		fprintf(to, "\n Note:\n");
	for (size_t i = 0; i < s->runs.note.n; i++)
		fprintf(to, "   %s\n", s->runs.note.at[i]);
}

bool
stat_print(const struct stat_result *s, FILE *to)
{
	struct table t = table_of(s, to);

	print_command(s, to);
	for (uint32_t i = 0; i < s->runs.events.n; i++)
		print_event(&t, s, i);
	print_threads(&t, s);
	print_left_out(s, to);
	print_notes(s, to);
	fputc('\n', to);
	return !fflush(to) && !ferror(to);
}

/* ---- fields ---- */

static void
put_field(const struct stat_result *s, uint64_t n, bool known, FILE *to)
{
	if (known)
		fprintf(to, "%s%" PRIu64, s->opt->separator, n);
	else
		fprintf(to, "%s", s->opt->separator);
}

/* Prints what a reader has to know of the counts, as comments. */
static void
print_comments(const struct stat_result *s, FILE *to)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	if (!f)
		die("memory", "out of memory");
	print_left_out(s, f);
	print_notes(s, f);
	fclose(f);
	for (char *line = text, *rest; (line = strtok_r(line, "\n", &rest)); line = NULL)
		fprintf(to, "#%s\n", line);
	free(text);
}

/* The first three fields are those of perf stat. */
bool
stat_fields(const struct stat_result *s, FILE *to)
{
	for (uint32_t i = 0; i < s->runs.events.n; i++) {
		struct view_spread r = view_runs_spread(&s->runs, i);
		const char *x = s->opt->separator;

		if (!r.why && r.median == r.median_most)
			fprintf(to, "%" PRIu64, r.median);
		else
			fputs("<not counted>", to);
		fprintf(to, "%s%s%s", x, x, s->runs.events.at[i].name);
		put_field(s, r.min, !r.why, to);
		put_field(s, r.max_most, !r.why && r.max_most != COUNT_NO_BOUND, to);
		fputc('\n', to);
	}
	print_comments(s, to);
	return !fflush(to) && !ferror(to);
}

/* ---- JSON ---- */

static json_t *
number(uint64_t n, const struct view_spread *r)
{
	return js_number(n, !r->why);
}

static json_t *
spread_json(const struct view_spread *r)
{
	json_t *o = json_object();

	js_set(o, "min", number(r->min, r));
	js_set_bounds(o, "median", r->median, r->median_most, !r->why);
	js_set(o, "max", r->max_most == COUNT_NO_BOUND ? json_null() : number(r->max_most, r));
	return o;
}

static void
add_events(json_t *o, const struct stat_result *s)
{
	json_t *events = json_object(), *spreads = json_object(), *why = json_array();

	for (uint32_t i = 0; i < s->runs.events.n; i++) {
		const char *name = s->runs.events.at[i].name;
		struct view_spread r = view_runs_spread(&s->runs, i);

		js_set_bounds(events, name, r.median, r.median_most, !r.why);
		js_set(spreads, name, spread_json(&r));
		if (r.why)
			js_append(why, js_named(name, r.why));
	}
	js_set(o, "events", events);
	js_set(o, "spread", spreads);
	js_set(o, "unknown_events", why);
}

static json_t *
unmeasured(const struct stat_result *s)
{
	json_t *o = json_object();

	js_set(o, "refused", js_number(s->runs.refused, true));
	js_set(o, "functions", js_number(s->runs.unmeasured, !s->runs.stripped));
	js_set(o, "libraries", js_texts(s->runs.library.at, s->runs.library.n));
	return o;
}

static json_t *
arguments(const struct stat_result *s)
{
	json_t *a = json_array();

	for (char **p = s->opt->argv + 1; *p; p++)
		js_append(a, js_text(*p));
	return a;
}

static json_t *
threads(const struct stat_result *s)
{
	json_t *a = json_array();

	for (size_t i = 0; i < s->runs.thread.n; i++) {
		const struct view_thread *t = &s->runs.thread.at[i];
		json_t *o = json_object(), *events = json_object();

		for (uint32_t e = 0; e < s->runs.events.n; e++)
			js_set_bounds(events, s->runs.events.at[e].name, t->at[e].n, t->at[e].most, !t->at[e].why);
		js_set(o, "process", js_number(t->pid, true));
		js_set(o, "thread", js_number(t->number, true));
		js_set(o, "events", events);
		js_append(a, o);
	}
	return a;
}

bool
stat_json(const struct stat_result *s, FILE *to)
{
	json_t *o = js_document("chord stat");

	js_set(o, "program", js_text(s->opt->argv[0]));
	js_set(o, "arguments", arguments(s));
	js_set(o, "status", js_number((uint64_t)s->status, true));
	js_set(o, "runs", js_number(s->runs.nrun, true));
	js_set(o, "processes", js_number(s->runs.processes, true));
	add_events(o, s);
	if (s->opt->per_thread)
		js_set(o, "threads", threads(s));
	js_set(o, "not_counted", unmeasured(s));
	js_set(o, "missing", js_named_list(s->runs.missing.at, s->runs.missing.n));
	js_set(o, "unknown", js_named_list(s->runs.unknown.at, s->runs.unknown.n));
	js_set(o, "notes", js_texts(s->runs.note.at, s->runs.note.n));
	return js_print(o, to);
}
