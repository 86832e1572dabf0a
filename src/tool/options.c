/* SPDX-License-Identifier: MIT */
/* Command lines: -h gives help everywhere, and for mistyped words a similar word is suggested. */
#include "tool/options.h"
#include "tool/tool.h"

#include "base/base.h"
#include "format/format.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No word is suggested for one longer than this. */
enum { LONGEST = 40 };

/* ---- options ---- */

/* Option i of a command; the options that it shares with other commands come after its own. {0}: there is none. */
static struct argp_option
option_at(const struct argp *argp, size_t i)
{
	static const struct argp_option none;
	const struct argp_option *o = argp->options;

	for (; o && (o->name || o->key || o->doc || o->group); o++, i--)
		if (!i)
			return *o;
	for (const struct argp_child *c = argp->children; c && c->argp; c++)
		for (o = c->argp->options; o && (o->name || o->key || o->doc || o->group); o++, i--)
			if (!i)
				return *o;
	return none;
}

static bool
is_end(const struct argp_option *o)
{
	return !o->name && !o->key && !o->doc && !o->group;
}

static const char *const common[] = {"help", "usage", "version"};
enum { NCOMMON = sizeof common / sizeof *common };

static const char *
name_at(const void *ctx, size_t i)
{
	struct argp_option o;

	if (i < NCOMMON)
		return common[i];
	o = option_at(ctx, i - NCOMMON);
	return is_end(&o) ? NULL : o.name ? o.name : "";
}

/* The option that a word with its dashes names, in full or by its beginning. False: none. */
static bool
find_option(const struct argp *argp, const char *word, struct argp_option *found)
{
	const char *name = word + 2;
	size_t n = strcspn(word[1] == '-' ? name : "", "=");

	for (size_t i = 0; *found = option_at(argp, i), !is_end(found); i++) {
		if (word[1] != '-' && found->key == word[1] && word[1])
			return true;
		if (word[1] == '-' && found->name && !strncmp(found->name, name, n))
			return true;
	}
	return false;
}

static bool
is_common(const char *word)
{
	for (size_t i = 0; i < NCOMMON; i++)
		if (!strncmp(common[i], word + 2, strlen(word + 2)))
			return true;
	return false;
}

static void
suggest(const struct argp *argp, const char *command, const char *word)
{
	char name[LONGEST + 1];
	size_t n = strcspn(word + 2, "=");
	const char *meant;

	if (n > LONGEST)
		return;
	memcpy(name, word + 2, n);
	name[n] = 0;
	meant = name_nearest(name, name_at, argp);
	if (!meant)
		return;
	say_error(command, "unrecognized option '--%s'; did you mean --%s?", name, meant);
	exit(EXIT_USAGE);
}

/* Is the option's value the next word? */
static bool
takes_next(const struct argp_option *o, const char *word)
{
	return o->arg && !(o->flags & OPTION_ARG_OPTIONAL) && (word[1] == '-' ? !strchr(word, '=') : !word[2]);
}

bool
options_lead_with(const struct argp *argp, int argc, char **argv, int key)
{
	for (int i = 1; i < argc && argv[i][0] == '-' && argv[i][1] && strcmp(argv[i], "--"); i++) {
		struct argp_option o;

		if (!find_option(argp, argv[i], &o))
			continue;
		if (o.key == key)
			return true;
		i += takes_next(&o, argv[i]);
	}
	return false;
}

void
options_read(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
	static char help[] = "--help";

	for (int i = 1; i < argc && strcmp(argv[i], "--"); i++) {
		struct argp_option o;
		bool is_option = argv[i][0] == '-' && argv[i][1];

		if (!is_option && flags & ARGP_IN_ORDER)
			break;
		if (!is_option)
			continue;
		if (find_option(argp, argv[i], &o))
			i += takes_next(&o, argv[i]);
		else if (!strcmp(argv[i], "-h"))
			argv[i] = help;
		else if (argv[i][1] == '-' && !is_common(argv[i]))
			suggest(argp, argv[0], argv[i]);
	}
	if (argp_parse(argp, argc, argv, flags, NULL, input))
		die("memory", "out of memory");
}

/* ---- operands and values ---- */

bool
options_is_profile(const char *name)
{
	uint64_t magic = 0;
	ssize_t got;

	if (!strcmp(name, "-"))
		return true;
	got = file_peek(name, &magic, sizeof magic);

	return (got < 0 && errno == EISDIR) || (got == sizeof magic && magic == CHORD_PROFILE_MAGIC) ||
	       str_ends(str_of(name), ".chord");
}

bool
options_percent(const char *text, uint64_t *millionths)
{
	uint64_t n = 0;
	int digits = 0, behind = -1;
	const char *c = text;

	for (; isdigit((unsigned char)*c) || (*c == '.' && behind < 0); c++) {
		if (*c == '.') {
			behind = 0;
			continue;
		}
		digits++;
		behind += behind >= 0;
		n = n * 10 + (uint64_t)(*c - '0');
		if (n > 1000000000000 || behind > 6)
			return false;
	}
	for (behind = behind < 0 ? 0 : behind; behind < 6; behind++)
		n *= 10;
	*millionths = n;
	return digits && (!*c || !strcmp(c, "%"));
}
