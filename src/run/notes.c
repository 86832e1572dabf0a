/* SPDX-License-Identifier: MIT */
/* The notes of a report: which counts are bounds or may be wrong, and why. */
#include "run/run.h"

#include <inttypes.h>
#include <string.h>

/* How often edges of a kind were taken, also in procedures whose other counts are not known. *sure: all of them were counted. */
static uint64_t
taken(const struct run *r, uint32_t kind, bool *sure)
{
	uint64_t n = 0;

	for (size_t k = 0; k < r->binary.n; k++) {
		const struct binary *bin = &r->binary.at[k];

		for (uint32_t i = 0; i < bin->map.nproc; i++) {
			const struct proc *p = &bin->map.proc[i];
			const struct counts *c = &bin->counts[i];

			for (uint32_t a = 0; !p->refused && a < p->narc; a++) {
				if (p->arc[a].kind != kind)
					continue;
				if (c->arc && c->arc_known[a])
					n += c->arc[a];
				else if (c->why && c->why != SOLVE_EVENTS_ONLY)
					*sure = false;
			}
		}
	}
	return n;
}

static void
note(struct run *r, uint64_t n, const char *one, const char *many)
{
	if (n)
		VEC_PUSH(r->note, pool_printf(r->pool, "%" PRIu64 " %s", n, n == 1 ? one : many));
}

/* Jumps from one activation into another. The runtime has to see such a jump to know which activations it abandoned. */
static void
note_jumps(struct run *r)
{
	bool sure = true;
	uint64_t lost = taken(r, CHORD_EDGE_LOST, &sure), made = taken(r, CHORD_EDGE_NONLOCAL, &sure) + lost;
	uint64_t received = taken(r, CHORD_EDGE_RECEIVE, &sure);

	note(r, lost,
	     "jump into another activation (__builtin_longjmp, goto out of a nested function, code by hand): "
	     "counts of what it abandoned, or came to behind a call, are not exact",
	     "jumps into other activations (__builtin_longjmp, goto out of a nested function, code by hand): "
	     "counts of what they abandoned, or came to behind a call, are not exact");
	note(r, received > made ? received - made : 0,
	     "jump into another activation was not seen: counts of what it abandoned are not exact",
	     "jumps into other activations were not seen: counts of what they abandoned are not exact");
	if (!sure)
		VEC_PUSH(r->note, "jumps into other activations may not have been seen: "
		                  "counts of what they abandoned may not be exact");
}

/* ---- signals' handlers ---- */

/* The procedure that was set as a handler, and its binary. */
static const struct proc *
handler_of(const struct run *r, const struct exits *e, struct binary **binary)
{
	const struct module *m = &r->sum->module.at[e->module];

	for (size_t k = 0; k < r->binary.n; k++) {
		struct str id = image_build_id(r->binary.at[k].image);

		if (id.n != m->nid || memcmp(id.at, m->id, m->nid) != 0)
			continue;
		for (uint32_t i = 0; i < r->binary.at[k].map.nproc; i++) {
			const struct proc *p = &r->binary.at[k].map.proc[i];

			*binary = &r->binary.at[k];
			if (p->npart && !p->refused && p->part[0].addr == e->addr)
				return p;
		}
	}
	return NULL;
}

/* How often a procedure ended: by returns, and by jumps to code that may have returned. */
struct ends {
	uint64_t returns, others;
	bool unknown;            /* there may be more: some were not counted */
};

enum { TAIL_CALLS = 100 };

/* Follows at most *more tail calls. */
static struct ends returns_of(struct binary *bin, const struct proc *p, unsigned *more);

/* The measured procedure that the last instruction of a block jumps to, or NULL. */
static const struct proc *
jumps_to(struct binary *bin, const struct proc *p, uint32_t block)
{
	struct walk w;
	struct insn in;
	const struct part_at *part;

	for (walk_start(&w, p, NULL, block); w.i + 1 != p->block[block].ninsn && walk_next(&w);)
		;
	if (!w.addr || !image_insn(bin->image, w.addr, &in) || !(in.attr & INSN_REL))
		return NULL;
	part = parts_find(&bin->parts, w.addr + (uint64_t)(int64_t)(int32_t)(in.target - (uint32_t)w.addr));
	return part && part->proc != p && !part->proc->refused ? part->proc : NULL;
}

