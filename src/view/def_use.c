/* SPDX-License-Identifier: MIT */
/* Pairs of instructions, of which one uses what the other left in a register, that paths covered (Apiwattanapong & Harrold 2002,
 * sections 1 and 6). They are a by-product of a path profile. */
#include "view/paths.h"

#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

/* A procedure, as definitions and uses of its registers. */
struct registers_of {
	struct view_def_use *d;
	struct pool *pool;
	const struct view_paths_proc *of;
	size_t number;           /* index in d->proc */
	VEC(struct view_def_use_insn) insn; /* by block */
	VEC(struct registers) regs;
	VEC(struct def_use_path) path;
	struct def_use_edge *edge;
	uint64_t read, written;
	bool some;               /* other paths may have run */
};

/* ---- instructions ---- */

static bool
is_helper(struct registers_of *x, const struct insn *in, uint64_t addr)
{
	struct binary *bin = x->of->binary;
	struct callee c = callee_of(bin, x->of->proc, in, addr);

	for (size_t i = 0; i < c.n; i++)
		if (image_machine(bin->image)->text->is_helper(callee_name(x->pool, &c, i)))
			return true;
	return false;
}

/* Is the instruction the one that was assembled? Jumps may have another length, and indirect calls may have become direct ones. */
static bool
is_same(const struct walk *w, const struct insn *in)
{
	bool call = in->cls == CHORD_INSN_CALL && w->kind == CHORD_INSN_ICALL;
	bool jump = w->kind == CHORD_INSN_BRANCH || w->kind == CHORD_INSN_JUMP;

	return (in->cls == w->kind || call) && (jump || in->len == (w->block->insn[w->i] & 15));
}

/* NULL, or why it is not known what the instruction does. */
static const char *
add_insn(struct registers_of *x, const struct walk *w, uint32_t block)
{
	struct image *image = x->of->binary->image;
	const struct view_def_use_insn at = {block, w->i, w->block->part, w->offset, w->addr, w->kind};
	struct registers regs;
	struct insn in;
	struct str bytes;

	if (!w->addr || !image_insn(image, w->addr, &in))
		return "where its instructions are is not known";
	if (!is_same(w, &in))
		return "the linker replaced instructions of it";
	bytes = image_bytes(image, w->addr);
	if (!image_machine(image)->registers((const uint8_t *)bytes.at, bytes.n, &regs))
		return "it has an instruction that does not tell which registers it changes";
	if ((w->kind == CHORD_INSN_CALL || w->kind == CHORD_INSN_ICALL) && is_helper(x, &in, w->addr)) {
		regs.lost |= regs.written;
		regs.written = 0;
	}
	x->read |= regs.read;
	x->written |= regs.written;
	VEC_PUSH(x->insn, at);
	VEC_PUSH(x->regs, regs);
	return NULL;
}

static const char *
add_insns(struct registers_of *x)
{
	const struct proc *p = x->of->proc;
	const char *why = NULL;
	struct walk w;

	for (uint32_t i = 0; i < p->nblock && !why; i++)
		for (walk_start(&w, p, NULL, i); !why && walk_next(&w);)
			if (w.kind != CHORD_INSN_PAD)
				why = add_insn(x, &w, i);
	return why;
}

/* ---- edges and paths ---- */

/* The unwinder, longjmp and signal handlers may put anything into registers. */
static bool
loses(const struct arc *a)
{
	return a->kind == CHORD_EDGE_LAND || a->kind == CHORD_EDGE_RECEIVE || a->kind == CHORD_EDGE_FAULT;
}

static void
add_edges(struct registers_of *x)
{
	const struct proc *p = x->of->proc;

	x->edge = pool_array(x->pool, p->narc, sizeof *x->edge);
	for (uint32_t e = 0; e < p->narc; e++) {
		const struct arc *a = &p->arc[e];

		x->edge[e] = (struct def_use_edge){a->from, a->to, loses(a)};
		/* No activation continues as another one. */
		if (e == p->close)
			x->edge[e].to = a->from;
	}
}

static void
add_path(struct registers_of *x, const struct view_path *row)
{
	const struct proc *p = x->of->proc;
	struct pool *pool = pool_new();
	struct path path = view_path_edges(pool, row);
	struct def_use_path run = {.begin = path.begin, .n = path.n, .count = row->count};

	run.edge = pool_array(x->pool, (size_t)path.n + 1, sizeof *run.edge);
	if (path.n)
		memcpy(run.edge, path.edge, path.n * sizeof *run.edge);
	if (row->stopped) {
		run.stopped = !row->stopped->reentry;
		run.resumed = row->stopped->reentry;
		run.at = path.end;
		run.upto = stopped_insns(p, row->stopped);
	} else {
		run.cut = view_path_is_cut(row, &path);
	}
	VEC_PUSH(x->path, run);
	pool_free(pool);
}

