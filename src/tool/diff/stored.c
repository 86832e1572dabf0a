/* SPDX-License-Identifier: MIT */
/* What `chord stat --json` printed, as one side of a comparison; and events of the other side. */
#include "tool/diff/diff.h"
#include "tool/json.h"
#include "view/runs.h"

#include <errno.h>
#include <string.h>

bool
stored_is(const char *name)
{
	char head[4096];
	ssize_t n = file_peek(name, head, sizeof head), i = 0;

	while (i < n && (head[i] == ' ' || head[i] == '\n' || head[i] == '\t' || head[i] == '\r'))
		i++;
	return i < n && head[i] == '{';
}

static bool
take_bound(const json_t *events, struct pool *pool, const char *name, const char *which, uint64_t *n)
{
	const json_t *v = json_object_get(events, pool_printf(pool, "%s_%s", name, which));

	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*n = (uint64_t)json_integer_value(v);
	return true;
}

static bool
is_bound(const char *name)
{
	return str_ends(str_of(name), "_at_least") || str_ends(str_of(name), "_at_most");
}

/* An event is a number, or null with its bounds in other fields. */
static struct side_event
event_of(const json_t *events, struct pool *pool, const char *name, const json_t *value)
{
	struct side_event e = {.name = pool_strdup(pool, name)};

	if (json_is_integer(value) && json_integer_value(value) >= 0) {
		e.n.least = e.n.most = (uint64_t)json_integer_value(value);
	} else if (take_bound(events, pool, name, "at_least", &e.n.least)) {
		if (!take_bound(events, pool, name, "at_most", &e.n.most))
			e.n.most = COUNT_NO_BOUND;
	} else {
		e.why = "chord stat did not know it";
	}
	return e;
}

/* False, *why: it is not what chord stat prints. */
static bool
take_events(struct diff *d, struct side *s, json_t *root, const char **why)
{
	json_t *events = json_object_get(root, "events"), *value, *note;
	struct pool *pool = d->found.pool;
	const char *name;
	size_t i;

	*why = "it has no events: not what `chord stat --json` prints";
	if (!json_is_object(events))
		return false;
	json_object_foreach(events, name, value)
		if (!is_bound(name))
			VEC_PUSH(s->event, event_of(events, pool, name, value));
	for (i = 0; i < s->event.n; i++)
		if (s->event.at[i].n.least > s->event.at[i].n.most) {
			*why = pool_printf(pool, "%s: its bounds are the wrong way round", s->event.at[i].name);
			return false;
		}
	json_array_foreach(json_object_get(root, "notes"), i, note)
		if (json_is_string(note))
			VEC_PUSH(s->note, pool_strdup(pool, json_string_value(note)));
	value = json_object_get(root, "program");
	s->program = json_is_string(value) ? pool_strdup(pool, json_string_value(value)) : s->profile;
	s->nmissing = json_array_size(json_object_get(root, "missing"));
	s->processes = (uint64_t)json_integer_value(json_object_get(root, "processes"));
	return true;
}

bool
stored_read(struct diff *d, struct side *s)
{
	json_error_t error;
	json_t *root;
	struct buf text = {0};
	const char *why;
	bool ok;

	if (!file_read(s->profile, &text)) {
		say_error(s->profile, "%s", strerror(errno));
		buf_free(&text);
		return false;
	}
	root = json_loadb(text.at, text.n, JSON_REJECT_DUPLICATES, &error);
	buf_free(&text);
	ok = root && take_events(d, s, root, &why);
	if (!root)
		error_at(s->profile, error.line > 0 ? (unsigned)error.line : 1, "it is no JSON: %s", error.text);
	else if (!ok)
		say_error(s->profile, "%s", why);
	json_decref(root);
	return ok;
}

/* ---- events of either kind of side ---- */

static struct side_event
not_known(const char *name, const char *why)
{
	return (struct side_event){.name = name, .why = why};
}

struct side_event
diff_event(struct diff *d, int number, const char *name)
{
	struct side *s = &d->side[number];
	struct view_runs one = {.pool = d->found.pool, .room = 1};
	struct view_spread spread;
	const char *why;

	for (size_t i = 0; i < s->event.n; i++)
		if (!strcmp(s->event.at[i].name, name))
			return s->event.at[i];
	if (s->stored)
		return not_known(name, pool_printf(d->found.pool, "%s does not have it", s->profile));
	if (!event_list_read(d->found.pool, name, &one.events, &why))
		return not_known(name, why);
	view_runs_add(&one, &s->run);
	spread = view_runs_spread(&one, 0);
	view_runs_free(&one);
	return (struct side_event){name, {spread.median, spread.median_most}, spread.why};
}

bool
stored_compare(struct diff *d, const char **why)
{
	const struct side *s = &d->side[d->side[0].stored ? 0 : 1];
	size_t n = s->event.n;

	*why = "they have no event in common that is known of both";
	for (size_t i = 0; i < n; i++) {
		const char *name = s->event.at[i].name;
		struct side_event a = diff_event(d, 0, name), b = diff_event(d, 1, name);

		if (a.why || b.why)
			VEC_PUSH(d->found.left_out, (struct named){name, a.why ? a.why : b.why});
		else if (!compare_total(&d->found, name, &a.n, &b.n))
			*why = "the sum of the counts does not fit 64 bits";
	}
	return d->found.total.n;
}
