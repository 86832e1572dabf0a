/* SPDX-License-Identifier: MIT */
/* The hash by which files of paths and weights recognise a procedure (docs/format.md). */
#include "cfg/cfg.h"

/* The hashed bytes are those of a map: the number of blocks; for each block the number of its instructions and a byte for each
 * instruction; the numbers of vertices and edges; for each edge from, to and kind. */
uint64_t
proc_hash(const struct proc *p)
{
	struct buf b = {0};
	uint64_t hash;

	buf_uleb(&b, p->nblock);
	for (uint32_t v = 0; v < p->nblock; v++) {
		buf_uleb(&b, p->block[v].ninsn);
		buf_add(&b, p->block[v].assembled ? p->block[v].assembled : p->block[v].insn, p->block[v].ninsn);
	}
	buf_uleb(&b, p->nvert);
	buf_uleb(&b, p->narc);
	for (uint32_t i = 0; i < p->narc; i++) {
		buf_uleb(&b, p->arc[i].from);
		buf_uleb(&b, p->arc[i].to);
		buf_uleb(&b, p->arc[i].kind);
	}
	hash = str_hash((struct str){b.at, b.n});
	buf_free(&b);
	return hash;
}
