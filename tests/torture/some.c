/* SPDX-License-Identifier: MIT */
/* chamber: programs that count some paths only. A run that counts all paths gives the choice; the program is built again with
 * the chosen paths. It must do the same, each path of interest must have its count, and no other path may be counted as one. */
#include "tests/torture/chamber.h"

#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Ways to choose: by a rule, and of the paths that it chooses, one in so many, at random. */
static const struct set {
	const char *rule;
	unsigned one_in;
} sets[] = {
	{"--rule top:5%", 1},
	{"--rule top:100%", 3},
	{"--rule uncovered --most 200 --rule top:40%", 2},
};

/* Counts by procedure, source and edges. */
struct counted {
	struct strmap count;
	struct strmap doubtful;  /* procedures that are not exact */
	json_t *json;
};

/* chord paths ..., of a program and all its profiles. */
static bool
ask(const char *arguments, const char *name, const char *output)
{
	words w = {0};
	glob_t found = {0};
	int status;

	VEC_PUSH(w, (char *)(uintptr_t)chord);
	add_text(&w, "paths");
	add_text(&w, arguments);
	add_text(&w, name);
	if (!glob(pool_printf(pool, "%s.chord*", name), 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			VEC_PUSH(w, found.gl_pathv[i]);
	status = run(&w, NULL, output, "log", COMPILE_SECONDS, false);
	globfree(&found);
	free(w.at);
	return status == 0;
}

static const char *
text_in(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

/* ---- what was counted ---- */

static struct str
key_of(const json_t *row)
{
	const json_t *edges = json_object_get(row, "edges");
	struct buf b = {0};
	struct str key;

	buf_printf(&b, "%s\t%s\t", text_in(row, "function"), text_in(row, "file"));
	for (size_t i = 0; i < json_array_size(edges); i++)
		buf_printf(&b, " %lld", (long long)json_integer_value(json_object_get(json_array_get(edges, i), "edge")));
	key = str_of(pool_strndup(pool, b.at, b.n));
	buf_free(&b);
	return key;
}

/* Procedures of one name and source are one. */
static bool
read_counted(struct counted *c, const char *name, const char *output)
{
	const json_t *rows, *doubts;

	*c = (struct counted){0};
	if (!ask("--json", name, output) || !(c->json = json_load_file(output, 0, NULL)))
		return false;
	rows = json_object_get(c->json, "paths");
	doubts = json_object_get(c->json, "inexact");
	for (size_t i = 0; i < json_array_size(rows); i++) {
		const json_t *row = json_array_get(rows, i);
		uint64_t n = 0;

		strmap_get(&c->count, key_of(row), &n);
		strmap_put(&c->count, key_of(row), n + (uint64_t)json_integer_value(json_object_get(row, "count")));
	}
	for (size_t i = 0; i < json_array_size(doubts); i++)
		strmap_put(&c->doubtful, str_of(pool_strdup(pool, text_in(json_array_get(doubts, i), "name"))), 1);
	return true;
}

static void
free_counted(struct counted *c)
{
	strmap_free(&c->count);
	strmap_free(&c->doubtful);
	json_decref(c->json);
}

/* ---- choosing ---- */

/* Leaves one in so many lines of paths; always the same ones. */
static void
thin(const char *path, unsigned one_in)
{
	struct buf b = {0};
	char *text = text_of(path, NULL), *at = text;
	unsigned random = 1;

	for (char *line; (line = strsep(&at, "\n")) && at;) {
		random = random * 1103515245 + 12345;
		if (strncmp(line, "path ", 5) != 0 || (random >> 16) % one_in == 0)
			buf_printf(&b, "%s\n", line);
	}
	if (!file_write(path, b.at, b.n))
		die(path, "it cannot be written");
	buf_free(&b);
	free(text);
}

/* The keys of the paths in the file. */
static struct strmap
read_chosen(struct trial *t, const char *path)
{
	struct strmap chosen = {0};
	char *text = text_of(path, NULL), *at = text, *name = NULL, *file = NULL;

	for (char *line; (line = strsep(&at, "\n"));) {
		char *word = strsep(&line, "\t");

		if (!strcmp(word, "procedure")) {
			name = strsep(&line, "\t");
			file = strsep(&line, "\t");
		} else if (!strncmp(word, "path ", 5)) {
			strmap_put(&chosen, str_of(pool_printf(pool, "%s\t%s\t%s", name, file, word + 4)), 1);
			note(t, "paths", 1);
		}
	}
	free(text);
	return chosen;
}

/* ---- comparing ---- */

static bool
is_doubtful(const struct counted *a, const struct counted *b, struct str key)
{
	struct str name = {key.at, strcspn(key.at, "\t")};
	uint64_t n;

	return strmap_get(&a->doubtful, name, &n) || strmap_get(&b->doubtful, name, &n);
}

/* A path in one of the two. False: that is wrong, and said. */
static bool
compare_one(struct trial *t, const struct strmap *chosen, const struct counted *all, const struct counted *some, struct str key)
{
	uint64_t want = 0, have = 0, n;
	bool of_interest = strmap_get(chosen, key, &n);

	strmap_get(&all->count, key, &want);
	strmap_get(&some->count, key, &have);
	if (is_doubtful(all, some, key) || have == (of_interest ? want : 0))
		return true;
	if (!of_interest)
		fail(t, "path %.*s is counted and is not of interest", (int)key.n, key.at);
	else
		fail(t, "path %.*s ran %llu times, and here %llu", (int)key.n, key.at, (unsigned long long)want,
			(unsigned long long)have);
	return false;
}

static bool
compare_rows(struct trial *t, const struct strmap *chosen, const struct counted *all, const struct counted *some,
	const json_t *json)
{
	const json_t *rows = json_object_get(json, "paths");

	for (size_t i = 0; i < json_array_size(rows); i++)
		if (!compare_one(t, chosen, all, some, key_of(json_array_get(rows, i))))
			return false;
	return true;
}

static void
compare(struct trial *t, const struct counted *all, const struct counted *some)
{
	struct strmap chosen = read_chosen(t, "chosen");

	if (compare_rows(t, &chosen, all, some, all->json))
		compare_rows(t, &chosen, all, some, some->json);
	strmap_free(&chosen);
}

/* ---- trying ---- */

static void
try_set(struct trial *t, const struct variant *some, const struct counted *all, const char *all_name, const struct set *set)
{
	struct counted counted;
	glob_t old = {0};
	int status;

	if (!ask(pool_printf(pool, "select %s -o chosen", set->rule), all_name, "said")) {
		/* Where no path came to its end (exit) rules may choose none. */
		if (json_array_size(json_object_get(all->json, "paths")) || !strstr(why("log"), "no path is chosen"))
			fail(t, "%s: select: %s", set->rule, why("log"));
		return;
	}
	thin("chosen", set->one_in);
	if (!glob(pool_printf(pool, "%s.chord*", some->name), 0, NULL, &old))
		for (size_t i = 0; i < old.gl_pathc; i++)
			remove_all(old.gl_pathv[i]);
	globfree(&old);
	if (!build(t, some, some->name, "some.log")) {
		fail(t, "%s: does not compile: %s", set->rule, why("some.log"));
		return;
	}
	status = run_program(some->name, limit);
	note(t, "runs", 1);
	if (status != 0)
		fail(t, "%s: exits with %d, not 0", set->rule, status);
	else if (!same_file("plain.out", pool_printf(pool, "%s.out", some->name)))
		fail(t, "%s: output differs", set->rule);
	else if (!read_counted(&counted, some->name, "some.json"))
		fail(t, "%s: paths: %s", set->rule, why("log"));
	else {
		note(t, "procedures", json_array_size(json_object_get(counted.json, "functions")));
		note(t, "refused", json_array_size(json_object_get(counted.json, "refused")));
		compare(t, all, &counted);
		free_counted(&counted);
	}
}

void
try_some_paths(struct trial *t, const struct variant *some, const struct variant *all)
{
	struct counted counted;

	t->measure = some->name;
	if (is_empty(all->name) && (!build(t, all, all->name, "all.log") || run_program(all->name, limit))) {
		fail(t, "all paths cannot be counted: %s", why("all.log"));
		return;
	}
	if (!read_counted(&counted, all->name, "all.json")) {
		fail(t, "all paths: %s", why("log"));
		return;
	}
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
		try_set(t, some, &counted, all->name, &sets[i]);
	free_counted(&counted);
}
