/* SPDX-License-Identifier: MIT */
/* interest: files that say which paths are of interest (-fchord-paths=FILE), and how often edges ran
 * (-fchord-weights=FILE). `chord paths` and `chord weights` write them, the weaver reads them; docs/format.md has the
 * format. Vertices and edges have the numbers that a map gives them. */
#ifndef CHORD_INTEREST_H
#define CHORD_INTEREST_H

#include "base/base.h"

/* Paths of interest of a procedure in one build, with all others that have edges of these only: more are refused. Its
 * table has twice as many counters at most. */
#define INTEREST_MOST (1u << 19)

struct interest_path {
	unsigned line;           /* in the file */
	uint32_t n;
	uint32_t *edge;          /* the last one is cut or leads to EXIT; a path begins where the first one leaves */
};

struct interest_proc {
	const char *name, *file; /* as in the map */
	uint64_t hash;           /* of its graph: proc_hash() of cfg.h */
	unsigned line;
	bool has_cuts;
	uint32_t ncut, npath;
	uint32_t *cut;           /* all cut edges, back edges as well, in ascending order */
	uint32_t nran;           /* 0: how often edges ran is not known; else all edges of the map */
	uint64_t *ran;           /* by edge: how often. A hint for prices, whatever it says */
	struct interest_path *path;
};

struct interest {
	struct pool *pool;
	const char *file;
	VEC(struct interest_proc) proc;
	struct strmap known;     /* by name, file and hash: its number in proc */
	struct strmap named;     /* by name and file */
};

/* What a file is read for: weights are in files of paths of interest, too. */
enum interest_kind { INTEREST_PATHS, INTEREST_WEIGHTS };

/* False: it has said why. In any case interest_free(). The pool keeps what is read. */
bool interest_read(struct pool *pool, const char *file, enum interest_kind kind, struct interest *in);
/* A procedure of that name, file and hash, added if it is not there; it is the caller's to fill until the next one is
 * asked for. */
struct interest_proc *interest_add(struct interest *in, const char *name, const char *file, uint64_t hash);
void interest_free(struct interest *in);
/* A procedure's paths; NULL: none are of interest. *other: the file has paths of a procedure of that name and source
 * whose graph is another, so that it is of another build. */
const struct interest_proc *interest_find(const struct interest *in, const char *name, const char *file, uint64_t hash,
	const struct interest_proc **other);

/* A file of weights has no cuts and no paths. */
void interest_write_head(struct buf *out, enum interest_kind kind);
void interest_write(struct buf *out, enum interest_kind kind, const struct interest_proc *p);

#endif
