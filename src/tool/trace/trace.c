/* SPDX-License-Identifier: MIT */
/* chord trace: what a program built with -fchord=trace did, in order. */
#include "tool/trace/trace.h"

#include "tool/options.h"
#include "tool/print.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	OPT_BLOCKS = 256, OPT_LINES, OPT_INSNS, OPT_FROM, OPT_TO, OPT_THREAD, OPT_LAST, OPT_GREP, OPT_DIFF, OPT_JSON, OPT_CHROME,
	OPT_RUN,
	OPT_ENCODINGS, OPT_PERFETTO, OPT_TOGETHER, OPT_LACKEY,
};

static const struct argp_option options[] = {
	{"blocks", OPT_BLOCKS, NULL, 0, "The basic blocks that ran, too", 0},
	{"lines", OPT_LINES, NULL, 0, "The source lines that ran, too", 0},
	{"insns", OPT_INSNS, NULL, 0, "The instructions that ran, too, with their addresses", 0},
	{"from", OPT_FROM, "PLACE", 0, "Begin after N instructions of a thread, or where a function is entered: f, or f:3 for the "
	 "third time", 0},
	{"to", OPT_TO, "PLACE", 0, "End at such a place; for a function, when that call of it ends", 0},
	{"thread", OPT_THREAD, "N", 0, "Only the thread of that number", 0},
	{"last", OPT_LAST, "N", 0, "Only the last N lines of each thread", 0},
	{"grep", OPT_GREP, "FUNCTION", 0, "Only calls of a function (a pattern with * and ?), with the calls below", 0},
	{"together", OPT_TOGETHER, NULL, 0, "All threads in one view, in a possible order: a thread after its creation, what "
	 "follows a join after the thread that was joined, a forked child after the fork", 0},
	{"diff", OPT_DIFF, NULL, 0, "Of two profiles A and B: the first place where what they ran differs", 0},
	{"run", OPT_RUN, NULL, 0, "Run PROGRAM; another process packs what it traces", 0},
	{"encodings", OPT_ENCODINGS, NULL, 0, "What the runs would have written with other encodings: outcomes of branches, "
	 "witnesses", 0},
	{"json", OPT_JSON, NULL, 0, "Print JSON, an object on each line", 0},
	{"chrome", OPT_CHROME, NULL, 0, "Print Chrome's JSON, for Perfetto and chrome://tracing: time is in instructions", 0},
	{"perfetto", OPT_PERFETTO, NULL, 0, "Write Perfetto's own format: a nanosecond is an instruction", 0},
	{"lackey", OPT_LACKEY, NULL, 0, "Print instructions, loads and stores with their addresses, as Valgrind's lackey does; of "
	 "programs built with -fchord=trace,data", 0},
	{"output", 'o', "FILE", 0, "Write to FILE", 0},
	{0},
};

static const char doc[] =
	"Print what a program did, in order: calls and returns, or also each block, line or instruction.\v"
	"PROGRAM was built with -fchord=trace, and left a trace beside its profile. Without a PROFILE all processes of this build "
	"in the current folder that left traces are printed. A core file in place of a PROFILE has what each thread did "
	"last, if the process could not make a trace file. The number before a line says how many instructions the thread had "
	"executed in traced code until then.\n\n"
	"Exit status: 0 done (with --diff: no difference), 1 a trace is not whole (what is there is printed), cannot be used, or "
	"differs, or does not have what was asked for, 2 wrong usage; with --run the program's.";

/* FUNCTION of `FUNCTION:N`, and N; NULL: the text is none. */
static const char *
read_entry(const char *text, struct pool *pool, uint64_t *n)
{
	const char *colon = strrchr(text, ':');

	if (!colon || colon == text || colon[-1] == ':' || !colon[1] || !number_read(colon + 1, 1, UINT64_MAX - 1, n))
		return NULL;
	return pool_strndup(pool, text, (size_t)(colon - text));
}

