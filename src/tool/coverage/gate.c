/* SPDX-License-Identifier: MIT */
/* Limits: whether enough ran, exact to the line. */
#include "tool/coverage/coverage.h"
#include "tool/options.h"

#include <inttypes.h>
#include <string.h>

static const char *
kind_name(int kind)
{
	return kind == LIMIT_CHANGED ? "changed" : coverage_names[kind];
}

/* The kind that a word names, in the singular or the plural; -1: no kind. */
static int
kind_named(struct str word)
{
	for (int k = 0; k < LIMITS; k++) {
		struct str name = str_of(kind_name(k)), one = {name.at, name.n - (k == COVERAGE_BRANCHES ? 2 : 1)};

		if (str_eq(word, name) || (k != LIMIT_CHANGED && str_eq(word, one)))
			return k;
	}
	return -1;
}

/* A limit without a kind is of the changed lines if there is a diff, else of all lines. This is known only when all options are
 * read. */
static bool
read_one(struct coverage_options *o, const char *text)
{
	const char *colon = strchr(text, ':'), *number = colon ? colon + 1 : text;
	int kind = colon ? kind_named((struct str){text, (size_t)(colon - text)}) : o->diff ? LIMIT_CHANGED : COVERAGE_LINES;

	if (kind < 0 || !options_percent(number, &o->limit[kind].millionths) || o->limit[kind].millionths > 100000000)
		return false;
	o->limit[kind].text = number;
	return true;
}

bool
gate_read(struct coverage_options *o, const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *one; /* lives as long as the limits do */

	while ((one = strsep(&rest, ",")))
		if (!read_one(o, one))
			return false;
	return true;
}

static bool
reaches(uint64_t part, uint64_t all, uint64_t millionths)
{
	return (unsigned __int128)part * 100000000 >= (unsigned __int128)millionths * all;
}

/* Reports changed lines that may or may not have code. True: there are some. */
static bool
says_unplaced(const struct coverage_tool *t)
{
	const struct changed *ch = &t->changed;
	bool says = false;

	for (size_t i = 0; i < ch->file.n; i++) {
		if (!ch->file.at[i].unplaced || !ch->file.at[i].line.n)
			continue;
		say_error("changed lines", "%s has no line information (was it built with -g?), so it cannot be said whether the "
		          "limit is reached", ch->file.at[i].name);
		says = true;
	}
	if (says || t->c.has_lines || !changed_lines(ch))
		return says;
	say_error("changed lines", "the programs have no line information (were they built with -g?), so it cannot be said "
	          "whether the limit is reached");
	return true;
}

static bool
is_below(const struct coverage_tool *t, int kind)
{
	const struct limit *l = &t->opt->limit[kind];
	const struct coverage_share *s = kind == LIMIT_CHANGED ? &t->changed.share : &t->c.share[kind];
	const char *name = kind == LIMIT_CHANGED ? "changed lines" : kind_name(kind);
	uint64_t all = coverage_of(s);
	int n = (int)strcspn(l->text, "%");
	char share[SHARE];

	if (kind == LIMIT_CHANGED && says_unplaced(t))
		return true;
	/* A change without code needs no test. */
	if (!all && kind == LIMIT_CHANGED)
		return false;
	if (!all)
		say_error(name, "there are none, so that a limit of %.*s %% is not reached%s", n, l->text,
		          kind == COVERAGE_LINES ? ": was it built with -g?" : "");
	else if (reaches(s->n[VIEW_RAN], all, l->millionths))
		return false;
	else if (reaches(s->n[VIEW_RAN] + s->n[VIEW_MAYBE], all, l->millionths))
		say_error(name, "%s %% ran: of %" PRIu64 " it is not known, so it cannot be said whether the limit of %.*s %% is "
		          "reached",
		          share_text(share, s), s->n[VIEW_MAYBE], n, l->text);
	else
		say_error(name, "%s %% ran, %" PRIu64 " of %" PRIu64 ": below the limit of %.*s %%", share_text(share, s),
		          s->n[VIEW_RAN], all, n, l->text);
	return true;
}

bool
gate_fails(const struct coverage_tool *t)
{
	const struct run *r = t->run;
	bool fails = false, any = false;

	for (int k = 0; k < LIMITS; k++) {
		any |= t->opt->limit[k].text != NULL;
		fails |= t->opt->limit[k].text && is_below(t, k);
	}
	for (size_t i = 0; any && i < r->nunread; i++)
		say_error(r->unknown.at[i].name, "it was measured and is in no sum (%s), so it cannot be said whether a limit is "
		          "reached", r->unknown.at[i].reason);
	return fails || (any && r->nunread);
}
