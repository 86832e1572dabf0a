/* SPDX-License-Identifier: MIT */
/* The counts of one moment: for each thread its counters, and by how much they are behind at its position and at interrupted
 * activations; for threads that have ended, what the profile has. */
#include "process/inspector.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRIES = 50, PATIENCE = 10 };

void
inspector_note(struct inspector *k, const char *text)
{
	for (size_t i = 0; i < k->m->note.n; i++)
		if (!strcmp(k->m->note.at[i], text))
			return;
	VEC_PUSH(k->m->note, text);
}

void
inspector_doubt(struct inspector *k, const char *text)
{
	k->unsettled = true;
	inspector_note(k, text);
}

/* ---- counters ---- */

/* Adds the numbers of a counter at a base. False: they are not all in memory. */
static bool
read_counter(const struct inspector *k, uint64_t base, const struct event_counter *c, uint64_t *sum)
{
	uint64_t number[CHORD_NUMBERS_MOST];

	if (!process_read(&k->process, c->addr + base, number, c->numbers * sizeof *number))
		return false;
	*sum += event_count(c, number, c->numbers);
	return true;
}

static bool
counters_at(const struct inspector *k, uint64_t base, uint64_t *sum)
{
	for (size_t i = 0; i < k->loaded.n; i++) {
		const struct loaded *l = &k->loaded.at[i];

		for (size_t c = 0; c < l->counted->counter.n; c++) {
			const struct counter *counter = &l->counted->counter.at[c];

			if (!read_counter(k, l->bias + base, counter->at, &sum[counter->event]))
				return false;
		}
	}
	return true;
}

/* Adds counters in memory that is not mapped from a file. */
static void
counters_outside(const struct inspector *k, uint64_t base, uint64_t *sum)
{
	for (size_t i = 0; i < k->loaded.n; i++) {
		const struct loaded *l = &k->loaded.at[i];

		for (size_t c = 0; c < l->counted->counter.n; c++) {
			const struct counter *counter = &l->counted->counter.at[c];
			const struct mapping *m = process_mapping(&k->process, counter->at->addr + l->bias + base);

			if (m && !m->ino)
				read_counter(k, l->bias + base, counter->at, &sum[counter->event]);
		}
	}
}

/* Adds the counters of all threads, also of those that have ended, as far as the file has them. */
static void
counters_in_profile(const struct inspector *k, uint64_t *sum)
{
	for (size_t i = 0; i < k->q->counted.n; i++) {
		const struct counted *c = k->q->counted.at[i];
		const struct module *m = profile_module(k->profile, image_build_id(c->binary.image));

		for (size_t j = 0; m && m->count && j < c->counter.n; j++) {
			const struct counter *of = &c->counter.at[j];
			uint64_t at = (of->at->addr - m->base) / 8;

			if (at < m->ncount)
				sum[of->event] += event_count(of->at, m->count + at, m->ncount - at);
		}
	}
}

/* The first of the threads that use the same counters. */
static const struct thread_state *
first_with(const struct inspector *k, const struct thread_state *s)
{
	const struct thread_state *first = k->state;

	while (!first->has_base || first->base != s->base)
		first++;
	return first;
}

static const char *
place_of(struct inspector *k, const struct thread *t)
{
	uint64_t pc = t->pc;
	const struct loaded *l = loaded_at(k->loaded.at, k->loaded.n, pc);
	const struct mapping *m = process_mapping(&k->process, pc);

	if (l)
		return parts_find(&l->counted->binary.parts, pc - l->bias)->proc->name;
	return !m || !*m->path ? "?" : base_name(pool_strdup(k->pool, m->path));
}

static void
add_to(uint64_t *to, const uint64_t *from, size_t n, uint64_t sign)
{
	for (size_t i = 0; i < n; i++)
		to[i] += sign * from[i];
}

static void
count_thread(struct inspector *k, const struct thread_state *s)
{
	size_t n = k->q->event.n;
	struct sample_thread t = {.tid = s->thread->tid, .place = place_of(k, s->thread)};
	const struct thread_state *first = s->has_base ? first_with(k, s) : NULL;

	add_to(k->m->total, s->behind, n, 1);
	if (first && first != s) {
		t.with = first->thread->tid;
	} else if (first) {
		t.count = pool_array(k->pool, n, sizeof *t.count);
		t.before = s->users ? s->users - 1 : 0;
		for (size_t i = 0; i < k->process.thread.n; i++)
			if (k->state[i].has_base && k->state[i].base == s->base)
				add_to(t.count, k->state[i].behind, n, 1);
		if (!counters_at(k, s->base, t.count))
			t.count = NULL;
	}
	if (t.count)
		add_to(k->m->rest, t.count, n, -1ull);
	/* Counters that are in no file are not in the profile, either. */
	if (first == s && s->base)
		counters_outside(k, s->base, k->m->total);
	VEC_PUSH(k->m->thread, t);
}

