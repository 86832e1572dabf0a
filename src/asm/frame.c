/* SPDX-License-Identifier: MIT */
/* Where the frame of a procedure is before each of its instructions, derived from what the instructions do to registers.
 * Directives may be missing (assembly without .cfi, epilogues without asynchronous tables) or wrong (undeclared pushes, gcc's
 * inline thunks). */
#include "asm/asm.h"

#include <string.h>

struct frames {
	const struct unit *u;
	const struct proc_text *p;
	struct frame_regs *at;   /* by vertex: the state at its beginning */
	bool *reached;           /* by vertex */
	bool alone;              /* the frames of other procedures are not used */
};

static struct frames *find(const struct unit *u, const struct proc_text *p, bool alone);
static struct frame_regs regs_before(const struct frames *f, uint32_t block, uint32_t i);

/* Keeps what callees preserve: the stack pointer, and the registers that the ABI says. */
static void
pass_call(const struct machine *m, struct frame_regs *f)
{
	f->known &= (uint16_t)~(m->clobbered | 1u);
}

static void
run(const struct unit *u, const struct code *c, const struct insn *in, struct frame_regs *f)
{
	if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL) {
		pass_call(u->machine, f);
		return;
	}
	u->machine->frame(u->object->sections[c->section].data + in->off, in->len, f);
	if (in->attr & INSN_RELOC)
		f->known &= (uint16_t)~in->regs_kill;
}

/* What the directives say before an instruction. If it does not begin a statement, this is what they say before the statement that
 * makes it. */
static bool
says(const struct unit *u, const struct code *c, const struct insn *in, struct cfi_frame *out)
{
	uint32_t stmt = in->stmt;
	size_t n = stmt == UINT32_MAX ? code_stmts_to(u, c, in->off) : 0;

	if (n)
		stmt = c->stmts.at[n - 1];
	return stmt != UINT32_MAX && cfi_frame_at(u->cfi, stmt, out);
}

static bool
is_changed(const struct unit *u, const struct code *c, const struct insn *in, uint8_t reg)
{
	struct frame_regs probe = {.known = (uint16_t)(1u << reg)};

	run(u, c, in, &probe);
	return !(probe.known >> reg & 1) || probe.at[reg];
}

/* Notes registers by which directives still give the frame although an instruction has changed the register: from there on the
 * directives are wrong. Calls are assumed to preserve the register, whatever the ABI says, because the callee may be in the same
 * text. */
static void
note_lost(const struct unit *u, const struct code *c, const struct insn *in, struct frame_regs *f)
{
	struct cfi_frame here, next;

	if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL || !says(u, c, in, &here) || here.loaded)
		return;
	if (in + 1 < c->insns.at + c->insns.n && says(u, c, in + 1, &next) &&
	    (next.loaded || next.reg != here.reg || next.off != here.off))
		f->lost = 0;
	else if (!(f->known >> here.reg & 1) && is_changed(u, c, in, here.reg))
		f->lost |= (uint16_t)(1u << here.reg);
}

static void
step(const struct unit *u, const struct code *c, const struct insn *in, struct frame_regs *f)
{
	run(u, c, in, f);
	note_lost(u, c, in, f);
	f->lost &= (uint16_t)~f->known;
}

/* What the directives say, in the same form. */
static struct frame_regs
stated(const struct unit *u, const struct insn *in)
{
	struct frame_regs f = {0};
	struct cfi_frame cfa;

	if (in->stmt != UINT32_MAX && cfi_frame_at(u->cfi, in->stmt, &cfa) && !cfa.loaded) {
		f.known = (uint16_t)(1u << cfa.reg);
		f.at[cfa.reg] = -cfa.off;
	}
	return f;
}

static const struct insn *
insn_of(const struct frames *f, uint32_t block, uint32_t i)
{
	return &f->p->parts.at[f->p->blocks.at[block].part].code->insns.at[i];
}

static struct frame_regs
behind_call(const struct unit *u)
{
	struct frame_regs r = {.known = (uint16_t)(1u << u->machine->sp)};

	r.at[u->machine->sp] = -u->machine->unwind->entry;
	return r;
}

/* ---- jumps from the middle of one procedure to the middle of another ---- */

