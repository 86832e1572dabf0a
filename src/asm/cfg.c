/* SPDX-License-Identifier: MIT */
/* The control-flow graph of a procedure. Its vertices are the blocks, ENTRY, EXIT, a hub, and gates. All indirect jumps lead to the
 * hub, and edges lead from it to every address that is taken. A fault leads there, too, if a handler may continue elsewhere. An
 * edge that never runs does no harm; a missing one makes every count wrong. */
#include "asm/asm.h"
#include "asm/dest.h"

#include <stdlib.h>
#include <string.h>

struct builder {
	struct unit *u;
	struct proc_text *p;
	uint32_t number;              /* of the procedure in the unit */
	uint32_t **block_of;          /* by part and instruction of the part */
	bool address_taken, indirect, leaves; /* some address is taken; there is an indirect jump; one that may leave the
	                                       * procedure */
	bool framed;                  /* all places to which indirect jumps may lead have a frame, and so has one of the jumps */
	bool ends;                    /* after some trap, control may go to the hub, or end */
	bool faults;                  /* instructions may fault, and there are places to continue at */
	uint32_t *gate;               /* by block: its gate, before it if its first instruction may fault, after it if it ends in a
	                               * trap; or GRAPH_NONE */
};

static struct insn *
insn_at(const struct proc_text *p, uint32_t part, uint32_t i)
{
	return &p->parts.at[part].code->insns.at[i];
}

static const struct insn *
last_insn(const struct builder *b, uint32_t block)
{
	const struct block_text *k = &b->p->block_text.at[block];

	return insn_at(b->p, k->part, k->last - 1);
}

/* Is it a call into the middle of the procedure itself (a retpoline, or a subroutine in assembly)? */
static bool
calls_inside(const struct builder *b, const struct code *c, const struct insn *in)
{
	struct dest d = in->cls == CHORD_INSN_CALL ? dest_of(b->u, c, in) : (struct dest){0};
	const struct part *p = &b->p->parts.at[0];
	uint32_t proc, part;

	return d.section && unit_find(b->u, d.section, d.off, &proc, &part) && proc == b->number &&
	       !(d.section == p->code->section && d.off == p->lo);
}

/* Is it a direct call of a function that may return more than once? A block begins after it. If all calls are cut, a block begins
 * after each call. */
