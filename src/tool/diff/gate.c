/* SPDX-License-Identifier: MIT */
/* Limits: what was reached, and whether that is too much. Nothing is said to be within its limits that is not known. */
#include "tool/diff/diff.h"

#include <string.h>

/* By how much it grew at least. */
static uint64_t
growth(const struct difference *r)
{
	return r->after.least > r->before.most ? r->after.least - r->before.most : 0;
}

static const struct difference *
total_of(const struct diff *d, const char *event)
{
	for (size_t i = 0; i < d->found.total.n; i++)
		if (!strcmp(d->found.total.at[i].name, event))
			return &d->found.total.at[i];
	return NULL;
}

/* Events that follow from the counts and were not compared yet. */
static void
find_total(struct diff *d, struct diff_limit *l)
{
	struct side_event a, b;

	if (total_of(d, l->event))
		return;
	a = diff_event(d, 0, l->event);
	b = a.why ? a : diff_event(d, 1, l->event);
	if (b.why)
		l->unknown = pool_printf(d->found.pool, "%s %s not counted", l->event,
		                         str_ends(str_of(l->event), "s") ? "were" : "was");
	else
		compare_total(&d->found, l->event, &a.n, &b.n);
}

static bool
is_above(const struct diff_limit *l, const struct difference *r, uint64_t all)
{
	return growth(r) && (unsigned __int128)growth(r) * 100000000 > (unsigned __int128)l->millionths * all;
}

static const char *
bare(const char *text, char out[32])
{
	snprintf(out, 32, "%.*s", (int)strcspn(text, "%"), text);
	return out;
}

static const char *
share_text(char out[64], uint64_t grown, uint64_t all, const char *of)
{
	if (all)
		snprintf(out, 64, "+%.2f %%%s", 100 * (double)grown / (double)all, of);
	else
		snprintf(out, 64, "from 0");
	return out;
}

/* ---- each kind ---- */

static void
say_above(const struct diff *d, const struct diff_limit *l, const struct difference *r, const char *what, const char *of)
{
	char limit[32], n[32], share[64];

	say_error(d->side[1].profile, "%s%s%s %s more than before (%s): above the limit of %s %%", what, *what ? ": " : "",
	          grouped(n, growth(r)), l->event, share_text(share, growth(r), l->before, of), bare(l->text, limit));
}

static void
check_event(const struct diff *d, struct diff_limit *l)
{
	const struct difference *t = total_of(d, l->event);

	if (!t)
		return;
	l->before = t->before.least;
	l->most = growth(t) ? t : NULL;
	l->exceeded = is_above(l, t, l->before);
	if (l->exceeded)
		say_above(d, l, t, "", "");
}

/* Rows by change: the first that grew grew most, but for bounds. */
static void
check_functions(const struct diff *d, struct diff_limit *l)
{
	const struct difference *t = total_of(d, "instructions");

	l->before = t ? t->before.least : 0;
	for (size_t i = 0; i < d->found.function.n; i++) {
		const struct difference *f = &d->found.function.at[i];

		if (growth(f) > (l->most ? growth(l->most) : 0))
			l->most = f;
		if (!is_above(l, f, l->before))
			continue;
		l->exceeded = true;
		say_above(d, l, f, image_readable(f->name), " of all");
	}
}

static double
share_of(const struct difference *r)
{
	return r->before.least ? (double)growth(r) / (double)r->before.least : growth(r) ? 1e300 : 0;
}

static void
check_programs(const struct diff *d, struct diff_limit *l)
{
	for (size_t i = 0; i < d->found.binary.n; i++) {
		const struct difference *b = &d->found.binary.at[i];

		if (share_of(b) > (l->most ? share_of(l->most) : 0)) {
			l->most = b;
			l->before = b->before.least;
		}
	}
	for (size_t i = 0; i < d->found.binary.n; i++) {
		const struct difference *b = &d->found.binary.at[i];
		struct diff_limit own = *l;

		own.before = b->before.least;
		if (!is_above(&own, b, own.before))
			continue;
		l->exceeded = true;
		say_above(d, &own, b, b->name, "");
	}
}

static void
check(struct diff *d, struct diff_limit *l)
{
	if (!l->unknown && l->of != LIMIT_EVENT && !total_of(d, "instructions"))
		l->unknown = "instructions were not counted";
	if (!l->unknown && l->of != LIMIT_EVENT && !d->found.by_function)
		l->unknown = "functions were not counted";
	if (l->unknown) {
		l->exceeded = true;
		say_error(d->side[1].profile, "it cannot be said whether a limit is exceeded: %s", l->unknown);
		return;
	}
	if (l->of == LIMIT_EVENT)
		check_event(d, l);
	else if (l->of == LIMIT_FUNCTION)
		check_functions(d, l);
	else
		check_programs(d, l);
}

bool
gate_check(struct diff *d)
{
	bool exceeded = false, stored = d->side[0].stored || d->side[1].stored;
	size_t n = stored ? 0 : d->found.left_out.n;

	/* Rows move when one is added. */
	for (size_t i = 0; i < d->limit.n; i++)
		if (d->limit.at[i].of == LIMIT_EVENT)
			find_total(d, &d->limit.at[i]);
	for (size_t i = 0; i < d->limit.n; i++) {
		check(d, &d->limit.at[i]);
		if (n && !d->limit.at[i].unknown) {
			d->limit.at[i].unknown = "not all functions could be compared";
			d->limit.at[i].exceeded = true;
		}
		exceeded |= d->limit.at[i].exceeded;
	}
	if (n && d->limit.n)
		say_error(d->side[1].profile, "it cannot be said whether a limit is exceeded: %zu %s could not be compared", n,
		          n == 1 ? "function" : "functions");
	return exceeded;
}

/* ---- in words ---- */

const char *
gate_reached(char out[32], const struct diff_limit *l)
{
	const struct difference *r = l->most;

	if (!r)
		return "no growth";
	if (!l->before)
		return "from 0";
	snprintf(out, 32, "+%.2f %%", 100 * (double)growth(r) / (double)l->before);
	return out;
}

const char *
gate_name(struct pool *pool, const struct diff_limit *l)
{
	const char *most = l->most ? image_readable(l->most->name) : NULL;

	if (l->of == LIMIT_EVENT)
		return l->event;
	if (!most)
		return l->of == LIMIT_FUNCTION ? "each function" : "each program";
	return l->of == LIMIT_FUNCTION ? pool_printf(pool, "%s, of all instructions", most) : pool_strdup(pool, most);
}
