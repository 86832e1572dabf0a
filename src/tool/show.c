/* SPDX-License-Identifier: MIT */
/* chord show: the weaver's passes over one file of assembly text. */
#include "driver/driver.h"
#include "tool/options.h"
#include "tool/tool.h"
#include "weave/weave.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct show_args {
	const char *file, *pass;
	struct request request;
	struct pool *pool;
	struct buf says;
};

static const struct argp_option options[] = {
	{"pass", 'p', "PASS", 0, "only after this pass: labels, code, graph, place or text (default: code, graph and place)", 0},
	{"measure", 'm', "MEASURE", 0, "what `chord cc --measures` lists (default: edges)", 0},
	{"events", 'e', "LIST", 0, "the events to count, with commas between them (default: instructions)", 0},
	{"loops", 'l', "HOME", 0, "memory or registers: where loops count (default: memory)", 0},
	{0},
};

static bool
is_pass(const char *name)
{
	static const char *const names[] = {"labels", "code", "graph", "place", "text"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

static error_t
parse_show(int key, char *arg, struct argp_state *state)
{
	struct show_args *a = state->input;

	switch (key) {
	case 'p':
		if (!is_pass(arg))
			argp_error(state, "--pass=%s: the passes are labels, code, graph, place and text", arg);
		a->pass = arg;
		return 0;
	case 'm':
		if (!request_measures("--measure", arg, &a->request))
			exit(EXIT_USAGE);
		return 0;
	case 'e':
		if (!request_option(pool_printf(a->pool, "-fchord-events=%s", arg), &a->request, a->pool))
			exit(EXIT_USAGE);
		return 0;
	case 'l':
		if (!request_option(pool_printf(a->pool, "-fchord-loops=%s", arg), &a->request, a->pool))
			exit(EXIT_USAGE);
		return 0;
	case ARGP_KEY_ARG:
		if (a->file)
			argp_error(state, "one file at a time");
		a->file = arg;
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "a file is needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp argp = {options, parse_show, "FILE.s",
	"Show what the weaver sees in assembly text: instructions, procedures, graphs, where "
	"counters can go and which are needed, or the woven text.", NULL, NULL, NULL};

static bool
assemble(void *ctx, const struct buf *text, struct buf *object)
{
	struct show_args *a = ctx;
	const char *as = as_find(a->pool);
	char *args[] = {(char *)(uintptr_t)"--keep-locals"};
	int status;

	if (!as)
		die("as", "no assembler in PATH");
	a->says.n = 0;
	status = as_run_io(as, args, 1, &(struct as_io){.input = text, .object = object, .says = &a->says, .quiet = true});
	if (status < 0)
		die(as, "%s", strerror(errno));
	return status == 0;
}

/* Without this check a binary file would give one error for each of its lines. True: reported. */
static bool
is_binary(const char *path, const struct buf *text)
{
	bool elf = text->n >= 4 && !memcmp(text->at, "\177ELF", 4);

	if (elf)
		say_error(path, "a program, library or object, and not assembly text: `chord annotate` shows its instructions, "
		          "`chord html` its graphs, and the compiler's -S makes text");
	else if (text->n && memchr(text->at, 0, text->n))
		say_error(path, "this is no assembly text");
	return elf || (text->n && memchr(text->at, 0, text->n));
}

/* Prints the assembler's first messages. A file that is not assembly text gives one for each line. */
static void
say_rejected(const char *path, const struct buf *says)
{
	enum { MESSAGES = 12 };
	size_t n = 0, lines = 0, more = 0;

	for (size_t i = 0; i < says->n; i++)
		if (says->at[i] == '\n' && ++lines == MESSAGES)
			n = i + 1;
	if (lines > MESSAGES)
		more = lines - MESSAGES;
	else
		n = says->n;
	say_error(path, "the assembler rejects it:\n%.*s%s", (int)n, says->at,
	          more ? "(and more messages: is this assembly text?)" : "");
}

int
cmd_show(int argc, char **argv)
{
	struct show_args a = {.pool = pool_new()};
	struct buf text = {0}, woven = {0};
	struct weave_options o = {.machine = machine_of_host(), .assemble = assemble, .assemble_woven = assemble, .ctx = &a};
	struct weave_stats stats;
	bool as_text;
	char *why;
	int status = EXIT_NO;

	options_read(&argp, argc, argv, 0, &a);
	as_text = a.pass && !strcmp(a.pass, "text");
	if (!request_complete(&a.request, a.pool))
		exit(EXIT_USAGE);
	o.measures = a.request.measures;
	o.events = a.request.events;
	o.promote = request_in_registers(&a.request);
	o.dump = as_text ? NULL : stdout;
	o.dump_pass = a.pass;
	if (!file_read(a.file, &text))
		die(a.file, "%s", strerror(errno));
	if (is_binary(a.file, &text))
		exit(EXIT_NO);
	cc_text_for_gas(&text);
	switch (weave(text.at ? text.at : "", text.n, a.file, &o, &woven, &stats, &why)) {
	case WEAVE_DONE:
		if (as_text)
			fwrite(woven.at, 1, woven.n, stdout);
		status = 0;
		break;
	case WEAVE_NOTHING: say_error(a.file, "no code in it"); break;
	case WEAVE_REJECTED: say_rejected(a.file, &a.says); break;
	case WEAVE_WRONG: break;
	case WEAVE_FAILED: say_error(a.file, "%s", why); break;
	}
	free(why);
	buf_free(&text);
	buf_free(&woven);
	buf_free(&a.says);
	request_free(&a.request);
	pool_free(a.pool);
	return status;
}
