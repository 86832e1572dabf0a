/* SPDX-License-Identifier: MIT */
/* chamber: what chord says of a run, and whether all measures say the same. */
#include "measure/measure.h"
#include "tests/torture/chamber.h"

#include <glob.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- what there is to say ---- */

void
fail(struct trial *t, const char *fmt, ...)
{
	struct buf b = {0};
	va_list ap;
	char *why;

	va_start(ap, fmt);
	if (vasprintf(&why, fmt, ap) < 0)
		die("memory", "out of memory");
	va_end(ap);
	buf_printf(&b, "FAIL %s %s %s%s%s: %.300s\n", t->unit->name, t->level, t->unit->compiler, t->measure ? " " : "",
		t->measure ? t->measure : "", why);
	buf_add(&t->notes, b.at, b.n);
	buf_add(&t->fails, b.at, b.n);
	buf_printf(&t->notes, "+ %s differences 1\n", t->measure ? t->measure : "plain");
	buf_free(&b);
	free(why);
}

void
note(struct trial *t, const char *key, uint64_t n)
{
	buf_printf(&t->notes, "+ %s%s%s %llu\n", t->measure ? t->measure : "", t->measure ? " " : "", key, (unsigned long long)n);
}

const char *
why(const char *path)
{
	char *text = text_of(path, NULL), *copy = pool_strdup(pool, text), *said = NULL;
	words lines = split(text, "\n");

	for (size_t i = 0; !said && i < lines.n; i++)
		if (strcasestr(lines.at[i], "error") || strstr(lines.at[i], "chord:") || strcasestr(lines.at[i], "refused"))
			said = lines.at[i];
	said = pool_strndup(pool, said ? said : copy, strcspn(said ? said : copy, "\n"));
	free(lines.at);
	free(text);
	return said;
}

/* ---- what chord says about a run ---- */

/* chord report OPTION NAME and all its profiles. */
static bool
report(const char *option, const char *name, const char *output)
{
	words w = {0};
	glob_t found = {0};
	int status;

	VEC_PUSH(w, (char *)(uintptr_t)chord);
	add_text(&w, "report");
	add_text(&w, option);
	add_text(&w, name);
	if (!glob(pool_printf(pool, "%s.chord*", name), 0, NULL, &found))
		for (size_t i = 0; i < found.gl_pathc; i++)
			if (!str_ends(str_of(found.gl_pathv[i]), ".trace"))
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

	return s ? s : "?";
}

static uint64_t
total(const json_t *json, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(json_object_get(json, "totals"), key));
}

static void
look_at_procedures(struct trial *t, const json_t *json)
{
	const json_t *refused = json_object_get(json, "refused"), *unknown = json_object_get(json, "unknown");

	note(t, "procedures", total(json, "procedures"));
	note(t, "refused", total(json, "refused"));
	note(t, "unknown", json_array_size(unknown));
	for (size_t i = 0; i < json_array_size(refused); i++) {
		const json_t *one = json_array_get(refused, i);

		buf_printf(&t->notes, "refused %s %s: %s\n", t->measure, text_in(one, "name"), text_in(one, "reason"));
	}
	for (size_t i = 0; i < json_array_size(unknown); i++)
		strmap_put(&t->unknown, str_of(pool_strdup(pool, text_in(json_array_get(unknown, i), "name"))), 1);
}

/* A walk that ends at a function without unwind tables (__clang_call_terminate) is said, and counted here. */
static void
look_at_notes(struct trial *t, const json_t *json)
{
	const json_t *notes = json_object_get(json, "notes");
	bool unfinished = false;

	for (size_t i = 0; i < json_array_size(notes); i++) {
		const char *said = json_string_value(json_array_get(notes, i));

		unfinished |= strstr(said, "could not be finished") != NULL;
		if (strstr(said, "into another activation") || strstr(said, "into other activations"))
			fail(t, "%s", said);
	}
	if (unfinished)
		note(t, "unfinished", 1);
	t->unfinished |= unfinished;
}

