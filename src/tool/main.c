/* SPDX-License-Identifier: MIT */
/* chord: the table of subcommands. */
#include "driver/driver.h"
#include "tool/options.h"
#include "tool/print.h"
#include "tool/tool.h"

#include <argp.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
	const char *name, *title;
	int (*run)(int argc, char **argv);
	const char *args, *what; /* NULL: not for users */
	const char *alias;       /* the command that runs if the executable has this name */
} commands[] = {
	{"cc", "chord cc", cmd_cc, "[ARGUMENT...]", "compile and link C so that it measures itself (also chord-cc)", "chord-cc"},
	{"c++", "chord c++", cmd_cxx, "[ARGUMENT...]", "the same for C++ (also chord-c++)", "chord-c++"},
	{"hook", "chord hook", cmd_hook, "", "print the folder for any other compiler's -B option", NULL},
	{"report", "chord report", cmd_report, "PROGRAM [PROFILE...]", "what was executed, and what was not measured", NULL},
	{"stat", "chord stat", cmd_stat, "PROGRAM [ARGUMENT...]", "run it, print exact totals of events", NULL},
	{"annotate", "chord annotate", cmd_annotate, "PROGRAM [FILE|FUNCTION]", "source or instructions with counts beside them",
		NULL},
	{"coverage", "chord coverage", cmd_coverage, "PROGRAM... [PROFILE...]", "which lines, branches and functions ran at all",
		NULL},
	{"export", "chord export", cmd_export, "-f FORMAT PROGRAM", "counts for other tools: lcov, callgrind, csv, bolt", NULL},
	{"html", "chord html", cmd_html, "PROGRAM [PROFILE...]", "report, source and graphs as web pages, in a folder", NULL},
	{"diff", "chord diff", cmd_diff, "[PROGRAM] A [PROGRAM] B", "which functions and lines gained instructions", NULL},
	{"query", "chord query", cmd_query, "PID", "the events of a running process, exact to the instruction", NULL},
	{"paths", "chord paths", cmd_paths, "PROGRAM [PROFILE...]", "which paths through procedures ran, and how often", NULL},
	{"trace", "chord trace", cmd_trace, "PROGRAM [PROFILE...]", "what it did, in order: calls, blocks, lines", NULL},
	{"weights", "chord weights", cmd_weights, "PROGRAM [PROFILE...]", "how often edges ran, for a better build", NULL},
	{"merge", "chord merge", cmd_merge, "-o FILE PROFILE...", "sum profiles of one build", NULL},
	{"record", "chord record", cmd_record, "PROGRAM [ARGUMENT...]", "record a run, to replay it exactly",
		NULL},
	{"replay", "chord replay", cmd_replay, "[LOG]", "replay a recorded run: the same output and status", NULL},
	{"verify", "chord verify", cmd_verify, "PROGRAM...", "is every procedure measured?", NULL},
	{"graph", "chord graph", cmd_graph, "FILE", "the algorithms on a graph written by hand", NULL},
	{"show", "chord show", cmd_show, "FILE.s", "what the weaver sees and does", NULL},
	{"as", "chord as", cmd_as, NULL, NULL, "as"},
};
enum { NCOMMAND = sizeof commands / sizeof *commands };

static void
usage(FILE *to)
{
	fprintf(to, "Usage: chord COMMAND [ARGUMENT...]\n\n"
	            "Measures programs exactly: builds them with counters, and reports what they executed.\n\n");
	for (size_t i = 0; i < NCOMMAND; i++)
		if (commands[i].what)
			fprintf(to, "  %-8s %-23s %s\n", commands[i].name, commands[i].args, commands[i].what);
	fprintf(to, "\n`chord COMMAND --help` says more of each. Start with\n\n"
	            "  chord cc -O2 -g -o prog prog.c && ./prog && chord report ./prog\n");
}

static const struct command *
by_name(const char *name)
{
	for (size_t i = 0; i < NCOMMAND; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* Names of the commands for users. */
static const char *
name_at(const void *ctx, size_t i)
{
	(void)ctx;
	return i < NCOMMAND ? (commands[i].what ? commands[i].name : "") : NULL;
}

static int
refuse(const char *name)
{
	const char *meant = name_nearest(name, name_at, NULL);

	if (meant)
		say_error(name, "no such command; did you mean `chord %s`?", meant);
	else
		say_error(name, "no such command; `chord --help` lists them");
	return EXIT_USAGE;
}

static const struct command *
by_alias(const char *argv0)
{
	for (size_t i = 0; i < NCOMMAND; i++)
		if (commands[i].alias && !strcmp(commands[i].alias, base_name(argv0)))
			return &commands[i];
	return NULL;
}

static int
run(const struct command *c, int argc, char **argv)
{
	/* argp names the program by argv[0] and does not write to it. */
	argv[0] = (char *)(uintptr_t)c->title;
	return c->run(argc, argv);
}

/* `chord help COMMAND` is `chord COMMAND --help`. */
static int
help(const char *name)
{
	char *argv[] = {NULL, "--help", NULL};
	const struct command *c = name ? by_name(name) : NULL;

	if (c)
		return run(c, 2, argv);
	if (name)
		return refuse(name);
	usage(stdout);
	return 0;
}

static void
print_version(FILE *to, struct argp_state *state)
{
	(void)state;
	fprintf(to, "chord " CHORD_VERSION "\n");
}

/* Files that Chord opens must not become its standard streams: messages would be written into them, and what a recorded program
 * writes to them would be taken for output. So a stream that is closed gets a descriptor that can neither be read nor written,
 * like a closed one; what Chord executes finds it closed. */
static void
hold_closed_streams(void)
{
	int fd;

	do
		fd = open("/", O_PATH | O_CLOEXEC);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int
main(int argc, char **argv)
{
	const struct command *c = argc > 0 ? by_alias(argv[0]) : NULL;

	hold_closed_streams();
	atexit(print_ends);
	/* jansson leaves out what it has no memory for. */
	json_set_alloc_funcs(xmalloc, free);
	argp_err_exit_status = EXIT_USAGE;
	argp_program_version_hook = print_version;
	if (c)
		return run(c, argc, argv);
	if (argc < 2) {
		usage(stderr);
		return EXIT_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help"))
		return help(!strcmp(argv[1], "help") ? argv[2] : NULL);
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V") || !strcmp(argv[1], "version")) {
		print_version(stdout, NULL);
		return 0;
	}
	c = by_name(argv[1]);
	return c ? run(c, argc - 1, argv + 1) : refuse(argv[1]);
}
