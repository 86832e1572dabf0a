/* SPDX-License-Identifier: MIT */
/* Activations that were under way when a process died, from the stacks in its core file. */
#include "process/core.h"

#include <string.h>

/* The stack address from which on the frames of a thread are already among the exits. */
static uint64_t
recorded_from(const struct post *s, uint32_t tid)
{
	if (s->live.dying == (int32_t)tid)
		return s->live.dying_sp;
	for (size_t i = 0; i < s->region.n; i++)
		if (s->region.at[i].tid == (int32_t)tid && s->region.at[i].left)
			return s->region.at[i].left;
	return UINT64_MAX;
}

/* The value of a module's counter in the region of a thread; 0 if it is not known. */
static uint64_t
count_of(const struct post *s, const struct loaded *l, uint32_t tid, uint64_t link)
{
	size_t i = (size_t)(l - s->module.at), k = 0;
	uint64_t v = 0, offset = link - (l->live.first - l->live.bias), at;

	if (offset > l->live.size || l->live.size - offset < sizeof v)
		return 0;
	while (k < s->region.n && s->region.at[k].tid != (int32_t)tid)
		k++;
	if (k == s->region.n)
		return 0;
	at = s->filed[i * s->live.nregion + k];
	if (!at)
		core_read(s->core, link + l->live.bias + s->region.at[k].base, &v, sizeof v);
	else if (at + offset <= s->bytes.n - sizeof v)
		memcpy(&v, s->bytes.at + at + offset, sizeof v);
	return v;
}

/* Reads the slot of the previous frame, if it is in the core. */
static void
take_slot(struct post *s, const struct core_frame *f)
{
	const struct loaded *l = s->inner.in;
	uint64_t word;

	if (s->inner.any && s->inner.tid == f->tid && s->live.mask &&
	    core_read(s->core, (f->sp - CHORD_SLOT) ^ s->live.mask, &word, sizeof word))
		profile_add_slot(s->p, l->number, s->inner.addr, l->live.bias, word);
}

/* Treats the activation as ended here. */
static void
end_frame(void *ctx, const struct core_frame *f)
{
	struct post *s = ctx;
	uint64_t bias;

	take_slot(s, f);
	s->inner.any = false;
	if (f->sp >= recorded_from(s, f->tid) || !core_object(s->core, f->pc - f->call, &bias))
		return;
	for (size_t i = 0; i < s->module.n; i++) {
		const struct loaded *l = &s->module.at[i];
		struct exits e = {.module = l->number, .addr = f->pc - bias + !f->call, .count = 1};

		if (l->live.life != CHORD_LIFE_LOADED || l->live.bias != bias)
			continue;
		for (uint32_t k = 0; k < l->nsum; k++)
			for (uint64_t way = 0; way < CHORD_WAYS_SUMMED; way++)
				e.sum[k] += count_of(s, l, f->tid, l->sum[k] + 8 * CHORD_SUMMED_STEP * way);
		s->cut |= l->nsum && !f->call;
		VEC_PUSH(s->p->exit, e);
		s->inner.any = f->call;
		s->inner.tid = f->tid;
		s->inner.in = l;
		s->inner.addr = e.addr;
		return;
	}
}

void
post_end_all(struct post *s)
{
	int stuck = core_frames(s->core, end_frame, s);

	if (stuck < 0) {
		VEC_PUSH(s->r->note, "the stacks in the core cannot be read");
		return;
	}
	s->p->in_flight += (uint64_t)stuck;
	s->p->nrunning = s->p->nthreads = 0;
	s->p->standing = (uint64_t)stuck;
	if (s->live.nfibre)
		VEC_PUSH(s->r->note, "what was active on stacks that swapcontext had left is not known");
	if (s->cut)
		VEC_PUSH(s->r->note, "of calls that were under way, sums leave out what happened since the last call in them");
	if (s->live.owner)
		VEC_PUSH(s->r->note, "the runtime was at work when the process died: counts may be short");
}
