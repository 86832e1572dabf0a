/* SPDX-License-Identifier: MIT */
/* studies PROGRAM [SETS [FOLDER]]: the studies of Apiwattanapong & Harrold (2002, section 4) on the procedures of a program
 * that was built with -fchord=paths: how many probes tell one path, or 2 to 5 paths, from all others, relative to the number
 * of probes for all paths. It prints a table, and writes a line for each procedure to FOLDER/studies.tsv (bench/studies.sh
 * plots it).
 *
 * Probes are edges of the DAG with a value other than 0, as the paper counts them. The dummy edges are included; they lead
 * from root to the beginnings of paths, and from the ends of paths to EXIT. Edges that never run are left out, and so are
 * procedures with one path. Each procedure has as many different sets as SETS says (100), drawn at random without replacement,
 * or all sets if it has no more. A set is in all columns or in none.
 *
 * all      Ball and Larus' values for all paths; as a price, after they were moved to the chords of a spanning tree
 * printed  Fig. 4 of the paper. A set collides if one of its paths has the sum of another path. The program searches for such
 *          paths, and the set is open where the search takes too long
 * sound    spp_place()
 * woven    spp_weave() without early records: edges whose code changes the register, or adds to it to record a path
 *
 * Prices are the weights by which the weaver guesses. printed, sound and all have prices on dummy edges, too. woven is placed
 * as it is in programs, where the code that records is there anyhow. */
#include "graph/graph.h"
#include "run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SIZES = 5, TRIES = 20000 };
enum series { PRINTED, SOUND, WOVEN, SERIES };

static uint64_t nset = 100;

struct cost {
	uint64_t n;              /* probes */
	double price;
};

/* What was found for sets of one size, over all sets. */
struct outcome {
	uint64_t sets, failed, collide, open;
	struct cost of[SERIES];
	double records;          /* that are executed, woven */
};

struct subject {
	const char *name;
	uint64_t npath;
	struct cost all;
	double records;          /* one for each path that ends */
	double shape;            /* paths / 2^probes: 1 is a chain of branches, less is more like a tree */
	struct outcome of[SIZES + 1];
};

