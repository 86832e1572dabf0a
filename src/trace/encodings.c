/* SPDX-License-Identifier: MIT */
/* What a run would have written with other encodings. A trace tells which edges the run took, so each write can be counted without
 * a program that makes it. */
#include "trace/internal.h"

#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

const char *const encoding_name[ENCODINGS] = {
	[ENCODING_BRANCHES] = "each branch, 4 bytes",
	[ENCODING_BRANCH_BYTES] = "each branch, bytes",
	[ENCODING_BRANCH_BITS] = "each branch, bits",
	[ENCODING_WITNESS_BYTES] = "witnesses, bytes",
	[ENCODING_WITNESS_BITS] = "witnesses, bits",
	[ENCODING_MARKS] = "marks beside these",
	[ENCODING_TOKENS] = "paths, 4 bytes",
	[ENCODING_PACKED] = "paths, packed",
};
const char *const encoding_key[ENCODINGS] = {
	[ENCODING_BRANCHES] = "branches",
	[ENCODING_BRANCH_BYTES] = "branch_bytes",
	[ENCODING_BRANCH_BITS] = "branch_bits",
	[ENCODING_WITNESS_BYTES] = "witness_bytes",
	[ENCODING_WITNESS_BITS] = "witness_bits",
	[ENCODING_MARKS] = "marks",
	[ENCODING_TOKENS] = "tokens",
	[ENCODING_PACKED] = "tokens_packed",
};

struct encodings {
	struct pool *pool;
	bool (*named)(void *ctx, const struct replay_path *p, const struct proc *callee, uint32_t module);
	void *ctx;
	struct strmap procs;     /* by the address of a procedure: its index in proc */
	VEC(struct encoded_proc) proc;
	uint32_t narc;           /* the sum over these procedures */
	VEC(struct encoded_path *) path; /* by number, of the current process; NULL: not seen yet */
	VEC(struct encoded_path *) all; /* of all processes */
	struct sink *sink[ENCODINGS];
	struct encoding_sum sum[ENCODINGS];
	const struct replay_path *left; /* the path that ended with a tail call whose callee has not been entered yet */
};

struct encodings *
encodings_new(bool (*named)(void *, const struct replay_path *, const struct proc *, uint32_t), void *ctx)
{
	struct encodings *e = xcalloc(1, sizeof *e);

	e->pool = pool_new();
	e->named = named;
	e->ctx = ctx;
	for (int i = 0; i < ENCODINGS; i++)
		e->sink[i] = sink_new();
	return e;
}

void
encodings_free(struct encodings *e)
{
	if (!e)
		return;
	for (int i = 0; i < ENCODINGS; i++)
		sink_free(e->sink[i]);
	strmap_free(&e->procs);
	free(e->proc.at);
	free(e->path.at);
	free(e->all.at);
	pool_free(e->pool);
	free(e);
}

void
encodings_next_process(struct encodings *e)
{
	e->path.n = 0;
}

static struct writes *
writes_of(struct encodings *e, const struct proc *p)
{
	struct str key = {(const char *)&p, sizeof p};
	struct writes *w;
	uint64_t at;

	if (strmap_get(&e->procs, key, &at))
		return (struct writes *)e->proc.at[at].writes;
	w = writes_new(e->pool, p);
	w->number = (uint32_t)e->proc.n;
	w->first = e->narc;
	e->narc += p->narc;
	key = (struct str){pool_strndup(e->pool, key.at, key.n), key.n};
	strmap_put(&e->procs, key, e->proc.n);
	VEC_PUSH(e->proc, (struct encoded_proc){.writes = w});
	return w;
}

struct encoded_path *
encodings_path(struct encodings *e, const struct replay_path *p)
{
	struct encoded_path *x;

	while (e->path.n <= p->number)
		VEC_PUSH(e->path, NULL);
	x = e->path.at[p->number];
	if (x)
		return x;
	x = pool_alloc(e->pool, sizeof *x);
	encode_path(e->pool, x, p, writes_of(e, p->proc));
	e->path.at[p->number] = x;
	VEC_PUSH(e->all, x);
	return x;
}

/* ---- what each encoding writes ---- */

static void
put_piece(struct encodings *e, const struct encoding_piece *x)
{
	for (int i = 0; i < ENCODING_MARKS; i++)
		if (x->form[i].writes)
			sink_put(e->sink[i], x->form[i].writes, x->form[i].bits, x->form[i].at);
}

/* Two numbers of 4 bytes: the place, and the value. */
static void
put_mark(struct encodings *e, uint32_t where, uint32_t what)
{
	uint32_t mark[2] = {where, what};

	sink_put(e->sink[ENCODING_MARKS], 1, sizeof mark * 8, (const uint8_t *)mark);
}

/* Does the code at the end of a path name that procedure? */
static bool
names(struct encodings *e, const struct replay_path *from, const struct replay_frame *to)
{
	struct encoded_path *x = encodings_path(e, from);

	if (x->entered != to->proc) {
		x->entered = to->proc;
		x->named = e->named(e->ctx, from, to->proc, to->module);
	}
	return x->named;
}

static void
enters(struct replay *r, enum replay_how how)
{
	struct encodings *e = r->ctx;
	const struct replay_frame *f = &r->stack.at[r->stack.n - 1];
	const struct replay_path *from = how == REPLAY_BY_TAIL_CALL ? e->left : how == REPLAY_BY_CALL ? f[-1].last : NULL;

	e->left = NULL;
	if (!from || !names(e, from, f))
		put_mark(e, from && from->n ? from->block[from->n - 1] : UINT32_MAX, writes_of(e, f->proc)->number);
}

