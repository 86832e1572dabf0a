/* SPDX-License-Identifier: MIT */
/* chord merge: the sum of profiles, as a file. */
#include "tool/options.h"
#include "tool/print.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write the sum to FILE (has to be given)", 0},
	{0},
};

static const char doc[] =
	"Sum profiles of one build into one profile.\v"
	"The sum is a profile like any other: it can be reported, and merged again. Profiles belong together if "
	"each has at least one module (the program or a shared object) in common with those before it. A folder stands for all "
	"profiles in it, one that a run's first process left for those of its other processes, too. What is in the sum already "
	"is not added again, and that is said.\n\n"
	"Exit status: 0 done, 1 a profile cannot be used or the sum cannot be written (there is none then), 2 wrong usage.";

struct args {
	const char *out;
	char **in;
	int n;
};

static error_t
parse_merge(int key, char *arg, struct argp_state *state)
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

/* A snapshot has what the whole profile of its process has as well. Once is enough. */
static void
warn_of_twice(const struct profile *sum, const struct profile *p, const char *name, bool *warned)
{
	const struct chord_origin *o = profile_snapshot_of(sum, p);

	if (!o || *warned)
		return;
	*warned = true;
	say_warning(name, "the sum has a snapshot and the whole profile of process %" PRIu64 ": what is in the snapshot is "
	            "summed twice", o->pid);
}

static bool
related(const struct profile *sum, const struct profile *p)
{
	for (size_t i = 0; i < p->module.n; i++)
		if (profile_module(sum, (struct str){(const char *)p->module.at[i].id, p->module.at[i].nid}))
			return true;
	return !sum->nsummed;
}

struct merging {
	struct pool *pool;
	struct profile *sum;
	bool warned;             /* of a snapshot */
	bool spoilt;             /* a profile is damaged, or does not belong to the others: there is no sum */
};

static void
add_profile(struct merging *m, const char *name, const struct profile *p)
{
	enum profile_overlap overlap = profile_overlap(m->sum, p);
	const char *why = NULL;

	if (overlap == PROFILE_INSIDE) {
		say_warning(name, "what it has is in the sum already: not added again");
		return;
	}
	if (overlap == PROFILE_OVERLAPS)
		why = "a part of what it has is in the sum already, and cannot be told from the rest";
	else if (!related(m->sum, p))
		why = "of another build than the profiles before it";
	if (!why) {
		warn_of_twice(m->sum, p, name, &m->warned);
		profile_add(m->sum, p, m->pool, &why);
	}
	if (why)
		say_error(name, "%s", why);
	m->spoilt |= why != NULL;
}

static const char *
why_not_here(const struct found *f)
{
	if (f->left_over)
		return "of an earlier run, whose first profile has been replaced";
	if (f->inside && f->head.flags & (CHORD_PROFILE_MERGED | CHORD_PROFILE_SNAPSHOT))
		return "sums and snapshots are used only where they are named";
	return NULL;
}

/* An empty one has no counts that could be missed. */
static void
add_one(struct merging *m, const struct found *f)
{
	const char *why = NULL;
	struct profile *p;

	if (f->same || why_not_here(f)) {
		say_warning(f->name, "left out: %s%s", f->same ? "the same file as " : why_not_here(f), f->same ? f->same : "");
		return;
	}
	p = load_profile(m->pool, f->name, &why);
	if (p) {
		add_profile(m, f->name, p);
	} else if (why == PROFILE_EMPTY) {
		say_warning(f->name, "left out: %s", why);
	} else {
		say_error(f->name, "%s", why);
		m->spoilt = true;
	}
	profile_free(p);
}

/* A sum may be written over itself with more in it; what one process left may not be lost in a sum. */
static bool
would_destroy(const char *out, const struct found_list *list)
{
	struct stat st;

	for (size_t i = 0; !stat(out, &st) && i < list->n; i++) {
		const struct found *f = &list->at[i];

		if (f->ino != st.st_ino || f->dev != st.st_dev || !S_ISREG(st.st_mode) || f->head.flags & CHORD_PROFILE_MERGED)
			continue;
		say_error(out, "it is among the profiles to be summed, and would be replaced by the sum");
		return true;
	}
	return false;
}

static bool
merge(struct merging *m, const char *to, const struct found_list *list)
{
	struct buf out = {0};
	const char *unknown;
	bool ok;

	for (size_t i = 0; i < list->n; i++) {
		progress("merging", i, list->n);
		add_one(m, &list->at[i]);
	}
	progress("merging", list->n, list->n);
	if (m->spoilt)
		return false;
	if (!m->sum->nsummed) {
		say_error(to, "there is nothing to sum");
		return false;
	}
	if ((unknown = profile_unknown(m->pool, m->sum)))
		say_warning(to, "%s", unknown);
	profile_write(m->sum, &out);
	ok = file_write(to, out.at, out.n);
	if (!ok)
		say_error(to, "%s", strerror(errno));
	buf_free(&out);
	return ok;
}

int
cmd_merge(int argc, char **argv)
{
	static const struct argp argp = {options, parse_merge, "-o FILE PROFILE...", doc, NULL, NULL, NULL};
	struct args a = {0};
	struct merging m = {.pool = pool_new(), .sum = profile_new()};
	struct found_list list = {0};
	bool ok;

	options_read(&argp, argc, argv, 0, &a);
	find_named(m.pool, a.in, a.n, &list);
	if (!list.n)
		say_error(a.in[0], "there is no profile in the folder");
	ok = list.n && !would_destroy(a.out, &list) && merge(&m, a.out, &list);
	free(list.at);
	profile_free(m.sum);
	pool_free(m.pool);
	return ok ? 0 : EXIT_NO;
}