/* ---- activations that were abandoned where a signal had interrupted them ---- */

/* Is the interrupted activation still on a stack? A jump that leaves it is recorded before it is made. */
static bool
is_being_left(const struct inspector *k, const struct counted *c, uint64_t addr)
{
	for (size_t i = 0; i < k->interrupted.n; i++)
		if (k->interrupted.at[i].in == c && k->interrupted.at[i].addr == addr)
			return true;
	return false;
}

static void
count_interrupted(struct inspector *k)
{
	size_t n = k->q->event.n;
	uint64_t *sum = pool_array(k->pool, n, sizeof *sum);
	struct sample_thread *only = k->m->thread.n == 1 && k->region.n == 1 ? k->m->thread.at : NULL;

	for (size_t i = 0; i < k->profile->exit.n; i++) {
		const struct exits *x = &k->profile->exit.at[i];
		const struct module *m = &k->profile->module.at[x->module];
		struct counted *c = query_counted(k->q, (struct str){(const char *)m->id, m->nid});
		struct where w;

		if (!c || x->handler || counted_returns(c, x->addr))
			continue;
		k->being_left |= !x->reentry && is_being_left(k, c, x->addr - 1);
		inspector_behind(k, &(struct loaded){c, 0}, x->addr - 1, x->reentry ? -x->count : x->count, sum, &w);
	}
	add_to(k->m->total, sum, n, 1);
	if (only && only->count) {
		add_to(only->count, sum, n, 1);
		add_to(k->m->rest, sum, n, -1ull);
		return;
	}
	for (size_t e = 0; k->q->threads && e < n; e++)
		if (sum[e])
			inspector_note(k, "what activations had done that a signal interrupted, and that a jump gave up, "
			             "is in no thread's own counts");
}

/* ---- all of it ---- */

static void
count(struct inspector *k)
{
	size_t n = k->q->event.n;

	k->m->total = pool_array(k->pool, n, sizeof *k->m->total);
	k->m->rest = pool_array(k->pool, n, sizeof *k->m->rest);
	counters_in_profile(k, k->m->total);
	counters_at(k, 0, k->m->total);
	for (size_t i = 0; i < k->process.thread.n; i++)
		count_thread(k, &k->state[i]);
	count_interrupted(k);
	add_to(k->m->rest, k->m->total, n, 1);
}

/* Does the module have a counter of the event? */
static bool
counts(const struct counted *c, uint32_t event)
{
	for (size_t i = 0; i < c->counter.n; i++)
		if (c->counter.at[i].event == event)
			return true;
	return false;
}

static void
note_what_is_missing(struct inspector *k)
{
	const struct query *q = k->q;

	if (k->being_left)
		inspector_doubt(k, "a thread may just be jumping out of a signal's handler: what the activation that the signal "
		                   "interrupted had done may be there twice");
	if (k->live.owner)
		inspector_doubt(k, "the runtime was at work: counts that it was just moving may be missing or there twice");
	if (k->profile->lost)
		inspector_note(k, "threads could not be given counters of their own: counts may be short");
	if (k->profile->flags & CHORD_PROFILE_NOT_WATCHED)
		inspector_note(k, "threads may have been made that the runtime did not see: counts may be short");
	for (size_t i = 0; i < q->unknown.n; i++)
		inspector_note(k, pool_printf(k->pool, "%s is not counted: %s", q->unknown.at[i].name, q->unknown.at[i].reason));
	for (size_t i = 0; i < q->counted.n; i++) {
		const struct counted *c = q->counted.at[i];

		if (c->binary.map.nrefused)
			inspector_note(k, pool_printf(k->pool, "procedures of %s that were refused are not counted: %" PRIu32,
			                         c->binary.path, c->binary.map.nrefused));
		for (size_t n = 0; n < c->replaced.n; n++)
			inspector_note(k, c->replaced.at[n]);
		for (uint32_t e = 0; e < q->event.n; e++)
			if (!counts(c, e))
				inspector_note(k, pool_printf(k->pool, "%s does not count %s", c->binary.path, q->event.at[e]));
	}
	for (uint32_t e = 0; e < q->event.n; e++)
		if (k->m->total[e] > INT64_MAX)
			inspector_note(k, pool_printf(k->pool, "%s would be below 0: not known", q->event.at[e]));
}

