/* SPDX-License-Identifier: MIT */
/* The records of a map. Each has a procedure's graph, the linker's addresses, and the data of measures. */
#include "profile/measure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* The address of woven offset i; 0 if the weaver did not know it. */
static uint64_t
woven_addr(struct in *in, const struct proc *p, uint32_t block, const unsigned char *woven, uint32_t i)
{
	const struct chord_part *part = &p->part[p->block[block].part];
	uint32_t offset;

	memcpy(&offset, woven + 4 * (size_t)i, 4);
	if (offset == UINT32_MAX)
		return 0;
	if (offset > part->woven_size)
		in_bad(in, "an offset outside the woven code");
	return part->addr + offset;
}

/* Sets the linker's addresses in the graph. */
static void
get_addresses(struct in *in, struct proc *p, const struct record *a)
{
	if (!in->bad && (uint64_t)p->nseg + p->ncall != a->nwoven)
		in_bad(in, "another number of woven offsets than of segments and calls");
	if (in->bad)
		return;
	for (uint32_t i = 0; i < p->nseg; i++)
		p->seg[i].addr = woven_addr(in, p, p->seg[i].block, a->woven, i);
	for (uint32_t i = 0; i < p->ncall; i++)
		p->call[i].back = woven_addr(in, p, p->call[i].block, a->woven, p->nseg + i);
	proc_index(in, p);
}

static void
get_blob(struct in *in, struct proc *p, bool refused, const struct record *a)
{
	proc_read(in, p, refused);
	if (refused)
		return;
	get_addresses(in, p, a);
	if (in->bad)
		return;
	sections_read(in, p, a);
}

static void
get_parts(struct in *in, struct proc *p, uint32_t npart)
{
	if (!npart || npart > in_left(in) / sizeof *p->part) {
		in_bad(in, "a number of parts that cannot be");
		return;
	}
	p->npart = npart;
	p->part = pool_array(in->pool, npart, sizeof *p->part);
	in_bytes(in, p->part, npart * sizeof *p->part);
	for (uint32_t i = 0; i < npart; i++)
		if (p->part[i].addr > UINT64_MAX - p->part[i].woven_size)
			in_bad(in, "a part outside all addresses");
}

/* Reads a number, and then that many items of `size` bytes. */
static const unsigned char *
get_array(struct in *in, uint32_t *n, size_t size)
{
	const unsigned char *at;

	in_bytes(in, n, sizeof *n);
	if (*n > in_left(in) / size) {
		in_bad(in, "it announces more than it holds");
		*n = 0;
	}
	at = in->at;
	in->at += *n * size;
	return at;
}

/* Reads one record, without its head. */
static void
get_record(struct in *in, const struct chord_map_head *h, struct proc *p)
{
	struct record a = {0};
	uint32_t nblob;

	p->counters = h->counters;
	p->ncounter = h->ncounter;
	p->summed = h->flags & CHORD_MAP_AT_CALLS;
	if (h->ncounter && h->counters > UINT64_MAX - 8 * (uint64_t)h->ncounter)
		in_bad(in, "counters outside all addresses");
	get_parts(in, p, h->npart);
	a.woven = get_array(in, &a.nwoven, 4);
	a.event = get_array(in, &a.nevent, 8);
	in_bytes(in, &nblob, sizeof nblob);
	if (nblob != in_left(in))
		in_bad(in, "a blob of another size than the record");
	get_blob(in, p, h->flags & CHORD_MAP_REFUSED, &a);
}

static const char *
check_head(const struct chord_map_head *h, size_t have)
{
	if (have < sizeof *h)
		return "it ends too early";
	if (h->magic != CHORD_MAP_MAGIC)
		return "not a record of a map";
	if (h->size < sizeof *h || h->size > have)
		return "it ends too early";
	if (h->flags & ~(uint32_t)(CHORD_MAP_REFUSED | CHORD_MAP_AT_CALLS))
		return "unknown flags";
	return NULL;
}

static int
procs_by_addr(const void *a, const void *b)
{
	const struct proc *x = a, *y = b;

	if (x->part->addr != y->part->addr)
		return x->part->addr < y->part->addr ? -1 : 1;
	if (x->part->woven_size != y->part->woven_size)
		return x->part->woven_size < y->part->woven_size ? -1 : 1;
	if (x->counters != y->counters)
		return x->counters < y->counters ? -1 : 1;
	return strcmp(x->name, y->name);
}

