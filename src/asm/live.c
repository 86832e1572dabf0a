/* SPDX-License-Identifier: MIT */
/* Which flags and registers are live before every instruction.
 *
 * At calls and returns the ABI is not enough: gcc allocates registers across procedures (-fipa-ra), so a register that a procedure
 * leaves alone is live at its return. It is dead in two cases. First, the procedure changes it and does not save it in its frame:
 * all callers know that. Second, no caller can know that the register is left alone: only callers in the same text can, and what is
 * live after their calls is computed. Compilers never pass flags; text by hand may. A register that the compiler was told to leave
 * alone is live everywhere.
 *
 * The analysis begins with nothing live after calls, and adds what turns out to be live until nothing changes. */
#include "asm/asm.h"
#include "asm/dest.h"

#include <stdlib.h>
#include <string.h>

struct flow {
	const struct unit *u;
	struct proc_text *p;
	uint16_t gone;         /* registers whose values mean nothing at a return */
	uint16_t everywhere;   /* registers live at each instruction: reserved ones, and those live at some landing pad, because any
	                        * instruction may fault and lead there */
	struct liveness *in;        /* by vertex */
};

/* ---- what calls and jumps out of procedures read ---- */

static const struct obj_symbol *
symbol_of(const struct unit *u, const struct code *c, const struct insn *in)
{
	const struct obj_reloc *r = reloc_in(u->object, c->section, in->off, in->off + in->len);

	return r && r->sym < u->object->nsymbol ? &u->object->symbols[r->sym] : NULL;
}

/* Code that compilers insert, with its own rules for registers. */
static bool
is_special_name(const struct unit *u, const char *name)
{
	static const char *const prefixes[] = {"__llvm_", "__fentry__", "mcount", "_mcount", "__tls", "__hwasan_", ".L"};

	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++)
		if (str_starts(str_of(name), prefixes[i]))
			return true;
	return u->machine->text->is_helper(name);
}

/* Does the call or jump lead somewhere that follows the calling convention? */
static bool
is_plain(const struct unit *u, const struct code *c, const struct insn *in)
{
	const struct obj_symbol *s = symbol_of(u, c, in);
	struct str text = in->stmt == UINT32_MAX ? STR("") : stmt_str(u->text, &u->text->stmts.at[in->stmt]);
	struct dest d;
	uint32_t proc, part;

	if (s && !s->section)
		return !is_special_name(u, s->name) && !memmem(text.at, text.n, "@TLS", 4) && !memmem(text.at, text.n, "@tls", 4);
	if (in->cls == CHORD_INSN_ICALL || in->cls == CHORD_INSN_IJUMP)
		return true;
	d = dest_of(u, c, in);
	if (!d.section || !unit_find(u, d.section, d.off, &proc, &part))
		return false;
	return part == 0 && u->procs.at[proc].parts.at[0].lo == d.off && !is_special_name(u, u->procs.at[proc].name);
}

static void
mark_called(struct unit *u, const struct code *c, const struct insn *in)
{
	struct dest d = in->attr & INSN_REL ? dest_of(u, c, in) : (struct dest){0};
	uint32_t proc, part, own, own_part;

	if (!d.section || !unit_find(u, d.section, d.off, &proc, &part))
		return;
	if (u->procs.at[proc].parts.at[0].lo != d.off) {
		/* Code that enters it in the middle may really be part of it. */
		if (!unit_find(u, c->section, in->off, &own, &own_part) || own != proc)
			u->procs.at[proc].behind = u->machine->all_regs;
		return;
	}
	if (in->cls == CHORD_INSN_CALL || !unit_find(u, c->section, in->off, &own, &own_part) || own != proc)
		u->procs.at[proc].called = true;
}

static void
look_at(struct unit *u, const struct code *c, struct insn *in)
{
	bool spares = in->attr & INSN_SPARES;

	switch (in->cls) {
	case CHORD_INSN_JUMP: case CHORD_INSN_BRANCH: case CHORD_INSN_IJUMP:
		spares = !(in->regs_read & u->machine->scratch);
		break;
	case CHORD_INSN_CALL: case CHORD_INSN_ICALL: case CHORD_INSN_RET:
		break;
	default:
		return;
	}
	mark_called(u, c, in);
	spares &= u->text->compiler && !insn_is_inline(u, in) && (in->cls == CHORD_INSN_RET || is_plain(u, c, in));
	in->attr = (uint16_t)((in->attr & ~INSN_SPARES) | (spares ? INSN_SPARES : 0));
}

void
live_prepare(struct unit *u)
{
	for (uint32_t i = 0; i < u->ncode; i++)
		for (size_t k = 0; u->code[i] && k < u->code[i]->insns.n; k++)
			look_at(u, u->code[i], &u->code[i]->insns.at[k]);
}

