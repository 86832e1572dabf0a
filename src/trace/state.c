/* SPDX-License-Identifier: MIT */
/* The complete state of a stream's reader between two slots, as bytes. The same function writes and reads it. Paths are named by
 * the module of the trace and the counter, procedures by the module of the profile and their index in its map. */
#include "trace/internal.h"

#include "cfg/in.h"
#include "graph/graph.h"

#include <stdlib.h>

/* Either writes or reads. */
struct tape {
	struct buf *out;
	struct in *in;
	const struct map *const *map;
	const struct profile *profile;
	struct replay_code *code;
	bool failed;             /* something to be written cannot be named */
};

static uint64_t
number(struct tape *t, uint64_t v)
{
	if (!t->out)
		return in_uleb(t->in);
	buf_uleb(t->out, v);
	return v;
}

static uint32_t
small(struct tape *t, uint32_t v)
{
	if (!t->out)
		return in_below(t->in, 1ull << 32, "a number that is too large");
	buf_uleb(t->out, v);
	return v;
}

static bool
flag(struct tape *t, bool v)
{
	return number(t, v) != 0;
}

static const struct replay_path *
path(struct tape *t, const struct replay_path *p)
{
	uint64_t kind = number(t, p ? 1 + p->partial : 0);
	uint32_t listed, counter;

	if (!kind)
		return NULL;
	listed = small(t, p ? p->listed : 0);
	counter = small(t, p ? p->counter : 0);
	if (t->out)
		return p;
	p = replay_path_again(t->code, listed, counter, kind > 1);
	if (!p)
		in_bad(t->in, "there is no such path");
	return p;
}

/* Writes or reads a procedure; NULL: none. */
static const struct proc *
procedure(struct tape *t, const struct proc *p, uint32_t *module)
{
	const struct map *map;
	uint64_t n = 0;

	*module = small(t, *module);
	map = *module < t->profile->module.n ? t->map[*module] : NULL;
	if (t->out && p && map)
		n = (uint64_t)(p - map->proc) + 1;
	if (t->out)
		t->failed |= p && (!map || n > map->nproc);
	n = number(t, n);
	if (t->out)
		return p;
	if (!n)
		return NULL;
	if (map && n <= map->nproc)
		return &map->proc[n - 1];
	in_bad(t->in, "there is no such procedure");
	return NULL;
}

static void
point(struct tape *t, struct replay_point *x, const struct replay_path *p)
{
	uint32_t n = p ? p->n : 0;

	x->block = small(t, x->block);
	x->insn = small(t, x->insn);
	if (!t->out && (x->block > n || x->insn > (x->block < n ? p->proc->block[p->block[x->block]].ninsn : 0)))
		in_bad(t->in, "a place behind the path's end");
}

/* Is the path none, or one of the activation's procedure? */
static bool
is_own(const struct replay_frame *f, const struct replay_path *p)
{
	return !p || (p->proc == f->proc && p->module == f->module);
}

/* Is the activation one that the reader may make? The reader looks up its paths and its vertex in its procedure. */
static bool
can_be(const struct replay_frame *f)
{
	return f->proc && f->at <= REPLAY_STOPPED && !(f->path && f->ahead) && is_own(f, f->last) && is_own(f, f->path) &&
	       is_own(f, f->ahead) && (f->next < f->proc->nvert || f->next == GRAPH_NONE);
}

static void
frame(struct tape *t, struct replay_frame *f)
{
	f->proc = procedure(t, f->proc, &f->module);
	f->next = small(t, f->next);
	f->at = small(t, f->at);
	f->last = path(t, f->last);
	f->path = path(t, f->path);
	f->ahead = path(t, f->ahead);
	point(t, &f->done, f->path ? f->path : f->ahead);
	f->waits = flag(t, f->waits);
	f->broken = flag(t, f->broken);
	f->announced = number(t, f->announced);
	f->jumps = flag(t, f->jumps);
	f->ended = small(t, f->ended);
	f->unseen = small(t, f->unseen);
	f->perhaps = small(t, f->perhaps);
	f->since = number(t, f->since);
	if (!t->out && !can_be(f))
		in_bad(t->in, "an activation that cannot be");
}

