/* SPDX-License-Identifier: MIT */
/* How often each path ran: the tokens of a trace are counted into the counters of the profile. The meaning of a witness or of a
 * word of outcomes depends on what comes before it, so traces that have some are followed as replay.c does. */
#include "trace/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

struct count {
	struct pool *pool, *own;
	struct trace_file *file;
	struct profile *profile;
	uint64_t **counter;      /* by module of the trace: the counter of the module's first token */
	size_t listed;           /* modules that were loaded, according to marks in the stream */
	uint32_t low, bytes;     /* the tokens of the last token's module; bytes 0: no module */
	uint64_t *at;            /* the counters of that module */
	uint64_t done, total;    /* bytes */
	struct replay_code *code; /* for following witnesses */
	uint64_t **followed;     /* by module of the profile: counters of what was followed */
	uint64_t unknown, partial;
};

static struct module *
module_of(const struct count *c, const struct chord_trace_module *t)
{
	return &c->profile->module.at[c->profile->number.at[t->module]];
}

static bool
add_counters(struct count *c, const struct chord_trace_module *t, const uint64_t *counter)
{
	struct module *m = module_of(c, t);
	uint64_t first = (t->first - m->base) / 8;
	bool fits = true;

	if (!m->count)
		m->count = pool_array(c->profile->pool, m->ncount, 8);
	for (uint64_t i = 0; i < t->bytes / 8; i++)
		fits &= count_add(&m->count[first + i], counter[i]);
	m->filled = true;
	return fits;
}

/* Takes a mark, or a token of another module than the last token's. False: the token is of no module. */
static bool
take_other(struct count *c, uint32_t slot)
{
	uint32_t i;

	if (CHORD_SLOT_KIND(slot) == CHORD_MARK_MODULES) {
		c->listed = CHORD_SLOT_PAYLOAD(slot);
		c->bytes = 0;
	}
	if (!slot || CHORD_SLOT_KIND(slot))
		return true;
	i = trace_module_of(c->file, slot, c->listed);
	if (i == UINT32_MAX)
		return false;
	c->low = c->file->module.at[i].low;
	c->bytes = c->file->module.at[i].bytes;
	c->at = c->counter[i];
	c->at[(slot - c->low) / 8]++;
	return true;
}

static bool
take_segment(struct count *c, const struct slots *r)
{
	for (size_t i = 0; i < r->n; i++) {
		uint32_t slot = r->slot[i];

		if (slot && !CHORD_SLOT_KIND(slot) && slot - c->low < c->bytes)
			c->at[(slot - c->low) / 8]++;
		else if (!take_other(c, slot))
			return false;
	}
	return true;
}

static const char *
take_stream(struct count *c, size_t stream)
{
	struct slots *r = slots_new(c->file, stream, NULL);
	const char *why;

	c->listed = c->bytes = 0;
	while (slots_next(r)) {
		progress("counting what was traced", (c->done + r->done) >> 20, c->total >> 20);
		if (!take_segment(c, r))
			slots_spoil(r, "damaged: a path in it is of no module that is listed");
	}
	c->done += r->done;
	why = r->fault;
	slots_free(r);
	return why;
}

/* ---- with witnesses, or words ---- */

static bool
has_witnesses(const struct map *map)
{
	for (uint32_t i = 0; map && i < map->nproc; i++)
		if (!map->proc[i].refused && map->proc[i].paths && paths_are_followed(map->proc[i].paths))
			return true;
	return false;
}

/* A path that is reported in pieces is counted with its last piece. */
static void
count_path(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	struct count *c = r->ctx;
	const struct module *m = &c->profile->module.at[p->module];
	uint64_t at = (p->proc->counters - m->base) / 8 + p->proc->paths->table + p->sum;

	(void)from;
	if (to.block == p->n && !p->partial && at < m->ncount)
		c->followed[p->module][at]++;
}

static const char *
follow_stream(struct count *c, size_t stream)
{
	struct replay r = {.file = c->file, .code = c->code, .ctx = c, .runs = count_path};
	const char *why = replay_stream(&r, stream);

	c->unknown += r.unknown;
	c->partial += r.partial;
	return why;
}

static const char *
follow_streams(struct count *c, uint64_t stream)
{
	const char *why = NULL;

	for (size_t i = 0; i < c->file->stream.n && !why; i++)
		if (!stream || stream == (uint64_t)c->file->stream.at[i].number + 1)
			why = follow_stream(c, i);
	if (!why && c->unknown)
		why = pool_printf(c->pool, "%" PRIu64 " of its paths are not known: their code is not at hand", c->unknown);
	if (!why && c->partial)
		why = pool_printf(c->pool, "of %" PRIu64 " of its ways the beginning is not in it", c->partial);
	return why;
}

