/* SPDX-License-Identifier: MIT */
/* chord query: the exact events of a running process. */
#include "process/query.h"
#include "tool/json.h"
#include "tool/options.h"
#include "tool/print.h"
#include "tool/table.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OPT_WATCH = 256, OPT_THREAD, OPT_JSON };

static const struct argp_option options[] = {
	{"event", 'e', "LIST", 0, "The events, with commas between them (default: all that the process counts)", 0},
	{"watch", OPT_WATCH, "SECONDS", OPTION_ARG_OPTIONAL, "A line every so many seconds (default: 1), with what has been added, "
	 "until the process ends", 0},
	{"thread", OPT_THREAD, NULL, 0, "Also of each thread", 0},
	{"json", OPT_JSON, NULL, 0, "Print JSON; with --watch an object on each line", 0},
	{0},
};

static const char doc[] =
	"Print how many events a running process has counted, exact to the instruction at which each of its threads stands.\v"
	"The process has to be built with -fchord=events. All its threads are stopped for the moment; nothing is changed in "
	"it, and its system calls and signals are not disturbed.\n\n"
	"What is not known is said below the counts.\n\n"
	"Exit status: 0 done, 1 the process cannot be queried, 2 wrong usage.";

struct args {
	struct pool *pool;
	const char *pid, *events;
	double watch;            /* 0: once */
	bool thread, json;
	VEC(char *) printed;     /* notes that have been printed */
	uint64_t *last;          /* last totals, by event */
};

static double
parse_seconds(const char *text, struct argp_state *state)
{
	char *end;
	double s = text ? strtod(text, &end) : 1;

	if (text && (end == text || *end || !(s >= 0.001) || s > 1e8))
		argp_error(state, "--watch=%s: a number of seconds is at least 0.001", text);
	return s;
}

