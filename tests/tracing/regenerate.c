/* SPDX-License-Identifier: MIT */
/* regenerate [--damage] PROGRAM [PROFILE...]: computes the witnesses that the paths of traces would have written, thread by
 * thread. It regenerates the blocks from these alone (src/graph/regenerate.c), and compares them with those of the paths, block
 * by block. It is for short runs, because all is kept in memory. A mark, with its place, stands for what no graph tells: calls
 * through pointers, callbacks, tail calls, longjmp. A mark must be found if control comes there, and nowhere else. --damage
 * changes one of the witnesses before. */
#include "graph/graph.h"
#include "tool/trace/trace.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct place {
	uint32_t procedure, vertex;
};

struct marked {
	uint64_t used;           /* witnesses before it */
	uint64_t number;         /* of the activation */
	struct place at;
	bool leaving, by_call;
	struct trace_mark mark;
};

/* What ran in an activation that nothing traced had called. */
struct segment {
	uint32_t procedure;
	uint64_t entered;        /* activations */
	bool ended, interrupted, at_call;
	VEC(uint32_t) value;
	VEC(struct marked) mark;
	VEC(struct place) block;
};

/* A call in a block. */
struct site {
	uint64_t ran, entered;
	uint32_t callee;
	bool several;            /* callees */
};

struct checker {
	struct encodings *encodings;
	VEC(struct segment) segment;
	enum replay_how how;     /* what is to be entered with the next path; `enters` */
	bool enters;
	bool any_left;           /* activations were left by a jump, since the last path: the innermost */
	uint64_t number;         /* of that activation, or of the one that a tail call ended */
	struct place from;
	VEC(struct trace_procedure) procedure;
	VEC(const struct writes *) writes;
	VEC(struct site *) site; /* by procedure, by vertex */
	struct segment *now;     /* being regenerated */
	size_t value_at, mark_at;
};

static struct segment *
last_segment(struct checker *c)
{
	return &c->segment.at[c->segment.n - 1];
}

static uint32_t
procedure_of(struct checker *c, const struct encoded_path *x)
{
	const struct writes *w = x->writes;

	while (c->procedure.n <= w->number) {
		VEC_PUSH(c->procedure, (struct trace_procedure){0});
		VEC_PUSH(c->writes, NULL);
		VEC_PUSH(c->site, NULL);
	}
	if (!c->writes.at[w->number]) {
		c->writes.at[w->number] = w;
		c->site.at[w->number] = xcalloc(w->g->nvert, sizeof(struct site));
	}
	return w->number;
}

/* Where a path ends. */
static struct place
end_of(struct checker *c, const struct replay_path *p)
{
	return (struct place){procedure_of(c, encodings_path(c->encodings, p)), p->proc->arc[p->arc[p->narc - 1]].from};
}

/* ---- from paths: what would have been written ---- */

static void
put_mark(struct checker *c, uint64_t number, struct place at, bool leaving, struct trace_mark mark)
{
	struct segment *s = last_segment(c);
	bool by_call = mark.kind == TRACE_ENTERS;

	VEC_PUSH(s->mark, (struct marked){s->value.n, number, at, leaving, by_call, mark});
}

/* Of an activation: how many its segment had before it. */
static uint64_t
number_of(const struct replay_frame *f)
{
	return (uintptr_t)f->note;
}

static void
note_entry(struct checker *c, struct place at, uint32_t callee)
{
	struct site *s = &c->site.at[at.procedure][at.vertex];

	s->several |= s->entered && s->callee != callee;
	s->entered++;
	s->callee = callee;
}

/* What enters is told before the path that says what it is. */
static void
begin_activation(struct replay *r, uint32_t procedure)
{
	struct checker *c = r->ctx;
	struct replay_frame *f = &r->stack.at[r->stack.n - 1];
	struct trace_mark mark = {.kind = TRACE_ENTERS, .procedure = procedure};

	if (r->stack.n == 1 && c->how != REPLAY_BY_TAIL_CALL)
		VEC_PUSH(c->segment, (struct segment){.procedure = procedure});
	if (c->how == REPLAY_FROM_NOWHERE && f[-1].at == REPLAY_AT_CALL)
		c->how = REPLAY_BY_CALL; /* raise() */
	if (c->how == REPLAY_FROM_NOWHERE || c->how == REPLAY_FOUND)
		last_segment(c)->interrupted = true;
	f->note = (void *)(uintptr_t)last_segment(c)->entered++;
	if (c->how == REPLAY_BY_CALL) {
		struct place at = end_of(c, f[-1].last);

		note_entry(c, at, procedure);
		put_mark(c, number_of(f - 1), at, false, mark);
	} else if (c->how == REPLAY_BY_TAIL_CALL) {
		mark.kind = TRACE_IN_PLACE;
		put_mark(c, c->number, c->from, true, mark);
	}
}

