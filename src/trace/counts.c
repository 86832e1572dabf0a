/* SPDX-License-Identifier: MIT */
/* How often each path ran: the tokens of a trace, counted into the counters of the profile. */
#include "trace/internal.h"

#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

struct count {
	struct pool *pool, *own;
	struct trace_file *file;
	struct profile *profile;
	uint64_t **counter;      /* by module of the trace: where the first token's is */
	size_t listed;           /* modules that were there, as marks in the stream have it */
	bool fits;
	uint64_t foreign;        /* slots that are of no module */
	uint64_t done, total;    /* bytes */
};

static struct module *
module_of(const struct count *c, const struct chord_trace_module *t)
{
	return &c->profile->module.at[c->profile->number.at[t->module]];
}

static const char *
make_counters(struct count *c, const struct chord_trace_module *t, uint64_t **counter)
{
	const struct module *m;

	if (t->module >= c->profile->number.n)
		return "damaged: it names a module that the profile does not have";
	m = module_of(c, t);
	if (t->first < m->base || t->first - m->base > 8 * m->ncount || t->bytes > 8 * m->ncount - (t->first - m->base))
		return "damaged: it has counters of a module where the profile has none";
	*counter = pool_array(c->own, t->bytes / 8 + 1, 8);
	return NULL;
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

static void
take_slot(struct count *c, uint32_t slot)
{
	uint32_t i;

	if (!slot)
		return;
	if (CHORD_SLOT_KIND(slot)) {
		if (CHORD_SLOT_KIND(slot) == CHORD_MARK_MODULES)
			c->listed = CHORD_SLOT_PAYLOAD(slot);
		return;
	}
	i = trace_module_of(c->file, slot, c->listed);
	if (i == UINT32_MAX)
		c->foreign++;
	else
		c->fits &= checked_add(&c->counter[i][(slot - c->file->module.at[i].low) / 8], 1);
}

static const char *
take_stream(struct count *c, size_t stream)
{
	struct slots *r = slots_new(c->file, stream);
	const char *why;

	c->listed = 0;
	while (slots_next(r)) {
		progress("counting what was traced", (c->done + r->done) >> 20, c->total >> 20);
		for (size_t i = 0; i < r->n; i++)
			take_slot(c, r->slot[i]);
	}
	c->done += r->done;
	why = r->fault;
	slots_free(r);
	return why;
}

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
	if (!why && c->foreign)
		why = pool_printf(c->pool, "%" PRIu64 " of its paths are of no module that it lists", c->foreign);
	return why ? why : c->fits ? NULL : "its counts do not fit 64 bits";
}

/* What is not whole changes nothing. */
const char *
trace_add_counts(struct pool *pool, struct trace_file *f, struct profile *p, uint64_t stream)
{
	struct count c = {.pool = pool, .own = pool_new(), .file = f, .profile = p, .fits = true};
	const char *why = trace_short(pool, f);

	c.counter = pool_array(c.own, f->module.n, sizeof *c.counter);
	for (size_t i = 0; i < f->module.n && !why; i++)
		why = make_counters(&c, &f->module.at[i], &c.counter[i]);
	if (!why)
		why = take_streams(&c, stream);
	for (size_t i = 0; i < f->module.n && !why; i++)
		if (!add_counters(&c, &f->module.at[i], c.counter[i]))
			why = "its counts do not fit 64 bits";
	pool_free(c.own);
	return why;
}

bool
trace_is_of(const struct trace_file *f, const struct profile *p)
{
	return p->origin.n == 1 && p->origin.at[0].id == f->id && p->origin.at[0].id2 == f->id2;
}

const char *
trace_fill(struct pool *pool, const char *profile, struct profile *p, uint64_t stream)
{
	const char *why = NULL, *name = trace_name(pool, profile);
	struct trace_file *f;

	if (p->flags & (CHORD_PROFILE_MERGED | CHORD_PROFILE_SNAPSHOT) || access(name, F_OK))
		return NULL;
	f = trace_open(pool, name, &why);
	if (f)
		why = trace_is_of(f, p) ? trace_add_counts(pool, f, p, stream) : "it belongs to another profile";
	trace_close(f);
	return why;
}
