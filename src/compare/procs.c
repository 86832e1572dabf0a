/* SPDX-License-Identifier: MIT */
/* Finds the corresponding procedure in another run, if its instructions, blocks and edges are the same. */
#include "compare/compare.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A procedure of the earlier run. */
struct former {
	const struct binary *binary;
	uint32_t number;         /* index in the binary's map */
	bool several;            /* several have the same key */
};

struct compared_procs {
	struct pool *pool;
	struct run *before, *after;
	struct strmap by_name;   /* index in former, by library, name and file */
	struct strmap by_graph;  /* likewise, and by the graph */
	VEC(struct former) former;
};

static struct str
name_key(struct compared_procs *c, const char *library, const struct proc *p)
{
	return str_of(pool_printf(c->pool, "%s\n%s\n%s", library, p->name, p->file));
}

static struct str
graph_key(struct compared_procs *c, const char *library, const struct proc *p)
{
	return str_of(pool_printf(c->pool, "%s\n%s\n%s\n%016" PRIx64, library, p->name, p->file, proc_hash(p)));
}

static void
put(struct compared_procs *c, struct strmap *map, struct str key, const struct binary *bin, uint32_t number)
{
	uint64_t i;

	if (strmap_get(map, key, &i)) {
		c->former.at[i].several = true;
		return;
	}
	strmap_put(map, key, c->former.n);
	VEC_PUSH(c->former, ((struct former){bin, number, false}));
}

struct compared_procs *
compare_procs(struct run *before, struct run *after)
{
	struct pool *pool = pool_new();
	struct compared_procs *c = pool_alloc(pool, sizeof *c);

	*c = (struct compared_procs){.pool = pool, .before = before, .after = after};
	for (size_t i = 0; i < before->binary.n; i++) {
		const struct binary *bin = &before->binary.at[i];
		const char *library = compare_binary(bin, before, after);

		for (uint32_t k = 0; k < bin->map.nproc; k++) {
			const struct proc *p = &bin->map.proc[k];

			put(c, &c->by_name, name_key(c, library, p), bin, k);
			if (!p->refused)
				put(c, &c->by_graph, graph_key(c, library, p), bin, k);
		}
	}
	return c;
}

static bool
same_proc(const struct proc *a, const struct proc *b)
{
	return !strcmp(a->name, b->name) && !strcmp(a->file, b->file) && !a->refused == !b->refused &&
	       (a->refused || proc_hash(a) == proc_hash(b));
}

/* Finds the same build, in which the procedure has the same number. A linker can be told what to write as build id, so other
 * builds may have it, too. */
static const struct binary *
same_build(const struct run *before, const struct binary *bin, uint32_t number)
{
	const struct proc *p = &bin->map.proc[number];
	struct str id = image_build_id(bin->image);

	for (size_t i = 0; id.n && i < before->binary.n; i++) {
		const struct binary *b = &before->binary.at[i];

		if (str_eq(image_build_id(b->image), id) && number < b->map.nproc && same_proc(&b->map.proc[number], p))
			return b;
	}
	return NULL;
}

static struct proc_before
known(const struct binary *bin, uint32_t number)
{
	const struct counts *counts = &bin->counts[number];

	if (bin->map.proc[number].refused)
		return (struct proc_before){.why = bin->map.proc[number].refused};
	if (counts->why)
		return (struct proc_before){.why = counts->why};
	return (struct proc_before){.proc = &bin->map.proc[number], .counts = counts};
}

struct proc_before
compare_proc(struct compared_procs *c, const struct binary *bin, uint32_t number)
{
	const struct binary *same = same_build(c->before, bin, number);
	const struct proc *p = &bin->map.proc[number];
	const char *library = compare_binary(bin, c->after, c->before);
	const struct former *f;
	uint64_t i;

	if (same)
		return known(same, number);
	if (!strmap_get(&c->by_name, name_key(c, library, p), &i))
		return (struct proc_before){.why = "there was no function of this name and file before"};
	if (p->refused || !strmap_get(&c->by_graph, graph_key(c, library, p), &i))
		return (struct proc_before){.why = "its instructions or their graph were others before"};
	f = &c->former.at[i];
	if (f->several)
		return (struct proc_before){.why = "before there were several functions of this name and graph"};
	return known(f->binary, f->number);
}

void
compare_procs_free(struct compared_procs *c)
{
	strmap_free(&c->by_name);
	strmap_free(&c->by_graph);
	free(c->former.at);
	pool_free(c->pool);
}
