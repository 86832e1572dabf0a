/* SPDX-License-Identifier: MIT */
/* The cheapest cut costs as much as the largest flow (Ford & Fulkerson 1956), which is found along shortest paths of what is left
 * (Dinic 1970). Each arc is two halves: 2i as given, 2i + 1 back. */
#include "graph/graph.h"

#include <string.h>

struct network {
	uint32_t nnode, source, sink;
	const struct cut_arc *arc;
	double *left;            /* by half: what can still flow */
	uint32_t *first, *half;  /* halves that leave node v: half[first[v] .. first[v + 1]) */
	uint32_t *level, *next;  /* by node: distance from the source; the first half that may still lead on */
	uint32_t *way;           /* the path of the search: halves, from the source on */
	struct cut_limit limit;
};

static uint32_t
head_of(const struct network *n, uint32_t half)
{
	return half & 1 ? n->arc[half / 2].from : n->arc[half / 2].to;
}

static uint32_t
tail_of(const struct network *n, uint32_t half)
{
	return head_of(n, half ^ 1);
}

static void
index_halves(struct network *n, struct pool *pool, uint32_t narc)
{
	uint32_t *at;

	n->first = pool_array(pool, n->nnode + 2, sizeof *n->first);
	n->half = pool_array(pool, 2 * (size_t)narc, sizeof *n->half);
	at = n->first + 1;
	for (uint32_t h = 0; h < 2 * narc; h++)
		at[tail_of(n, h) + 1]++;
	for (uint32_t v = 0; v < n->nnode; v++)
		at[v + 1] += at[v];
	for (uint32_t h = 0; h < 2 * narc; h++)
		n->half[at[tail_of(n, h)]++] = h;
}

/* False: there are not so many. */
static bool
take_steps(struct network *n, uint64_t steps)
{
	n->limit.steps -= steps < n->limit.steps ? steps : n->limit.steps;
	return n->limit.steps;
}

/* Distances from the source. False: the sink cannot be reached. */
static bool
find_levels(struct network *n, uint32_t *queue)
{
	uint32_t head = 0, tail = 0;

	memset(n->level, 0xff, n->nnode * sizeof *n->level);
	n->level[n->source] = 0;
	queue[tail++] = n->source;
	while (head < tail) {
		uint32_t v = queue[head++];

		if (!take_steps(n, n->first[v + 1] - n->first[v]))
			return false;
		for (uint32_t i = n->first[v]; i < n->first[v + 1]; i++) {
			uint32_t to = head_of(n, n->half[i]);

			if (n->left[n->half[i]] > 0 && n->level[to] == UINT32_MAX) {
				n->level[to] = n->level[v] + 1;
				queue[tail++] = to;
			}
		}
	}
	return n->level[n->sink] != UINT32_MAX;
}

/* Adds the largest flow that a path of `length` halves can take. Returns that flow. *from: how many halves come before the first
 * one that is full now. */
static double
push(struct network *n, uint32_t length, uint32_t *from)
{
	double least = n->left[n->way[0]];

	*from = 0;
	for (uint32_t i = 1; i < length; i++)
		if (n->left[n->way[i]] < least) {
			least = n->left[n->way[i]];
			*from = i;
		}
	for (uint32_t i = 0; i < length; i++) {
		n->left[n->way[i]] -= least;
		n->left[n->way[i] ^ 1] += least;
	}
	return least;
}

/* Adds all flow along shortest paths. Returns it. */
static double
flow_level(struct network *n)
{
	uint32_t v = n->source, length = 0;
	double sum = 0;

	memcpy(n->next, n->first, n->nnode * sizeof *n->next);
	for (;;) {
		if (v == n->sink) {
			if (!take_steps(n, length))
				return sum;
			sum += push(n, length, &length);
			v = tail_of(n, n->way[length]);
		}
		while (n->next[v] < n->first[v + 1]) {
			uint32_t h = n->half[n->next[v]];

			if (n->left[h] > 0 && n->level[head_of(n, h)] == n->level[v] + 1)
				break;
			n->next[v]++;
		}
		if (n->next[v] < n->first[v + 1]) {
			n->way[length++] = n->half[n->next[v]];
			v = head_of(n, n->half[n->next[v]]);
		} else if (!length) {
			return sum;
		} else {
			v = tail_of(n, n->way[--length]);
			n->next[v]++;
		}
	}
}

bool *
graph_cut(struct pool *pool, uint32_t nnode, const struct cut_arc *arc, uint32_t narc, uint32_t source, uint32_t sink,
          struct cut_limit *limit, double *price)
{
	struct network n = {.nnode = nnode, .source = source, .sink = sink, .arc = arc,
	                    .limit = limit ? *limit : (struct cut_limit){GRAPH_NEVER, UINT64_MAX}};
	uint32_t *queue = pool_array(pool, nnode, sizeof *queue);
	bool *in = pool_array(pool, nnode, sizeof *in);

	n.left = pool_array(pool, 2 * (size_t)narc, sizeof *n.left);
	n.level = pool_array(pool, nnode, sizeof *n.level);
	n.next = pool_array(pool, nnode, sizeof *n.next);
	n.way = pool_array(pool, nnode, sizeof *n.way);
	for (uint32_t i = 0; i < narc; i++)
		n.left[2 * i] = arc[i].price;
	index_halves(&n, pool, narc);
	*price = 0;
	while (*price < n.limit.price && find_levels(&n, queue))
		*price += flow_level(&n);
	if (limit)
		limit->steps = n.limit.steps;
	for (uint32_t v = 0; v < nnode; v++)
		in[v] = n.level[v] != UINT32_MAX;
	return in;
}
