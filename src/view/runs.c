/* SPDX-License-Identifier: MIT */
/* The events of one or more runs. */
#include "view/runs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS_MAX = 65536 };

/* ---- what one run adds ---- */

void
view_runs_note(struct view_runs *s, const char *text)
{
	for (size_t i = 0; i < s->note.n; i++)
		if (!strcmp(s->note.at[i], text))
			return;
	VEC_PUSH(s->note, pool_strdup(s->pool, text));
}

static void
add_unknown(struct view_runs *s, const struct named *u)
{
	for (size_t i = 0; i < s->unknown.n; i++)
		if (!strcmp(s->unknown.at[i].name, u->name) && !strcmp(s->unknown.at[i].reason, u->reason))
			return;
	VEC_PUSH(s->unknown, (struct named){pool_strdup(s->pool, u->name), pool_strdup(s->pool, u->reason)});
}

/* The folder in which launched programs leave their profiles is removed afterwards, so only the base name is kept. */
static void
add_missing(struct view_runs *s, const struct named *m)
{
	VEC_PUSH(s->missing, (struct named){pool_strdup(s->pool, base_name(m->name)), pool_strdup(s->pool, m->reason)});
}

static void
find_unmeasured(struct view_runs *s, struct run *r)
{
	struct unmeasured un = {0};

	s->library.n = 0;
	s->refused = 0;
	unmeasured_find_all(r, &un);
	for (size_t i = 0; i < r->binary.n; i++)
		s->refused += r->binary.at[i].map.nrefused;
	for (size_t i = 0; i < un.library.n; i++)
		VEC_PUSH(s->library, pool_strdup(s->pool, un.library.at[i]));
	s->unmeasured = un.symbol.n;
	s->stripped = un.stripped;
	unmeasured_free(&un);
}

/* A pattern that matched nothing is a mistake, or the program has nothing that it could match. */
static void
check_patterns(struct view_runs *s, struct run *r)
{
	struct tally t;

	tally_run(&t, r->pool, r, &s->events, true);
	for (uint32_t i = 0; i < s->events.n; i++)
		if (s->events.at[i].pattern && !t.at[i].n)
			view_runs_note(s, pool_printf(s->pool, "%s: nothing in the measured code matches", s->events.at[i].name));
}

static void
note_callees(struct view_runs *s, const struct tally *t)
{
	char n[32];

	if (t->through_pointers)
		view_runs_note(s, pool_printf(s->pool, "%s calls through pointers: whom they called is not known, "
		                        "they are in no call:...", grouped(n, t->through_pointers)));
	if (t->unnamed)
		view_runs_note(s, pool_printf(s->pool, "%s calls of procedures without a symbol: they are in no call:...",
		                        grouped(n, t->unnamed)));
}

static bool
has_event(const struct event_list *l, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!strcmp(l->at[i].name, name))
			return true;
	return false;
}

/* Is there a procedure that counts more than events? */
static bool
knows_more(const struct run *r)
{
	for (size_t i = 0; i < r->binary.n; i++)
		for (uint32_t k = 0; k < r->binary.at[i].map.nproc; k++)
			if (!r->binary.at[i].map.proc[k].refused && !counts_by_design(&r->binary.at[i].counts[k]))
				return true;
	return false;
}

/* Chooses the events that are known of the program: all plain events, and those that are counted. A table of costs is not read
 * again. */
static void
choose_events(struct view_runs *s, const struct run *r)
{
	struct event_totals counted = run_events(r);
	struct event_list *l = &s->events;

	l->at = pool_array(s->pool, EVENT_KINDS + counted.n, sizeof *l->at);
	for (unsigned i = 0; event_name(i) && knows_more(r); i++)
		l->at[l->n++] = (struct event){.kind = (uint8_t)i, .name = event_name(i)};
	for (uint32_t i = 0; i < counted.n; i++) {
		const char *name = pool_strdup(s->pool, counted.at[i].name), *why;
		struct event_list one;

		if (has_event(l, name))
			continue;
		if (str_starts(str_of(name), "cost:") || !event_list_read(s->pool, name, &one, &why))
			l->at[l->n++] = (struct event){.kind = EVENT_KINDS, .name = name};
		else
			l->at[l->n++] = one.at[0];
	}
}

