/* SPDX-License-Identifier: MIT */
/* selection: files that tell which paths are of interest (-fchord-paths=FILE) and how often edges ran (-fchord-weights=FILE).
 * `chord paths` and `chord weights` write them, and the weaver reads them; docs/format.md has the format. Vertices and edges have
 * the numbers of the map. */
#ifndef CHORD_SELECTION_H
#define CHORD_SELECTION_H

#include "base/base.h"

/* At most this many paths of a procedure in one build: those of interest, and all others that have only edges of these. More are
 * refused. The table has at most twice as many counters. */
#define SELECTION_MOST (1u << 19)

struct selection_path {
	unsigned line;           /* in the file */
	uint32_t n;
	uint32_t *edge;          /* the last edge is cut or leads to EXIT; the path begins at the source of the first one */
};

struct selection_proc {
	const char *name, *file; /* as in the map */
	uint64_t hash;           /* of its graph: proc_hash() of cfg.h */
	unsigned line;
	bool has_cuts;
	uint32_t ncut, npath;
	uint32_t *cut;           /* all cut edges, back edges included, ascending */
	uint32_t nran;           /* 0: not known how often edges ran; else the number of edges of the map */
	uint64_t *ran;           /* by edge: how often it ran. Only a hint for prices */
	struct selection_path *path;
};

struct selection {
	struct pool *pool;
	const char *file;
	VEC(struct selection_proc) proc;
	struct strmap known;     /* from name, file and hash to number in proc */
	struct strmap named;     /* from name and file to number in proc */
};

/* What a file is read for. Files of paths of interest have weights, too. */
enum selection_kind { SELECTION_PATHS, SELECTION_WEIGHTS };

/* Reads a file into *in; memory is the pool's. False: reported. Call selection_free() in either case. */
bool selection_read(struct pool *pool, const char *file, enum selection_kind kind, struct selection *in);
/* The procedure with that name, file and hash, which is added if it is new. The pointer is valid until the next call. */
struct selection_proc *selection_add(struct selection *in, const char *name, const char *file, uint64_t hash);
void selection_free(struct selection *in);
/* A procedure's paths; NULL: none are of interest. *other: a procedure of the same name and file with another graph, so the file is
 * of another build; or NULL. */
const struct selection_proc *selection_find(const struct selection *in, const char *name, const char *file, uint64_t hash,
	const struct selection_proc **other);

/* Append the head of a file, and one procedure. A file of weights has no cuts and no paths. */
void selection_write_head(struct buf *out, enum selection_kind kind);
void selection_write(struct buf *out, enum selection_kind kind, const struct selection_proc *p);

#endif