/* Errors are not reported, because the process may just be ending. */
static bool
read_profile(struct inspector *k)
{
	const char *path = process_mappings(&k->process) ? live_profile_path(&k->process) : NULL, *why;
	struct buf b = {0};

	profile_free(k->profile);
	k->profile = path && file_read(path, &b) ? profile_parse(k->pool, (struct str){b.at, b.n}, &why) : NULL;
	buf_free(&b);
	return k->profile;
}

/* Takes a sample while all threads are stopped. False: something was missing, or threads had gone on. */
static bool
see(struct inspector *k, bool last)
{
	k->m->note.n = k->m->thread.n = k->interrupted.n = 0;
	k->unsettled = k->being_left = false;
	if (!read_profile(k))
		return false;
	query_modules(k->q, &k->process, k->profile);
	if (!inspector_read_control(k))
		return false;
	frames_close(&k->frames);
	k->frames = (struct frames){.process = &k->process, .loaded = k->loaded.at, .nloaded = k->loaded.n};
	inspector_read_threads(k);
	count(k);
	note_what_is_missing(k);
	return process_was_still(&k->process) && (!k->unsettled || last);
}

static void
not_permitted(const struct process *p)
{
	pid_t tracer = process_tracer(p);

	if (tracer)
		say_error(p->pid, "process %d traces it already", tracer);
	else
		say_error(p->pid, "not permitted: only root and its owner can look into a process");
}

static enum query_result
look(struct inspector *k)
{
	for (int i = 1; i <= TRIES; i++) {
		enum process_state state = process_stop(&k->process);
		bool seen = state == PROCESS_STILL && see(k, i > PATIENCE);

		process_go_on(&k->process);
		if (seen)
			return QUERY_DONE;
		if (state == PROCESS_GONE)
			return QUERY_ENDED;
		if (state == PROCESS_NOT_PERMITTED) {
			not_permitted(&k->process);
			return QUERY_FAILED;
		}
		usleep(1000);
	}
	if (k->live.magic == CHORD_LIVE_MAGIC && k->live.pid != (uint32_t)process_inner(&k->process, 0))
		say_error(k->q->pid, "it counts in the place of the process that made it, %" PRIu32, k->live.pid);
	else
		say_error(k->q->pid, "its counters cannot be read");
	return QUERY_FAILED;
}

enum query_result
query_sample(struct query *q, struct pool *pool, struct sample *m)
{
	struct inspector k = {.q = q, .pool = pool, .m = m};
	enum query_result result = QUERY_ENDED;

	*m = (struct sample){0};
	k.process = (struct process){.pool = pool, .machine = machine_of_host(), .pid = q->pid};
	result = look(&k);
	frames_close(&k.frames);
	process_close(&k.process);
	profile_free(k.profile);
	free(k.region.at);
	free(k.loaded.at);
	free(k.interrupted.at);
	return result;
}

void
sample_free(struct sample *m)
{
	free(m->thread.at);
	free(m->note.at);
}

/* ---- the query ---- */

bool
query_open(struct query *q, const char *pid, const char *wanted, bool threads)
{
	struct process p;
	const char *path;
	struct profile *profile = NULL;
	bool ok;

	*q = (struct query){.pool = pool_new(), .pid = pid, .wanted = wanted, .threads = threads};
	if (!process_open(&p, q->pool, pid))
		return false;
	path = live_profile_find(&p);
	profile = path ? live_profile_load(q->pool, &p, path) : NULL;
	if (profile)
		query_modules(q, &p, profile);
	if (profile && !profile->module.n)
		say_error(pid, "it has only just begun");
	ok = profile && profile->module.n && query_events(q, &p);
	if (ok)
		query_modules(q, &p, profile);
	profile_free(profile);
	process_close(&p);
	return ok;
}

void
query_close(struct query *q)
{
	for (size_t i = 0; i < q->counted.n; i++) {
		binary_close(&q->counted.at[i]->binary);
		free(q->counted.at[i]->counter.at);
		free(q->counted.at[i]->replaced.at);
	}
	free(q->counted.at);
	free(q->event.at);
	free(q->unknown.at);
	pool_free(q->pool);
}