/* Do two records describe the same code? The linker may have kept one of two identical procedures. Records with different counters
 * stay apart: one of the two counts nothing, so their sum is right. */
static bool
same_code(const struct proc *a, const struct proc *b)
{
	return a->npart == b->npart && a->counters == b->counters && a->ncounter == b->ncounter &&
	       !memcmp(a->part, b->part, a->npart * sizeof *a->part);
}

/* Does the procedure have this name already? Names come sorted. */
static bool
has_name(const struct proc *p, const char *name)
{
	return !strcmp(p->nalso ? p->also[p->nalso - 1] : p->name, name);
}

static void
add_name(struct pool *pool, struct proc *p, const char *name)
{
	const char **more;

	if (has_name(p, name))
		return;
	if (!(p->nalso & (p->nalso + 1))) {
		more = pool_array(pool, 2 * (size_t)p->nalso + 2, sizeof *more);
		if (p->nalso)
			memcpy(more, p->also, p->nalso * sizeof *more);
		p->also = more;
	}
	p->also[p->nalso++] = name;
}

static void
fold(struct pool *pool, struct map *map)
{
	uint32_t n = 0;

	if (map->nproc)
		qsort(map->proc, map->nproc, sizeof *map->proc, procs_by_addr);
	for (uint32_t i = 0; i < map->nproc; i++) {
		if (n && same_code(&map->proc[n - 1], &map->proc[i]))
			add_name(pool, &map->proc[n - 1], map->proc[i].name);
		else
			map->proc[n++] = map->proc[i];
	}
	map->nproc = n;
	map->nrefused = 0;
	for (uint32_t i = 0; i < n; i++)
		map->nrefused += map->proc[i].refused != NULL;
}

static const char *
map_error(struct pool *pool, size_t offset, const struct in *in, const char *why)
{
	if (in && in->name && *in->name)
		return pool_printf(pool, "the map record of %s is damaged: %s", in->name, why);
	return pool_printf(pool, "the map record at offset %zu is damaged: %s", offset, why);
}

/* Code goes from the last cell of a counter to the first by the lowest byte of the address. If a linker script has put cells where
 * that byte leads out of them, it is not known in which other words of the module code has counted. The numbers of one event
 * have cells if there are so many for each vector, or a multiple. */
static bool
is_aligned(const struct proc *p)
{
	const uint64_t size = CHORD_CELLS * sizeof(uint64_t);
	bool aligned = !p->ncells || (p->counters + p->cells * sizeof(uint64_t)) % size == 0;

	for (uint32_t e = 0; e < p->nevent; e++)
		aligned &= p->event[e].stride % CHORD_CELLS || p->event[e].addr % size == 0;
	return aligned;
}

bool
map_parse(struct pool *pool, struct str bytes, struct map *map, const char **why)
{
	VEC(struct proc) procs = {0};
	const unsigned char *at = (const unsigned char *)bytes.at;

	*map = (struct map){0};
	*why = NULL;
	for (size_t offset = 0; offset < bytes.n && !*why;) {
		struct chord_map_head h = {0};
		struct in in = {.pool = pool};
		struct proc p = {0};

		memcpy(&h, at + offset, bytes.n - offset < sizeof h ? bytes.n - offset : sizeof h);
		if (bytes.n - offset >= sizeof h && h.magic == CHORD_MAP_MAGIC && h.version != CHORD_FORMAT_VERSION) {
			*why = pool_printf(pool, "built by another version of Chord: its map has format version %u, "
			                   "this is version %u", h.version, CHORD_FORMAT_VERSION);
			break;
		}
		if ((*why = check_head(&h, bytes.n - offset))) {
			*why = map_error(pool, offset, NULL, *why);
			break;
		}
		in.at = at + offset + sizeof h;
		in.end = at + offset + h.size;
		get_record(&in, &h, &p);
		if (in.bad)
			*why = map_error(pool, offset, &in, in.bad);
		else if (h.section && !is_aligned(&p))
			*why = pool_printf(pool, "the linker has not aligned the counters of %s as they ask", p.name);
		else if (h.section)
			VEC_PUSH(procs, p);
		offset += h.size;
	}
	if (!*why) {
		map->nproc = (uint32_t)procs.n;
		map->proc = pool_array(pool, procs.n, sizeof *procs.at);
		if (procs.n)
			memcpy(map->proc, procs.at, procs.n * sizeof *procs.at);
		fold(pool, map);
	}
	free(procs.at);
	return !*why;
}
