/* SPDX-License-Identifier: MIT */
/* studies PROGRAM [FOLDER [SETS]]: the studies of Apiwattanapong & Harrold (2002, section 4) on the procedures of a program
 * that was built with -fchord=paths: how many probes it takes to tell one path, or 2 to 5, from all others, relative to the
 * number for all paths; by the algorithm as printed and by the sound one. Prints tables; writes fig6.svg and fig7.svg to
 * FOLDER.
 *
 * For one path: all paths of a procedure, or SETS (100) at random if it has more. For 2 to 5: so many sets at random. Probes are
 * counted as in struct probes: not those where paths begin and end, since there something is to be done anyhow. A set
 * collides if the values as printed give a path of it the sum of another path; that is searched for, and where the search
 * takes too long the set counts as one that does not. */
#include "graph/graph.h"
#include "run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 5, TRIES = 20000 };

static uint64_t nset = 100;

/* What was found for sets of one size, over all sets. */
struct outcome {
	uint64_t sets, collide, open;
	uint64_t printed, sound; /* probes */
	double printed_cost, sound_cost;
};

struct subject {
	const char *name;
	uint64_t npath;
	uint32_t all;            /* probes for all paths */
	double all_cost;
	double shape;            /* paths / 2^probes: 1 is a chain of branches, less is more like a tree */
	struct outcome of[SIZES + 1];
};

static uint64_t state = 88172645463325252u;

static uint64_t
rnd(uint64_t n)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % n;
}

/* ---- one set ---- */

struct set {
	uint32_t n;
	struct { uint32_t begin, n, *edge; } path[SIZES];
};

struct search {
	const struct dag *d;
	const int64_t *val;
	int64_t *low, *high;
	uint32_t tries, found;
};

static void
reach(struct search *s)
{
	const struct graph *g = s->d->graph;

	for (uint32_t k = 0; k < g->nvert; k++) {
		uint32_t v = s->d->up[k];
		bool any = v == g->exit;

		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++) {
			uint32_t e = g->out[i], to = g->edge[e].to;

			if (e == s->d->close)
				continue;
			s->low[v] = !any || s->val[e] + s->low[to] < s->low[v] ? s->val[e] + s->low[to] : s->low[v];
			s->high[v] = !any || s->val[e] + s->high[to] > s->high[v] ? s->val[e] + s->high[to] : s->high[v];
			any = true;
		}
	}
}

/* Counts ways on with the rest of a sum, up to two. */
static void
look(struct search *s, uint32_t v, int64_t rest)
{
	const struct graph *g = s->d->graph;

	if (v == g->exit) {
		s->found += rest == 0;
		return;
	}
	for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1] && s->found < 2 && s->tries < TRIES; i++) {
		uint32_t e = g->out[i], to = g->edge[e].to;
		int64_t left = rest - s->val[e];

		s->tries++;
		if (e != s->d->close && left >= s->low[to] && left <= s->high[to])
			look(s, to, left);
	}
}

static void
find_collisions(struct pool *pool, const struct dag *d, const int64_t *val, const struct set *set, struct outcome *f)
{
	struct search s = {.d = d, .val = val};
	bool collides = false, open = false;

	s.low = pool_array(pool, d->g->nvert, sizeof *s.low);
	s.high = pool_array(pool, d->g->nvert, sizeof *s.high);
	reach(&s);
	for (uint32_t i = 0; i < set->n && !collides; i++) {
		s.tries = s.found = 0;
		look(&s, d->g->root, dag_sum(d, val, set->path[i].begin, set->path[i].edge, set->path[i].n));
		collides |= s.found > 1;
		open |= s.found < 2 && s.tries >= TRIES;
	}
	f->collide += collides;
	f->open += open && !collides;
}

static void
study_set(const struct dag *whole, const struct set *set, struct outcome *f)
{
	struct pool *pool = pool_new();
	struct dag d = *whole;
	struct graph dag = *d.graph, g = *d.g;
	bool *ei = pool_array(pool, dag.nedge, sizeof *ei);
	int64_t *val, *zero = pool_array(pool, g.nvert, sizeof *zero);
	struct probes *printed;
	struct spp *sound;
	const char *why;

	dag.pool = g.pool = pool;
	d.graph = &dag;
	d.g = &g;
	for (uint32_t i = 0; i < set->n; i++)
		if (!spp_add(&d, ei, set->path[i].begin, set->path[i].edge, set->path[i].n))
			bug("a path that is none");
	val = spp_printed(&d, ei, SPP_PHASE2 | SPP_PHASE3);
	printed = val ? dag_probes(&d, val, zero) : NULL;
	sound = spp_place(&d, ei, false, &why);
	if (printed && sound) {
		f->sets++;
		f->printed += printed->n;
		f->printed_cost += printed->cost;
		f->sound += sound->probes->n;
		f->sound_cost += sound->probes->cost;
		find_collisions(pool, &d, val, set, f);
	}
	pool_free(pool);
}

