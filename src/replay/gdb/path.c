/* SPDX-License-Identifier: MIT */
/* Paths from one state of the program to a later one. The program is deterministic, so a path leads to the same state each time. */
#include "replay/gdb/gdb.h"

#include <stdlib.h>
#include <string.h>

void
path_add(path *p, struct hop h)
{
	struct hop *last = p->n ? &p->at[p->n - 1] : NULL;

	/* The number of an event needs no hops before it. */
	if (h.kind == HOP_EVENT)
		p->n = 0;
	if (p->n && h.kind == last->kind && h.at == last->at && h.n == last->n && h.reads == last->reads &&
	    h.only_reads == last->only_reads && h.expression == last->expression && h.becomes == last->becomes)
		last->count += h.count;
	else if (h.count)
		VEC_PUSH(*p, h);
}

void
path_join(path *a, const path *b)
{
	for (size_t i = 0; i < b->n; i++)
		path_add(a, b->at[i]);
}

void
path_copy(path *to, const path *from)
{
	to->n = 0;
	path_join(to, from);
}

void
path_free(path *p)
{
	free(p->at);
	*p = (path){0};
}