/* "100", "f" or "f:3". */
static struct trace_place
read_place(const char *text, struct pool *pool, const char *option, struct argp_state *state)
{
	struct trace_place x = {.set = true, .n = 1};
	const char *colon = strrchr(text, ':');

	if (number_read(text, 0, UINT64_MAX - 1, &x.n))
		return x;
	x.function = read_entry(text, pool, &x.n);
	if (!x.function) {
		x.function = text;
		x.n = 1;
	}
	if (!*x.function || colon == text || (colon && !colon[1]))
		argp_error(state, "%s=%s: neither a number of instructions nor FUNCTION or FUNCTION:N", option, text);
	return x;
}

static uint64_t
read_number(const char *text, const char *option, struct argp_state *state)
{
	uint64_t n = 0;

	if (!number_read(text, 1, 1 << 30, &n))
		argp_error(state, "%s=%s: a number is wanted, 1 or more", option, text);
	return n;
}

/* Does the second place come before the first one on every thread? */
static bool
comes_before(const struct trace_place *to, const struct trace_place *from)
{
	bool alike = to->function && from->function ? !strcmp(to->function, from->function) : !to->function && !from->function;

	return to->set && from->set && alike && to->n < from->n;
}

static void
check(const struct trace_args *a, struct argp_state *state)
{
	if (!a->program)
		argp_error(state, "which program?");
	if (comes_before(&a->to, &a->from))
		argp_error(state, "--to comes before --from");
	if (a->compare && a->profile.n != 2)
		argp_error(state, "--diff compares two profiles");
	if (a->compare && (a->form != TRACE_TEXT || a->last || a->from.set || a->to.set || a->grep))
		argp_error(state, "--diff goes with --thread only");
	if (a->encodings && (a->compare || a->form >= TRACE_LACKEY || a->view != TRACE_CALLS || a->last || a->from.set ||
	                     a->to.set || a->grep || a->thread))
		argp_error(state, "--encodings goes with --json and --output only");
	if (a->together && (a->last || a->compare || a->encodings))
		argp_error(state, "--together does not go with --last, --diff and --encodings");
	if (a->together && a->form == TRACE_LACKEY)
		argp_error(state, "--together does not go with --lackey");
	if (a->last && a->form != TRACE_TEXT)
		argp_error(state, "--last is for text");
}

static bool
parse_view(int key, struct trace_args *a)
{
	switch (key) {
	case OPT_BLOCKS:
		a->view = TRACE_BLOCKS;
		break;
	case OPT_LINES:
		a->view = TRACE_LINES;
		break;
	case OPT_INSNS:
		a->view = TRACE_INSNS;
		break;
	case OPT_JSON:
		a->form = TRACE_JSON;
		break;
	case OPT_CHROME:
		a->form = TRACE_CHROME;
		break;
	case OPT_PERFETTO:
		a->form = TRACE_PERFETTO;
		break;
	case OPT_LACKEY:
		a->form = TRACE_LACKEY;
		break;
	case OPT_DIFF:
		a->compare = true;
		break;
	case OPT_TOGETHER:
		a->together = true;
		break;
	case OPT_ENCODINGS:
		a->encodings = true;
		break;
	default:
		return false;
	}
	return true;
}

