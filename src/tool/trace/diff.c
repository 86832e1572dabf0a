/* SPDX-License-Identifier: MIT */
/* The first place where two runs of one build part, thread by thread. */
#include "tool/trace/trace.h"

#include "tool/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The paths of a stream, one after another. */
struct course {
	struct traced *process;
	struct slots *slots;
	size_t i, listed;
	uint64_t n;              /* paths before this one */
	bool unknown;            /* the last one: nothing can be said of what is behind it */
	bool damaged;            /* likewise: it is none */
};

static const struct replay_path *
next_path(struct course *c)
{
	const struct replay_path *p;

	for (;; c->i++) {
		uint32_t slot;

		if (c->i == c->slots->n) {
			if (!slots_next(c->slots))
				return NULL;
			c->i = 0;
		}
		slot = c->slots->slot[c->i];
		if (CHORD_SLOT_KIND(slot) == CHORD_MARK_MODULES)
			c->listed = CHORD_SLOT_PAYLOAD(slot);
		if (slot && !CHORD_SLOT_KIND(slot))
			break;
	}
	c->n++;
	p = replay_path_of(c->process->code, c->slots->slot[c->i++], c->listed, &c->damaged);
	c->unknown = !p && !c->damaged;
	return p;
}

/* Both are of one build: a procedure has one record. */
static bool
same(const struct replay_path *x, const struct replay_path *y)
{
	return x == y || (x && y && x->proc == y->proc && x->sum == y->sum);
}

/* ---- one side: the stack where they part, and what it does there ---- */

struct side {
	struct trace_out out;
	uint64_t left;           /* paths before the place */
	uint32_t same;           /* blocks of the path there that both ran */
	FILE *to;
};

static void
put_frame(const struct side *s, const struct replay_frame *f, const struct replay_path *p, uint32_t block, const char *what)
{
	const struct trace_block *b = trace_block((struct trace_out *)(uintptr_t)&s->out, p->proc, p->module, block);
	const struct image_place *at = b->n ? &b->insn[b->n - 1].at : NULL;

	(void)f;
	fprintf(s->to, "    %s%s block %u", what, image_readable(p->proc->name), block);
	if (at && at->file)
		fprintf(s->to, "  %s:%u", shown_path(at->file), at->line);
	fputc('\n', s->to);
}

static void
put_stack(const struct side *s, const struct replay *r)
{
	for (size_t i = r->stack.n - 1; i--;) {
		const struct replay_frame *f = &r->stack.at[i];

		if (f->last && f->last->n)
			put_frame(s, f, f->last, f->last->block[f->last->n - 1], "called by ");
	}
}

static void
side_runs(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	struct side *s = r->ctx;
	const struct replay_frame *f = &r->stack.at[r->stack.n - 1];
	char number[32];
	uint64_t insns = r->insns;

	(void)from, (void)to;
	if (s->left--)
		return;
	r->stop = true;
	for (uint32_t i = 0; i < s->same; i++)
		insns += p->proc->block[p->block[i]].ninsn;
	fprintf(s->to, "  %s, behind %s instructions:\n", s->out.process->name, grouped(number, insns));
	if (s->same)
		put_frame(s, f, p, p->block[s->same - 1], "both ran ");
	else if (f->last && f->last->n)
		put_frame(s, f, f->last, f->last->block[f->last->n - 1], "both ran ");
	if (s->same < p->n)
		put_frame(s, f, p, p->block[s->same], "then ");
	else
		fprintf(s->to, "    then it left %s\n", image_readable(p->proc->name));
	put_stack(s, r);
}

/* Path number n of a stream, from 0, as it was followed: what a witness stands for is not told by that alone. */
struct follower {
	uint64_t left;
	const struct replay_path *path;
};

static void
follow_runs(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	struct follower *f = r->ctx;

	(void)from, (void)to;
	if (f->left--)
		return;
	f->path = p;
	r->stop = true;
}

