/* SPDX-License-Identifier: MIT */
/* What clang does otherwise than gcc: one clang makes code for many systems, and it is its own assembler, for which some options
 * write what no other assembler reads. */
#include "driver/driver.h"
#include "machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The words by which the compiler is run, with newlines between them, if it is clang. */
#define CLANG_WORDS "CHORD_CC_CLANG"

void
cc_say_clang(struct pool *pool, char *const *words, size_t n)
{
	const char *all = "";

	for (size_t i = 0; i < n; i++)
		all = pool_printf(pool, "%s%s%s", all, i ? "\n" : "", words[i]);
	if (n ? setenv(CLANG_WORDS, all, 1) : unsetenv(CLANG_WORDS))
		die("environment", "out of memory");
}

int
cc_clang_assembles(struct pool *pool, const struct buf *text, const VEC_ARGS *options, const char *output, struct buf *says)
{
	static char *const more[] = {"-fintegrated-as", "-c", "-x", "assembler", "-o"};
	const char *words = getenv(CLANG_WORDS);
	struct child_fds fds = CHILD_FDS_NONE;
	VEC_ARGS args = {0};
	struct feeder feeder;
	int status;

	for (const char *at = words; at && *at; at += strspn(at, "\n")) {
		VEC_PUSH(args, pool_strndup(pool, at, strcspn(at, "\n")));
		at += strcspn(at, "\n");
	}
	if (!args.n)
		return -1;
	for (size_t i = 0; i < options->n; i++) {
		bool apart = !strcmp(options->at[i], "-I") && i + 1 < options->n;

		if (!strncmp(options->at[i], "-I", 2))
			VEC_PUSH(args, options->at[i]);
		if (apart)
			VEC_PUSH(args, options->at[++i]);
	}
	for (size_t i = 0; i < sizeof more / sizeof *more; i++)
		VEC_PUSH(args, more[i]);
	VEC_PUSH(args, (char *)(uintptr_t)output);
	VEC_PUSH(args, (char *)(uintptr_t)"-");
	VEC_PUSH(args, NULL);
	if (!child_feed(&feeder, text, &fds.in))
		die("pipe", "%s", strerror(errno));
	status = child_hear(args.at, &fds, &fds.err, says);
	child_fed(&feeder, fds.in);
	free(args.at);
	return status;
}

bool
cc_is_foreign(const char *target)
{
	static const char *const systems[] = {"linux", "elf", "none"};
	const char *machine = machine_of_host()->name;
	size_t n = strcspn(target, "-");

	if (strlen(machine) != n || strncmp(machine, target, n))
		return true;
	if (!target[n])
		return false;
	for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
		if (strstr(target + n, systems[i]))
			return false;
	return true;
}

const char *
cc_counter_option(const char *option)
{
	static const char *const own[][2] = {
		{"-faddrsig", "-fno-addrsig"},
		{"-gembed-source", "-gno-embed-source"},
		{"-fpseudo-probe-for-profiling", "-fno-pseudo-probe-for-profiling"},
	};

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (!strcmp(option, own[i][0]))
			return own[i][1];
	return NULL;
}
