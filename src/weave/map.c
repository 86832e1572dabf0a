/* SPDX-License-Identifier: MIT */
/* The map record of a procedure, as directives. Layout: format/format.h. */
#include "weave/measure.h"

#include <inttypes.h>
#include <string.h>

#define L LABEL_PREFIX

void
map_text(struct buf *blob, const char *t)
{
	buf_uleb(blob, strlen(t));
	buf_str(blob, t);
}

void
map_section(struct buf *blob, const char *tag, const struct buf *b)
{
	map_text(blob, tag);
	buf_uleb(blob, b->n);
	buf_add(blob, b->at, b->n);
}

/* The section of the record that lists the base registers. */
static void
blob_bases(struct buf *blob, const struct unit *u, const struct woven *w, const struct weave_options *o)
{
	uint32_t first = o->events.n ? number_boxes(u->pool, &o->events, at_calls(o)).at[0].axis[0].event : 0, n = 0;
	struct buf b = {0};

	for (uint32_t what = 0; what < BASES_OF; what++)
		n += (uint32_t)__builtin_popcount(w->bases[what]);
	buf_uleb(&b, n);
	for (uint32_t what = 0; what < BASES_OF; what++)
		for (uint32_t reg = 0; reg < 16; reg++)
			if (w->bases[what] >> reg & 1) {
				buf_uleb(&b, reg);
				buf_uleb(&b, what == BASE_NUMBERS ? first + 1 : 0);
			}
	if (n)
		map_section(blob, CHORD_MAP_BASES, &b);
	buf_free(&b);
}

/* The section of the record that says which counters consist of cells. */
static void
blob_cells(struct buf *blob, const struct woven *w)
{
	struct buf b = {0};

	buf_uleb(&b, w->cells);
	buf_uleb(&b, w->ncells);
	for (uint32_t i = 0; i < w->ncells; i++)
		buf_uleb(&b, w->cells_of.at[i]);
	if (w->ncells)
		map_section(blob, CHORD_MAP_CELLS, &b);
	buf_free(&b);
}

/* The section of the record that says for which counters registers count. */
static void
blob_promoted(struct buf *blob, const struct woven *w)
{
	struct buf b = {0};

	buf_uleb(&b, w->promotions.n);
	for (size_t i = 0; i < w->promotions.n; i++) {
		buf_uleb(&b, w->promotions.at[i].counter - 1);
		buf_uleb(&b, w->promotions.at[i].open - 1);
	}
	if (w->promotions.n)
		map_section(blob, CHORD_MAP_PROMOTED, &b);
	buf_free(&b);
}

static void
write_event_counters(struct buf *out, const struct unit *u, const struct event_list *list, bool exact)
{
	struct number_boxes boxes = number_boxes(u->pool, list, exact);

	buf_printf(out, "\t.long\t%u\n", list->n);
	for (uint32_t e = 0; e < list->n; e++) {
		const struct number_axis *axis;

		buf_str(out, "\t.quad\t");
		number_symbol(out, number_box_of(&boxes, e, &axis), list, exact);
		buf_char(out, '\n');
	}
}

void
map_bytes(struct buf *out, const struct buf *blob)
{
	const size_t most = 4096;

	buf_printf(out, "\t.long\t%zu\n", blob->n);
	for (size_t i = 0; i < blob->n; i += most) {
		buf_str(out, i ? "\"\n\t.ascii\t\"" : "\t.ascii\t\"");
		buf_octal(out, blob->at + i, blob->n - i < most ? blob->n - i : most);
	}
	if (blob->n)
		buf_str(out, "\"\n");
}

/* Where the section begins that has the anchor as its first procedure: nothing is woven in before the anchor. If a linker drops
 * code and keeps its record, it writes the addend of the relocation here; only this relocation has the addend 0. */
static void
write_section(struct buf *out, const struct unit *u, uint32_t anchor)
{
	uint32_t first = u->procs.at[anchor].parts.at[0].first_stmt;

	buf_printf(out, "\t.quad\t" L "A%u_0-%u\n", anchor, u->place[first].off);
}

static void
write_head(struct buf *out, const struct unit *u, const struct woven *w, uint32_t ncounter, uint32_t flags)
{
	const struct proc_text *p = w->proc;
	uint32_t n = w->number;

	buf_str(out, "\t.pushsection " CHORD_SECTION_MAP);
	if (w->bucket)
		buf_printf(out, ".%u", w->bucket);
	buf_printf(out, ",\"o?\",@progbits," L "A%u_0\n", w->anchor);
	buf_printf(out, L "M%u:\t.long\t%u," L "N%u-" L "M%u,%u,%u\n", n, CHORD_MAP_MAGIC, n, n, CHORD_FORMAT_VERSION, flags);
	if (ncounter)
		buf_printf(out, "\t.quad\t" L "C%u\n", n);
	else
		buf_str(out, "\t.quad\t0\n");
	write_section(out, u, w->anchor);
	buf_printf(out, "\t.long\t%u,%zu\n", ncounter, p->parts.n);
	for (uint32_t t = 0; t < p->parts.n; t++) {
		buf_printf(out, "\t.quad\t" L "A%u_%u\n", n, t);
		buf_printf(out, "\t.long\t%u," L "Z%u_%u-" L "A%u_%u\n", p->parts.at[t].hi - p->parts.at[t].lo, n, t, n, t);
	}
}

