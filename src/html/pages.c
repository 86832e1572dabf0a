/* SPDX-License-Identifier: MIT */
/* The pages of a run: their data, and the order in which they are written. */
#include "html/html.h"

#include <stdlib.h>

uint32_t
pages_file(struct pages *p, const char *name)
{
	uint64_t n;

	if (strmap_get(&p->file_number, str_of(name), &n))
		return (uint32_t)n;
	strmap_put(&p->file_number, str_of(name), p->file.n);
	VEC_PUSH(p->file, name);
	return (uint32_t)p->file.n - 1;
}

uint32_t
pages_function(const struct pages *p, const struct binary *bin, uint32_t proc_number)
{
	return p->first_function[bin - p->run->binary.at] + proc_number;
}

uint32_t
pages_callee(const struct pages *p, const struct binary *bin, const struct callee *c)
{
	const struct part_at *part = c->addr ? parts_find(&bin->parts, c->addr) : NULL;

	if (!part || part->proc->part[0].addr != c->addr)
		return UINT32_MAX;
	return pages_function(p, bin, (uint32_t)(part->proc - bin->map.proc));
}

static void
number_all(struct pages *p)
{
	uint32_t functions = 0;

	for (size_t i = 0; i < p->list.file.n; i++)
		pages_file(p, p->list.file.at[i].name);
	p->first_function = xcalloc(p->run->binary.n + 1, sizeof *p->first_function);
	for (size_t i = 0; i < p->run->binary.n; i++) {
		p->first_function[i] = functions;
		functions += p->run->binary.at[i].map.nproc;
	}
	p->branch_of = xcalloc(p->list.insn.n + 1, sizeof *p->branch_of);
	for (size_t i = 0; i < p->list.branch.n; i++)
		p->branch_of[p->list.branch.at[i].insn] = i + 1;
}

static void
pages_free(struct pages *p)
{
	view_tables_free(&p->table);
	view_listing_free(&p->list);
	free(p->function.at);
	free(p->file.at);
	strmap_free(&p->file_number);
	free(p->first_function);
	free(p->branch_of);
	if (p->procs)
		compare_procs_free(p->procs);
}

bool
pages_write(struct folder *to, struct run *run, struct run *before)
{
	struct pages p = {.to = to, .run = run, .procs = before ? compare_procs(before, run) : NULL};
	bool fits = view_tables(&p.table, run, VIEW_LINES | VIEW_FILES, VIEW_BY_FILE, &(struct view_choice){0});

	view_functions(&p.function, run);
	view_listing(&p.list, run, NULL, NULL);
	if (fits && p.list.fits) {
		number_all(&p);
		pages_lines(&p);
		pages_sources(&p);
		pages_functions(&p);
		pages_calls(&p);
		fits = pages_coverage(&p) && pages_written(&p);
		pages_summary(&p);
	} else {
		fits = false;
	}
	if (!fits)
		say_error(run->path, "the sum of its counts does not fit 64 bits");
	pages_free(&p);
	return fits && !to->bad;
}
