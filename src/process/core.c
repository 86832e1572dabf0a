/* SPDX-License-Identifier: MIT */
/* The profile of a process that died and left a core file. Counters are mostly in mappings of the profile's file, which core files
 * do not contain; counters in anonymous memory are in the core. Its stacks show which activations were under way. */
#include "process/core.h"

#include "process/control.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_MAX_BYTES = 4096 };

/* ---- the process's tables ---- */

bool
post_read(const void *of, uint64_t addr, void *to, size_t n)
{
	return core_read(of, addr, to, n);
}

bool
post_read_tables(struct post *s)
{
	for (uint32_t i = 0; i < s->live.nmodule; i++) {
		struct loaded m = {0};

		if (!control_item(post_read, s->core, s->live.modules, s->live.module_size, i, &m.live, sizeof m.live) ||
		    m.live.size % 8 || m.live.idlen > sizeof m.live.id)
			return false;
		VEC_PUSH(s->module, m);
	}
	for (uint32_t i = 0; i < s->live.nregion; i++) {
		struct chord_live_region r;

		if (!control_item(post_read, s->core, s->live.regions, s->live.region_size, i, &r, sizeof r))
			return false;
		VEC_PUSH(s->region, r);
	}
	s->filed = pool_array(s->r->pool, (size_t)s->live.nmodule * s->live.nregion + 1, sizeof *s->filed);
	return true;
}

/* ---- the file ---- */

/* Notes which counters the file has. The file has been checked. */
static void
note_filed(struct post *s)
{
	const struct chord_profile_head *head = (const void *)s->bytes.at;
	struct chord_extent_head h;

	for (uint64_t at = head->page; at < head->used; at += h.size) {
		memcpy(&h, s->bytes.at + at, sizeof h);
		if (h.type == CHORD_EXTENT_COUNTS && h.module < s->live.nmodule && h.a < s->live.nregion)
			s->filed[h.module * (size_t)s->live.nregion + h.a] = at + head->page;
	}
}

static bool
read_file(struct post *s, const char *path, const char **why)
{
	if (!file_read(path, &s->bytes))
		*why = strerror(errno);
	else if ((s->p = profile_parse(s->r->pool, (struct str){s->bytes.at, s->bytes.n}, why)) && s->p->pid != s->live.pid)
		*why = pool_printf(s->r->pool, "of process %" PRIu64 ", the core is of %u", s->p->pid, s->live.pid);
	if (!*why) {
		note_filed(s);
		s->file = path;
	} else {
		profile_free(s->p);
		s->p = NULL;
	}
	return !*why;
}

/* Finds the file that the process wrote, if it still exists: another file may have its name now. */
static void
find_file(struct post *s)
{
	char *path = pool_alloc(s->r->pool, NAME_MAX_BYTES + 1);
	const char *why = NULL;
	struct stat st;

	if (!s->live.file || !core_read(s->core, s->live.file, path, NAME_MAX_BYTES))
		return;
	if (stat(path, &st))
		why = strerror(errno);
	else if (st.st_dev != s->live.dev || st.st_ino != s->live.ino)
		why = "another file has its name now";
	else
		read_file(s, path, &why);
	if (why)
		VEC_PUSH(s->r->left_out, (struct named){path, why});
}

/* ---- memory ---- */

enum { STEP = 4096 };

/* Reads n bytes. False: they are not in the core. */
static bool
read_memory(const struct post *s, uint64_t addr, unsigned char *to, uint64_t n)
{
	for (uint64_t at = 0, part; at < n; at += part) {
		part = n - at < STEP ? n - at : STEP;
		if (!core_read(s->core, addr + at, to + at, part))
			return false;
	}
	return true;
}

/* Adds n bytes of counters from memory at addr to the module's counters from the link-time address `link` on. False: they are not
 * in the core. */