static void
stack(struct tape *t, struct replay *r)
{
	uint64_t n = number(t, r->stack.n);

	for (size_t i = 0; t->out && i < n; i++)
		frame(t, &r->stack.at[i]);
	for (size_t i = 0; t->in && !t->in->bad && i < n; i++) {
		struct replay_frame f = {0};

		frame(t, &f);
		if (!t->in->bad)
			VEC_PUSH(r->stack, f);
	}
}

static void
strike(struct tape *t, struct replay_strike *s)
{
	s->proc = procedure(t, s->proc, &s->module);
	s->block = small(t, s->block);
	s->insn = small(t, s->insn);
	s->ahead = flag(t, s->ahead);
	s->more = flag(t, s->more);
	s->passed = flag(t, s->passed);
	s->unclear = flag(t, s->unclear);
	s->outside = flag(t, s->outside);
	s->entry = flag(t, s->entry);
	if (!t->out && s->proc && s->block >= s->proc->nblock && s->block != UINT32_MAX)
		in_bad(t->in, "a block that is not there");
}

static void
state(struct tape *t, struct replay *r)
{
	r->part = number(t, r->part);
	r->told = flag(t, r->told);
	r->event = small(t, r->event);
	r->strikes = small(t, r->strikes);
	r->unseen = small(t, r->unseen);
	r->perhaps = small(t, r->perhaps);
	strike(t, &r->struck);
	r->listed = number(t, r->listed);
	r->thread = number(t, r->thread);
	r->insns = number(t, r->insns);
	r->unknown = number(t, r->unknown);
	r->partial = number(t, r->partial);
	r->missed = number(t, r->missed);
	r->lost = flag(t, r->lost);
	r->jumped = flag(t, r->jumped);
	r->forked = flag(t, r->forked);
	r->leaves = flag(t, r->leaves);
	r->ended = small(t, r->ended);
	r->ends = small(t, r->ends);
	r->by = small(t, r->by);
	r->silent = flag(t, r->silent);
	r->made = small(t, r->made);
	r->stream = small(t, r->stream);
	r->joined = small(t, r->joined);
	r->joined_in = small(t, r->joined_in);
	r->stamp = number(t, r->stamp);
	r->forks = number(t, r->forks);
	r->parent = small(t, r->parent);
	r->slots->done = number(t, r->slots->done);
	stack(t, r);
}

bool
replay_save(const struct replay *r, const struct map *const *map, const struct profile *p, struct buf *to)
{
	struct tape t = {.out = to, .map = map, .profile = p, .code = r->code};
	struct replay same = *r; /* the state is only written, so it does not change */

	state(&t, &same);
	return !t.failed;
}

static bool
begins_extent(const struct trace_stream *s, uint64_t segment)
{
	for (size_t i = 0; i < s->packs.n; i++)
		if (s->packs.at[i].first == segment)
			return true;
	return false;
}

bool
replay_restore(struct replay *r, const struct map *const *map, const struct profile *p, struct str bytes, uint64_t segment)
{
	struct in in = {.at = (const unsigned char *)bytes.at, .end = (const unsigned char *)bytes.at + bytes.n};
	struct tape t = {.in = &in, .map = map, .profile = p, .code = r->code};
	const uint64_t done = r->slots->done;
	struct replay new = *r;
	bool ok;

	new.stack.at = NULL;
	new.stack.n = new.stack.cap = 0;
	state(&t, &new);
	ok = !in.bad && !in_left(&in) && new.listed <= r->file->module.n && begins_extent(r->slots->stream, segment);
	if (!ok || !slots_seek(r->slots, segment, new.listed)) {
		free(new.stack.at);
		r->slots->done = done;
		return false;
	}
	free(r->stack.at);
	*r = new;
	r->i = 0;
	return true;
}
