/* SPDX-License-Identifier: MIT */
/* Limits: what was reached, and whether that is too much. A count that is not known is never said to be within its limits. */
#include "tool/diff/diff.h"

#include <string.h>

/* The least and the most that it grew; without a bound COUNT_NO_BOUND. */
static struct bounds
growth(const struct difference *r)
{
	struct bounds g = {0, COUNT_NO_BOUND};

	if (r->after.least > r->before.most)
		g.least = r->after.least - r->before.most;
	if (r->after.most != COUNT_NO_BOUND)
		g.most = r->after.most > r->before.least ? r->after.most - r->before.least : 0;
	return g;
}

static const struct difference *
total_of(const struct diff *d, const char *event)
{
	for (size_t i = 0; i < d->found.total.n; i++)
		if (!strcmp(d->found.total.at[i].name, event))
			return &d->found.total.at[i];
	return NULL;
}

/* Finds an event that follows from the counts and was not compared yet. */
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
is_above(const struct diff_limit *l, uint64_t grown, uint64_t all)
{
	return grown && (unsigned __int128)grown * 100000000 > (unsigned __int128)l->millionths * all;
}

/* Is it certainly above the limit? all: a hundred percent. */
static bool
is_exceeded(const struct diff_limit *l, const struct difference *r, const struct bounds *all)
{
	return (all->most != COUNT_NO_BOUND || !l->millionths) && is_above(l, growth(r).least, all->most);
}

static bool
may_be_exceeded(const struct diff_limit *l, const struct difference *r, const struct bounds *all)
{
	return growth(r).most == COUNT_NO_BOUND || is_above(l, growth(r).most, all->least);
}

bool
gate_is_exceeded_by(const struct diff_limit *l, const struct difference *function)
{
	return l->of == LIMIT_FUNCTION && l->exceeded && is_exceeded(l, function, &l->before);
}

static double
share(uint64_t grown, uint64_t all)
{
	return all ? (double)grown / (double)all : grown ? 1e300 : 0;
}

bool
gate_is_exact(const struct diff_limit *l)
{
	return !l->most || (bounds_exact(&l->most->before) && bounds_exact(&l->most->after) && bounds_exact(&l->before));
}

static const char *
bare(const char *text, char out[32])
{
	snprintf(out, 32, "%.*s", (int)strcspn(text, "%"), text);
	return out;
}

/* ---- each kind ---- */

/* The name of a row in messages about a limit. */
static const char *
row_name(const struct diff_limit *l, const struct difference *r)
{
	return l->of == LIMIT_EVENT ? "" : l->of == LIMIT_FUNCTION ? image_readable(r->name) : r->name;
}

static void
say_above(const struct diff *d, const struct diff_limit *l, const struct difference *r, const struct bounds *all)
{
	const char *what = row_name(l, r), *of = l->of == LIMIT_FUNCTION ? " of all" : "";
	char limit[32], n[32], part[64] = "from 0";
	struct bounds g = growth(r);

	if (all->most)
		snprintf(part, sizeof part, "+%.2f %%%s", 100 * share(g.least, all->most), of);
	say_error(d->side[1].profile, "%s%s%s%s %s more than before (%s): above the limit of %s %%", what, *what ? ": " : "",
	          bounds_exact(&g) && bounds_exact(all) ? "" : "at least ", grouped(n, g.least), l->event, part,
	          bare(l->text, limit));
}

static void
say_open(const struct diff *d, struct diff_limit *l)
{
	const char *what = row_name(l, l->most);

	l->unknown = "its bounds are on both sides of the limit";
	l->exceeded = true;
	say_error(d->side[1].profile, "it cannot be said whether a limit is exceeded: %s%s%s: %s", what, *what ? ": " : "",
	          l->event, l->unknown);
}

/* all: a hundred percent; NULL: a hundred percent is what each row was before. */
static void
check_rows(const struct diff *d, struct diff_limit *l, const struct difference *at, size_t n, const struct bounds *all)
{
	const struct difference *sure = NULL, *most = NULL;
	double sure_share = 0, most_share = 0;
	bool open = false;

	for (size_t i = 0; i < n; i++) {
		const struct bounds *before = all ? all : &at[i].before;
		struct bounds g = growth(&at[i]);

		if (share(g.least, before->most) > sure_share)
			sure_share = share(g.least, before->most), sure = &at[i];
		if (share(g.most, before->least) > most_share)
			most_share = share(g.most, before->least), most = &at[i];
		open |= may_be_exceeded(l, &at[i], before);
		if (!is_exceeded(l, &at[i], before))
			continue;
		l->exceeded = true;
		say_above(d, l, &at[i], before);
	}
	l->most = l->exceeded ? sure : most;
	if (all || l->most)
		l->before = all ? *all : l->most->before;
	if (open && !l->exceeded)
		say_open(d, l);
}

static void
check(struct diff *d, struct diff_limit *l)
{
	const struct difference *t;

	if (!l->unknown && l->of != LIMIT_EVENT && !total_of(d, "instructions"))
		l->unknown = "instructions were not counted";
	if (!l->unknown && l->of != LIMIT_EVENT && !d->found.by_function)
		l->unknown = "functions were not counted";
	if (l->unknown) {
		l->exceeded = true;
		say_error(d->side[1].profile, "it cannot be said whether a limit is exceeded: %s", l->unknown);
		return;
	}
	t = total_of(d, l->event);
	if (l->of == LIMIT_EVENT)
		check_rows(d, l, t, t != NULL, NULL);
	else if (l->of == LIMIT_FUNCTION)
		check_rows(d, l, d->found.function.at, d->found.function.n, &t->before);
	else
		check_rows(d, l, d->found.binary.at, d->found.binary.n, NULL);
}

/* Missing counts could be on either side of any limit. */
static void
check_missing(struct diff *d)
{
	size_t n = d->side[0].nmissing + d->side[1].nmissing;

	for (size_t i = 0; n && i < d->limit.n; i++)
		d->limit.at[i].unknown = pool_printf(d->found.pool, "%zu %s could not be used", n, n == 1 ? "profile" : "profiles");
}

bool
gate_check(struct diff *d)
{
	bool exceeded = false, stored = d->side[0].stored || d->side[1].stored;
	size_t n = stored ? 0 : d->found.left_out.n;

	check_missing(d);

	/* Adding a row moves others, so all are added first. */
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
gate_reached(char out[GATE_REACHED], const struct diff_limit *l)
{
	struct bounds g;
	uint64_t all = l->exceeded ? l->before.most : l->before.least;

	if (!l->most)
		return "no growth";
	if (!all)
		return "from 0";
	g = growth(l->most);
	snprintf(out, GATE_REACHED, "%s+%.2f %%", gate_is_exact(l) ? "" : l->exceeded ? "at least " : "at most ",
	         100 * share(l->exceeded ? g.least : g.most, all));
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
