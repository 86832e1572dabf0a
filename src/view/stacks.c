/* SPDX-License-Identifier: MIT */
/* Instructions, by the call stacks on which they are known to have run. */
#include "view/stacks.h"

#include <stdlib.h>
#include <string.h>

/* The greatest depth of functions, and of inlined functions. A deeper stack begins with VIEW_SEVERAL. */
enum { DEEP = 512, INLINED = 64 };

const char VIEW_SEVERAL[] = "[callers not known apart]";

struct builder {
	struct view_stacks *out;
	struct pool *pool;
	const struct view_functions *all;
	const struct view_above *up;
	struct strmap number;    /* of a stack, by its frames */
	struct buf key;
	struct view_stack_frame frame[DEEP + INLINED + 2];
	size_t n, above;         /* frames; how many of these are down to the function itself */
	uint32_t function;
	bool fits;
};

static void
push(struct builder *b, const char *name, const char *file, unsigned line)
{
	b->frame[b->n++] = (struct view_stack_frame){name, file, line};
}

static void
push_function(struct builder *b, uint32_t function)
{
	const struct view_function *f = &b->all->at[function];

	push(b, f->proc->name, *f->file ? f->file : NULL, f->line);
}

/* Pushes the callers of a function and the function itself. */
static void
begin(struct builder *b, uint32_t function)
{
	uint32_t chain[DEEP], n = 0, at = function;

	while (n < DEEP && b->up[at].caller != VIEW_NO_CALLER) {
		chain[n++] = at;
		at = b->up[at].caller;
	}
	b->n = 0;
	if (n == DEEP || b->up[at].several)
		push(b, VIEW_SEVERAL, NULL, 0);
	if (n < DEEP)
		push_function(b, at);
	while (n)
		push_function(b, chain[--n]);
	b->above = b->n;
	b->function = function;
}

static void
count(struct builder *b, uint64_t insns)
{
	struct view_stack_frame *copy;
	uint64_t i;

	b->key.n = 0;
	for (size_t k = 0; k < b->n; k++)
		buf_printf(&b->key, "%s\n%s\n%u\n", b->frame[k].name, b->frame[k].file ? b->frame[k].file : "", b->frame[k].line);
	if (strmap_get(&b->number, (struct str){b->key.at, b->key.n}, &i)) {
		b->fits &= !__builtin_add_overflow(b->out->at[i].insns, insns, &b->out->at[i].insns);
		return;
	}
	copy = pool_array(b->pool, b->n, sizeof *copy);
	memcpy(copy, b->frame, b->n * sizeof *copy);
	strmap_put(&b->number, (struct str){pool_strndup(b->pool, b->key.at, b->key.n), b->key.n}, b->out->n);
	VEC_PUSH(*b->out, (struct view_stack){copy, b->n, insns});
}

/* Functions inlined at the instruction are below the function. */
static void
add_insn(struct builder *b, const struct view_insn *in)
{
	struct image_frame f[INLINED];
	size_t n = in->line ? image_frames(in->binary->image, in->addr, f, INLINED) : 0;

	b->n = b->above;
	for (size_t i = n; i-- > 1;)
		push(b, f[i - 1].name, f[i - 1].file, f[i - 1].line);
	count(b, in->count);
}

static void
add_shares(struct builder *b, uint32_t function)
{
	const struct view_above *up = &b->up[function];

	for (size_t i = 0; i < up->nshare; i++) {
		begin(b, up->share[i].caller);
		push_function(b, function);
		if (up->share[i].insns)
			count(b, up->share[i].insns);
	}
}

bool
view_stacks(struct view_stacks *s, struct pool *pool, struct run *run, const struct view_functions *all,
            const struct view_listing *l)
{
	struct builder *b = xcalloc(1, sizeof *b);
	const struct proc *proc = NULL;
	uint32_t function = 0;
	bool fits;

	*b = (struct builder){.out = s, .pool = pool, .all = all, .up = view_above(pool, run, all, l), .fits = true};
	for (size_t i = 0; i < l->insn.n; i++) {
		const struct view_insn *in = &l->insn.at[i];

		if (!in->known || !in->count)
			continue;
		if (in->proc != proc) {
			while (all->at[function].proc != in->proc)
				function++;
			proc = in->proc;
			add_shares(b, function);
			begin(b, function);
		}
		if (!b->up[function].nshare)
			add_insn(b, in);
	}
	fits = b->fits;
	buf_free(&b->key);
	strmap_free(&b->number);
	free(b);
	return fits;
}
