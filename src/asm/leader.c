/* SPDX-License-Identifier: MIT */
/* Where control can arrive: targets of jumps, addresses that are taken, landing pads. */
#include "asm/asm.h"
#include "asm/mention.h"

#include <stdlib.h>
#include <string.h>

/* ---- marks ---- */

/* Is the place the beginning of the procedure that it belongs to? */
static bool
is_proc_start(const struct unit *u, uint32_t proc, struct dest d)
{
	const struct part *p = &u->procs.at[proc].parts.at[0];

	return p->code->section == d.section && p->lo == d.off;
}

static void
mark(struct unit *u, struct dest d, uint16_t leader)
{
	const struct code *c = u->code[d.section];

	if (c->at[d.off] != UINT32_MAX)
		c->insns.at[c->at[d.off]].leader |= leader;
}

/* Can an address be the target of an indirect jump? The beginning of a procedure is an entry in any case. */
static bool
is_taken_inside(struct unit *u, struct dest d)
{
	uint32_t proc, part;

	if (!d.section || !unit_find(u, d.section, d.off, &proc, &part))
		return false;
	if (!is_proc_start(u, proc, d))
		return true;
	u->procs.at[proc].address_taken = true;
	return false;
}

static void
mark_address_taken(struct unit *u, struct dest d)
{
	if (!is_taken_inside(u, d))
		return;
	mark(u, d, LEADER_ADDRESS);
	doubt_address_taken(u, d.section, d.off);
}

static void
mark_mention(struct unit *u, const struct code *c, uint32_t i, struct dest d)
{
	if (!is_taken_inside(u, d))
		return;
	mark(u, d, nonlocal_mention(u, c, i, d));
	doubt_address_taken(u, d.section, d.off);
}

/* Marks the addresses that an instruction holds: its displacement and its number may both be relocated. */
static void
mark_mentions(struct unit *u, const struct code *c, uint32_t i)
{
	const struct insn *in = &c->insns.at[i];
	uint32_t at = in->off, end = in->off + in->len;
	const struct obj_reloc *r;

	if (!(in->attr & INSN_RELOC)) {
		mark_mention(u, c, i, dest_of(u, c, in));
		return;
	}
	for (; (r = reloc_in(u->object, c->section, at, end)); at = (uint32_t)r->off + 1)
		mark_mention(u, c, i, reloc_dest(u, r, end));
}

static void
mark_branch(struct unit *u, const struct code *c, const struct insn *in)
{
	struct dest d = dest_of(u, c, in);
	uint32_t from, to, part;

	if (!d.section || !unit_find(u, c->section, in->off, &from, &part) || !unit_find(u, d.section, d.off, &to, &part))
		return;
	if (from == to && (in->cls != CHORD_INSN_CALL || !is_proc_start(u, to, d))) {
		mark(u, d, LEADER_JUMP);
	} else if (!is_proc_start(u, to, d)) {
		mark(u, d, LEADER_ENTRY);
		VEC_PUSH(u->ways, ((struct way){d.section, d.off, c->section, (uint32_t)(in - c->insns.at)}));
	}
}

/* Is it a call of the next instruction that only pushes its address? If a compiler calls the next procedure, and put nothing after
 * the call because it does not return, it is a real call. */
static bool
is_push_of_pc(const struct unit *u, const struct code *c, const struct insn *in)
{
	struct dest d = {c->section, in->target, false};
	uint32_t proc, part;

	if (in->cls != CHORD_INSN_CALL || in->attr & INSN_RELOC || in->target != in->off + in->len || in->target >= c->nbyte)
		return false;
	return !u->text->compiler || !unit_find(u, d.section, d.off, &proc, &part) || !is_proc_start(u, proc, d);
}

/* Code that falls into a procedure may really be part of it. Then the callers of that code read after their calls what the
 * procedure's callers read. */
static void
run_into(struct unit *u, struct dest d)
{
	uint32_t proc, part;

	if (unit_find(u, d.section, d.off, &proc, &part) && is_proc_start(u, proc, d))
		u->procs.at[proc].behind = u->machine->all_regs;
	is_taken_inside(u, d);
}