/* Does something return into the middle of the procedure, or may it? Then an instruction that leaves the procedure may be a jump
 * inside of it (the return of a retpoline). */
static bool
is_come_back_to(const struct proc_text *p)
{
	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (p->arcs.at[e].kind == CHORD_EDGE_RECEIVE)
			return true;
	return false;
}

/* The registers whose values are lost to callers in other texts, who only know the convention, given those that the procedure
 * changes and does not save: its convention keeps none of these (ms_abi keeps some, preserve_most all). A result tells nothing. */
static uint16_t
lost_by_convention(const struct unit *u, uint16_t changed)
{
	uint16_t lost = u->machine->clobbered & ~u->machine->scratch;

	changed &= (uint16_t)~u->machine->more_results;
	if (changed & u->machine->others_keep)
		return lost;
	return changed & lost ? lost & (uint16_t)~u->machine->others_keep : 0;
}

/* The registers that are dead at a return: no caller expects their old values, and they are not live after calls in this text. They
 * are those that the procedure changes, unless it saves some, as functions with other calling conventions do, and others that its
 * convention then does not keep either; one more (machine->scratch); and, if nobody else calls it, all that are no results. Callers
 * in other texts are not seen, so a register that may be a result is live for them. */
static uint16_t
gone_of(const struct unit *u, const struct proc_text *p)
{
	uint16_t gone = p->address_taken ? u->machine->scratch : u->machine->clobbered, changed = 0;
	uint32_t kept;

	if (is_come_back_to(p))
		return 0;
	for (size_t t = 0; t < p->parts.n; t++) {
		const struct part *part = &p->parts.at[t];

		if (!u->text->compiler || !cfi_kept(u->cfi, part->first_stmt + 1, part->last_stmt, &kept) ||
		    kept & (u->machine->clobbered | u->machine->results))
			return 0;
		for (uint32_t i = part->first; i < part->last; i++) {
			const struct insn *in = &part->code->insns.at[i];

			changed |= insn_is_inline(u, in) ? 0 : in->regs_kill;
		}
	}
	gone |= changed | lost_by_convention(u, changed);
	if (p->address_taken)
		gone &= (uint16_t)~u->machine->more_results;
	return (uint16_t)(gone & u->machine->clobbered & ~p->behind & ~u->reserved);
}

static uint16_t
not_read(const struct flow *f, const struct insn *in)
{
	if (!(in->attr & INSN_SPARES))
		return 0;
	return in->cls == CHORD_INSN_RET ? f->gone : f->u->machine->scratch;
}

/* ---- flow ---- */

/* Does the instruction pass flags to code that is not seen? */
static bool
passes_flags(const struct flow *f, const struct insn *in)
{
	return !f->u->text->compiler || insn_is_inline(f->u, in);
}

static struct liveness
before(const struct flow *f, const struct insn *in, struct liveness after)
{
	uint8_t all = f->u->machine->all_flags;
	uint8_t kill = in->flags_kill, read = in->flags_read;

	if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL) {
		if (passes_flags(f, in))
			read = all;
		kill = all;
	}
	return (struct liveness){.flags_live = (uint8_t)((after.flags_live & ~kill) | read),
		.regs_live = (uint16_t)((after.regs_live & ~in->regs_kill) | (in->regs_read & ~not_read(f, in)))};
}

/* The number of the instruction at a place; UINT32_MAX: there is none. *c: the code that has it. */
static uint32_t
insn_at(const struct unit *u, struct dest d, const struct code **c)
{
	*c = d.section && d.section < u->ncode ? u->code[d.section] : NULL;
	return *c && d.off < (*c)->nbyte ? (*c)->at[d.off] : UINT32_MAX;
}

enum { FAR_ENOUGH = 64 };   /* instructions */

/* The flags that the code at a place may read though it has not set them. No procedure does so, but a part of one may, whatever its
 * name. If the code reads one before it has set it, up to the first other jump than a direct one, all are taken for read; also if
 * that is too far away to tell. */
static uint8_t
flags_read_at(const struct unit *u, struct dest d)
{
	const struct code *c;
	uint32_t i = insn_at(u, d, &c);
	uint8_t set = 0;

	for (int n = 0; n < FAR_ENOUGH; n++) {
		const struct insn *in;

		if (i == UINT32_MAX || i >= c->insns.n)
			return 0;
		in = &c->insns.at[i];
		if (in->flags_read & ~set)
			return u->machine->all_flags;
		set |= in->flags_kill;
		if (set == u->machine->all_flags)
			return 0;
		if (in->cls == CHORD_INSN_JUMP && in->attr & INSN_REL)
			i = insn_at(u, dest_of(u, c, in), &c);
		else if (in->cls == CHORD_INSN_OTHER || in->cls == CHORD_INSN_PAD)
			i++;
		else
			return 0;
	}
	return u->machine->all_flags;
}

