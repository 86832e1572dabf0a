/* SPDX-License-Identifier: MIT */
/* What the files of chamber share; chamber.c says what chamber does. */
#ifndef CHAMBER_H
#define CHAMBER_H

#include "base/base.h"

#define COMPILE_SECONDS 300

typedef VEC(char *) words;

/* A line of the list. */
struct unit {
	const char *name, *compiler;
	bool cxx, by_text;
	words levels, common, sources, libraries;
};

/* One program, compiler and level. */
struct trial {
	const struct unit *unit;
	const char *level, *measure; /* measure: NULL while there is none */
	struct buf notes, fails;
	struct strmap unknown;       /* procedures whose counts some measure does not know */
	bool unfinished;             /* a walk found no end: counts need not agree */
	char *expected, *by;         /* instructions, by the first measure that had any */
	size_t nexpected;
};

/* A way to build: a measure of the registry, or one of its options. */
struct variant {
	const char *name, *options;
};

extern const char *chord;
extern struct pool *pool; /* for one unit */
extern unsigned limit;    /* seconds for a measured program */

/* ---- chamber.c ---- */

/* A program of the texts or of the sources. */
bool build(const struct trial *t, const struct variant *m, const char *output, const char *log);
/* Its status; makes NAME.out and profiles NAME.chord*. Files are made in a folder that is thrown away. */
int run_program(const char *name, unsigned seconds);

/* ---- some.c: builds that count the paths of a file ---- */

/* `all` counts all paths, and may have been built and run already. */
void try_some_paths(struct trial *t, const struct variant *some, const struct variant *all);

/* ---- child.c: files and processes ---- */

words split(char *text, const char *at);           /* in place; w.at is to be freed */
void add_words(words *to, const words *from);
void add_text(words *to, const char *text);        /* its words */
void remove_all(const char *path);
void make_folder(const char *path);
char *text_of(const char *path, size_t *n);        /* ended by a NUL that is not of its size; no file: nothing */
bool is_empty(const char *path);
bool same_file(const char *one, const char *other);
/* Runs a command in the folder IN with its output in files; "fixed" puts its memory always at the same place. Its
 * status as a shell has it, or TIMED_OUT. */
int run(const words *command, const char *in, const char *out, const char *err, unsigned seconds, bool fixed);
#define TIMED_OUT 124

/* ---- opinion.c: what chord says about a run ---- */

void fail(struct trial *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void note(struct trial *t, const char *key, uint64_t n);
const char *why(const char *path);                 /* the first line of a file that is an error, or the first line */
void opinion(struct trial *t);

#endif
