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

/* Types of sections that clang writes by names of its own, and that other assemblers know as numbers only. */
static const char *const section_types[][2] = {
	{"@llvm_odrtab", "@0x6fff4c00"},
	{"@llvm_linker_options", "@0x6fff4c01"},
	{"@llvm_dependent_libraries", "@0x6fff4c04"},
	{"@llvm_sympart", "@0x6fff4c05"},
	{"@llvm_offloading", "@0x6fff4c0b"},
	{"@llvm_lto", "@0x6fff4c0c"},
};

/* The number of the type whose name stands at *at, which is moved behind it; NULL: there is no such name. */
static const char *
numbered_type(const char **at, const char *end)
{
	for (size_t i = 0; i < sizeof section_types / sizeof *section_types; i++) {
		size_t n = strlen(section_types[i][0]);

		if ((size_t)(end - *at) < n || memcmp(*at, section_types[i][0], n) || (*at + n < end && !strchr(", \t", (*at)[n])))
			continue;
		*at += n;
		return section_types[i][1];
	}
	return NULL;
}

/* Appends a line with a number in place of the name of its section's type. False: it has none, and nothing is appended. */
static bool
number_type(struct buf *to, const char *line, const char *end)
{
	static const char word[] = "\t.section\t";
	const char *at = line, *number = NULL, *behind;

	if ((size_t)(end - line) < sizeof word - 1 || memcmp(line, word, sizeof word - 1))
		return false;
	while ((at = memchr(at, '@', (size_t)(end - at)))) {
		behind = at;
		if ((number = numbered_type(&behind, end)))
			break;
		at++;
	}
	if (!number)
		return false;
	buf_add(to, line, (size_t)(at - line));
	buf_str(to, number);
	buf_add(to, behind, (size_t)(end - behind));
	return true;
}

/* Appends the byte of a prefix in place of a line that only has the prefix, as in calls for thread-local variables. False: it is
 * none, and nothing is appended. */
static bool
byte_prefix(struct buf *to, const char *line, const char *end)
{
	static const char word[] = "\tdata16";

	if ((size_t)(end - line) != sizeof word - 1 || memcmp(line, word, sizeof word - 1))
		return false;
	buf_str(to, "\t.byte\t0x66");
	return true;
}

/* Is the line about addresses that matter to linkers, which fold functions of the same code into one? Without such lines all do. */
static bool
is_significance(const char *line, const char *end)
{
	struct str s = {line, (size_t)(end - line)};

	return str_eq(s, str_of("\t.addrsig")) || str_starts(s, "\t.addrsig_sym ");
}

static bool
has_word(const struct buf *text, const char *word)
{
	return memmem(text->at, text->n, word, strlen(word));
}

bool
cc_text_for_gas(struct buf *text)
{
	struct buf to = {0};
	bool changed = false;

	if (!text->n || !(has_word(text, "@llvm_") || has_word(text, "\tdata16\n") || has_word(text, "\t.addrsig")))
		return false;
	for (const char *line = text->at, *all = line + text->n, *end; line < all; line = end) {
		end = memchr(line, '\n', (size_t)(all - line));
		end = end ? end : all;
		if (number_type(&to, line, end) || byte_prefix(&to, line, end) || is_significance(line, end))
			changed = true;
		else
			buf_add(&to, line, (size_t)(end - line));
		if (end < all)
			buf_add(&to, end++, 1);
	}
	buf_free(text);
	*text = to;
	return changed;
}

bool
cc_clang_for_gas(struct buf *text)
{
	const char *words = getenv(CLANG_WORDS);

	return words && *words && cc_text_for_gas(text);
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
