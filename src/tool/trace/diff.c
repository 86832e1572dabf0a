/* SPDX-License-Identifier: MIT */
/* The first place where two runs of one build differ, thread by thread. */
#include "tool/trace/trace.h"

#include "tool/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A thread's part of a stream. */
struct part {
	uint64_t thread;
	size_t stream;
	uint64_t mark;           /* how many marks of threads come before it in the stream */
	bool met;                /* the other process has that thread, too */
};
struct part_list {
	struct part *at;
	size_t n, cap;
};

/* The paths of a thread, one after another. */
struct course {
	struct traced *process;
	struct slots *slots;     /* NULL: no stream has been read yet */
	size_t stream, i, listed;
	uint64_t mark;           /* how many marks of threads come before it */
	uint64_t n;              /* paths before this one */
	bool unknown;            /* the last path is not known, so neither is what follows */
	bool damaged;            /* the last slot is not a path, so what follows is not known */
};

static bool
next_slot(struct course *c, uint32_t *slot)
{
	if (c->i == c->slots->n) {
		if (!slots_next(c->slots))
			return false;
		c->i = 0;
	}
	*slot = c->slots->slot[c->i++];
	if (CHORD_SLOT_KIND(*slot) == CHORD_MARK_MODULES)
		c->listed = CHORD_SLOT_PAYLOAD(*slot);
	c->mark += CHORD_SLOT_KIND(*slot) == CHORD_MARK_THREAD;
	return true;
}

static void
begin_stream(struct course *c, size_t stream)
{
	slots_free(c->slots);
	*c = (struct course){.process = c->process, .stream = stream,
	                     .slots = slots_new(c->process->file, stream, c->process->code)};
}

static void
begin_part(struct course *c, const struct part *x)
{
	uint32_t slot;

	if (!c->slots || c->stream != x->stream || c->mark >= x->mark)
		begin_stream(c, x->stream);
	while (c->mark < x->mark && next_slot(c, &slot))
		;
	c->n = 0;
	c->unknown = c->damaged = false;
}

static const struct replay_path *
next_path(struct course *c)
{
	const uint64_t mark = c->mark;
	const struct replay_path *p;
	uint32_t slot;

	do {
		if (!next_slot(c, &slot))
			return NULL;
		if (c->mark > mark) {
			c->mark--;
			c->i--;
			return NULL;
		}
	} while (!slot || CHORD_SLOT_KIND(slot));
	c->n++;
	p = replay_path_of(c->process->code, slot, c->listed, &c->damaged);
	c->unknown = !p && !c->damaged;
	return p;
}

/* Finds the threads of a process. False: a stream has a fault, which was reported; it may have more threads. */
static bool
find_parts(struct traced *t, struct part_list *parts)
{
	struct course c = {.process = t};
	uint32_t slot;
	bool ok = true;

	for (size_t i = 0; i < t->file->stream.n; i++) {
		struct part x = {.thread = i + 1, .stream = i};
		bool any = false;

		for (begin_stream(&c, i); next_slot(&c, &slot); any |= slot && !CHORD_SLOT_KIND(slot)) {
			if (CHORD_SLOT_KIND(slot) != CHORD_MARK_THREAD)
				continue;
			if (x.mark || any)
				VEC_PUSH(*parts, x);
			x.thread = CHORD_SLOT_PAYLOAD(slot);
			x.mark = c.mark;
		}
		if (x.mark || any)
			VEC_PUSH(*parts, x);
		if (c.slots->fault)
			say_error(t->name, "%s", c.slots->fault);
		ok &= !c.slots->fault;
	}
	slots_free(c.slots);
	return ok;
}

/* Both processes are of one build, so a procedure has the same record in both. */
static bool
same(const struct replay_path *x, const struct replay_path *y)
{
	return x == y || (x && y && x->proc == y->proc && x->sum == y->sum);
}

/* ---- one side: the stack where they part, and what it does there ---- */

struct side {
	struct trace_out out;
	FILE *to;
};

