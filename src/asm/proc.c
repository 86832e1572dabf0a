/* SPDX-License-Identifier: MIT */
/* Procedures: the code from a function symbol to the next, with its parts that are out of line (.cold). */
#include "asm/asm.h"
#include "asm/dest.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Where a procedure begins. */
struct start {
	uint32_t off, sym;
	uint8_t rank;       /* the smaller, the better is the name */
	uint32_t home, home_off; /* the section and offset of the code that this is a piece of; section 0: it is no piece */
	uint32_t home_proc;      /* the procedure of that code, once procedures are known */
};

static int
by_start(const void *a, const void *b)
{
	const struct start *x = a, *y = b;

	if (x->off != y->off)
		return x->off < y->off ? -1 : 1;
	if (x->rank != y->rank)
		return x->rank < y->rank ? -1 : 1;
	return x->sym < y->sym ? -1 : x->sym > y->sym;
}

/* Can the name begin a procedure, if it is a function or global? Names in quotation marks may be anything. */
static bool
is_name(const char *name)
{
	return *name && strncmp(name, ".L", 2);
}

/* Can the name begin a procedure that something calls? Names that the assembler makes cannot. */
static bool
is_plain_name(const char *name)
{
	return is_name(name) && (unsigned char)*name > ' ' && !(*name >= '0' && *name <= '9');
}

typedef VEC(struct start) starts;

static void
add_symbols(const struct unit *u, starts *by_section)
{
	const struct object *o = u->object;

	for (uint32_t i = 1; i < o->nsymbol; i++) {
		const struct obj_symbol *s = &o->symbols[i];

		if (!s->section || !u->code[s->section] || s->is_section || !is_name(s->name))
			continue;
		if (s->value >= u->code[s->section]->nbyte || (!s->func && !s->global))
			continue;
		VEC_PUSH(by_section[s->section], (struct start){.off = (uint32_t)s->value, .sym = i,
		         .rank = (uint8_t)(s->func ? !s->global : 2)});
	}
}

/* By byte of a section: does a call lead to it? */
static bool *
called_bytes(const struct unit *u, const struct code *c)
{
	bool *called = pool_array(u->pool, c->nbyte + 1u, sizeof *called);

	for (size_t i = 0; i < c->insns.n; i++) {
		const struct insn *in = &c->insns.at[i];

		if (in->cls == CHORD_INSN_CALL && !(in->attr & INSN_RELOC) && in->target < c->nbyte)
			called[in->target] = true;
	}
	return called;
}

/* Adds local symbols without a type that are called in their section. */
static void
add_called(const struct unit *u, starts *by_section)
{
	const struct object *o = u->object;
	bool **called = pool_array(u->pool, u->ncode + 1u, sizeof *called);

	for (uint32_t i = 1; i < o->nsymbol; i++) {
		const struct obj_symbol *s = &o->symbols[i];
		const struct code *c = s->section ? u->code[s->section] : NULL;

		if (!c || s->func || s->global || s->is_section || !is_plain_name(s->name) || s->value >= c->nbyte)
			continue;
		if (!called[s->section])
			called[s->section] = called_bytes(u, c);
		if (called[s->section][s->value])
			VEC_PUSH(by_section[s->section], (struct start){.off = (uint32_t)s->value, .sym = i, .rank = 3});
	}
}

/* A name for code that no function symbol covers. */
static const char *
made_up_name(struct unit *u, uint32_t section, uint32_t off)
{
	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];

		if (s->section == section && s->value == off && !s->is_section && is_plain_name(s->name))
			return s->name;
	}
	return pool_printf(u->pool, "%s+0x%x", u->object->sections[section].name, off);
}

/* The first instruction at or after an offset. */
static uint32_t
insn_from(const struct code *c, uint32_t off)
{
	size_t lo = 0, hi = c->insns.n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (c->insns.at[mid].off < off)
			lo = mid + 1;
		else
			hi = mid;
	}
	return (uint32_t)lo;
}

static uint32_t
first_stmt(const struct code *c, uint32_t first, uint32_t last)
{
	for (uint32_t i = first; i < last; i++)
		if (c->insns.at[i].stmt != UINT32_MAX)
			return c->insns.at[i].stmt;
	return UINT32_MAX;
}

static uint32_t
last_stmt(const struct unit *u, const struct code *c, uint32_t first, uint32_t last)
{
	for (uint32_t i = last; i > first; i--) {
		uint32_t stmt = code_end_stmt(u, c, &c->insns.at[i - 1]);

		if (stmt != UINT32_MAX)
			return stmt;
	}
	return UINT32_MAX;
}