/* n activations were left by a tail call. The callee returned for them at most as often as for all its callers. */
static void
add_tail_call(struct ends *to, struct binary *bin, const struct proc *p, uint32_t block, uint64_t n, unsigned *more)
{
	const struct proc *callee = n && *more && (*more)-- ? jumps_to(bin, p, block) : NULL;
	struct ends ends = callee ? returns_of(bin, callee, more) : (struct ends){.others = n};
	uint64_t most = ends.unknown ? n : saturating_add(ends.returns, ends.others);

	to->others = saturating_add(to->others, most < n ? most : n);
}

static bool
is_jump(unsigned cls)
{
	return cls == CHORD_INSN_JUMP || cls == CHORD_INSN_IJUMP || cls == CHORD_INSN_BRANCH;
}

static struct ends
returns_of(struct binary *bin, const struct proc *p, unsigned *more)
{
	const struct counts *c = &bin->counts[p - bin->map.proc];
	struct ends ends = {0};

	for (uint32_t a = 0; a < p->narc; a++) {
		const struct arc *arc = &p->arc[a];
		const struct block *b = arc->from < p->nblock ? &p->block[arc->from] : NULL;
		unsigned last = b && b->ninsn ? b->insn[b->ninsn - 1] >> 4 : CHORD_INSN_OTHER;

		if (arc->to != PROC_EXIT(p) || (last != CHORD_INSN_RET && !is_jump(last)))
			continue;
		if (!c->arc || !c->arc_known[a]) {
			ends.unknown = true;
			break;
		}
		if (last == CHORD_INSN_RET)
			ends.returns = saturating_add(ends.returns, c->arc[a]);
		else
			add_tail_call(&ends, bin, p, arc->from, c->arc[a], more);
	}
	return ends;
}

/* A handler may let the program continue at another place than the interrupted one. The number that the graphs expect is
 * subtracted. */
static void
note_handlers(struct run *r)
{
	uint64_t returned = 0, others = 0, foreseen, most;
	const char *name = NULL, *unsure = NULL;
	bool sure = true;

	for (size_t i = 0; i < r->sum->exit.n; i++) {
		const struct exits *e = &r->sum->exit.at[i];
		struct binary *bin = NULL;
		const struct proc *p = e->handler ? handler_of(r, e, &bin) : NULL;
		unsigned more = TAIL_CALLS;
		struct ends ends = p ? returns_of(bin, p, &more) : (struct ends){.unknown = true};

		if (!e->handler)
			continue;
		if (p && (ends.returns || ends.others))
			name = p->name;
		if (ends.unknown)
			unsure = p ? p->name : "one that is not measured";
		returned = saturating_add(returned, ends.returns);
		others = saturating_add(others, ends.others);
	}
	foreseen = taken(r, CHORD_EDGE_FAULT, &sure);
	most = saturating_add(returned, others);
	if (unsure)
		VEC_PUSH(r->note, pool_printf(r->pool, "a handler of signals (%s) may have let the program go on elsewhere than "
		                              "where it was: then counts are not exact", unsure));
	else if (most > foreseen)
		VEC_PUSH(r->note, pool_printf(r->pool, "%s%" PRIu64 " times a handler of signals (%s)%s returned; where it let the "
		                              "program go on elsewhere than where it was, counts are not exact",
		                              others ? "at most " : "", most - foreseen, name,
		                              others ? " or what it jumps to" : ""));
}

/* Notes procedures of which a measure counts only a part. */
static void
note_partly(struct run *r, const struct counts_partly *x)
{
	uint64_t n = 0;

	for (size_t k = 0; k < r->binary.n; k++)
		for (uint32_t i = 0; i < r->binary.at[k].map.nproc; i++)
			n += r->binary.at[k].counts[i].why == x->why;
	note(r, n, x->one, x->more);
}

