/* SPDX-License-Identifier: MIT */
/* What to measure: -fchord= and its kin, and how the driver hands them to the assembler's
 * stand-in: in one option, because then compiler caches see them. */
#include "driver/driver.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static const char *const measures[CHORD_MEASURES] = {
	[CHORD_EDGES] = "edges", [CHORD_EVERY_BLOCK] = "every-block", [CHORD_EVERY_EDGE] = "every-edge",
	[CHORD_EVENTS] = "events", [CHORD_PATHS] = "paths",
};
#define THERE_ARE "there are edges, every-block, every-edge, events, calls and paths"

static bool
is_planned(struct str name)
{
	static const char *const names[] = {"blocks", "blocks-vcnt", "trace", "clock"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

/* Events go with anything, the others with none of their kind. */
static bool
take_measure(const char *what, uint8_t one, struct measure *m)
{
	m->chosen = true;
	if (one == CHORD_EVENTS) {
		m->with_events = true;
		return true;
	}
	if (m->counts_chosen && m->counts != one) {
		say_error(what, "%s and %s do not go together; one of them", measures[m->counts], measures[one]);
		return false;
	}
	m->counts_chosen = true;
	m->counts = one;
	return true;
}

static bool
read_one(const char *what, struct str name, struct measure *m)
{
	m->calls |= str_is(name, "calls");
	if (str_is(name, "calls"))
		return m->chosen = true;
	for (uint8_t i = 0; i < CHORD_MEASURES; i++)
		if (measures[i] && str_is(name, measures[i]))
			return take_measure(what, i, m);
	if (is_planned(name))
		say_error(what, "measure '%.*s' is not in this version; " THERE_ARE, (int)name.n, name.at);
	else
		say_error(what, "unknown measure '%.*s'; " THERE_ARE, (int)name.n, name.at);
	return false;
}

bool
measure_read(const char *what, const char *list, struct measure *m)
{
	/* Of several options the last one counts. */
	*m = (struct measure){.list = m->list, .timed = m->timed, .events = m->events, .interest = m->interest,
	                      .weights = m->weights};
	for (const char *p = list, *end;; p = end + 1) {
		end = p + strcspn(p, ",");
		if (!read_one(what, (struct str){p, (size_t)(end - p)}, m))
			return false;
		if (!*end)
			return true;
	}
}

bool
measure_events(const char *what, const char *list, struct measure *m, struct pool *pool)
{
	const char *why = NULL;

	measure_free(m);
	if (!event_list_read(pool, list, &m->events, &why)) {
		say_error(what, "%s", why);
		return false;
	}
	m->list = pool_strdup(pool, list);
	return true;
}

bool
measure_timers(const char *what, const char *list, struct measure *m, struct pool *pool)
{
	struct event_list timed;
	const char *why = NULL;

	if (!event_list_read(pool, list, &timed, &why)) {
		say_error(what, "%s", why);
		return false;
	}
	event_list_free(&timed);
	m->timed = pool_strdup(pool, list);
	return true;
}

/* Where there is no such file, whoever reads it says so. */
static const char *
absolute(const char *file, struct pool *pool)
{
	char *path = realpath(file, NULL), *kept = pool_strdup(pool, path ? path : file);

	free(path);
	return kept;
}

void
measure_interest(const char *file, struct measure *m, struct pool *pool)
{
	m->interest = absolute(file, pool);
}

void
measure_weights(const char *file, struct measure *m, struct pool *pool)
{
	m->weights = absolute(file, pool);
}

void
measure_free(struct measure *m)
{
	event_list_free(&m->events);
}

/* Events with timers are counted, too. */
static void
complete_timers(struct measure *m, struct pool *pool)
{
	struct event_list timed;
	const char *why = NULL, *all = m->list ? pool_printf(pool, "%s,%s", m->list, m->timed) : m->timed;

	measure_free(m);
	if (!event_list_read(pool, m->timed, &timed, &why) || !event_list_read(pool, all, &m->events, &why))
		bug("%s", why);
	for (uint32_t i = 0; i < m->events.n; i++)
		for (uint32_t k = 0; k < timed.n; k++)
			m->events.at[i].timed |= !strcmp(m->events.at[i].name, timed.at[k].name);
	event_list_free(&timed);
}

bool
measure_complete(struct measure *m, struct pool *pool)
{
	const char *why = NULL;

	m->with_events |= m->list || m->timed || m->calls;
	if (m->interest && m->counts_chosen && m->counts != CHORD_PATHS) {
		say_error("-fchord-paths", "does not go with -fchord=%s", measures[m->counts]);
		return false;
	}
	if (m->interest) {
		m->chosen = m->counts_chosen = true;
		m->counts = CHORD_PATHS;
	}
	if (m->counts_chosen && m->counts == CHORD_PATHS && m->with_events) {
		say_error("-fchord=paths", "%s cannot be counted beside paths; build twice", m->calls ? "calls" : "events");
		return false;
	}
	if (m->timed)
		complete_timers(m, pool);
	else if (m->with_events && !m->list && !event_list_read(pool, "instructions", &m->events, &why))
		bug("%s", why);
	if (!m->counts_chosen)
		m->counts = m->with_events && !m->calls ? CHORD_EVENTS : CHORD_EDGES;
	if (m->calls && m->timed) {
		say_error("-fchord-timers", "does not go with -fchord=calls");
		return false;
	}
	if (!m->calls || m->events.n <= CHORD_SUMS)
		return true;
	say_error("-fchord=calls", "%u events are too many: at most %d can be summed for calls", m->events.n, CHORD_SUMS);
	return false;
}

/* ---- as one option ---- */

/* Letters, digits and a few more stay; everything else is %XX. */
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

/* Undoes it; what is no escape stays. */
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
measure_option(const struct measure *m, struct pool *pool)
{
	struct buf b = {0};
	char *option;

	if (!m->chosen && !m->list && !m->timed && !m->weights)
		return NULL;
	buf_str(&b, "--chord=");
	if (m->counts_chosen)
		buf_str(&b, measures[m->counts]);
	if (m->counts_chosen && (m->calls || m->with_events))
		buf_char(&b, '+');
	if (m->calls || m->with_events)
		buf_str(&b, m->calls ? "calls" : "events");
	if (m->list || m->timed || m->interest || m->weights)
		buf_char(&b, '@');
	if (m->interest)
		escape(&b, m->interest);
	if (m->list)
		escape(&b, m->list);
	if (m->timed || m->weights)
		buf_char(&b, '@');
	if (m->timed)
		escape(&b, m->timed);
	if (m->weights) {
		buf_char(&b, '@');
		escape(&b, m->weights);
	}
	option = pool_strndup(pool, b.at, b.n);
	buf_free(&b);
	return option;
}

/* What stands up to the next @ or the end, of which it takes what is behind; NULL if nothing does. */
static const char *
next_part(const char **option, struct pool *pool)
{
	const char *at = *option;
	size_t n = strcspn(at, "@");

	*option = at + n + (at[n] != 0);
	return n ? unescape(pool, at, n) : NULL;
}

bool
measure_take(const char *option, struct measure *m, struct pool *pool)
{
	const char *part;
	size_t n = strcspn(option, "@");
	char *names = pool_strndup(pool, option, n);

	for (char *p = names; *p; p++)
		if (*p == '+')
			*p = ',';
	*m = (struct measure){0};
	if (n && !measure_read("--chord", names, m))
		return false;
	option += option[n] ? n + 1 : n;
	part = next_part(&option, pool);
	if (m->counts_chosen && m->counts == CHORD_PATHS)
		m->interest = part;
	else if (part && !measure_events("--chord", part, m, pool))
		return false;
	part = next_part(&option, pool);
	if (part && !measure_timers("--chord", part, m, pool))
		return false;
	m->weights = next_part(&option, pool);
	return true;
}
