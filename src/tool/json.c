/* SPDX-License-Identifier: MIT */
/* JSON as all commands print it. */
#include "tool/json.h"

#include "tool/print.h"

#include <stdlib.h>
#include <string.h>

json_t *
js_document(const char *command)
{
	json_t *o = json_object();

	js_set(o, "format", js_text(command));
	js_set(o, "version", js_number(1, true));
	return o;
}

json_t *
js_text(const char *s)
{
	json_t *j = json_string(s);
	char *copy;

	if (j)
		return j;
	copy = xstrdup(s);
	for (char *c = copy; *c; c++)
		if ((unsigned char)*c >= 0x80)
			*c = '?';
	j = json_string(copy);
	free(copy);
	return j;
}

json_t *
js_number(uint64_t n, bool known)
{
	return known && n <= INT64_MAX ? json_integer((json_int_t)n) : json_null();
}

void
js_set(json_t *o, const char *key, json_t *value)
{
	if (json_object_set_new(o, key, value))
		die("memory", "out of memory");
}

void
js_append(json_t *a, json_t *value)
{
	if (json_array_append_new(a, value))
		die("memory", "out of memory");
}

static void
set_bound(json_t *o, const char *name, const char *which, uint64_t n)
{
	char key[256];

	snprintf(key, sizeof key, "%s_%s", name, which);
	js_set(o, key, js_number(n, n != COUNT_NO_BOUND));
}

void
js_set_bounds(json_t *o, const char *name, uint64_t least, uint64_t most, bool known)
{
	js_set(o, name, js_number(least, known && least == most));
	if (!known || least == most)
		return;
	set_bound(o, name, "at_least", least);
	set_bound(o, name, "at_most", most);
}

void
js_set_total(json_t *o, const char *name, const struct bounds *t, bool known)
{
	js_set_bounds(o, name, t->least, t->most, known);
}

void
js_set_function(json_t *o, const char *key, const char *symbol)
{
	char second[64];

	js_set(o, key, js_text(symbol));
	snprintf(second, sizeof second, "%s_demangled", key);
	js_set(o, strcmp(key, "name") ? second : "demangled", js_text(image_readable(symbol)));
}

json_t *
js_vertex(const struct proc *p, uint32_t v)
{
	return v < p->nblock ? js_number(v, true) : js_text(v == PROC_ENTRY(p) ? "entry" : v == PROC_EXIT(p) ? "exit" : "hub");
}

json_t *
js_named(const char *name, const char *reason)
{
	json_t *o = json_object();

	js_set(o, "name", js_text(name));
	if (image_readable(name) != name && strcmp(image_readable(name), name))
		js_set(o, "demangled", js_text(image_readable(name)));
	js_set(o, "reason", js_text(reason));
	return o;
}

json_t *
js_named_list(const struct named *at, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		js_append(a, js_named(at[i].name, at[i].reason));
	return a;
}

json_t *
js_texts(const char *const *at, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		js_append(a, js_text(at[i]));
	return a;
}

static bool
dump(json_t *o, FILE *to, size_t how)
{
	bool ok = !json_dumpf(o, to, how);

	ok &= putc('\n', to) != EOF;
	json_decref(o);
	return ok;
}

bool
js_print(json_t *o, FILE *to)
{
	return dump(o, to, JSON_INDENT(1)) && !fflush(to);
}

bool
js_print_whole(json_t *o)
{
	bool ok = dump(o, stdout, JSON_INDENT(1));

	if (!print_whole(NULL, stdout))
		return false;
	if (!ok)
		say_error("standard output", "the object cannot be written whole");
	return ok;
}

bool
js_line(json_t *o, FILE *to)
{
	return dump(o, to, JSON_COMPACT);
}
