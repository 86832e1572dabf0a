/* SPDX-License-Identifier: MIT */
/* The trace in a core file of a process that could make no file for it. */
#include "process/core.h"

#include "process/control.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool
core_trace_is(const char *path)
{
	FILE *file = fopen(path, "re");
	Elf64_Ehdr h;
	bool is = file && fread(&h, sizeof h, 1, file) == 1 && !memcmp(h.e_ident, ELFMAG, SELFMAG) && h.e_type == ET_CORE;

	if (file)
		fclose(file);
	return is;
}

/* Lists the modules of the process by the process's numbers, for the tokens of the trace. */
static void
name_modules(struct post *s, const struct trace_file *f)
{
	s->p->pid = f->pid;
	VEC_PUSH(s->p->origin, (struct chord_origin){.id = f->id, .id2 = f->id2, .pid = f->pid});
	for (uint32_t i = 0; i < s->module.n; i++)
		VEC_PUSH(s->p->number, post_module(s, &s->module.at[i].live));
}

static const char *
read_trace(struct post *s, struct core_trace *t)
{
	const char *why;

	if (!control_find(post_read, s->core, &s->live) || !post_read_tables(s))
		return "what it holds of Chord's runtime makes no sense, or is of another version";
	if (!s->live.magic)
		return "it holds nothing of Chord's runtime: it is of a program that is not measured, or was not loaded far enough";
	t->file = trace_of_memory(s->r->pool, post_read, s->core, control_anchor(post_read, s->core), &why);
	if (!t->file)
		return why ? why : "it holds no trace: what the process traced is in a file beside its profile, or was not kept";
	post_take_head(s);
	t->profile = s->p;
	name_modules(s, t->file);
	return trace_why_not(t->file, s->p);
}

const char *
core_trace_open(struct run *r, const char *path, struct core_trace *t)
{
	const char *why = NULL;
	struct post s = {.r = r};

	*t = (struct core_trace){.core = core_open(r->pool, path, r->path, &why)};
	s.core = t->core;
	if (t->core)
		why = read_trace(&s, t);
	if (t->core && why && core_is_cut(t->core))
		why = pool_printf(r->pool, "truncated, and what is left is not enough: %s", why);
	free(s.module.at);
	free(s.region.at);
	return why;
}

void
core_trace_close(struct core_trace *t)
{
	trace_close(t->file);
	profile_free(t->profile);
	core_close(t->core);
	*t = (struct core_trace){0};
}
