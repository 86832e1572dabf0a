/* SPDX-License-Identifier: MIT */
/* Undoes a search that is interrupted. The program is again where the search began, with the same copies, so that nothing is passed
 * unseen. */
#include "replay/gdb/gdb.h"

#include <stdlib.h>

/* A path of up to so many steps after a node is repeated at once. */
enum { STEPS_NEAR = 300 };

struct undo {
	VEC(struct node) node;
	path path;
	size_t pending;
	bool held, ended;
	uint64_t way, spent, arrived, price;
	struct checkpoint *here; /* NULL: the path leads to the place */
};

/* Does the path lead to the place at once? */
static bool
is_near(const path *p)
{
	return !p->n || (p->n == 1 && p->at[0].kind == HOP_STEP && p->at[0].count <= STEPS_NEAR);
}

static void
copy_node(struct node *to, const struct node *from)
{
	*to = *from;
	to->c = checkpoint_share(from->c);
	to->link = to->before = to->rest = (path){0};
	path_copy(&to->link, &from->link);
	path_copy(&to->before, &from->before);
	path_copy(&to->rest, &from->rest);
}

void
undo_begin(struct debugger *d)
{
	struct undo *u = xcalloc(1, sizeof *u);

	u->pending = d->pending;
	u->held = d->held;
	u->ended = d->ended;
	u->way = d->way;
	u->spent = d->spent;
	u->arrived = d->arrived;
	u->price = d->price;
	path_copy(&u->path, &d->path);
	for (size_t i = 0; i < d->node.n; i++) {
		struct node n;

		copy_node(&n, &d->node.at[i]);
		VEC_PUSH(u->node, n);
	}
	u->here = is_near(&d->path) ? NULL : checkpoint_take(&d->r);
	d->undo = u;
}

void
undo_end(struct debugger *d)
{
	struct undo *u = d->undo;

	d->undo = NULL;
	for (size_t i = 0; i < u->node.n; i++)
		node_free(&u->node.at[i]);
	free(u->node.at);
	path_free(&u->path);
	checkpoint_free(u->here);
	free(u);
}

bool
undo_back(struct debugger *d)
{
	struct undo *u = d->undo;
	bool ended = u->ended, there;

	while (d->node.n)
		node_pop(d);
	for (size_t i = 0; i < u->node.n; i++)
		VEC_PUSH(d->node, u->node.at[i]);
	u->node.n = 0;
	path_copy(&d->path, &u->path);
	d->pending = u->pending;
	d->held = u->held;
	d->way = u->way;
	d->spent = u->spent;
	d->arrived = u->arrived;
	d->price = u->price;
	d->seek = SOUGHT_NOT;
	there = u->here && checkpoint_back(&d->r, u->here);
	/* What follows cannot be interrupted. */
	undo_end(d);
	there = there || node_reach(d);
	d->ended = ended;
	return there;
}
