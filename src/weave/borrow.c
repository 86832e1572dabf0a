/* SPDX-License-Identifier: MIT */
/* Additions through a borrowed register.
 *
 * In a short loop without a base register, mostly in assembly by hand, where no register is known to be dead, a PC-relative
 * addition waits for the one before. It does not if a register has the address, so one is borrowed for a moment: its value waits on
 * the stack, past the red zone. That takes five instructions more, and in a short loop less time.
 *
 * A restartable sequence (rseq) may be left between any two instructions for a place that expects the stack pointer to be as it
 * was, so texts with such sequences have none of this. Nor have texts that tell unwinders by data where frames are. */
#include "weave/base.h"

/* Does an instruction use memory beyond the red zone, which only signals and calls are allowed to? */
static bool
is_beyond(const struct unit *u, const uint8_t *bytes, size_t n)
{
	int sp = u->machine->sp;
	struct access access[ACCESSES_MOST];
	struct move m;
	bool is = u->machine->move(bytes, n, &m) && m.address && m.base == sp && m.index < 0 && m.to != sp && m.disp < -RED_ZONE;

	for (unsigned k = u->machine->accesses(NULL, bytes, n, access); k-- > 0;)
		is |= (access[k].base == sp || access[k].index == sp) && access[k].disp < -RED_ZONE;
	return is;
}

static bool
any_beyond(const struct bases *b)
{
	for (uint32_t v = 0; v < b->w->proc->blocks.n; v++) {
		const struct block_text *k = &b->w->proc->block_text.at[v];
		const struct code *c = b->w->proc->parts.at[k->part].code;

		for (uint32_t i = k->first; i < k->last; i++)
			if (c->insns.at[i].below == INT8_MIN &&
			    is_beyond(b->u, b->u->object->sections[c->section].data + c->insns.at[i].off, c->insns.at[i].len))
				return true;
	}
	return false;
}

/* What the instructions of each loop do, with those of the loops in it. */
struct inside {
	uint16_t *used;          /* by loop: registers that they use */
	bool *leaves;            /* control leaves it for a callee or the kernel */
};

static struct inside
look_inside(const struct bases *b)
{
	const struct loops *l = b->loops;
	struct inside in = {pool_array(b->pool, l->nloop, sizeof *in.used), pool_array(b->pool, l->nloop, sizeof *in.leaves)};

	for (uint32_t v = 0; v < b->w->proc->blocks.n; v++) {
		const struct block_text *k = &b->w->proc->block_text.at[v];

		for (uint32_t i = k->first; i < k->last && l->inner[v] != GRAPH_NONE; i++) {
			const struct insn *insn = woven_insn(b->w, v, i);

			in.used[l->inner[v]] |= (uint16_t)(insn->regs_read | insn->regs_kill);
			in.leaves[l->inner[v]] |= insn_is_call(insn) || insn->cls == CHORD_INSN_SYSCALL;
		}
	}
	for (uint32_t k = l->nloop; k-- > 0;)
		if (l->parent[k] != GRAPH_NONE) {
			in.used[l->parent[k]] |= in.used[k];
			in.leaves[l->parent[k]] |= in.leaves[k];
		}
	return in;
}

/* The register whose value the loop waits for least, plus 1; 0: there is none. Bases cannot be borrowed, nor can registers in which
 * unwinders look for a frame or for a value of the caller's. */
static uint8_t
choose(const struct bases *b, uint16_t used)
{
	const struct machine *m = b->u->machine;
	uint16_t may = (uint16_t)(m->base_regs & (m->clobbered | m->results) & ~b->never);

	may &= may & ~used ? (uint16_t)~used : UINT16_MAX;
	return may ? (uint8_t)(32 - __builtin_clz(may)) : 0;
}

static void
borrow(struct bases *b, const struct inside *in, const struct use *use)
{
	struct site *s = use->site;
	uint32_t loop = b->loops->inner[use->edge == GRAPH_NONE ? s->block : b->g->edge[use->edge].from];

	if (!use->waits_alone || in->leaves[loop] || !s->counter || s->promoted || s->base[BASE_COUNTERS] || s->live.no_stack ||
	    b->u->machine->price(s->live) >= 2)
		return;
	s->borrows = choose(b, in->used[loop]);
	if (s->borrows)
		b->w->bases[BASE_COUNTERS] |= (uint16_t)(1u << (s->borrows - 1));
}

void
place_borrows(struct bases *b)
{
	struct inside in;

	base_find_uses(b, BASE_COUNTERS);
	if (!b->uses.n || b->u->restartable || b->u->frames_as_data || any_beyond(b))
		return;
	in = look_inside(b);
	below_room(b->u, b->w, &b->w->near);
	for (size_t i = 0; i < b->uses.n; i++)
		borrow(b, &in, &b->uses.at[i]);
}
