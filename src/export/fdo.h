/* SPDX-License-Identifier: MIT */
/* Profiles in the form that compilers read as profiles of samples: counts by function and by line after its declaration; what was
 * inlined at a line has a tree of its own below that line. */
#ifndef CHORD_EXPORT_FDO_H
#define CHORD_EXPORT_FDO_H

#include "export/export.h"

/* A line, counted from the declaration, and which of several statements on it. */
struct fdo_place {
	uint32_t line, discriminator;
};
struct fdo_target {
	const char *name;
	uint64_t n;              /* calls of it */
	bool by_pointer;
};
struct fdo_count {
	struct fdo_place at;
	uint64_t n;              /* executions of the instruction that ran most often there */
	VEC(struct fdo_target) target;
};
struct fdo {
	const char *name;        /* as the compiler names it */
	uint64_t entered;        /* activations of its own code only, not of inlined copies */
	struct fdo_place at;     /* if it is inlined: the place of the call */
	VEC(struct fdo_count) count; /* by place */
	VEC(struct fdo *) inlined;   /* by place and name */
	uint64_t total;          /* sum of all counts in it; saturates */
};

/* The profile of function number `function`, with its n instructions; free it with fdo_free(). NULL: its counts are not known.
 * clang: discriminators are in clang's encoding, which has how often a loop's body was copied, and counts are multiplied by that;
 * otherwise there are no discriminators. */
struct fdo *fdo_of(const struct export *x, uint32_t function, const struct view_insn *insn, size_t n, bool clang);
/* Adds another profile, as if both were of one function. Sums saturate. */
void fdo_merge(struct fdo *into, const struct fdo *from);
void fdo_free(struct fdo *s); /* NULL is allowed */
/* The instructions of a function: returns the first one, and moves *at, which begins at 0, to the one after the last. Ask for
 * functions in their order. */
size_t fdo_insns(const struct export *x, uint32_t function, size_t *at);

#endif