static void
put_frame(struct side *s, const struct replay_path *p, uint32_t block, const char *what)
{
	const struct trace_block *b = trace_block(&s->out, p->proc, p->module, block);
	const struct image_place *at = b->n ? &b->insn[b->n - 1].at : NULL;

	fprintf(s->to, "    %s%s block %u", what, plain_name(p->proc->name), block);
	if (at && at->file)
		fprintf(s->to, "  %s:%u", shown_path(at->file), at->line);
	fputc('\n', s->to);
}

static void
put_below(struct side *s, const struct replay_frame *f)
{
	const struct replay_path *p = f->path ? f->path : f->ahead;

	if (p && p->n)
		put_frame(s, p, p->block[f->done.block < p->n ? f->done.block : p->n - 1], "interrupted ");
	else if (f->last && f->last->n)
		put_frame(s, f->last, f->last->block[f->last->n - 1], "called by ");
}

/* Follows the stream up to the path at which the course is. False: it does not get there. */
static bool
follow(struct replay *r, struct trace_out *o, const struct course *c)
{
	*r = (struct replay){.file = c->process->file, .code = c->process->code, .ctx = o, .locate = place_locate,
	                     .written = place_written, .names = place_names};
	replay_begin(r, c->stream);
	while (r->slots->segment != c->slots->segment || r->i < c->i)
		if (!replay_step(r))
			return false;
	return r->stack.n && r->stack.at[r->stack.n - 1].path;
}

/* The path as the stream was followed, because a witness alone does not tell its path. */
static const struct replay_path *
followed(struct run *run, const struct course *c)
{
	struct trace_out o = {.run = run, .process = c->process};
	struct replay r;
	const struct replay_path *p = follow(&r, &o, c) ? r.stack.at[r.stack.n - 1].path : NULL;

	replay_end(&r);
	return p;
}

static void
put_place(struct side *s, const struct replay *r, uint32_t same)
{
	const struct replay_frame *f = &r->stack.at[r->stack.n - 1];
	const struct replay_path *p = f->path;
	char number[32];
	uint64_t insns = r->insns;

	for (uint32_t i = 0; i < same; i++)
		insns += p->proc->block[p->block[i]].ninsn;
	fprintf(s->to, "  %s, after %s instructions:\n", plain_text(s->out.process->name), grouped(number, insns));
	if (same)
		put_frame(s, p, p->block[same - 1], "both ran ");
	else if (f->last && f->last->n)
		put_frame(s, f->last, f->last->block[f->last->n - 1], "both ran ");
	if (same < p->n)
		put_frame(s, p, p->block[same], "then ");
	else if (p->end == REPLAY_CUT && p->next < p->proc->nblock)
		put_frame(s, p, p->next, "then ");
	else
		fprintf(s->to, "    then it left %s\n", plain_name(p->proc->name));
	for (size_t i = r->stack.n - 1; i--;)
		put_below(s, &r->stack.at[i]);
}

