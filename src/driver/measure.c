/* SPDX-License-Identifier: MIT */
/* What to measure: -fchord= and related options. The driver passes them to the assembler's stand-in as one option, so that compiler
 * caches see them. The registry (format/measures.h) has the measures, their options and the rules for combining them. Only the
 * reading of values is here. */
#include "driver/driver.h"

#include "weave/weave.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- options ---- */

static const char *read_events(const char *what, const char *value, struct request *r, struct pool *pool);
static const char *read_timers(const char *what, const char *value, struct request *r, struct pool *pool);
static const char *read_file(const char *what, const char *value, struct request *r, struct pool *pool);
static const char *read_encoding(const char *what, const char *value, struct request *r, struct pool *pool);
static const char *read_globs(const char *what, const char *value, struct request *r, struct pool *pool);
static const char *read_home(const char *what, const char *value, struct request *r, struct pool *pool);

#define ROW(id, name, implies, excludes, value) [REQUEST_##id] = {name, implies, excludes, read_##value},

/* -fchord-NAME=VALUE. */
static const struct {
	const char *name;
	uint32_t implies, excludes;   /* sets of measures */
	/* Returns what is kept of the value (pool). NULL: the value is wrong, which has been reported. */
	const char *(*read)(const char *what, const char *value, struct request *r, struct pool *pool);
} options[REQUEST_OPTIONS] = {
	CHORD_OPTION_LIST(ROW)
};

static const char *
read_events(const char *what, const char *value, struct request *r, struct pool *pool)
{
	const char *why = NULL;

	request_free(r);
	if (event_list_read(pool, value, &r->events, &why))
		return pool_strdup(pool, value);
	say_error(what, "%s", why);
	return NULL;
}

/* The events are read again when all of them are known. */
static const char *
read_timers(const char *what, const char *value, struct request *r, struct pool *pool)
{
	struct event_list timed;
	const char *why = NULL;

	(void)r;
	if (!event_list_read(pool, value, &timed, &why)) {
		say_error(what, "%s", why);
		return NULL;
	}
	event_list_free(&timed);
	return pool_strdup(pool, value);
}

/* Returns the absolute name. If there is no such file, its reader reports that. */
static const char *
read_file(const char *what, const char *value, struct request *r, struct pool *pool)
{
	char *path = realpath(value, NULL), *kept = pool_strdup(pool, path ? path : value);

	(void)what;
	(void)r;
	free(path);
	return kept;
}

static const char *
read_encoding(const char *what, const char *value, struct request *r, struct pool *pool)
{
	(void)r;
	if (weave_encoding_named(value) < WEAVE_ENCODINGS)
		return pool_strdup(pool, value);
	say_error(what, "unknown encoding '%s'; there are %s, %s, %s and %s", value, weave_encoding_name[WEAVE_PATHS],
	          weave_encoding_name[WEAVE_WITNESSES], weave_encoding_name[WEAVE_BITS], weave_encoding_name[WEAVE_BRANCHES]);
	return NULL;
}

/* Reads names of functions, which may have * and ?, with commas between them. */
static const char *
read_globs(const char *what, const char *value, struct request *r, struct pool *pool)
{
	(void)r;
	if (*value && *value != ',' && value[strlen(value) - 1] != ',' && !strstr(value, ",,"))
		return pool_strdup(pool, value);
	say_error(what, "'%s' names a function without a name", value);
	return NULL;
}

static const char in_registers[] = "registers";

/* Where loops count. */
static const char *
read_home(const char *what, const char *value, struct request *r, struct pool *pool)
{
	(void)r;
	if (!strcmp(value, "memory") || !strcmp(value, in_registers))
		return pool_strdup(pool, value);
	say_error(what, "'%s' is neither memory nor registers", value);
	return NULL;
}

bool
request_in_registers(const struct request *r)
{
	return r->option[REQUEST_LOOPS] && !strcmp(r->option[REQUEST_LOOPS], in_registers);
}

/* The option in a text NAME=VALUE, and its value; REQUEST_OPTIONS: there is no such option. */
static uint32_t
option_of(const char *text, const char **value)
{
	for (uint32_t i = 0; i < REQUEST_OPTIONS; i++) {
		size_t n = strlen(options[i].name);

		if (!strncmp(text, options[i].name, n) && text[n] == '=' && (text[n + 1] || options[i].read != read_file)) {
			*value = text + n + 1;
			return i;
		}
	}
	return REQUEST_OPTIONS;
}

