/* SPDX-License-Identifier: MIT */
/* index [--whole] PROGRAM PROFILE...: damaged indexes of these traces. If a byte is changed, or the index is cut off or is that
 * of another trace, it must be ignored. A person who means harm can compute the sum anew, and then the index may be used: each
 * of its numbers is changed, it is cut off anywhere, it gets the states of another index, or random states. Output from such an
 * index is counted and not judged. But nothing may crash, take memory without bound (run.sh sets the sanitizer's limits) or run
 * without end. Without --whole only a sample is tried. */
#include "trace/internal.h"

#include "cfg/in.h"
#include "tool/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* Where an index has the sum and the numbers (src/trace/index.c); slots that are read behind a state; seconds of processor
 * time that a trial has. */
enum { SUM = 16, BODY = 24, SLOTS = 1000, SECONDS = 60 };

/* A number of an index. until: it is how many bytes those from the next one up to there take; else 0. */
struct number {
	uint64_t v;
	size_t until;
	size_t state;            /* the one that it is of */
};

struct subject {
	struct traced *process;
	struct run *run;
	const char *name;        /* of its index */
	struct buf good;
	VEC(struct number) number;
	size_t nstate;
	uint64_t refused, taken, otherwise;
};

static bool all;
static uint64_t failures;

static uint64_t
random_below(uint64_t n)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return n ? x % n : 0;
}

/* ---- what is tried ---- */

static void
hangs(int sig)
{
	static const char said[] = "ERROR: a trial hangs\n";

	(void)sig;
	(void)!write(2, said, sizeof said - 1);
	_exit(1);
}

static void
keep(const struct subject *s, const void *bytes, size_t n)
{
	const struct itimerval time = {.it_value = {.tv_sec = SECONDS}};

	if (!file_write(s->name, bytes, n))
		die(s->name, "%s", strerror(errno));
	setitimer(ITIMER_VIRTUAL, &time, NULL);
}

static struct trace_index *
opened(const struct subject *s)
{
	const struct traced *t = s->process;

	return trace_index_open(s->run->pool, t->trace, t->file, t->profile, t->map, NULL);
}

/* It must not be used. */
static void
refuse(struct subject *s, const char *what, size_t at)
{
	struct trace_index *x = opened(s);

	s->refused++;
	if (x->read) {
		failures++;
		printf("%s: %s at %zu: it is used\n", s->name, what, at);
	}
	trace_index_free(x);
}

/* As if the extent began anywhere in its first segment. */
static void
go_far(struct replay *r)
{
	if (!slots_next(r->slots))
		return;
	r->i = random_below(r->slots->n);
	for (int i = 0; i < SLOTS && replay_step(r); i++)
		;
}

/* Goes on from a state, as all that is shown has it. */
static void
go_on(const struct subject *s, struct trace_index *x, size_t state, FILE *to)
{
	struct trace_args a = {.view = random_below(8) ? TRACE_CALLS : TRACE_INSNS,
	                       .form = (enum trace_form)random_below(TRACE_CHROME)};
	struct trace_out o = {.args = &a, .run = s->run, .process = s->process, .to = to, .index = x};
	const struct trace_state *from = &x->state.at[state];

	stream_begins(&o, from->stream);
	replay_begin(&o.replay, from->stream);
	if (trace_index_go(x, from, &o.replay)) {
		trace_index_data(x, from, &o.replay, &o.data);
		go_far(&o.replay);
	}
	o.replay.killed |= random_below(2);
	replay_end(&o.replay);
	data_free(&o.data);
	stream_forgets(&o);
	free(o.last.at);
	buf_free(&o.text);
	buf_free(&o.struck);
	strmap_free(&o.blocks);
}

/* With the sum that it has to have. only: the state that was changed; else (SIZE_MAX) all. */
static void
take(struct subject *s, struct buf *b, size_t only, FILE *to)
{
	uint64_t sum = str_hash((struct str){b->at + BODY, b->n - BODY});
	struct trace_index *x;

	memcpy(b->at, s->good.at, SUM);
	memcpy(b->at + SUM, &sum, sizeof sum);
	keep(s, b->at, b->n);
	x = opened(s);
	*(x->read ? &s->taken : &s->refused) += 1;
	for (size_t i = 0; x->read && i < x->state.n; i++)
		if (i == only || only == SIZE_MAX)
			go_on(s, x, i, to);
	trace_index_free(x);
}

