/* SPDX-License-Identifier: MIT */
/* damage [--whole] PROGRAM PROFILE...: the traces of these profiles, with each byte changed, cut off anywhere, and beside the
 * profiles of others. Each time one of three things must hold: the trace is refused; or the fault is named, and what was read
 * before it is the beginning of the whole trace; or nothing has changed. Other output passes, and is counted, only where
 * nothing in the file could tell: slots in rings, which have no sum, and the place of a module. Without --whole only a sample
 * is tried. */
#include "tool/trace/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* What stands at a byte of a trace. */
enum region { HEAD, ROOM, EXTENT, MODULE, WHERE, RECORD, SLOT, FREE, REGIONS };
static const char *const region_name[REGIONS] = {
	"head", "room", "extents' heads", "modules", "where modules were", "records", "slots in rings", "free slots",
};
/* Free slots that are nearer to the last one that was written may be taken for some. */
enum { NEAR = 64 * 4 };

enum verdict { SAME, TOLD, UNTOLD, VERDICTS };

/* What a trace says: of each stream. */
struct said {
	struct stream_said { uint32_t number; VEC(uint64_t) all; } *stream;
	size_t n;
	bool fault;
};

struct subject {
	struct traced *process;
	struct buf trace, profile;
	struct said whole;
	bool packed;             /* segments are compared, not what they stand for: there are many */
	uint64_t count[REGIONS][VERDICTS];
};

static bool all, unclear;
static uint64_t failures;

/* ---- what is said ---- */

static uint64_t
mix(uint64_t h, uint64_t x)
{
	return (h ^ x) * 0x9e3779b97f4a7c15ull ^ (h ^ x) >> 29;
}

static void
note(struct replay *r, uint64_t kind, uint64_t what)
{
	struct said *s = r->ctx;
	const struct replay_frame *f = &r->stack.at[r->stack.n - 1];

	if (!unclear)
		VEC_PUSH(s->stream[s->n].all, mix(mix(mix(kind, (uintptr_t)f->proc), r->stack.n), what));
}

static void
enters(struct replay *r, enum replay_how how)
{
	note(r, 1, how);
}

static void
leaves(struct replay *r, enum replay_how how)
{
	if (how < REPLAY_AT_END)
		note(r, 2, how);
}

static void
runs(struct replay *r, const struct replay_path *p, struct replay_point from, struct replay_point to)
{
	for (uint32_t i = from.block; i < p->n && (i < to.block || (i == to.block && to.insn)); i++) {
		uint32_t hi = i == to.block ? to.insn : p->proc->block[p->block[i]].ninsn;

		for (uint32_t k = i == from.block ? from.insn : 0; k < hi; k++)
			note(r, 3, (uint64_t)p->block[i] << 32 | k);
	}
}

/* Of what comes behind nothing is claimed. */
static void
unsure(struct replay *r)
{
	(void)r;
	unclear = true;
}

static void
take_paths(struct said *s, struct trace_file *f, struct replay_code *code, bool killed)
{
	struct replay r = {.file = f, .code = code, .ctx = s, .enters = enters, .leaves_frame = leaves, .runs = runs,
	                   .unsure = unsure, .killed = killed};

	unclear = false;
	s->fault |= replay_stream(&r, s->n) != NULL;
	s->fault |= r.unknown != 0;
}

static void
take_slots(struct said *s, struct trace_file *f)
{
	struct slots *r = slots_new(f, s->n, NULL);

	while (slots_next(r))
		VEC_PUSH(s->stream[s->n].all, XXH3_64bits(r->slot, r->n * sizeof *r->slot));
	s->fault |= r->fault != NULL;
	slots_free(r);
}

static struct said
say(struct trace_file *f, struct replay_code *code, bool killed)
{
	struct said s = {.stream = xcalloc(f->stream.n + 1, sizeof *s.stream), .fault = f->fault};

	for (; s.n < f->stream.n; s.n++) {
		s.stream[s.n].number = f->stream.at[s.n].number;
		if (code)
			take_paths(&s, f, code, killed);
		else
			take_slots(&s, f);
	}
	return s;
}

static void
said_free(struct said *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->stream[i].all.at);
	free(s->stream);
}

/* The stream of that number or, if there is none, in that place. NULL: nothing had been said there. */
static const struct stream_said *
stream_of(const struct said *of, uint32_t number, size_t place)
{
	for (size_t i = 0; i < of->n; i++)
		if (of->stream[i].number == number)
			return &of->stream[i];
	return place < of->n ? &of->stream[place] : NULL;
}