static void
note_orphans(struct run *r)
{
	uint64_t error = r->sum->orphan_error;
	const char *why = error && error < 4096 ? strerror((int)error) : "it is not known why";

	VEC_PUSH(r->note, pool_printf(r->pool, "%" PRIu64 " child %s could not write a profile, and what %s executed is in no "
	                              "count: %s", r->sum->orphans, r->sum->orphans == 1 ? "process" : "processes",
	                              r->sum->orphans == 1 ? "it" : "they", why));
}

static uint64_t
lost_places(const struct run *r)
{
	uint64_t n = 0;

	for (size_t k = 0; k < r->binary.n; k++)
		for (uint32_t i = 0; i < r->binary.at[k].map.nproc; i++)
			n += r->binary.at[k].counts[i].most ? r->binary.at[k].counts[i].lost : 0;
	return n;
}

/* The names of the procedures that are like that: the first few. NULL: none is. */
static const char *
name_procs(struct run *r, bool (*is)(const struct counts *c))
{
	enum { FEW = 8 };
	struct buf b = {0};
	uint64_t n = 0;
	const char *names;

	for (size_t k = 0; k < r->binary.n; k++)
		for (uint32_t i = 0; i < r->binary.at[k].map.nproc; i++)
			if (is(&r->binary.at[k].counts[i]) && n++ < FEW)
				buf_printf(&b, "%s%s", n > 1 ? ", " : "", r->binary.at[k].map.proc[i].name);
	if (n > FEW)
		buf_printf(&b, " and %" PRIu64 " more", n - FEW);
	names = n ? pool_printf(r->pool, "%.*s", (int)b.n, b.at) : NULL;
	buf_free(&b);
	return names;
}

static bool
was_active(const struct counts *c)
{
	return c->active;
}

static bool
is_unplaced(const struct counts *c)
{
	return c->most && c->unplaced;
}

static bool
lacks_counts(const struct counts *c)
{
	return c->most && c->lacks;
}

/* Notes which procedures are known to have been active, and what bounds depend on. */
static void
note_active(struct run *r)
{
	const char *active = name_procs(r, was_active), *lacks = name_procs(r, lacks_counts);

	if (active)
		VEC_PUSH(r->note, pool_printf(r->pool, "running then: %s", active));
	if (name_procs(r, is_unplaced))
		VEC_PUSH(r->note, "bounds take a procedure to be active once a thread, or as often as the stack has room if calls "
		                  "by name lead back to it: recursion through pointers may exceed them");
	if (lacks)
		VEC_PUSH(r->note, pool_printf(r->pool, "registers count in loops (-fchord-loops=registers): loops that had not "
		                              "ended when the process did, or that a signal's handler left, have lower bounds, "
		                              "in %s", lacks));
}

static void
note_measure(struct run *r, struct strmap *seen, const char *tag)
{
	uint64_t before;

	if (strmap_get(seen, str_of(tag), &before))
		return;
	strmap_put(seen, str_of(tag), 1);
	VEC_PUSH(r->note, pool_printf(r->pool, "%s was measured, too, which this version of Chord does not know", tag));
}

/* Notes measures and data of another version of Chord. */
static void
note_unknown(struct run *r)
{
	const char *text = profile_unknown(r->pool, r->sum);
	struct strmap seen = {0};

	if (text)
		VEC_PUSH(r->note, text);
	for (size_t i = 0; i < r->binary.n; i++)
		for (uint32_t k = 0; k < r->binary.at[i].map.nproc; k++) {
			const struct proc *p = &r->binary.at[i].map.proc[k];

			for (uint32_t u = 0; u < p->nunknown; u++)
				note_measure(r, &seen, p->unknown[u]);
		}
	strmap_free(&seen);
}