/* ---- numbers ---- */

static size_t
size_of(uint64_t v)
{
	size_t n = 1;

	while (v >>= 7)
		n++;
	return n;
}

static uint64_t
add_number(struct subject *s, struct in *in)
{
	VEC_PUSH(s->number, (struct number){.v = in_uleb(in), .state = s->nstate});
	return s->number.at[s->number.n - 1].v;
}

/* How many bytes follow, then these. */
static void
add_part(struct subject *s, struct in *in)
{
	size_t n = add_number(s, in), i = s->number.n - 1;
	const unsigned char *end = in->at + n;

	while (in->at < end && !in->bad)
		add_number(s, in);
	s->number.at[i].until = s->number.n;
}

static void
read_numbers(struct subject *s)
{
	struct in in = {.at = (unsigned char *)s->good.at + BODY, .end = (unsigned char *)s->good.at + s->good.n};

	add_number(s, &in); /* what it holds */
	for (size_t i = 0; i < s->process->file->stream.n; i++) { /* struct trace_indexed */
		add_number(s, &in);
		add_number(s, &in);
		add_part(s, &in);
	}
	for (; in_left(&in); s->nstate++) {
		for (int i = 0; i < 6; i++) /* struct trace_state */
			add_number(s, &in);
		for (int i = 0; i < 3; i++)
			add_part(s, &in);
	}
	if (in.bad || !s->nstate)
		die(s->name, "%s", in.bad ? in.bad : "there is no state in it");
}

/* The index with the number at that place another one, and all lengths right but that. */
static struct buf
with_number(const struct subject *s, size_t at, uint64_t v)
{
	struct buf b = {0};

	buf_add(&b, s->good.at, BODY);
	for (size_t i = 0; i < s->number.n; i++) {
		const struct number *x = &s->number.at[i];
		uint64_t n = 0;

		for (size_t k = i + 1; k < x->until; k++)
			n += size_of(k == at ? v : s->number.at[k].v);
		buf_uleb(&b, i == at ? v : x->until ? n : x->v);
	}
	return b;
}

static void
change_numbers(struct subject *s, FILE *to)
{
	static const uint64_t value[] = {0, 1, 2, 3, 255, 1 << 14, INT32_MAX, UINT32_MAX, 1ull << 32, INT64_MAX, UINT64_MAX};
	const size_t nvalue = sizeof value / sizeof *value;

	for (size_t i = 0; i < s->number.n; i++)
		for (size_t k = all ? 0 : random_below(nvalue + 2); k < nvalue + 2; k += all ? 1 : nvalue + 2) {
			uint64_t v = k < nvalue ? value[k] : s->number.at[i].v + (k == nvalue ? 1 : -1ull);
			struct buf b = with_number(s, i, v);

			take(s, &b, s->number.at[i].state, to);
			buf_free(&b);
		}
}

/* ---- bytes ---- */

static void
change_bytes(struct subject *s, FILE *to)
{
	struct buf b = {0};

	for (size_t at = 0; at < s->good.n; at += all ? 1 : 5)
		for (unsigned bit = all ? 0 : at % 8; bit < 8; bit += all ? 1 : 8) {
			s->good.at[at] ^= (char)(1u << bit);
			keep(s, s->good.at, s->good.n);
			refuse(s, "byte changed", at);
			buf_add(&b, s->good.at, s->good.n);
			s->good.at[at] ^= (char)(1u << bit);
			if (at >= BODY)
				take(s, &b, random_below(s->nstate), to);
			b.n = 0;
		}
	for (size_t n = 0; n < s->good.n; n += all ? 1 : 7) {
		keep(s, s->good.at, n);
		refuse(s, "cut off", n);
		buf_add(&b, s->good.at, n);
		if (n >= BODY)
			take(s, &b, s->nstate - 1, to);
		b.n = 0;
	}
	buf_free(&b);
}