/* A procedure's DAG, in two ways. */
struct pair {
	struct dag *dag;         /* dummy edges have prices, too */
	double *woven;           /* prices as the weaver has them */
	double *price;           /* by edge of the DAG */
	struct paths *paths;
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

/* ---- sums that collide ---- */

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

/* ---- what probes cost ---- */

static bool
may_run(const struct dag *d, uint32_t e)
{
	return e != d->close && !d->graph->edge[e].phantom;
}

static void
count(const struct pair *p, uint32_t e, struct cost *c)
{
	c->n++;
	c->price += p->price[e];
}

static struct cost
cost_of_values(const struct pair *p, const int64_t *val)
{
	struct cost c = {0};

	for (uint32_t e = 0; e < p->dag->graph->nedge; e++)
		if (may_run(p->dag, e) && val[e])
			count(p, e, &c);
	return c;
}

/* What the register has to be set to where a path begins differs from what it is set to at root by the value of the dummy edge. */
static struct cost
cost_of_probes(const struct pair *p, const struct probes *probes)
{
	const struct graph *g = p->dag->graph;
	struct cost c = {0};

	for (uint32_t e = 0; e < g->nedge; e++)
		if (may_run(p->dag, e) && (e < p->dag->g->nedge ? probes->add[e] :
		                           probes->start[g->edge[e].to] - probes->start[g->root]))
			count(p, e, &c);
	return c;
}

static struct cost
cost_of_code(const struct pair *p, const struct spp_code *code)
{
	const struct graph *g = p->dag->graph;
	const struct probes *probes = code->probes;
	int64_t first = probes->known[g->root] ? 0 : probes->start[g->root];
	struct cost c = {0};

	for (uint32_t e = 0; e < g->nedge; e++) {
		const struct path_act *a = e < p->dag->g->nedge ? &code->act[e] : NULL;
		uint32_t to = g->edge[e].to;

		if (!may_run(p->dag, e))
			continue;
		if (!a ? !probes->known[to] && probes->start[to] != first :
		    (a->record == PATH_RECORD_HELD && a->sum) ||
		    (!p->dag->cut[e] && (a->next == PATH_SET || (a->next == PATH_ADD && a->n))))
			count(p, e, &c);
	}
	return c;
}

/* code: NULL: all ends of paths. */
static double
records(const struct pair *p, const struct spp_code *code)
{
	double price = 0;

	for (uint32_t e = 0; e < p->dag->g->nedge; e++)
		if (may_run(p->dag, e) && (code ? code->act[e].record : p->dag->graph->edge[e].to == p->dag->g->exit))
			price += p->price[e];
	return price;
}

/* ---- one set ---- */

static void
add_cost(struct cost *to, struct cost more)
{
	to->n += more.n;
	to->price += more.price;
}

static void
study_set(const struct pair *whole, const struct set *set, struct outcome *f)
{
	struct pool *pool = pool_new();
	struct dag d = *whole->dag, woven;
	struct graph dag = *d.graph, g = *d.g;
	bool *ei = pool_array(pool, dag.nedge, sizeof *ei);
	struct spp_code *code;
	struct spp *sound;
	int64_t *val;
	const char *why;

	dag.pool = g.pool = pool;
	d.graph = &dag;
	d.g = &g;
	woven = d;
	woven.w = whole->woven;
	for (uint32_t i = 0; i < set->n; i++)
		if (!spp_add(&d, ei, set->path[i].begin, set->path[i].edge, set->path[i].n))
			bug("a path that is none");
	val = spp_printed(&d, ei, SPP_PHASE2 | SPP_PHASE3);
	sound = spp_place(&d, ei, false, &why);
	code = spp_weave(&woven, ei, NULL, &why);
	if (val && sound && code) {
		f->sets++;
		add_cost(&f->of[PRINTED], cost_of_values(whole, val));
		add_cost(&f->of[SOUND], cost_of_probes(whole, sound->probes));
		add_cost(&f->of[WOVEN], cost_of_code(whole, code));
		f->records += records(whole, code);
		find_collisions(pool, &d, val, set, f);
	} else {
		f->failed++;
	}
	pool_free(pool);
}

/* ---- different sets ---- */

/* Sets of `size` of n numbers, each ascending. */
struct sets {
	uint64_t n, (*number)[SIZES];
	uint32_t size;
};

/* How many there are, or any number above `most`. */
static uint64_t
choose(uint64_t n, uint32_t size, uint64_t most)
{
	uint64_t c = 1;

	for (uint32_t i = 0; i < size; i++) {
		if (__builtin_mul_overflow(c, n - i, &c))
			return UINT64_MAX;
		c /= i + 1; /* a product of i + 1 numbers in a row */
		if (c > most && n - i > size)
			return most + 1;
	}
	return c;
}

/* The next one in order. */
static bool
next_set(uint64_t *number, uint32_t size, uint64_t n)
{
	for (uint32_t i = size; i-- > 0;) {
		if (number[i] + (size - i) >= n)
			continue;
		number[i]++;
		for (uint32_t k = i + 1; k < size; k++)
			number[k] = number[k - 1] + 1;
		return true;
	}
	return false;
}

/* Of `size` different numbers below n, in order. */
static void
random_set(uint64_t *number, uint32_t size, uint64_t n)
{
	for (uint32_t i = 0; i < size; i++) {
		uint64_t x = rnd(n - i);
		uint32_t at = 0;

		/* x is the number in order among those that are not taken. */
		for (; at < i && number[at] <= x; at++)
			x++;
		memmove(&number[at + 1], &number[at], (i - at) * sizeof *number);
		number[at] = x;
	}
}

static bool
has_set(const struct sets *s, const uint64_t *number)
{
	for (uint64_t i = 0; i < s->n; i++)
		if (!memcmp(s->number[i], number, s->size * sizeof *number))
			return true;
	return false;
}

static void
draw_sets(struct sets *s, uint64_t n)
{
	uint64_t number[SIZES];

	s->n = 0;
	if (choose(n, s->size, nset) <= nset) {
		for (uint32_t i = 0; i < s->size; i++)
			number[i] = i;
		do
			memcpy(s->number[s->n++], number, sizeof number);
		while (next_set(number, s->size, n));
		return;
	}
	while (s->n < nset) {
		random_set(number, s->size, n);
		if (!has_set(s, number))
			memcpy(s->number[s->n++], number, sizeof number);
	}
}

/* ---- one procedure ---- */

/* Sets of all its paths are not studied. */
static void
study_size(const struct pair *p, uint32_t size, struct sets *sets, struct set *set, struct outcome *f)
{
	if (p->paths->n <= size)
		return;
	sets->size = set->n = size;
	draw_sets(sets, p->paths->n);
	for (uint64_t k = 0; k < sets->n; k++) {
		for (uint32_t i = 0; i < size; i++)
			set->path[i].begin = paths_edges(p->paths, sets->number[k][i], set->path[i].edge, &set->path[i].n);
		study_set(p, set, f);
	}
}

/* From which vertices does a path go on to its end? */
static bool *
find_alive(const struct dag *d)
{
	const struct graph *g = d->graph;
	bool *alive = pool_array(g->pool, g->nvert, sizeof *alive);

	for (uint32_t k = 0; k < g->nvert; k++) {
		uint32_t v = d->up[k];

		alive[v] = v == g->exit;
		for (uint32_t i = g->out_at[v]; i < g->out_at[v + 1]; i++)
			alive[v] |= may_run(d, g->out[i]) && alive[g->edge[g->out[i]].to];
	}
	return alive;
}

/* The graph of a procedure without the vertices from which no path comes to an end. *cut: its
 * edges to be cut. */
static struct graph *
without_dead_ends(struct pool *pool, const struct dag *d, bool **cut)
{
	const struct graph *g = d->g;
	const bool *alive = find_alive(d);
	uint32_t *number = pool_array(pool, g->nvert, sizeof *number), n = 0;
	struct graph *h;

	*cut = pool_array(pool, g->nedge + 3 * (size_t)g->nvert + 1, sizeof **cut);
	for (uint32_t v = 0; v < g->nvert; v++)
		number[v] = alive[v] || v == g->root ? n++ : GRAPH_NONE;
	h = graph_new(pool, n, number[g->root], number[g->exit]);
	for (uint32_t e = 0; e < g->nedge; e++) {
		uint32_t from = number[g->edge[e].from], to = number[g->edge[e].to];

		if (e == g->close || g->edge[e].phantom || from == GRAPH_NONE || to == GRAPH_NONE)
			continue;
		(*cut)[h->nedge] = d->cut[e];
		graph_edge(h, from, to);
		h->edge[h->nedge - 1].fixed = g->edge[e].fixed;
	}
	graph_close(h);
	graph_complete(h);
	return h;
}

/* False: no numbers for its paths. */
static bool
build(struct pool *pool, const struct dag *of, struct pair *p)
{
	bool *cut;
	struct graph *g = without_dead_ends(pool, of, &cut);
	struct order *o = order_dfs(g);
	double *guess = weight_heuristic(g, o, loops_find(g, o));
	const char *why;

	p->dag = dag_new(g, dag_order(g, cut), guess, cut, 0, &why);
	if (!p->dag)
		return false;
	p->woven = p->dag->w;
	p->price = pool_array(pool, p->dag->graph->nedge, sizeof *p->price);
	for (uint32_t e = 0; e < g->nedge; e++) {
		p->price[e] = guess[e];
		if (p->dag->cut[e] && p->dag->begin[g->edge[e].to] != GRAPH_NONE)
			p->price[p->dag->begin[g->edge[e].to]] += guess[e];
	}
	p->dag->w = p->price;
	p->paths = paths_number(p->dag, &why);
	return p->paths;
}

/* False: it has one path, or too many to number. */
static bool
study(const struct proc *proc, struct subject *s)
{
	struct pool *pool = pool_new();
	const char *why;
	struct path_graph *pg = path_graph_new(pool, proc, &why);
	struct sets sets = {.number = xcalloc(nset, sizeof *sets.number)};
	struct set set = {0};
	struct pair p;
	bool many;

	many = pg && build(pool, pg->dag, &p) && p.paths->n > 1;
	if (many) {
		*s = (struct subject){.name = proc->name, .npath = p.paths->n, .all = cost_of_values(&p, p.paths->val)};
		s->all.price = cost_of_probes(&p, p.paths->probes).price;
		s->records = records(&p, NULL);
		s->shape = (double)s->npath / (s->all.n < 1000 ? __builtin_powi(2, (int)s->all.n) : 1e300);
		many = s->all.n;
	}
	for (uint32_t i = 0; i < SIZES && many; i++)
		set.path[i].edge = pool_array(pool, p.dag->g->nvert, sizeof(uint32_t));
	for (uint32_t size = 1; size <= SIZES && many; size++)
		study_size(&p, size, &sets, &set, &s->of[size]);
	free(sets.number);
	pool_free(pool);
	return many;
}

/* ---- tables ---- */

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
ratio(const struct subject *s, uint32_t size, enum series of)
{
	const struct outcome *f = &s->of[size];

	return (double)f->of[of].n / (double)f->sets / (double)s->all.n;
}

static int
by_number(const void *a, const void *b)
{
	const double *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void
print_quartiles(const subjects *all, uint32_t size, enum series of)
{
	double *at = xcalloc(all->n + 1, sizeof *at);
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].of[size].sets)
			at[n++] = ratio(&all->at[i], size, of);
	qsort(at, n, sizeof *at, by_number);
	for (size_t q = 1; q <= 3; q++)
		printf(" %.2f", n ? at[q * (n - 1) / 4] : 0);
	printf(" |");
	free(at);
}