/* Assembly by hand may fall into what follows it. In compilers' text only padding and calls that do not return seem to. */
static void
mark_run_into(struct unit *u, const struct code *c, const struct insn *in)
{
	bool call = in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL;

	if (in->attr & INSN_FALLS && in->off + in->len < c->nbyte &&
	    !(u->text->compiler && (call || in->cls == CHORD_INSN_PAD)))
		run_into(u, (struct dest){c->section, in->off + in->len, false});
}

static void
mark_insns(struct unit *u, const struct code *c)
{
	for (size_t i = 0; i < c->insns.n; i++) {
		struct insn *in = &c->insns.at[i];

		if (!is_push_of_pc(u, c, in)) {
			if (in->attr & INSN_REL)
				mark_branch(u, c, in);
			mark_run_into(u, c, in);
			continue;
		}
		in->cls = CHORD_INSN_OTHER;
		in->attr &= (uint16_t)~INSN_REL;
		if (i + 1 < c->insns.n)
			in[1].attr |= INSN_GLUED;
	}
	for (size_t i = 0; i < c->insns.n; i++)
		if (!(c->insns.at[i].attr & INSN_REL) && c->insns.at[i].attr & (INSN_MENTIONS | INSN_RELOC))
			mark_mentions(u, c, (uint32_t)i);
}

/* ---- addresses in data: by name, since a table may hold differences ---- */

/* Does the section list places for patching while the program runs? */
static bool
is_for_patches(const struct unit *u, uint32_t section)
{
	static const char *const names[] = {"__patchable_function_entries", "__jump_table", "__mcount_loc", ".note.stapsdt"};

	for (size_t i = 0; section && i < sizeof names / sizeof *names; i++)
		if (!strcmp(u->object->sections[section].name, names[i]))
			return true;
	return false;
}

static bool
tells_patches(const struct unit *u, uint32_t stmt)
{
	return is_for_patches(u, u->place[stmt].section);
}

/* Nops that may be patched stay together and in place: nothing is woven in before any of them. */
static bool
keep_nops(struct unit *u, struct dest d)
{
	const struct code *c = d.section ? u->code[d.section] : NULL;
	uint32_t i = c ? c->at[d.off] : UINT32_MAX;
	bool any = false;

	for (; i < (c ? c->insns.n : 0) && c->insns.at[i].attr & INSN_NOP && c->insns.at[i].cls != CHORD_INSN_PAD; i++) {
		c->insns.at[i].attr |= INSN_GLUED;
		any = true;
	}
	return any;
}

/* Is the statement data that are there when the program runs, and that no compiler made? (A compiler's own data of this kind are
 * jump tables.) */
static bool
is_by_hand(const struct unit *u, uint32_t stmt)
{
	const struct stmt *s = &u->text->stmts.at[stmt];
	const struct obj_section *in = &u->object->sections[u->place[stmt].section];

	if (s->kind != STMT_DIRECTIVE || s->flags & STMT_META || !holds_addresses(stmt_word(u->text, s)) ||
	    (u->text->compiler && !(s->flags & STMT_INLINE)))
		return false;
	return u->place[stmt].section ? in->alloc && !in->exec : s->flags & STMT_OTHER;
}

/* Text by hand has jump tables in sections for data, and tables for handlers in sections of their own. Only the latter may list
 * faults. */
static bool
may_list_faults(const struct unit *u, uint32_t stmt)
{
	return is_by_hand(u, stmt) && (u->text->compiler || u->place[stmt].section);
}

static void
mark_words(struct unit *u, const struct names *n, uint32_t stmt)
{
	bool patches = tells_patches(u, stmt), listed = !patches && may_list_faults(u, stmt);
	struct mention m;

	for (size_t at = 0; mention_next(u, n, stmt, &at, &m);) {
		if (!patches || !keep_nops(u, m.dest))
			mark_address_taken(u, m.dest);
		if (m.dest.section)
			mark(u, m.dest, (uint16_t)((m.minus ? LEADER_BASE : 0) | (listed ? LEADER_LISTED : 0)));
	}
}

/* Handles `movl $1f-2f, %eax`: a distance without a relocation. */
static void
mark_distance(struct unit *u, const struct names *n, uint32_t stmt)
{
	const struct code *c = u->place[stmt].section ? u->code[u->place[stmt].section] : NULL;
	struct mention m;

	if (!c || c->at[u->place[stmt].off] == UINT32_MAX)
		return;
	for (size_t at = 0; mention_next(u, n, stmt, &at, &m);)
		if (m.minus && m.dest.section) {
			c->insns.at[c->at[u->place[stmt].off]].attr |= INSN_DISTANCE;
			mark_words(u, n, stmt);
			return;
		}
}

