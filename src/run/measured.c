/* SPDX-License-Identifier: MIT */
/* Which functions of a program are not measured, and to what they belong. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>

/* Code of the compiler's start-up files, which every program has, and of the part of glibc that is always linked statically. */
static bool
is_startup(const char *name)
{
	static const char *const known[] = {
		"atexit", "at_quick_exit", "__pthread_atfork", "pthread_atfork", "__stack_chk_fail_local",
		"_start", "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux", "frame_dummy", "_init",
		"_fini", "_dl_relocate_static_pie", "__libc_csu_init", "__libc_csu_fini",
	};

	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(name, known[i]))
			return true;
	return false;
}

/* Chord's own code, which every measured program has. */
static bool
is_runtime(const char *name)
{
	return str_starts(str_of(name), "chord_rt_") || str_starts(str_of(name), "__chord_");
}

/* Linkage code that the linker makes. */
static bool
is_linkage(const char *section)
{
	struct str s = str_of(section);

	return str_starts(s, ".plt") || str_starts(s, ".iplt") || str_is(s, ".init") || str_is(s, ".fini");
}

static uint64_t
code_bytes(const struct binary *bin)
{
	const struct image_code *code;
	size_t n = image_code(bin->image, &code);
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_linkage(code[i].name))
			sum += code[i].size;
	return sum;
}

/* Parts are sorted; they overlap only if the map is wrong. */
static uint64_t
map_bytes(const struct binary *bin)
{
	uint64_t sum = 0, end = 0;

	for (size_t i = 0; i < bin->parts.n; i++) {
		const struct part_at *p = &bin->parts.at[i];
		uint64_t start = p->addr > end ? p->addr : end, stop = p->addr + p->size;

		if (stop > start)
			sum += stop - start;
		end = stop > end ? stop : end;
	}
	return sum;
}

/* Is the function the procedure itself, or its out-of-line part? */
static bool
is_of(const struct proc *p, const char *name)
{
	size_t n = strlen(p->name);

	return !strncmp(p->name, name, n) && (!name[n] || !strncmp(name + n, ".cold", 5));
}

/* A function that begins with padding begins before its part in the map: the weaver saw no bytes there, and the padding became
 * necessary by woven code. */
static bool
is_measured(const struct binary *bin, const struct image_symbol *s)
{
	const struct part_at *p;

	if (parts_find(&bin->parts, s->addr))
		return true;
	p = s->size ? parts_find(&bin->parts, s->addr + s->size - 1) : NULL;
	return p && is_of(p->proc, s->name);
}

/* Where the code of a function ends whose symbol has no size: where the next function or procedure begins, or the section ends. s:
 * one of the symbols up to `last`, by address. */
static uint64_t
end_without_size(const struct binary *bin, const struct image_symbol *s, const struct image_symbol *last)
{
	const struct image_code *code;
	size_t n = image_code(bin->image, &code), part = parts_behind(&bin->parts, s->addr);
	const struct image_symbol *next = s;
	uint64_t end = s->addr;

	for (size_t i = 0; i < n; i++)
		if (s->addr - code[i].addr < code[i].size)
			end = code[i].addr + code[i].size;
	while (next < last && next->addr == s->addr)
		next++;
	if (next < last && next->addr < end)
		end = next->addr;
	if (part < bin->parts.n && bin->parts.at[part].addr < end)
		end = bin->parts.at[part].addr;
	return end;
}

void
unmeasured_find(struct binary *bin, struct unmeasured *un)
{
	const struct image_symbol *s;
	size_t n = image_symbols(bin->image, &s);
	uint64_t all = code_bytes(bin), mapped = map_bytes(bin);

	un->stripped |= image_stripped(bin->image);
	un->bytes += all > mapped ? all - mapped : 0;
	for (size_t i = 0; i < n; i++) {
		bool alias = i && s[i].addr == s[i - 1].addr;

		if (alias || is_measured(bin, &s[i]) || is_startup(s[i].name) || is_runtime(s[i].name) ||
		    is_linkage(image_code_name(bin->image, s[i].addr)))
			continue;
		VEC_PUSH(un->symbol, s[i]);
		un->symbol_bytes += s[i].size;
		un->unsized += !s[i].size;
		if (!s[i].size)
			un->symbol.at[un->symbol.n - 1].size = end_without_size(bin, &s[i], s + n) - s[i].addr;
	}
}

static bool
is_named(const char *path, const char *library)
{
	return !strcmp(base_name(path), base_name(library));
}

/* Is the library measured, even if it cannot be opened now? If it was linked without -l, its name may be a path, as the linker was
 * given it. */
static bool
is_ours(const struct run *r, const char *library)
{
	for (size_t i = 0; i < r->binary.n; i++)
		if (is_named(r->binary.at[i].path, library))
			return true;
	for (size_t i = 0; r->sum && i < r->sum->module.n; i++)
		if (is_named(r->sum->module.at[i].path, library))
			return true;
	return false;
}

static void
add_libraries(const struct run *r, const struct binary *bin, struct unmeasured *un)
{
	const char *const *needed;
	size_t n = image_needed(bin->image, &needed);

	for (size_t i = 0; i < n; i++) {
		bool have = is_ours(r, needed[i]);

		for (size_t k = 0; k < un->library.n && !have; k++)
			have = !strcmp(un->library.at[k], needed[i]);
		if (!have)
			VEC_PUSH(un->library, needed[i]);
	}
}

void
unmeasured_find_all(struct run *r, struct unmeasured *un)
{
	for (size_t i = 0; i < r->binary.n; i++) {
		unmeasured_find(&r->binary.at[i], un);
		add_libraries(r, &r->binary.at[i], un);
	}
}

void
unmeasured_free(struct unmeasured *un)
{
	free(un->symbol.at);
	free(un->library.at);
	*un = (struct unmeasured){0};
}