static const char *
add_followed(struct count *c, uint64_t stream, const struct map *const *map)
{
	struct profile *p = c->profile;
	const char *why;
	bool fits = true;

	c->code = replay_code_new(c->file, p, map);
	c->followed = pool_array(c->own, p->module.n, sizeof *c->followed);
	for (size_t i = 0; i < p->module.n; i++)
		c->followed[i] = pool_array(c->own, p->module.at[i].ncount + 1, 8);
	why = follow_streams(c, stream);
	for (size_t i = 0; i < p->module.n && !why; i++) {
		struct module *m = &p->module.at[i];

		if (!m->count)
			m->count = pool_array(p->pool, m->ncount, 8);
		for (uint64_t k = 0; k < m->ncount; k++)
			fits &= count_add(&m->count[k], c->followed[i][k]);
		m->filled = m->followed = true;
	}
	replay_code_free(c->code);
	return why ? why : fits ? NULL : "its counts do not fit 64 bits";
}

/* ---- */

static const char *
take_streams(struct count *c, uint64_t stream)
{
	const char *why = NULL;

	for (size_t i = 0; i < c->file->stream.n; i++)
		c->total += trace_stream_bytes(&c->file->stream.at[i]);
	for (size_t i = 0; i < c->file->stream.n && !why; i++)
		if (!stream || stream == (uint64_t)c->file->stream.at[i].number + 1)
			why = take_stream(c, i);
	progress("counting what was traced", c->total >> 20, c->total >> 20);
	return why;
}

/* NULL, or what is wrong with the list of modules: it has to have all counters of each module. */
static const char *
modules_fit(const struct trace_file *f, const struct profile *p)
{
	for (size_t i = 0; i < f->module.n; i++) {
		const struct chord_trace_module *t = &f->module.at[i];
		const struct module *m = t->module < p->number.n ? &p->module.at[p->number.at[t->module]] : NULL;

		if (!m)
			return "damaged: it names a module that the profile does not have";
		if (t->first != m->base || t->bytes != (uint32_t)(8 * m->ncount))
			return "damaged: its counters of a module are not those of the profile";
	}
	return NULL;
}

/* A module that the trace does not name was gone when the trace began, as in a forked child, and has done nothing since. */
static void
fill_others(struct profile *p)
{
	for (size_t i = 0; i < p->module.n; i++) {
		struct module *m = &p->module.at[i];

		if (m->filled)
			continue;
		if (!m->count)
			m->count = pool_array(p->pool, m->ncount, 8);
		m->filled = m->followed = true;
	}
}

/* A trace that is not whole changes no counts. */
const char *
trace_add_counts(struct pool *pool, struct trace_file *f, struct profile *p, uint64_t stream, const struct map *const *map)
{
	struct count c = {.pool = pool, .own = pool_new(), .file = f, .profile = p};
	const char *why = trace_short(pool, f);
	bool follows = false;

	for (size_t i = 0; map && i < p->module.n; i++)
		follows |= has_witnesses(map[i]);
	if (!why && follows) {
		why = add_followed(&c, stream, map);
		pool_free(c.own);
		return why;
	}
	c.counter = pool_array(c.own, f->module.n, sizeof *c.counter);
	if (!why)
		why = modules_fit(f, p);
	for (size_t i = 0; i < f->module.n && !why; i++)
		c.counter[i] = pool_array(c.own, f->module.at[i].bytes / 8 + 1, 8);
	if (!why)
		why = take_streams(&c, stream);
	for (size_t i = 0; i < f->module.n && !why; i++)
		if (!add_counters(&c, &f->module.at[i], c.counter[i]))
			why = "its counts do not fit 64 bits";
	if (!why)
		fill_others(p);
	pool_free(c.own);
	return why;
}

const char *
trace_why_not(const struct trace_file *f, const struct profile *p)
{
	if (p->origin.n != 1 || p->origin.at[0].id != f->id || p->origin.at[0].id2 != f->id2)
		return "it belongs to another profile";
	return p->pid == f->pid ? modules_fit(f, p) : "damaged: it is of another process than its profile";
}

/* Are the streams of the threads that waited as long as they were when the profile was written? Then these threads have not gone
 * on. */
static bool
still_wait(struct trace_file *f, const struct waits *w)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < f->stream.n; i++)
		if ((uint64_t)f->stream.at[i].number + 1 != w->by)
			sum += CHORD_WEIGHT(slots_count(f, i), 8ull * f->stream.at[i].number);
	return sum == w->sum;
}

const char *
trace_fill(struct pool *pool, const char *profile, struct profile *p, uint64_t stream, const struct map *const *map)
{
	const char *why = NULL, *name = trace_name(pool, profile);
	struct trace_file *f;

	if (p->flags & (CHORD_PROFILE_MERGED | CHORD_PROFILE_SNAPSHOT) || access(name, F_OK))
		return NULL;
	f = trace_open(pool, name, &why);
	if (f)
		why = trace_why_not(f, p);
	if (f && !why)
		why = trace_add_counts(pool, f, p, stream, map);
	if (f && !why && p->waits.traced && still_wait(f, &p->waits))
		profile_end_waiting(p);
	trace_close(f);
	return why;
}
