/* SPDX-License-Identifier: MIT */
/* base: memory by lifetime, growing arrays, text buffers, diagnostics.
 *
 * Errors come in three kinds that are never mixed: the input is wrong (say so,
 * exit status 1), the environment failed (errno and the named object, exit
 * status 1), or Chord itself is wrong (bug(), abort). Allocation failure ends
 * the process: `chord: out of memory`, exit status 1. */
#ifndef CHORD_BASE_H
#define CHORD_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- pools: everything with one lifetime, freed at once ---- */

struct pool;
struct pool *pool_new(void);
void pool_free(struct pool *p);                  /* NULL is fine */
void *pool_alloc(struct pool *p, size_t size);   /* zeroed, aligned to 16; never NULL */
void *pool_array(struct pool *p, size_t n, size_t size); /* n*size checked for overflow */
char *pool_strndup(struct pool *p, const char *s, size_t n);
char *pool_strdup(struct pool *p, const char *s);
char *pool_printf(struct pool *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- heap with the out-of-memory rule ---- */

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *old, size_t size);
void *xreallocarray(void *old, size_t n, size_t size);
char *xstrdup(const char *s);

/* ---- growing arrays: VEC(int) v = {0}; VEC_PUSH(v, 3); v.at[0]; free(v.at) ---- */

#define VEC(T) struct { T *at; size_t n, cap; }
#define VEC_PUSH(v, ...) \
	do { \
		if ((v).n == (v).cap) \
			(v).at = vec_grow((v).at, &(v).cap, sizeof *(v).at); \
		(v).at[(v).n++] = (__VA_ARGS__); \
	} while (0)
/* All of another one, behind what it has. */
#define VEC_JOIN(v, w) \
	do { \
		for (size_t vec_i = 0; vec_i < (w).n; vec_i++) \
			VEC_PUSH(v, (w).at[vec_i]); \
	} while (0)
void *vec_grow(void *at, size_t *cap, size_t size);

/* ---- text that grows ---- */

struct buf {
	char *at;
	size_t n, cap;
};
void buf_reserve(struct buf *b, size_t more);
void buf_add(struct buf *b, const void *data, size_t n);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_number(struct buf *b, uint64_t v);      /* in decimal */
void buf_uleb(struct buf *b, uint64_t v);        /* unsigned LEB128 */
void buf_zigzag(struct buf *b, int64_t v);         /* that of 2v, or -2v-1 if it is negative */
void buf_octal(struct buf *b, const char *s, size_t n); /* as a string of the assembler's has it, without its quotes */
void buf_free(struct buf *b);

/* ---- sums of counts ---- */

/* False: it does not fit in 64 bits, and *sum is of no use. */
static inline bool
checked_add(uint64_t *sum, uint64_t v)
{
	return !__builtin_add_overflow(*sum, v, sum);
}

/* The largest number there is in place of what does not fit. */
static inline uint64_t
saturating_add(uint64_t a, uint64_t b)
{
	return checked_add(&a, b) ? a : UINT64_MAX;
}

/* A slice of somebody else's text. */
struct str {
	const char *at;
	size_t n;
};
#define STR(lit) ((struct str){(lit), sizeof(lit) - 1})
struct str str_of(const char *s);
bool str_eq(struct str a, struct str b);
bool str_is(struct str a, const char *s);
bool str_starts(struct str a, const char *prefix);
bool str_ends(struct str a, const char *suffix);
uint64_t str_hash(struct str s);
/* A number with its digits in groups of three. */
const char *grouped(char out[32], uint64_t n);
/* Names of files and functions may hold any byte, a newline too, that ends a row or a cell of what is printed: control characters
 * are blanks there. */
static inline char
plain_char(char c)
{
	return (unsigned char)c < ' ' || c == 127 ? ' ' : c;
}
void buf_plain(struct buf *b, const char *s);
/* The last part of a path. */
const char *base_name(const char *path);

/* near.c: the name that is least unlike a word, if it is so enough to have been meant; or NULL. name(ctx, i) is NULL behind the
 * last. */
const char *name_nearest(const char *word, const char *(*name)(const void *ctx, size_t i), const void *ctx);

/* ---- a map from text to a number; the text is not copied ---- */

struct strmap {
	struct strmap_slot { struct str key; uint64_t value; bool used; } *slot;
	size_t n, cap;
};
void strmap_put(struct strmap *m, struct str key, uint64_t value); /* replaces */
bool strmap_get(const struct strmap *m, struct str key, uint64_t *value);
void strmap_free(struct strmap *m);

/* ---- whole files ---- */

/* Reads a whole file (NULL or "-": standard input) into b. False with errno set. */
bool file_read(const char *path, struct buf *b);
/* The first bytes of a file, as many as there are up to n. Of a pipe all is read and kept for the next file_read() of that name.
 * -1 with errno set: there is no reading it, or it is a device, which may not be read twice. */
ssize_t file_peek(const char *path, void *head, size_t n);
/* The program that execvp() would run (pool): the name itself, or found by PATH; NULL: there is none. */
const char *file_in_path(struct pool *pool, const char *name);
/* Writes to an open file; false with errno set. */
bool write_all(int fd, const void *data, size_t n);
/* Writes a whole file: behind a symbolic link the one it leads to. On failure what this call made is removed; what was there
 * remains as it was if the disk is full, and in no case is it removed. False with errno set. */
bool file_write(const char *path, const void *data, size_t n);

/* ---- diagnostics: `chord: WHAT: WHY` on standard error ---- */

enum { EXIT_NO = 1, EXIT_USAGE = 2 };

/* Reports wrong input or a failed environment; does not return a status. */
void say_error(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void verror(const char *what, const char *fmt, va_list ap);
/* The same with a place in a text: `chord: FILE:LINE: WHY`. */
void error_at(const char *file, unsigned line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void say_warning(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void die(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Chord itself is wrong: says where, aborts. */
#define bug(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug_at(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Progress of a step from done == 0 on, on a terminal, once it has taken a second; done == total clears the line. */
void progress(const char *step, uint64_t done, uint64_t total);

#endif
