/* SPDX-License-Identifier: MIT */
/* chord annotate: source and assembly with counts beside them. */
#include "tool/annotate/annotate.h"
#include "tool/options.h"

#include <argp.h>
#include <errno.h>
#include <signal.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPT_BOTH = 256, OPT_SUMMARY, OPT_MNEMONICS, OPT_BRANCHES, OPT_COLOR, OPT_NO_PAGER, OPT_INLINED, OPT_JSON };

static const struct argp_option options[] = {
	{"asm", 'a', NULL, 0, "Instructions instead of source lines", 1},
	{"both", OPT_BOTH, NULL, 0, "Instructions, and the source lines that they come from", 1},
	{"branches", OPT_BRANCHES, NULL, 0, "Below each source line its conditional jumps: taken and not taken", 1},
	{"inlined", OPT_INLINED, NULL, 0, "For a FUNCTION, also show its code where it was inlined", 1},
	{"summary", OPT_SUMMARY, NULL, 0, "For each function and source file its instructions, those that never ran, its "
	 "blocks, those never entered, instructions executed, and instructions per entered block, on average", 1},
	{"mnemonics", OPT_MNEMONICS, NULL, 0, "How often instructions of each name were executed", 1},
	{"json", OPT_JSON, NULL, 0, "As JSON", 2},
	{"color", OPT_COLOR, "WHEN", OPTION_ARG_OPTIONAL,
	 "always, never or auto (default: on a terminal, if NO_COLOR is not set)", 2},
	{"no-pager", OPT_NO_PAGER, NULL, 0, "Write to the terminal itself, not through $PAGER", 2},
	{0},
};

static const char doc[] =
	"Print source files, or the instructions of functions, with counts beside them.\v"
	"Without FILE or FUNCTION: all files that can be read and have code that ran, or all functions that ran. A FILE is named "
	"by the end of its path, a FUNCTION by its name or a pattern with * and ?; of a function its own lines are shown, inlined "
	"ones too, and only what it executed is counted.\n\n"
	"`count` is how often the instruction of the line ran that ran most often, `instructions` how many were executed for it. "
	"##### marks lines whose code never ran, ? those with code whose counts are not known; a line without numbers has no "
	"code.\n\n"
	"Exit status: 0 done, 1 nothing to show, or the program or a profile cannot be used, 2 wrong usage.";

struct args {
	struct annotate *a;
	char **name;
	int n;
};

