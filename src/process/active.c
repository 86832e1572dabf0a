/* SPDX-License-Identifier: MIT */
/* The activations of a stopped process, treated as if they ended where they are. So the counts are those of this moment. Woven-in
 * code between two instructions is treated as if it had run to its end, so all counters agree with one place of the program. */
#include "process/inspector.h"

#include <stdlib.h>
#include <string.h>

struct pending {
	uint64_t counter;
	int64_t add;
};

/* The slot of an activation that is treated as ended at a call. */
struct slot {
	const struct loaded *in; /* NULL: there is no slot */
	uint64_t addr;           /* the return address of the call, at link time */
	uint64_t word;
};

struct ending {
	struct inspector *k;
	struct profile *p;
	struct thread_state *now;
	bool inner;              /* the next frame is the innermost one, which has been handled already */
	bool ok;
	VEC(struct pending) pending;
	VEC(uint64_t *) raised;  /* counters of the profile that were raised for this thread; by: by how much */
	VEC(int64_t) by;
	/* The previous frame and the address where it ended. Its slot is just below the CFA of the next frame. */
	struct slot under;
	VEC(struct slot) slots;  /* of this thread */
};

/* ---- counters ---- */

static void
note_pending(void *ctx, uint64_t counter, int64_t add)
{
	struct ending *x = ctx;

	VEC_PUSH(x->pending, (struct pending){counter, add});
}

static struct module *
module_of(const struct ending *x, const struct loaded *l)
{
	return profile_module(x->p, image_build_id(l->counted->binary.image));
}

static bool
take_pending(struct ending *x, const struct module *m)
{
	for (size_t i = 0; i < x->pending.n; i++) {
		uint64_t at = (x->pending.at[i].counter - m->base) / 8;

		if (!m->count || x->pending.at[i].counter < m->base || at >= m->ncount)
			return false;
		m->count[at] += (uint64_t)x->pending.at[i].add;
		VEC_PUSH(x->raised, &m->count[at]);
		VEC_PUSH(x->by, x->pending.at[i].add);
	}
	return true;
}

/* Takes back what was added for the thread. */
static void
forget_thread(struct ending *x, size_t nexit)
{
	x->p->exit.n = nexit;
	for (size_t i = 0; i < x->raised.n; i++)
		*x->raised.at[i] -= (uint64_t)x->by.at[i];
}

/* Adds the values of the thread's counters whose events are summed for calls. */
static void
take_sums(const struct ending *x, const struct loaded *l, struct exits *e)
{
	const struct map *map = &l->counted->binary.map;
	uint64_t v;

	for (uint32_t k = 0; k < map->nsum; k++) {
		uint64_t at = map->sum[k] + l->bias + x->now->base;

		for (uint64_t i = 0; i < CHORD_WAYS_SUMMED; i++)
			if (process_read(&x->k->process, at + 8 * CHORD_SUMMED_STEP * i, &v, sizeof v))
				e->sum[k] += v;
	}
}

static void
end_at(struct ending *x, const struct loaded *l, uint64_t addr)
{
	const struct module *m = module_of(x, l);
	struct exits e = {.module = (uint32_t)(m - x->p->module.at), .addr = addr, .count = 1};

	take_sums(x, l, &e);
	VEC_PUSH(x->p->exit, e);
}

/* ---- frames ---- */

/* Reads the slot of the previous frame. */
static void
take_slot(struct ending *x, uint64_t sp)
{
	struct slot s = x->under;

	x->under.in = NULL;
	if (s.in && x->k->live.mask && process_read(&x->k->process, (sp - CHORD_SLOT) ^ x->k->live.mask, &s.word, sizeof s.word))
		VEC_PUSH(x->slots, s);
}

static void
end_slots(struct ending *x)
{
	for (size_t i = 0; i < x->slots.n; i++) {
		const struct slot *s = &x->slots.at[i];

		profile_add_slot(x->p, (uint32_t)(module_of(x, s->in) - x->p->module.at), s->addr, s->in->bias, s->word);
	}
}

/* Ends an activation that was interrupted between calls. *w: where the program continues. */
static bool
end_between(struct ending *x, const struct loaded *l, uint64_t pc, struct where *w)
{
	x->pending.n = 0;
	if (!where_find(&l->counted->where, x->k->pool, pc - l->bias, w))
		return true;
	if (w->why || !take_pending(x, module_of(x, l)))
		return false;
	if (!w->left)
		end_at(x, l, w->addr + 1);
	return true;
}

static bool
end_frame(void *arg, uint64_t pc, uint64_t sp, bool exact)
{
	struct ending *x = arg;
	const struct inspector *k = x->k;
	const struct loaded *l = loaded_at(k->loaded.at, k->loaded.n, pc - !exact);
	struct where w;

	take_slot(x, sp);
	if (x->inner || sp >= x->now->left || !l) {
		x->inner = false;
		return true;
	}
	if (exact || !counted_returns(l->counted, pc - l->bias)) {
		x->ok &= end_between(x, l, pc, &w);
		return x->ok;
	}
	end_at(x, l, pc - l->bias);
	x->under = (struct slot){.in = l, .addr = pc - l->bias};
	return true;
}

/* False: the positions of some of the thread's activations are not known. */
static bool
end_thread(struct ending *x, struct thread_state *s)
{
	struct thread t = *s->thread;
	const struct loaded *l = loaded_at(x->k->loaded.at, x->k->loaded.n, t.pc);
	struct where w = {0};

	x->now = s;
	x->under.in = NULL;
	x->inner = x->ok = true;
	if (t.lost)
		return false;
	if (l && t.sp < s->left && !end_between(x, l, t.pc, &w))
		return false;
	if (w.proc) {
		/* The unwind table is right where the original code continues. */
		t.pc = w.addr + l->bias;
		t.sp += (uint64_t)w.sp;
	}
	return frames_all(&x->k->frames, &t, end_frame, x) && x->ok;
}

uint64_t
inspector_end_all(struct inspector *k, struct profile *p)
{
	struct ending x = {.k = k, .p = p};
	uint64_t not_known = 0;

	k->state = pool_array(k->pool, k->process.thread.n, sizeof *k->state);
	for (size_t i = 0; i < k->q->counted.n; i++) {
		k->q->counted.at[i]->where.counts = note_pending;
		k->q->counted.at[i]->where.ctx = &x;
	}
	for (size_t i = 0; i < k->process.thread.n; i++) {
		struct thread_state *s = &k->state[i];
		size_t nexit = p->exit.n;

		s->thread = &k->process.thread.at[i];
		inspector_find_base(k, s);
		x.raised.n = x.by.n = x.slots.n = 0;
		if (end_thread(&x, s) && !waits_for_child(k, s->thread)) {
			end_slots(&x);
		} else {
			forget_thread(&x, nexit);
			not_known++;
		}
	}
	free(x.pending.at);
	free(x.raised.at);
	free(x.by.at);
	free(x.slots.at);
	return not_known;
}