/* ---- ranges of code that data describes ---- */

static void
refuse_described(struct unit *u, uint32_t stmt, struct dest d)
{
	uint32_t section = u->place[stmt].section, proc, part;

	if (unit_find(u, d.section, d.off, &proc, &part) && !u->procs.at[proc].reason)
		u->procs.at[proc].reason = pool_printf(u->pool, "section %s describes its code by a range",
		                                       section ? u->object->sections[section].name : "of data");
}

/* Do instructions use the place's address themselves? Then distances from it are for these instructions. */
static bool
is_mentioned(const struct unit *u, struct dest d)
{
	const struct code *c = u->code[d.section];
	uint32_t i = c->at[d.off], proc, part;

	if (i == UINT32_MAX || c->insns.at[i].leader & (LEADER_ADDRESS | LEADER_RECEIVE) || c->insns.at[i].attr & INSN_GLUED)
		return true;
	return unit_find(u, d.section, d.off, &proc, &part) && is_proc_start(u, proc, d) && u->procs.at[proc].address_taken;
}

/* Refuses the code from lo to hi if the distance between them describes it. False: it does not. */
static bool
refuse_range(struct unit *u, uint32_t stmt, struct dest lo, struct dest hi)
{
	const struct code *c = u->code[lo.section];

	if (lo.section != hi.section || lo.off >= hi.off || is_mentioned(u, lo))
		return false;
	refuse_described(u, stmt, lo);
	for (size_t i = unit_range_after(c, lo.off); i < c->ranges.n && c->ranges.at[i].lo < hi.off; i++)
		refuse_described(u, stmt, (struct dest){lo.section, c->ranges.at[i].lo, true});
	return true;
}

/* Do the operands of the statement have a distance that describes code? Refuses that code. */
static bool
describes_range(struct unit *u, const struct names *n, uint32_t stmt)
{
	struct dest plus = {0};
	struct mention m;
	bool any = false;

	for (size_t at = 0; mention_next(u, n, stmt, &at, &m);) {
		if (m.minus && m.dest.section && plus.section)
			any |= refuse_range(u, stmt, m.dest, plus);
		if (!m.minus)
			plus = m.dest;
	}
	return any;
}

/* Whatever else the record names may depend on its place, and on what stands in front of it. So it is refused. */
static void
refuse_named(struct unit *u, const struct names *n, uint32_t stmt)
{
	struct mention m;

	for (size_t at = 0; mention_next(u, n, stmt, &at, &m);)
		if (m.dest.section) {
			refuse_described(u, stmt, m.dest);
			m.dest.off -= m.dest.off > 0;
			refuse_described(u, stmt, m.dest);
		}
}

/* Refuses ranges whose bytes are used by others (restartable sequences, alternatives that are copied there): nothing may be woven
 * into them. The places named along with them, such as abort handlers, are left alone, too. A record is the data that stand
 * together, without a label in between. This runs before data is marked. */
static void
refuse_ranges(struct unit *u, const struct names *n)
{
	uint32_t nstmt = (uint32_t)u->text->stmts.n, done = 0;

	for (uint32_t i = 0; i < nstmt; i++) {
		uint32_t lo = i, hi = i;

		if (!is_by_hand(u, i) || !describes_range(u, n, i) || i < done)
			continue;
		while (lo && is_by_hand(u, lo - 1))
			lo--;
		while (hi + 1 < nstmt && is_by_hand(u, hi + 1))
			hi++;
		for (uint32_t k = lo; k <= hi; k++)
			refuse_named(u, n, k);
		done = hi + 1;
	}
}

static void
mark_data(struct unit *u)
{
	struct names *n = u->names = pool_alloc(u->pool, sizeof *n);

	names_read(n, u);
	refuse_ranges(u, n);
	for (uint32_t i = 0; i < u->text->stmts.n; i++) {
		const struct stmt *s = &u->text->stmts.at[i];

		if (s->kind == STMT_DIRECTIVE && !(s->flags & STMT_META) && holds_addresses(stmt_word(u->text, s)))
			mark_words(u, n, i);
		else if (s->kind == STMT_CODE && memchr(stmt_str(u->text, s).at, '-', s->len))
			mark_distance(u, n, i);
	}
}