static void
print_size(const subjects *all, uint32_t size)
{
	struct outcome f = {0};
	struct cost base = {0};
	uint64_t procs = 0, probes = 0;
	double ends = 0;

	for (size_t i = 0; i < all->n; i++) {
		const struct outcome *one = &all->at[i].of[size];

		procs += one->sets != 0;
		f.sets += one->sets;
		f.failed += one->failed;
		f.collide += one->collide;
		f.open += one->open;
		f.records += one->records;
		ends += all->at[i].records * (double)one->sets;
		for (int k = 0; k < SERIES; k++)
			add_cost(&f.of[k], one->of[k]);
		probes += all->at[i].all.n * one->sets;
		base.price += all->at[i].all.price * (double)one->sets;
	}
	if (!f.sets)
		return;
	printf("| %u | %lu | %lu |", size, procs, f.sets);
	for (int k = 0; k < SERIES; k++)
		print_quartiles(all, size, (enum series)k);
	printf(" %.3f %.3f %.3f | %.3f %.3f %.3f | %.3f | %.1f %% |", (double)f.of[PRINTED].n / (double)probes,
	       (double)f.of[SOUND].n / (double)probes, (double)f.of[WOVEN].n / (double)probes, f.of[PRINTED].price / base.price,
	       f.of[SOUND].price / base.price, f.of[WOVEN].price / base.price, f.records / ends,
	       100.0 * (double)f.collide / (double)f.sets);
	if (f.open)
		printf(" %lu sets open", f.open);
	if (f.failed)
		printf(" %lu sets whose sums do not fit left out", f.failed);
	printf("\n");
}

