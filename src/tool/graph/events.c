/* SPDX-License-Identifier: MIT */
/* chord graph --events: what chords add to a counter of events, as the paper (Ball 1994) shows it. */
#include "tool/graph/graph.h"

#include <inttypes.h>

static void
print_terms(const struct study_events *c, struct events *const *term, const struct events *sum, bool query, uint32_t at)
{
	bool any = false;

	for (size_t i = 0; term && i < c->name.n; i++) {
		int64_t n = study_event(term[i], query, at);

		if (!n)
			continue;
		any = true;
		if (n == 1 || n == -1)
			printf("%c%s", n < 0 ? '-' : '+', c->name.at[i].name);
		else
			printf("%+" PRId64 "*%s", n, c->name.at[i].name);
	}
	if (any && sum)
		printf(" = %" PRId64, study_event(sum, query, at));
	else if (!any)
		printf("%" PRId64, sum ? study_event(sum, query, at) : 0);
}

static void
print_line(const struct study_events *c, const char *what, const char *name, bool query, uint32_t at)
{
	printf("  %s(%s) = ", what, name);
	print_terms(c, c->term, c->sum, query, at);
	if (!study_event_is_right(c, query, at)) {
		printf("  WRONG: ");
		print_terms(c, c->right, c->right_sum, query, at);
	}
	printf("\n");
}

static void
print_counting(const struct study_events *c)
{
	const struct graph_file *f = c->f;
	uint32_t chords = 0, zero = 0;

	for (uint32_t e = 0; e < f->edge.n; e++) {
		chords += !c->tree[e];
		zero += !c->tree[e] && study_event_is_zero(c, e);
	}
	printf("%zu edges, %u chords, %u of them to instrument\n\nincrements\n", f->edge.n, chords, chords - zero);
	for (uint32_t e = 0; e < f->edge.n; e++)
		if (!c->tree[e])
			print_line(c, "Increment", study_edge_name(f, e), false, e);
	printf("\nquery increments\n");
	for (uint32_t v = 0; v < f->g->nvert; v++)
		print_line(c, "QueryInc", graph_name(f->g, v), true, c->behind[v]);
}

bool
graph_events(const struct graph_file *f, bool printed)
{
	struct study_events c;
	bool ok = study_events(&c, f, printed);

	if (ok)
		print_counting(&c);
	study_events_free(&c);
	return ok;
}
