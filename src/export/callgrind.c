/* SPDX-License-Identifier: MIT */
/* The format of Callgrind, version 1: costs by function, line and address. Calls are in it with their inclusive costs where these
 * are counted (-fchord=calls). */
#include "export/export.h"

#include <inttypes.h>
#include <string.h>

struct writer {
	const struct export *x;
	struct buf *out;
	const char *file;        /* that costs are of now */
};

static const char *
name_of(const char *file)
{
	return file && *file ? file : "???";
}

/* Lines of inlined code are of other files than the function. */
static void
put_file(struct writer *w, const char *file, const char *own)
{
	if (!strcmp(w->file, file))
		return;
	buf_printf(w->out, "%s=%s\n", strcmp(file, own) ? "fi" : "fe", file);
	w->file = file;
}

/* The number of `instructions` among the events of a procedure, or UINT32_MAX. */
static uint32_t
instructions_of(const struct proc *p)
{
	for (uint32_t e = 0; e < p->nevent && e < CHORD_SUMS; e++)
		if (!strcmp(p->event[e].name, "instructions"))
			return e;
	return UINT32_MAX;
}

static const struct call *
call_at(const struct view_insn *in, uint32_t insn)
{
	const struct block *b = &in->proc->block[in->block];

	for (uint32_t i = b->call; i < b->call + b->ncall; i++)
		if (in->proc->call[i].insn == insn)
			return &in->proc->call[i];
	return NULL;
}

static void
put_call(struct writer *w, const struct view_insn *in, uint32_t insn)
{
	const struct call *c = call_at(in, insn);
	uint32_t event = instructions_of(in->proc);
	const struct unit *u = in->unit;
	uint64_t n;

	if (!c || !c->sum || event == UINT32_MAX || !in->count ||
	    !call_sum(&u->map, in->proc, &u->counts[in->proc_number], profile_module(w->x->run->sum, image_build_id(u->image)),
	              (uint32_t)(c - in->proc->call), event, &n))
		return;
	buf_printf(w->out, "cfn=%s\ncalls=%" PRIu64 " 0\n0x%" PRIx64 " %u %" PRIu64 "\n",
	           c->callee && *c->callee ? c->callee : "(through a pointer)", in->count, in->addr, in->line, n);
}

static void
put_insn(struct writer *w, const struct view_insn *in, uint32_t insn, const char *own)
{
	if (!in->count)
		return;
	put_file(w, in->file == VIEW_NO_FILE ? own : w->x->list->file.at[in->file].name, own);
	buf_printf(w->out, "0x%" PRIx64 " %u %" PRIu64 "\n", in->addr, in->line, in->count);
	put_call(w, in, insn);
}

static void
put_heading(struct writer *w, uint64_t total)
{
	buf_printf(w->out, "# callgrind format\nversion: 1\ncreator: chord\ncmd: %s\npositions: instr line\nevents: Ir\n",
	           w->x->run->path);
	buf_printf(w->out, "summary: %" PRIu64 "\n", total);
}

static void
begin_proc(struct writer *w, const struct view_insn *in, const struct unit **unit, const char **own)
{
	if (in->unit != *unit)
		buf_printf(w->out, "\nob=%s\n", in->unit->path);
	*unit = in->unit;
	*own = name_of(export_place(in->unit, in->proc).file);
	buf_printf(w->out, "\nfl=%s\nfn=%s\n", *own, in->proc->name);
	w->file = *own;
}

bool
export_callgrind(const struct export *x, struct buf *out)
{
	struct buf body = {0};
	struct writer w = {.x = x, .out = &body};
	const struct unit *unit = NULL;
	const struct proc *proc = NULL;
	const char *own = "";
	uint64_t total = 0;
	uint32_t insn = 0, block = UINT32_MAX;
	bool fits = true;

	for (size_t i = 0; i < x->list->insn.n; i++) {
		const struct view_insn *in = &x->list->insn.at[i];

		insn = in->proc == proc && in->block == block ? insn + 1 : 0;
		block = in->block;
		if (!in->known)
			continue;
		if (in->proc != proc || in->unit != unit)
			begin_proc(&w, in, &unit, &own);
		proc = in->proc;
		put_insn(&w, in, insn, own);
		fits &= !__builtin_add_overflow(total, in->count, &total);
	}
	w.out = out;
	put_heading(&w, total);
	buf_add(out, body.at, body.n);
	buf_free(&body);
	if (!fits)
		say_error(x->run->path, "the sum of its counts does not fit 64 bits");
	return fits;
}
