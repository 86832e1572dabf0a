/* SPDX-License-Identifier: MIT */
/* The target of a call, by name: follows linkage tables, stubs and aliases. */
#include "run/run.h"

#include <string.h>

/* The most instructions of linkage code, or of a stub of Chord. */
enum { FEW = 16 };

/* The whole address that an instruction at addr names. */
static uint64_t
target(const struct insn *in, uint64_t addr)
{
	return addr + (uint64_t)(int64_t)(int32_t)(in->target - (uint32_t)addr);
}

static struct callee
symbols_at(struct binary *bin, uint64_t addr)
{
	const struct image_symbol *s;
	size_t n = image_symbols(bin->image, &s), lo = 0, hi = n;
	struct callee c = {0};

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (s[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	c.symbol = s + lo;
	while (lo + c.n < n && s[lo + c.n].addr == addr)
		c.n++;
	return c;
}

/* The names of an address in this object: its symbols, or the name in the map if the object is stripped. */
static struct callee
names_at(struct binary *bin, uint64_t addr)
{
	struct callee c = symbols_at(bin, addr);
	const struct part_at *p = c.n ? NULL : parts_find(&bin->parts, addr);

	if (p && p->proc->part[0].addr == addr)
		c = (struct callee){.one = p->proc->name, .n = 1};
	c.addr = c.n ? addr : 0;
	return c;
}

static struct callee
through_slot(struct binary *bin, uint64_t slot)
{
	struct image_import in;

	if (!image_import(bin->image, slot, &in))
		return (struct callee){0};
	return in.name ? (struct callee){.one = in.name, .n = 1} : names_at(bin, in.addr);
}

static bool
is_linkage(struct binary *bin, uint64_t addr)
{
	struct str s = str_of(image_code_name(bin->image, addr));

	return str_starts(s, ".plt") || str_starts(s, ".iplt");
}

/* Follows code to the jump that ends it. 0: there is none. */
static uint64_t
find_jump(struct binary *bin, uint64_t addr, struct insn *in)
{
	for (int i = 0; i < FEW && image_insn(bin->image, addr, in); i++) {
		if (in->cls == CHORD_INSN_JUMP || in->cls == CHORD_INSN_IJUMP)
			return addr;
		if (!(in->attr & INSN_FALLS))
			return 0;
		addr += in->len;
	}
	return 0;
}

static bool
is_inside(const struct proc *p, uint64_t addr)
{
	for (uint32_t i = 0; i < p->npart; i++)
		if (addr - p->part[i].addr < p->part[i].woven_size)
			return true;
	return false;
}

struct callee
callee_at(struct binary *bin, uint64_t addr)
{
	struct insn in;
	uint64_t jump;

	if (!is_linkage(bin, addr))
		return names_at(bin, addr);
	jump = find_jump(bin, addr, &in);
	if (!jump || in.cls != CHORD_INSN_IJUMP || !(in.attr & INSN_MENTIONS))
		return (struct callee){0};
	return through_slot(bin, target(&in, jump));
}

struct callee
callee_of(struct binary *bin, const struct proc *p, const struct insn *in, uint64_t addr)
{
	uint64_t to = target(in, addr), jump;
	struct callee c;
	struct insn last;

	if (!(in->attr & INSN_REL))
		return in->attr & INSN_MENTIONS ? through_slot(bin, to) : (struct callee){0};
	c = callee_at(bin, to);
	/* A conditional jump may lead to a counter first. */
	if (c.n || in->cls != CHORD_INSN_BRANCH || !is_inside(p, to) || !(jump = find_jump(bin, to, &last)))
		return c;
	return last.attr & INSN_REL ? callee_at(bin, target(&last, jump)) : c;
}

/* Functions that the runtime has to see have names with Chord's prefix. A version is not part of the name. */
const char *
callee_name(struct pool *pool, const struct callee *c, size_t i)
{
	const char *name = c->one ? c->one : c->symbol[i].name, *version = strchr(name, '@');

	if (str_starts(str_of(name), "__chord_"))
		name += strlen("__chord_");
	return version && version > name ? pool_strndup(pool, name, (size_t)(version - name)) : name;
}
