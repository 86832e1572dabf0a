/* SPDX-License-Identifier: MIT */
/* The sections of a map record: each is read by the measure that it is of. */
#include "profile/measure.h"

#include <string.h>

#define ROW(id, lower, ...) [CHORD_##id] = &profile_measure_##lower,
static const struct profile_measure *const list[CHORD_MEASURES] = {CHORD_MEASURE_LIST(ROW)};

/* By which registers woven code finds counters. */
static void
get_bases(struct in *in, struct proc *p, const struct record *r)
{
	uint32_t n = in_number(in, 2);

	p->base = pool_array(in->pool, BASES, sizeof *p->base);
	for (uint32_t i = 0; i < n && !in->bad; i++) {
		uint32_t reg = in_below(in, BASES, "a base in no register");
		uint32_t what = in_below(in, r->nevent + 1ull, "a base of no event");

		if (in->bad)
			return;
		if (what)
			memcpy(&p->base[reg], r->event + 8 * (size_t)(what - 1), 8);
		else
			p->base[reg] = p->counters;
	}
}

/* Whoever reads counts is told that there is more. */
static void
add_unknown(struct in *in, struct proc *p, const char *tag)
{
	const char **more = pool_array(in->pool, p->nunknown + 1, sizeof *more);

	if (p->nunknown)
		memcpy(more, p->unknown, p->nunknown * sizeof *more);
	more[p->nunknown++] = tag;
	p->unknown = more;
}

static void
get_section(struct in *in, struct proc *p, const struct record *r)
{
	const char *tag = in_string(in);
	uint32_t n = in_number(in, 1), m = measure_named(str_of(tag));
	struct in part = *in;

	part.end = in->at + n;
	if (in->bad)
		return;
	if (m == CHORD_MEASURES && strcmp(tag, CHORD_MAP_BASES) != 0) {
		add_unknown(in, p, tag);
		part.at = part.end;
	} else if (m == CHORD_MEASURES) {
		if (p->base)
			in_bad(&part, "two sections of one kind");
		get_bases(&part, p, r);
	} else {
		if (measures_have(p->measures, m))
			in_bad(&part, "two sections of one kind");
		p->measures |= 1u << m;
		if (list[m]->map && !part.bad)
			list[m]->map(&part, p, r);
	}
	if (in_left(&part))
		in_bad(&part, "bytes left over");
	in->at += n;
	if (part.bad)
		in_bad(in, part.bad);
}

void
sections_read(struct in *in, struct proc *p, const struct record *r)
{
	uint32_t a, b;

	while (in_left(in) && !in->bad)
		get_section(in, p, r);
	if (!in->bad && measures_clash(p->measures, &a, &b))
		in_bad(in, "measures that do not go together");
	if (!in->bad && r->nevent && !p->nevent)
		in_bad(in, "another number of events than of their counters");
	if (!in->bad && p->summed && !measures_with(p->measures, CHORD_AT_CALLS))
		in_bad(in, "sums of no measure");
}
