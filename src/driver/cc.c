/* SPDX-License-Identifier: MIT */
/* chord cc, chord c++: runs the compiler so that it finds Chord's stand-in before the assembler. */
#include "driver/driver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct driver {
	struct pool *pool;
	bool is_clang;
	bool stops;           /* -c, -S, -E, --version ...: nothing is linked */
	bool lto;             /* the last of -flto and -fno-lto decides */
	bool bitcode;         /* the last of -fembed-bitcode has the whole of it written */
	bool no_id;           /* --build-id=none */
	bool unlike_c;        /* there is a source in D or Modula-2, whose compilers do not know options for C's preprocessor */
	bool probe;           /* it is a build system's probe, which is compiled without measuring */
	bool foreign;         /* clang makes code for another system, which is compiled without measuring */
	bool objects;         /* -c */
	const char *language; /* the last of -x, as far as the arguments have been read; NULL: the file's name says it */
	const char *target;   /* for clang: the last of --target, or what its name begins with; or NULL */
	const char *shadowed; /* the sanitizer whose shadow memory is where Chord's shadow of stacks would be */
	size_t ninput;
	const char *output;
	struct request request;
	VEC_ARGS all;         /* arguments with those in @files in place of them */
	VEC_ARGS given;       /* those without Chord's */
	VEC_ARGS counter;     /* for clang: options that undo those that only its own assembler takes */
	VEC_ARGS args;        /* arguments for the compiler */
};

