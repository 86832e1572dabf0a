/* SPDX-License-Identifier: MIT */
/* chord report --hottest: instructions, with all that is needed to find them in other tools. */
#include "tool/json.h"
#include "tool/report/report.h"

#include <inttypes.h>

/* The offset from the beginning of its procedure, or of the procedure's part that it is in, as disassemblers show it. */
static uint64_t
offset_of(const struct view_insn *in)
{
	return in->addr - in->proc->part[in->part].addr;
}

static const char *
file_of(const struct report *r, const struct view_insn *in)
{
	return in->file == VIEW_NO_FILE ? "" : r->table.hottest.list.file.at[in->file].name;
}

static void
put_insn(const struct report *r, struct table *t, const struct view_insn *in)
{
	struct callee to = view_insn_callee(in);
	struct buf text = {0};

	table_number(t, in->count);
	t->mark = in->known ? 0 : '?';
	table_share(t, in->count, r->table.totals.insns.least);
	table_printf(t, "%" PRIx64, in->addr);
	table_text(t, "");
	if (in->kind == CHORD_INSN_PAD)
		fputs("(padding)", stdout);
	else if (view_insn_text(in, &text))
		fwrite(text.at, 1, text.n, stdout);
	else
		fputs("(its place is not known)", stdout);
	buf_free(&text);
	if (to.n)
		printf(" <%s>", shown_name(callee_name(r->run->pool, &to, 0)));
	if (in->line)
		printf("  %s:%u", shown_path(file_of(r, in)), in->line);
	printf("  %s+0x%" PRIx64 "%s", shown_name(in->proc->name), offset_of(in), in->part ? " (its cold part)" : "");
	table_end(t);
}

void
report_hottest(const struct report *r)
{
	static const struct column columns[] = {
		{"executed", 18, 0}, {"share", 7, 0}, {"address", 10, 0}, {"instruction", 0, 0},
	};
	const struct view_hottest *h = &r->table.hottest;
	size_t n = table_rows(r->opt.top, h->order.n);
	struct table t = TABLE(columns);

	if (n)
		table_widen_for(&t, h->list.insn.at[h->order.at[0]].count);
	putchar('\n');
	table_head(&t);
	for (size_t i = 0; i < n; i++)
		put_insn(r, &t, &h->list.insn.at[h->order.at[i]]);
	table_more(&t, n, h->order.n, "instructions");
}

json_t *
report_hottest_json(const struct report *r)
{
	const struct view_hottest *h = &r->table.hottest;
	size_t n = table_rows(r->opt.top, h->order.n);
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct view_insn *in = &h->list.insn.at[h->order.at[i]];
		json_t *o = json_object();
		struct buf text = {0};

		js_set_function(o, "function", in->proc->name);
		js_set(o, "module", js_text(in->binary->path));
		js_set(o, "address", js_number(in->addr, in->addr));
		js_set(o, "offset", js_number(offset_of(in), in->addr));
		js_set(o, "part", js_number(in->part, true));
		js_set(o, "file", js_text(file_of(r, in)));
		js_set(o, "line", js_number(in->line, in->line));
		js_set_bounds(o, "count", in->count, in->known ? in->count : COUNT_NO_BOUND, true);
		if (in->kind != CHORD_INSN_PAD && view_insn_text(in, &text))
			buf_char(&text, 0);
		js_set(o, "text", text.n ? js_text(text.at) : json_null());
		buf_free(&text);
		js_append(a, o);
	}
	return a;
}