static error_t
parse_query(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'e':
		a->events = a->events ? pool_printf(a->pool, "%s,%s", a->events, arg) : arg;
		break;
	case OPT_WATCH:
		a->watch = parse_seconds(arg, state);
		break;
	case OPT_THREAD:
		a->thread = true;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case ARGP_KEY_ARG:
		if (a->pid)
			argp_error(state, "one process at a time");
		if (!*arg || arg[strspn(arg, "0123456789")] || strlen(arg) > 9 || !atoi(arg))
			argp_error(state, "%s: not the number of a process", arg);
		a->pid = arg;
		break;
	case ARGP_KEY_END:
		if (!a->pid)
			argp_error(state, "which process?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ---- text ---- */

enum { COLUMN = 20 };

/* A table with a column for each event, and maybe a column before and one after them. */
static struct table
event_table(const struct query *q, struct pool *pool, const char *before, bool added, const char *behind)
{
	struct column *c = pool_array(pool, 2 * q->event.n + 2, sizeof *c);
	size_t n = 0;

	if (before)
		c[n++] = (struct column){before, 12, 0};
	for (size_t e = 0; e < q->event.n; e++) {
		c[n] = (struct column){q->event.at[e], n ? COLUMN : COLUMN + 1, 0};
		n++;
		if (added)
			c[n++] = (struct column){"", COLUMN, 0};
	}
	if (behind)
		c[n++] = (struct column){behind, 0, 0};
	return (struct table){.to = stdout, .column = c, .n = n};
}

static void
put_number(struct table *t, uint64_t n, const char *before)
{
	char number[32];

	table_printf(t, "%s%s", before, n > INT64_MAX ? "?" : grouped(number, n));
}

static void
print_notes(struct args *a, const struct sample *m)
{
	bool first = true;

	for (size_t i = 0; i < m->note.n; i++) {
		bool known = false;

		for (size_t k = 0; k < a->printed.n; k++)
			known |= !strcmp(a->printed.at[k], m->note.at[i]);
		if (known)
			continue;
		printf("%s  %s\n", first ? "\nNote:\n" : "", image_readable_text(m->note.at[i]));
		first = false;
		VEC_PUSH(a->printed, xstrdup(m->note.at[i]));
	}
	if (!first && a->watch)
		putchar('\n');
}

static void
print_totals(const struct query *q, const struct sample *m)
{
	static const struct column columns[] = {{NULL, 26, 0}, {NULL, 0, 0}};
	struct table t = TABLE(columns);

	for (size_t e = 0; e < q->event.n; e++) {
		put_number(&t, m->total[e], "");
		table_text(&t, q->event.at[e]);
		table_end(&t);
	}
}

static void
print_row(struct table *t, const char *name, const uint64_t *count, size_t n, const char *what)
{
	table_text(t, name);
	for (size_t e = 0; e < n; e++)
		put_number(t, count ? count[e] : UINT64_MAX, "");
	table_text(t, what);
	table_end(t);
}

static void
print_thread(const struct query *q, struct table *table, const struct sample_thread *t)
{
	struct buf what = {0};
	char name[16];

	snprintf(name, sizeof name, "%d", t->tid);
	buf_printf(&what, "%s", plain_name(t->place));
	if (t->before)
		buf_printf(&what, ", includes %" PRIu32 " ended thread%s", t->before, t->before == 1 ? "" : "s");
	else if (t->with)
		buf_printf(&what, ", counts with %d", t->with);
	else if (!t->count)
		buf_printf(&what, ", does not count by itself");
	print_row(table, name, t->count, q->event.n, what.at);
	buf_free(&what);
}

static void
print_threads(const struct query *q, const struct sample *m)
{
	struct pool *pool = pool_new();
	struct table t = event_table(q, pool, "thread", false, "stands in");

	table_head(&t);
	for (size_t i = 0; i < m->thread.n; i++)
		print_thread(q, &t, &m->thread.at[i]);
	print_row(&t, "others", m->rest, q->event.n, "");
	print_row(&t, "all", m->total, q->event.n, "");
	pool_free(pool);
}

/* The first line has the names above the columns. */
static void
print_line(struct args *a, const struct query *q, const struct sample *m)
{
	struct pool *pool = pool_new();
	struct table t = event_table(q, pool, NULL, true, NULL);

	if (!a->last)
		table_head(&t);
	for (size_t e = 0; e < q->event.n; e++) {
		put_number(&t, m->total[e], "");
		if (a->last)
			put_number(&t, m->total[e] - a->last[e], "+");
		else
			table_skip(&t, 1);
	}
	table_end(&t);
	pool_free(pool);
}

static void
print_text(struct args *a, const struct query *q, const struct sample *m)
{
	if (a->thread)
		print_threads(q, m);
	else if (a->watch)
		print_line(a, q, m);
	else
		print_totals(q, m);
	print_notes(a, m);
	if (a->thread && a->watch)
		putchar('\n');
}

/* ---- JSON ---- */

static json_t *
counts_json(const struct query *q, const uint64_t *count)
{
	json_t *o = json_object();

	for (size_t e = 0; e < q->event.n; e++)
		js_set(o, q->event.at[e], js_number(count ? count[e] : 0, count));
	return o;
}

static json_t *
threads_json(const struct query *q, const struct sample *m)
{
	json_t *all = json_array();

	for (size_t i = 0; i < m->thread.n; i++) {
		const struct sample_thread *t = &m->thread.at[i];
		json_t *o = json_object();

		js_set(o, "thread", js_number((uint64_t)t->tid, true));
		js_set(o, "events", counts_json(q, t->count));
		js_set(o, "counts_with", js_number((uint64_t)t->with, t->with));
		js_set(o, "threads_before", js_number(t->before, true));
		js_set_function(o, "place", t->place);
		js_append(all, o);
	}
	return all;
}

static void
print_json(const struct args *a, const struct query *q, const struct sample *m)
{
	json_t *o = js_document("chord query");

	js_set(o, "process", js_number((uint64_t)atol(q->pid), true));
	js_set(o, "events", counts_json(q, m->total));
	if (a->thread) {
		js_set(o, "threads", threads_json(q, m));
		js_set(o, "others", counts_json(q, m->rest));
	}
	js_set(o, "notes", js_texts(m->note.at, m->note.n));
	if (a->watch)
		js_line(o, stdout);
	else
		js_print(o, stdout);
}

/* ---- */

/* False: this was the last time. */
static bool
once(struct args *a, struct query *q, int *status)
{
	struct pool *pool = pool_new();
	struct sample m;
	enum query_result r = query_sample(q, pool, &m);

	*status = r == QUERY_FAILED || (r == QUERY_ENDED && !a->last) ? EXIT_NO : 0;
	if (r == QUERY_ENDED && !a->last)
		say_error(a->pid, "it has ended");
	if (r == QUERY_DONE) {
		if (a->json)
			print_json(a, q, &m);
		else
			print_text(a, q, &m);
		if (!print_whole(NULL, stdout))
			*status = EXIT_NO;
		if (!a->last)
			a->last = pool_array(q->pool, q->event.n, sizeof *a->last);
		memcpy(a->last, m.total, q->event.n * sizeof *a->last);
	}
	sample_free(&m);
	pool_free(pool);
	return r == QUERY_DONE && !*status && a->watch;
}

/* Waits by the clock, so the time that a query takes does not add up. */
static void
wait_until(struct timespec *next, double seconds)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	next->tv_sec += (time_t)seconds;
	next->tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
	if (next->tv_nsec >= 1000000000) {
		next->tv_sec++;
		next->tv_nsec -= 1000000000;
	}
	if (next->tv_sec < now.tv_sec)
		*next = now;
	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL);
}

int
cmd_query(int argc, char **argv)
{
	static const struct argp argp = {options, parse_query, "PID", doc, print_names, NULL, NULL};
	struct args a = {.pool = pool_new()};
	struct query q;
	struct timespec next;
	int status = EXIT_NO;

	options_read(&argp, argc, argv, 0, &a);
	clock_gettime(CLOCK_MONOTONIC, &next);
	if (query_open(&q, a.pid, a.events, a.thread))
		while (once(&a, &q, &status))
			wait_until(&next, a.watch);
	query_close(&q);
	for (size_t i = 0; i < a.printed.n; i++)
		free(a.printed.at[i]);
	free(a.printed.at);
	pool_free(a.pool);
	return status;
}