static bool
starts(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

static void
push(VEC_ARGS *to, const char *a)
{
	VEC_PUSH(*to, (char *)(uintptr_t)a);
}

/* ---- what the compiler's options mean for Chord ---- */

static bool
stops_early(const char *a)
{
	static const char *const names[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-###", "--version", "-r",
		"--compile", "--assemble", "--preprocess", "--dependencies", "--user-dependencies", "--syntax-only",
		"--analyze", "--precompile", "-emit-ast", "-dumpversion", "-dumpfullversion", "-dumpmachine", "-dumpspecs",
		"--target-help"};

	return NAMED(a, names) || starts(a, "-print-") || starts(a, "--print-") || starts(a, "--help");
}

/* Options whose value is the next argument. */
static bool
value_is_next(const char *a)
{
	static const char *const names[] = {"-o", "-x", "-I", "-L", "-l", "-D", "-U", "-A", "-B", "-T", "-u", "-z", "-e", "-G",
		"-MF", "-MT", "-MQ", "-Xlinker", "-Xassembler", "-Xpreprocessor", "-Xclang", "-mllvm", "-include", "-imacros",
		"-isystem", "-iquote", "-idirafter", "-iprefix", "-iwithprefix", "-iwithprefixbefore", "-isysroot",
		"-imultilib", "--sysroot", "--param", "-param", "-aux-info", "-wrapper", "-specs", "-dumpbase",
		"-dumpbase-ext", "-dumpdir", "-target", "--target", "-arch", "-Tdata", "-Tbss", "-Ttext", "-J",
		"-gnatec", "-framework", "-install_name", "-rpath", "--output", "--language"};

	return NAMED(a, names);
}

/* Headers are not linked: they are compiled into something else. The language of -x counts, else the name. */
static bool
is_header(const char *a, const char *language)
{
	static const char *const suffixes[] = {".h", ".hh", ".hp", ".hpp", ".hxx", ".h++", ".H", ".HPP", ".tcc"};
	const char *dot = strrchr(base_name(a), '.');

	return language ? strstr(language, "-header") != NULL : dot && NAMED(dot, suffixes);
}

/* The value of an option of this name: in the same argument, or in the next one. NULL: it is another option. */
static const char *
option_value(const char *a, const char *value, const char *name, const char *joined)
{
	return !strcmp(a, name) ? value : starts(a, joined) ? a + strlen(joined) : NULL;
}

/* Reads options that say what the inputs are and what is made of them. */
static void
look_at_kind(struct driver *d, const char *a, const char *value)
{
	static const char *const bitcode[] = {"-fembed-bitcode", "-fembed-bitcode=all", "-fembed-bitcode=bitcode"};
	const char *language = option_value(a, value, "-x", "-x"), *target = option_value(a, value, "-target", "--target=");

	language = language ? language : option_value(a, value, "--language", "--language=");
	if (language)
		d->language = strcmp(language, "none") ? language : NULL;
	if (d->is_clang && target)
		d->target = target;
	if (d->is_clang && cc_counter_option(a))
		push(&d->counter, cc_counter_option(a));
	if (starts(a, "-fembed-bitcode"))
		d->bitcode = NAMED(a, bitcode);
	d->objects |= !strcmp(a, "-c") || !strcmp(a, "--compile");
}

/* Is it a source, or with -x the name of a language, without C's preprocessor? */
static bool
is_unlike_c(const char *a, bool is_language)
{
	static const char *const endings[] = {".d", ".di", ".dd", ".mod", ".def", ".mi"};
	static const char *const languages[] = {"d", "modula-2", "modula-2-cpp-output"};
	const char *dot = strrchr(base_name(a), '.');

	for (size_t i = 0; is_language && i < sizeof languages / sizeof *languages; i++)
		if (!strcmp(a, languages[i]))
			return true;
	for (size_t i = 0; !is_language && dot && i < sizeof endings / sizeof *endings; i++)
		if (!strcmp(dot, endings[i]))
			return true;
	return false;
}

/* Reads -fsanitize= and -fno-sanitize=, in order. */
static void
look_at_sanitizers(struct driver *d, const char *a)
{
	static const char *const shadowing[] = {"thread", "memory", "kernel-memory", "all"};
	bool no = starts(a, "-fno-sanitize=");

	for (const char *p = strchr(a, '='); p; p = strchr(p, ',')) {
		size_t n = strcspn(++p, ",");

		for (size_t i = 0; i < sizeof shadowing / sizeof *shadowing; i++)
			if (strlen(shadowing[i]) == n && !strncmp(p, shadowing[i], n))
				d->shadowed = no ? NULL : shadowing[i];
	}
}

static void
look_at(struct driver *d, const char *a, const char *value)
{
	const char *output = option_value(a, value ? value : "", "-o", "-o");

	d->stops |= stops_early(a);
	d->no_id |= strstr(a, "--build-id=none") != NULL;
	look_at_kind(d, a, value);
	output = output ? output : option_value(a, value ? value : "", "--output", "--output=");
	if (output)
		d->output = output;
	else if (!strcmp(a, "-flto") || starts(a, "-flto="))
		d->lto = true;
	else if (!strcmp(a, "-fno-lto"))
		d->lto = false;
	else if (starts(a, "-fsanitize=") || starts(a, "-fno-sanitize="))
		look_at_sanitizers(d, a);
	else if ((*a != '-' || !a[1]) && !is_header(a, d->language))
		d->ninput++;
	if (*a != '-')
		d->unlike_c |= is_unlike_c(a, false);
	else if (starts(a, "-x"))
		d->unlike_c |= is_unlike_c(a[2] ? a + 2 : value ? value : "", true);
	d->probe |= *a != '-' ? cc_is_probe(a) : !strcmp(a, "-o") && value && cc_is_probe(value);
	if (value)
		d->no_id |= strstr(value, "--build-id=none") != NULL;
}

/* Looks at the arguments, including those in @files. False: the error has been reported. */
static bool
read_args(struct driver *d)
{
	bool ok = true;

	for (size_t i = 0; i < d->all.n && ok; i++) {
		char *a = d->all.at[i], *value = value_is_next(a) && i + 1 < d->all.n ? d->all.at[i + 1] : NULL;

		if (starts(a, "-fchord")) {
			ok = request_option(a, &d->request, d->pool);
			continue;
		}
		look_at(d, a, value);
		VEC_PUSH(d->given, a);
		if (value) {
			VEC_PUSH(d->given, value);
			i++;
		}
	}
	d->foreign = d->target && cc_is_foreign(d->target);
	return ok;
}

/* Arguments that have to be seen where they stand: Chord's own, and the one after which all are inputs. */
static size_t
count_marks(char *const *args, size_t n)
{
	size_t marks = 0;

	for (size_t i = 0; i < n; i++)
		marks += starts(args[i], "-fchord") || !strcmp(args[i], "--");
	return marks;
}

/* Expands @files. If the compiler cannot be given them as they are, it gets what is in them. */
static bool
expand_args(struct driver *d, char **argv, size_t n)
{
	bool once = args_expand(d->pool, argv, n, &d->all);

	return !once && count_marks(argv, n) == count_marks(d->all.at, d->all.n);
}

/* ---- the compiler ---- */

/* The file that a command would run. */
static const char *
command_file(struct pool *pool, const char *command)
{
	const char *file = file_in_path(pool, command);
	char real[4096];

	command = file ? file : command;
	return realpath(command, real) ? pool_strdup(pool, real) : command;
}

/* clang makes code for the system that begins its name, as in aarch64-linux-gnu-clang. Fewer words before it are a wrapper's
 * name. */
static const char *
target_in_name(struct pool *pool, const char *word)
{
	const char *name = base_name(word), *end = strstr(name, "-clang"), *dash = strchr(name, '-');

	return end && dash < end && strchr(dash + 1, '-') < end ? pool_strndup(pool, name, (size_t)(end - name)) : NULL;
}

/* source: where the word is from. */
static void
push_word(struct driver *d, const char *source, const char *word)
{
	const char *file = command_file(d->pool, word);

	if (is_chord(file))
		die(source, "%s is Chord itself: name the compiler that it is to run", word);
	if (cc_is_unlike_gcc(word))
		die(source, "%s does not take gcc's options: chord-hook(1) says what can be measured, and how", word);
	push(&d->args, word);
	d->target = d->target ? d->target : target_in_name(d->pool, word);
	d->is_clang |= strstr(base_name(word), "clang") || strstr(base_name(file), "clang");
}

/* The command is in the environment variable, or it is the usual one. It may have several words, as in `ccache gcc`. */
static void
push_command(struct driver *d, const char *variable, const char *usual)
{
	const char *command = getenv(variable);

	if (!command || !command[strspn(command, " \t")])
		command = usual;
	for (const char *p = command, *end; *(p += strspn(p, " \t")); p = end) {
		end = p + strcspn(p, " \t");
		push_word(d, variable, pool_strndup(d->pool, p, (size_t)(end - p)));
	}
}

/* The compiler may be named by the arguments, first or behind Chord's own options. Returns the n arguments without it; Chord's
 * options take its place. */
static char **
take_compiler(struct driver *d, const char *variable, const char *usual, char **argv, size_t *n)
{
	size_t own = 0, words;

	while (own < *n && starts(argv[own], "-fchord"))
		own++;
	words = cc_named(d->pool, argv + own, *n - own);
	for (size_t i = own; i < own + words; i++)
		push_word(d, "command line", argv[i]);
	if (!words)
		push_command(d, variable, usual);
	for (size_t i = own; words && i--;)
		argv[i + words] = argv[i];
	*n -= words;
	return argv + words;
}

/* clang warns of options that a command did not use. The user did not write the added ones. */
static void
push_quietly(struct driver *d, const char *a)
{
	if (d->is_clang)
		push(&d->args, "--start-no-unused-arguments");
	push(&d->args, a);
	if (d->is_clang)
		push(&d->args, "--end-no-unused-arguments");
}

/* Where Chord's last options go: before `--`, after which all are inputs, and before an option without the value that it needs. */
static size_t
last_place(const VEC_ARGS *args)
{
	size_t i;

	for (i = 0; i < args->n && strcmp(args->at[i], "--"); i++)
		if (value_is_next(args->at[i]) && ++i == args->n)
			return i - 1;
	return i;
}

/* Options that come after the user's, because the last ones count. */
static void
push_last(struct driver *d, bool links)
{
	const char *measure = request_text(&d->request, d->pool);

	/* The reader finds the program of a profile by its build id. */
	if (links && d->no_id)
		push_quietly(d, "-Wl,--build-id");
	if (measure)
		push_quietly(d, pool_printf(d->pool, "-Wa,%s", measure));
	if (d->is_clang)
		push_quietly(d, "-fno-integrated-as");
	for (size_t i = 0; i < d->counter.n; i++)
		push_quietly(d, d->counter.at[i]);
}

/* Is everything compiled as without Chord? */
static bool
is_plain(const struct driver *d)
{
	return d->probe || d->foreign;
}

static void
push_all(struct driver *d, const char *dir, const VEC_ARGS *args)
{
	bool links = d->ninput && !d->stops && !is_plain(d);
	size_t last = last_place(args);

	if (!is_plain(d))
		push_quietly(d, pool_printf(d->pool, "-B%s/", dir));
	/* The folder has only <chord.h>. It comes after all other folders, so it hides no header of that name. */
	if (!d->unlike_c)
		push_quietly(d, pool_printf(d->pool, "-idirafter%s/headers", dir));
	if (links)
		push_quietly(d, "-Wl,--build-id");
	for (size_t i = 0; i <= args->n; i++) {
		if (i == last && !is_plain(d))
			push_last(d, links);
		if (i < args->n)
			push(&d->args, args->at[i]);
	}
	push(&d->args, NULL);
}

/* Gives the compiler the user's arguments: as they were, if it can read them like that, else those that Chord has read. */
static void
push_given(struct driver *d, const char *dir, char **argv, size_t n, bool as_given)
{
	VEC_ARGS open = {0};

	for (size_t i = 0; as_given && i < n; i++)
		if (!starts(argv[i], "-fchord"))
			VEC_PUSH(open, argv[i]);
	push_all(d, dir, as_given ? &open : &d->given);
	free(open.at);
}

static int
run(struct driver *d)
{
	int status;

	if (!d->ninput || d->stops || is_plain(d)) {
		execvp(d->args.at[0], d->args.at);
		say_error(d->args.at[0], "%s", strerror(errno));
		return EXIT_NO;
	}
	status = child_run(d->args.at);
	if (status < 0) {
		say_error(d->args.at[0], "%s", strerror(errno));
		return EXIT_NO;
	}
	if (status == 0)
		link_check(d->pool, d->output);
	return child_status(status);
}

/* Does a measure keep path registers in the shadow of stacks? */
static bool
follows_paths(const struct request *r)
{
	return measures_with(r->measures, CHORD_FLOW) & measures_with(r->measures, CHORD_STACK);
}

/* Is there anything that cannot be measured as requested? True: the error has been reported. */
static bool
cannot_measure(const struct driver *d)
{
	if (d->is_clang && d->lto && d->ninput && !d->foreign)
		say_error("-flto", "clang's link-time optimiser writes no assembly text; what it makes cannot be measured");
	else if (d->shadowed && d->ninput && !is_plain(d) && follows_paths(&d->request))
		say_error(pool_printf(d->pool, "-fsanitize=%s", d->shadowed), "its shadow memory is where that of paths would be: "
		          "with it, edges, calls and events can be counted, and neither paths nor traces");
	else if (d->is_clang && d->bitcode && d->ninput && !is_plain(d) && request_text(&d->request, d->pool))
		say_error("-fembed-bitcode", "with it clang takes no options for the assembler, which so cannot be told what to "
		          "measure; without Chord's options edges are counted");
	else
		return false;
	return true;
}

static int
drive(const char *variable, const char *usual, int argc, char **argv)
{
	struct driver d = {.pool = pool_new(), .output = "a.out"};
	const char *dir = libexec_dir(d.pool);
	size_t n = argc > 1 ? (size_t)argc - 1 : 0;
	bool as_given;
	int status;

	if (!dir)
		die("runtime.s", "not found beside the program; Chord is not installed whole");
	cc_within(d.pool, variable);
	argv = take_compiler(&d, variable, usual, argv + 1, &n);
	cc_say_clang(d.pool, d.args.at, d.is_clang ? d.args.n : 0);
	as_given = expand_args(&d, argv, n);
	if (!read_args(&d) || !request_complete(&d.request, d.pool)) {
		status = EXIT_USAGE;
	} else if (cannot_measure(&d)) {
		status = EXIT_USAGE;
	} else {
		if (d.foreign && !d.probe && d.ninput && (d.objects || !d.stops))
			say_warning(d.target, "not measured: it is another system");
		push_given(&d, dir, argv, n, as_given);
		status = run(&d);
	}
	request_free(&d.request);
	free(d.all.at);
	free(d.given.at);
	free(d.counter.at);
	free(d.args.at);
	pool_free(d.pool);
	return status;
}

static void
help(const char *name, const char *compiler, const char *variable)
{
	printf("Usage: chord %s [COMPILER] [ARGUMENT...]\n\n"
	       "Runs the compiler (or the command in %s, or %s) with all arguments so that what\n"
	       "it compiles measures itself. Its own options may stand anywhere in the arguments:\n\n", name, variable, compiler);
	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		printf("  -fchord=%-12s %s\n", measure_list[m].name, measure_list[m].what);
	printf("  -fchord-events=LIST  the events, with commas between them (default: instructions); see chord-cc(1)\n"
	       "  -fchord-timers=LIST  events of which the program may be told when so many more have happened (chord.h)\n"
	       "  -fchord-paths=FILE   the paths to count (`chord paths select`); all others are not\n"
	       "  -fchord-trace=HOW    how a trace is written: paths (default), witness, bits or branches\n"
	       "  -fchord-trace-stamp=LIST  functions whose calls are put in order among threads; * and ? are patterns\n"
	       "  -fchord-weights=FILE how often edges ran before: counters go where that is cheap\n"
	       "  -fchord-loops=registers  count in registers in loops: cheaper, but SIGKILL loses what the loop had counted\n\n"
	       "Measures go together with commas between them: edges,events. --measures alone lists them with what is true of\n"
	       "each.\n\nExample: make CC=\"chord cc\" CFLAGS=-O2\n\nThe compiler's own help follows.\n\n");
	fflush(stdout);
}

static int
list(void)
{
	struct buf b = {0};

	measures_list(&b);
	fwrite(b.at, 1, b.n, stdout);
	buf_free(&b);
	return 0;
}

/* Is only help asked for? Compilers do not know -h, which is then --help for them, too. */
static bool
asks_for_help(int argc, char **argv)
{
	static char help_option[] = "--help";

	if (argc == 2 && !strcmp(argv[1], "-h"))
		argv[1] = help_option;
	return argc == 2 && !strcmp(argv[1], help_option);
}

int
cmd_cc(int argc, char **argv)
{
	if (asks_for_help(argc, argv))
		help("cc", "gcc", "CHORD_CC");
	if (argc == 2 && !strcmp(argv[1], "--measures"))
		return list();
	return drive("CHORD_CC", "gcc", argc, argv);
}

int
cmd_cxx(int argc, char **argv)
{
	if (asks_for_help(argc, argv))
		help("c++", "g++", "CHORD_CXX");
	return drive("CHORD_CXX", "g++", argc, argv);
}

int
cmd_hook(int argc, char **argv)
{
	struct pool *pool = pool_new();
	const char *dir = libexec_dir(pool);

	if (argc > 1) {
		bool asked = !strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "-?");

		fprintf(asked ? stdout : stderr,
		        "Usage: chord hook\n\nPrints the folder to give to a compiler's -B option, for example\n\n"
		        "  gfortran -B\"$(chord hook)\" -O2 -o prog prog.f90\n\n"
		        "or to have in the environment of a build that drops options:\n\n"
		        "  COMPILER_PATH=\"$(chord hook)\" make\n");
		pool_free(pool);
		return asked ? 0 : EXIT_USAGE;
	}
	if (!dir)
		die("runtime.s", "not found beside the program; Chord is not installed whole");
	printf("%s/\n", dir);
	pool_free(pool);
	return 0;
}