static error_t
parse_trace(int key, char *arg, struct argp_state *state)
{
	struct trace_args *a = state->input;

	if (parse_view(key, a))
		return 0;
	switch (key) {
	case OPT_FROM:
		a->from = read_place(arg, a->pool, "--from", state);
		break;
	case OPT_TO:
		a->to = read_place(arg, a->pool, "--to", state);
		break;
	case OPT_THREAD:
		a->thread = read_number(arg, "--thread", state);
		break;
	case OPT_LAST:
		a->last = read_number(arg, "--last", state);
		break;
	case OPT_GREP:
		a->grep = arg;
		break;
	case OPT_RUN:
		argp_error(state, "--run comes before the program");
		break;
	case 'o':
		a->output = arg;
		break;
	case ARGP_KEY_ARG:
		if (a->program)
			VEC_PUSH(a->profile, arg);
		else
			a->program = arg;
		break;
	case ARGP_KEY_END:
		check(a, state);
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Says why no thread has entered a function n times. */
static void
say_not_entered(const char *function, uint64_t n, const struct run *r)
{
	if (view_is_procedure(r, function))
		say_error(function, "no thread has entered it %" PRIu64 " time%s", n, n == 1 ? "" : "s");
	else
		say_error(function, "no procedure has such a name%s", view_unnamed(r, function, ""));
}

/* The same of --grep, which takes a name without a number. */
static void
say_not_inside(const char *function, const struct run *r)
{
	uint64_t n;
	const char *name = read_entry(function, r->pool, &n);

	if (name && view_is_procedure(r, name))
		say_error(function, "--grep takes no number; --from=%s --to=%s prints this activation", function, function);
	else
		say_not_entered(function, 1, r);
}

/* Reports what was asked for by name and is nowhere. */
static bool
all_found(const struct trace_args *a, const struct run *r)
{
	const struct trace_place *place[] = {&a->from, &a->to};
	bool ok = true;

	for (int i = 0; i < 2; i++) {
		const struct trace_place *x = place[i];

		if (!x->set || x->found || (x == &a->to && !x->function))
			continue;
		if (x->function)
			say_not_entered(x->function, x->n, r);
		else
			say_error("--from", "no thread has executed more than %" PRIu64 " instructions%s", x->n,
			          a->kept_end ? " of what was kept" : "");
		ok = false;
	}
	if (a->grep && !a->grep_found)
		say_not_inside(a->grep, r);
	if (a->thread && !a->thread_found)
		say_error("--thread", "there is no thread %" PRIu64, a->thread);
	return ok && (!a->grep || a->grep_found) && (!a->thread || a->thread_found);
}

static int
print_all(struct trace_args *a, struct run *r, struct traced_list *list, FILE *to)
{
	struct trace_out o = {.args = a, .run = r, .to = to};
	const bool together = a->together || a->form >= TRACE_CHROME;
	int status = 0;

	if (together && !trace_print_together(a, r, list, to))
		status = EXIT_NO;
	for (size_t i = 0; i < list->n && !together; i++) {
		o.process = &list->at[i];
		if (!trace_print(&o))
			status = EXIT_NO;
	}
	if (a->form == TRACE_CHROME)
		chrome_end(a, to);
	strmap_free(&a->names);
	return !ferror(to) && all_found(a, r) ? status : EXIT_NO;
}

static int
print_to(struct trace_args *a, struct run *r, struct traced_list *list)
{
	FILE *to = stdout;
	int status;

	if (a->output && !may_replace(a->output))
		return EXIT_NO;
	if (a->output && !(to = fopen(a->output, "we"))) {
		say_error(a->output, "%s", strerror(errno));
		return EXIT_NO;
	}
	if (a->form == TRACE_PERFETTO && isatty(fileno(to))) {
		say_error("--perfetto", "it is not for terminals: name a file with --output");
		return EXIT_NO;
	}
	status = a->compare     ? trace_diff(a, r, list, to)
	         : a->encodings ? trace_encodings(a, r, list, to)
	                        : print_all(a, r, list, to);
	if (!print_whole(a->output, to))
		status = EXIT_NO;
	if (a->output)
		fclose(to);
	return status;
}

static const char usage[] = "PROGRAM [PROFILE...]\n--diff PROGRAM A B\n--run [-o PROFILE] PROGRAM [ARGUMENT...]";
static const struct argp argp = {options, parse_trace, usage, doc, print_names, NULL, NULL};

static int
print_trace(int argc, char **argv)
{
	struct trace_args a = {.pool = pool_new()};
	struct traced_list list = {0};
	struct run r = {0};
	int status = EXIT_NO;

	options_read(&argp, argc, argv, 0, &a);
	if (traced_load(&r, a.pool, a.program, a.profile.at, a.profile.n, &list))
		status = print_to(&a, &r, &list) || list.missing ? EXIT_NO : 0;
	traced_free(&list);
	run_close(&r);
	free(a.profile.at);
	pool_free(a.pool);
	return status;
}

int
cmd_trace(int argc, char **argv)
{
	return options_lead_with(&argp, argc, argv, OPT_RUN) ? trace_run(argc, argv) : print_trace(argc, argv);
}