void
view_runs_add(struct view_runs *s, struct run *r)
{
	struct tally t;

	if (!s->nrun && s->all_known)
		choose_events(s, r);
	if (!s->nrun)
		s->at = pool_array(s->pool, (size_t)s->events.n * s->room, sizeof *s->at);
	tally_run(&t, r->pool, r, &s->events, false);
	for (uint32_t i = 0; i < s->events.n; i++) {
		struct tally_event *e = &s->at[i * s->room + s->nrun];

		*e = t.at[i];
		e->why = e->why ? pool_strdup(s->pool, e->why) : NULL;
	}
	note_callees(s, &t);
	for (size_t i = 0; i < r->unknown.n; i++)
		add_unknown(s, &r->unknown.at[i]);
	for (size_t i = 0; i < r->missing.n; i++)
		add_missing(s, &r->missing.at[i]);
	for (size_t i = 0; i < r->note.n; i++)
		view_runs_note(s, r->note.at[i]);
	if (!s->nrun)
		check_patterns(s, r);
	s->processes = r->sum->nsummed;
	s->fewest = !s->nrun || s->processes < s->fewest ? s->processes : s->fewest;
	s->most = s->processes > s->most ? s->processes : s->most;
	find_unmeasured(s, r);
	s->nrun++;
}

/* ---- threads ---- */

static void
add_thread(struct view_runs *s, struct run *r, uint64_t pid, uint32_t number)
{
	struct view_thread th = {pid, number, pool_array(s->pool, s->events.n, sizeof *th.at)};
	struct tally t;
	bool any = false;

	tally_run(&t, r->pool, r, &s->events, false);
	for (uint32_t i = 0; i < s->events.n; i++) {
		th.at[i] = t.at[i];
		th.at[i].why = t.at[i].why ? pool_strdup(s->pool, t.at[i].why) : NULL;
		any |= t.at[i].n || t.at[i].why;
	}
	for (size_t i = 0; i < r->unknown.n; i++)
		add_unknown(s, &(struct named){pool_printf(s->pool, "%s, in thread %u of process %ju", r->unknown.at[i].name,
		                                           number, (uintmax_t)pid), r->unknown.at[i].reason});
	if (any)
		VEC_PUSH(s->thread, th);
}

/* Adds the threads of a process, each solved by itself. False: the error has been reported. */
bool
view_runs_add_threads(struct view_runs *s, struct run *r, const char *name)
{
	struct buf b = {0};
	struct profile *p;
	const char *why = NULL;
	uint32_t n = 1;

	if (!file_read(name, &b))
		why = strerror(errno);
	for (uint32_t i = 0; i < n && !why; i++) {
		uint64_t pid;

		p = profile_parse_region(r->pool, (struct str){b.at, b.n}, i, &why);
		if (!p)
			break;
		load_trace(r->pool, name, (uint64_t)i + 1, p);
		pid = p->pid;
		n = p->nregion;
		if (n > THREADS_MAX)
			why = "damaged: more threads than there can be";
		else if (!(p->flags & CHORD_PROFILE_PER_THREAD))
			why = "its threads cannot be told apart: it was built with an older Chord";
		run_resolve(r, p);
		if (!why)
			add_thread(s, r, pid, i);
	}
	buf_free(&b);
	if (why)
		say_error(name, "%s", why);
	return !why;
}

/* ---- over all runs ---- */

static int
by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

struct view_spread
view_runs_spread(const struct view_runs *s, uint32_t event)
{
	const struct tally_event *e = &s->at[event * s->room];
	uint64_t *v = xcalloc(s->nrun, sizeof *v), *most = xcalloc(s->nrun, sizeof *most);
	struct view_spread r = {0};

	for (uint32_t i = 0; i < s->nrun; i++) {
		v[i] = e[i].n;
		most[i] = e[i].most;
		if (!r.why)
			r.why = e[i].why;
	}
	qsort(v, s->nrun, sizeof *v, by_value);
	r.min = v[0];
	r.median = v[(s->nrun - 1) / 2];
	r.max = v[s->nrun - 1];
	qsort(most, s->nrun, sizeof *most, by_value);
	r.median_most = most[(s->nrun - 1) / 2];
	r.max_most = most[s->nrun - 1];
	free(v);
	free(most);
	return r;
}

static bool
differs(const struct view_runs *s, uint32_t event)
{
	struct view_spread r = view_runs_spread(s, event);

	return !r.why && r.min != r.max;
}

/* Notes in what the runs differ, if the program did not always do the same. */
void
view_runs_compare(struct view_runs *s)
{
	uint32_t differ = 0;

	for (uint32_t i = 0; i < s->events.n; i++)
		differ += differs(s, i);
	if (differ)
		view_runs_note(s, pool_printf(s->pool, "the runs did not do the same: %u of %u counts differ; shown are their "
		                                       "medians", differ, s->events.n));
	if (s->fewest != s->most)
		view_runs_note(s, pool_printf(s->pool, "the runs had from %ju to %ju processes", (uintmax_t)s->fewest,
		                        (uintmax_t)s->most));
}

void
view_runs_free(struct view_runs *s)
{
	event_list_free(&s->events);
	free(s->unknown.at);
	free(s->note.at);
	free(s->missing.at);
	free(s->library.at);
	free(s->thread.at);
}
