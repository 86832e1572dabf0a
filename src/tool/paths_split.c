/* SPDX-License-Identifier: MIT */
/* chord paths split: deals paths of interest over several builds, each of which counts its part only.
 *
 * What a part costs depends on which edges its paths have, so that paths which share edges had better be in one part
 * (Apiwattanapong & Harrold 2002, section 6, leave open how). The ways tried:
 *
 *   round-robin  each procedure's paths in turn
 *   prefix       each procedure's paths in runs of neighbours in the numbering: they begin alike
 *   greedy       each path to the part whose edges of interest it adds least to, while there is room
 *   procedure    whole procedures, the dearest first, to the part that has the least */
#include "tool/paths_choice.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_PARTS = 256, OPT_BY, OPT_COMPARE };

static const char *const way_name[] = {"round-robin", "prefix", "greedy", "procedure"};
enum way { ROUND_ROBIN, PREFIX, GREEDY, PROCEDURE, WAYS };

struct split_args {
	struct choice_args choice;
	uint32_t parts;
	enum way way;
	bool compare;
};

/* What a part has. */
struct part {
	size_t procs, paths;
	uint64_t probes;         /* beside those where paths end */
	double cost;             /* how often these are executed */
	double load;             /* the same of those dealt so far */
	const struct proc *unfit; /* whose paths cannot be in one build; NULL: there is none */
};

struct split {
	struct choices *c;
	uint32_t nparts;
	uint32_t **part;         /* by procedure and path */
	struct part *of;
	double **w;              /* by procedure: prices of the edges of its DAG */
};

/* ---- what parts cost ---- */

/* As often as they ran or, where that is not known, as they are guessed to. */
static double *
weights(struct pool *pool, const struct paths_proc *p)
{
	const struct dag *d = p->graph->dag;
	double *w = pool_array(pool, d->graph->nedge, sizeof *w);
	double *guess = NULL;

	if (p->counts->why || !p->counts->blocks) {
		struct order *o = order_dfs(d->g);

		guess = weight_heuristic(d->g, o, loops_find(d->g, o));
	}
	for (uint32_t e = 0; e < d->g->nedge; e++)
		w[e] = d->w[e] * (guess ? guess[e] : e < p->proc->narc ? (double)p->counts->arc[e] : 0);
	return w;
}

static void
price(const struct split *s, size_t proc, uint32_t number, struct part *part)
{
	struct pool *pool = pool_new();
	size_t n;
	const struct spp_code *code = choice_code(pool, s->c, proc, s->part[proc], number, s->w[proc], &n);

	part->procs += n != 0;
	part->paths += n;
	part->probes += code ? code->probes->n : 0;
	part->cost += code ? code->probes->cost : 0;
	if (n && !code)
		part->unfit = s->c->report.proc.at[proc].proc;
	pool_free(pool);
}

static void
price_all(struct split *s)
{
	for (uint32_t i = 0; i < s->nparts; i++) {
		s->of[i] = (struct part){.load = s->of[i].load};
		for (size_t k = 0; k < s->c->report.proc.n; k++)
			price(s, k, i, &s->of[i]);
	}
}

/* ---- dealing ---- */

static uint32_t
least_loaded(const struct split *s)
{
	uint32_t best = 0;

	for (uint32_t i = 1; i < s->nparts; i++)
		if (s->of[i].load < s->of[best].load)
			best = i;
	return best;
}

/* Where control goes on a path it may come upon a probe. */
static double
weight_of(const struct split *s, size_t proc, const struct chosen *path)
{
	double sum = 1;

	for (uint32_t i = 0; i < path->n; i++)
		sum += s->w[proc][path->edge[i]];
	return sum;
}

static void
deal_round_robin(struct split *s, size_t proc, uint32_t *next)
{
	for (size_t k = 0; k < s->c->of[proc].path.n; k++)
		s->part[proc][k] = (*next)++ % s->nparts;
}

/* Runs of neighbours, as long as one another but for one; the parts that have least begin. */
static void
deal_prefix(struct split *s, size_t proc)
{
	size_t n = s->c->of[proc].path.n, runs = n < s->nparts ? n : s->nparts;

	for (size_t r = 0; r < runs; r++) {
		uint32_t to = least_loaded(s);

		for (size_t k = n * r / runs; k < n * (r + 1) / runs; k++) {
			s->part[proc][k] = to;
			s->of[to].load += weight_of(s, proc, &s->c->of[proc].path.at[k]);
		}
	}
}

/* What a path adds to the edges that a part has of the procedure. */
static double
added(const struct split *s, size_t proc, const struct chosen *path, const bool *has)
{
	double sum = 0;

	for (uint32_t i = 0; i < path->n; i++)
		sum += has[path->edge[i]] ? 0 : 1 + s->w[proc][path->edge[i]];
	return sum;
}

