/* SPDX-License-Identifier: MIT */
/* The positions of the threads of a process, and by how much their counters are behind there. */
#include "process/control.h"
#include "process/inspector.h"

#define OFF "off by what the block has not done yet in which it is"

/* ---- the control block ---- */

static bool
read_process(const void *of, uint64_t addr, void *to, size_t n)
{
	return process_read(of, addr, to, n);
}

bool
inspector_read_control(struct inspector *k)
{
	k->region.n = k->loaded.n = 0;
	if (!control_find(read_process, &k->process, &k->live) || !k->live.magic ||
	     k->live.pid != (uint32_t)process_inner(&k->process, 0))
		return false;
	for (uint32_t i = 0; i < k->live.nregion; i++) {
		struct chord_live_region r;

		if (!control_item(read_process, &k->process, k->live.regions, k->live.region_size, i, &r, sizeof r))
			return false;
		VEC_PUSH(k->region, r);
	}
	for (uint32_t i = 0; i < k->live.nmodule; i++) {
		struct chord_live_module m;
		struct counted *c;

		if (!control_item(read_process, &k->process, k->live.modules, k->live.module_size, i, &m, sizeof m))
			return false;
		if (m.life == CHORD_LIFE_LOADED && m.idlen <= sizeof m.id &&
		    (c = query_counted(k->q, (struct str){(char *)m.id, m.idlen})))
			VEC_PUSH(k->loaded, (struct loaded){c, m.bias});
	}
	return true;
}

/* ---- positions of threads ---- */

bool
inspector_behind(struct inspector *k, const struct loaded *l, uint64_t pc, uint64_t sign, uint64_t *behind, struct where *w)
{
	const struct proc *p;

	if (!where_find(&l->counted->where, k->pool, pc - l->bias, w))
		return true;
	if (w->why) {
		inspector_doubt(k, pool_printf(k->pool, "where a thread stands is not understood (%s): " OFF, w->why));
		return false;
	}
	p = w->proc;
	for (uint32_t e = 0; e < p->nevent; e++) {
		uint32_t number = l->counted->event[p - l->counted->binary.map.proc][e];

		if (number != UINT32_MAX)
			behind[number] += sign * (uint64_t)where_behind(w, e);
	}
	return true;
}

/* A frame that was interrupted in code that moves the stack pointer cannot be unwound, except in a call of the runtime for a jump
 * into another frame. Calls for timers are in the unwind tables. */
static bool
found_interrupted(void *arg, uint64_t pc, uint64_t sp, bool exact)
{
	struct inspector *k = arg;
	const struct loaded *l = loaded_at(k->loaded.at, k->loaded.n, pc);
	struct where w = {0};

	if (sp >= k->now->left)
		return true;
	if (!loaded_at(k->loaded.at, k->loaded.n, k->now->thread->pc))
		VEC_PUSH(k->interrupted, (struct interrupted){l->counted, pc - l->bias});
	return inspector_behind(k, l, pc, 1, k->now->behind, &w) &&
	    (!w.sp || (!exact && w.sp != k->process.machine->nonlocal_depth));
}

static void
read_state(struct inspector *k, struct thread_state *s)
{
	struct thread t = *s->thread;
	const struct loaded *l = loaded_at(k->loaded.at, k->loaded.n, t.pc);
	struct where w = {0};

	k->now = s;
	if (s->program_sp)
		t.sp = s->program_sp;
	if (l && inspector_behind(k, l, t.pc, 1, s->behind, &w) && !w.why) {
		/* The unwind table is right where the original code continues. */
		t.pc = w.addr + l->bias;
		t.sp += (uint64_t)w.sp;
	}
	if (!frames_interrupted(&k->frames, &t, found_interrupted, k))
		inspector_doubt(k, pool_printf(k->pool, "the stack of thread %d cannot be followed to its end: if a signal "
		                               "interrupted measured code there, " OFF, t.tid));
}

/* Finds the region in which a thread counts: by its segment base or, if the thread was not stopped, by the runtime's tables. */
void
inspector_find_base(struct inspector *k, struct thread_state *s)
{
	const struct thread *t = s->thread;
	bool by_tid = !t->regs.has_base || t->lost;
	pid_t inner = by_tid || k->live.dying ? process_inner(&k->process, t->tid) : 0;

	s->left = UINT64_MAX;
	s->has_base = !by_tid;
	s->base = t->regs.base;
	for (size_t i = 0; i < k->region.n; i++) {
		const struct chord_live_region *r = &k->region.at[i];

		if (by_tid ? r->tid != inner : r->base != t->regs.base)
			continue;
		s->has_base = true;
		s->base = r->base;
		s->users = r->users;
		s->left = r->left ? r->left : UINT64_MAX;
		s->program_sp = r->program_sp;
		break;
	}
	if (k->live.dying && k->live.dying == inner)
		s->left = k->live.dying_sp;
}

/* Does a vfork child count in the thread's place? */
bool
waits_for_child(const struct inspector *k, const struct thread *t)
{
	return !t->stopped && k->process.machine->thread->waits_for_child(t->call);
}

void
inspector_read_threads(struct inspector *k)
{
	size_t n = k->process.thread.n;

	k->state = pool_array(k->pool, n, sizeof *k->state);
	for (size_t i = 0; i < n; i++) {
		struct thread_state *s = &k->state[i];

		s->thread = &k->process.thread.at[i];
		s->behind = pool_array(k->pool, k->q->event.n, sizeof *s->behind);
		inspector_find_base(k, s);
		if (s->thread->lost)
			inspector_doubt(k, pool_printf(k->pool, "thread %d could not be stopped: " OFF, s->thread->tid));
		else
			read_state(k, s);
		if (waits_for_child(k, s->thread))
			inspector_note(k, pool_printf(k->pool, "thread %d waits for a child of vfork, which counts in its place: "
			                              OFF, s->thread->tid));
	}
}