/* ended: the thread has no more paths. */
static void
put_side(struct trace_args *a, struct run *r, const struct course *c, bool ended, uint32_t same, FILE *to)
{
	struct side s = {.out = {.args = a, .run = r, .process = c->process}, .to = to};
	struct replay replay;

	if (ended) {
		fprintf(to, "  %s: the thread ends there\n", plain_text(c->process->name));
		return;
	}
	if (follow(&replay, &s.out, c))
		put_place(&s, &replay, same);
	replay_end(&replay);
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

/* Is it known what follows the last path? */
static bool
can_go_on(const struct course *c)
{
	return !c->slots->fault && !c->unknown && !c->damaged;
}

/* Reports why a thread cannot be compared to its end, if that has not been reported for the stream. */
static bool
is_whole(const struct course *c)
{
	if (c->damaged)
		say_error(c->process->name, "segment %" PRIu64 ": damaged: slot %zu is no path of a module that is listed",
		          c->slots->segment - 1, c->i - 1);
	else if (c->unknown)
		say_error(c->process->name, "path %" PRIu64 " is not known: its code is not at hand; nothing after it is compared",
		          c->n);
	return can_go_on(c);
}

/* Compares a thread; both courses are at its beginning. Returns the status: EXIT_NO if it differs. */
static int
diff_thread(struct trace_args *a, struct run *r, struct course *c, uint64_t thread, FILE *to)
{
	const struct replay_path *p[2];
	bool ended[2], whole = true;
	uint32_t same_n;

	do {
		for (int i = 0; i < 2; i++)
			p[i] = next_path(&c[i]);
	} while (p[0] && same(p[0], p[1]));
	for (int i = 0; i < 2; i++) {
		whole &= is_whole(&c[i]);
		ended[i] = !p[i];
	}
	if (!whole || (ended[0] && ended[1]))
		return whole ? 0 : EXIT_NO;
	fprintf(to, "Thread %" PRIu64 ": the first difference is in path %" PRIu64 "\n", thread, ended[0] ? c[1].n : c[0].n);
	for (int i = 0; i < 2; i++)
		if (p[i] && p[i]->witness)
			p[i] = followed(r, &c[i]);
	same_n = same_blocks(p[0], p[1]);
	for (int i = 0; i < 2; i++)
		put_side(a, r, &c[i], ended[i], same_n, to);
	return EXIT_NO;
}

static int
by_thread(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* Threads are compared by their numbers, because the same thread may have different streams in the two processes. */
static int
diff_threads(struct trace_args *a, struct run *r, struct course *c, struct part_list *parts, FILE *to)
{
	int status = 0;

	if (parts[1].n)
		qsort(parts[1].at, parts[1].n, sizeof *parts[1].at, by_thread);
	for (size_t i = 0; i < parts[0].n; i++) {
		struct part *x = &parts[0].at[i];
		struct part *y = parts[1].n ? bsearch(x, parts[1].at, parts[1].n, sizeof *y, by_thread) : NULL;

		if (!y)
			continue;
		x->met = y->met = true;
		if (a->thread && a->thread != x->thread)
			continue;
		begin_part(&c[0], x);
		begin_part(&c[1], y);
		status |= diff_thread(a, r, c, x->thread, to);
	}
	return status;
}

/* Puts the threads that only one process has. Returns the status. */
static int
put_others(struct trace_args *a, const char *name, const struct part_list *parts, FILE *to)
{
	int status = 0;

	for (size_t i = 0; i < parts->n; i++) {
		const struct part *x = &parts->at[i];

		a->thread_found |= a->thread == x->thread;
		if (x->met || (a->thread && a->thread != x->thread))
			continue;
		fprintf(to, "Thread %" PRIu64 ": only %s has it\n", x->thread, name);
		status = EXIT_NO;
	}
	return status;
}

static int
diff_all(struct trace_args *a, struct run *r, struct traced_list *list, FILE *to)
{
	struct course c[2] = {{.process = &list->at[0]}, {.process = &list->at[1]}};
	struct part_list parts[2] = {{0}};
	bool whole = true;
	int status;

	for (int i = 0; i < 2; i++) {
		struct trace_out o = {.args = a, .run = r, .process = c[i].process};

		whole &= trace_warn(&o);
		whole &= find_parts(c[i].process, &parts[i]);
	}
	status = diff_threads(a, r, c, parts, to);
	for (int i = 0; i < 2; i++)
		status |= put_others(a, c[i].process->name, &parts[i], to);
	for (int i = 0; i < 2; i++) {
		slots_free(c[i].slots);
		free(parts[i].at);
	}
	return whole ? status : EXIT_NO;
}

int
trace_diff(struct trace_args *a, struct run *r, struct traced_list *list, FILE *to)
{
	int status;

	if (list->n != 2) {
		say_error(a->program, "two processes are compared; these are %zu", list->n);
		return EXIT_NO;
	}
	status = diff_all(a, r, list, to);
	if (a->thread && !a->thread_found) {
		say_error("--thread", "there is no thread %" PRIu64, a->thread);
		return EXIT_NO;
	}
	if (!status)
		fputs("No difference: both ran the same\n", to);
	return status;
}
