/* SPDX-License-Identifier: MIT */
/* chord html: a run, or the difference of two runs, as pages for a browser. */
#include "html/html.h"
#include "driver/driver.h"
#include "tool/diff/diff.h"
#include "tool/json.h"
#include "tool/options.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_DIFF = 256, OPT_FORCE, OPT_JSON };

static const struct argp_option options[] = {
	{"output", 'o', "DIR", 0, "The folder to write (default: chord-html)", 1},
	{"diff", OPT_DIFF, NULL, 0, "Compare two profiles, as chord diff does", 1},
	{"force", OPT_FORCE, NULL, 0, "Write into DIR even if there is something else in it", 1},
	{"json", OPT_JSON, NULL, 0, "Print JSON: the page to open, and what the pages are of", 1},
	{0},
};

static const char doc[] =
	"Write a folder of pages: functions, files and lines, source and instructions with counts, control-flow graphs, calls, "
	"coverage. Open its index.html in a browser; it needs no server and no network.\v"
	"With --diff, A and B are profiles as for chord diff; the pages are of B, with what it does more or less than A.\n\n"
	"A DIR that exists has to be empty or to have such pages in it, which are replaced.\n\n"
	"Exit status: 0 done, 1 the program, a profile or DIR cannot be used, 2 wrong usage.";

struct args {
	const char *output;
	bool diff, force, json;
	char **name;
	int n;
};

static error_t
parse_html(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'o':
		a->output = arg;
		break;
	case OPT_DIFF:
		a->diff = true;
		break;
	case OPT_FORCE:
		a->force = true;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		break;
	case ARGP_KEY_END:
		if (a->diff && (a->n < 2 || a->n > 4))
			argp_error(state, "which profiles? A B, PROGRAM A B, or PROGRAM A PROGRAM B");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Finds the pages themselves, which have no data. The build leaves them out if something that they need is missing. NULL:
 * reported. */
static const char *
find_pages(struct pool *pool)
{
	const char *dir = libexec_dir(pool), *pages = dir ? pool_printf(pool, "%s/html", dir) : NULL;

	if (pages && !access(pool_printf(pool, "%s/index.html", pages), R_OK))
		return pages;
	say_error("html", "Chord was built without its pages, which need d3 and dagre (Debian: node-d3, node-dagre-layout); "
	          "install these and run make again");
	return NULL;
}

static bool
print_page(const struct args *a, const struct run *run, const char *page, bool lines)
{
	json_t *o;

	if (!a->json) {
		printf("%s\n", page);
		return print_whole(NULL, stdout);
	}
	o = js_document("chord html");
	js_set(o, "page", js_text(page));
	js_set(o, "program", js_text(run->path));
	js_set(o, "difference", json_boolean(a->diff));
	js_set(o, "line_information", json_boolean(lines));
	js_set(o, "processes", js_number(run->sum->nsummed, true));
	return js_print_whole(o);
}

/* Prints the name of the page to open on standard output. */
static bool
say_where(const struct args *a, const struct run *run)
{
	const char *slash = str_ends(str_of(a->output), "/") ? "" : "/";
	bool lines = false;

	for (size_t i = 0; i < run->binary.n; i++)
		lines |= image_has_lines(run->binary.at[i].image);
	if (!lines)
		say_warning(run->path, "it has no line numbers: %s to see its source in the pages",
		            image_lines_wanted(run->binary.at[0].image));
	return print_page(a, run, pool_printf(run->pool, "%s%sindex.html", a->output, slash), lines);
}

/* The folder is not touched before everything to be shown has been read. */
static bool
write_pages(const struct args *a, const char *pages, struct run *run, struct diff *d)
{
	struct folder to;
	bool ok;

	if (!folder_open(&to, a->output, a->force))
		return false;
	folder_copy(&to, pages);
	if (d)
		pages_difference(&to, &d->found, d->side[0].profile, d->side[1].profile);
	ok = pages_write(&to, run, d ? &d->side[0].run : NULL) && !to.bad;
	folder_close(&to);
	warn_of_newer_sources(run);
	return ok && say_where(a, run);
}

static bool
write_run(const struct args *a, const char *pages)
{
	struct run run = {0};
	bool ok = run_load(&run, a->name[0], a->name + 1, a->n - 1) && write_pages(a, pages, &run, NULL) && !run.missing.n;

	run_close(&run);
	return ok;
}

static bool
write_diff(const struct args *a, const char *pages)
{
	const struct diff_options opt = {.lines = true};
	struct diff d = {.opt = &opt};
	bool ok;

	diff_open(&d, a->name, a->n);
	ok = diff_find(&d) && write_pages(a, pages, &d.side[1].run, &d) && !d.side[0].nmissing && !d.side[1].nmissing;
	diff_close(&d);
	return ok;
}

int
cmd_html(int argc, char **argv)
{
	static const char operands[] = "PROGRAM [PROFILE...]\n--diff [PROGRAM] A [PROGRAM] B";
	static const struct argp argp = {options, parse_html, operands, doc, print_names, NULL, NULL};
	struct args a = {.output = "chord-html"};
	struct pool *pool = pool_new();
	const char *pages;
	bool ok;

	options_read(&argp, argc, argv, 0, &a);
	pages = find_pages(pool);
	ok = pages && (a.diff ? write_diff(&a, pages) : write_run(&a, pages));
	view_source_free();
	pool_free(pool);
	return ok ? 0 : EXIT_NO;
}