static bool
add_memory(struct post *s, uint32_t number, uint64_t link, uint64_t addr, uint64_t n)
{
	struct module *m = &s->p->module.at[number];
	struct pool *tmp;
	unsigned char *bytes;
	bool ok;

	if (link < m->base || link - m->base > m->ncount * 8 || n > m->ncount * 8 - (link - m->base))
		return false;
	if (!n)
		return true;
	tmp = pool_new();
	bytes = pool_array(tmp, m->ncount, 8);
	ok = read_memory(s, addr, bytes + (link - m->base), n);
	if (ok) {
		if (!m->count)
			m->count = pool_array(s->p->pool, m->ncount, 8);
		s->memory |= memcmp(bytes, bytes + 1, m->ncount * 8 - 1) || *bytes;
		s->wide |= !profile_add_counters(s->p, m, number, bytes);
		if (s->fresh)
			profile_doubt(s->p, m, number, bytes);
	}
	pool_free(tmp);
	return ok;
}

/* The link-time addresses of the counters of a program. Code that runs without a base counts only there. */
static bool
counter_range(const struct map *map, uint64_t *lo, uint64_t *hi)
{
	*lo = UINT64_MAX;
	*hi = 0;
	for (uint32_t i = 0; i < map->nproc; i++) {
		const struct proc *p = &map->proc[i];

		for (uint32_t k = 0; k <= p->nevent; k++) {
			uint64_t at = k < p->nevent ? p->event[k].addr : p->counters;
			uint64_t n = k < p->nevent ? p->event[k].numbers : p->ncounter;

			if (!n || !at)
				continue;
			*lo = at < *lo ? at : *lo;
			*hi = at + 8 * n > *hi ? at + 8 * n : *hi;
		}
	}
	return *lo < *hi && (*hi - *lo) % 8 == 0;
}

/* Inserts an address, and keeps the lowest ones. */
static void
add_sum(struct loaded *l, uint64_t addr)
{
	uint32_t k = 0;

	while (k < l->nsum && l->sum[k] < addr)
		k++;
	if (k == CHORD_SUMS || (k < l->nsum && l->sum[k] == addr))
		return;
	l->nsum += l->nsum < CHORD_SUMS;
	memmove(&l->sum[k + 1], &l->sum[k], (l->nsum - k - 1) * sizeof *l->sum);
	l->sum[k] = addr;
}

/* Adds what only a module's map tells: the counters whose values exits record, and the counters of code that ran without a
 * base. */
static void
add_own(struct post *s, struct loaded *l, const struct binary *bin)
{
	uint64_t lo, hi;

	for (uint32_t i = 0; i < bin->map.nproc; i++)
		for (uint32_t k = 0; k < bin->map.proc[i].nevent && bin->map.proc[i].summed; k++)
			add_sum(l, bin->map.proc[i].event[k].addr);
	if (counter_range(&bin->map, &lo, &hi))
		add_memory(s, l->number, lo, lo + l->live.bias, hi - lo);
}

static const char *
path_of(struct post *s, const struct chord_live_module *m)
{
	uint64_t bias;
	const char *path = core_object(s->core, m->first, &bias);

	return path && bias == m->bias ? path : "";
}

uint32_t
post_module(struct post *s, const struct chord_live_module *l)
{
	struct module m = {.nid = l->idlen, .base = l->first - l->bias, .ncount = l->size / 8};
	struct module *have = profile_module(s->p, (struct str){(const char *)l->id, l->idlen});

	if (have && have->base == m.base && have->ncount == m.ncount)
		return (uint32_t)(have - s->p->module.at);
	memcpy(m.id, l->id, sizeof m.id);
	m.path = pool_strdup(s->p->pool, path_of(s, l));
	VEC_PUSH(s->p->module, m);
	return (uint32_t)s->p->module.n - 1;
}

/* Adds the regions that are not in the file. */
static void
add_regions(struct post *s, uint32_t i)
{
	const struct chord_live_module *l = &s->module.at[i].live;
	uint32_t number = s->module.at[i].number;

	for (uint32_t k = 0; k < s->region.n; k++)
		if (!s->filed[i * (size_t)s->live.nregion + k] && l->life == CHORD_LIFE_LOADED &&
		    !add_memory(s, number, s->p->module.at[number].base, l->first + s->region.at[k].base, l->size))
			s->missing++;
}

