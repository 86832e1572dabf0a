/* SPDX-License-Identifier: MIT */
/* Witnesses of a graph written by hand: ways to place them are compared, and walks are regenerated from them. */
#include "study/study.h"

#include <string.h>

/* The number of bits that distinguish n things. */
static uint32_t
bits_for(uint32_t n)
{
	return n > 1 ? 32 - (uint32_t)__builtin_clz(n - 1) : 0;
}

static void
weigh(const struct study_trace *t, struct study_witnesses *p)
{
	const struct graph *g = t->f->g;

	for (uint32_t e = 0; e < g->nedge; e++) {
		p->n += p->written[e];
		p->cost += p->written[e] ? t->w[e] * g->edge[e].cost : 0;
	}
}

/* ---- placements ---- */

/* Writes on each edge out of each predicate. */
static void
place_outcomes(struct study_trace *t, struct study_witnesses *p)
{
	const struct graph *g = t->f->g;

	for (uint32_t v = 0; v < g->nvert; v++) {
		uint32_t n = 0;

		if (!witness_is_predicate(g, v))
			continue;
		t->npredicate++;
		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			n += p->written[g->out[i]] = witness_is_real(g, g->out[i]);
		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			t->outcome_bits += p->written[g->out[i]] ? t->w[g->out[i]] * bits_for(n) : 0;
	}
}

/* Places the forest first, then the missing blockers. */
static const char *
place_reversed(const struct study_trace *t, struct study_witnesses *p)
{
	const char *why = witness_place(t->f->g, t->w, NULL, p->written);

	for (uint32_t e = 0; !why && e < t->f->g->nedge; e++)
		if (t->call && t->blocker[e] && !p->written[e] && t->f->g->edge[e].fixed)
			why = "a blocker has no place for a witness";
		else
			p->written[e] |= t->call && t->blocker[e];
	return why;
}

static const char *
place_all(struct study_trace *t)
{
	const struct graph *g = t->f->g;
	struct study_witnesses *p = t->placement;
	const char *why;

	p[STUDY_OUTCOMES].what = "each way out of a predicate";
	p[STUDY_WITNESSES].what = t->call ? "blockers, then the forest" : "the forest";
	p[STUDY_REVERSED].what = "the forest, then blockers";
	p[STUDY_THINNED].what = "only those that are needed";
	for (int i = 0; i < STUDY_PLACEMENTS; i++)
		p[i].written = pool_array(g->pool, g->nedge, sizeof(bool));
	place_outcomes(t, &p[STUDY_OUTCOMES]);
	why = witness_place(g, t->w, t->call, p[STUDY_WITNESSES].written);
	if (!why)
		why = place_reversed(t, &p[STUDY_REVERSED]);
	if (why)
		return why;
	memcpy(p[STUDY_THINNED].written, p[STUDY_WITNESSES].written, g->nedge * sizeof(bool));
	witness_thin(g, t->w, t->call, p[STUDY_THINNED].written);
	return NULL;
}

bool
study_trace(struct study_trace *t, const struct graph_file *f)
{
	const struct graph *g = f->g;
	const char *why;

	*t = (struct study_trace){.f = f, .w = graph_file_weights(f)};
	if (f->has_calls) {
		t->call = pool_array(g->pool, g->nvert, sizeof *t->call);
		for (uint32_t v = 0; v < g->nvert; v++)
			t->call[v] = f->vertex.at[v].call;
		t->blocker = witness_blockers(g, t->call);
	}
	why = place_all(t);
	if (why) {
		say_error(f->path, "%s", why);
		return false;
	}
	for (int i = 0; i < STUDY_PLACEMENTS; i++)
		weigh(t, &t->placement[i]);
	for (int i = STUDY_WITNESSES; i < STUDY_PLACEMENTS; i++)
		t->placement[i].bits = bits_for(witness_values(g, t->placement[i].written, true)->n + !t->call);
	t->values = witness_values(g, t->placement[STUDY_WITNESSES].written, false);
	t->reused = witness_values(g, t->placement[STUDY_WITNESSES].written, true);
	return true;
}

/* ---- walks ---- */

/* The first edge from one vertex to another. */
static uint32_t
edge_between(const struct graph *g, uint32_t from, uint32_t to)
{
	for (uint32_t i = g->out_at[from]; i < g->out_at[from + 1]; i++)
		if (witness_is_real(g, g->out[i]) && g->edge[g->out[i]].to == to)
			return g->out[i];
	return GRAPH_NONE;
}

bool
study_walk(const struct study_trace *t, const struct file_path *walk, struct study_written *out)
{
	const struct graph *g = t->f->g;

	*out = (struct study_written){.value = pool_array(g->pool, walk->n, sizeof *out->value)};
	if (walk->vertex[0] != g->root) {
		error_at(t->f->path, walk->line, "the walk begins at %s, not at the root", graph_name(g, walk->vertex[0]));
		return false;
	}
	for (uint32_t i = 1; i < walk->n; i++) {
		uint32_t e = edge_between(g, walk->vertex[i - 1], walk->vertex[i]);

		if (e == GRAPH_NONE) {
			error_at(t->f->path, walk->line, "there is no edge from %s to %s", graph_name(g, walk->vertex[i - 1]),
			         graph_name(g, walk->vertex[i]));
			return false;
		}
		if (t->reused->value[e] != GRAPH_NONE)
			out->value[out->n++] = t->reused->value[e];
	}
	out->ended = walk->vertex[walk->n - 1] == g->exit;
	return true;
}

struct reader {
	const struct study_written *written;
	uint32_t at;
};

static bool
next_value(void *ctx, uint32_t *value)
{
	struct reader *r = ctx;

	if (r->at == r->written->n) {
		r->at++;
		*value = TRACE_EOF;
		return r->written->ended;
	}
	*value = r->written->value[r->at++];
	return true;
}

uint32_t
study_regenerate(const struct study_trace *t, const struct file_path *walk, const struct study_written *written, bool *ended)
{
	struct trace_procedure p = {.g = t->f->g, .values = t->reused};
	struct reader r = {.written = written};
	struct trace trace;
	uint32_t n = 0;

	trace_begin(&trace, &p, 0, (struct trace_source){.read = next_value, .ctx = &r});
	while (n < walk->n && trace_next(&trace) == TRACE_VERTEX && trace.stack.at[0].vertex == walk->vertex[n])
		n++;
	*ended = n == walk->n && written->ended && trace_next(&trace) == TRACE_END;
	trace_free(&trace);
	return n;
}