/* ---- addresses in data that macros, .rept and the like make: by relocations, since the text does not name them ---- */

/* Does a label stand there, and before an instruction if `insn`? */
static bool
is_labelled(const struct unit *u, struct dest d, bool insn)
{
	const struct code *c = d.section ? u->code[d.section] : NULL;

	return c && d.off < c->nbyte && c->labelled[d.off] && (!insn || c->at[d.off] != UINT32_MAX);
}

/* Data in a section of their own may list faults, as such data that the text shows may. */
static void
mark_made_at(struct unit *u, uint32_t section, struct dest d)
{
	const struct obj_section *s = &u->object->sections[section];

	mark_address_taken(u, d);
	if (!s->exec && !section_flags(str_of(s->name)))
		mark(u, d, LEADER_LISTED);
}

/* Labels in a section of data. */
struct bases {
	VEC(uint64_t) at;
};

static void
find_bases(const struct unit *u, uint32_t section, struct bases *b)
{
	b->at.n = 0;
	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];

		if (s->section == section && !s->is_section && !str_starts(str_of(s->name), LABEL_PREFIX))
			VEC_PUSH(b->at, s->value);
	}
}

/* A distance from a label in the section of the data, or from the field itself: marks the place, whichever label it is. False:
 * there is none. insn: only places where an instruction is. */
static bool
mark_from_label(struct unit *u, uint32_t section, const struct bases *b, const struct obj_reloc *r, struct dest d, bool insn)
{
	bool any = is_labelled(u, d, insn);

	if (any)
		mark_made_at(u, section, d);
	for (size_t i = 0; i < b->at.n; i++) {
		struct dest from = {d.section, (uint32_t)(d.off - r->off + b->at.at[i]), false};

		if (!is_labelled(u, from, insn))
			continue;
		mark_made_at(u, section, from);
		any = true;
	}
	return any;
}

/* Refuses procedures that jump indirectly, perhaps by a table of distances that is not understood, to a section's code. */
static void
refuse_jumps_by_distance(struct unit *u, uint32_t section)
{
	const struct code *c = u->code[section];

	for (uint32_t i = 0; i < c->insns.n; i++) {
		uint32_t proc, part;

		if (c->insns.at[i].cls == CHORD_INSN_IJUMP && unit_find(u, section, c->insns.at[i].off, &proc, &part) &&
		    !u->procs.at[proc].reason)
			u->procs.at[proc].reason = "an indirect jump, and distances to code that a macro or .rept makes";
	}
}

/* A compiler's own tables of distances are among the other data. */
static bool
is_of_compiler(const struct unit *u, uint32_t section)
{
	return u->text->compiler && section_flags(str_of(u->object->sections[section].name));
}

static void
mark_made(struct unit *u, uint32_t section, const struct bases *b, const struct obj_reloc *r)
{
	const struct obj_symbol *s = &u->object->symbols[r->sym < u->object->nsymbol ? r->sym : 0];
	struct dest d = {s->section, (uint32_t)(s->value + (uint64_t)r->addend), false};

	if (!d.section || !u->code[d.section] || unit_is_in_insn(u, section, r->off))
		return;
	if (r->pcrel && !is_of_compiler(u, section) && !mark_from_label(u, section, b, r, d, true) &&
	    !mark_from_label(u, section, b, r, d, false))
		refuse_jumps_by_distance(u, d.section);
	else if (!r->pcrel && d.off < u->code[d.section]->nbyte)
		mark_made_at(u, section, d);
}

/* Refuses jumps by distances that have no relocations, because they are within a section, or that stand among a compiler's. */
static void
refuse_made(struct unit *u, uint32_t stmt)
{
	const struct place *at = &u->place[stmt];
	const struct code *c = u->code[at->section];

	if (!(u->text->stmts.at[stmt].flags & STMT_DIFFERS) || !at->section)
		return;
	if (c && c->at[at->off] == UINT32_MAX)
		refuse_jumps_by_distance(u, at->section);
	for (uint32_t i = 1; is_of_compiler(u, at->section) && i < u->ncode; i++)
		if (u->code[i])
			refuse_jumps_by_distance(u, i);
}