/* Others' indexes as they are, and their states as its own. */
static void
mingle(struct subject *s, const struct subject *other, FILE *to)
{
	struct buf b = {0};

	keep(s, other->good.at, other->good.n);
	refuse(s, "another trace's index", 0);
	buf_add(&b, other->good.at, other->good.n);
	take(s, &b, SIZE_MAX, to);
	buf_free(&b);
}

/* ---- random states ---- */

static const struct replay_path *
random_path(const struct subject *s)
{
	const struct trace_file *f = s->process->file;
	uint32_t i = (uint32_t)random_below(f->module.n), counter = (uint32_t)random_below(f->module.at[i].bytes / 8);
	bool partial = random_below(4) == 0;

	return random_below(3) ? replay_path_again(s->process->code, i, counter, partial) : NULL;
}

/* Mostly of that procedure, because states with others are refused. */
static const struct replay_path *
random_path_in(const struct subject *s, const struct replay_frame *f)
{
	const struct replay_path *p = random_path(s);
	bool any = random_below(64) == 0;

	for (int i = 0; i < 100 && p && !any && (p->proc != f->proc || p->module != f->module); i++)
		p = random_path(s);
	return p && (any || (p->proc == f->proc && p->module == f->module)) ? p : NULL;
}

/* Perhaps the path's. */
static const struct proc *
random_proc(const struct subject *s, const struct replay_path *p, uint32_t *module)
{
	const struct traced *t = s->process;

	*module = p ? p->module : (uint32_t)random_below(t->profile->module.n);
	if (p && random_below(4))
		return p->proc;
	return t->map[*module] ? &t->map[*module]->proc[random_below(t->map[*module]->nproc)] : NULL;
}

/* Rarely one that there is not. */
static uint32_t
random_vertex(const struct proc *p)
{
	if (random_below(16) == 0)
		return p->nvert + (uint32_t)random_below(1 << 20);
	return random_below(3) ? (uint32_t)random_below(p->nblock + 2) : UINT32_MAX;
}

static struct replay_point
random_point(const struct replay_path *p)
{
	uint32_t block = (uint32_t)random_below(p->n + 1);

	return (struct replay_point){block, block < p->n ? (uint32_t)random_below(p->proc->block[p->block[block]].ninsn + 2) : 0};
}

static bool
random_frame(const struct subject *s, struct replay_frame *f)
{
	const struct replay_path *one = random_path(s);

	*f = (struct replay_frame){0};
	f->proc = random_proc(s, one, &f->module);
	if (!f->proc)
		return false;
	f->last = random_path_in(s, f);
	f->path = random_path_in(s, f);
	f->ahead = random_path_in(s, f);
	if (random_below(64)) /* as it is in states that the reader made */
		*(random_below(2) ? &f->path : &f->ahead) = NULL;
	f->next = f->last && random_below(2) ? f->last->next : random_vertex(f->proc);
	f->at = (enum replay_at)random_below(REPLAY_STOPPED + 1);
	if (f->path || f->ahead)
		f->done = random_point(f->path ? f->path : f->ahead);
	f->waits = random_below(2);
	f->broken = random_below(4) == 0;
	f->announced = random_below(2);
	f->jumps = random_below(4) == 0;
	f->ended = (uint32_t)random_below(6);
	f->since = random_below(1000);
	return true;
}

static void
random_replay(const struct subject *s, struct replay *r)
{
	struct replay_frame f;

	r->listed = s->process->file->module.n - (random_below(8) == 0);
	r->strikes = (uint32_t)random_below(3);
	if (random_below(8) == 0)
		r->strikes = UINT32_MAX;
	r->struck.proc = random_proc(s, NULL, &r->struck.module);
	if (r->struck.proc)
		r->struck.block = random_below(3) ? (uint32_t)random_below(r->struck.proc->nblock) : UINT32_MAX;
	r->struck.insn = (uint32_t)random_below(5);
	r->struck.entry = random_below(2);
	r->event = (uint32_t)random_below(2) * CHORD_SLOT_MARK(CHORD_MARK_EVENT, random_below(1 << 24));
	r->lost = random_below(2);
	r->jumped = random_below(4) == 0;
	r->forked = random_below(4) == 0;
	r->leaves = random_below(2);
	r->ended = (uint32_t)random_below(8);
	r->ends = (uint32_t)random_below(12);
	r->by = (uint32_t)random_below(200);
	r->silent = random_below(4) == 0;
	for (uint64_t i = random_below(12); i; i--)
		if (random_frame(s, &f))
			VEC_PUSH(r->stack, f);
}