static void
leaves(struct replay *r, enum replay_how how)
{
	struct encodings *e = r->ctx;

	if (how == REPLAY_BY_TAIL_CALL)
		e->left = r->stack.at[r->stack.n - 1].last;
}

/* Does the activation go on where it was, rather than at a landing pad? */
static bool
goes_on(const struct replay_frame *f, const struct replay_path *p)
{
	return p->begin == REPLAY_GOES_ON && f->last && f->next == p->from;
}

/* Paths are reported whole, because nobody asks where signals struck. */
static void
runs(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	struct encodings *e = r->ctx;
	struct replay_frame *f = &r->stack.at[r->stack.n - 1];
	struct encoded_path *x = encodings_path(e, p), *before;

	(void)from, (void)to;
	if (goes_on(f, p)) {
		before = encodings_path(e, f->last);
		before->returned++;
		put_piece(e, &before->behind);
	} else if (p->begin != REPLAY_ENTERS) {
		put_mark(e, UINT32_MAX, p->from);
	}
	put_piece(e, &x->body);
	x->ran++;
}

/* ---- what the trace has ---- */

/* Packs a segment as the runtime does. The packer begins anew where the next segment might not fit into an extent. */
static void
pack_segment(struct encodings *e, struct slots *r, struct chord_pack *pack, uint64_t *used)
{
	size_t n;

	if (*used + sizeof r->packed > CHORD_TRACE_PACKED) {
		memset(pack, 0, sizeof *pack);
		*used = 0;
	}
	n = (size_t)(chord_pack(pack, r->raw, r->nraw, r->packed) - r->packed);
	*used += n;
	sink_put(e->sink[ENCODING_PACKED], r->n, 8 * n, r->packed);
}

static void
add_slots(struct encodings *e, struct trace_file *f, size_t stream)
{
	struct chord_pack *pack = xcalloc(1, sizeof *pack);
	struct slots *r = slots_new(f, stream, NULL);
	uint64_t used = 0;

	while (slots_next(r)) {
		sink_put(e->sink[ENCODING_TOKENS], r->n, 32 * (uint64_t)r->n, (const uint8_t *)r->slot);
		pack_segment(e, r, pack, &used);
	}
	slots_free(r);
	free(pack);
}

const char *
encodings_add(struct encodings *e, struct trace_file *f, struct replay_code *code, size_t stream)
{
	struct replay r = {.file = f, .code = code, .ctx = e, .enters = enters, .leaves_frame = leaves, .runs = runs};
	const char *why = replay_stream(&r, stream);

	add_slots(e, f, stream);
	for (int i = 0; i < ENCODINGS; i++)
		sink_end(e->sink[i]);
	if (!why && r.unknown)
		why = "paths that are not known: their code is not at hand";
	return why;
}

/* ---- sums ---- */

const struct encoding_sum *
encodings_sum(const struct encodings *e)
{
	struct encodings *to = (struct encodings *)e;

	for (int i = 0; i < ENCODINGS; i++)
		to->sum[i] = sink_sum(e->sink[i]);
	return e->sum;
}

static void
add_path(struct encoded_proc *p, const struct encoded_path *x)
{
	const struct encoding_form *body = x->body.form, *behind = x->behind.form;

	p->branches += x->ran * x->branches;
	p->outcomes += x->ran * body[ENCODING_BRANCH_BITS].writes + x->returned * behind[ENCODING_BRANCH_BITS].writes;
	p->outcome_bits += x->ran * body[ENCODING_BRANCH_BITS].bits + x->returned * behind[ENCODING_BRANCH_BITS].bits;
	p->witnesses += x->ran * body[ENCODING_WITNESS_BITS].writes + x->returned * behind[ENCODING_WITNESS_BITS].writes;
	p->witness_bits += x->ran * body[ENCODING_WITNESS_BITS].bits + x->returned * behind[ENCODING_WITNESS_BITS].bits;
	p->tokens += x->ran;
	p->token_bits += x->ran * writes_bits(x->path->choices);
}

uint64_t
encodings_branches(const struct encodings *e)
{
	uint64_t n = 0;

	for (size_t i = 0; i < e->all.n; i++)
		n += e->all.at[i]->ran * e->all.at[i]->branches;
	return n;
}

static int
by_branches(const void *pa, const void *pb)
{
	const struct encoded_proc *a = pa, *b = pb;

	if (a->branches != b->branches)
		return a->branches > b->branches ? -1 : 1;
	return (a->writes->number > b->writes->number) - (a->writes->number < b->writes->number);
}

const struct encoded_proc *
encodings_procs(struct encodings *e, size_t *n)
{
	struct encoded_proc *list = pool_array(e->pool, e->proc.n, sizeof *list);

	for (size_t i = 0; i < e->proc.n; i++)
		list[i].writes = e->proc.at[i].writes;
	for (size_t i = 0; i < e->all.n; i++)
		add_path(&list[e->all.at[i]->writes->number], e->all.at[i]);
	if (e->proc.n)
		qsort(list, e->proc.n, sizeof *list, by_branches);
	*n = e->proc.n;
	return list;
}