static bool
returns_twice(const struct builder *b, const struct code *c, const struct insn *in)
{
	static const char *const names[] = {"setjmp", "sigsetjmp", "savectx", "vfork", "getcontext"};
	const struct obj_reloc *r;
	struct str name;

	if (in->cls != CHORD_INSN_CALL && in->cls != CHORD_INSN_ICALL)
		return false;
	if (b->u->calls_cut)
		return true;
	r = reloc_in(b->u->object, c->section, in->off, in->off + in->len);
	if (!r || r->sym >= b->u->object->nsymbol)
		return false;
	name = str_of(b->u->object->symbols[r->sym].name);
	for (int i = 0; i < 2 && str_starts(name, "_"); i++)
		name = (struct str){name.at + 1, name.n - 1};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

static bool
ends_block(const struct builder *b, const struct code *c, const struct insn *in)
{
	return in->cls == CHORD_INSN_BRANCH || !(in->attr & INSN_FALLS) || calls_inside(b, c, in) || returns_twice(b, c, in);
}

static void
begin_block(struct proc_text *p, uint32_t part, uint32_t insn)
{
	VEC_PUSH(p->blocks, (struct block){.part = part});
	VEC_PUSH(p->block_text, (struct block_text){part, insn, insn});
}

static void
make_blocks(struct builder *b, uint32_t part)
{
	struct part *t = &b->p->parts.at[part];
	uint32_t *of = pool_array(b->u->pool, t->last - t->first, sizeof *of);
	bool fresh = true;

	b->block_of[part] = of;
	for (uint32_t i = t->first; i < t->last; i++) {
		struct insn *in = insn_at(b->p, part, i);

		if (i > t->first && in[-1].off + in[-1].len != in->off)
			fresh = true;
		if (fresh || in->leader)
			begin_block(b->p, part, i);
		of[i - t->first] = (uint32_t)b->p->blocks.n - 1;
		b->p->block_text.at[b->p->blocks.n - 1].last = i + 1;
		fresh = ends_block(b, t->code, in);
		b->address_taken |= in->leader & LEADER_ADDRESS;
	}
}

static bool
is_trap(const struct insn *in)
{
	return in->cls == CHORD_INSN_TRAP;
}

/* Does the block have a gate before it, at which it is not known yet whether its first instruction faults? */
static bool
has_gate_before(const struct builder *b, uint32_t block)
{
	return block < b->p->blocks.n && b->gate[block] != GRAPH_NONE && !is_trap(last_insn(b, block));
}

static void
add_arc(struct proc_text *p, uint32_t from, uint32_t to, uint8_t kind)
{
	VEC_PUSH(p->arcs, (struct arc){.from = from, .to = to, .kind = kind});
	VEC_PUSH(p->arc_text, (struct arc_text){0});
}

static void
add_edge(struct builder *b, uint32_t from, uint32_t to, uint8_t kind)
{
	uint32_t in = has_gate_before(b, to) && from != b->gate[to] ? b->gate[to] : to;
	uint32_t e = graph_edge(b->p->graph, from, in);

	add_arc(b->p, from, in, kind);
	if (e + 1 != b->p->arcs.n)
		bug("arc %u out of step", e);
}

static void
fix_last(struct builder *b)
{
	b->p->graph->edge[b->p->graph->nedge - 1].fixed = true;
}

/* The block that begins at a destination in this procedure, or GRAPH_NONE if it lies elsewhere. */
static uint32_t
block_at(struct builder *b, struct dest d)
{
	uint32_t proc, part, i;

	if (!d.section || !unit_find(b->u, d.section, d.off, &proc, &part) || proc != b->number)
		return GRAPH_NONE;
	if (d.off >= b->p->parts.at[part].hi)
		return GRAPH_NONE;
	i = b->u->code[d.section]->at[d.off];
	if (i == UINT32_MAX) {
		b->p->reason = pool_printf(b->u->pool, "a jump to +0x%x, which begins no instruction",
		                           d.off - b->p->parts.at[part].lo);
		return GRAPH_NONE;
	}
	return b->block_of[part][i - b->p->parts.at[part].first];
}

/* A direct jump to the beginning of a procedure is a tail call, even of the procedure itself: the linker may replace the
 * procedure. */
static bool
is_tail_call(const struct builder *b, struct dest d)
{
	return d.named && d.section == b->p->parts.at[0].code->section && d.off == b->p->parts.at[0].lo;
}

static void
jump_edge(struct builder *b, uint32_t block, const struct insn *in, uint8_t kind)
{
	struct dest d = dest_of(b->u, b->p->parts.at[b->p->blocks.at[block].part].code, in);
	uint32_t to = is_tail_call(b, d) ? GRAPH_NONE : block_at(b, d);

	if (to == GRAPH_NONE)
		add_edge(b, block, b->p->exit, CHORD_EDGE_EXIT);
	else
		add_edge(b, block, to, kind);
	b->p->arc_text.at[b->p->arcs.n - 1].jump = true;
	if (to != GRAPH_NONE && insn_at(b->p, b->p->blocks.at[to].part, b->p->block_text.at[to].first)->stmt == UINT32_MAX)
		b->p->reason = "a jump into the middle of a statement";
	b->p->arc_text.at[b->p->arcs.n - 1].stuck = !can_retarget(b->u, in);
}

static void
fall_edge(struct builder *b, uint32_t block, const struct insn *in)
{
	const struct block_text *k = &b->p->block_text.at[block];
	const struct part *t = &b->p->parts.at[k->part];

	if (k->last < t->last && insn_at(b->p, k->part, k->last)->off == in->off + in->len)
		add_edge(b, block, b->block_of[k->part][k->last - t->first], CHORD_EDGE_FALL);
	else
		add_edge(b, block, b->p->exit, CHORD_EDGE_EXIT);
}

/* Does the block end in a jump into another activation's frame? In text by hand, such code may only have saved its own stack
 * pointer. */
static bool
is_nonlocal(const struct builder *b, uint32_t block)
{
	return (b->u->text->compiler || !b->address_taken) && nonlocal_jumps(b->u, b->p, block);
}

/* Is there an indirect jump that may lead into the procedure? */
static bool
jumps_inside(const struct builder *b)
{
	for (uint32_t i = 0; i < b->p->blocks.n; i++)
		if (last_insn(b, i)->cls == CHORD_INSN_IJUMP && !is_nonlocal(b, i))
			return b->address_taken;
	return false;
}

/* Is the compiler known to have a frame open before the instruction? */
static bool
has_frame(const struct builder *b, const struct insn *in)
{
	return b->u->text->compiler && in->stmt != UINT32_MAX && cfi_frame_open(b->u->cfi, in->stmt);
}

static void
indirect_edge(struct builder *b, uint32_t block, const struct insn *in)
{
	bool tail = b->framed && !has_frame(b, in);

	if (is_nonlocal(b, block)) {
		add_edge(b, block, b->p->exit,
		    nonlocal_find(b->u, b->p, block, &(struct nonlocal){0}) ? CHORD_EDGE_NONLOCAL : CHORD_EDGE_LOST);
		return;
	}
	if (b->indirect && insn_is_inline(b->u, in))
		b->p->reason = "an indirect jump in inline assembly";
	if (!b->indirect || tail) {
		add_edge(b, block, b->p->exit, CHORD_EDGE_EXIT);
		return;
	}
	b->leaves |= !has_frame(b, in);
	add_edge(b, block, b->p->hub, CHORD_EDGE_INDIRECT);
}

/* Adds the edges of a call into the procedure itself. Control goes to the target. The place after the call is an entry, in case
 * something returns there. */
static void
inside_edges(struct builder *b, uint32_t block, const struct insn *in)
{
	const struct block_text *k = &b->p->block_text.at[block];
	const struct part *t = &b->p->parts.at[k->part];
	uint32_t behind;

	jump_edge(b, block, in, CHORD_EDGE_JUMP);
	if (k->last == t->last || insn_at(b->p, k->part, k->last)->off != in->off + in->len)
		return;
	behind = b->block_of[k->part][k->last - t->first];
	if (behind != proc_lands(b->p, b->p->graph->edge[b->p->graph->nedge - 1].to))
		add_edge(b, b->p->entry, behind, CHORD_EDGE_LAND);
}

/* Adds the edge to what follows an instruction that is no jump. */
static void
behind_edge(struct builder *b, uint32_t block, const struct insn *in)
{
	const struct code *c = b->p->parts.at[b->p->blocks.at[block].part].code;

	fall_edge(b, block, in);
	b->p->arc_text.at[b->p->arcs.n - 1].twice = b->p->graph->edge[b->p->arcs.n - 1].to != b->p->exit && returns_twice(b, c, in);
}

static uint16_t
block_leader(const struct builder *b, uint32_t block)
{
	const struct block_text *k = &b->p->block_text.at[block];

	return insn_at(b->p, k->part, k->first)->leader;
}

/* In text by hand any code may jump to a receiver, for instance to go on with what was to come later. So such jumps end an
 * activation, and such a place begins one. */
static bool
hub_leads_to(const struct builder *b, uint32_t block)
{
	uint16_t leader = block_leader(b, block);

	if (!b->u->text->compiler && leader & LEADER_RECEIVE)
		return false;
	return leader & LEADER_ADDRESS && b->p->hub != GRAPH_NONE && !(leader & LEADER_FAULT);
}

/* Do the frames that the compiler states show that an indirect jump without an open frame leaves the procedure? */
static bool
is_framed(const struct builder *b)
{
	const struct proc_text *p = b->p;
	bool jumps = false, lands = true;

	for (uint32_t i = 0; i < p->blocks.n && lands; i++) {
		const struct block_text *k = &p->block_text.at[i];

		jumps |= last_insn(b, i)->cls == CHORD_INSN_IJUMP && !is_nonlocal(b, i) && has_frame(b, last_insn(b, i));
		lands = !hub_leads_to(b, i) || has_frame(b, insn_at(p, k->part, k->first));
	}
	return jumps && lands;
}

/* Does the block have an edge from ENTRY, whatever else leads to it? */
static bool
is_entered(const struct builder *b, uint32_t block)
{
	uint16_t leader = block_leader(b, block);

	return leader & (LEADER_LAND | LEADER_ENTRY | LEADER_RECEIVE) || (leader & LEADER_ADDRESS && b->p->hub == GRAPH_NONE);
}

/* Adds the edges of a trap. A signal handler may continue the program after the trap, past data that stands there, or elsewhere if
 * a table says so. A block has at most one place for the counters of edges that cannot have code. So the edge to the place after
 * the trap goes through the hub if the hub leads to the same block. */
static void
trap_edges(struct builder *b, uint32_t block, const struct insn *in)
{
	const struct block_text *k = &b->p->block_text.at[block];
	uint32_t behind = b->block_of[k->part][k->last - b->p->parts.at[k->part].first];
	bool by_hub = hub_leads_to(b, behind);

	add_edge(b, block, b->gate[block], CHORD_EDGE_INDIRECT);
	if (!by_hub)
		add_edge(b, b->gate[block], behind, CHORD_EDGE_FAULT);
	if (!by_hub && (!(in->leader & LEADER_FAULT) || b->p->hub == GRAPH_NONE)) {
		add_edge(b, b->gate[block], b->p->exit, CHORD_EDGE_EXIT);
		return;
	}
	add_edge(b, b->gate[block], b->p->hub, CHORD_EDGE_FAULT);
	b->ends = true;
}

/* Adds the edge of a return, or of something else that ends an activation. A return in inline assembly may be a jump to a place
 * whose address was pushed. Without a hub, such a place is entered from ENTRY. */
static void
leave_edge(struct builder *b, uint32_t block, const struct insn *in)
{
	if (in->cls == CHORD_INSN_RET && b->p->hub != GRAPH_NONE && b->u->text->compiler && insn_is_inline(b->u, in))
		b->p->reason = "a return in inline assembly, which may be an indirect jump";
	add_edge(b, block, b->p->exit, CHORD_EDGE_EXIT);
}

static void
block_edges(struct builder *b, uint32_t block)
{
	const struct insn *in = last_insn(b, block);

	switch (in->cls) {
	case CHORD_INSN_BRANCH:
		jump_edge(b, block, in, CHORD_EDGE_TAKEN);
		fall_edge(b, block, in);
		break;
	case CHORD_INSN_JUMP:
		jump_edge(b, block, in, CHORD_EDGE_JUMP);
		break;
	case CHORD_INSN_IJUMP:
		indirect_edge(b, block, in);
		break;
	default:
		if (calls_inside(b, b->p->parts.at[b->p->blocks.at[block].part].code, in))
			inside_edges(b, block, in);
		else if (in->attr & INSN_FALLS)
			behind_edge(b, block, in);
		else if (b->gate[block] != GRAPH_NONE && is_trap(in))
			trap_edges(b, block, in);
		else
			leave_edge(b, block, in);
	}
	if (has_gate_before(b, block)) {
		add_edge(b, b->gate[block], block, CHORD_EDGE_FALL);
		add_edge(b, b->gate[block], b->p->hub, CHORD_EDGE_FAULT);
	}
}

/* How a place is entered to which others may jump by its address. If the text never gives its stack pointer away, what goes on
 * there has left no activations behind on the stack. */
static uint8_t
received_by(const struct builder *b)
{
	return b->u->stack_private ? CHORD_EDGE_ENTRY : CHORD_EDGE_RECEIVE;
}

/* Edges that do not begin at a block's last instruction. */
static void
entry_edges(struct builder *b)
{
	struct proc_text *p = b->p;

	for (uint32_t i = 0; i < p->blocks.n; i++) {
		uint16_t leader = block_leader(b, i);
		bool hub = hub_leads_to(b, i);

		if (hub)
			add_edge(b, p->hub, i, CHORD_EDGE_INDIRECT);
		if (hub && leader & (LEADER_LAND | LEADER_ENTRY | LEADER_RECEIVE))
			p->reason = "a place in it that jumps from inside and from outside come to";
		else if (leader & LEADER_LAND)
			add_edge(b, p->entry, i, CHORD_EDGE_LAND);
		else if (leader & LEADER_RECEIVE || (leader & LEADER_ADDRESS && b->p->hub == GRAPH_NONE))
			add_edge(b, p->entry, i, received_by(b));
		else if (i && leader & LEADER_ENTRY)
			add_edge(b, p->entry, i, CHORD_EDGE_ENTRY);
	}
	if ((b->indirect && b->leaves) || b->ends) {
		add_edge(b, p->hub, p->exit, CHORD_EDGE_EXIT);
		fix_last(b);
	}
}

/* Code that nothing known leads to may be entered in an unknown way. Each such place gets an entry of its own, so that it is
 * counted in any case. */
static void
reach_all(struct builder *b)
{
	struct proc_text *p = b->p;
	struct graph *g = p->graph;
	VEC(uint32_t) todo = {0};
	bool *seen = pool_array(b->u->pool, g->nvert, sizeof *seen);
	VEC(uint32_t) extra = {0};

	graph_index(g);
	for (uint32_t i = 0; i <= p->blocks.n; i++) {
		uint32_t v = i ? i - 1 : p->entry;

		if (seen[v])
			continue;
		if (i)
			VEC_PUSH(extra, v);
		seen[v] = true;
		VEC_PUSH(todo, v);
		while (todo.n) {
			uint32_t w = todo.at[--todo.n];

			for (uint32_t k = g->out_at[w]; k < g->out_at[w + 1]; k++) {
				uint32_t to = g->edge[g->out[k]].to;

				if (!seen[to]) {
					seen[to] = true;
					VEC_PUSH(todo, to);
				}
			}
		}
	}
	for (size_t i = 0; i < extra.n; i++) {
		if (b->p->hub != GRAPH_NONE && block_leader(b, extra.at[i]) & LEADER_ADDRESS)
			p->reason = "a place in it that jumps from inside and from outside come to";
		add_edge(b, p->entry, extra.at[i], CHORD_EDGE_ENTRY);
	}
	free(todo.at);
	free(extra.at);
}

static void
refuse_distances(struct builder *b, const struct part *part)
{
	for (uint32_t i = part->first; i < part->last && !b->p->reason; i++) {
		const struct insn *in = &part->code->insns.at[i];
		enum distance how = distance_of(b->u, b->number, part->code, in);

		if (how != DISTANCE_NONE)
			b->p->reason = pool_printf(b->u->pool, "a distance %s bytes at +0x%x",
			                           how == DISTANCE_WRITTEN ? "written as" : "in", in->off - part->lo);
	}
}

/* Refuses a procedure with bytes that could not be read as code. What follows its last instruction belongs to it, too. */
static void
refuse_bad(struct builder *b, uint32_t t)
{
	static const char *const before[] = {"the bytes at", "a jump into an instruction, to", "the bytes at"};
	static const char *const behind[] = {" are no instruction", "", " may be code or data"};
	const struct part *part = &b->p->parts.at[t];

	for (size_t i = 0; i < part->code->bad.n && !b->p->reason; i++) {
		const struct bad *bad = &part->code->bad.at[i];
		uint32_t proc, owner;

		if (bad->off < part->lo)
			continue;
		if (bad->off <= part->hi || (unit_find(b->u, part->code->section, bad->off, &proc, &owner) &&
		                             proc == b->number && owner == t))
			b->p->reason = pool_printf(b->u->pool, "%s +0x%x%s", before[bad->kind], bad->off - part->lo,
			                           behind[bad->kind]);
	}
}

static bool
is_refused(struct builder *b)
{
	struct proc_text *p = b->p;

	for (uint32_t t = 0; t < p->parts.n && !p->reason; t++) {
		const struct part *part = &p->parts.at[t];
		const struct code *c = part->code;

		refuse_bad(b, t);
		for (uint32_t i = part->first; i < part->last && !p->reason; i++)
			if (c->insns.at[i].stmt != UINT32_MAX && b->u->text->stmts.at[c->insns.at[i].stmt].flags & STMT_ALIEN)
				p->reason = "16- or 32-bit code";
		if (part->first_stmt == UINT32_MAX)
			p->reason = "no statement of its own begins it";
		else if (c->insns.at[part->first].off != part->lo)
			p->reason = "what it begins with is not understood";
		for (uint32_t i = part->first; i < part->last && !p->reason; i++)
			if (c->insns.at[i].attr & INSN_SKIPS)
				p->reason = "a call that comes back behind the next instruction (-fsplit-stack)";
		refuse_distances(b, part);
	}
	return p->reason;
}

/* Does a jump whose operand cannot be replaced lead to the place? Then no code for other edges can stand before it. */
static bool
is_fixed_target(const struct builder *b, const struct code *c, uint32_t off)
{
	for (uint32_t i = 0; i < b->p->blocks.n; i++) {
		const struct insn *in = last_insn(b, i);

		if (in->attr & INSN_REL && in->cls != CHORD_INSN_CALL && !can_retarget(b->u, in) && !(in->attr & INSN_RELOC) &&
		    b->p->parts.at[b->p->blocks.at[i].part].code == c && in->target == off)
			return true;
	}
	return false;
}

/* Does control go on after the block's trap? Traps in assembly by hand do not always end the program, and compilers assume that
 * inline assembly goes on after them. */
static bool
goes_on(const struct builder *b, uint32_t block)
{
	const struct block_text *k = &b->p->block_text.at[block];
	const struct insn *in = last_insn(b, block);

	/* If there is an edge from ENTRY, an activation that goes on after the trap is counted. */
	return is_trap(in) && k->last < b->p->parts.at[k->part].last &&
	       !is_entered(b, b->block_of[k->part][k->last - b->p->parts.at[k->part].first]) &&
	       !is_fixed_target(b, b->p->parts.at[k->part].code, insn_at(b->p, k->part, k->last)->off) &&
	       (!b->u->text->compiler || insn_is_inline(b->u, in));
}

/* Gates are vertices without code. At a gate it is decided whether the next instruction is completed. */
static void
find_gates(struct builder *b)
{
	struct proc_text *p = b->p;
	uint32_t first = p->exit + 1 + (p->hub != GRAPH_NONE);

	b->gate = pool_array(b->u->pool, p->blocks.n, sizeof *b->gate);
	for (uint32_t i = 0; i < p->blocks.n; i++) {
		const struct block_text *k = &p->block_text.at[i];
		const struct insn *in = insn_at(p, k->part, k->first);
		bool before = b->faults && in->leader & LEADER_FAULT && !is_trap(in), behind = goes_on(b, i);

		b->gate[i] = GRAPH_NONE;
		if (before && is_trap(last_insn(b, i)))
			p->reason = "an instruction that may fault before a trap";
		if (!before && !behind)
			continue;
		b->gate[i] = first + (uint32_t)p->gates.n;
		VEC_PUSH(p->gates, before ? i : b->block_of[k->part][k->last - p->parts.at[k->part].first]);
	}
}

/* Fills in what the map says of the instructions of blocks. */
static void
fill_blocks(struct unit *u, struct proc_text *p)
{
	for (uint32_t i = 0; i < p->blocks.n; i++) {
		const struct block_text *t = &p->block_text.at[i];
		struct block *k = &p->blocks.at[i];
		uint8_t *insn = pool_alloc(u->pool, t->last - t->first);

		k->offset = insn_at(p, t->part, t->first)->off - p->parts.at[t->part].lo;
		k->ninsn = t->last - t->first;
		k->insn = insn;
		for (uint32_t n = t->first; n < t->last; n++)
			*insn++ = (uint8_t)(insn_at(p, t->part, n)->len | insn_at(p, t->part, n)->cls << 4);
	}
}

void
cfg_build(struct unit *u, struct proc_text *p)
{
	struct builder b = {.u = u, .p = p, .number = (uint32_t)(p - u->procs.at)};

	if (is_refused(&b))
		return;
	b.faults = fault_find(u, p);
	b.block_of = pool_array(u->pool, p->parts.n, sizeof *b.block_of);
	for (uint32_t t = 0; t < p->parts.n; t++)
		make_blocks(&b, t);
	fill_blocks(u, p);
	p->entry = (uint32_t)p->blocks.n;
	p->exit = p->entry + 1;
	b.indirect = jumps_inside(&b);
	p->hub = b.indirect || b.faults ? p->exit + 1 : GRAPH_NONE;
	b.framed = b.indirect && is_framed(&b);
	find_gates(&b);
	p->graph = graph_new(u->pool, p->exit + 1 + (b.indirect || b.faults) + (uint32_t)p->gates.n, p->entry, p->exit);
	add_edge(&b, p->entry, 0, CHORD_EDGE_ENTRY);
	fix_last(&b);
	for (uint32_t i = 0; i < p->blocks.n; i++)
		block_edges(&b, i);
	entry_edges(&b);
	reach_all(&b);
	graph_close(p->graph);
	add_arc(p, p->exit, p->entry, CHORD_EDGE_CLOSE);
	graph_complete(p->graph);
	while (p->arc_text.n < p->graph->nedge)
		VEC_PUSH(p->arc_text, (struct arc_text){0});
}