/* Adds the counters of a module that were in memory. If its map can be read, it tells more than the runtime knew. */
static void
add_with_map(struct post *s, uint32_t i, const struct binary *bin)
{
	struct loaded *l = &s->module.at[i];
	struct module *m = &s->p->module.at[l->number];

	if (bin && !m->count)
		profile_take_map(s->p, m, &bin->map);
	add_regions(s, i);
	if (bin && l->live.life == CHORD_LIFE_LOADED)
		add_own(s, l, bin);
}

static void
add_module(struct post *s, uint32_t i)
{
	const struct module *m = &s->p->module.at[s->module.at[i].number];
	struct str id = {(const char *)m->id, m->nid};
	const char *why = NULL;
	struct binary bin;

	if (str_eq(image_build_id(s->r->binary.at[0].image), id)) {
		add_with_map(s, i, &s->r->binary.at[0]);
	} else if (*m->path && binary_open(s->r->pool, m->path, &bin, &why)) {
		add_with_map(s, i, str_eq(image_build_id(bin.image), id) ? &bin : NULL);
		binary_close(&bin);
	} else {
		add_with_map(s, i, NULL);
	}
}

void
post_take_head(struct post *s)
{
	struct chord_profile_head h;

	s->p = profile_new();
	s->p->nsummed = s->p->nrunning = 1;
	s->p->standing = s->live.nregion ? s->live.nregion : 1;
	s->p->pid = s->live.pid;
	if (!core_read(s->core, s->live.profile, &h, sizeof h) || h.magic != CHORD_PROFILE_MAGIC)
		return;
	s->p->flags = h.flags & CHORD_PROFILE_NOT_WATCHED;
	s->p->threads = h.threads;
	s->p->in_flight = h.in_flight;
	s->p->state = h.state;
	s->p->nrunning = h.state == CHORD_STATE_RUNNING;
	s->p->nthreads = h.state == CHORD_STATE_THREADS;
}

static void
take_exits_at(struct post *s, const struct chord_live_exits *e)
{
	struct chord_extent_head h;
	struct chord_exit x;

	if (!core_read(s->core, e->at, &h, sizeof h)) {
		s->missing++;
		return;
	}
	for (uint64_t i = 0; i < h.a && core_read(s->core, e->at + sizeof h + i * sizeof x, &x, sizeof x); i++)
		if (x.key && x.count && CHORD_EXIT_MODULE(x.key) < s->module.n)
			VEC_PUSH(s->p->exit, (struct exits){.module = s->module.at[CHORD_EXIT_MODULE(x.key)].number,
			                                    .reentry = x.key & CHORD_EXIT_REENTRY, .addr = CHORD_EXIT_ADDR(x.key),
			                                    .count = x.count, .handler = x.key & CHORD_EXIT_HANDLER,
			                                    .sum = {x.sum[0], x.sum[1], x.sum[2], x.sum[3]}});
}

static void
take_exits(struct post *s)
{
	struct chord_live_exits e;

	for (uint32_t i = 0; i < s->live.nslots; i++)
		if (control_item(post_read, s->core, s->live.exits, s->live.exits_size, i, &e, sizeof e))
			take_exits_at(s, &e);
}

/* ---- a process whose runtime did not start: all threads count in one place ---- */

static void
take_object(void *ctx, const char *path, uint64_t bias)
{
	struct post *s = ctx;
	const char *why = NULL;
	struct loaded l = {.live = {.bias = bias, .life = CHORD_LIFE_LOADED}, .number = (uint32_t)s->p->module.n};
	struct module m = {0};
	struct str id;
	struct binary bin;
	uint64_t hi;

	if (!binary_open(s->r->pool, path, &bin, &why))
		return;
	id = image_build_id(bin.image);
	if (id.n && id.n <= sizeof m.id && counter_range(&bin.map, &m.base, &hi)) {
		memcpy(m.id, id.at, id.n);
		m.nid = (uint32_t)id.n;
		m.path = pool_strdup(s->p->pool, path);
		m.ncount = (hi - m.base) / 8;
		profile_take_map(s->p, &m, &bin.map);
		VEC_PUSH(s->p->module, m);
		VEC_PUSH(s->module, l);
		add_own(s, &l, &bin);
	}
	binary_close(&bin);
}

