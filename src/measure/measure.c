/* SPDX-License-Identifier: MIT */
/* The registry of measures as a table, and functions of their needs and traits. */
#include "measure/measure.h"

#define ROW(id, lower, name, needs, traits, what) [CHORD_##id] = {name, needs, traits, what},
const struct measure measure_list[CHORD_MEASURES] = {CHORD_MEASURE_LIST(ROW)};

uint32_t
measure_named(struct str name)
{
	uint32_t m = 0;

	while (m < CHORD_MEASURES && !str_is(name, measure_list[m].name))
		m++;
	return m;
}

uint32_t
measures_with(uint32_t set, uint32_t traits)
{
	uint32_t with = 0;

	for (uint32_t m = 0; m < CHORD_MEASURES; m++)
		if (measures_have(set, m) && measure_list[m].traits & traits)
			with |= 1u << m;
	return with;
}

uint32_t
measures_complete(uint32_t set)
{
	uint32_t all = set ? set : CHORD_SET(EDGES);
	bool has_flow = measures_with(set, CHORD_FLOW);

	for (uint32_t m = 0; m < CHORD_MEASURES; m++) {
		uint32_t needs = measures_have(set, m) ? measure_list[m].needs : 0;

		all |= has_flow ? needs & ~measures_with(needs, CHORD_FLOW) : needs;
	}
	return all;
}

static bool
needs(uint32_t a, uint32_t b)
{
	return measures_have(measure_list[a].needs, b) || measures_have(measure_list[b].needs, a);
}

bool
measures_clash(uint32_t set, uint32_t *a, uint32_t *b)
{
	for (*a = 0; *a < CHORD_MEASURES; ++*a)
		for (*b = *a + 1; *b < CHORD_MEASURES && measures_have(set, *a); ++*b) {
			uint32_t x = measure_list[*a].traits, y = measure_list[*b].traits;

			if (measures_have(set, *b) && ((x & y) & CHORD_FLOW || ((x | y) & CHORD_ALONE && !needs(*a, *b))))
				return true;
		}
	return false;
}

void
measures_names(struct buf *b, uint32_t set, const char *between, const char *last)
{
	set &= (1u << CHORD_MEASURES) - 1;
	for (uint32_t m = 0, n = 0; m < CHORD_MEASURES; m++) {
		if (!measures_have(set, m))
			continue;
		if (n++)
			buf_str(b, set >> m > 1 ? between : last);
		buf_str(b, measure_list[m].name);
	}
}

static void
list_traits(struct buf *b, uint32_t traits)
{
	static const char *const names[] = {"flow", "edges", "events", "stack", "at-calls", "alone", "in-order", "own-event"};
	const char *between = "";

	for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
		if (traits >> i & 1) {
			buf_printf(b, "%s%s", between, names[i]);
			between = ",";
		}
	if (!traits)
		buf_char(b, '-');
}

void
measures_list(struct buf *b)
{
	for (uint32_t m = 0; m < CHORD_MEASURES; m++) {
		buf_printf(b, "%s\t", measure_list[m].name);
		list_traits(b, measure_list[m].traits);
		buf_printf(b, "\t%s\n", measure_list[m].what);
	}
}