/* ---- one procedure ---- */

static void
take(const struct paths *p, struct set *set, uint32_t i, uint64_t number)
{
	set->path[i].begin = paths_edges(p, number, set->path[i].edge, &set->path[i].n);
}

static void
study_size(const struct paths *p, uint32_t size, struct set *set, struct outcome *f)
{
	uint64_t n = size == 1 && p->n <= nset ? p->n : nset, number[SIZES];

	if (p->n <= size && size > 1)
		return;
	set->n = size;
	for (uint64_t k = 0; k < n; k++) {
		for (uint32_t i = 0; i < size; i++) {
			number[i] = n == p->n && size == 1 ? k : rnd(p->n);
			for (uint32_t j = 0; j < i; j++)
				if (number[j] == number[i]) {
					i--;
					break;
				}
		}
		for (uint32_t i = 0; i < size; i++)
			take(p, set, i, number[i]);
		study_set(p->dag, set, f);
	}
}

/* False: it has one path, or too many to number. */
static bool
study(const struct proc *proc, struct subject *s)
{
	struct pool *pool = pool_new();
	const char *why;
	struct path_graph *pg = path_graph_new(pool, proc, &why);
	struct dag d = *pg->dag;
	struct order *o = order_dfs(d.g);
	double *guess = weight_heuristic(d.g, o, loops_find(d.g, o)), *w = pool_array(pool, d.graph->nedge, sizeof *w);
	struct paths *p;
	struct set set = {0};

	for (uint32_t e = 0; e < d.g->nedge; e++)
		w[e] = d.w[e] * guess[e];
	d.w = w;
	p = paths_number(&d, &why);
	if (p && p->n > 1) {
		*s = (struct subject){.name = proc->name, .npath = p->n, .all = p->probes->n, .all_cost = p->probes->cost};
		s->shape = (double)p->n / (p->probes->n < 1000 ? __builtin_powi(2, (int)p->probes->n) : 1e300);
		for (uint32_t i = 0; i < SIZES; i++)
			set.path[i].edge = pool_array(pool, d.g->nvert, sizeof(uint32_t));
		for (uint32_t size = 1; size <= SIZES; size++)
			study_size(p, size, &set, &s->of[size]);
	}
	pool_free(pool);
	return p && s->npath > 1;
}

/* ---- tables and figures ---- */

typedef VEC(struct subject) subjects;

static int
by_shape(const void *a, const void *b)
{
	const struct subject *x = a, *y = b;

	if (x->shape < y->shape || x->shape > y->shape)
		return x->shape < y->shape ? -1 : 1;
	return strcmp(x->name, y->name);
}

static double
ratio(const struct subject *s, uint32_t size, bool printed)
{
	const struct outcome *f = &s->of[size];

	return (double)(printed ? f->printed : f->sound) / (double)f->sets / s->all;
}

static bool
counts(const struct subject *s, uint32_t size)
{
	return s->all && s->of[size].sets;
}

static int
by_number(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static double
quantile(const subjects *all, uint32_t size, bool printed, double q)
{
	double *at = xcalloc(all->n + 1, sizeof *at), found;
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (counts(&all->at[i], size))
			at[n++] = ratio(&all->at[i], size, printed);
	qsort(at, n, sizeof *at, by_number);
	found = n ? at[(size_t)(q * (double)(n - 1))] : 0;
	free(at);
	return found;
}

static void
print_size(const subjects *all, uint32_t size)
{
	struct outcome f = {0};
	uint64_t procs = 0;
	double probes = 0, cost = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct outcome *one = &all->at[i].of[size];

		if (!one->sets)
			continue;
		procs++;
		f.sets += one->sets;
		f.collide += one->collide;
		f.open += one->open;
		f.printed += one->printed;
		f.sound += one->sound;
		f.printed_cost += one->printed_cost;
		f.sound_cost += one->sound_cost;
		probes += (double)all->at[i].all * (double)one->sets;
		cost += all->at[i].all_cost * (double)one->sets;
	}
	printf("| %u | %lu | %lu | %.2f %.2f %.2f | %.2f %.2f %.2f | %.3f | %.3f | %.3f | %.3f | %.1f %% (%lu open) |\n",
	       size, procs, f.sets, quantile(all, size, true, 0.25),
	       quantile(all, size, true, 0.5), quantile(all, size, true, 0.75),
	       quantile(all, size, false, 0.25), quantile(all, size, false, 0.5), quantile(all, size, false, 0.75),
	       (double)f.printed / probes, (double)f.sound / probes, f.printed_cost / cost, f.sound_cost / cost,
	       100.0 * (double)f.collide / (double)f.sets, f.open);
}

