/* SPDX-License-Identifier: MIT */
/* chord graph --trace: which edges write a witness, what each witness tells, and what walks write (Ball & Larus 1994,
 * section 4). */
#include "tool/graph/graph.h"
#include "tool/table.h"

static void
print_witness(const struct study_trace *t, struct table *table, uint32_t e)
{
	const struct graph *g = t->f->g;

	table_text(table, pool_printf(g->pool, "%s -> %s", graph_name(g, g->edge[e].from), graph_name(g, g->edge[e].to)));
	table_printf(table, "%u", t->values->value[e]);
	table_printf(table, "%u", t->reused->value[e]);
	table_printf(table, "%.7g", t->w[e] * g->edge[e].cost);
	if (t->call && t->blocker[e])
		printf("  blocks a call or the end");
	if (!t->placement[STUDY_THINNED].written[e])
		printf("  not needed");
	table_end(table);
}

static void
print_witnesses(const struct study_trace *t)
{
	static const struct column columns[] = {
		{"witnesses", -24, 0}, {"number", 6, 0}, {"reused", 6, 0}, {"cost", 8, 0},
	};
	struct table table = TABLE(columns);

	table.indent = 2;
	table_head(&table);
	for (uint32_t e = 0; e < t->f->g->nedge; e++)
		if (t->placement[STUDY_WITNESSES].written[e])
			print_witness(t, &table, e);
}

/* Prints the witness sets of a predicate: which of the reused numbers tell which outcome. */
static void
print_predicate(const struct study_trace *t, uint32_t v)
{
	const struct graph *g = t->f->g;
	const uint32_t *way = t->reused->way + (size_t)v * (t->reused->n + 1);

	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
		uint32_t e = g->out[i];

		if (!witness_is_real(g, e))
			continue;
		printf("  %s -> %s:", graph_name(g, v), graph_name(g, g->edge[e].to));
		for (uint32_t value = 0; value < t->reused->n; value++)
			if (way[value] == e)
				printf(" %u", value);
		printf("%s\n", way[t->reused->n] == e ? " end" : "");
	}
}

static void
print_placement(struct table *table, const struct study_trace *t, int which)
{
	const struct study_witnesses *p = &t->placement[which];

	table_text(table, p->what);
	table_printf(table, "%u", p->n);
	table_printf(table, "%.7g", p->cost);
	table_printf(table, "%.7g", which == STUDY_OUTCOMES ? t->outcome_bits : p->cost * p->bits);
	if (which == STUDY_OUTCOMES)
		table_text(table, "bit tracing");
	else
		table_text(table, pool_printf(t->f->pool, "%u bit%s each", p->bits, p->bits == 1 ? "" : "s"));
	table_end(table);
}

static void
print_placements(const struct study_trace *t)
{
	static const struct column columns[] = {
		{"placements", -28, 0}, {"writing", 7, 0}, {"cost", 8, 0}, {"bits", 8, 0}, {NULL, 0, 0},
	};
	struct table table = TABLE(columns);

	table.indent = 2;
	printf("\n");
	table_head(&table);
	for (int i = 0; i < STUDY_PLACEMENTS; i++)
		if (i != STUDY_REVERSED || t->call)
			print_placement(&table, t, i);
}

static void
print_regenerated(const struct study_trace *t, const struct file_path *walk, const struct study_written *written)
{
	bool ended;
	uint32_t n = study_regenerate(t, walk, written, &ended);

	if (n == walk->n && ended == written->ended)
		printf("regenerated\n");
	else if (!written->ended && n)
		printf("regenerated up to %s, where the trace ends\n", graph_name(t->f->g, walk->vertex[n - 1]));
	else
		printf("WRONG\n");
}

/* False: reported. */
static bool
print_walk(const struct study_trace *t, const struct file_path *walk)
{
	struct study_written written;

	if (!study_walk(t, walk, &written))
		return false;
	printf(" ");
	for (uint32_t i = 0; i < walk->n; i++)
		printf(" %s", graph_name(t->f->g, walk->vertex[i]));
	printf("\n    writes");
	for (uint32_t i = 0; i < written.n; i++)
		printf(" %u", written.value[i]);
	printf("%s: ", written.ended ? " end" : "");
	print_regenerated(t, walk, &written);
	return true;
}

bool
graph_trace(const struct graph_file *f)
{
	struct study_trace t;
	bool ok = true;

	if (!study_trace(&t, f))
		return false;
	printf("%u predicates, %u witnesses, %u numbers, %u if they are used again\n\n", t.npredicate,
	       t.placement[STUDY_WITNESSES].n, t.values->n, t.reused->n);
	print_witnesses(&t);
	printf("\n  ways that a witness tells\n");
	for (uint32_t v = 0; v < f->g->nvert; v++)
		if (witness_is_predicate(f->g, v))
			print_predicate(&t, v);
	print_placements(&t);
	if (f->walk.n)
		printf("\n  walks\n");
	for (size_t i = 0; ok && i < f->walk.n; i++)
		ok = print_walk(&t, &f->walk.at[i]);
	return ok;
}
