/* SPDX-License-Identifier: MIT */
/* The stand-in for the assembler. It reads the compiler's text, has it woven, and runs the real assembler on the result. All
 * messages are about the original text and its lines: weaving never adds or removes a line, so the woven text has the same line
 * numbers. */
#include "driver/driver.h"
#include "weave/weave.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The real assembler's name for text that it gets from Chord. */
struct session {
	struct as_args args;
	const char *as;
	const char *name;         /* name of the input, for messages */
	bool reads_stdin;
	bool has_printed;         /* a run has written to standard output what there is to write (.print, listings) */
	bool is_for_gas;          /* the text is no longer its file's: cc_clang_for_gas() has changed it */
	bool no_newline;          /* an input does not end with a newline: the assembler warns of that */
	struct buf text;          /* of all inputs */
	struct buf standard;      /* what was read from standard input, if that is one of several inputs */
	struct buf labelled_says; /* the assembler's messages about the text before weaving */
	struct buf original_says; /* its messages about the original text */
	VEC(uint32_t) bad_lines;
};

static char *
arg(const char *s)
{
	return (char *)(uintptr_t)s;
}

static void
push_all(VEC_ARGS *to, const VEC_ARGS *from)
{
	for (size_t i = 0; i < from->n; i++)
		VEC_PUSH(*to, from->at[i]);
}

static int
run(struct session *s, VEC_ARGS *args, const struct as_io *io)
{
	int status = as_run_io(s->as, args->at, args->n, io);

	free(args->at);
	if (status < 0)
		die(s->as, "%s", strerror(errno));
	return status;
}

/* ---- runs of the assembler ---- */

/* Assembles a text made by Chord, to the output, or into memory and without printing. */
static int
run_text(struct session *s, const struct buf *text, const char *more, struct buf *object, struct buf *says)
{
	bool quiet = object || s->has_printed;
	VEC_ARGS args = {0};

	s->has_printed |= !quiet;

	push_all(&args, &s->args.options);
	if (more)
		VEC_PUSH(args, arg(more));
	if (!object) {
		VEC_PUSH(args, arg("-o"));
		VEC_PUSH(args, arg(s->args.output));
	}
	return run(s, &args, &(struct as_io){.input = text, .object = object, .says = says, .quiet = quiet});
}

static void
show_messages(const struct session *s)
{
	fwrite(s->original_says.at ? s->original_says.at : "", 1, s->original_says.n, stderr);
}

/* Runs the assembler as it was called, with what was read from standard input. object NULL: the result goes to the output. */
static int
run_quietly(struct session *s, struct buf *object)
{
	struct as_io io = {.input = s->standard.n ? &s->standard : &s->text, .object = object, .says = &s->original_says,
	                   .quiet = s->has_printed};
	VEC_ARGS args = {0};
	int status;

	s->has_printed = true;

	push_all(&args, &s->args.options);
	push_all(&args, &s->args.unwoven);
	push_all(&args, &s->args.original_only);
	if (!s->is_for_gas)
		push_all(&args, &s->args.inputs);
	if (!object) {
		VEC_PUSH(args, arg("-o"));
		VEC_PUSH(args, arg(s->args.output));
	}
	s->original_says.n = 0;
	if (s->is_for_gas)
		io.input = &s->text;
	else if (!s->reads_stdin)
		io.input = NULL;
	status = run(s, &args, &io);
	if (s->is_for_gas && !s->reads_stdin)
		as_name_file(&s->original_says, s->name);
	return status;
}

/* The same, and shows the messages. */
static int
run_original(struct session *s, struct buf *object)
{
	int status = run_quietly(s, object);

	show_messages(s);
	return status;
}

static bool
assemble_labelled(void *ctx, const struct buf *text, struct buf *object)
{
	struct session *s = ctx;

	s->labelled_says.n = 0;
	return run_text(s, text, "--keep-locals", object, &s->labelled_says) == 0;
}