/* Is it an event that a measure has of its own, of which edges say nothing? */
static bool
is_own_event(const char *name)
{
	for (size_t m = 0; m < CHORD_MEASURES; m++)
		if (measure_list[m].traits & CHORD_OWN_EVENT && !strcmp(measure_list[m].name, name))
			return true;
	return false;
}

/* May a procedure be unknown for that reason? In a trace, if a signal's handler left it by an exception (docs/limits.md). */
static bool
may_be_unknown(const struct trial *t, const char *reason)
{
	bool traced = !strcmp(t->measure, "trace") || !strcmp(t->measure, "data");

	return traced && strstr(reason, "of its activations ended between calls");
}

/* Events, where nothing is unknown or noted, are what the edges say. */
static void
look_at_events(struct trial *t, const json_t *json)
{
	json_t *totals = json_object_get(json, "totals"), *events = json_object_get(json, "events"), *value;
	const json_t *unknown = json_object_get(json, "unknown");
	const char *key;

	if (!json_array_size(unknown) && !json_array_size(json_object_get(json, "notes")))
		json_object_foreach(events, key, value)
			if (!is_own_event(key) && !json_equal(value, json_object_get(totals, key)))
				fail(t, "%lld %s, and edges say %lld", (long long)json_integer_value(value), key,
					(long long)json_integer_value(json_object_get(totals, key)));
	for (size_t i = 0; i < json_array_size(unknown) && i < 3; i++) {
		const char *reason = text_in(json_array_get(unknown, i), "reason");

		if (!may_be_unknown(t, reason))
			fail(t, "unknown %s: %s", text_in(json_array_get(unknown, i), "name"), reason);
	}
}

static void
verify(struct trial *t)
{
	words w = {0};

	VEC_PUSH(w, (char *)(uintptr_t)chord);
	add_text(&w, "verify");
	add_text(&w, t->measure);
	if (run(&w, NULL, "log", "log", COMPILE_SECONDS, false))
		fail(t, "verify: %s", why("log"));
	free(w.at);
}

/* ---- whether measures agree ---- */

/* The next line of a procedure that is known; what is behind it in *at. */
static struct str
known_line(const struct trial *t, const char **at)
{
	while (**at) {
		struct str line = {*at, strcspn(*at, "\n")};

		*at += line.n + ((*at)[line.n] != '\0');
		if (!strmap_get(&t->unknown, (struct str){line.at, strcspn(line.at, " \n")}, &(uint64_t){0}))
			return line;
	}
	return (struct str){"nothing", 7};
}

static void
compare(struct trial *t, const char *got)
{
	const char *a = t->expected, *b = got;

	while (*a || *b) {
		struct str want = known_line(t, &a), have = known_line(t, &b);

		if (!str_eq(want, have)) {
			fail(t, "counts differ from %s: %.*s, and here %.*s", t->by, (int)want.n, want.at, (int)have.n, have.at);
			return;
		}
	}
}

/* The first measure's counts are every measure's. */
static void
agree(struct trial *t)
{
	size_t n;
	char *path = pool_printf(pool, "%s.insns", t->measure), *got;

	if (!report("--insns", t->measure, path))
		fail(t, "report --insns: %s", why("log"));
	got = text_of(path, &n);
	if (!t->expected) {
		t->expected = got;
		t->nexpected = n;
		t->by = pool_strdup(pool, t->measure);
		return;
	}
	if (!t->unfinished && (n != t->nexpected || memcmp(got, t->expected, n) != 0))
		compare(t, got);
	free(got);
}

void
opinion(struct trial *t)
{
	json_t *json;

	if (!report("--json", t->measure, "json") || !(json = json_load_file("json", 0, NULL))) {
		fail(t, "report: %s", why("log"));
		return;
	}
	look_at_procedures(t, json);
	look_at_notes(t, json);
	verify(t);
	if (!t->unfinished)
		look_at_events(t, json);
	json_decref(json);
	agree(t);
}