/* What code outside may read when control leaves at the end of block v. */
static struct liveness
at_exit(const struct flow *f, uint32_t v)
{
	const struct block_text *b = &f->p->block_text.at[v];
	const struct code *c = f->p->parts.at[b->part].code;
	const struct insn *in = &c->insns.at[b->last - 1];
	bool jumps = in->cls == CHORD_INSN_JUMP || in->cls == CHORD_INSN_BRANCH;
	uint16_t gone = not_read(f, in) & f->gone;
	uint8_t flags = 0;

	if (passes_flags(f, in))
		flags = f->u->machine->all_flags;
	else if (jumps && in->attr & INSN_REL)
		flags = flags_read_at(f->u, dest_of(f->u, c, in));
	return (struct liveness){.flags_live = flags, .regs_live = (uint16_t)(f->u->machine->all_regs & ~gone)};
}

static struct liveness
after_block(const struct flow *f, uint32_t v)
{
	const struct graph *g = f->p->graph;
	struct liveness live = {0};

	for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1]; k++) {
		uint32_t to = g->edge[g->out[k]].to;
		struct liveness in = to == f->p->exit && v < f->p->blocks.n ? at_exit(f, v) : f->in[to];

		live.flags_live |= in.flags_live;
		live.regs_live |= in.regs_live;
	}
	return live;
}

static bool
visit(struct flow *f, uint32_t v)
{
	struct liveness live = after_block(f, v), old = f->in[v];

	if (v < f->p->blocks.n) {
		const struct block_text *b = &f->p->block_text.at[v];
		const struct code *c = f->p->parts.at[b->part].code;

		for (uint32_t i = b->last; i-- > b->first;) {
			live = before(f, &c->insns.at[i], live);
			live.regs_live |= f->everywhere;
		}
		if (c->insns.at[b->first].leader & LEADER_LAND)
			f->everywhere |= live.regs_live;
	}
	f->in[v] = live;
	return live.flags_live != old.flags_live || live.regs_live != old.regs_live;
}

static void
fill(struct flow *f)
{
	struct proc_text *p = f->p;
	uint32_t n = 0;

	p->live_base = pool_array(f->u->pool, p->parts.n, sizeof *p->live_base);
	for (uint32_t t = 0; t < p->parts.n; t++) {
		p->live_base[t] = n;
		n += p->parts.at[t].last - p->parts.at[t].first + 1;
	}
	p->live = pool_array(f->u->pool, n + 1, sizeof *p->live);
	for (uint32_t v = 0; v < p->blocks.n; v++) {
		const struct block_text *b = &p->block_text.at[v];
		const struct code *c = p->parts.at[b->part].code;
		struct liveness live = after_block(f, v);

		for (uint32_t i = b->last; i-- > b->first;) {
			live = before(f, &c->insns.at[i], live);
			live.regs_live |= f->everywhere;
			p->live[p->live_base[b->part] + i - p->parts.at[b->part].first] = live;
		}
	}
}

static void
solve(struct unit *u, struct proc_text *p)
{
	struct flow f = {.u = u, .p = p, .in = pool_array(u->pool, p->graph->nvert, sizeof *f.in)};
	bool again = true;

	f.gone = p->gone;
	f.everywhere = u->reserved;
	f.in[p->exit] = (struct liveness){.flags_live = u->text->compiler ? 0 : u->machine->all_flags,
		.regs_live = u->machine->all_regs};
	while (again) {
		again = false;
		for (uint32_t v = p->graph->nvert; v-- > 0;)
			if (v != p->exit && v != p->entry)
				again |= visit(&f, v);
	}
	fill(&f);
}

/* ---- what is live after calls ---- */

/* Procedures whose liveness has to be computed, for the first time or because more is live after calls of them than before. */
struct work {
	struct unit *u;
	VEC(uint32_t) todo;   /* their numbers; the next one is last */
	bool *waits;          /* by procedure: it is in todo */
};

static void
add_work(struct work *w, uint32_t proc)
{
	if (w->waits[proc] || w->u->procs.at[proc].reason)
		return;
	w->waits[proc] = true;
	VEC_PUSH(w->todo, proc);
}

/* Adds registers to those that are live after calls of a procedure. */
static void
add_behind(struct work *w, uint32_t proc, uint16_t live)
{
	struct proc_text *p = &w->u->procs.at[proc];

	if (!(live & ~p->behind))
		return;
	p->behind |= live;
	add_work(w, proc);
}

/* Adds registers to all procedures that may be called through a pointer. */
static void
add_to_address_taken(struct work *w, uint16_t live)
{
	if (!(live & ~w->u->behind_pointers))
		return;
	w->u->behind_pointers |= live;
	for (uint32_t i = 0; i < w->u->procs.n; i++)
		if (w->u->procs.at[i].address_taken)
			add_behind(w, i, live);
}