static bool
assemble_woven(void *ctx, const struct buf *text, struct buf *object)
{
	struct buf says = {0};
	bool ok = run_text(ctx, text, "--keep-locals", object, &says) == 0;

	buf_free(&says);
	return ok;
}

static int
run_as_called(struct session *s)
{
	int status = as_run_io(s->as, s->args.all, s->args.nall, &(struct as_io){0});

	if (status < 0)
		die(s->as, "%s", strerror(errno));
	return status;
}

/* ---- input ---- */

static bool
read_input(struct session *s, const char *path)
{
	bool is_stdin = !strcmp(path, "-");
	struct buf in = {0};

	s->reads_stdin |= is_stdin;
	if (!file_read(path, &in)) {
		buf_free(&in);
		return false;
	}
	if (is_stdin)
		buf_add(&s->standard, in.at, in.n);
	if (s->args.debug)
		as_add_named(&s->text, &in, is_stdin ? STDIN_NAME : path);
	else
		buf_add(&s->text, in.at, in.n);
	if (in.n && in.at[in.n - 1] != '\n') {
		s->no_newline = true;
		buf_char(&s->text, '\n');
	}
	buf_free(&in);
	return true;
}

/* False: an input cannot be read. */
static bool
read_inputs(struct session *s)
{
	if (!s->args.inputs.n)
		VEC_PUSH(s->args.inputs, arg("-"));
	for (size_t i = 0; i < s->args.inputs.n; i++)
		if (!read_input(s, s->args.inputs.at[i])) {
			s->name = s->args.inputs.at[i];
			return false;
		}
	s->name = strcmp(s->args.inputs.at[0], "-") ? s->args.inputs.at[0] : STDIN_NAME;
	/* Listings and dependencies are about the file as it is. */
	if (s->args.inputs.n == 1 && !s->args.original_only.n)
		s->is_for_gas = cc_clang_for_gas(&s->text);
	return true;
}

static void
read_own(struct session *s, const char *name, struct buf *to)
{
	const char *dir = libexec_dir(s->args.pool);

	if (!dir)
		die(name, "not found beside the program; Chord is not installed whole");
	if (!file_read(pool_printf(s->args.pool, "%s/%s", dir, name), to))
		die(pool_printf(s->args.pool, "%s/%s", dir, name), "%s", strerror(errno));
}

/* The runtime's text includes its code and its unwind table from files next to it. @libexec@ in the text is replaced by the name of
 * that folder, as an assembler string. */
static void
read_runtime(struct session *s, struct buf *to)
{
	static const char mark[] = "@libexec@", *const beside[] = {"runtime.bin", "runtime.frames"};
	const char *dir = libexec_dir(s->args.pool), *from, *at;
	struct buf text = {0};

	read_own(s, "runtime.s", &text);
	buf_add(&text, "", 1);
	for (size_t i = 0; i < sizeof beside / sizeof *beside; i++)
		if (access(pool_printf(s->args.pool, "%s/%s", dir, beside[i]), R_OK))
			die(pool_printf(s->args.pool, "%s/%s", dir, beside[i]), "%s", strerror(errno));
	for (from = text.at; (at = strstr(from, mark)); from = at + strlen(mark)) {
		buf_add(to, from, (size_t)(at - from));
		buf_octal(to, dir, strlen(dir));
	}
	buf_str(to, from);
	buf_free(&text);
}

/* ---- messages of the assembler ---- */

struct sought {
	uint32_t line;
	bool found;
};

static void
seek_line(void *ctx, struct as_message m)
{
	struct sought *sought = ctx;

	sought->found |= m.line == sought->line;
}

struct collected {
	struct session *s;
	uint32_t last;              /* lines of the original text have numbers up to this one */
	const struct buf *original; /* the assembler's messages about that text */
	size_t known;               /* bad lines of earlier rounds */
};

/* Collects lines of the woven text with messages, each once, except those for which the original text gets a message, too, and
 * except lines behind the original text, which are Chord's own. */