/* Where the procedure's name ends in the name of a part that is out of line; NULL: it is none. Besides NAME.cold clang has NAME.eh
 * and NAME.__part.N (-fbasic-block-sections=), without any type. */
static const char *
out_of_line(const char *name)
{
	static const char *const suffixes[] = {".cold", ".eh", ".__part."};

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
		const char *at = strstr(name, suffixes[i]), *behind = at ? at + strlen(suffixes[i]) : NULL;

		if (at && at != name && (behind[-1] == '.' ? !behind[strspn(behind, "0123456789")] : !*behind || *behind == '.'))
			return at;
	}
	return NULL;
}

/* The procedure that an out-of-line part of that name belongs to. */
static struct proc_text *
home_of_part(struct unit *u, const struct strmap *names, const char *name)
{
	const char *end = out_of_line(name);
	uint64_t i;

	return end && strmap_get(names, (struct str){name, (size_t)(end - name)}, &i) ? &u->procs.at[i] : NULL;
}

/* The end of a procedure, without padding between a call at its end and the next procedure: after a call that does not return
 * compilers put only padding. */
static uint32_t
without_padding(const struct unit *u, const struct code *c, uint32_t first, uint32_t last)
{
	uint32_t end = last;

	for (uint32_t i = last; u->text->compiler && i > first; i--) {
		const struct insn *in = &c->insns.at[i - 1];

		if (!(in->attr & INSN_NOP))
			return in->cls == CHORD_INSN_CALL || in->cls == CHORD_INSN_ICALL ? end : last;
		if (in->stmt != UINT32_MAX) {
			if (!(u->text->stmts.at[in->stmt].flags & STMT_PAD))
				return last;
			end = i - 1;
		}
	}
	return last;
}

/* Adds a part to procedure p, or to a new one. */
static void
add_part(struct unit *u, struct code *c, struct strmap *names, const char *name, uint32_t lo, uint32_t hi, struct proc_text *p)
{
	struct part part = {.code = c, .lo = lo, .name = name};

	part.first = insn_from(c, lo);
	part.last = without_padding(u, c, part.first, insn_from(c, hi));
	if (part.first == part.last)
		return;
	part.hi = c->insns.at[part.last - 1].off + c->insns.at[part.last - 1].len;
	part.first_stmt = first_stmt(c, part.first, part.last);
	part.last_stmt = last_stmt(u, c, part.first, part.last);
	if (!p) {
		if (!out_of_line(name))
			strmap_put(names, str_of(name), u->procs.n);
		VEC_PUSH(u->procs, (struct proc_text){.name = name, .hub = GRAPH_NONE});
		p = &u->procs.at[u->procs.n - 1];
	}
	VEC_PUSH(c->ranges, (struct range){part.lo, (uint32_t)(p - u->procs.at), (uint32_t)p->parts.n});
	VEC_PUSH(p->parts, part);
}

/* Adds the parts of one section: main parts, or those out of line. */
static void
add_section(struct unit *u, struct code *c, const starts *s, struct strmap *names, bool apart)
{
	for (size_t i = 0; i < s->n; i++) {
		const char *name = s->at[i].sym ? u->object->symbols[s->at[i].sym].name
		                                : made_up_name(u, c->section, s->at[i].off);
		uint32_t hi = i + 1 < s->n ? s->at[i + 1].off : c->nbyte;

		if (!s->at[i].home && !out_of_line(name) == !apart)
			add_part(u, c, names, name, s->at[i].off, hi, apart ? home_of_part(u, names, name) : NULL);
	}
}

static void
unique_starts(starts *s, struct code *c)
{
	size_t n = 0;

	if (s->n)
		qsort(s->at, s->n, sizeof *s->at, by_start);
	for (size_t i = 0; i < s->n; i++)
		if (!i || s->at[i].off != s->at[n - 1].off)
			s->at[n++] = s->at[i];
	s->n = n;
	if (c->insns.n && (!n || c->insns.at[0].off < s->at[0].off)) {
		VEC_PUSH(*s, (struct start){.off = c->insns.at[0].off, .rank = 9});
		qsort(s->at, s->n, sizeof *s->at, by_start);
	}
}