/* Is each stream a beginning of what it was? */
static bool
is_beginning(const struct said *of, const struct said *s, bool *same)
{
	*same = s->n == of->n;
	for (size_t i = 0; i < s->n; i++) {
		const struct stream_said *was = stream_of(of, s->stream[i].number, i);
		size_t n = s->stream[i].all.n;

		if (n && (!was || n > was->all.n || memcmp(s->stream[i].all.at, was->all.at, n * sizeof *was->all.at)))
			return false;
		*same &= was && n == was->all.n;
	}
	return true;
}

/* ---- one trace ---- */

/* The trace as it is now, of that profile. */
static enum verdict
judge(const struct subject *s, struct str trace, const struct profile *p)
{
	struct pool *pool = pool_new();
	const struct profile *own = s->process->profile;
	const struct map **map = pool_array(pool, own->module.n + 1, sizeof *map);
	const char *why = NULL;
	struct trace_file *f = trace_parse(pool, trace, &why);
	struct replay_code *code = NULL;
	enum verdict v = TOLD;
	struct said said;
	bool same, begins;

	if (!f != !!why)
		die("damage", "neither a trace nor a reason");
	if (f && !(why = trace_why_not(f, p))) {
		for (size_t i = 0; i < own->module.n; i++)
			map[i] = s->process->binary[i] ? &s->process->binary[i]->map : NULL;
		if (!s->packed)
			code = replay_code_new(f, own, map);
		said = say(f, code, own->state != CHORD_STATE_ENDED);
		begins = is_beginning(&s->whole, &said, &same);
		v = same && begins ? SAME : begins && (said.fault || trace_short(pool, f)) ? TOLD : UNTOLD;
		said_free(&said);
	}
	replay_code_free(code);
	trace_close(f);
	pool_free(pool);
	return v;
}

static void
expect(struct subject *s, enum region where, enum verdict v, size_t at, unsigned mask)
{
	bool may = where == WHERE || where == SLOT;

	s->count[where][v]++;
	if (v != UNTOLD || may)
		return;
	failures++;
	printf("%s.trace: byte %zu changed by %#x (%s): another output, and no fault\n", s->process->name, at, mask,
	       region_name[where]);
}

/* ---- where bytes are ---- */

static uint64_t
last_slot(const char *at, uint64_t n)
{
	while (n >= 4 && !memcmp(at + n - 4, "\0\0\0\0", 4))
		n -= 4;
	return n;
}

static enum region
region_in(const struct subject *s, const struct chord_extent_head *h, uint64_t extent, uint64_t at)
{
	const uint64_t page = s->process->file->page;
	const struct chord_trace_module *m = NULL;

	if (at < page)
		return at < sizeof *h || (h->type == CHORD_TRACE_RING && at - CHORD_TRACE_GONE < sizeof(struct chord_trace_gone))
		           ? EXTENT : ROOM;
	at -= page;
	if (h->type == CHORD_TRACE_PACKS)
		return at < h->a ? RECORD : ROOM;
	if (h->type == CHORD_TRACE_RING)
		return at < last_slot(s->trace.at + extent + page, h->size - page) + NEAR ? SLOT : FREE;
	if (at >= h->a * sizeof *m)
		return ROOM;
	at %= sizeof *m;
	return at < sizeof m->low || at >= offsetof(struct chord_trace_module, high) ? WHERE : MODULE;
}

/* end: behind the page, or what stands behind it, in which the byte is. */
static enum region
region_of(const struct subject *s, uint64_t at, uint64_t *end)
{
	const uint64_t page = s->process->file->page;
	struct chord_extent_head h;
	uint64_t extent;

	*end = page;
	if (at < page)
		return at < sizeof(struct chord_trace_head) ? HEAD : ROOM;
	for (extent = page;; extent += h.size) {
		memcpy(&h, s->trace.at + extent, sizeof h);
		*end = at < extent + page ? extent + page : extent + h.size;
		if (at < *end)
			return region_in(s, &h, extent, at - extent);
	}
}

/* ---- what is tried ---- */

static bool
is_head(enum region where)
{
	return where == HEAD || where == EXTENT || where == MODULE || where == WHERE;
}

/* Bytes that are all there for the same are tried here and there. */
static uint64_t
step_of(const struct subject *s, enum region where)
{
	if (is_head(where))
		return 1;
	if (where == RECORD)
		return all ? 1 : 61;
	if (where == SLOT)
		return s->packed ? all ? 101 : 5003 : all ? 1 : 37;
	return all ? 4001 : 100003;
}

static unsigned
masks(const struct subject *s, enum region where, uint64_t at, unsigned char mask[10])
{
	unsigned n = 0;

	for (unsigned i = 0; i < 8 && all; i++)
		mask[n++] = (unsigned char)(1u << i);
	if (!all)
		mask[n++] = (unsigned char)(1u << at % 8);
	if (all || (is_head(where) && !s->packed)) {
		mask[n++] = 0x21;
		mask[n++] = 0xff;
	}
	return n;
}