static error_t
parse_annotate(int key, char *arg, struct argp_state *state)
{
	struct args *args = state->input;
	struct annotate *a = args->a;
	static const enum annotate_what what[] = {ANNOTATE_BOTH, ANNOTATE_SUMMARY, ANNOTATE_MNEMONICS};

	switch (key) {
	case 'a': case OPT_BOTH: case OPT_SUMMARY: case OPT_MNEMONICS:
		if (a->what)
			argp_error(state, "only one of --asm, --both, --summary and --mnemonics can be printed");
		a->what = key == 'a' ? ANNOTATE_ASM : what[key - OPT_BOTH];
		break;
	case OPT_INLINED:
		a->inlined = true;
		break;
	case OPT_BRANCHES:
		a->branches = true;
		break;
	case OPT_COLOR:
		if (arg && strcmp(arg, "always") && strcmp(arg, "never") && strcmp(arg, "auto"))
			argp_error(state, "--color=%s: always, never or auto", arg);
		a->color = !arg || !strcmp(arg, "always") ? COLOR_ALWAYS : !strcmp(arg, "never") ? COLOR_NEVER : COLOR_AUTO;
		break;
	case OPT_NO_PAGER:
		a->pager = false;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case ARGP_KEY_ARGS:
		args->name = state->argv + state->next;
		args->n = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		break;
	case ARGP_KEY_END:
		if (a->branches && a->what)
			argp_error(state, "--branches is for source lines: instructions show their jumps anyway");
		if (a->inlined && a->what == ANNOTATE_SUMMARY)
			argp_error(state, "--summary is of procedures: chord report --inlined has functions as they are written");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ---- what is wanted ---- */

bool
annotate_wants_file(const struct annotate *a, const char *file)
{
	for (size_t i = 0; i < a->wanted.n; i++)
		if (view_is_file(file, a->wanted.at[i]))
			return true;
	return false;
}

bool
annotate_wants_proc(const void *ctx, const struct proc *p)
{
	const struct annotate *a = ctx;

	for (size_t i = 0; i < a->wanted.n; i++)
		if (view_is_named(p, a->wanted.at[i]))
			return true;
	return false;
}

static bool
wants_inlined(const void *ctx, const char *name)
{
	const struct annotate *a = ctx;

	for (size_t i = 0; i < a->wanted.n; i++)
		if (image_name_matches(name, a->wanted.at[i]))
			return true;
	return false;
}

/* False: reported. */
static bool
choose_wanted(struct annotate *a)
{
	size_t functions = 0, written = 0;

	for (size_t i = 0; i < a->wanted.n; i++) {
		bool is = view_is_procedure(a->run, a->wanted.at[i]);

		functions += is;
		/* A function that was inlined everywhere is not a procedure. */
		written += !is && view_is_written(a->run, a->wanted.at[i]);
	}
	if (functions + written && functions + written < a->wanted.n) {
		say_error("annotate", "name either files or functions, not both");
		return false;
	}
	a->functions = functions + written;
	if (a->inlined && !a->functions) {
		say_error("annotate", "--inlined needs a function, and none is named");
		return false;
	}
	a->inlined |= written;
	return true;
}

/* ---- colours ---- */

void
annotate_hot(const struct annotate *a, uint64_t insns)
{
	double share = a->insns ? (double)insns / (double)a->insns : 0;

	if (a->colored && share >= 0.001)
		fputs(share >= 0.05 ? "\033[1;31m" : share >= 0.01 ? "\033[33m" : "\033[32m", stdout);
}

void
annotate_dim(const struct annotate *a)
{
	if (a->colored)
		fputs("\033[35m", stdout);
}

void
annotate_plain(const struct annotate *a)
{
	if (a->colored)
		fputs("\033[0m", stdout);
}

/* ---- the pager ---- */

enum { NOT_RUN = 126 }; /* a shell's status of a command that it cannot run, or does not find */

static FILE *pager;
static bool paged; /* output went through it: a user who leaves it early causes no error */

/* The pager that the user has chosen, or NULL. */
static const char *
chosen_pager(void)
{
	const char *command = getenv("PAGER");

	return command && *command ? command : NULL;
}

/* Sends standard output through a pager, if it is a terminal. Small systems have no less. */
static void
start_pager(struct annotate *a)
{
	const char *command = chosen_pager();

	if (!a->pager || !isatty(STDOUT_FILENO))
		return;
	if (!command)
		command = "if type less >/dev/null 2>&1; then exec less; else exec cat; fi";
	setenv("LESS", "FRX", 0);
	fflush(stdout);
	signal(SIGPIPE, SIG_IGN);
	pager = popen(command, "w");
	paged = pager;
	if (pager && dup2(fileno(pager), STDOUT_FILENO) < 0)
		die("pager", "%s", strerror(errno));
}

/* False: there is no such pager, so nothing was shown: reported. */
static bool
end_pager(void)
{
	int status;

	if (!pager)
		return true;
	fflush(stdout);
	/* What a pager that has ended did not read is not written elsewhere, and is no error. */
	__fpurge(stdout);
	clearerr(stdout);
	close(STDOUT_FILENO);
	status = pclose(pager);
	pager = NULL;
	if (status == -1 || !WIFEXITED(status) || WEXITSTATUS(status) < NOT_RUN)
		return true;
	say_error("pager", "%s cannot be run: --no-pager does without it", chosen_pager() ? chosen_pager() : "cat");
	return false;
}

/* ---- */

static bool
print_annotated(struct annotate *a)
{
	if (a->json)
		return annotate_json(a);
	switch (a->what) {
	case ANNOTATE_ASM: case ANNOTATE_BOTH:
		return annotate_asm(a);
	case ANNOTATE_SUMMARY:
		return annotate_summary(a);
	case ANNOTATE_MNEMONICS:
		return annotate_mnemonics(a);
	default:
		return annotate_source(a);
	}
}

static bool
is_exact(const struct run *run)
{
	for (size_t k = 0; k < run->binary.n; k++)
		for (uint32_t i = 0; i < run->binary.at[k].map.nproc; i++)
			if (run->binary.at[k].counts[i].most)
				return false;
	return true;
}

static void
say_missing(const struct run *run, const char *word)
{
	say_error(word, "no measured function and no source file of %s has that name%s", run->path,
	          view_unnamed(run, word, " (--inlined)"));
}

/* Says why there is nothing to show. */
static void
say_nothing(const struct annotate *a)
{
	const struct view_file *lacking = NULL;
	bool lines = false;

	for (size_t i = 0; i < a->list.file.n; i++) {
		const struct view_file *f = &a->list.file.at[i];

		if (annotate_lacks_file(a, f) && (!lacking || f->insns > lacking->insns))
			lacking = f;
	}
	for (size_t k = 0; k < a->run->binary.n; k++)
		lines |= image_has_lines(a->run->binary.at[k].image);
	if (a->what == ANNOTATE_SOURCE && lacking)
		say_error(a->run->path, "no source file that ran can be read, such as %s (named, it is listed without text)",
		          shown_path(lacking->name));
	else if (a->what == ANNOTATE_SOURCE && !lines)
		say_error(a->run->path, "it has no line numbers: %s", image_lines_wanted(a->run->binary.at[0].image));
	else if (!a->exact)
		say_error(a->run->path, "no code that ran has exact counts; chord report shows bounds");
	else
		say_error(a->run->path, "no code is known to have run; chord report says what is not known");
}

/* Code of a function that ran where it is inlined is not in the listing of its procedure, where its lines may look as if they never
 * ran. */
static void
say_inlined(const struct annotate *a)
{
	struct view_listing l;
	uint64_t n = 0;
	bool all = true;
	char number[32];

	if (!a->functions || a->inlined || a->what == ANNOTATE_SUMMARY || a->what == ANNOTATE_MNEMONICS)
		return;
	view_listing_source(&l, a->run, wants_inlined, a);
	for (size_t i = 0; i < l.insn.n; i++)
		if (!annotate_wants_proc(a, l.insn.at[i].proc))
			all &= l.insn.at[i].known && checked_add(&n, l.insn.at[i].count);
	if (n)
		printf("Not shown, since it is inlined in other functions (--inlined shows it, too):\n"
		       "  code that executed %s%s instructions\n", grouped(number, n), all ? "" : " or more");
	view_listing_free(&l);
}

static int
annotate(struct annotate *a)
{
	bool some;

	if (!view_insns(a->run, &a->insns)) {
		say_error(a->run->path, "the sum of its counts does not fit 64 bits");
		return EXIT_NO;
	}
	a->exact = is_exact(a->run);
	if (a->inlined)
		view_listing_source(&a->list, a->run, wants_inlined, a);
	else
		view_listing(&a->list, a->run, a->functions ? annotate_wants_proc : NULL, a);
	a->colored = a->color == COLOR_ALWAYS || (a->color == COLOR_AUTO && isatty(STDOUT_FILENO) && !getenv("NO_COLOR"));
	if (!a->json)
		start_pager(a);
	some = print_annotated(a);
	if (some && !a->json) {
		say_inlined(a);
		print_run_unknown(a->run);
		print_run_notes(a->run);
	}
	if (!end_pager())
		return EXIT_NO;
	if (!some && a->wanted.n)
		say_missing(a->run, a->wanted.at[0]);
	else if (!some)
		say_nothing(a);
	return some ? 0 : EXIT_NO;
}

/* Moves profiles before the files and functions. These are the profiles named directly after the program; if there are none, all
 * that are named, because some users name them last. Returns the number of the first operand that is not a profile. */
static int
profiles_first(struct args *args)
{
	int n = 1;

	while (n < args->n && options_is_profile(args->name[n]))
		n++;
	for (int i = n == 1 ? 2 : args->n; i < args->n; i++) {
		char *name = args->name[i];

		if (!options_is_profile(name))
			continue;
		memmove(&args->name[n + 1], &args->name[n], (size_t)(i - n) * sizeof *args->name);
		args->name[n++] = name;
	}
	return n;
}

int
cmd_annotate(int argc, char **argv)
{
	static const struct argp argp = {options, parse_annotate, "PROGRAM [PROFILE...] [FILE|FUNCTION...]",
	                                 doc, print_names, NULL, NULL};
	struct run run = {0};
	struct annotate a = {.pager = true, .run = &run};
	struct args args = {.a = &a};
	int status = EXIT_NO, profiles;

	options_read(&argp, argc, argv, 0, &args);
	profiles = profiles_first(&args);
	for (int i = profiles; i < args.n; i++)
		VEC_PUSH(a.wanted, args.name[i]);
	if (run_load(&run, args.name[0], args.name + 1, profiles - 1) && choose_wanted(&a))
		status = annotate(&a);
	if (run.missing.n)
		status = EXIT_NO;
	if (!paged && !print_whole(NULL, stdout))
		status = EXIT_NO;
	view_listing_free(&a.list);
	free(a.wanted.at);
	warn_of_newer_sources(&run);
	view_source_free();
	run_close(&run);
	return status;
}