/* what: the option's name in messages. */
static bool
take_option(const char *what, uint32_t i, const char *value, struct request *r, struct pool *pool)
{
	r->option[i] = options[i].read(what, value, r, pool);
	return r->option[i] != NULL;
}

static void
say_options(const char *what)
{
	struct buf b = {0};

	for (uint32_t i = 0; i < REQUEST_OPTIONS; i++)
		buf_printf(&b, "%s-fchord-%s=", i + 1 < REQUEST_OPTIONS ? ", " : " and ", options[i].name);
	say_error(what, "unknown option; there are -fchord=%.*s", (int)b.n, b.at);
	buf_free(&b);
}

bool
request_option(const char *text, struct request *r, struct pool *pool)
{
	const char *value;
	uint32_t i;

	if (!strncmp(text, "-fchord=", 8))
		return request_measures(text, text + 8, r);
	i = strncmp(text, "-fchord-", 8) ? REQUEST_OPTIONS : option_of(text + 8, &value);
	if (i < REQUEST_OPTIONS)
		return take_option(pool_printf(pool, "-fchord-%s", options[i].name), i, value, r, pool);
	say_options(text);
	return false;
}

/* ---- measures ---- */

static void
say_unknown(const char *what, struct str name)
{
	struct buf b = {0};

	measures_names(&b, UINT32_MAX, ", ", " and ");
	say_error(what, "unknown measure '%.*s'; there are %.*s", (int)name.n, name.at, (int)b.n, b.at);
	buf_free(&b);
}

static bool
read_one(const char *what, struct str name, struct request *r)
{
	uint32_t m = measure_named(name), flow = measures_with(r->chosen, CHORD_FLOW);

	if (m == CHORD_MEASURES) {
		say_unknown(what, name);
		return false;
	}
	if (measure_list[m].traits & CHORD_FLOW && flow & ~(1u << m)) {
		say_error(what, "%s and %s do not go together; one of them", measure_list[measures_first(flow)].name,
		          measure_list[m].name);
		return false;
	}
	r->chosen |= 1u << m;
	return true;
}

bool
request_measures(const char *what, const char *list, struct request *r)
{
	/* The last one of several options counts. */
	r->chosen = 0;
	for (const char *p = list, *end;; p = end + 1) {
		end = p + strcspn(p, ",");
		if (!read_one(what, (struct str){p, (size_t)(end - p)}, r))
			return false;
		if (!*end)
			return true;
	}
}

void
request_free(struct request *r)
{
	event_list_free(&r->events);
}

/* ---- all together ---- */

/* Joins two lists of events; either may be NULL. */
static const char *
append(struct pool *pool, const char *list, const char *more)
{
	return list && more ? pool_printf(pool, "%s,%s", list, more) : list ? list : more;
}

/* All events: those listed; instructions, if a measure counts events and none are listed; those with timers; and the measures' own
 * events. `of_events`: a requested measure counts the listed events. */
static const char *
all_events(const struct request *r, bool of_events, struct pool *pool)
{
	const char *timers = r->option[REQUEST_TIMERS], *list = r->option[REQUEST_EVENTS];

	if (!list && !timers && of_events)
		list = "instructions";
	list = append(pool, list, timers);
	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		if (measures_have(measures_with(r->measures, CHORD_OWN_EVENT), m))
			list = append(pool, list, measure_list[m].name);
	return list;
}

static void
complete_events(struct request *r, bool of_events, struct pool *pool)
{
	struct event_list timed = {0};
	const char *why = NULL, *timers = r->option[REQUEST_TIMERS], *all = all_events(r, of_events, pool);

	if (!all)
		return;
	request_free(r);
	if ((timers && !event_list_read(pool, timers, &timed, &why)) || !event_list_read(pool, all, &r->events, &why))
		bug("%s", why);
	for (uint32_t i = 0; i < r->events.n; i++)
		for (uint32_t k = 0; k < timed.n; k++)
			r->events.at[i].timed |= !strcmp(r->events.at[i].name, timed.at[k].name);
	event_list_free(&timed);
}

/* Adds what an option implies. False: it conflicts with chosen measures, which has been reported. */
static bool
imply(uint32_t option, struct request *r, struct pool *pool)
{
	uint32_t set = options[option].implies, flow = measures_with(r->chosen, CHORD_FLOW);
	uint32_t bad = r->chosen & options[option].excludes;

	if (measures_with(set, CHORD_FLOW))
		bad |= flow & ~set;
	if (bad)
		say_error(pool_printf(pool, "-fchord-%s", options[option].name), "does not go with -fchord=%s",
		          measure_list[measures_first(bad)].name);
	r->measures |= set;
	return !bad;
}

