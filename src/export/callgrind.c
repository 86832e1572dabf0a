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
	const struct view_function *function; /* likewise; instructions are in their order */
};

static const char *
name_of(const char *file)
{
	return *file ? file : "???";
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

static void
put_call(struct writer *w, const struct view_insn *in)
{
	const struct call *c = view_call_at(in);
	uint64_t n;

	if (c && view_call_sum(w->x->run, in, c, "instructions", &n))
		buf_printf(w->out, "cfn=%s\ncalls=%" PRIu64 " 0\n0x%" PRIx64 " %u %" PRIu64 "\n",
		           c->callee && *c->callee ? c->callee : "(through a pointer)", in->count, in->addr, in->line, n);
}

static void
put_insn(struct writer *w, const struct view_insn *in, const char *own)
{
	if (!in->count)
		return;
	put_file(w, in->file == VIEW_NO_FILE ? own : w->x->list->file.at[in->file].name, own);
	buf_printf(w->out, "0x%" PRIx64 " %u %" PRIu64 "\n", in->addr, in->line, in->count);
	put_call(w, in);
}

static void
put_heading(struct writer *w, uint64_t total)
{
	buf_printf(w->out, "# callgrind format\nversion: 1\ncreator: chord\ncmd: %s\npositions: instr line\nevents: Ir\n",
	           w->x->run->path);
	buf_printf(w->out, "summary: %" PRIu64 "\n", total);
}

static void
begin_proc(struct writer *w, const struct view_insn *in, const struct binary **binary, const char **own)
{
	const struct view_function *f = w->function;

	while (f->binary != in->binary || f->proc != in->proc)
		f++;
	w->function = f;
	if (in->binary != *binary)
		buf_printf(w->out, "\nob=%s\n", in->binary->path);
	*binary = in->binary;
	*own = name_of(f->file);
	buf_printf(w->out, "\nfl=%s\nfn=%s\n", *own, in->proc->name);
	w->file = *own;
}

bool
export_callgrind(const struct export *x, struct buf *out)
{
	struct buf body = {0};
	struct writer w = {.x = x, .out = &body, .function = x->function->at};
	const struct binary *binary = NULL;
	const struct proc *proc = NULL;
	const char *own = "";
	uint64_t total = 0;
	bool fits = true;

	for (size_t i = 0; i < x->list->insn.n; i++) {
		const struct view_insn *in = &x->list->insn.at[i];

		if (!in->known)
			continue;
		if (in->proc != proc || in->binary != binary)
			begin_proc(&w, in, &binary, &own);
		proc = in->proc;
		put_insn(&w, in, own);
		fits &= checked_add(&total, in->count);
	}
	w.out = out;
	put_heading(&w, total);
	buf_add(out, body.at, body.n);
	buf_free(&body);
	return export_fits(x, fits);
}