static int
by_lo(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* ---- pieces out of line: inline assembly that stands in another section and jumps back ---- */

/* Do the jumps out of [lo, hi) lead into the middle of one procedure? If so, *home is the target of one of them. */
static bool
goes_home(const struct unit *u, const starts *by_section, const struct code *c, uint32_t lo, uint32_t hi, struct dest *home)
{
	const starts *s = NULL;
	struct dest at = {0};

	for (uint32_t i = insn_from(c, lo); i < c->insns.n && c->insns.at[i].off < hi; i++) {
		const struct insn *in = &c->insns.at[i];
		struct dest d = in->attr & INSN_REL && in->cls != CHORD_INSN_CALL ? dest_of(u, c, in) : (struct dest){0};
		size_t k = 0;

		if (in->stmt == UINT32_MAX || !(u->text->stmts.at[in->stmt].flags & STMT_INLINE))
			return false;
		if (!d.section || (d.section == c->section && d.off >= lo && d.off < hi))
			continue;
		s = &by_section[d.section];
		while (k + 1 < s->n && s->at[k + 1].off <= d.off)
			k++;
		if (d.section == c->section || k >= s->n || s->at[k].off >= d.off || (at.section && s->at[k].off != at.off))
			return false;
		at = (struct dest){d.section, s->at[k].off, false};
		*home = d;
	}
	return at.section;
}

/* The end of a piece. After an instruction that does not fall through, a label may begin the next piece. */
static uint32_t
piece_end(const struct code *c, uint32_t lo, uint32_t hi)
{
	for (uint32_t i = insn_from(c, lo); i + 1 < c->insns.n && c->insns.at[i + 1].off < hi; i++)
		if (!(c->insns.at[i].attr & INSN_FALLS) && c->labelled[c->insns.at[i + 1].off])
			return c->insns.at[i + 1].off;
	return hi;
}

/* Code that is no function is a piece of the procedures into whose middle it jumps (fixups for faults, slow paths of locks). */
static void
find_pieces(struct unit *u, starts *by_section, struct code *c)
{
	starts *s = &by_section[c->section], all = {0};

	for (size_t i = 0; i < s->n; i++) {
		uint32_t hi = i + 1 < s->n ? s->at[i + 1].off : c->nbyte, end;
		bool function = s->at[i].sym && u->object->symbols[s->at[i].sym].func, piece = true;

		for (uint32_t lo = s->at[i].off; lo < hi; lo = end) {
			struct start start = lo == s->at[i].off ? s->at[i] : (struct start){.off = lo};
			struct dest home = {0};

			end = function ? hi : piece_end(c, lo, hi);
			if (!function && goes_home(u, by_section, c, lo, end, &home)) {
				start.home = home.section;
				start.home_off = home.off;
			}
			/* Code that is no piece stays together. */
			if (piece || start.home)
				VEC_PUSH(all, start);
			piece = start.home;
		}
	}
	free(s->at);
	*s = all;
}

static void
sort_ranges(struct code *c)
{
	if (c->ranges.n)
		qsort(c->ranges.at, c->ranges.n, sizeof(struct range), by_lo);
}

/* Finds the procedures that the pieces belong to. Ranges have to be sorted. */
static void
find_homes(const struct unit *u, starts *s)
{
	uint32_t part;

	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].home && !unit_find(u, s->at[i].home, s->at[i].home_off, &s->at[i].home_proc, &part))
			s->at[i].home = 0;
}

static void
add_pieces(struct unit *u, struct code *c, const starts *s, struct strmap *names)
{
	for (size_t i = 0; i < s->n; i++) {
		uint32_t hi = i + 1 < s->n ? s->at[i + 1].off : c->nbyte;

		if (s->at[i].home)
			add_part(u, c, names, made_up_name(u, c->section, s->at[i].off), s->at[i].off, hi,
			         &u->procs.at[s->at[i].home_proc]);
	}
}

/* The dynamic linker may run an ifunc resolver before the counters of its object have a place in every thread's region. */
static void
refuse_resolvers(struct unit *u)
{
	uint32_t proc, part;

	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];

		if (s->ifunc && s->section && u->code[s->section] && unit_find(u, s->section, (uint32_t)s->value, &proc, &part))
			u->procs.at[proc].reason = "an ifunc resolver may run before its object can count";
	}
}

/* OCaml raises an exception by a move to the stack pointer and a jump to an address popped from there. Nothing shows which
 * activations end, and the counts of their callers would be wrong. Each of OCaml's texts has a table of frames. */
static void
refuse_ocaml(struct unit *u)
{
	bool any = false;

	for (uint32_t i = 1; i < u->object->nsymbol && !any; i++) {
		const char *name = u->object->symbols[i].name, *end = strstr(name, "__frametable");

		any = !strncmp(name, "caml", 4) && end && !end[sizeof "__frametable" - 1];
	}
	for (size_t i = 0; i < u->procs.n && any; i++)
		u->procs.at[i].reason = "OCaml's code, whose exceptions end activations unseen";
}