static const struct replay_path *
followed(const struct traced *t, size_t stream, uint64_t n)
{
	struct follower f = {.left = n};
	struct replay replay = {.file = t->file, .code = t->code, .ctx = &f, .runs = follow_runs};

	replay_stream(&replay, stream);
	return f.path;
}

static void
put_side(struct trace_args *a, struct run *r, struct traced *t, size_t stream, uint64_t n, uint32_t same_blocks, FILE *to)
{
	struct side s = {.out = {.args = a, .run = r, .process = t}, .left = n, .same = same_blocks, .to = to};
	struct replay replay = {.file = t->file, .code = t->code, .ctx = &s, .runs = side_runs};

	replay_stream(&replay, stream);
	if (!replay.stop)
		fprintf(to, "  %s ends there\n", t->name);
	strmap_free(&s.out.blocks);
}

/* ---- */

static uint32_t
same_blocks(const struct replay_path *x, const struct replay_path *y)
{
	uint32_t n = 0;

	while (x && y && x->proc == y->proc && x->from == y->from && n < x->n && n < y->n && x->block[n] == y->block[n])
		n++;
	return n;
}

/* Is it known what is behind the last path? */
static bool
can_go_on(const struct course *c)
{
	return !c->slots->fault && !c->unknown && !c->damaged;
}

/* Says what keeps a stream from being compared to its end. */
static bool
is_whole(const struct course *c)
{
	if (c->slots->fault)
		say_error(c->process->name, "%s", c->slots->fault);
	else if (c->damaged)
		say_error(c->process->name, "segment %" PRIu64 ": damaged: slot %zu is no path of a module that is listed",
		          c->slots->segment - 1, c->i - 1);
	else if (c->unknown)
		say_error(c->process->name, "path %" PRIu64 " is not known: its code is not at hand; nothing behind it is compared",
		          c->n);
	return can_go_on(c);
}

/* Status: does the stream differ? */
static int
diff_stream(struct trace_args *a, struct run *r, struct traced_list *list, size_t stream, FILE *to)
{
	struct course c[2];
	const struct replay_path *p[2];
	int status = 0;

	for (int i = 0; i < 2; i++)
		c[i] = (struct course){.process = &list->at[i], .slots = slots_new(list->at[i].file, stream, list->at[i].code)};
	do {
		for (int i = 0; i < 2; i++)
			p[i] = next_path(&c[i]);
	} while (p[0] && same(p[0], p[1]));
	for (int i = 0; i < 2; i++)
		status |= is_whole(&c[i]) ? 0 : EXIT_NO;
	if ((p[0] || p[1]) && can_go_on(&c[0]) && can_go_on(&c[1])) {
		uint64_t n = (p[0] ? c[0].n : c[1].n) - 1;

		for (int i = 0; i < 2; i++)
			if (p[i] && p[i]->witness)
				p[i] = followed(&list->at[i], stream, n);
		fprintf(to, "Thread %zu: the first difference is in path %" PRIu64 "\n", stream + 1, n + 1);
		for (int i = 0; i < 2; i++)
			put_side(a, r, &list->at[i], stream, n, same_blocks(p[0], p[1]), to);
		status = EXIT_NO;
	}
	for (int i = 0; i < 2; i++)
		slots_free(c[i].slots);
	return status;
}

int
trace_diff(struct trace_args *a, struct run *r, struct traced_list *list, FILE *to)
{
	size_t n = list->n == 2 ? list->at[0].file->stream.n : 0, m = list->n == 2 ? list->at[1].file->stream.n : 0;
	int status = 0;

	if (list->n != 2) {
		say_error(a->program, "two processes are compared; these are %zu", list->n);
		return EXIT_NO;
	}
	for (size_t i = 0; i < n && i < m; i++)
		if (!a->thread || a->thread == i + 1)
			status |= diff_stream(a, r, list, i, to);
	if (n != m) {
		fprintf(to, "%zu threads in %s, %zu in %s\n", n, list->at[0].name, m, list->at[1].name);
		status = EXIT_NO;
	}
	if (!status)
		fputs("No difference: both ran the same\n", to);
	return status;
}
