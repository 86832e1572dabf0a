/* SPDX-License-Identifier: MIT */
/* base: memory by lifetime, growing arrays, text buffers, diagnostics.
 *
 * Errors are of three kinds, which are never mixed: wrong input (reported, exit status 1), a failed environment (reported with
 * errno and the object's name, exit status 1), and bugs in Chord (bug(), abort). If an allocation fails, the process ends with
 * `chord: memory: out of memory` and exit status 1; no function returns NULL for want of memory. */
#ifndef CHORD_BASE_H
#define CHORD_BASE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* ---- pools: memory of one lifetime, freed at once ---- */

struct pool;
struct pool *pool_new(void);
void pool_free(struct pool *p);                  /* frees all memory of the pool; NULL is allowed */
void *pool_alloc(struct pool *p, size_t size);   /* zeroed, aligned to 16 */
void *pool_array(struct pool *p, size_t n, size_t size); /* zeroed; a product n * size that overflows ends the process */
char *pool_strndup(struct pool *p, const char *s, size_t n);
char *pool_strdup(struct pool *p, const char *s);
char *pool_printf(struct pool *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- heap: without memory these end the process, as above; free() frees the result ---- */

void *xmalloc(size_t size);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *old, size_t size);
void *xreallocarray(void *old, size_t n, size_t size);
char *xstrdup(const char *s);

/* ---- growing arrays: VEC(int) v = {0}; VEC_PUSH(v, 3); v.at[0]; free(v.at). Elements may move with each push ---- */

#define VEC(T) struct { T *at; size_t n, cap; }
#define VEC_PUSH(v, ...) \
	do { \
		if ((v).n == (v).cap) \
			(v).at = vec_grow((v).at, &(v).cap, sizeof *(v).at); \
		(v).at[(v).n++] = (__VA_ARGS__); \
	} while (0)
/* Appends all elements of w to v. */
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
void buf_reserve(struct buf *b, size_t more);     /* makes room for that many more bytes; others do it themselves */
void buf_add(struct buf *b, const void *data, size_t n);
/* The same; false: there is no memory for it, and the buffer is as before. */
bool buf_try_add(struct buf *b, const void *data, size_t n);
void buf_str(struct buf *b, const char *s);
void buf_char(struct buf *b, char c);
void buf_printf(struct buf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_number(struct buf *b, uint64_t v);      /* in decimal */
void buf_uleb(struct buf *b, uint64_t v);        /* unsigned LEB128 */
void buf_zigzag(struct buf *b, int64_t v);         /* LEB128 of 2v, or of -2v - 1 if v is negative */
void buf_octal(struct buf *b, const char *s, size_t n); /* appends s as the inside of an assembler's string literal */
void buf_free(struct buf *b);

/* ---- sums of counts ---- */

/* Adds v to *sum. False: the sum does not fit in 64 bits, and *sum is meaningless. */
static inline bool
checked_add(uint64_t *sum, uint64_t v)
{
	return !__builtin_add_overflow(*sum, v, sum);
}

/* The sum, or UINT64_MAX if it does not fit in 64 bits. */
static inline uint64_t
saturating_add(uint64_t a, uint64_t b)
{
	return checked_add(&a, b) ? a : UINT64_MAX;
}

/* A slice of text that the caller owns; not zero terminated. */
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
/* What a literal stands for, from behind its first quote to the next one: compilers, git and buf_octal() escape bytes as in C. */
const char *str_unescaped(struct pool *p, struct str s);
/* Writes n in decimal, with commas between groups of three digits, into out. Returns out. */
const char *grouped(char out[32], uint64_t n);
/* Replaces a control character by a blank. Names of files and functions may hold any byte, and a newline would end a printed
 * row. */
static inline char
plain_char(char c)
{
	return (unsigned char)c < ' ' || c == 127 ? ' ' : c;
}
void buf_plain(struct buf *b, const char *s);     /* appends s with plain_char() of each byte */
/* The last component of a path: a pointer into it. */
const char *base_name(const char *path);
/* Is s among the names, an array? */
#define NAMED(s, names) name_among(s, names, sizeof names / sizeof *names)
bool name_among(const char *s, const char *const *names, size_t n);

/* near.c: the name that is most like `word`, or NULL if no name is so close that it may have been meant. name(ctx, i) gives the
 * i-th candidate, and NULL after the last one. */
const char *name_nearest(const char *word, const char *(*name)(const void *ctx, size_t i), const void *ctx);

/* ---- a map from text to a number. Keys are not copied: they have to live as long as the map ---- */

struct strmap {
	struct strmap_slot { struct str key; uint64_t value; bool used; } *slot;
	size_t n, cap;
};
void strmap_put(struct strmap *m, struct str key, uint64_t value); /* replaces an old value of the key */
bool strmap_get(const struct strmap *m, struct str key, uint64_t *value); /* false: not there, *value as it was */
void strmap_free(struct strmap *m);

/* ---- descriptors ---- */

/* Raises this process's limit of descriptors as far as possible. Programs that were started before keep their limit. */
void raise_descriptors(void);

/* ---- whole files ---- */

/* Appends a whole file to b; path NULL or "-": standard input. False with errno set; not reported. */
bool file_read(const char *path, struct buf *b);
/* Reads up to n bytes from the beginning of a file into head; returns how many there were. A pipe is read to its end, and its text
 * is kept for the next file_read() of the same name. -1 with errno set: the file cannot be read, or is a device, which must not be
 * read twice. */
ssize_t file_peek(const char *path, void *head, size_t n);
/* The program that execvp() would run (pool): the name itself if it has a slash, else the file found by PATH. NULL: there is
 * none. */
const char *file_in_path(struct pool *pool, const char *name);
/* Writes n bytes to an open file, however many calls that takes. False with errno set. */
bool write_all(int fd, const void *data, size_t n);
/* Writes a whole file; a symbolic link is followed. False with errno set; not reported. After a failure a file that this call
 * created is removed. A file that existed before is never removed, and keeps its contents if the disk is full. */
bool file_write(const char *path, const void *data, size_t n);

/* ---- diagnostics: `chord: WHAT: WHY` on standard error ---- */

enum { EXIT_NO = 1, EXIT_USAGE = 2 };

/* Reports wrong input or a failed environment. The caller sets the exit status. */
void say_error(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void verror(const char *what, const char *fmt, va_list ap);
/* The same with a place in a text: `chord: FILE:LINE: WHY`. */
void error_at(const char *file, unsigned line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void say_warning(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
_Noreturn void die(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A bug in Chord: prints the place and the message, then aborts. */
#define bug(...) bug_at(__FILE__, __LINE__, __VA_ARGS__)
_Noreturn void bug_at(const char *file, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Shows the progress of a step on a terminal, once the step has taken a second. Call it with done == 0 first; done == total clears
 * the line. */
void progress(const char *step, uint64_t done, uint64_t total);

#endif