static bool
go_together(const struct request *r, struct pool *pool)
{
	uint32_t a, b, swap;

	if (!measures_clash(r->measures, &a, &b))
		return true;
	if (!(measure_list[a].traits & CHORD_ALONE)) {
		swap = a;
		a = b;
		b = swap;
	}
	say_error(pool_printf(pool, "-fchord=%s", measure_list[a].name), "%s cannot be counted beside %s; build twice",
	          measure_list[b].name, measure_list[a].name);
	return false;
}

bool
request_complete(struct request *r, struct pool *pool)
{
	uint32_t at_calls, of_events;

	r->measures = r->chosen;
	for (uint32_t i = 0; i < REQUEST_OPTIONS; i++)
		if (r->option[i] && !imply(i, r, pool))
			return false;
	if (!go_together(r, pool))
		return false;
	of_events = measures_with(r->measures, CHORD_OF_EVENTS);
	r->measures = measures_complete(r->measures);
	if (r->option[REQUEST_LOOPS] && !measures_with(r->measures, CHORD_FLOW)) {
		say_error("-fchord-loops", "does nothing without edges or another measure that counts blocks (-fchord=)");
		return false;
	}
	complete_events(r, of_events, pool);
	at_calls = measures_with(r->measures, CHORD_AT_CALLS);
	if (!at_calls || r->events.n <= CHORD_SUMS)
		return true;
	say_error(pool_printf(pool, "-fchord=%s", measure_list[measures_first(at_calls)].name),
	          "%u events are too many: at most %d can be summed for calls", r->events.n, CHORD_SUMS);
	return false;
}

/* ---- all in one option: --chord=MEASURE+MEASURE@OPTION=VALUE@... ---- */

/* Keeps letters, digits and a few more; everything else becomes %XX. */
static void
escape(struct buf *b, const char *s)
{
	for (; *s; s++) {
		if (isalnum((unsigned char)*s) || strchr("-_./:*", *s))
			buf_char(b, *s);
		else
			buf_printf(b, "%%%02x", (unsigned char)*s);
	}
}

/* Decodes %XX; other uses of % stay. */
static char *
unescape(struct pool *pool, const char *s, size_t n)
{
	char *to = pool_alloc(pool, n + 1), *end;
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		char hex[3] = {s[i], i + 1 < n ? s[i + 1] : 0, 0};

		if (s[i] == '%' && i + 2 < n) {
			hex[0] = s[i + 1];
			hex[1] = s[i + 2];
			to[k++] = (char)strtoul(hex, &end, 16);
			if (*end)
				to[k - 1] = s[i];
			else
				i += 2;
		} else {
			to[k++] = s[i];
		}
	}
	return to;
}

const char *
request_text(const struct request *r, struct pool *pool)
{
	struct buf b = {0};
	char *text;

	measures_names(&b, r->chosen, "+", "+");
	for (uint32_t i = 0; i < REQUEST_OPTIONS; i++)
		if (r->option[i]) {
			buf_printf(&b, "@%s=", options[i].name);
			escape(&b, r->option[i]);
		}
	text = b.n ? pool_printf(pool, "--chord=%.*s", (int)b.n, b.at) : NULL;
	buf_free(&b);
	return text;
}

/* Takes one option in the form NAME=VALUE. */
static bool
take_value(const char *text, struct request *r, struct pool *pool)
{
	const char *value;
	uint32_t i = option_of(text, &value);

	if (i < REQUEST_OPTIONS)
		return take_option("--chord", i, value, r, pool);
	say_error("--chord", "'%s' is no option of a measure", text);
	return false;
}

bool
request_take(const char *text, struct request *r, struct pool *pool)
{
	size_t n = strcspn(text, "@");
	char *names = pool_strndup(pool, text, n);

	request_free(r);
	*r = (struct request){0};
	for (char *p = names; *p; p++)
		if (*p == '+')
			*p = ',';
	if (n && !request_measures("--chord", names, r))
		return false;
	for (text += n; *text; text += n) {
		n = strcspn(++text, "@");
		if (!take_value(unescape(pool, text, n), r, pool))
			return false;
	}
	return true;
}
