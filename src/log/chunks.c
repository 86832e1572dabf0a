/* SPDX-License-Identifier: MIT */
/* The log's file: a head, then chunks, then a check sum of all that. A chunk is a frame of zstd after its sizes. A thread
 * compresses and writes, or reads ahead and expands, so the program waits for neither. docs/replay.md has the format. */
#include "log/log.h"
#include "tracee/tracee.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

/* How many chunks are in memory: AHEAD that come next, and PAST that are read again. */
enum { AHEAD = 4, PAST = 32, LEVEL = -1, PIECE = 1 << 20 };

/* Before each chunk; both are 0 after the last one. */
struct sizes {
	uint32_t packed, plain;
};

/* One thread fills blocks, and the other takes them, in the same order. */
struct queue {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	size_t filled, taken;    /* how many in all */
	bool over;               /* no more will be filled, or none will be taken */
	bool begun;              /* the thread exists */
};

static void
queue_begin(struct queue *q, void *(*work)(void *), void *of)
{
	sigset_t all, old;

	pthread_mutex_init(&q->lock, NULL);
	pthread_cond_init(&q->changed, NULL);
	/* Signals are for the thread that waits for the program. */
	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, &old);
	if (pthread_create(&q->thread, NULL, work, of))
		die("replay", "no thread can be begun");
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	q->begun = true;
}

/* One more has been filled or taken, or (count is NULL) it is over. */
static void
queue_note(struct queue *q, size_t *count)
{
	pthread_mutex_lock(&q->lock);
	if (count)
		++*count;
	else
		q->over = true;
	pthread_cond_signal(&q->changed);
	pthread_mutex_unlock(&q->lock);
}

static void
queue_end(struct queue *q)
{
	if (!q->begun)
		return;
	queue_note(q, NULL);
	pthread_join(q->thread, NULL);
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	q->begun = false;
}

/* ---- writing ---- */

struct chunks_out {
	struct queue queue;
	int fd;
	int error;               /* errno of a failed write; the queue's lock guards it */
	struct block {
		char *at;
		size_t n;
	} block[AHEAD];
	ZSTD_CCtx *compress;
	char *packed;
	size_t most;             /* bytes of it */
	XXH3_state_t *sum;       /* of all that has been written */
};

/* errno, or 0. */
static int
put(struct chunks_out *o, const void *at, size_t n)
{
	XXH3_64bits_update(o->sum, at, n);
	return write_all(o->fd, at, n) ? 0 : errno;
}

static int
put_chunk(struct chunks_out *o, const struct block *b)
{
	struct sizes sizes = {.plain = (uint32_t)b->n};
	size_t n = ZSTD_compress2(o->compress, o->packed + sizeof sizes, o->most - sizeof sizes, b->at, b->n);

	if (ZSTD_isError(n))
		bug("zstd: %s", ZSTD_getErrorName(n));
	sizes.packed = (uint32_t)n;
	memcpy(o->packed, &sizes, sizeof sizes);
	return put(o, o->packed, sizeof sizes + n);
}

static void *
compress_all(void *of)
{
	struct chunks_out *o = of;
	struct queue *q = &o->queue;

	bind_leave();
	for (int error = o->error;;) {
		bool some;

		pthread_mutex_lock(&q->lock);
		o->error = error;
		while (q->taken == q->filled && !q->over)
			pthread_cond_wait(&q->changed, &q->lock);
		some = q->taken < q->filled;
		pthread_mutex_unlock(&q->lock);
		if (!some)
			return NULL;
		if (!error)
			error = put_chunk(o, &o->block[q->taken % AHEAD]);
		queue_note(q, &q->taken);
	}
}

struct chunks_out *
chunks_create(int fd, const void *head, size_t n)
{
	struct chunks_out *o = xcalloc(1, sizeof *o);

	o->fd = fd;
	o->most = sizeof(struct sizes) + ZSTD_compressBound(CHUNK);
	o->packed = xmalloc(o->most);
	o->compress = ZSTD_createCCtx();
	o->sum = XXH3_createState();
	if (!o->compress || !o->sum)
		die("memory", "none is left");
	ZSTD_CCtx_setParameter(o->compress, ZSTD_c_compressionLevel, LEVEL);
	ZSTD_CCtx_setParameter(o->compress, ZSTD_c_checksumFlag, 1);
	XXH3_64bits_reset(o->sum);
	o->error = put(o, head, n);
	queue_begin(&o->queue, compress_all, o);
	return o;
}

char *
chunks_block(struct chunks_out *o)
{
	struct block *b = &o->block[o->queue.filled % AHEAD];

	if (!b->at)
		b->at = xmalloc(CHUNK);
	return b->at;
}

