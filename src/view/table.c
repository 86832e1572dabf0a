/* SPDX-License-Identifier: MIT */
/* A table from file and line to the counts of the line. */
#include "view/internal.h"

#include <stdlib.h>

uint32_t
line_table_file(struct line_table *t, const char *name)
{
	uint64_t n;

	if (name == t->last)
		return t->last_number;
	if (!strmap_get(&t->number, str_of(name), &n)) {
		n = t->name.n;
		strmap_put(&t->number, str_of(name), n);
		VEC_PUSH(t->name, name);
	}
	t->last = name;
	return t->last_number = (uint32_t)n;
}

static size_t *
find_slot(const struct line_table *t, uint32_t file, unsigned line)
{
	size_t i = ((uint64_t)file << 32 | line) * 0x9e3779b97f4a7c15u >> 20 & (t->nslot - 1);

	while (t->slot[i] && (t->cell.at[t->slot[i] - 1].file != file || t->cell.at[t->slot[i] - 1].line.line != line))
		i = (i + 1) & (t->nslot - 1);
	return &t->slot[i];
}

static void
grow_slots(struct line_table *t)
{
	free(t->slot);
	t->nslot = t->nslot ? t->nslot * 2 : 4096;
	t->slot = xcalloc(t->nslot, sizeof *t->slot);
	for (size_t i = 0; i < t->cell.n; i++)
		*find_slot(t, t->cell.at[i].file, t->cell.at[i].line.line) = i + 1;
}

struct view_line *
line_table_line(struct line_table *t, uint32_t file, unsigned line)
{
	size_t *slot;

	if (t->cell.n * 2 >= t->nslot)
		grow_slots(t);
	slot = find_slot(t, file, line);
	if (!*slot) {
		VEC_PUSH(t->cell, (struct line_cell){file, {.file = t->name.at[file], .line = line}});
		*slot = t->cell.n;
	}
	return &t->cell.at[*slot - 1].line;
}

void
line_table_free(struct line_table *t)
{
	strmap_free(&t->number);
	free(t->name.at);
	free(t->cell.at);
	free(t->slot);
}