static void
deal_greedy(struct split *s, size_t proc)
{
	struct pool *pool = pool_new();
	size_t n = s->c->of[proc].path.n, room = (n + s->nparts - 1) / s->nparts;
	uint32_t narc = s->c->report.proc.at[proc].proc->narc;
	size_t *has = pool_array(pool, s->nparts, sizeof *has);
	bool *edges = pool_array(pool, (size_t)narc * s->nparts, sizeof *edges);

	for (size_t k = 0; k < n; k++) {
		const struct chosen *path = &s->c->of[proc].path.at[k];
		uint32_t best = UINT32_MAX;
		double least = 0;

		for (uint32_t i = 0; i < s->nparts; i++) {
			double more = added(s, proc, path, &edges[(size_t)narc * i]);

			if (has[i] < room &&
			    (best == UINT32_MAX || more < least || (more <= least && s->of[i].load < s->of[best].load))) {
				best = i;
				least = more;
			}
		}
		s->part[proc][k] = best;
		s->of[best].load += weight_of(s, proc, path);
		has[best]++;
		for (uint32_t i = 0; i < path->n; i++)
			edges[(size_t)narc * best + path->edge[i]] = true;
	}
	pool_free(pool);
}

struct whole {
	size_t proc;
	double cost;
	bool unfit;
};

static int
dearer(const void *a, const void *b)
{
	const struct whole *x = a, *y = b;

	if (x->cost > y->cost || x->cost < y->cost)
		return x->cost > y->cost ? -1 : 1;
	return (x->proc > y->proc) - (x->proc < y->proc);
}

/* The paths of a procedure that cannot be in one build are dealt. */
static void
deal_procedures(struct split *s)
{
	size_t n = s->c->report.proc.n;
	struct whole *whole = xcalloc(n, sizeof *whole);

	for (size_t i = 0; i < n; i++) {
		struct part part = {0};

		price(s, i, 0, &part); /* all are in part 0 so far */
		whole[i] = (struct whole){i, part.cost + (double)part.paths, part.unfit};
	}
	qsort(whole, n, sizeof *whole, dearer);
	for (size_t i = 0; i < n; i++) {
		uint32_t to = least_loaded(s);

		if (whole[i].unfit) {
			deal_prefix(s, whole[i].proc);
			continue;
		}
		for (size_t k = 0; k < s->c->of[whole[i].proc].path.n; k++)
			s->part[whole[i].proc][k] = to;
		s->of[to].load += whole[i].cost;
	}
	free(whole);
}

static void
deal(struct split *s, enum way way)
{
	uint32_t next = 0;

	memset(s->of, 0, s->nparts * sizeof *s->of);
	for (size_t i = 0; i < s->c->report.proc.n; i++) {
		memset(s->part[i], 0, s->c->of[i].path.n * sizeof **s->part);
		if (way == ROUND_ROBIN)
			deal_round_robin(s, i, &next);
		else if (way == PREFIX)
			deal_prefix(s, i);
		else if (way == GREEDY)
			deal_greedy(s, i);
	}
	if (way == PROCEDURE)
		deal_procedures(s);
}

/* ---- the command ---- */

static const struct argp_option options[] = {
	{"parts", OPT_PARTS, "N", 0, "Over N builds (has to be given)", 1},
	{"by", OPT_BY, "WAY", 0, "How: round-robin, prefix, greedy or procedure (default: procedure)", 1},
	{"compare", OPT_COMPARE, NULL, 0, "Print what each way would cost, and write nothing", 1},
	{0},
};

static const char doc[] =
	"Deal paths of interest over several builds: FILE.1, FILE.2 ... are files for -fchord-paths=.\v"
	"Each path is in one part. Parts are to have few probes, and as many as one another; what the profiles given say of how "
	"often edges run is what probes are taken to cost. `chord paths merge` puts the profiles of the builds together.\n\n"
	"Exit status: 0 done, 1 no such paths, or the program or a profile cannot be used, 2 wrong usage.";

static void
parse_parts(struct split_args *a, const char *text, struct argp_state *state)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !n || n > 10000)
		argp_error(state, "--parts=%s: not a number of parts from 1 to 10000", text);
	a->parts = (uint32_t)n;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct split_args *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &a->choice;
		break;
	case OPT_PARTS:
		parse_parts(a, arg, state);
		break;
	case OPT_BY:
		for (a->way = 0; a->way < WAYS && strcmp(arg, way_name[a->way]);)
			a->way++;
		if (a->way == WAYS)
			argp_error(state, "--by=%s: the ways are round-robin, prefix, greedy and procedure", arg);
		break;
	case OPT_COMPARE:
		a->compare = true;
		break;
	case ARGP_KEY_END:
		if (!a->parts)
			argp_error(state, "over how many builds? Give --parts");
		if (!a->choice.out && !a->compare)
			argp_error(state, "where to? Give -o FILE: parts are FILE.1, FILE.2 ...");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void