static void
add_callee(struct work *w, const struct code *c, const struct insn *in, const struct proc_text *own, uint16_t live)
{
	struct unit *u = w->u;
	struct dest d = in->attr & INSN_REL ? dest_of(u, c, in) : (struct dest){0};
	uint32_t proc, part;

	if (in->cls == CHORD_INSN_ICALL || in->cls == CHORD_INSN_IJUMP)
		add_to_address_taken(w, live);
	else if (d.section && unit_find(u, d.section, d.off, &proc, &part) &&
	         (&u->procs.at[proc] != own || in->cls == CHORD_INSN_CALL))
		add_behind(w, proc, live);
}

static bool
leaves(const struct insn *in)
{
	return in->cls == CHORD_INSN_JUMP || in->cls == CHORD_INSN_BRANCH || in->cls == CHORD_INSN_IJUMP;
}

/* The registers that are live after a call. */
static uint16_t
behind(const struct flow *f, uint32_t v, uint32_t i)
{
	const struct block_text *b = &f->p->block_text.at[v];
	const struct graph *g = f->p->graph;
	uint16_t live = 0;

	if (i + 1 < b->last)
		return live_before(f->p, b->part, i + 1).regs_live;
	for (uint32_t k = g->out_at[v]; k < g->out_at[v + 1]; k++)
		if (g->edge[g->out[k]].to < f->p->blocks.n)
			live |= live_on_edge(f->u, f->p, v, g->edge[g->out[k]].to).regs_live;
		else
			live |= f->u->machine->all_regs;
	return live;
}

/* Adds what is live after each call to its callee. If control leaves for another procedure by a jump, what the callers of this one
 * read is live after that procedure. */
static void
look_behind(struct work *w, const struct proc_text *p)
{
	struct unit *u = w->u;
	struct flow f = {.u = u, .p = (struct proc_text *)p, .gone = p->gone};

	for (uint32_t v = 0; v < p->blocks.n; v++) {
		const struct block_text *b = &p->block_text.at[v];
		const struct code *c = p->parts.at[b->part].code;

		for (uint32_t i = b->first; i < b->last; i++) {
			const struct insn *in = &c->insns.at[i];

			if (in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL)
				add_callee(w, c, in, p, behind(&f, v, i));
			else if (leaves(in))
				add_callee(w, c, in, p, (uint16_t)(u->machine->all_regs & ~p->gone));
		}
	}
}

/* Unknown code reads everything. */
static void
look_behind_unknown(struct work *w)
{
	const struct unit *u = w->u;

	for (uint32_t k = 0; k < u->ncode; k++)
		for (size_t i = 0; u->code[k] && i < u->code[k]->insns.n; i++) {
			const struct insn *in = &u->code[k]->insns.at[i];
			uint32_t proc, part;

			if ((in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL || leaves(in)) &&
			    (!unit_find(u, u->code[k]->section, in->off, &proc, &part) || u->procs.at[proc].reason))
				add_callee(w, u->code[k], in, NULL, u->machine->all_regs);
		}
}

/* Computes liveness if other registers are gone than before. False: nothing has changed. */
static bool
settle(struct unit *u, struct proc_text *p)
{
	uint16_t gone = gone_of(u, p);

	if (p->live && gone == p->gone)
		return false;
	p->gone = gone;
	solve(u, p);
	return true;
}

void
live_find(struct unit *u)
{
	struct work w = {.u = u, .waits = pool_array(u->pool, u->procs.n + 1, sizeof *w.waits)};

	/* Compilers mostly write callees before their callers, so the last ones are taken first. */
	for (uint32_t i = 0; i < u->procs.n; i++)
		add_work(&w, i);
	look_behind_unknown(&w);
	for (uint32_t i = 0; i < u->procs.n; i++)
		if (!u->procs.at[i].reason)
			graph_index(u->procs.at[i].graph);
	while (w.todo.n) {
		uint32_t i = w.todo.at[--w.todo.n];

		w.waits[i] = false;
		if (settle(u, &u->procs.at[i]))
			look_behind(&w, &u->procs.at[i]);
	}
	free(w.todo.at);
}

struct liveness
live_on_edge(const struct unit *u, const struct proc_text *p, uint32_t from, uint32_t to)
{
	struct flow f = {.u = u, .p = (struct proc_text *)p, .gone = p->gone};
	struct liveness live = {.flags_live = u->machine->all_flags, .regs_live = u->machine->all_regs};

	if (to == p->exit)
		live = at_exit(&f, from);
	else if (to < p->blocks.n)
		live = live_before(p, p->blocks.at[to].part, p->block_text.at[to].first);
	if (from < p->blocks.n)
		live.no_stack |= live_before(p, p->blocks.at[from].part, p->block_text.at[from].last - 1).no_stack;
	return live;
}
