/* SPDX-License-Identifier: MIT */
/* Counts by function and by line relative to its declaration. */
#include "export/fdo.h"

#include <stdlib.h>
#include <string.h>

enum { INLINED = 64, LINES = 0xffff };

/* ---- clang's discriminators: three numbers, each in 1, 7 or 14 bits ---- */

static uint32_t
first_number(uint32_t d)
{
	if (d & 1)
		return 0;
	d >>= 1;
	return d & 0x20 ? ((d >> 1) & 0xfe0) | (d & 0x1f) : d & 0x1f;
}

/* The number of copies of a loop's body. */
static uint32_t
copies(uint32_t d)
{
	uint32_t n = first_number(d & 1 ? d >> 1 : d & 0x40 ? d >> 14 : d >> 7);

	return n ? n : 1;
}

static struct fdo_place
place_of(const struct image_frame *f, bool clang)
{
	return (struct fdo_place){(f->at.line - f->line) & LINES, clang ? first_number(f->discriminator) : 0};
}

/* ---- the tree ---- */

static bool
same(struct fdo_place a, struct fdo_place b)
{
	return a.line == b.line && a.discriminator == b.discriminator;
}

static struct fdo_count *
count_at(struct fdo *s, struct fdo_place at)
{
	for (size_t i = s->count.n; i--;)
		if (same(s->count.at[i].at, at))
			return &s->count.at[i];
	VEC_PUSH(s->count, (struct fdo_count){.at = at});
	return &s->count.at[s->count.n - 1];
}

static struct fdo *
inlined_at(struct fdo *s, struct fdo_place at, const char *name)
{
	struct fdo *in;

	for (size_t i = 0; i < s->inlined.n; i++)
		if (same(s->inlined.at[i]->at, at) && !strcmp(s->inlined.at[i]->name, name))
			return s->inlined.at[i];
	in = xcalloc(1, sizeof *in);
	in->name = name;
	in->at = at;
	VEC_PUSH(s->inlined, in);
	return in;
}

static void
add_target(struct fdo_count *c, struct fdo_target t)
{
	for (size_t i = 0; i < c->target.n; i++)
		if (c->target.at[i].by_pointer == t.by_pointer && !strcmp(c->target.at[i].name, t.name)) {
			c->target.at[i].n = saturating_add(c->target.at[i].n, t.n);
			return;
		}
	VEC_PUSH(c->target, t);
}

static void
add_targets(const struct export *x, struct fdo_count *c, const struct view_insn *in)
{
	const struct call *call = in->kind == CHORD_INSN_ICALL ? view_call_at(in) : NULL;
	struct callee to = in->kind == CHORD_INSN_CALL ? view_insn_callee(in) : (struct callee){0};
	struct view_call row = {.calls = {in->count, in->count}};

	if (to.n && in->count)
		add_target(c, (struct fdo_target){callee_name(x->run->pool, &to, 0), in->count, false});
	if (!call || !in->count || !(call->flags & CHORD_CALL_POINTER))
		return;
	view_callees(x->run, profile_module(x->run->sum, image_build_id(in->binary->image)), in->proc,
	             (uint32_t)(call - in->proc->call), &row);
	for (size_t i = 0; i < row.nto; i++)
		if (row.to[i].proc)
			add_target(c, (struct fdo_target){row.to[i].proc->name, row.to[i].calls, true});
}

static void
add_insn(const struct export *x, struct fdo *s, const struct view_insn *in, bool clang)
{
	struct image_frame f[INLINED];
	size_t n = in->line ? image_frames(in->binary->image, in->addr, f, INLINED) : 0;
	struct fdo_count *c;
	uint64_t count = in->count;

	if (!n)
		return;
	for (size_t i = n; i-- > 1;) {
		if (!f[i].at.line || !f[i].line)
			return;
		s = inlined_at(s, place_of(&f[i], clang), f[i - 1].name);
	}
	if (!f[0].at.line || !f[0].line)
		return;
	c = count_at(s, place_of(&f[0], clang));
	if (clang && __builtin_mul_overflow(count, copies(f[0].discriminator), &count))
		count = UINT64_MAX;
	if (count > c->n)
		c->n = count;
	add_targets(x, c, in);
}

/* ---- in order ---- */

static int
by_place(struct fdo_place a, struct fdo_place b)
{
	if (a.line != b.line)
		return a.line < b.line ? -1 : 1;
	return (a.discriminator > b.discriminator) - (a.discriminator < b.discriminator);
}

static int
compare_counts(const void *a, const void *b)
{
	return by_place(((const struct fdo_count *)a)->at, ((const struct fdo_count *)b)->at);
}

static int
compare_inlined(const void *a, const void *b)
{
	const struct fdo *x = *(struct fdo *const *)a, *y = *(struct fdo *const *)b;
	int c = by_place(x->at, y->at);

	return c ? c : strcmp(x->name, y->name);
}

static void
finish(struct fdo *s)
{
	if (s->count.n)
		qsort(s->count.at, s->count.n, sizeof *s->count.at, compare_counts);
	if (s->inlined.n)
		qsort(s->inlined.at, s->inlined.n, sizeof(struct fdo *), compare_inlined);
	s->total = 0;
	for (size_t i = 0; i < s->count.n; i++)
		s->total = saturating_add(s->total, s->count.at[i].n);
	for (size_t i = 0; i < s->inlined.n; i++) {
		finish(s->inlined.at[i]);
		s->total = saturating_add(s->total, s->inlined.at[i]->total);
	}
}

static void
add_tree(struct fdo *into, const struct fdo *from)
{
	into->entered = saturating_add(into->entered, from->entered);
	for (size_t i = 0; i < from->count.n; i++) {
		struct fdo_count *c = count_at(into, from->count.at[i].at);

		c->n = saturating_add(c->n, from->count.at[i].n);
		for (size_t k = 0; k < from->count.at[i].target.n; k++)
			add_target(c, from->count.at[i].target.at[k]);
	}
	for (size_t i = 0; i < from->inlined.n; i++)
		add_tree(inlined_at(into, from->inlined.at[i]->at, from->inlined.at[i]->name), from->inlined.at[i]);
}

void
fdo_merge(struct fdo *into, const struct fdo *from)
{
	add_tree(into, from);
	finish(into);
}

struct fdo *
fdo_of(const struct export *x, uint32_t function, const struct view_insn *insn, size_t n, bool clang)
{
	const struct view_function *f = &x->function->at[function];
	struct fdo *s;
	uint32_t scope;

	if (!view_is_exact(f->counts) || !f->counts->activations_known)
		return NULL;
	s = xcalloc(1, sizeof *s);
	scope = image_scope_around(f->binary->image, f->proc->part[0].addr);
	s->name = scope == IMAGE_NO_SCOPE ? f->proc->name : image_scope(f->binary->image, scope)->name;
	s->entered = f->counts->activations;
	for (size_t i = 0; i < n; i++)
		add_insn(x, s, &insn[i], clang);
	finish(s);
	return s;
}

void
fdo_free(struct fdo *s)
{
	for (size_t i = 0; s && i < s->inlined.n; i++)
		fdo_free(s->inlined.at[i]);
	for (size_t i = 0; s && i < s->count.n; i++)
		free(s->count.at[i].target.at);
	if (s) {
		free(s->inlined.at);
		free(s->count.at);
	}
	free(s);
}

size_t
fdo_insns(const struct export *x, uint32_t function, size_t *at)
{
	size_t from = *at;

	while (*at < x->list->insn.n && x->list->insn.at[*at].proc == x->function->at[function].proc)
		++*at;
	return from;
}