print_parts(const struct split *s)
{
	printf("%8s %12s %12s %12s %16s\n", "part", "procedures", "paths", "probes", "probes executed");
	for (uint32_t i = 0; i < s->nparts; i++)
		printf("%8" PRIu32 " %12zu %12zu %12" PRIu64 " %16.0f\n", i + 1, s->of[i].procs, s->of[i].paths, s->of[i].probes,
		       s->of[i].cost);
}

/* Of all parts, and of the one that has the most. */
static void
print_way(const struct split *s, const char *name)
{
	struct part all = {0}, most = {0};
	const struct proc *unfit = NULL;

	for (uint32_t i = 0; i < s->nparts; i++) {
		all.probes += s->of[i].probes;
		all.cost += s->of[i].cost;
		most.probes = s->of[i].probes > most.probes ? s->of[i].probes : most.probes;
		most.cost = s->of[i].cost > most.cost ? s->of[i].cost : most.cost;
		unfit = s->of[i].unfit ? s->of[i].unfit : unfit;
	}
	printf("%-14s %12" PRIu64 " %12" PRIu64 " %18.0f %18.0f", name, all.probes, most.probes, all.cost, most.cost);
	if (unfit)
		printf("  impossible: %s", unfit->name);
	putchar('\n');
}

static void
compare(struct split *s)
{
	uint32_t nparts = s->nparts;

	printf("%-14s %12s %12s %18s %18s\n", "", "probes", "most", "probes executed", "most");
	for (int way = -1; way < WAYS; way++) {
		s->nparts = way < 0 ? 1 : nparts;
		deal(s, way < 0 ? ROUND_ROBIN : (enum way)way);
		price_all(s);
		print_way(s, way < 0 ? "one build" : way_name[way]);
	}
}

/* False: some part cannot be built. */
static bool
check_parts(const struct split *s, const char *program)
{
	for (uint32_t i = 0; i < s->nparts; i++)
		if (s->of[i].unfit) {
			say_error(program, "%s: those of its paths that are in part %" PRIu32 " lead along the edges of too many "
			          "others, so that they cannot be in one build: more parts or fewer paths may do",
			          s->of[i].unfit->name, i + 1);
			return false;
		}
	return true;
}

static bool
write_parts(struct split *s, const char *out)
{
	bool ok = true;

	for (uint32_t i = 0; i < s->nparts && ok; i++) {
		const char *name = pool_printf(s->c->pool, "%s.%" PRIu32, out, i + 1);
		struct buf b = {0};

		choices_write(s->c, s->part, i, &b);
		ok = file_write(name, b.at, b.n);
		if (!ok)
			say_error(name, "%s", strerror(errno));
		buf_free(&b);
	}
	return ok;
}

static void
warn_of_empty(const struct split *s, enum way way)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nparts; i++)
		n += !s->of[i].paths;
	if (n)
		say_warning("chord paths split", "%" PRIu32 " of the parts %s no paths%s", n, n == 1 ? "has" : "have",
		            way == PROCEDURE ? ": procedures are kept whole, unless another --by= is given" : "");
}

static bool
split(struct choices *c, const struct split_args *a)
{
	struct split s = {.c = c, .nparts = a->parts};
	size_t n = c->report.proc.n;

	if (a->parts > c->n) {
		say_error(a->choice.name[0], "%zu %s cannot be dealt over %" PRIu32 " builds", c->n, c->n == 1 ? "path" : "paths",
		          a->parts);
		return false;
	}
	s.part = pool_array(c->pool, n, sizeof *s.part);
	s.w = pool_array(c->pool, n, sizeof *s.w);
	s.of = pool_array(c->pool, s.nparts, sizeof *s.of);
	for (size_t i = 0; i < n; i++) {
		s.part[i] = pool_array(c->pool, c->of[i].path.n, sizeof **s.part);
		s.w[i] = c->of[i].path.n ? weights(c->pool, &c->report.proc.at[i]) : NULL;
	}
	if (a->compare) {
		compare(&s);
		return true;
	}
	deal(&s, a->way);
	price_all(&s);
	if (!check_parts(&s, a->choice.name[0]))
		return false;
	if (!write_parts(&s, a->choice.out))
		return false;
	print_parts(&s);
	warn_of_empty(&s, a->way);
	return true;
}

int
cmd_paths_split(int argc, char **argv)
{
	static const struct argp_child child[] = {{&choice_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {options, parse, "PROGRAM [PROFILE...]", doc, child, NULL, NULL};
	struct split_args a = {.choice.most = CHOICE_MOST, .way = PROCEDURE};
	struct choices c = {0};
	bool ok;

	argv[0] = (char *)(uintptr_t)"chord paths split";
	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		die("memory", "out of memory");
	ok = choices_make(&c, &a.choice) && split(&c, &a);
	choices_close(&c);
	free(a.choice.rule.at);
	return ok ? 0 : EXIT_NO;
}