static void
enters(struct replay *r, enum replay_how how)
{
	struct checker *c = r->ctx;

	c->enters = true;
	c->how = how;
}

static void
leaves(struct replay *r, enum replay_how how)
{
	struct checker *c = r->ctx;
	const struct replay_frame *f = &r->stack.at[r->stack.n - 1];

	if (how == REPLAY_BY_TAIL_CALL || (how == REPLAY_BY_JUMP && !c->any_left)) {
		c->from = end_of(c, f->last);
		c->number = number_of(f);
	}
	c->any_left |= how == REPLAY_BY_JUMP;
	if (r->stack.n == 1 && how != REPLAY_BY_TAIL_CALL)
		last_segment(c)->ended = how == REPLAY_BY_RETURN;
}

static void
put_values(struct segment *s, const struct encoding_piece *x)
{
	for (uint32_t i = 0; i < x->form[ENCODING_WITNESS_BITS].writes; i++)
		VEC_PUSH(s->value, x->value[i]);
}

/* Before a path that does not begin with an entry. */
static void
go_on(struct replay *r, const struct replay_path *p)
{
	struct checker *c = r->ctx;
	const struct replay_frame *f = &r->stack.at[r->stack.n - 1];
	bool straight = !c->any_left && p->begin == REPLAY_GOES_ON && f->last && f->next == p->from;
	struct trace_mark mark = {.kind = TRACE_JUMPS, .depth = (uint32_t)r->stack.n, .vertex = p->from};

	if (straight) {
		put_values(last_segment(c), &encodings_path(c->encodings, f->last)->behind);
		return;
	}
	if (p->begin == REPLAY_LANDS)
		mark.vertex = p->proc->arc[p->arc[0]].to;
	if (c->any_left)
		put_mark(c, c->number, c->from, false, mark);
	else if (f->last)
		put_mark(c, number_of(f), end_of(c, f->last), false, mark);
}

static void
runs(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	struct checker *c = r->ctx;
	struct encoded_path *x = encodings_path(c->encodings, p);
	uint32_t procedure = procedure_of(c, x);
	struct segment *s;

	(void)from, (void)to; /* whole paths: no strikes are looked for */
	if (c->enters)
		begin_activation(r, procedure);
	c->enters = false;
	s = last_segment(c);
	if (p->begin != REPLAY_ENTERS)
		go_on(r, p);
	c->any_left = false;
	put_values(s, &x->body);
	for (uint32_t i = 0; i < p->n; i++)
		VEC_PUSH(s->block, (struct place){procedure, p->block[i]});
	s->at_call = p->end == REPLAY_CALLS;
	if (s->at_call)
		c->site.at[procedure][end_of(c, p).vertex].ran++;
}

/* ---- calls that need no mark ---- */

/* Does a direct call enter the same procedure each time? Then the graph of the program would tell it. */
static bool
is_told(const struct checker *c, struct place at)
{
	const struct site *s = &c->site.at[at.procedure][at.vertex];
	const struct block *b = &c->writes.at[at.procedure]->proc->block[at.vertex];

	return s->ran && s->entered == s->ran && !s->several && b->ninsn && b->insn[b->ninsn - 1] >> 4 == CHORD_INSN_CALL;
}

static void
fill_procedures(struct checker *c, struct pool *pool)
{
	for (uint32_t i = 0; i < c->procedure.n; i++) {
		const struct writes *w = c->writes.at[i];
		uint32_t *callee = w ? pool_array(pool, w->g->nvert, sizeof *callee) : NULL;

		for (uint32_t v = 0; w && v < w->g->nvert; v++)
			callee[v] = v < w->proc->nblock && is_told(c, (struct place){i, v}) ? c->site.at[i][v].callee : GRAPH_NONE;
		if (w)
			c->procedure.at[i] = (struct trace_procedure){w->g, w->values, callee};
	}
}

static void
drop_marks(struct checker *c, struct segment *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->mark.n; i++)
		if (!s->mark.at[i].by_call || !is_told(c, s->mark.at[i].at))
			s->mark.at[n++] = s->mark.at[i];
	s->mark.n = n;
}

/* ---- from witnesses: blocks ---- */

static bool
read_value(void *ctx, uint32_t *value)
{
	struct checker *c = ctx;

	if (c->value_at >= c->now->value.n) {
		*value = TRACE_EOF;
		return c->value_at++ == c->now->value.n && c->now->ended;
	}
	*value = c->now->value.at[c->value_at++];
	return true;
}

