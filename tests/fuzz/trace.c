/* SPDX-License-Identifier: MIT */
/* The reader of traces: all streams of a trace that it accepts can be read to their end, or to a fault that is named. If
 * TRACED=PROGRAM and TRACED_PROFILE (a profile that this program left with a trace) are set, what is read is also replayed
 * with the program's code. */
#include "tool/trace/trace.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

enum { STREAMS = 8, SEGMENTS = 64 };

/* The process, with its program's code, loaded once. NULL: none was named. */
static struct traced *
process(const struct map ***map)
{
	static struct traced_list list;
	static const struct map **maps;
	static struct run run;
	static struct pool *pool;
	char *profile = getenv("TRACED_PROFILE");

	if (!getenv("TRACED") || !profile)
		return NULL;
	if (!pool) {
		pool = pool_new();
		if (!traced_load(&run, pool, getenv("TRACED"), &profile, 1, &list))
			abort();
		maps = xcalloc(list.at[0].profile->module.n + 1, sizeof *maps);
		for (size_t i = 0; i < list.at[0].profile->module.n; i++)
			maps[i] = list.at[0].binary[i] ? &list.at[0].binary[i]->map : NULL;
	}
	*map = maps;
	return &list.at[0];
}

/* Depths are what the frames say. */
static void
enters(struct replay *r, enum replay_how how)
{
	if (!r->stack.n || how > REPLAY_FOUND)
		abort();
}

static void
leaves(struct replay *r, enum replay_how how)
{
	if (!r->stack.n || (how < REPLAY_BY_RETURN && how != REPLAY_BY_TAIL_CALL))
		abort();
}

static void
runs(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	if (!r->stack.n || from.block > to.block || to.block > p->n || (from.block == to.block && from.insn > to.insn))
		abort();
}

static bool
locate(struct replay *r, uint32_t module, uint64_t addr, struct replay_strike *s)
{
	struct trace_out *o = r->ctx;

	return place_locate(&o->replay, module, addr, s);
}

static void
replay_all(struct trace_file *f, struct traced *t, const struct map *const *map)
{
	struct traced process = *t;
	struct run run = {.pool = pool_new()};
	struct trace_out o = {.process = &process, .run = &run};

	process.file = f;
	process.code = replay_code_new(f, t->profile, map);
	o.replay.ctx = &o;
	for (size_t i = 0; i < f->stream.n && i < STREAMS; i++)
		for (int killed = 0; killed < 2; killed++) {
			struct replay r = {.file = f, .code = process.code, .ctx = &o, .enters = enters, .leaves_frame = leaves,
			                   .runs = runs, .killed = killed, .locate = locate};

			replay_stream(&r, i);
		}
	replay_code_free(process.code);
	pool_free(run.pool);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct pool *pool = pool_new();
	const struct map **map = NULL;
	const char *why = NULL;
	struct trace_file *f = trace_parse(pool, (struct str){(const char *)data, n}, &why);
	struct traced *t = f ? process(&map) : NULL;

	if (!f && !why)
		abort();
	for (size_t i = 0; f && i < f->stream.n && i < STREAMS; i++) {
		struct slots *r = slots_new(f, i, NULL);

		for (int k = 0; k < SEGMENTS && slots_next(r); k++)
			if (!r->n || r->n > sizeof r->raw / sizeof *r->raw)
				abort();
		slots_seek(r, 3, 0);
		slots_free(r);
	}
	if (t)
		replay_all(f, t, map);
	trace_close(f);
	pool_free(pool);
	return 0;
}
