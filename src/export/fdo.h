/* SPDX-License-Identifier: MIT */
/* Counts by function and line below its declaration, with what was inlined there below the call: what compilers take as profiles of
 * samples. */
#ifndef CHORD_EXPORT_FDO_H
#define CHORD_EXPORT_FDO_H

#include "export/export.h"

/* A line below the declaration, and which of several on it. */
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
	uint64_t n;              /* executions of its instruction that ran most often */
	VEC(struct fdo_target) target;
};
struct fdo {
	const char *name;        /* as the compiler names it */
	uint64_t entered;        /* activations; of its own code only */
	struct fdo_place at;     /* of the call, if it is inlined */
	VEC(struct fdo_count) count; /* by place */
	VEC(struct fdo *) inlined;   /* likewise, and by name */
	uint64_t total;          /* of all that is in it; saturates */
};

/* clang: discriminators are by its encoding, which says how often a loop's body was copied: counts are multiplied by that.
 * Otherwise there are none. NULL: its counts are not known. To be freed by fdo_free(). */
struct fdo *fdo_of(const struct export *x, uint32_t function, const struct view_insn *insn, size_t n, bool clang);
/* Adds what another one has, as if both were one function. Sums saturate. */
void fdo_merge(struct fdo *into, const struct fdo *from);
void fdo_free(struct fdo *s);
/* The instructions of a function, from a place on that is moved behind them: functions are asked for in order. */
size_t fdo_insns(const struct export *x, uint32_t function, size_t *at);

#endif