static bool
read_mark(void *ctx, const struct trace *t, bool leaving, struct trace_mark *mark)
{
	struct checker *c = ctx;
	const struct marked *m = &c->now->mark.at[c->mark_at];
	const struct trace_frame *f = &t->stack.at[t->stack.n - 1];

	if (c->mark_at == c->now->mark.n || m->used != t->used || m->number != f->number || m->leaving != leaving ||
	    m->at.procedure != f->procedure || m->at.vertex != f->vertex)
		return false;
	*mark = m->mark;
	c->mark_at++;
	return true;
}

/* Blocks regenerated before the first that is wrong, or missing. */
static size_t
regenerate(struct checker *c, struct segment *s, enum trace_event *end)
{
	struct trace_source source = {.read = read_value, .ctx = c, .marked = read_mark};
	struct trace t;
	size_t n = 0;

	c->now = s;
	c->value_at = c->mark_at = 0;
	trace_begin(&t, c->procedure.at, s->procedure, source);
	while ((*end = trace_next(&t)) <= TRACE_RETURN && (n < s->block.n || s->ended)) {
		const struct trace_frame *f = &t.stack.at[t.stack.n - 1];

		if (*end == TRACE_RETURN || f->vertex >= c->writes.at[f->procedure]->proc->nblock)
			continue;
		if (n == s->block.n || s->block.at[n].procedure != f->procedure || s->block.at[n].vertex != f->vertex)
			break;
		n++;
	}
	trace_free(&t);
	return n;
}

static bool
check_segment(struct checker *c, struct segment *s, const char *name)
{
	enum trace_event end;
	size_t n;

	drop_marks(c, s);
	n = regenerate(c, s, &end);
	if (n == s->block.n && (!s->ended || end == TRACE_END) && c->mark_at == s->mark.n)
		return true;
	if (!s->ended && !s->at_call && end == TRACE_CUT)
		return true;
	printf("%s: from %s on: %zu blocks ran, %zu were regenerated, then %s in %s, vertex %" PRIu32
	       " (event %d; %zu of %zu marks)\n", name, c->writes.at[s->procedure]->proc->name, s->block.n, n,
	       n < s->block.n ? "another" : "more",
	       n < s->block.n ? c->writes.at[s->block.at[n].procedure]->proc->name : "-",
	       n < s->block.n ? s->block.at[n].vertex : 0, end, c->mark_at, s->mark.n);
	return false;
}

static bool
never_named(void *ctx, const struct replay_path *p, const struct proc *callee, uint32_t module)
{
	(void)ctx;
	(void)p;
	(void)callee;
	(void)module;
	return false;
}

/* The first witness that can have another number has it. */
static void
damage(struct segment *s, const struct checker *c)
{
	uint32_t n = c->procedure.at[s->procedure].values->n;

	for (size_t i = 0; i < s->value.n; i++)
		if (n > 1 && s->value.at[i] < n) {
			s->value.at[i] = (s->value.at[i] + 1) % n;
			return;
		}
}

static bool
check_process(struct traced *t, struct pool *pool, bool damaged)
{
	struct checker c = {.encodings = encodings_new(never_named, NULL)};
	size_t blocks = 0, values = 0, marks = 0, interrupted = 0;
	bool ok = true;

	for (size_t i = 0; i < t->file->stream.n; i++) {
		struct replay r = {.file = t->file, .code = t->code, .ctx = &c};

		r.enters = enters;
		r.leaves_frame = leaves;
		r.runs = runs;
		c.any_left = false;
		ok &= !replay_stream(&r, i) && !r.unknown;
	}
	fill_procedures(&c, pool);
	for (size_t i = 0; i < c.segment.n; i++) {
		struct segment *s = &c.segment.at[i];

		if (damaged)
			damage(s, &c);
		interrupted += s->interrupted;
		ok &= s->interrupted || check_segment(&c, s, t->name);
		blocks += s->interrupted ? 0 : s->block.n;
		values += s->interrupted ? 0 : s->value.n;
		marks += s->interrupted ? 0 : s->mark.n;
	}
	printf("%zu blocks from %zu witnesses and %zu marks; %zu of %zu outermost activations were interrupted\n",
	       blocks, values, marks, interrupted, c.segment.n);
	return ok && blocks;
}

int
main(int argc, char **argv)
{
	struct pool *pool = pool_new();
	struct traced_list list = {0};
	struct run r = {0};
	bool ok = true;
	bool damaged = argc > 1 && !strcmp(argv[1], "--damage");

	argc -= damaged;
	argv += damaged;
	if (argc < 2)
		die("regenerate", "usage: regenerate [--damage] PROGRAM [PROFILE...]");
	if (!traced_load(&r, pool, argv[1], argv + 2, (size_t)argc - 2, &list))
		return 1;
	for (size_t i = 0; i < list.n; i++)
		ok &= check_process(&list.at[i], pool, damaged);
	return !ok;
}