int
chunks_put(struct chunks_out *o, size_t n)
{
	struct queue *q = &o->queue;
	int error;

	if (n) {
		o->block[q->filled % AHEAD].n = n;
		queue_note(q, &q->filled);
	}
	pthread_mutex_lock(&q->lock);
	while (q->filled - q->taken == AHEAD)
		pthread_cond_wait(&q->changed, &q->lock);
	error = o->error;
	pthread_mutex_unlock(&q->lock);
	return error;
}

static void
out_free(struct chunks_out *o)
{
	queue_end(&o->queue);
	for (int i = 0; i < AHEAD; i++)
		free(o->block[i].at);
	ZSTD_freeCCtx(o->compress);
	XXH3_freeState(o->sum);
	free(o->packed);
	free(o);
}

int
chunks_finish(struct chunks_out *o, size_t n)
{
	static const struct sizes end;
	uint64_t sum;
	int error;

	chunks_put(o, n);
	queue_end(&o->queue);
	error = o->error ? o->error : put(o, &end, sizeof end);
	sum = XXH3_64bits_digest(o->sum);
	if (!error)
		error = put(o, &sum, sizeof sum);
	out_free(o);
	return error;
}

void
chunks_abandon(struct chunks_out *o)
{
	out_free(o);
}

/* ---- reading ---- */

struct place {
	uint64_t at, plain;      /* after its sizes, in the file; how many bytes, before compression, come before it */
	struct sizes sizes;
};

struct chunks_in {
	struct queue queue;
	int fd;
	VEC(struct place) place;
	uint64_t plain;          /* bytes in all */
	struct expanded {
		char *at;
		bool bad;
	} block[AHEAD];
	size_t from;             /* number of the chunk from which the queue counts */
	struct expander {
		ZSTD_DCtx *context;
		char *packed;
	} ahead, back;           /* of the thread; of the reader */
	size_t most;             /* bytes of the largest chunk in the file */
	/* Chunks that were read again, each with its number and 1 more; and which of them makes room next. */
	struct past {
		size_t number;
		char *at;
	} past[PAST];
	unsigned oldest;
};

static bool
expander_make(struct expander *e, size_t most)
{
	e->packed = xmalloc(most);
	e->context = ZSTD_createDCtx();
	return e->context;
}

static void
expander_free(struct expander *e)
{
	ZSTD_freeDCtx(e->context);
	free(e->packed);
}

/* Expands chunk i. False: it is damaged. */
static bool
get_chunk(const struct chunks_in *f, size_t i, struct expander *e, char *to)
{
	const struct place *p = &f->place.at[i];

	if (pread(f->fd, e->packed, p->sizes.packed, (off_t)p->at) != (ssize_t)p->sizes.packed)
		return false;
	return ZSTD_decompressDCtx(e->context, to, CHUNK, e->packed, p->sizes.packed) == p->sizes.plain;
}

static void *
expand_all(void *of)
{
	struct chunks_in *f = of;
	struct queue *q = &f->queue;

	bind_leave();
	for (;;) {
		struct expanded *b = &f->block[q->filled % AHEAD];
		bool over;

		pthread_mutex_lock(&q->lock);
		while (!q->over && (q->filled - q->taken == AHEAD || f->from + q->filled == f->place.n))
			pthread_cond_wait(&q->changed, &q->lock);
		over = q->over;
		pthread_mutex_unlock(&q->lock);
		if (over)
			return NULL;
		if (!b->at)
			b->at = xmalloc(CHUNK);
		b->bad = !get_chunk(f, f->from + q->filled, &f->ahead, b->at);
		queue_note(q, &q->filled);
	}
}

static const char cut[] = "it ends in the middle: the recording was cut short",
	wrong[] = "it is damaged: its check sum or compression is wrong";

/* Finds the chunks. NULL: all is well; else what is wrong. */
static const char *
find_chunks(struct chunks_in *f, uint64_t at, uint64_t end)
{
	for (struct sizes s;; at += s.packed) {
		if (pread(f->fd, &s, sizeof s, (off_t)at) != sizeof s)
			return cut;
		at += sizeof s;
		if (!s.packed && !s.plain)
			return at == end ? NULL : at > end ? cut : wrong;
		if (s.plain > CHUNK || !s.plain || s.packed > ZSTD_compressBound(CHUNK))
			return wrong;
		if (end < at || s.packed > end - at)
			return cut;
		VEC_PUSH(f->place, (struct place){at, f->plain, s});
		f->plain += s.plain;
		if (s.packed > f->most)
			f->most = s.packed;
	}
}