static void
print_table(const subjects *all)
{
	printf("| paths | procedures | sets | printed, quartiles | sound, quartiles | printed, all | sound, all | "
	       "printed, executed | sound, executed | printed collides |\n|---|---|---|---|---|---|---|---|---|---|\n");
	for (uint32_t size = 1; size <= SIZES; size++)
		print_size(all, size);
}

enum { WIDE = 800, HIGH = 360, EDGE = 40 };

/* Dots of a colour, as one line with nothing between them. */
static void
draw_points(FILE *to, const subjects *all, uint32_t size, bool printed, const char *colour)
{
	fprintf(to, "<path stroke=\"%s\" stroke-width=\"3\" stroke-linecap=\"round\" fill=\"none\" d=\"", colour);
	for (size_t i = 0; i < all->n; i++) {
		double y;

		if (!counts(&all->at[i], size))
			continue;
		y = ratio(&all->at[i], size, printed);
		fprintf(to, "M%.1f %.0fh0", EDGE + (double)i * (WIDE - 2 * EDGE) / (double)all->n,
		        HIGH - EDGE - (y > 1.5 ? 1.5 : y) * (HIGH - 2 * EDGE) / 1.5);
	}
	fprintf(to, "\"/>\n");
}

static FILE *
begin_figure(const char *folder, const char *name, const char *title)
{
	char path[4096];
	FILE *to;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	to = fopen(path, "we");
	if (!to)
		die(path, "%s", strerror(errno));
	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
	        "font-size=\"11\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
	        "<text x=\"%d\" y=\"16\">%s</text>\n", WIDE, HIGH, EDGE, title);
	for (int i = 0; i <= 3; i++) {
		double y = HIGH - EDGE - i * (HIGH - 2 * EDGE) / 3.0;

		fprintf(to, "<line x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\" stroke=\"#ccc\"/>"
		        "<text x=\"8\" y=\"%.1f\">%.1f</text>\n", EDGE, WIDE - EDGE, y, y, y + 4, i * 0.5);
	}
	fprintf(to, "<text x=\"%d\" y=\"%d\">procedures, by paths / 2^(probes for all): trees on the left, chains on the "
	        "right</text>\n", EDGE, HIGH - 12);
	return to;
}

static void
draw(const subjects *all, const char *folder)
{
	static const char *const shade[] = {"", "", "#9ecae1", "#6baed6", "#3182bd",
		"#08519c"};
	FILE *to = begin_figure(folder, "fig6.svg",
		"probes for one path / probes for all: printed (red), sound (blue); more than 1.5 at 1.5");

	draw_points(to, all, 1, true, "#d62728");
	draw_points(to, all, 1, false, "#1f77b4");
	fprintf(to, "</svg>\n");
	fclose(to);
	to = begin_figure(folder, "fig7.svg", "probes for 2 to 5 paths / probes for all, sound: the more paths the darker");
	for (uint32_t size = 2; size <= SIZES; size++)
		draw_points(to, all, size, false, shade[size]);
	fprintf(to, "</svg>\n");
	fclose(to);
}

int
main(int argc, char **argv)
{
	struct pool *pool = pool_new();
	struct binary bin;
	subjects all = {0};
	uint64_t one = 0, many = 0;
	const char *why;

	if (argc < 2)
		die("usage", "studies PROGRAM [FOLDER [SETS]]");
	if (argc > 3)
		nset = strtoull(argv[3], NULL, 10);
	if (!binary_open(pool, argv[1], &bin, &why))
		die(argv[1], "%s", why);
	for (uint32_t i = 0; i < bin.map.nproc; i++) {
		struct subject s = {0};

		progress("studying", i, bin.map.nproc);
		if (!bin.map.proc[i].paths)
			continue;
		if (study(&bin.map.proc[i], &s))
			VEC_PUSH(all, s);
		else if (s.npath)
			one++;
		else
			many++;
	}
	qsort(all.at, all.n, sizeof *all.at, by_shape);
	printf("%zu procedures with more than one path; %lu with one, or too many to be numbered\n\n", all.n, one + many);
	print_table(&all);
	if (argc > 2)
		draw(&all, argv[2]);
	return 0;
}