static void
take_without_live(struct post *s)
{
	s->fresh = true;
	s->p = profile_new();
	s->p->nsummed = s->p->nrunning = s->p->standing = 1;
	s->p->flags = CHORD_PROFILE_NOT_WATCHED;
	core_objects(s->core, take_object, s);
	VEC_PUSH(s->r->note, "the process had no profile: the counts are those of its own memory, and activations that ended "
	                     "early are not known");
}

static void
take_with_live(struct post *s)
{
	s->fresh = !s->p;
	if (s->fresh)
		post_take_head(s);
	for (uint32_t i = 0; i < s->module.n; i++) {
		s->module.at[i].number = post_module(s, &s->module.at[i].live);
		add_module(s, i);
	}
	if (s->fresh)
		take_exits(s);
}

/* ---- all of it ---- */

static const char *
source(const struct post *s, const char *path)
{
	const char *from = !s->file ? "its memory" : s->memory ? "its profile and its memory" : "its profile";
	int sig = core_signal(s->core);

	from = s->file ? pool_printf(s->r->pool, "%s, %s", from, s->file) : from;
	return sig ? pool_printf(s->r->pool, "%s (%s), with counts of %s", path, strsignal(sig), from)
	           : pool_printf(s->r->pool, "%s, with counts of %s", path, from);
}

static bool
load(struct post *s, const char *path, const char *profile)
{
	const char *why = NULL;

	if (!control_find(post_read, s->core, &s->live) || !post_read_tables(s)) {
		say_error(path, "what it holds of Chord's runtime makes no sense, or is of another version");
		return false;
	}
	if (profile && !s->live.magic)
		why = "the core holds no runtime that could tell whose it is";
	else if (profile)
		read_file(s, profile, &why);
	else if (s->live.magic)
		find_file(s);
	if (why) {
		say_error(profile, "%s", why);
		return false;
	}
	if (s->live.magic)
		take_with_live(s);
	else
		take_without_live(s);
	post_end_all(s);
	return true;
}

static struct profile *
core_profile(struct run *r, const char *path, const char *program, const char *profile, const char **name)
{
	struct post s = {.r = r};
	const char *why = NULL;
	bool ok = false;

	if (!(s.core = core_open(r->pool, path, program, &why)))
		say_error(path, "%s", why);
	else
		ok = load(&s, path, profile);
	if (ok && !s.file && !s.memory)
		why = "it holds no counts, and the profile of its process is not at hand";
	else if (ok && s.wide)
		why = "its counts do not fit 64 bits";
	if (ok && why) {
		say_error(path, "%s", why);
		ok = false;
	}
	if (ok)
		*name = source(&s, path);
	if (ok && s.missing)
		VEC_PUSH(r->note, pool_printf(r->pool, "%" PRIu64 " parts of the profile are neither in the core nor in a file: "
		                              "counts are short", s.missing));
	core_close(s.core);
	free(s.module.at);
	free(s.region.at);
	buf_free(&s.bytes);
	if (ok)
		return s.p;
	profile_free(s.p);
	return NULL;
}

bool
run_load_core(struct run *r, const char *program, const char *core, const char *profile)
{
	const char *name;
	struct profile *p;
	bool ok;

	*r = (struct run){.pool = pool_new(), .path = program, .root = "", .sum = profile_new()};
	if (!run_open(r, program) || !(p = core_profile(r, core, program, profile, &name)))
		return false;
	ok = profile_module(p, image_build_id(r->binary.at[0].image));
	if (!ok)
		say_error(core, "%s", run_why_not(r, p, program));
	ok = ok && run_take(r, name, p);
	profile_free(p);
	return ok && run_solve(r);
}
