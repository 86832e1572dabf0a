/* SPDX-License-Identifier: MIT */
/* selection: files that say which paths are of interest (-fchord-paths=FILE), and how often edges ran
 * (-fchord-weights=FILE). `chord paths` and `chord weights` write them, the weaver reads them; docs/format.md has the
 * format. Vertices and edges have the numbers that a map gives them. */
#ifndef CHORD_SELECTION_H
#define CHORD_SELECTION_H

#include "base/base.h"

/* Paths of interest of a procedure in one build, with all others that have edges of these only: more are refused. Its
 * table has twice as many counters at most. */
#define SELECTION_MOST (1u << 19)

struct selection_path {
	unsigned line;           /* in the file */
	uint32_t n;
	uint32_t *edge;          /* the last one is cut or leads to EXIT; a path begins where the first one leaves */
};

struct selection_proc {
	const char *name, *file; /* as in the map */
	uint64_t hash;           /* of its graph: proc_hash() of cfg.h */
	unsigned line;
	bool has_cuts;
	uint32_t ncut, npath;
	uint32_t *cut;           /* all cut edges, back edges as well, in ascending order */
	uint32_t nran;           /* 0: how often edges ran is not known; else all edges of the map */
	uint64_t *ran;           /* by edge: how often. A hint for prices, whatever it says */
	struct selection_path *path;
};

struct selection {
	struct pool *pool;
	const char *file;
	VEC(struct selection_proc) proc;
	struct strmap known;     /* by name, file and hash: its number in proc */
	struct strmap named;     /* by name and file */
};

/* What a file is read for: weights are in files of paths of interest, too. */
enum selection_kind { SELECTION_PATHS, SELECTION_WEIGHTS };

/* False: reported. In any case selection_free(). The pool keeps what is read. */
bool selection_read(struct pool *pool, const char *file, enum selection_kind kind, struct selection *in);
/* A procedure of that name, file and hash, added if it is not there; it is the caller's to fill until the next one is
 * asked for. */
struct selection_proc *selection_add(struct selection *in, const char *name, const char *file, uint64_t hash);
void selection_free(struct selection *in);
/* A procedure's paths; NULL: none are of interest. *other: the file has paths of a procedure of that name and source with another
 * graph, so it is of another build. */
const struct selection_proc *selection_find(const struct selection *in, const char *name, const char *file, uint64_t hash,
	const struct selection_proc **other);

/* A file of weights has no cuts and no paths. */
void selection_write_head(struct buf *out, enum selection_kind kind);
void selection_write(struct buf *out, enum selection_kind kind, const struct selection_proc *p);

#endif