/* Is it a procedure of Free Pascal's? That compiler puts each procedure into a section named after it in small letters, with a
 * prefix that no other compiler uses for the symbol's own name. */
static bool
is_pascal(const struct unit *u, const struct obj_symbol *s)
{
	static const char prefix[] = ".text.n_";
	const char *section = s->section ? u->object->sections[s->section].name : "";

	return s->func && str_starts(str_of(section), prefix) && !strcasecmp(section + sizeof prefix - 1, s->name);
}

/* Free Pascal raises by a setjmp and longjmp of its own, so calls return twice and activations end unseen. And its programs start
 * without calling constructors, so none would leave a profile. */
static void
refuse_pascal(struct unit *u)
{
	bool any = false;

	for (uint32_t i = 1; i < u->object->nsymbol && !any; i++)
		any = is_pascal(u, &u->object->symbols[i]);
	for (size_t i = 0; i < u->procs.n && any; i++)
		u->procs.at[i].reason = "Free Pascal's code, whose exceptions end activations unseen";
}

/* Refuses the procedures in a section that mention functions of transactions. */
static void
refuse_transactions_in(struct unit *u, uint32_t section)
{
	const struct obj_section *s = &u->object->sections[section];
	uint32_t proc, part;

	for (uint32_t r = s->reloc; r < s->reloc + s->nreloc; r++) {
		const struct obj_reloc *reloc = &u->object->relocs[r];
		struct str name = str_of(reloc->sym < u->object->nsymbol ? u->object->symbols[reloc->sym].name : "");

		if ((str_starts(name, "_ITM_") || str_starts(name, "_ZGTt")) &&
		    unit_find(u, section, (uint32_t)reloc->off, &proc, &part))
			u->procs.at[proc].reason = "transactions, which begin again unseen (-fgnu-tm)";
	}
}

/* A transaction that is cancelled, or that another thread disturbs, begins again by a jump of libitm's own: activations inside it
 * end, and the call that began it returns once more, unseen. All procedures that call libitm or a clone for transactions may be
 * active then. */
static void
refuse_transactions(struct unit *u)
{
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i])
			refuse_transactions_in(u, i);
	for (size_t i = 0; i < u->procs.n; i++)
		if (str_starts(str_of(u->procs.at[i].name), "_ZGTt"))
			u->procs.at[i].reason = "a clone for transactions, which begin again unseen (-fgnu-tm)";
}

/* Code that is hardened against misled speculation (clang's -mspeculative-load-hardening) compares the address to which a call
 * returned with a label right after the call. A counter in between would make each later address wrong. */
static void
refuse_hardened(struct unit *u)
{
	uint32_t proc, part;

	for (uint32_t i = 1; i < u->object->nsymbol; i++) {
		const struct obj_symbol *s = &u->object->symbols[i];

		if (str_starts(str_of(s->name), ".Lslh_ret_addr") && s->section && u->code[s->section] &&
		    unit_find(u, s->section, (uint32_t)s->value, &proc, &part))
			u->procs.at[proc].reason =
				"it compares where its calls return to with labels (-mspeculative-load-hardening)";
	}
}

void
proc_find(struct unit *u)
{
	starts *by_section = pool_array(u->pool, u->ncode + 1u, sizeof *by_section);
	struct strmap names = {0};

	add_symbols(u, by_section);
	if (!u->text->compiler)
		add_called(u, by_section);
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i])
			unique_starts(&by_section[i], u->code[i]);
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i] && u->text->compiler)
			find_pieces(u, by_section, u->code[i]);
	for (int apart = 0; apart < 2; apart++)
		for (uint32_t i = 0; i < u->ncode; i++)
			if (u->code[i])
				add_section(u, u->code[i], &by_section[i], &names, apart);
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i])
			sort_ranges(u->code[i]);
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i])
			find_homes(u, &by_section[i]);
	for (uint32_t i = 0; i < u->ncode; i++) {
		if (u->code[i])
			add_pieces(u, u->code[i], &by_section[i], &names);
		free(by_section[i].at);
	}
	for (uint32_t i = 0; i < u->ncode; i++)
		if (u->code[i])
			sort_ranges(u->code[i]);
	strmap_free(&names);
	refuse_resolvers(u);
	refuse_ocaml(u);
	refuse_pascal(u);
	refuse_transactions(u);
	refuse_hardened(u);
}
