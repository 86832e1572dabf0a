/* SPDX-License-Identifier: MIT */
/* Finds the procedure to which an address of woven code belongs. */
#include "profile/profile.h"

#include <stdlib.h>

static int
parts_by_addr(const void *a, const void *b)
{
	const struct part_at *x = a, *y = b;

	return (x->addr > y->addr) - (x->addr < y->addr);
}

struct parts
map_parts(struct pool *pool, const struct map *map)
{
	struct parts parts = {0};

	for (uint32_t i = 0; i < map->nproc; i++)
		parts.n += map->proc[i].npart;
	parts.at = pool_array(pool, parts.n, sizeof *parts.at);
	parts.n = 0;
	for (uint32_t i = 0; i < map->nproc; i++)
		for (uint32_t j = 0; j < map->proc[i].npart; j++) {
			const struct chord_part *p = &map->proc[i].part[j];

			if (p->addr && p->woven_size)
				parts.at[parts.n++] = (struct part_at){p->addr, p->woven_size, &map->proc[i]};
		}
	if (parts.n)
		qsort(parts.at, parts.n, sizeof *parts.at, parts_by_addr);
	return parts;
}

size_t
parts_behind(const struct parts *parts, uint64_t addr)
{
	size_t lo = 0, hi = parts->n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (parts->at[mid].addr <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

const struct part_at *
parts_find(const struct parts *parts, uint64_t addr)
{
	size_t behind = parts_behind(parts, addr);

	if (!behind || addr - parts->at[behind - 1].addr >= parts->at[behind - 1].size)
		return NULL;
	return &parts->at[behind - 1];
}