static void
add_paths(struct registers_of *x, const struct view_paths *r)
{
	for (size_t i = 0; i < r->row.n; i++)
		if (r->row.at[i].of == x->of)
			add_path(x, &r->row.at[i]);
	for (size_t i = 0; i < r->stopped.n; i++)
		if (r->stopped.at[i].of == x->of)
			add_path(x, &r->stopped.at[i]);
	for (size_t i = 0; i < r->damaged.n; i++)
		x->some |= r->damaged.at[i].name == x->of->proc->name;
	x->some |= x->of->others;
}

/* ---- pairs ---- */

static void
add_pairs(struct registers_of *x, const struct def_use *found, const uint32_t *insn, uint8_t bit)
{
	struct view_def_use_proc *to = &x->d->proc.at[x->number];

	to->unknown += found->unknown;
	for (size_t i = 0; i < found->n; i++) {
		const struct def_use_pair *pair = &found->pair[i];
		struct view_def_use_pair row = {.proc = x->number, .def = insn[pair->def], .use = insn[pair->use], .reg = bit,
		                                .count = {x->of->why ? 0 : pair->least, pair->most}};

		to->of_how[view_def_use_how(&row)]++;
		VEC_PUSH(x->d->pair, row);
	}
}

/* Adds the pairs of one register. */
static void
add_register(struct registers_of *x, uint8_t bit)
{
	const struct proc *p = x->of->proc;
	struct pool *pool = pool_new();
	struct def_use_site *site = pool_array(pool, x->insn.n + 1, sizeof *site);
	uint32_t *insn = pool_array(pool, x->insn.n + 1, sizeof *insn), n = 0;
	struct def_use_problem q = {.nvert = p->nvert, .root = PROC_ENTRY(p), .nedge = p->narc, .edge = x->edge, .site = site,
	                            .npath = (uint32_t)x->path.n, .path = x->path.at, .some = x->some};

	for (uint32_t i = 0; i < x->insn.n; i++) {
		const struct registers *g = &x->regs.at[i];
		uint8_t what = (uint8_t)((g->read >> bit & 1 ? SITE_USES : 0) | (g->written >> bit & 1 ? SITE_DEFINES : 0) |
		                         (g->lost >> bit & 1 ? SITE_LOSES : 0));

		if (!what)
			continue;
		insn[n] = i;
		site[n++] = (struct def_use_site){x->insn.at[i].block, x->insn.at[i].insn, what};
	}
	q.nsite = n;
	add_pairs(x, def_use_pairs(pool, &q), insn, bit);
	pool_free(pool);
}

static void
add_proc(struct view_def_use *d, const struct view_paths *r, const struct view_paths_proc *of)
{
	struct registers_of x = {.d = d, .pool = pool_new(), .of = of, .number = d->proc.n};
	struct view_def_use_insn *insn;
	const char *why = add_insns(&x);

	if (why) {
		VEC_PUSH(d->left_out, (struct named){of->proc->name, why});
	} else {
		insn = pool_array(r->pool, x.insn.n + 1, sizeof *insn);
		if (x.insn.n)
			memcpy(insn, x.insn.at, x.insn.n * sizeof *insn);
		add_edges(&x);
		add_paths(&x, r);
		VEC_PUSH(d->proc, (struct view_def_use_proc){.of = of, .insn = insn, .some = x.some});
		for (uint8_t bit = 0; bit < REGISTERS; bit++)
			if (x.read >> bit & 1)
				add_register(&x, bit);
	}
	free(x.insn.at);
	free(x.regs.at);
	free(x.path.at);
	pool_free(x.pool);
}

void
view_def_use(struct view_def_use *d, const struct view_paths *r)
{
	*d = (struct view_def_use){0};
	for (size_t i = 0; i < r->proc.n; i++)
		add_proc(d, r, &r->proc.at[i]);
	for (size_t i = 0; i < d->proc.n; i++) {
		d->unknown += d->proc.at[i].unknown;
		for (int how = 0; how < DEF_USE_HOWS; how++)
			d->of_how[how] += d->proc.at[i].of_how[how];
	}
}

void
view_def_use_free(struct view_def_use *d)
{
	free(d->proc.at);
	free(d->pair.at);
	free(d->left_out.at);
}

enum view_def_use_how
view_def_use_how(const struct view_def_use_pair *row)
{
	if (row->count.least)
		return DEF_USE_COVERED;
	return row->count.most ? DEF_USE_MAY_BE : DEF_USE_NOT;
}

const char *
view_def_use_register(const struct view_def_use *d, const struct view_def_use_pair *row)
{
	return image_machine(d->proc.at[row->proc].of->binary->image)->register_name(row->reg);
}