static void
flip(struct subject *s)
{
	uint64_t end, next;

	for (uint64_t at = 0; at < s->trace.n; at = next < end ? next : end) {
		enum region where = region_of(s, at, &end);
		unsigned char mask[10];
		unsigned n = masks(s, where, at, mask);

		next = at + step_of(s, where);
		for (unsigned i = 0; i < n; i++) {
			s->trace.at[at] ^= (char)mask[i];
			expect(s, where, judge(s, (struct str){s->trace.at, s->trace.n}, s->process->profile), at, mask[i]);
			s->trace.at[at] ^= (char)mask[i];
		}
	}
}

static void
cut(struct subject *s)
{
	uint64_t end, next;

	for (uint64_t n = 0; n < s->trace.n; n = next < end ? next : end) {
		enum region where = region_of(s, n, &end);
		char *exact = memcpy(xmalloc(n), s->trace.at, n);
		enum verdict v = judge(s, (struct str){exact, n}, s->process->profile);

		free(exact);
		next = n + step_of(s, where);
		if (v != TOLD && where != FREE && where != ROOM) {
			failures++;
			printf("%s.trace: cut off at byte %" PRIu64 " (%s): nothing is said\n", s->process->name, n,
			       region_name[where]);
		}
	}
}

/* Each byte of the profile. How the process ended is told by nothing else. */
static void
flip_profile(struct subject *s)
{
	const size_t head = sizeof(struct chord_profile_head);

	for (size_t at = 0; at < s->profile.n; at += at < head || all ? 1 : 397) {
		struct pool *pool = pool_new();
		const char *why = NULL;
		struct profile *p;

		s->profile.at[at] ^= 0x20;
		p = profile_parse(pool, (struct str){s->profile.at, s->profile.n}, &why);
		if (!p && !why)
			die("damage", "neither a profile nor a reason");
		if (p && judge(s, (struct str){s->trace.at, s->trace.n}, p) == UNTOLD) {
			failures++;
			printf("%s: byte %zu: another output, and no fault\n", s->process->name, at);
		}
		profile_free(p);
		pool_free(pool);
		s->profile.at[at] ^= 0x20;
	}
}

/* The trace beside the others' profiles. */
static void
mingle(struct subject *s, const struct traced_list *list)
{
	for (size_t i = 0; i < list->n; i++)
		if (&list->at[i] != s->process && !trace_why_not(s->process->file, list->at[i].profile)) {
			failures++;
			printf("%s.trace: is taken for that of %s\n", s->process->name, list->at[i].name);
		}
	if (judge(s, (struct str){s->profile.at, s->profile.n}, s->process->profile) != TOLD) {
		failures++;
		printf("%s: is taken for a trace\n", s->process->name);
	}
}

static void
try(struct traced *process, const struct traced_list *list, struct pool *pool)
{
	struct subject s = {.process = process};
	uint64_t n[VERDICTS] = {0};

	if (!file_read(trace_name(pool, process->name), &s.trace) || !file_read(process->name, &s.profile))
		die(process->name, "%s", strerror(errno));
	for (size_t i = 0; i < process->file->stream.n; i++) {
		const struct trace_stream *stream = &process->file->stream.at[i];

		s.packed |= stream->packs.n || stream->ring.at[0].ring > CHORD_TRACE_SEGMENTS;
	}
	s.whole = say(process->file, s.packed ? NULL : process->code, process->profile->state != CHORD_STATE_ENDED);
	flip(&s);
	cut(&s);
	if (!s.packed)
		flip_profile(&s);
	mingle(&s, list);
	for (int i = 0; i < REGIONS; i++)
		for (int k = 0; k < VERDICTS; k++)
			n[k] += s.count[i][k];
	printf("%s.trace: %" PRIu64 " changes: %" PRIu64 " told, %" PRIu64 " without effect, %" PRIu64 " slots and %"
	       PRIu64 " places of modules that nothing tells\n", process->name, n[SAME] + n[TOLD] + n[UNTOLD], n[TOLD], n[SAME],
	       s.count[SLOT][UNTOLD], s.count[WHERE][UNTOLD]);
	said_free(&s.whole);
	buf_free(&s.trace);
	buf_free(&s.profile);
}

int
main(int argc, char **argv)
{
	struct pool *pool = pool_new();
	struct traced_list list = {0};
	struct run r = {0};

	all = argc > 1 && !strcmp(argv[1], "--whole");
	argc -= all;
	argv += all;
	if (argc < 3)
		die("damage", "usage: damage [--whole] PROGRAM PROFILE...");
	if (!traced_load(&r, pool, argv[1], argv + 2, (size_t)argc - 2, &list))
		return 2;
	for (size_t i = 0; i < list.n; i++)
		try(&list.at[i], &list, pool);
	traced_free(&list);
	run_close(&r);
	pool_free(pool);
	return failures != 0;
}