static void
mark_all_made(struct unit *u)
{
	struct bases b = {0};

	for (uint32_t i = 1; unit_makes_data(u) && i < u->object->nsection; i++) {
		const struct obj_section *s = &u->object->sections[i];

		if (!s->alloc || !strcmp(s->name, ".eh_frame") || is_for_patches(u, i))
			continue;
		find_bases(u, i, &b);
		for (uint32_t k = 0; k < s->nreloc; k++)
			mark_made(u, i, &b, &u->object->relocs[s->reloc + k]);
	}
	free(b.at.at);
	for (uint32_t i = 0; i < u->text->stmts.n; i++)
		refuse_made(u, i);
}

/* ---- procedures that others know of ---- */

static void
mark_start(struct unit *u, uint32_t section, uint64_t off)
{
	const struct code *c = section && section < u->ncode ? u->code[section] : NULL;

	if (c && off < c->nbyte)
		is_taken_inside(u, (struct dest){section, (uint32_t)off, true});
}

/* Marks procedures that can be entered from outside: by names that the linker sees, and by addresses in data, whoever wrote them.
 * Unwind tables have addresses, too, but nobody calls these. */
static void
mark_known(struct unit *u)
{
	const struct object *o = u->object;

	for (uint32_t i = 1; i < o->nsymbol; i++)
		if (o->symbols[i].global || o->symbols[i].ifunc)
			mark_start(u, o->symbols[i].section, o->symbols[i].value);
	for (uint32_t k = 1; k < o->nsection; k++) {
		const struct obj_section *s = &o->sections[k];

		for (uint32_t i = 0; s->alloc && !s->exec && strcmp(s->name, ".eh_frame") && i < s->nreloc; i++) {
			const struct obj_reloc *r = &o->relocs[s->reloc + i];
			const struct obj_symbol *to = &o->symbols[r->sym < o->nsymbol ? r->sym : 0];

			mark_start(u, to->section, to->value + (uint64_t)r->addend);
		}
	}
}

/* Pieces out of line that nothing jumps to are entered by signal handlers. */
static void
mark_pieces(struct unit *u)
{
	for (size_t i = 0; i < u->procs.n; i++)
		for (size_t t = 1; t < u->procs.at[i].parts.n; t++) {
			const struct part *part = &u->procs.at[i].parts.at[t];
			struct insn *in = &part->code->insns.at[part->first];

			if (!in->leader && insn_is_inline(u, in))
				in->leader |= LEADER_ADDRESS;
		}
}

static int
by_end(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->section != y->section)
		return x->section < y->section ? -1 : 1;
	return x->off < y->off ? -1 : x->off > y->off;
}

/* Does the instruction set the stack pointer to what is not of its frame, or put its value elsewhere? */
static bool
shares_stack(const struct unit *u, const struct code *c, const struct insn *in)
{
	uint8_t sp = u->machine->sp;
	struct value v;

	if (in->attr & INSN_SETS_SP)
		return true;
	if (!(in->regs_read >> sp & 1) || in->cls != CHORD_INSN_OTHER)
		return false;
	return !u->machine->value(u->object->sections[c->section].data + in->off, in->len, &v) ||
	       (v.given | (v.to ? v.plus : 0)) >> sp & 1;
}

static bool
is_stack_private(const struct unit *u)
{
	for (uint32_t i = 0; i < u->ncode; i++)
		for (size_t k = 0; u->code[i] && k < u->code[i]->insns.n; k++)
			if (shares_stack(u, u->code[i], &u->code[i]->insns.at[k]))
				return false;
	return true;
}

void
leader_find(struct unit *u)
{
	u->stack_private = !u->text->compiler && is_stack_private(u);
	u->holdings = holdings_new(u->pool);
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i])
			mark_insns(u, u->code[i]);
	mark_pieces(u);
	mark_data(u);
	mark_all_made(u);
	mark_known(u);
	landing_find(u);
	doubts_settle(u);
	if (u->ways.n)
		qsort(u->ways.at, u->ways.n, sizeof *u->ways.at, by_end);
	u->frames = pool_array(u->pool, u->procs.n + 1, sizeof *u->frames);
}
