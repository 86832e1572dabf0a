/* SPDX-License-Identifier: MIT */
/* The stand-in for the assembler. */
#ifndef CHORD_AS_H
#define CHORD_AS_H

#include "base/base.h"
#include "format/format.h"

typedef VEC(char *) VEC_ARGS;

struct as_args {
	struct pool *pool;
	char **all;             /* everything but Chord's own options, @files expanded */
	size_t nall;
	VEC_ARGS inputs;        /* none: standard input */
	VEC_ARGS options;       /* for every run of the assembler */
	VEC_ARGS original_only; /* listings and dependencies: they are of the original text */
	const char *output;
	uint8_t measure;        /* enum chord_measure */
	bool probe;             /* --version and the like */
	bool other_mode;        /* not 64-bit code */
	bool for_original;      /* original_only is not empty */
	bool listing_noise;     /* options that make the assembler talk or turn warnings into errors */
};

/* argv[0] is skipped. False: reported. */
bool as_args_read(struct as_args *a, int argc, char **argv);
void as_args_free(struct as_args *a);

/* as_run.c: the real assembler */

/* Its path (pool), or NULL if there is none: $CHORD_AS, else the first `as` in PATH that is not this program. */
const char *as_find(struct pool *pool);
/* Runs it. What it says goes to messages if given, else to standard error. Returns its wait
 * status as an exit status, -1 if it could not be started (errno). */
int as_run(const char *as, char *const *args, size_t nargs, struct buf *messages);
/* A temporary file with this text; its path is in the pool. NULL: errno. */
const char *temp_file(struct pool *pool, const char *suffix, const void *data, size_t n);

/* Folder of Chord's own files (libexec), found beside the running program; NULL if it is not there. */
const char *libexec_dir(struct pool *pool);

#endif