static void
print_table(const subjects *all)
{
	printf("| paths | procedures | sets | printed, quartiles | sound | woven | all probes: printed sound woven | "
	       "executed: printed sound woven | records executed: woven | printed collides |\n"
	       "|---|---|---|---|---|---|---|---|---|---|\n");
	for (uint32_t size = 1; size <= SIZES; size++)
		print_size(all, size);
}

/* A line for each procedure; ratios as printed, sound and woven for one path, for two, and so on; NaN: it is not studied. */
static void
write_lines(const subjects *all, const char *folder)
{
	char path[4096];
	FILE *to;

	snprintf(path, sizeof path, "%s/studies.tsv", folder);
	to = fopen(path, "we");
	if (!to)
		die(path, "%s", strerror(errno));
	fprintf(to, "number\tprocedure\tpaths\tall");
	for (uint32_t size = 1; size <= SIZES; size++)
		fprintf(to, "\tprinted%u\tsound%u\twoven%u", size, size, size);
	for (size_t i = 0; i < all->n; i++) {
		const struct subject *s = &all->at[i];

		fprintf(to, "\n%zu\t%s\t%lu\t%lu", i + 1, s->name, s->npath, s->all.n);
		for (uint32_t size = 1; size <= SIZES; size++)
			for (int k = 0; k < SERIES; k++) {
				if (s->of[size].sets)
					fprintf(to, "\t%.4f", ratio(s, size, (enum series)k));
				else
					fprintf(to, "\tNaN");
			}
	}
	fprintf(to, "\n");
	if (fclose(to))
		die(path, "%s", strerror(errno));
}

int
main(int argc, char **argv)
{
	struct pool *pool = pool_new();
	struct binary bin;
	subjects all = {0};
	uint64_t left = 0;
	const char *why;

	if (argc < 2)
		die("usage", "studies PROGRAM [SETS [FOLDER]]");
	if (argc > 2)
		nset = strtoull(argv[2], NULL, 10);
	if (!nset || nset > 100000)
		die(argv[2], "sets of each procedure: 1 to 100000");
	if (!binary_open(pool, argv[1], &bin, &why))
		die(argv[1], "%s", why);
	for (uint32_t i = 0; i < bin.map.nproc; i++) {
		struct subject s = {0};

		progress("studying", i, bin.map.nproc);
		if (!bin.map.proc[i].paths)
			continue;
		if (study(&bin.map.proc[i], &s))
			VEC_PUSH(all, s);
		else
			left++;
	}
	qsort(all.at, all.n, sizeof *all.at, by_shape);
	printf("%zu procedures with more than one path; %lu with one, or too many to be numbered\n\n", all.n, left);
	print_table(&all);
	if (argc > 3)
		write_lines(&all, argv[3]);
	return 0;
}
