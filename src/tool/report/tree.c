/* SPDX-License-Identifier: MIT */
/* The call graph as a tree: the calls of each procedure are below it, once. Counts below a call are of all calls of that procedure,
 * because edges are counted, and not paths through the call graph. */
#include "tool/report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A procedure that calls, and its rows. */
struct node {
	const struct binary *binary;
	const struct proc *proc;
	const struct view_call **row;
	size_t n;
	bool called, shown;
};

struct tree {
	const struct report *r;
	struct node *node;
	size_t nnode, left;      /* rows that may still be printed */
};

static struct node *
node_of(struct tree *t, const struct view_call *c)
{
	for (size_t i = 0; i < t->nnode; i++)
		if (t->node[i].proc == c->proc)
			return &t->node[i];
	return NULL;
}

/* The procedure that a call leads to, if it makes calls itself; one of the same object, and of the same file if there are
 * several. */
static struct node *
callee_node(struct tree *t, const struct view_call *c)
{
	struct node *found = NULL;

	for (size_t i = 0; i < t->nnode; i++) {
		struct node *n = &t->node[i];

		if (n->binary == c->binary && !strcmp(n->proc->name, c->callee) &&
		    (!found || !strcmp(n->proc->file, c->proc->file)))
			found = n;
	}
	return found;
}

/* The same for a procedure that was called through a pointer. */
static struct node *
node_to(struct tree *t, const struct view_callee *c)
{
	for (size_t i = 0; i < t->nnode; i++)
		if (c->proc && t->node[i].proc == c->proc)
			return &t->node[i];
	return NULL;
}

static void
plant(struct tree *t)
{
	const struct report *r = t->r;
	struct pool *pool = r->run->pool;

	t->node = pool_array(pool, r->table.call.n, sizeof *t->node);
	for (size_t i = 0; i < r->table.call.n; i++) {
		const struct view_call *c = &r->table.call.at[i];

		if (!node_of(t, c))
			t->node[t->nnode++] = (struct node){.binary = c->binary, .proc = c->proc};
		node_of(t, c)->n++;
	}
	for (size_t i = 0; i < t->nnode; i++) {
		t->node[i].row = pool_array(pool, t->node[i].n, sizeof *t->node[i].row);
		t->node[i].n = 0;
	}
	for (size_t i = 0; i < r->table.call.n; i++) {
		struct node *n = node_of(t, &r->table.call.at[i]), *to = callee_node(t, &r->table.call.at[i]);

		n->row[n->n++] = &r->table.call.at[i];
		if (to && to != n)
			to->called = true;
		for (size_t k = 0; k < r->table.call.at[i].nto; k++)
			if ((to = node_to(t, &r->table.call.at[i].to[k])) && to != n)
				to->called = true;
	}
}

static void
print_row(const struct view_call *c, int depth, bool above)
{
	struct column column[CALL_COLUMNS];
	struct table t = report_calls_table(column, c);

	report_call_events(&t, c);
	table_number(&t, c->calls.least);
	table_text(&t, "");
	printf("%*s%s", 2 * depth, "", shown_name(c->callee));
	if (*c->file && c->line)
		printf("  %s:%u", shown_path(c->file), c->line);
	printf(above ? "  (above)" : "");
	table_end(&t);
}

/* Events between call and return are known only for all calls of the place together. */
static void
print_callee(const struct view_call *of, const struct view_callee *c, int depth, bool above)
{
	struct column column[CALL_COLUMNS];
	struct table t = report_calls_table(column, of);

	table_skip(&t, of->nevent);
	table_number(&t, c->calls);
	table_text(&t, "");
	printf("%*s%s%s", 2 * depth, "", shown_name(c->name), above ? "  (above)" : "");
	table_end(&t);
}

/* A level on the way down the tree: at row i of the node; or, if `row` is set, after that row and at its callee k. */
struct level {
	struct node *node;
	size_t i, k;
	const struct view_call *row;
	int depth;
};

/* Prints the next row. Returns the node that it leads to, or NULL. */
static struct node *
print_next(struct tree *t, struct level *l)
{
	struct node *to;

	if (l->row) {
		const struct view_callee *c = &l->row->to[l->k++];

		to = node_to(t, c);
		print_callee(l->row, c, l->depth + 1, to && to->shown);
		if (l->k == l->row->nto)
			l->row = NULL;
	} else {
		const struct view_call *c = l->node->row[l->i++];

		to = callee_node(t, c);
		print_row(c, l->depth, to && to->shown);
		l->k = 0;
		l->row = c->nto ? c : NULL;
	}
	t->left--;
	return to;
}

/* Prints the tree below a root, without recursion: `at` has the levels on the way down. */
static void
print_below(struct tree *t, struct node *root)
{
	struct level *at = pool_array(t->r->run->pool, t->nnode + 1, sizeof *at);
	int n = 0;

	at[0] = (struct level){.node = root, .depth = 1};
	root->shown = true;
	while (n >= 0) {
		struct level *l = &at[n];
		bool through = l->row;
		struct node *to;

		if ((l->i == l->node->n && !through) || !t->left) {
			n--;
			continue;
		}
		to = print_next(t, l);
		if (to && !to->shown) {
			to->shown = true;
			at[++n] = (struct level){.node = to, .depth = l->depth + 1 + through};
		}
	}
}

static void
print_root(struct tree *t, struct node *n)
{
	struct column column[CALL_COLUMNS];
	struct table table = report_calls_table(column, n->row[0]);

	if (n->shown || !t->left)
		return;
	table_skip(&table, n->row[0]->nevent + 1);
	table_text(&table, shown_name(n->proc->name));
	table_end(&table);
	t->left--;
	print_below(t, n);
}

void
report_tree(const struct report *r)
{
	struct tree t = {.r = r, .left = r->opt.top ? r->opt.top : SIZE_MAX};

	plant(&t);
	for (size_t i = 0; i < t.nnode; i++)
		if (!t.node[i].called)
			print_root(&t, &t.node[i]);
	/* Procedures that only call themselves, or call each other in circles. */
	for (size_t i = 0; i < t.nnode; i++)
		print_root(&t, &t.node[i]);
	if (!t.left)
		printf("%18s (--top=0 shows all)\n", "...");
}
