/* SPDX-License-Identifier: MIT */
/* What commands use to print, and options that several of them have. */
#include "tool/print.h"
#include "format/format.h"
#include "format/trace.h"

#include <argp.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- how names are shown ---- */

enum { OPT_NO_DEMANGLE = 1024, OPT_FULL_NAMES };

static const struct argp_option names_options[] = {
	{"no-demangle", OPT_NO_DEMANGLE, NULL, 0, "Symbols of C++, Rust and D as they stand in the program", -2},
	{0},
};
static const struct argp_option rows_options[] = {
	{"full-names", OPT_FULL_NAMES, NULL, 0, "Long names whole, on a terminal too", -2},
	{0},
};

static bool full_names;

static error_t
parse_names(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	(void)state;
	if (key == OPT_NO_DEMANGLE)
		image_keep_mangled();
	else if (key == OPT_FULL_NAMES)
		full_names = true;
	else
		return ARGP_ERR_UNKNOWN;
	return 0;
}

static const struct argp names_argp = {names_options, parse_names, NULL, NULL, NULL, NULL, NULL};
const struct argp_child print_names[] = {{&names_argp, 0, NULL, 0}, {0}};
static const struct argp rows_argp = {rows_options, parse_names, NULL, NULL, NULL, NULL, NULL};
const struct argp_child print_names_in_rows[] = {{&names_argp, 0, NULL, 0}, {&rows_argp, 0, NULL, 0}, {0}};

/* How many characters of a name are shown, so that numbers and a place fit into a line of the terminal. SIZE_MAX: no limit. */
static size_t
room_for_names(void)
{
	enum { BESIDE = 46, LEAST = 34, USUAL = 80 };
	const char *variable = getenv("COLUMNS");
	uint64_t columns = USUAL;
	struct winsize w;

	if (full_names || !isatty(STDOUT_FILENO))
		return SIZE_MAX;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) && w.ws_col)
		columns = w.ws_col;
	else if (variable)
		number_read(variable, 1, SIZE_MAX, &columns);
	return columns > BESIDE + LEAST ? columns - BESIDE : LEAST;
}

/* What is shown is kept until the end: the same few names are shown again and again. */
static struct pool *
shown_pool(void)
{
	static struct pool *pool;

	if (!pool)
		pool = pool_new();
	return pool;
}

const char *
plain_text(const char *text)
{
	struct buf copy = {0};

	for (const char *c = text; *c; c++) {
		if (plain_char(*c) == *c)
			continue;
		buf_plain(&copy, text);
		text = pool_strndup(shown_pool(), copy.at, copy.n);
		buf_free(&copy);
		break;
	}
	return text;
}

const char *
plain_name(const char *symbol)
{
	return plain_text(image_readable(symbol));
}

const char *
shown_name(const char *symbol)
{
	static size_t room;

	if (!room)
		room = room_for_names();
	return plain_text(image_shortened(shown_pool(), image_readable(symbol), room));
}

/* ---- numbers, paths, source ---- */

const char *
range(char out[RANGE], uint64_t least, uint64_t most)
{
	char from[32], to[32];

	if (least == most)
		snprintf(out, RANGE, "%s", grouped(from, least));
	else if (most == COUNT_NO_BOUND)
		snprintf(out, RANGE, "%s or more", grouped(from, least));
	else
		snprintf(out, RANGE, "%s to %s", grouped(from, least), grouped(to, most));
	return out;
}

const char *
of_many(uint64_t n, const char *one, const char *more)
{
	return n == 1 ? one : more;
}

/* The current folder, or "". It is asked for once, because a trace may show the paths of millions of lines. */
static const char *
folder_here(void)
{
	static char *here;

	if (!here)
		here = getcwd(NULL, 0);
	return here ? here : "";
}

const char *
path_from_here(const char *path)
{
	static const char none[] = "";
	const char *cwd = *path == '/' ? folder_here() : none;
	size_t n = strlen(cwd);
	bool below = n > 1 && !strncmp(path, cwd, n) && path[n] == '/';

	return below ? path + n + 1 : *path ? path : none;
}

const char *
shown_path(const char *path)
{
	return plain_text(path_from_here(path));
}

bool
number_read(const char *text, uint64_t least, uint64_t most, uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && !errno && *n >= least && *n <= most;
}

size_t
option_top(const char *text, const char *of, struct argp_state *state)
{
	uint64_t n;

	if (!number_read(text, 0, SIZE_MAX, &n))
		argp_error(state, "--top=%s: not a number of %s", text, of);
	return n;
}

/* Why output has failed. The stream keeps the error and not its reason, so one more byte is tried; the output is incomplete
 * anyway. */
static const char *
why_not(FILE *to)
{
	return write(fileno(to), "\n", 1) < 0 ? strerror(errno) : "not all of it could be written";
}