static void
write_tail(struct buf *out, const struct buf *blob, uint32_t n)
{
	map_bytes(out, blob);
	buf_printf(out, L "N%u:\n\t.popsection\n", n);
}

/* A label's distance from the start of its part. */
static void
write_offset(struct buf *out, uint32_t proc, char kind, size_t number, uint32_t part)
{
	buf_str(out, "\t.long\t");
	label_add(out, kind, proc, number);
	buf_char(out, '-');
	label_add(out, 'A', proc, part);
}

/* A segment whose first instruction is not a statement lies as far after the segment before it as it did before weaving, if there
 * is no padding between. */
void
map_segment(struct buf *out, const struct woven *w, uint32_t segment, uint32_t *base)
{
	const struct seg *s = &w->segments.at[segment], *from;
	const struct insn *in = block_insn(w, s->block, s->insn);
	uint32_t off;

	if (in->stmt != UINT32_MAX)
		*base = segment;
	if (in->loose) {
		buf_str(out, "\t.long\t0xffffffff\n");
		return;
	}
	from = &w->segments.at[*base];
	off = in->off - block_insn(w, from->block, from->insn)->off;
	write_offset(out, w->number, 'B', *base, w->proc->blocks.at[s->block].part);
	if (off) {
		buf_char(out, '+');
		buf_number(out, off);
	}
	buf_char(out, '\n');
}

static void
write_segments(struct buf *out, const struct woven *w)
{
	uint32_t base = 0;

	for (uint32_t i = 0; i < w->segments.n; i++)
		map_segment(out, w, i, &base);
}

static void
write_returns(struct buf *out, const struct woven *w)
{
	for (size_t i = 0; i < w->call_sites.n; i++) {
		uint32_t part = w->proc->blocks.at[w->call_sites.at[i].block].part;

		if (w->labelled.at[i])
			write_offset(out, w->number, 'R', i, part);
		else
			buf_str(out, "\t.long\t0xffffffff");
		buf_char(out, '\n');
	}
}

/* If the procedure is in a group (one of the first few thousand), the counters are in a group of their own. In the procedure's
 * group they would keep it: ld.bfd keeps all sections of this name along with their groups, even if it would drop the procedure.
 * Both groups are linked from the same object. The sections have no link to the procedure, because mold makes a separate section of
 * those that have one. */
static void
write_counters(struct buf *out, const struct unit *u, const struct woven *w, const struct weave_options *o)
{
	const char *group = w->grouped ? u->object->sections[w->proc->parts.at[0].code->section].comdat : NULL;

	measures_beside(out, w, o, group);
	if (group)
		buf_printf(out, "\t.pushsection %s,\"awG\",@nobits,\"%s.%s\",comdat\n", CHORD_SECTION_CNT, CHORD_SECTION_CNT,
		           group);
	else
		buf_printf(out, "\t.pushsection %s,\"aw\",@nobits\n", CHORD_SECTION_CNT);
	buf_printf(out, "\t.balign %u\n" L "C%u:\t.zero\t%u\n\t.popsection\n", w->align, w->number, w->ncounter * 8);
}

void
map_record(const struct unit *u, const struct woven *w, const struct weave_options *o, struct buf *out)
{
	struct buf blob = {0};
	struct proc p = woven_proc(u, w);

	p.summed = at_calls(o);
	if (w->ncounter)
		write_counters(out, u, w, o);
	proc_write(&blob, &p);
	blob_bases(&blob, u, w, o);
	blob_cells(&blob, w);
	blob_promoted(&blob, w);
	measures_map(&blob, u, w, o);
	write_head(out, u, w, w->ncounter, p.summed ? CHORD_MAP_AT_CALLS : 0);
	buf_printf(out, "\t.long\t%zu\n", w->segments.n + w->call_sites.n);
	write_segments(out, w);
	write_returns(out, w);
	write_event_counters(out, u, &o->events, p.summed);
	write_tail(out, &blob, w->number);
	buf_free(&blob);
}

void
map_refused(const struct unit *u, const struct woven *w, struct buf *out)
{
	struct buf blob = {0};
	struct proc p = woven_proc(u, w);

	proc_write(&blob, &p);
	write_head(out, u, w, 0, CHORD_MAP_REFUSED);
	buf_str(out, "\t.long\t0,0\n");
	write_tail(out, &blob, w->number);
	buf_free(&blob);
}
