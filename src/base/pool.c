/* SPDX-License-Identifier: MIT */
/* Pools: memory that is freed all at once. Allocation never fails: if there is no memory, the program ends. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

/* Chunks grow, so a pool for a small graph takes little memory, and one for a large text has few chunks. */
enum { FIRST_CHUNK = 4 * 1024, LAST_CHUNK = 1024 * 1024 };

/* Large requests get a chunk of their own, so that tools that watch the heap can detect accesses past its end. */
struct chunk {
	struct chunk *next;
	size_t used, size;
	_Alignas(16) unsigned char data[];
};

struct pool {
	struct chunk *chunks;
	size_t next;        /* size of the next chunk */
};

struct pool *
pool_new(void)
{
	struct pool *p = xcalloc(1, sizeof *p);

	p->next = FIRST_CHUNK;
	return p;
}

void
pool_free(struct pool *p)
{
	if (!p)
		return;
	for (struct chunk *c = p->chunks, *next; c; c = next) {
		next = c->next;
		free(c);
	}
	free(p);
}

static struct chunk *
chunk_new(size_t size)
{
	struct chunk *c = xcalloc(1, sizeof *c + size);

	c->size = size;
	return c;
}

void *
pool_alloc(struct pool *p, size_t size)
{
	struct chunk *c = p->chunks;

	if (size > SIZE_MAX / 2)
		die("memory", "a request for %zu bytes", size);
	size = (size + 15) & ~(size_t)15;
	if (size > p->next / 4) {
		struct chunk *own = chunk_new(size);

		own->used = size;
		if (p->next < LAST_CHUNK)
			p->next *= 2;
		if (c) {
			own->next = c->next;
			c->next = own;
		} else {
			p->chunks = own;
		}
		return own->data;
	}
	if (!c || c->size - c->used < size) {
		struct chunk *fresh = chunk_new(p->next);

		if (p->next < LAST_CHUNK)
			p->next *= 2;
		fresh->next = c;
		p->chunks = c = fresh;
	}
	c->used += size;
	return c->data + c->used - size;
}

void *
pool_array(struct pool *p, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		die("memory", "an array of %zu times %zu bytes", n, size);
	return pool_alloc(p, total);
}

char *
pool_strndup(struct pool *p, const char *s, size_t n)
{
	char *copy = pool_alloc(p, n + 1);

	memcpy(copy, s, n);
	return copy;
}

char *
pool_strdup(struct pool *p, const char *s)
{
	return pool_strndup(p, s, strlen(s));
}

char *
pool_printf(struct pool *p, const char *fmt, ...)
{
	va_list ap, again;
	int n;
	char *s;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		bug("format '%s'", fmt);
	s = pool_alloc(p, (size_t)n + 1);
	vsnprintf(s, (size_t)n + 1, fmt, again);
	va_end(again);
	return s;
}

void *
xmalloc(size_t size)
{
	return xrealloc(NULL, size);
}

void *
xcalloc(size_t n, size_t size)
{
	void *m = calloc(n ? n : 1, size ? size : 1);

	if (!m)
		die("memory", "out of memory");
	return m;
}

void *
xrealloc(void *old, size_t size)
{
	void *m = realloc(old, size ? size : 1);

	if (!m)
		die("memory", "out of memory");
	return m;
}

void *
xreallocarray(void *old, size_t n, size_t size)
{
	size_t total;

	if (__builtin_mul_overflow(n, size, &total))
		die("memory", "an array of %zu times %zu bytes", n, size);
	return xrealloc(old, total);
}

char *
xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(xmalloc(n), s, n);
}

void *
vec_grow(void *at, size_t *cap, size_t size)
{
	*cap = *cap ? *cap * 2 : 8;
	return xreallocarray(at, *cap, size);
}