/* Is the sum after the first n bytes that of these bytes? NULL: it is. */
static const char *
check_sum(struct chunks_in *f, uint64_t n)
{
	XXH3_state_t *state = XXH3_createState();
	char *piece = xmalloc(PIECE);
	uint64_t sum, is, at = 0;
	ssize_t got = 0;

	if (!state)
		die("memory", "none is left");
	XXH3_64bits_reset(state);
	for (; at < n; at += (uint64_t)got) {
		got = pread(f->fd, piece, n - at < PIECE ? n - at : PIECE, (off_t)at);
		if (got <= 0)
			break;
		XXH3_64bits_update(state, piece, (size_t)got);
	}
	free(piece);
	if (at == n)
		got = pread(f->fd, &sum, sizeof sum, (off_t)n);
	is = XXH3_64bits_digest(state);
	XXH3_freeState(state);
	return got < 0 ? strerror(errno) : got == sizeof sum && sum == is ? NULL : wrong;
}

struct chunks_in *
chunks_open(int fd, size_t head, const char **why)
{
	struct chunks_in *f = xcalloc(1, sizeof *f);
	off_t size = lseek(fd, 0, SEEK_END);

	f->fd = fd;
	*why = size < 0 ? strerror(errno) : (uint64_t)size < head + sizeof(uint64_t) ? cut :
		find_chunks(f, head, (uint64_t)size - sizeof(uint64_t));
	if (!*why)
		*why = f->place.n ? check_sum(f, (uint64_t)size - sizeof(uint64_t)) : cut;
	if (*why) {
		chunks_close(f);
		return NULL;
	}
	if (!expander_make(&f->ahead, f->most) || !expander_make(&f->back, f->most))
		die("memory", "none is left");
	queue_begin(&f->queue, expand_all, f);
	return f;
}

size_t
chunks_number(const struct chunks_in *f)
{
	return f->place.n;
}

uint64_t
chunks_size(const struct chunks_in *f)
{
	return f->plain;
}

size_t
chunks_find(const struct chunks_in *f, uint64_t at, uint64_t *begin)
{
	size_t low = 0, high = f->place.n;

	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;

		if (f->place.at[middle].plain <= at)
			low = middle;
		else
			high = middle;
	}
	*begin = f->place.at[low].plain;
	return low;
}

const char *
chunks_get(struct chunks_in *f, size_t i, size_t *n)
{
	struct queue *q = &f->queue;
	size_t now = f->from + q->taken;

	if (i == now + 1) {
		queue_note(q, &q->taken);
	} else if (i != now) {
		queue_end(q);
		*q = (struct queue){0};
		f->from = i;
		queue_begin(q, expand_all, f);
	}
	pthread_mutex_lock(&q->lock);
	while (q->filled == q->taken)
		pthread_cond_wait(&q->changed, &q->lock);
	pthread_mutex_unlock(&q->lock);
	*n = f->place.at[i].sizes.plain;
	return f->block[q->taken % AHEAD].bad ? NULL : f->block[q->taken % AHEAD].at;
}

/* The bytes of chunk i. NULL: it is damaged. */
static const char *
get_past(struct chunks_in *f, size_t i)
{
	struct past *p;

	for (p = f->past; p < f->past + PAST; p++)
		if (p->number == i + 1)
			return p->at;
	p = &f->past[f->oldest];
	f->oldest = (f->oldest + 1) % PAST;
	if (!p->at)
		p->at = xmalloc(CHUNK);
	p->number = get_chunk(f, i, &f->back, p->at) ? i + 1 : 0;
	return p->number ? p->at : NULL;
}

bool
chunks_copy(struct chunks_in *f, uint64_t at, char *to, size_t n)
{
	if (at > f->plain || n > f->plain - at)
		return false;
	while (n) {
		uint64_t begin;
		size_t i = chunks_find(f, at, &begin), skip = (size_t)(at - begin), part = f->place.at[i].sizes.plain - skip;
		const char *from = get_past(f, i);

		if (!from)
			return false;
		if (part > n)
			part = n;
		memcpy(to, from + skip, part);
		at += part;
		to += part;
		n -= part;
	}
	return true;
}

void
chunks_close(struct chunks_in *f)
{
	if (!f)
		return;
	queue_end(&f->queue);
	for (int i = 0; i < AHEAD; i++)
		free(f->block[i].at);
	for (int i = 0; i < PAST; i++)
		free(f->past[i].at);
	expander_free(&f->ahead);
	expander_free(&f->back);
	free(f->place.at);
	free(f);
}
