/* SPDX-License-Identifier: MIT */
/* The control block of a measured process, found from outside by its anchor page. */
#include "process/control.h"

/* A reserved address may have a page with the address of the control block. A page without the magic number is not in use. */
static bool
find_at(control_read_fn *read, const void *of, uint64_t place, struct chord_live *live)
{
	struct chord_live_anchor a;

	return read(of, place, &a, sizeof a) && a.magic == CHORD_ANCHOR_MAGIC && read(of, a.block, live, sizeof *live) &&
	       live->magic == CHORD_LIVE_MAGIC;
}

bool
control_find(control_read_fn *read, const void *of, struct chord_live *live)
{
	static const uint64_t place[] = CHORD_LIVE_PLACES;

	for (size_t i = 0; i < sizeof place / sizeof *place; i++)
		if (find_at(read, of, place[i], live))
			return live->version == CHORD_FORMAT_VERSION && live->nmodule <= CONTROL_MODULES_MOST &&
			       live->nregion <= CONTROL_REGIONS_MOST;
	*live = (struct chord_live){0};
	return true;
}

uint64_t
control_anchor(control_read_fn *read, const void *of)
{
	static const uint64_t place[] = CHORD_LIVE_PLACES;
	struct chord_live live;

	for (size_t i = 0; i < sizeof place / sizeof *place; i++)
		if (find_at(read, of, place[i], &live))
			return place[i];
	return 0;
}

bool
control_may_be(uint64_t at, uint64_t n)
{
	static const uint64_t place[] = CHORD_LIVE_PLACES;

	for (size_t i = 0; i < sizeof place / sizeof *place; i++)
		if (place[i] - at < n)
			return true;
	return false;
}

bool
control_absent(control_read_fn *read, const void *of)
{
	static const uint64_t place[] = CHORD_LIVE_PLACES;
	char byte;

	for (size_t i = 0; i < sizeof place / sizeof *place; i++)
		if (read(of, place[i], &byte, sizeof byte))
			return false;
	return true;
}

bool
control_item(control_read_fn *read, const void *of, uint64_t chunks, uint32_t size, uint32_t i, void *to, size_t n)
{
	uint32_t k = CHORD_CHUNK_OF(i);
	uint64_t chunk = 0;

	return k < CHORD_CHUNKS && read(of, chunks + 8 * (uint64_t)k, &chunk, sizeof chunk) && chunk &&
	       read(of, chunk + (uint64_t)CHORD_IN_CHUNK(i) * size, to, n);
}