/* Keeps what holds on both paths. True: that is less than was known before. */
static bool
meet(struct frame_regs *a, const struct frame_regs *b)
{
	uint16_t was = a->known, lost = a->lost;

	a->lost |= b->lost;
	for (unsigned i = 0; i < 16; i++)
		if (was >> i & 1 && (!(b->known >> i & 1) || a->at[i] != b->at[i]))
			a->known &= (uint16_t)~(1u << i);
	return a->known != was || a->lost != lost;
}

/* The frames of a procedure that is understood, considered by itself; or NULL. */
static const struct frames *
frames_of(const struct unit *u, uint32_t proc)
{
	const struct proc_text *p = &u->procs.at[proc];

	if (!p->graph || p->reason)
		return NULL;
	if (!u->frames[proc])
		u->frames[proc] = find(u, p, true);
	return u->frames[proc];
}

static bool
is_in(const struct proc_text *p, uint32_t block, const struct code *c, uint32_t insn)
{
	const struct block_text *b = &p->block_text.at[block];

	return p->parts.at[b->part].code == c && b->first <= insn && insn < b->last;
}

/* What is known where one of the jumps between procedures is taken. */
static struct frame_regs
on_way(const struct unit *u, const struct way *way)
{
	const struct code *c = u->code[way->from];
	const struct frames *f;
	uint32_t proc, part;

	if (c->insns.at[way->insn].cls == CHORD_INSN_CALL)
		return behind_call(u);
	f = unit_find(u, way->from, c->insns.at[way->insn].off, &proc, &part) ? frames_of(u, proc) : NULL;
	for (uint32_t b = 0; f && b < f->p->blocks.n; b++)
		if (f->reached[b] && is_in(f->p, b, c, way->insn))
			return regs_before(f, b, way->insn);
	return (struct frame_regs){0};
}

static bool
is_global(const struct unit *u, const struct code *c, uint32_t off)
{
	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];

		if (s->global && s->section == c->section && s->value == off)
			return true;
	}
	return false;
}

