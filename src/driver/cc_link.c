/* SPDX-License-Identifier: MIT */
/* Checks after a link whether anything is measured. If not (the compiler did not look into Chord's folder, a build dropped options,
 * objects came from elsewhere), the program would run and simply leave no profile. */
#include "driver/driver.h"
#include "run/run.h"

#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Is the output the result of a link: a regular file that is not an object for another link? */
static bool
is_final(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf64_Ehdr head = {0};
	struct stat st;
	bool is;

	if (fd < 0)
		return false;
	is = !fstat(fd, &st) && S_ISREG(st.st_mode);
	if (is && read(fd, &head, sizeof head) >= 20 && !memcmp(head.e_ident, ELFMAG, SELFMAG))
		is = head.e_type != ET_REL;
	close(fd);
	return is;
}

/* Without functions there is nothing to measure, as in data or an empty library. */
static bool
has_functions(struct image *im)
{
	struct binary bin = {.image = im};
	struct unmeasured un = {0};
	bool has;

	unmeasured_find(&bin, &un);
	has = un.symbol.n || (un.stripped && un.bytes);
	unmeasured_free(&un);
	return has;
}

/* Finds the counted events that have patterns. */
static void
find_patterns(struct pool *pool, const struct map *map, struct event_list *list)
{
	struct strmap seen = {0};
	size_t most = 0;
	uint64_t n;

	for (uint32_t i = 0; i < map->nproc; i++)
		most += map->proc[i].nevent;
	list->at = pool_array(pool, most, sizeof *list->at);
	for (uint32_t i = 0; i < map->nproc; i++)
		for (uint32_t e = 0; e < map->proc[i].nevent; e++) {
			struct str name = str_of(map->proc[i].event[e].name);
			struct event_list one;
			const char *why;

			if (strmap_get(&seen, name, &n) || !(str_starts(name, "call:") || str_starts(name, "insn:")))
				continue;
			strmap_put(&seen, name, 1);
			if (event_list_read(pool, name.at, &one, &why))
				list->at[list->n++] = one.at[0];
		}
	strmap_free(&seen);
}

/* A pattern that matches nothing may be a typing error, or there is nothing for it to count. */
static void
check_patterns(struct pool *pool, const char *output)
{
	struct run r = {.pool = pool};
	struct event_list list = {0};
	const char *why;
	struct tally t;
	struct binary bin;

	if (!binary_open(pool, output, &bin, &why))
		return;
	VEC_PUSH(r.binary, bin);
	find_patterns(pool, &bin.map, &list);
	if (list.n)
		tally_run(&t, pool, &r, &list, true);
	for (uint32_t i = 0; i < list.n; i++)
		if (!t.at[i].n)
			say_warning(output, "%s: nothing that is measured in it matches", list.at[i].name);
	event_list_free(&list);
	binary_close(&r.binary.at[0]);
	free(r.binary.at);
}

/* Do some records have CHORD_MAP_AT_CALLS, and others not? */
static bool
is_mixed(struct str map)
{
	struct chord_map_head h;
	bool with = false, without = false;

	for (; map.n >= sizeof h && !(with && without); map.at += h.size, map.n -= h.size) {
		memcpy(&h, map.at, sizeof h);
		if (h.size < sizeof h || h.size > map.n)
			return false;
		with |= (h.flags & CHORD_MAP_AT_CALLS) != 0;
		without |= !(h.flags & (CHORD_MAP_AT_CALLS | CHORD_MAP_REFUSED));
	}
	return with && without;
}

/* Is each of its procedures refused? */
static bool
is_all_refused(struct str map)
{
	struct chord_map_head h;

	for (; map.n >= sizeof h; map.at += h.size, map.n -= h.size) {
		memcpy(&h, map.at, sizeof h);
		if (h.size < sizeof h || h.size > map.n || !(h.flags & CHORD_MAP_REFUSED))
			return false;
	}
	return true;
}

/* An event has one counter in code that sums it for calls, and another one in other code. */
static void
check_apart(struct pool *pool, const char *output)
{
	enum { SUMMED = 1, NOT_SUMMED = 2, SAID = 4 };
	struct strmap seen = {0};
	const char *why;
	struct binary bin;

	if (!binary_open(pool, output, &bin, &why))
		return;
	for (uint32_t i = 0; i < bin.map.nproc; i++)
		for (uint32_t e = 0; e < bin.map.proc[i].nevent; e++) {
			const char *name = bin.map.proc[i].event[e].name;
			uint64_t kinds = 0;

			strmap_get(&seen, str_of(name), &kinds);
			kinds |= bin.map.proc[i].summed ? SUMMED : NOT_SUMMED;
			if (kinds == (SUMMED | NOT_SUMMED)) {
				say_warning(output, "%s: counted for calls (-fchord=calls) in some objects and not in others: "
				            "chord_events() and sums of calls see these apart", name);
				kinds |= SAID;
			}
			strmap_put(&seen, str_of(name), kinds);
		}
	strmap_free(&seen);
	binary_close(&bin);
}

void
link_check(struct pool *pool, const char *output)
{
	const char *why = NULL;
	struct image *im;
	struct str map;

	if (!is_final(output))
		return;
	im = image_open(pool, output, &why);
	if (!im) {
		say_warning(output, "nothing in it is measured: %s", why);
		return;
	}
	if (!(image_section_all(im, CHORD_SECTION_MAP, &map, &why) && map.n) && has_functions(im))
		say_warning(output, "nothing in it is measured");
	else if (map.n && is_all_refused(map))
		say_warning(output, "nothing in it is measured: each of its procedures was refused; `chord verify %s` says why",
		            output);
	else if (map.n && (memmem(map.at, map.n, "call:", 5) || memmem(map.at, map.n, "insn:", 5)))
		check_patterns(pool, output);
	if (is_mixed(map))
		check_apart(pool, output);
	image_close(im);
}
