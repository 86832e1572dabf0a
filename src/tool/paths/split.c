/* SPDX-License-Identifier: MIT */
/* chord paths split: distributes paths of interest over several builds. */
#include "tool/options.h"
#include "tool/paths/choice_args.h"
#include "tool/paths/paths.h"
#include "tool/print.h"
#include "tool/table.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { OPT_PARTS = 256, OPT_BY, OPT_COMPARE };

struct split_args {
	struct choice_args choice;
	uint32_t parts;
	enum deal_way way;
	bool compare;
};

/* ---- the command ---- */

static const struct argp_option options[] = {
	{"parts", OPT_PARTS, "N", 0, "Over N builds (required)", 1},
	{"by", OPT_BY, "WAY", 0, "How: round-robin, prefix, greedy or procedure (default: procedure)", 1},
	{"compare", OPT_COMPARE, NULL, 0, "Print what each way would cost, and write nothing", 1},
	{0},
};

static const char doc[] =
	"Distribute paths of interest over several builds: FILE.1, FILE.2 ... are files for -fchord-paths=.\v"
	"Each path is in one part. Parts get few probes, and about equally many. How often edges ran in the profiles given says "
	"what probes cost. `chord paths merge` puts the profiles of the builds together.\n\n"
	"Exit status: 0 done, 1 no such paths, or the program or a profile cannot be used, 2 wrong usage.";

static void
parse_parts(struct split_args *a, const char *text, struct argp_state *state)
{
	uint64_t n;

	if (!number_read(text, 1, 10000, &n))
		argp_error(state, "--parts=%s: not a number of parts from 1 to 10000", text);
	a->parts = (uint32_t)n;
}

static error_t
parse_split(int key, char *arg, struct argp_state *state)
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
		for (a->way = 0; a->way < DEAL_WAYS && strcmp(arg, deal_way_name[a->way]);)
			a->way++;
		if (a->way == DEAL_WAYS)
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
print_parts(const struct deal *s)
{
	static const struct column columns[] = {
		{"part", 8, 0}, {"procedures", 12, 0}, {"paths", 12, 0}, {"probes", 12, 0}, {"probes executed", 16, 0},
	};
	struct table t = TABLE(columns);

	table_head(&t);
	for (uint32_t i = 0; i < s->nparts; i++) {
		table_printf(&t, "%" PRIu32, i + 1);
		table_printf(&t, "%zu", s->of[i].procs);
		table_printf(&t, "%zu", s->of[i].paths);
		table_printf(&t, "%" PRIu64, s->of[i].probes);
		table_printf(&t, "%.0f", s->of[i].cost);
		table_end(&t);
	}
}

/* Prints the sum over all parts, and the largest part. */
static void
print_way(const struct deal *s, struct table *t, const char *name)
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
	table_text(t, name);
	table_printf(t, "%" PRIu64, all.probes);
	table_printf(t, "%" PRIu64, most.probes);
	table_printf(t, "%.0f", all.cost);
	table_printf(t, "%.0f", most.cost);
	if (unfit)
		printf("  impossible: %s", plain_name(unfit->name));
	table_end(t);
}

static void
compare(struct deal *s)
{
	static const struct column columns[] = {
		{"", -14, 0}, {"probes", 12, 0}, {"most", 12, 0}, {"probes executed", 18, 0}, {"most", 18, 0},
	};
	struct table t = TABLE(columns);
	uint32_t nparts = s->nparts;

	table_head(&t);
	for (int way = -1; way < DEAL_WAYS; way++) {
		s->nparts = way < 0 ? 1 : nparts;
		deal(s, way < 0 ? DEAL_ROUND_ROBIN : (enum deal_way)way);
		print_way(s, &t, way < 0 ? "one build" : deal_way_name[way]);
	}
}

/* False: some part cannot be built. */
static bool
check_parts(const struct deal *s, const char *program)
{
	for (uint32_t i = 0; i < s->nparts; i++)
		if (s->of[i].unfit) {
			say_error(program, "%s: those of its paths that are in part %" PRIu32 " share edges with too many other "
			          "paths, so that they cannot be in one build: more parts or fewer paths may do",
			          image_readable(s->of[i].unfit->name), i + 1);
			return false;
		}
	return true;
}

static bool
write_parts(struct deal *s, const char *out)
{
	bool ok = true;

	for (uint32_t i = 0; i < s->nparts && ok; i++) {
		const char *name = pool_printf(s->c->pool, "%s.%" PRIu32, out, i + 1);
		struct buf b = {0};

		choices_write(s->c, s->part, i, &b);
		ok = save_output(name, &b);
		buf_free(&b);
	}
	return ok;
}

static void
warn_of_empty(const struct deal *s, enum deal_way way)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->nparts; i++)
		n += !s->of[i].paths;
	if (n)
		say_warning("chord paths split", "%" PRIu32 " of the parts %s no paths%s", n, n == 1 ? "has" : "have",
		            way == DEAL_PROCEDURE ? ": procedures are kept whole, unless another --by= is given" : "");
}

static bool
split_paths(struct choices *c, const struct split_args *a)
{
	struct deal s;

	if (a->parts > c->n) {
		say_error(a->choice.name[0], "%zu %s cannot be distributed over %" PRIu32 " builds", c->n,
		          c->n == 1 ? "path" : "paths", a->parts);
		return false;
	}
	deal_open(&s, c, a->parts);
	if (a->compare) {
		compare(&s);
		return true;
	}
	deal(&s, a->way);
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
	static const struct argp argp = {options, parse_split, "PROGRAM [PROFILE...]", doc, child, NULL, NULL};
	struct split_args a = {.choice.rules.most = CHOICE_MOST, .way = DEAL_PROCEDURE};
	struct choices c = {0};
	bool ok;

	argv[0] = (char *)(uintptr_t)"chord paths split";
	options_read(&argp, argc, argv, 0, &a);
	ok = choices_make(&c, &a.choice.rules, a.choice.name, a.choice.n) && split_paths(&c, &a);
	choices_close(&c);
	free(a.choice.rules.rule.at);
	return ok ? 0 : EXIT_NO;
}
