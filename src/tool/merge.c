/* SPDX-License-Identifier: MIT */
#include "tool/report.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write the sum to FILE (has to be given)", 0},
	{0},
};

static const char doc[] =
	"Sum profiles of one build into one profile.\v"
	"The sum is a profile like any other: it can be reported, and merged again. Profiles belong together if "
	"each has at least one module (the program or a shared object) in common with those before it.\n\n"
	"Exit status: 0 done, 1 a profile cannot be used or the sum cannot be written, 2 wrong usage.";

struct args {
	const char *out;
	char **in;
	int n;
};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'o':
		a->out = arg;
		break;
	case ARGP_KEY_ARGS:
		a->in = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which profiles?");
		break;
	case ARGP_KEY_END:
		if (!a->out)
			argp_error(state, "where to? Give -o FILE");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* What the profiles before it came from. */
struct origin {
	uint64_t pid;
	bool snapshot;
	const char *name;
};
struct origins {
	VEC(struct origin) list;
	bool warned;
};

/* A snapshot has what the whole profile of its process has as well, but the process is only known by its number. */
static void
warn_of_twice(struct origins *seen, const struct profile *p, const char *name)
{
	struct origin new = {p->pid, p->flags & CHORD_PROFILE_SNAPSHOT, name};

	for (size_t i = 0; i < seen->list.n && p->pid && !seen->warned; i++) {
		const struct origin *o = &seen->list.at[i];

		if (o->pid != p->pid || o->snapshot == new.snapshot)
			continue;
		seen->warned = true;
		say_warning(new.snapshot ? name : o->name, "a snapshot of process %" PRIu64 ", as %s is of: if it is the "
		            "same process, it is summed twice", p->pid, new.snapshot ? o->name : name);
	}
	VEC_PUSH(seen->list, new);
}

static bool
related(const struct profile *sum, const struct profile *p)
{
	for (size_t i = 0; i < p->module.n; i++)
		if (profile_module(sum, (struct str){(const char *)p->module.at[i].id, p->module.at[i].nid}))
			return true;
	return !sum->nsummed;
}

static bool
add_one(struct pool *pool, struct profile *sum, const char *name, struct origins *seen)
{
	struct profile *p = load_profile(pool, name);
	const char *why = NULL;

	if (!p)
		return false;
	if (!related(sum, p))
		why = "of another build than the profiles before it";
	else
		profile_add(sum, p, pool, &why);
	if (why)
		say_error(name, "%s", why);
	else
		warn_of_twice(seen, p, name);
	profile_free(p);
	return !why;
}

static bool
add_all(struct pool *pool, struct profile *sum, const struct args *a)
{
	struct origins seen = {0};
	bool ok = true;

	for (int i = 0; i < a->n && ok; i++) {
		progress("merging", (uint64_t)i, (uint64_t)a->n);
		ok = add_one(pool, sum, a->in[i], &seen);
	}
	progress("merging", (uint64_t)a->n, (uint64_t)a->n);
	free(seen.list.at);
	return ok;
}

int
cmd_merge(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "-o FILE PROFILE...", doc, NULL, NULL, NULL};
	struct args a = {0};
	struct pool *pool = pool_new();
	struct profile *sum = profile_new();
	struct buf out = {0};
	int status = EXIT_NO;

	if (argp_parse(&argp, argc, argv, 0, NULL, &a))
		die("memory", "out of memory");
	if (add_all(pool, sum, &a)) {
		profile_write(sum, &out);
		if (file_write(a.out, out.at, out.n))
			status = 0;
		else
			say_error(a.out, "%s", strerror(errno));
	}
	buf_free(&out);
	profile_free(sum);
	pool_free(pool);
	return status;
}
