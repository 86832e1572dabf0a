/* SPDX-License-Identifier: MIT */
/* Places to which the replay can go back at once: copies of the program, at growing distances from where the program stands. */
#include "replay/gdb/gdb.h"

#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 40 };

void
node_free(struct node *n)
{
	checkpoint_free(n->c);
	path_free(&n->link);
	path_free(&n->before);
	path_free(&n->rest);
}

void
node_pop(struct debugger *d)
{
	node_free(&d->node.at[--d->node.n]);
}

/* ---- fewer ---- */

/* Can node i be removed? The path to the node after it then leads over its place. */
static bool
can_go(const struct debugger *d, size_t i)
{
	const struct node *n = &d->node.at[i], *next = n + 1;
	const path *to = i + 1 < d->node.n ? &next->link : &d->path;

	if (!i)
		return false;
	if (!n->inside)
		return i + 1 == d->node.n || !next->inside || i + 1 < d->node.n - d->pending;
	if (i + 1 == d->node.n)
		return false;
	return next->way == n->way || (to->n && to->at[0].kind == HOP_EVENT && !next->inside);
}

static void
remove_node(struct debugger *d, size_t i)
{
	struct node *n = &d->node.at[i], *next = n + 1;
	path *to = i + 1 < d->node.n ? &next->link : &d->path;
	path joined = {0};

	if (!n->inside) {
		path_copy(&joined, &n->link);
		path_join(&joined, to);
		path_free(to);
		*to = joined;
		if (i + 1 < d->node.n && next->inside) {
			path_join(&n->link, &next->before);
			path_copy(&next->before, &n->link);
		}
	} else if (next->inside || next->way == n->way) {
		path_copy(&next->before, &n->before);
		if (i < d->node.n - d->pending)
			path_copy(&next->link, &n->link);
	}
	d->pending -= i >= d->node.n - d->pending;
	node_free(n);
	memmove(n, next, (--d->node.n - i) * sizeof *n);
}

/* Removes nodes if there are too many. */
static void
thin(struct debugger *d)
{
	while (d->node.n > NODES_MOST) {
		double least = 0;
		size_t at = 0;

		/* Takes the node that leaves the smallest gap, relative to how far back it is. */
		for (size_t i = 1; i + 1 < d->node.n; i++) {
			double gap = (double)(d->node.at[i + 1].when - d->node.at[i - 1].when + 1),
			       far = (double)(d->spent - d->node.at[i].when + 1);

			if (can_go(d, i) && (!at || gap / far < least)) {
				least = gap / far;
				at = i;
			}
		}
		if (!at)
			return;
		remove_node(d, at);
	}
}

/* ---- more ---- */

static bool
add_node(struct debugger *d, bool inside)
{
	struct checkpoint *c = checkpoint_take(&d->r);

	if (!c)
		return false;
	VEC_PUSH(d->node, (struct node){.c = c, .inside = inside, .way = d->way, .when = d->spent});
	return true;
}

bool
node_here(struct debugger *d)
{
	struct node *last;

	if (d->pending || (d->node.n && !d->path.n))
		return !d->pending;
	if (!add_node(d, false))
		return false;
	last = &d->node.at[d->node.n - 1];
	last->link = d->path;
	last->way = d->arrived ? d->arrived : d->way;
	d->path = (path){0};
	thin(d);
	return true;
}

bool
node_inside(struct debugger *d)
{
	struct node *last;

	if (!add_node(d, true))
		return false;
	last = &d->node.at[d->node.n - 1];
	last->before = d->path;
	d->path = (path){0};
	d->pending++;
	thin(d);
	return true;
}

void
node_hop(struct debugger *d, struct hop h)
{
	if (h.kind == HOP_STEP || (d->held && h.kind != HOP_EVENT)) {
		path_add(&d->path, h);
		d->arrived = 0;
		return;
	}
	d->arrived = d->pending ? d->way : 0;
	for (size_t i = d->node.n - d->pending; i < d->node.n; i++) {
		struct node *n = &d->node.at[i];

		path_copy(&n->link, &n->before);
		path_add(&n->link, h);
		n->rest.n = 0;
		path_add(&n->rest, h);
	}
	d->way += d->pending > 0;
	d->pending = 0;
	d->held = false;
	path_add(&d->path, h);
}

/* ---- going there ---- */

bool
node_last(struct debugger *d)
{
	d->ended = false;
	if (checkpoint_back(&d->r, d->node.at[d->node.n - 1].c))
		return true;
	say_error("replay", "it cannot go back from here");
	d->r.failed = true;
	return false;
}

bool
node_reach(struct debugger *d)
{
	return node_last(d) && follow(d, &d->path, NULL);
}