/* The first of the jumps that lead to a place; if there is none, the place in the list where it would be. */
static size_t
first_way(const struct unit *u, uint32_t section, uint32_t off)
{
	size_t lo = 0, hi = u->ways.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;
		const struct way *way = &u->ways.at[mid];

		if (way->section < section || (way->section == section && way->off < off))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* What is known in all other procedures that jump to a block. Nothing is known if other code may enter it. */
static struct frame_regs
jumped_from(const struct frames *f, uint32_t block)
{
	const struct code *c = f->p->parts.at[f->p->blocks.at[block].part].code;
	const struct insn *in = insn_of(f, block, f->p->block_text.at[block].first);
	size_t first = first_way(f->u, c->section, in->off);
	struct frame_regs r = {0};

	if (!(in->leader & LEADER_ENTRY) || in->leader & (LEADER_ADDRESS | LEADER_LAND | LEADER_RECEIVE) ||
	    is_global(f->u, c, in->off))
		return r;
	for (size_t i = first; i < f->u->ways.n && f->u->ways.at[i].section == c->section && f->u->ways.at[i].off == in->off; i++) {
		struct frame_regs one = on_way(f->u, &f->u->ways.at[i]);

		if (i == first)
			r = one;
		else
			meet(&r, &one);
	}
	return r;
}

/* The state where control comes from outside: what directives say, or the state after a call. */
static struct frame_regs
enters(const struct frames *f, uint32_t block, uint8_t kind)
{
	struct frame_regs r = stated(f->u, insn_of(f, block, f->p->block_text.at[block].first));

	if (!r.known && kind == CHORD_EDGE_ENTRY && block == 0)
		return behind_call(f->u);
	if (!r.known && kind == CHORD_EDGE_ENTRY && !f->alone)
		return jumped_from(f, block);
	return r;
}

/* The state after a block, on an edge out of it. */
static struct frame_regs
leaves(const struct frames *f, uint32_t block, uint8_t kind)
{
	const struct block_text *b = &f->p->block_text.at[block];
	const struct code *c = f->p->parts.at[b->part].code;
	struct frame_regs r = f->at[block];
	uint32_t i = b->first;

	for (; i + 1 < b->last; i++)
		step(f->u, c, &c->insns.at[i], &r);
	if (c->insns.at[i].cls == CHORD_INSN_CALL && kind == CHORD_EDGE_JUMP)
		r.at[f->u->machine->sp] -= f->u->machine->unwind->entry; /* a call within the procedure */
	else
		step(f->u, c, &c->insns.at[i], &r);
	return r;
}

/* Follows one edge. True: the state at its target has changed. */
static bool
follow(struct frames *f, uint32_t e)
{
	const struct proc_text *p = f->p;
	uint32_t from = p->graph->edge[e].from, to = p->graph->edge[e].to;
	struct frame_regs r;

	if (to == p->exit || to == p->entry || (from != p->entry && !f->reached[from]))
		return false;
	if (from == p->entry)
		r = enters(f, proc_lands(p, to), p->arcs.at[e].kind);
	else
		r = from < p->blocks.n ? leaves(f, from, p->arcs.at[e].kind) : f->at[from];
	if (f->reached[to])
		return meet(&f->at[to], &r);
	f->at[to] = r;
	return f->reached[to] = true;
}

/* Follows the edges out of a vertex; marks the targets whose state has changed. */
static bool
follow_out(struct frames *f, uint32_t v, bool *again)
{
	const struct graph *g = f->p->graph;
	bool any = false;

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
		if (g->out[i] < f->p->arcs.n && follow(f, g->out[i]))
			any = again[g->edge[g->out[i]].to] = true;
	return any;
}

static struct frames *
find(const struct unit *u, const struct proc_text *p, bool alone)
{
	struct frames *f = pool_alloc(u->pool, sizeof *f);
	uint32_t n = p->graph->nvert;
	bool *again = pool_array(u->pool, n, sizeof *again), any = true;

	*f = (struct frames){u, p, pool_array(u->pool, n, sizeof *f->at), pool_array(u->pool, n, sizeof *f->reached),
		alone};
	memset(again, true, n);
	while (any) {
		any = false;
		for (uint32_t v = 0; v < n; v++)
			if (again[v]) {
				again[v] = false;
				any |= follow_out(f, v, again);
			}
	}
	return f;
}

struct frames *
frames_find(const struct unit *u, const struct proc_text *p)
{
	return find(u, p, false);
}

/* The state before instruction i of a block. */
static struct frame_regs
regs_before(const struct frames *f, uint32_t block, uint32_t i)
{
	const struct code *c = f->p->parts.at[f->p->blocks.at[block].part].code;
	struct frame_regs r = f->at[block];

	for (uint32_t k = f->p->block_text.at[block].first; k < i; k++)
		step(f->u, c, &c->insns.at[k], &r);
	return r;
}

bool
frame_before(const struct frames *f, uint32_t block, uint32_t i, struct cfi_frame *out)
{
	const struct insn *in = insn_of(f, block, i);
	struct frame_regs r = regs_before(f, block, i);
	const uint8_t by[] = {f->u->machine->sp, f->u->machine->fp};

	if (in->stmt != UINT32_MAX && cfi_frame_at(f->u->cfi, in->stmt, out) &&
	    (out->loaded || (r.known >> out->reg & 1 ? r.at[out->reg] == -out->off : !(r.lost >> out->reg & 1))))
		return true;
	for (unsigned k = 0; k < sizeof by; k++)
		if (r.known >> by[k] & 1) {
			*out = (struct cfi_frame){.reg = by[k], .off = -r.at[by[k]]};
			return true;
		}
	return false;
}

bool
frames_fixed(const struct frames *f)
{
	uint8_t sp = f->u->machine->sp;

	for (uint32_t b = 0; b < f->p->blocks.n; b++) {
		const struct block_text *k = &f->p->block_text.at[b];
		const struct code *c = f->p->parts.at[k->part].code;
		struct frame_regs r = f->at[b];

		for (uint32_t i = k->first; i < k->last; i++) {
			if (!(r.known >> sp & 1))
				return false;
			step(f->u, c, &c->insns.at[i], &r);
		}
	}
	return true;
}

bool
frames_as_stated(const struct frames *f)
{
	for (uint32_t b = 0; b < f->p->blocks.n; b++) {
		const struct block_text *k = &f->p->block_text.at[b];
		const struct code *c = f->p->parts.at[k->part].code;
		struct frame_regs r = f->at[b];

		for (uint32_t i = k->first; i < k->last; i++) {
			const struct insn *in = &c->insns.at[i];
			struct frame_regs s = stated(f->u, in);

			bool call = in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL;

			if (call && s.known & r.lost)
				return false;
			s.lost = r.lost;
			if (call && (s.known &= r.known) && meet(&s, &r))
				return false;
			step(f->u, c, in, &r);
		}
	}
	return true;
}
