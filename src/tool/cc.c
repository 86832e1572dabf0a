/* SPDX-License-Identifier: MIT */
/* chord cc, chord c++: the compiler with Chord's folder before its assembler's. */
#include "tool/as.h"
#include "tool/tool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct driver {
	struct pool *pool;
	const char *compiler;
	bool is_clang;
	bool links;          /* no -c, -S, -E ... */
	bool measures;       /* some -fchord= was given */
	VEC_ARGS args;
};

static bool
stops_early(const char *a)
{
	static const char *const names[] = {"-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "-v", "-###", "--version", "-r"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(a, names[i]))
			return true;
	return !strncmp(a, "-print-", 7) || !strncmp(a, "-dump", 5) || !strncmp(a, "--print-", 8) || !strncmp(a, "--help", 6);
}

/* The file that a command would run. */
static const char *
compiler_file(const char *compiler, struct pool *pool)
{
	const char *path = getenv("PATH");
	char real[4096];

	for (const char *p = path ? path : "", *end; *p && !strchr(compiler, '/'); p = *end ? end + 1 : end) {
		const char *name;

		end = p + strcspn(p, ":");
		name = pool_printf(pool, "%.*s/%s", (int)(end - p), p, compiler);
		if (!access(name, X_OK)) {
			compiler = name;
			break;
		}
	}
	return realpath(compiler, real) ? pool_strdup(pool, real) : compiler;
}

static bool
is_clang(const char *compiler, struct pool *pool)
{
	return strstr(base_name(compiler), "clang") || strstr(base_name(compiler_file(compiler, pool)), "clang");
}

static void
push(struct driver *d, const char *a)
{
	VEC_PUSH(d->args, (char *)(uintptr_t)a);
}

/* Chord's own options go to the stand-in by -Wa; the others stay as they are. */
static bool
take(struct driver *d, const char *a)
{
	static const char *const known[] = {"edges", "every-block", "every-edge"};

	d->links &= !stops_early(a);
	if (strncmp(a, "-fchord", 7)) {
		push(d, a);
		return true;
	}
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strncmp(a, "-fchord=", 8) && !strcmp(a + 8, known[i])) {
			push(d, pool_printf(d->pool, "-Wa,--chord=%s", known[i]));
			return true;
		}
	error(a, "unknown; there are -fchord=edges, -fchord=every-block and -fchord=every-edge");
	return false;
}

static int
drive(const char *variable, const char *fallback, int argc, char **argv)
{
	struct driver d = {.pool = pool_new(), .links = argc > 1};
	const char *dir = libexec_dir(d.pool);

	d.compiler = getenv(variable) && *getenv(variable) ? getenv(variable) : fallback;
	d.is_clang = is_clang(d.compiler, d.pool);
	if (!dir)
		die("runtime.s", "not found beside the program; Chord is not installed whole");
	push(&d, d.compiler);
	push(&d, pool_printf(d.pool, "-B%s/", dir));
	if (d.is_clang)
		push(&d, "-fno-integrated-as");
	for (int i = 1; i < argc; i++)
		if (!take(&d, argv[i]))
			return EXIT_USAGE;
	if (d.links)
		push(&d, "-Wl,--build-id");
	push(&d, NULL);
	execvp(d.compiler, d.args.at);
	error(d.compiler, "%s", strerror(errno));
	return EXIT_NO;
}

int
cmd_cc(int argc, char **argv)
{
	return drive("CHORD_CC", "gcc", argc, argv);
}

int
cmd_cxx(int argc, char **argv)
{
	return drive("CHORD_CXX", "g++", argc, argv);
}

int
cmd_hook(int argc, char **argv)
{
	struct pool *pool = pool_new();
	const char *dir = libexec_dir(pool);

	if (argc > 1) {
		printf("Usage: chord hook\n\nPrints the folder to give to a compiler's -B option, for example\n\n"
		       "  gfortran -B\"$(chord hook)\" -O2 -o prog prog.f90\n");
		pool_free(pool);
		return strcmp(argv[1], "--help") ? EXIT_USAGE : 0;
	}
	if (!dir)
		die("runtime.s", "not found beside the program; Chord is not installed whole");
	printf("%s/\n", dir);
	pool_free(pool);
	return 0;
}