/* An unwinder that was linked into a program that is not static calls itself through no table. */
static void
note_unwinder(struct run *r, const struct binary *b)
{
	const struct image_symbol *symbol;
	size_t n = image_symbols(b->image, &symbol);
	bool unwinds = false, whole = false;

	for (size_t i = 0; i < n; i++) {
		unwinds |= !strcmp(symbol[i].name, "_Unwind_SetIP");
		whole |= str_starts(str_of(symbol[i].name), "__libc_start_main");
	}
	if (unwinds && !whole)
		VEC_PUSH(r->note, pool_printf(r->pool, "%s has an unwinder of its own (-static-libgcc): exceptions were not "
		                              "seen, and counts of procedures that they left or came to may be wrong", b->path));
}

static bool
is_measured(const struct run *r, const char *name)
{
	for (size_t k = 0; k < r->binary.n; k++)
		for (uint32_t i = 0; i < r->binary.at[k].map.nproc; i++)
			if (!strcmp(r->binary.at[k].map.proc[i].name, name))
				return true;
	return false;
}

/* Does a binary have the function, or take it from another one? */
static bool
is_linked(const struct run *r, const char *name)
{
	for (size_t k = 0; k < r->binary.n; k++) {
		const struct image_symbol *symbol;
		size_t n = image_symbols(r->binary.at[k].image, &symbol);

		for (size_t i = 0; i < n; i++)
			if (!strcmp(symbol[i].name, name))
				return true;
		if (image_takes(r->binary.at[k].image, name))
			return true;
	}
	return false;
}

/* Well-known functions that go on on another stack without a function of libc. Those that are measured have edges of their own for
 * that. */
static void
note_switches(struct run *r)
{
	static const char *const names[] = {
		"jump_fcontext", "ontop_fcontext",     /* Boost.Context */
		"co_switch",                           /* libco */
		"coro_transfer", "coroutine_transfer", /* libcoro, Ruby */
		"acosw",                               /* libaco */
	};
	struct buf b = {0};
	size_t n = 0;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_linked(r, names[i]) && !is_measured(r, names[i]))
			buf_printf(&b, "%s%s", n++ ? ", " : "", names[i]);
	if (n)
		VEC_PUSH(r->note, pool_printf(r->pool, "%.*s %s not measured: counts of procedures that were left for good on a "
		                              "stack, or came to behind a call, may be wrong", (int)b.n, b.at,
		                              n == 1 ? "switches stacks and is" : "switch stacks and are"));
	buf_free(&b);
}

void
run_notes(struct run *r)
{
	const struct profile *p = r->sum;

	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		if (measure_partly(m))
			note_partly(r, measure_partly(m));
	note(r, p->nrunning,
	     "process was killed or is still running: where it stood is not known, so counts are bounds",
	     "processes were killed or are still running: where they stood is not known, so counts are bounds");
	note(r, p->nthreads, "process ended while other threads ran: where these stood is not known, so counts are bounds",
	     "processes ended while other threads ran: where these stood is not known, so counts are bounds");
	note(r, lost_places(r), "activation ended at a place that is not known, so counts are bounds",
	     "activations ended at places that are not known, so counts are bounds");
	note_unknown(r);
	note_active(r);
	note(r, p->lost, "thread could not be given counters of its own: counts may be short",
	     "threads could not be given counters of their own: counts may be short");
	note(r, p->in_flight,
	     "walk of a stack could not be finished, so it is not known which procedures were active: "
	     "their counts may be wrong by one for each activation",
	     "walks of stacks could not be finished, so it is not known which procedures were active: "
	     "their counts may be wrong by one for each activation");
	note_jumps(r);
	note_handlers(r);
	if (p->orphans)
		note_orphans(r);
	VEC_JOIN(r->note, r->replaced);
	for (size_t i = 0; i < r->binary.n; i++)
		note_unwinder(r, &r->binary.at[i]);
	note_switches(r);
	if (p->flags & CHORD_PROFILE_NOT_WATCHED)
		VEC_PUSH(r->note, "threads may have been made that the runtime did not see: counts may be short");
	for (size_t i = 0; i < p->text.n; i++)
		VEC_PUSH(r->note, p->text.at[i]);
}