/* What orders streams; mostly kinds that there are. */
static void
random_events(struct buf *b, struct buf *part)
{
	uint64_t n = random_below(12);

	part->n = 0;
	for (uint64_t i = 0; i < n; i++) {
		buf_uleb(part, random_below(8) ? (uint64_t[]){0, 2, 4, 6, 7, 8, 9}[random_below(7)] : random_below(40));
		for (int k = 0; k < 3; k++)
			buf_uleb(part, random_below(4) ? random_below(5) : UINT64_MAX);
	}
	buf_uleb(b, random_below(8) ? n : random_below(100));
	buf_uleb(b, part->n);
	buf_add(b, part->at, part->n);
}

/* What addresses are computed from, of so many frames or another number. */
static void
random_data(struct buf *b, struct buf *part, size_t nframe)
{
	uint64_t nslot = random_below(6);

	part->n = 0;
	for (int i = 0; i < 3; i++)
		buf_uleb(part, random_below(100));
	buf_uleb(part, nslot);
	for (uint64_t i = 0; i < nslot; i++)
		buf_uleb(part, random_below(1ull << 32));
	for (uint64_t i = random_below(8) ? nframe : random_below(6); i; i--) {
		uint64_t at = random_below(8) ? nslot : random_below(nslot + 2);

		buf_uleb(part, random_below(at + 1));
		buf_uleb(part, at);
		buf_uleb(part, random_below(2));
		buf_uleb(part, 1ull << random_below(REG_VALUES));
		buf_uleb(part, random_below(1000));
	}
	buf_uleb(b, part->n);
	buf_add(b, part->at, part->n);
}

/* An index with as many states as the good one has, before the same segments. */
static struct buf
random_index(const struct subject *s, const struct trace_index *good)
{
	const struct traced *t = s->process;
	struct buf b = {0}, state = {0};

	buf_add(&b, s->good.at, BODY);
	buf_uleb(&b, random_below(4));
	for (size_t i = 0; i < t->file->stream.n; i++) {
		buf_uleb(&b, random_below(2));
		random_events(&b, &state);
	}
	for (size_t i = 0; i < good->state.n; i++) {
		const struct trace_state *x = &good->state.at[i];
		struct replay r = {.file = t->file, .code = t->code, .number = x->stream,
		                   .slots = slots_new(t->file, x->stream, t->code)};
		const uint64_t head[] = {x->stream, random_below(2), random_below(3), random_below(1000), x->segment,
		                         random_below(12), 0};

		random_replay(s, &r);
		state.n = 0;
		replay_save(&r, t->map, t->profile, &state);
		for (size_t k = 0; k < sizeof head / sizeof *head; k++)
			buf_uleb(&b, head[k]);
		buf_uleb(&b, state.n);
		buf_add(&b, state.at, state.n);
		random_data(&b, &state, r.stack.n);
		slots_free(r.slots);
		free(r.stack.at);
	}
	buf_free(&state);
	return b;
}

static void
randomize(struct subject *s, FILE *to)
{
	struct trace_index *good;

	keep(s, s->good.at, s->good.n);
	good = opened(s);
	if (!good->read)
		die(s->name, "it is not used");
	for (int i = 0; i < (all ? 2000 : 100); i++) {
		struct buf b = random_index(s, good);

		take(s, &b, SIZE_MAX, to);
		buf_free(&b);
	}
	trace_index_free(good);
}

/* ---- what is shown ---- */