bool
print_whole(const char *name, FILE *to)
{
	bool before = ferror(to), now = fflush(to);
	const char *why = now ? strerror(errno) : NULL;

	if (!before && !now)
		return true;
	clearerr(to);
	say_error(name ? name : "standard output", "%s", why ? why : why_not(to));
	return false;
}

void
print_ends(void)
{
	if (!print_whole(NULL, stdout))
		_exit(EXIT_NO);
}

bool
may_replace(const char *file)
{
	struct chord_profile_head h = {0};
	struct stat st;
	ssize_t n = !stat(file, &st) && S_ISREG(st.st_mode) ? file_peek(file, &h, sizeof h) : 0;
	const char *what = NULL;

	if (n >= SELFMAG && !memcmp(&h, ELFMAG, SELFMAG))
		what = "a program or object";
	else if (n >= (ssize_t)sizeof h.magic && h.magic == CHORD_TRACE_MAGIC)
		what = "a trace";
	else if (n == sizeof h && h.magic == CHORD_PROFILE_MAGIC && !(h.flags & CHORD_PROFILE_MERGED))
		what = "the profile of a process";
	if (what)
		say_error(file, "%s, which would be lost: write to another file, or remove it first", what);
	return !what;
}

bool
save_output(const char *file, const struct buf *out)
{
	bool ok;

	if (file && (!strcmp(file, "-") || !strcmp(file, "/dev/stdout")))
		file = NULL;
	if (!file) {
		fwrite(out->at, 1, out->n, stdout);
		return print_whole(NULL, stdout);
	}
	if (!may_replace(file))
		return false;
	ok = file_write(file, out->at, out->n);
	if (!ok)
		say_error(file, "%s", strerror(errno));
	return ok;
}

void
print_source(struct str text)
{
	for (size_t k = 0; k < text.n; k++) {
		char c = text.at[k];

		putchar(c == '\t' ? c : plain_char(c));
	}
}

void
warn_of_newer_sources(const struct run *run)
{
	const char *name;
	size_t n = view_source_newer(run, &name);

	if (n > 1)
		say_warning(shown_path(name), "newer than %s, as are %zu more of its sources: their lines may not be those that "
		            "were compiled", run->path, n - 1);
	else if (n)
		say_warning(shown_path(name), "newer than %s: its lines may not be those that were compiled", run->path);
}

void
put_escaped(const char *s)
{
	for (; *s; s++) {
		if (strchr("|\\`*_<>[]#&", *s))
			putchar('\\');
		putchar(plain_char(*s));
	}
}

/* At most so many are named of what a reader need not see whole. */
enum { FEW = 10 };

static void
print_summed(const struct run *run)
{
	size_t n = run->summed.n;

	if (n == 1) {
		printf("%s\n", plain_text(run->summed.at[0]));
		return;
	}
	printf("sum of %zu profiles:", n);
	for (size_t i = 0; i < n && (i < FEW || n == FEW + 1); i++)
		printf(" %s", plain_text(run->summed.at[i]));
	if (n > FEW + 1)
		printf(" and %zu more (--json names all)", n - FEW);
	putchar('\n');
}

void
print_run_profiles(const struct run *run)
{
	if (!run->every)
		printf("%s: ", plain_text(run->path));
	print_summed(run);
	for (size_t i = 0; i < run->left_out.n; i++)
		printf("left out: %s: %s\n", plain_text(run->left_out.at[i].name), run->left_out.at[i].reason);
	for (size_t i = !run->every; i < run->binary.n; i++)
		printf("with %s\n", plain_text(run->binary.at[i].path));
}

size_t
print_group(const struct named *at, size_t n, size_t *shown)
{
	size_t same = 1;

	while (same < n && !strcmp(at[same].reason, at->reason))
		same++;
	*shown = same > FEW + 1 ? FEW : same;
	return same;
}

void
print_run_unknown(const struct run *run)
{
	size_t n, shown;

	if (!run->unknown.n)
		return;
	printf("\nNot known, and in no sum above:\n");
	for (size_t i = 0; i < run->unknown.n; i += n) {
		n = print_group(&run->unknown.at[i], run->unknown.n - i, &shown);
		for (size_t k = i; k < i + shown; k++)
			printf("  %s: %s\n", plain_name(run->unknown.at[k].name), run->unknown.at[k].reason);
		if (shown < n)
			printf("  and %zu more, for the same reason (--json names all)\n", n - shown);
	}
}

void
print_run_notes(const struct run *run)
{
	if (run->note.n)
		printf("\nNote:\n");
	for (size_t i = 0; i < run->note.n; i++)
		printf("  %s\n", image_readable_text(run->note.at[i]));
}