static void
collect_line(void *ctx, struct as_message m)
{
	struct collected *c = ctx;
	struct sought sought = {.line = m.line};

	if (!m.line || !m.is_stdin || m.line > c->last)
		return;
	as_each_message(c->original, seek_line, &sought);
	for (size_t i = c->known; i < c->s->bad_lines.n; i++)
		sought.found |= c->s->bad_lines.at[i] == m.line;
	if (!sought.found)
		VEC_PUSH(c->s->bad_lines, m.line);
}

static uint32_t
lines_of(const struct buf *text)
{
	uint32_t n = 1;

	for (size_t i = 0; i < text->n; i++)
		n += text->at[i] == '\n';
	return n;
}

/* Turns line markers (`# 12 "file.S"`) into comments, so that messages are about lines of this text. */
static void
drop_markers(struct buf *b)
{
	for (size_t i = 0; i + 2 < b->n; i++) {
		size_t k = i + 1;

		if (b->at[i] == '#' && (!i || b->at[i - 1] == '\n')) {
			while (k + 1 < b->n && b->at[k] == ' ')
				k++;
			if (b->at[k] >= '0' && b->at[k] <= '9')
				b->at[k] = '!';
		}
	}
}

/* ---- woven text that the assembler rejects ---- */

/* Assembles a text without its line markers, for the messages alone. */
static void
run_unmarked(struct session *s, const struct buf *text, struct buf *says)
{
	struct buf unmarked = {0}, object = {0};

	buf_add(&unmarked, text->at, text->n);
	drop_markers(&unmarked);
	run_text(s, &unmarked, NULL, &object, says);
	buf_free(&unmarked);
	buf_free(&object);
}

/* Finds lines that the assembler rejects, or warns of although it did not warn of the original. False: none of the original's. */
static bool
find_bad_lines(struct session *s, const struct buf *woven, const struct buf *says)
{
	size_t n = s->bad_lines.n;
	struct collected c = {.s = s, .last = lines_of(&s->text), .original = &s->original_says, .known = n};
	struct buf original = {0}, again = {0};

	as_each_message(says, collect_line, &c);
	if (s->bad_lines.n > n)
		return true;
	run_unmarked(s, &s->text, &original);
	run_unmarked(s, woven, &again);
	c.original = &original;
	as_each_message(&again, collect_line, &c);
	buf_free(&original);
	buf_free(&again);
	return s->bad_lines.n > n;
}

/* No fault of Chord may break the build: assembles the original text, with a warning. */
static int
give_up(struct session *s, const struct buf *says)
{
	const char *nl = says->n ? memchr(says->at, '\n', says->n) : NULL, *first = nl ? nl + 1 : says->at;
	const char *end = nl ? memchr(first, '\n', says->n - (size_t)(first - says->at)) : NULL;
	int status;

	/* The assembler's warnings have been shown already. */
	if (s->original_says.n) {
		s->original_says.n = 0;
		push_all(&s->args.options, &s->args.unwoven); /* nothing is woven from here on */
		status = run_text(s, &s->text, NULL, NULL, &s->original_says);
	} else {
		status = run_original(s, NULL);
	}
	if (status == 0)
		say_warning(s->name, "not measured: the assembler does not take the text with counters in it: %.*s",
		     end ? (int)(end - first) : INT_MAX, end ? first : "it ended without a message");
	return status;
}

/* Assembles woven text. If the assembler rejects lines of a procedure, the procedure is refused, and the text is woven again. */
static int
finish(struct session *s, struct weave_options *o, struct buf *woven)
{
	size_t known = as_each_message(&s->labelled_says, NULL, NULL);
	struct buf says = {0};
	int status;

	for (int round = 0;; round++) {
		struct weave_stats stats;
		char *why = NULL;
		bool ok;

		says.n = 0;
		status = run_text(s, woven, NULL, NULL, &says);
		if (status == 0 && as_each_message(&says, NULL, NULL) <= known)
			break;
		if (round == 20 || !find_bad_lines(s, woven, &says)) {
			/* Warnings of Chord's own text alone tell the user nothing. */
			if (status || round == 20)
				status = give_up(s, &says);
			break;
		}
		o->bad_line = s->bad_lines.at;
		o->nbad_line = s->bad_lines.n;
		woven->n = o->warnings->n = 0;
		ok = weave(s->text.at, s->text.n, s->name, o, woven, &stats, &why) == WEAVE_DONE;
		free(why);
		if (!ok) {
			status = give_up(s, &says);
			break;
		}
	}
	buf_free(&says);
	return status;
}

