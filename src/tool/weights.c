/* SPDX-License-Identifier: MIT */
/* chord weights: how often edges ran, for a build with -fchord-weights=FILE. */
#include "tool/options.h"
#include "tool/print.h"

#include <argp.h>

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write them to FILE (default: standard output)", 0},
	{0},
};

static const char doc[] =
	"Say how often each edge ran, for builds with -fchord-weights=FILE: those put fewer counters where it is hot.\v"
	"PROGRAM was built with counts of edges or paths (-fchord=edges, calls or paths). Without a PROFILE all profiles of this "
	"build in the current folder are summed. A procedure whose code has changed since then has no weights: they are "
	"guessed.\n\n"
	"Exit status: 0 done, 1 nothing is known, or the program or a profile cannot be used, 2 wrong usage.";

struct args {
	const char *out;
	char **name;
	int n;
};

static error_t
parse_weights(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'o':
		a->out = arg;
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* What has no weights, and which profiles are not in them, is said. */
static bool
write_weights(const struct run *r, const char *file)
{
	struct selection in = {.pool = r->pool};
	struct buf out = {0};
	bool ok;

	run_weights(r, &in);
	selection_write_head(&out, SELECTION_WEIGHTS);
	for (size_t i = 0; i < in.proc.n; i++)
		selection_write(&out, SELECTION_WEIGHTS, &in.proc.at[i]);
	if (!in.proc.n)
		say_error(r->path, "no procedure's edges are known to have run: was it built with -fchord=edges, calls or paths?");
	for (size_t i = 0; i < r->unknown.n; i++)
		say_warning(image_readable(r->unknown.at[i].name), "no weights: %s", r->unknown.at[i].reason);
	for (size_t i = 0; i < r->left_out.n; i++)
		say_warning(r->left_out.at[i].name, "left out: %s", r->left_out.at[i].reason);
	ok = in.proc.n && save_output(file, &out);
	selection_free(&in);
	buf_free(&out);
	return ok;
}

int
cmd_weights(int argc, char **argv)
{
	static const struct argp argp = {options, parse_weights, "PROGRAM [PROFILE...]", doc, NULL, NULL, NULL};
	struct args a = {0};
	struct run r = {0};
	int status;

	options_read(&argp, argc, argv, 0, &a);
	status = run_load(&r, a.name[0], a.name + 1, a.n - 1) && write_weights(&r, a.out) && !r.incomplete ? 0 : EXIT_NO;
	run_close(&r);
	return status;
}