/* Of a whole process, with what is kept beside it now. */
static struct buf
shown(const struct subject *s, struct trace_args a)
{
	struct buf b = {0};
	struct trace_out o = {.args = &a, .run = s->run, .process = s->process, .to = tmpfile()};
	struct traced_list list = {.at = s->process, .n = 1};

	if (a.together)
		trace_print_together(&a, s->run, &list, o.to);
	else
		trace_print(&o);
	fflush(o.to);
	b.n = (size_t)ftell(o.to);
	b.at = xmalloc(b.n + 1);
	rewind(o.to);
	b.n = fread(b.at, 1, b.n, o.to);
	fclose(o.to);
	return b;
}

/* Random states, by all ways to ask for a place. */
static void
show(struct subject *s, FILE *to)
{
	const struct trace_args way[] = {
		{.from = {.set = true, .n = 4000000}, .to = {.set = true, .n = 4000100}, .view = TRACE_INSNS}, {.last = 3},
		{.thread = 1, .last = 5, .view = TRACE_LINES}, {.last = 40, .view = TRACE_INSNS},
		{.from = {.set = true, .n = 20000, .function = "leaf"}, .form = TRACE_JSON},
		{.thread = 2, .to = {.set = true, .n = 1, .function = "deep"}}, {.grep = "struck", .last = 4},
		{.together = true, .from = {.set = true, .n = 4000000}, .to = {.set = true, .n = 4000100}},
		{.together = true, .form = TRACE_CHROME, .from = {.set = true, .n = 20000, .function = "leaf"}},
	};
	struct trace_index *good;
	struct buf b;

	keep(s, s->good.at, s->good.n);
	good = opened(s);
	for (size_t i = 0; i < (all ? sizeof way / sizeof *way : 1); i++) {
		struct buf with, now;

		keep(s, s->good.at, s->good.n);
		with = shown(s, way[i]);
		for (int k = 0; k < (all ? 5 : 1); k++) {
			b = random_index(s, good);
			take(s, &b, random_below(s->nstate), to);
			now = shown(s, way[i]);
			s->otherwise += !str_eq((struct str){with.at, with.n}, (struct str){now.at, now.n});
			buf_free(&now);
			buf_free(&b);
		}
		buf_free(&with);
	}
	trace_index_free(good);
}

/* ---- */

/* Makes the index, by going through all. */
static void
make(struct subject *s, FILE *to)
{
	struct trace_args a = {.view = TRACE_CALLS};
	struct trace_out o = {.args = &a, .run = s->run, .process = s->process, .to = to};

	s->name = pool_printf(s->run->pool, "%s" CHORD_TRACE_INDEX, s->process->trace);
	unlink(s->name);
	trace_print(&o);
	if (!file_read(s->name, &s->good))
		die(s->name, "%s", strerror(errno));
	read_numbers(s);
}

int
main(int argc, char **argv)
{
	struct pool *pool = pool_new();
	struct traced_list list = {0};
	struct subject *s;
	struct run r = {0};
	FILE *null = fopen("/dev/null", "we");

	signal(SIGVTALRM, hangs);
	all = argc > 1 && !strcmp(argv[1], "--whole");
	argc -= all;
	argv += all;
	if (argc < 3)
		die("index", "usage: index [--whole] PROGRAM PROFILE...");
	if (!null || !traced_load(&r, pool, argv[1], argv + 2, (size_t)argc - 2, &list))
		return 2;
	s = pool_array(pool, list.n, sizeof *s);
	for (size_t i = 0; i < list.n; i++) {
		s[i] = (struct subject){.process = &list.at[i], .run = &r};
		make(&s[i], null);
	}
	for (size_t i = 0; i < (all ? list.n : 1); i++) {
		randomize(&s[i], null);
		change_numbers(&s[i], null);
		change_bytes(&s[i], null);
		mingle(&s[i], &s[(i + 1) % list.n], null);
		show(&s[i], null);
		printf("%s: %zu states, %zu numbers: %" PRIu64 " refused, %" PRIu64 " taken; of what was shown %"
		       PRIu64 " otherwise\n", s[i].name, s[i].nstate, s[i].number.n, s[i].refused, s[i].taken, s[i].otherwise);
	}
	for (size_t i = 0; i < list.n; i++) {
		buf_free(&s[i].good);
		free(s[i].number.at);
	}
	fclose(null);
	traced_free(&list);
	run_close(&r);
	pool_free(pool);
	return failures != 0;
}
