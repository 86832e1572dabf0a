/* SPDX-License-Identifier: MIT */
/* The stand-in for the assembler: reads the compiler's text, has it woven, and
 * runs the real assembler on what comes out. Whatever the assembler has to say
 * of the text it says of the original text, with its lines. */
#include "tool/as.h"
#include "tool/tool.h"
#include "weave/weave.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct session {
	struct as_args args;
	const char *as;
	const char *name;         /* of the input, for messages */
	struct buf text;
	struct buf original_says; /* what the assembler says of the text before weaving */
	VEC(uint32_t) bad_lines;
	VEC(const char *) temps;
};

static const char *
temp_with(struct session *s, const char *suffix, const struct buf *b)
{
	const char *path = temp_file(s->args.pool, suffix, b ? b->at : NULL, b ? b->n : 0);

	if (!path)
		die("temporary file", "%s", strerror(errno));
	VEC_PUSH(s->temps, path);
	return path;
}

static char *
arg(const char *s)
{
	return (char *)(uintptr_t)s;
}

/* The assembler with the options of every run, on one file. */
static int
assemble(struct session *s, const char *input, const char *output, bool keep_locals, struct buf *says)
{
	VEC_ARGS args = {0};
	int status;

	for (size_t i = 0; i < s->args.options.n; i++)
		VEC_PUSH(args, s->args.options.at[i]);
	if (keep_locals)
		VEC_PUSH(args, arg("--keep-locals"));
	VEC_PUSH(args, arg("-o"));
	VEC_PUSH(args, arg(output));
	VEC_PUSH(args, arg(input));
	status = as_run(s->as, args.at, args.n, says);
	free(args.at);
	if (status < 0)
		die(s->as, "%s", strerror(errno));
	return status;
}

/* The assembler as it was called; text read from standard input is given by a file. */
static int
run_original(struct session *s, const char *output)
{
	VEC_ARGS args = {0};
	int status;

	for (size_t i = 0; i < s->args.options.n; i++)
		VEC_PUSH(args, s->args.options.at[i]);
	for (size_t i = 0; i < s->args.original_only.n; i++)
		VEC_PUSH(args, s->args.original_only.at[i]);
	VEC_PUSH(args, arg("-o"));
	VEC_PUSH(args, arg(output));
	for (size_t i = 0; i < s->args.inputs.n; i++)
		VEC_PUSH(args, s->args.inputs.at[i]);
	if (!s->args.inputs.n || (s->args.inputs.n == 1 && !strcmp(s->args.inputs.at[0], "-"))) {
		args.n -= s->args.inputs.n;
		VEC_PUSH(args, arg(temp_with(s, ".s", &s->text)));
	}
	status = as_run(s->as, args.at, args.n, NULL);
	free(args.at);
	if (status < 0)
		die(s->as, "%s", strerror(errno));
	return status;
}

static bool
assemble_labelled(void *ctx, const struct buf *text, struct buf *object)
{
	struct session *s = ctx;
	const char *in = temp_with(s, ".s", text), *out = temp_with(s, ".o", NULL);

	s->original_says.n = 0;
	return assemble(s, in, out, true, &s->original_says) == 0 && file_read(out, object);
}

/* ---- input ---- */

static bool
read_inputs(struct session *s)
{
	s->name = s->args.inputs.n ? s->args.inputs.at[0] : "{standard input}";
	if (!s->args.inputs.n)
		return file_read(NULL, &s->text);
	for (size_t i = 0; i < s->args.inputs.n; i++) {
		if (!file_read(s->args.inputs.at[i], &s->text)) {
			s->name = s->args.inputs.at[i];
			return false;
		}
		if (s->text.n && s->text.at[s->text.n - 1] != '\n')
			buf_char(&s->text, '\n');
	}
	return true;
}

static void
read_runtime(struct session *s, struct buf *runtime)
{
	const char *dir = libexec_dir(s->args.pool);

	if (!dir)
		die("runtime.s", "not found beside the program; Chord is not installed whole");
	if (!file_read(pool_printf(s->args.pool, "%s/runtime.s", dir), runtime))
		die(pool_printf(s->args.pool, "%s/runtime.s", dir), "%s", strerror(errno));
}