/* ---- the two objects ---- */

/* Holds signals that ask the process to end, until the output is the woven object or removed. */
static void
hold_signals(sigset_t *old)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, old);
}

/* No device is removed, as with `-o /dev/null`. */
static void
remove_output(const char *name)
{
	struct stat st;

	if (!lstat(name, &st) && S_ISREG(st.st_mode))
		unlink(name);
}

/* The assembler's listings, dependencies and warnings are about the original text. If there are any, the original is assembled
 * first. */
static int
original_and_woven(struct session *s, struct weave_options *o, struct buf *woven)
{
	bool files = s->args.original_only.n;
	struct buf object = {0};
	sigset_t old;
	int status = 0;

	if (!files && !s->labelled_says.n && !s->no_newline)
		return finish(s, o, woven);
	hold_signals(&old);
	/* A list of dependencies names the output, so the output is needed in that case. */
	status = run_original(s, files ? NULL : &object);
	buf_free(&object);
	if (status == 0) {
		status = finish(s, o, woven);
		if (status)
			remove_output(s->args.output);
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return status;
}

/* Keeps the woven text in a file, for finding faults of the weaver. */
static void
keep_woven(const struct buf *woven)
{
	const char *path = getenv("CHORD_KEEP");

	if (path && *path && !file_write(path, woven->at, woven->n))
		die(path, "%s", strerror(errno));
}

/* Each line is PLACE: WHAT. */
static void
say_warnings(const struct buf *lines)
{
	fflush(stdout);
	for (const char *at = lines->at, *end = at + lines->n, *stop; at < end; at = stop + 1) {
		stop = memchr(at, '\n', (size_t)(end - at));
		fprintf(stderr, "chord: warning: %.*s\n", (int)(stop - at), at);
	}
}

/* Parts that objects get in addition to woven code. */
struct own_parts { struct buf runtime, timers, trace; };

static void
read_own_parts(struct session *s, struct own_parts *own, struct weave_options *o)
{
	const struct request *r = &s->args.request;

	read_runtime(s, &own->runtime);
	if (r->option[REQUEST_TIMERS])
		read_own(s, "timers.s", &own->timers);
	if (measures_with(r->measures, CHORD_IN_ORDER))
		read_own(s, "trace.s", &own->trace);
	o->runtime = own->runtime.at;
	o->runtime_size = own->runtime.n;
	o->timers = own->timers.at;
	o->timers_size = own->timers.n;
	o->trace = own->trace.at;
	o->trace_size = own->trace.n;
}

/* Reads paths of interest and weights. If a file cannot be used, the process ends. */
static void
read_selections(struct session *s, struct selection *interest, struct selection *weights, struct weave_options *o)
{
	const struct request *r = &s->args.request;

	if (r->option[REQUEST_PATHS]) {
		if (!selection_read(s->args.pool, r->option[REQUEST_PATHS], SELECTION_PATHS, interest))
			exit(EXIT_NO);
		o->interest = interest;
	}
	if (r->option[REQUEST_WEIGHTS]) {
		if (!weights_read(s->args.pool, r->option[REQUEST_WEIGHTS], weights))
			exit(EXIT_NO);
		o->weights = weights;
	}
}

/* Assembles the text as it is. If clang made it, clang's own assembler may take what this one rejects, and would have been asked
 * without Chord: *by_clang. */
static int
run_unwoven(struct session *s, bool *by_clang)
{
	int status = run_quietly(s, NULL);
	struct buf says = {0};

	*by_clang = status && !s->args.original_only.n &&
	            cc_clang_assembles(s->args.pool, &s->text, &s->args.options, s->args.output, &says) == 0;
	if (!*by_clang)
		show_messages(s);
	buf_free(&says);
	return *by_clang ? 0 : status;
}

/* The assembler does not take the text with labels at its statements. If it takes the text as it is, Chord has misread the text. */
static int
run_rejected(struct session *s)
{
	bool by_clang;
	int status = run_unwoven(s, &by_clang);

	if (by_clang)
		say_warning(s->name, "not measured: only clang's own assembler takes it");
	else if (!status)
		say_warning(s->name, "not measured: the assembler rejects it with a label at each statement");
	return status;
}

static int
weave_input(struct session *s)
{
	struct selection interest = {0}, weights = {0};
	struct own_parts own = {0};
	struct buf woven = {0}, warnings = {0};
	const struct request *r = &s->args.request;
	struct weave_options o = {.machine = machine_of_host(), .measures = r->measures, .events = r->events,
	                          .assemble = assemble_labelled, .assemble_woven = assemble_woven, .ctx = s, .warnings = &warnings};
	struct weave_stats stats;
	char *why = NULL;
	bool by_clang;
	int status;

	o.reserved = as_reserved(s->args.pool, o.machine->text);
	read_own_parts(s, &own, &o);
	read_selections(s, &interest, &weights, &o);
	if (r->option[REQUEST_TRACE])
		o.encoding = weave_encoding_named(r->option[REQUEST_TRACE]);
	o.stamps = r->option[REQUEST_TRACE_STAMP];
	o.promote = request_in_registers(r);
	switch (weave(s->text.at ? s->text.at : "", s->text.n, s->name, &o, &woven, &stats, &why)) {
	case WEAVE_DONE:
		keep_woven(&woven);
		status = original_and_woven(s, &o, &woven);
		if (status == 0 && warnings.n)
			say_warnings(&warnings);
		break;
	case WEAVE_WRONG:
		status = EXIT_NO;
		break;
	case WEAVE_FAILED:
		status = run_original(s, NULL);
		if (status == 0)
			say_warning(s->name, "not measured: %s", why);
		break;
	case WEAVE_REJECTED:
		status = run_rejected(s);
		break;
	default:
		status = run_unwoven(s, &by_clang);
		break;
	}
	free(why);
	buf_free(&own.runtime);
	buf_free(&own.timers);
	buf_free(&own.trace);
	buf_free(&woven);
	buf_free(&warnings);
	selection_free(&interest);
	selection_free(&weights);
	return status;
}

/* Text for a mode other than 64 bits is assembled as it is. */
static int
pass_through(struct session *s)
{
	int status = run_as_called(s);

	if (status == 0)
		say_warning(s->args.inputs.n ? s->args.inputs.at[0] : STDIN_NAME, "not measured: it is not 64-bit code");
	return status;
}

/* An input cannot be read: the assembler's own message is shown, if it has one. */
static int
unreadable(struct session *s)
{
	const char *why = strerror(errno);
	int status = run_as_called(s);

	if (status == 0)
		say_warning(s->name, "not measured: %s", why);
	return status;
}

static void
release(struct session *s)
{
	free(s->bad_lines.at);
	buf_free(&s->text);
	buf_free(&s->standard);
	buf_free(&s->labelled_says);
	buf_free(&s->original_says);
	as_args_free(&s->args);
}

int
cmd_as(int argc, char **argv)
{
	struct session s = {0};
	int status;

	if (as_within())
		die("as", "the assembler that was found leads back to Chord, which stands in for the assembler; "
		          "CHORD_AS can name the real one");
	if (!as_args_read(&s.args, argc, argv)) {
		as_args_free(&s.args);
		return EXIT_USAGE;
	}
	s.as = as_find(s.args.pool);
	if (!s.as)
		die("as", "no assembler in PATH");
	if (s.args.as_called)
		status = run_as_called(&s);
	else if (s.args.other_mode)
		status = pass_through(&s);
	else if (!read_inputs(&s))
		status = unreadable(&s);
	else
		status = weave_input(&s);
	release(&s);
	return status;
}
