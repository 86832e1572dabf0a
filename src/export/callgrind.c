/* SPDX-License-Identifier: MIT */
/* The format of Callgrind, version 1: costs by function, line and address. Calls have their inclusive costs if these were counted
 * (-fchord=calls). */
#include "export/export.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct writer {
	const struct export *x;
	struct buf *out;
	struct strmap number;    /* the number of a name that needs one */
	const char *file;        /* the file to which costs belong now */
	const struct view_function *function; /* the function, likewise; instructions are in the order of functions */
	const struct view_function **by_proc; /* all functions, by the address of their struct proc (heap) */
};

static const char *
name_of(const char *file)
{
	return *file ? file : "???";
}

/* Writes "fl=NAME" on a line. A name that begins with a number in parentheses stands for another name. So a name that begins with a
 * parenthesis gets such a number before it. */
static void
put_name(struct writer *w, const char *key, const char *name)
{
	uint64_t n = w->number.n + 1;

	buf_printf(w->out, "%s=", key);
	if (*name == '(') {
		if (!strmap_get(&w->number, str_of(name), &n))
			strmap_put(&w->number, str_of(name), n);
		buf_printf(w->out, "(%" PRIu64 ") ", n);
	}
	buf_plain(w->out, name);
	buf_char(w->out, '\n');
}

static void
put_function(struct writer *w, const char *key, const char *name)
{
	put_name(w, key, image_readable(name));
}

/* Lines of inlined code may be in other files than the function. */
static void
put_file(struct writer *w, const char *file, const char *own)
{
	if (!strcmp(w->file, file))
		return;
	put_name(w, strcmp(file, own) ? "fi" : "fe", file);
	w->file = file;
}

static int
by_proc(const void *a, const void *b)
{
	const struct view_function *const *x = a, *const *y = b;
	uintptr_t p = (uintptr_t)(*x)->proc, q = (uintptr_t)(*y)->proc;

	return (p > q) - (p < q);
}

static void
sort_functions(struct writer *w)
{
	const struct view_functions *f = w->x->function;

	w->by_proc = xcalloc(f->n, sizeof *w->by_proc);
	for (size_t i = 0; i < f->n; i++)
		w->by_proc[i] = &f->at[i];
	if (f->n)
		qsort(w->by_proc, f->n, sizeof *w->by_proc, by_proc);
}

/* The measured function that a call leads to; NULL: the callee is not measured, or not known. */
static const struct view_function *
callee_of_insn(const struct writer *w, const struct view_insn *in)
{
	struct callee to = view_insn_callee(in);
	const struct part_at *part = to.n && !to.one ? parts_find(&in->binary->parts, to.symbol->addr) : NULL;

	const struct view_function key = {.proc = part ? part->proc : NULL}, *wanted = &key, **found;

	if (!part || part->proc->part[0].addr != to.symbol->addr)
		return NULL;
	found = bsearch(&wanted, w->by_proc, w->x->function->n, sizeof *w->by_proc, by_proc);
	return found ? *found : NULL;
}

/* For readers, file and object are parts of a function's name. callgrind_annotate shortens names of files below its folder, and
 * finds such a function only if its file is not written again. */
static void
put_call(struct writer *w, const struct view_insn *in)
{
	const struct call *c = view_call_at(in);
	const struct view_function *to;
	const char *file;
	uint64_t n;

	if (!c || !view_call_sum(w->x->run, in, c, "instructions", &n))
		return;
	to = callee_of_insn(w, in);
	file = to ? name_of(to->file) : "???";
	put_name(w, "cob", to ? to->binary->path : "???");
	if (strcmp(file, w->file))
		put_name(w, "cfi", file);
	put_function(w, "cfn", to ? to->proc->name : c->callee && *c->callee ? c->callee : "(through a pointer)");
	buf_printf(w->out, "calls=%" PRIu64 " 0\n0x%" PRIx64 " %u %" PRIu64 "\n", in->count, in->addr, in->line, n);
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
	buf_str(w->out, "# callgrind format\nversion: 1\ncreator: chord\ncmd: ");
	buf_plain(w->out, w->x->run->path);
	buf_printf(w->out, "\npositions: instr line\nevents: Ir\nsummary: %" PRIu64 "\n", total);
}

static void
begin_proc(struct writer *w, const struct view_insn *in, const struct binary **binary, const char **own)
{
	const struct view_function *f = w->function;

	while (f->binary != in->binary || f->proc != in->proc)
		f++;
	w->function = f;
	if (in->binary != *binary) {
		buf_char(w->out, '\n');
		put_name(w, "ob", in->binary->path);
	}
	*binary = in->binary;
	*own = name_of(f->file);
	buf_char(w->out, '\n');
	put_name(w, "fl", *own);
	put_function(w, "fn", in->proc->name);
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

	sort_functions(&w);
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
	free(w.by_proc);
	strmap_free(&w.number);
	return export_fits(x, fits);
}