/* ---- woven text that the assembler does not take ---- */

/* Lines that messages of the form FILE:LINE: speak of. Returns how many are new. */
static size_t
collect_lines(struct session *s, const struct buf *says, const char *file)
{
	size_t n = s->bad_lines.n, length = strlen(file);

	for (size_t i = 0; i + length + 1 < says->n; i++) {
		if (memcmp(says->at + i, file, length) || says->at[i + length] != ':')
			continue;
		unsigned long line = strtoul(says->at + i + length + 1, NULL, 10);
		if (line)
			VEC_PUSH(s->bad_lines, (uint32_t)line);
	}
	return s->bad_lines.n - n;
}

/* Assembles woven text. A procedure that the assembler rejects, or warns of where the
 * original gave no cause, is refused and the text woven again. */
static int
finish(struct session *s, struct weave_options *o, struct buf *woven)
{
	for (int round = 0; round < 20; round++) {
		const char *in = temp_with(s, ".s", woven);
		struct buf says = {0};
		struct weave_stats stats;
		char *why;
		int status = assemble(s, in, s->args.output, false, &says);

		if (getenv("CHORD_KEEP"))
			file_write(getenv("CHORD_KEEP"), woven->at, woven->n);
		if (status == 0 && says.n <= s->original_says.n) {
			buf_free(&says);
			return 0;
		}
		buf_char(&says, 0);
		if (!collect_lines(s, &says, in))
			bug("%s: the assembler rejects woven text: %s", s->name, says.at);
		buf_free(&says);
		o->bad_line = s->bad_lines.at;
		o->nbad_line = s->bad_lines.n;
		woven->n = 0;
		if (weave(s->text.at, s->text.n, s->name, o, woven, &stats, &why) != WEAVE_DONE)
			bug("%s: cannot be woven a second time", s->name);
		free(why);
	}
	bug("%s: woven text is rejected again and again", s->name);
}

static int
weave_input(struct session *s)
{
	struct buf runtime = {0}, woven = {0};
	struct weave_options o = {.measure = s->args.measure, .assemble = assemble_labelled, .ctx = s};
	struct weave_stats stats;
	char *why = NULL;
	int status;

	read_runtime(s, &runtime);
	o.runtime = runtime.at;
	o.runtime_size = runtime.n;
	switch (weave(s->text.at ? s->text.at : "", s->text.n, s->name, &o, &woven, &stats, &why)) {
	case WEAVE_DONE:
		status = 0;
		if (s->original_says.n || s->args.for_original)
			status = run_original(s, temp_with(s, ".o", NULL));
		if (status == 0)
			status = finish(s, &o, &woven);
		break;
	case WEAVE_FAILED:
		warn(s->name, "not measured: %s", why);
		status = run_original(s, s->args.output);
		break;
	default:
		status = run_original(s, s->args.output);
		break;
	}
	free(why);
	buf_free(&runtime);
	buf_free(&woven);
	return status;
}

static int
run_as_called(struct session *s)
{
	int status = as_run(s->as, s->args.all, s->args.nall, NULL);

	if (status < 0)
		die(s->as, "%s", strerror(errno));
	return status;
}

static void
release(struct session *s)
{
	for (size_t i = 0; i < s->temps.n; i++)
		unlink(s->temps.at[i]);
	free(s->temps.at);
	free(s->bad_lines.at);
	buf_free(&s->text);
	buf_free(&s->original_says);
	as_args_free(&s->args);
}

int
cmd_as(int argc, char **argv)
{
	struct session s = {0};
	int status;

	if (!as_args_read(&s.args, argc, argv)) {
		as_args_free(&s.args);
		return EXIT_USAGE;
	}
	s.as = as_find(s.args.pool);
	if (!s.as)
		die("as", "no assembler in PATH");
	if (s.args.probe || s.args.other_mode)
		status = run_as_called(&s);
	else if (!read_inputs(&s))
		status = run_as_called(&s);
	else
		status = weave_input(&s);
	release(&s);
	return status;
}
