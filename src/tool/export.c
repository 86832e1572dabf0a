/* SPDX-License-Identifier: MIT */
/* chord export: writes a run for other tools. */
#include "export/export.h"
#include "tool/options.h"
#include "tool/print.h"
#include "view/coverage.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_INCLUDE = 256, OPT_EXCLUDE };

static const struct argp_option options[] = {
	{"format", 'f', "FORMAT", 0, "One of those below", 1},
	{"include", OPT_INCLUDE, "GLOB", 0, "Only source files that match the pattern, by all of their path or its end; may be "
	 "repeated (lcov, lcov2, cobertura, gcov)", 1},
	{"exclude", OPT_EXCLUDE, "GLOB", 0, "No source files that match; may be repeated", 1},
	{"output", 'o', "FILE", 0, "Where to write it (default: standard output)", 1},
	{NULL, 0, NULL, 0, "Formats:", 2},
};

struct args {
	const struct exporter *format;
	const char *output;
	struct coverage_choice choice;
	char **name;
	int n;
};

static error_t
parse_export(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'f':
		a->format = exporter_named(arg);
		if (!a->format)
			argp_error(state, "--format=%s: there is no such format", arg);
		break;
	case 'o':
		a->output = arg;
		break;
	case OPT_INCLUDE:
		VEC_PUSH(a->choice.in, arg);
		break;
	case OPT_EXCLUDE:
		VEC_PUSH(a->choice.out, arg);
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		break;
	case ARGP_KEY_END:
		if (!a->format)
			argp_error(state, "which format?");
		else if ((a->choice.in.n || a->choice.out.n) && !a->format->by_file)
			argp_error(state, "--include, --exclude: %s has all files", a->format->name);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Warns of what no format can express: procedures whose counts are not known or only within bounds, and objects of which nothing is
 * known. */
static void
warn_of_unknown(const struct run *run, const struct view_functions *all)
{
	uint64_t n = 0, events = 0;

	for (size_t i = 0; i < run->nunread; i++)
		say_warning(run->unknown.at[i].name, "left out, though it was measured: %s", run->unknown.at[i].reason);
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i].counts->why == SOLVE_EVENTS_ONLY)
			events++;
		else
			n += !view_is_exact(all->at[i].counts);
	if (events)
		say_warning(run->path, "%ju %s left out, in which only events are counted: compile with -fchord=edges",
		            (uintmax_t)events, of_many(events, "procedure is", "procedures are"));
	if (n)
		say_warning(run->path, "%ju %s left out, whose counts are not known exactly: chord report names them",
		            (uintmax_t)n, of_many(n, "procedure is", "procedures are"));
}

/* Would bytes that are no text come to a terminal? */
static bool
spoils_terminal(const struct args *a, const struct buf *out)
{
	return (!a->output || !strcmp(a->output, "-")) && isatty(STDOUT_FILENO) && out->n && memchr(out->at, 0, out->n);
}

/* If the name ends in .gz, the output is compressed, unless the format does that anyway. */
static bool
save_export(const struct args *a, struct buf *out)
{
	struct buf packed = {0};
	bool ok;

	if (spoils_terminal(a, out)) {
		say_error(a->format->name, "it is not for terminals: name a file with --output");
		return false;
	}
	if (!a->output || a->format->packed || !str_ends(str_of(a->output), ".gz"))
		return save_output(a->output, out);
	export_gzip(out, &packed);
	ok = save_output(a->output, &packed);
	buf_free(&packed);
	return ok;
}

/* Numbers of the chosen files in the list, *n of them. NULL: there is none, reported. */
static uint32_t *
choose_files(const struct args *a, const struct run *run, const struct view_listing *list, uint32_t *n)
{
	uint32_t *file = xcalloc(list->file.n + 1, sizeof *file);

	for (uint32_t i = *n = 0; i < list->file.n; i++)
		if (coverage_chooses(&a->choice, list->file.at[i].name))
			file[(*n)++] = i;
	if (*n || !list->file.n)
		return file;
	say_error(run->path, "it has code of no source file that --include and --exclude choose");
	free(file);
	return NULL;
}

static bool
write_export(const struct args *a, struct run *run)
{
	struct view_functions all = {0};
	struct view_listing list;
	struct buf out = {0};
	uint32_t *file, n;
	bool ok;

	view_functions(&all, run);
	view_listing(&list, run, NULL, NULL);
	warn_of_unknown(run, &all);
	file = choose_files(a, run, &list, &n);
	ok = file && a->format->write(&(struct export){run, &list, &all, file, n}, &out) && save_export(a, &out);
	free(file);
	buf_free(&out);
	view_listing_free(&list);
	free(all.at);
	return ok;
}

/* The options, and in the help behind them the formats. */
static const struct argp_option *
with_formats(struct pool *pool)
{
	size_t n = sizeof options / sizeof *options;
	struct argp_option *all = pool_array(pool, n + nexporter + 1, sizeof *all);

	memcpy(all, options, sizeof options);
	for (size_t i = 0; i < nexporter; i++)
		all[n++] = (struct argp_option){.name = exporters[i].name, .flags = OPTION_DOC | OPTION_NO_USAGE,
		    .doc = exporters[i].what, .group = 2};
	all[n] = (struct argp_option){0};
	return all;
}

int
cmd_export(int argc, char **argv)
{
	struct pool *pool = pool_new();
	struct argp argp = {with_formats(pool), parse_export, "--format=FORMAT PROGRAM [PROFILE...]",
		"Write what a run executed for other tools.\v"
		"Exit status: 0 done, 1 the program or a profile cannot be used, 2 wrong usage.", print_names, NULL, NULL};
	struct args a = {0};
	struct run run = {0};
	int status;

	options_read(&argp, argc, argv, 0, &a);
	status = run_load(&run, a.name[0], a.name + 1, a.n - 1) && write_export(&a, &run) && !run.missing.n ? 0 : EXIT_NO;
	run_close(&run);
	free(a.choice.in.at);
	free(a.choice.out.at);
	pool_free(pool);
	return status;
}
