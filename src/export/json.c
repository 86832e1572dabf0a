/* SPDX-License-Identifier: MIT */
/* JSON by docs/schema/export.json: functions, and lines by file with their branches; also a row for each instruction, by
 * docs/schema/instruction.json. Numbers above 2^63 - 1 are null, because readers of JSON have no larger ones. */
#include "export/export.h"
#include "export/value.h"

#include <stdlib.h>

static void
put_function(struct pool *pool, const struct view_function *f, struct buf *out)
{
	const struct view_size s = view_size_of(f->proc, f->counts);
	const char *name = f->proc->name;
	json_t *o = json_pack("{s:o,s:o,s:o}", "object", value_text(pool, f->binary->path), "name", value_text(pool, name),
	                      "demangled", value_text(pool, image_readable(name)));

	json_object_set_new(o, "file", *f->file ? value_text(pool, f->file) : json_null());
	json_object_set_new(o, "line", f->line ? json_integer(f->line) : json_null());
	json_object_set_new(o, "calls", f->counts->activations_known ? value_number(f->counts->activations) : json_null());
	json_object_set_new(o, "instructions", value_number(f->counts->insns));
	json_object_set_new(o, "code", value_number(s.code));
	json_object_set_new(o, "blocks", value_number(s.blocks));
	json_object_set_new(o, "blocks_entered", value_number(s.blocks - s.unentered));
	value_put(out, o);
}

static json_t *
branches(const struct view_branch *b, size_t n)
{
	json_t *all = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(all, json_pack("{s:o,s:o}", "taken", b[i].known ? value_number(b[i].taken) : json_null(),
		                      "fell", b[i].known ? value_number(b[i].fell) : json_null()));
	return all;
}

static void
put_line(const struct export *x, uint32_t file, const struct view_line *l, struct buf *out)
{
	size_t n;
	const struct view_branch *b = view_branches(x->list, file, l->line, &n);
	json_t *o = json_pack("{s:i,s:i,s:i,s:o}", "line", (int)l->line, "code", (int)l->code, "never", (int)l->never, "branches",
	                      branches(b, n));

	json_object_set_new(o, "count", l->unknown ? json_null() : value_number(l->most.least));
	json_object_set_new(o, "instructions", l->unknown ? json_null() : value_number(l->insns.least));
	value_put(out, o);
}

static void
put_file(const struct export *x, uint32_t file, struct buf *out)
{
	const struct view_file *f = &x->list->file.at[file];

	buf_str(out, "{\"name\":");
	value_put(out, value_text(x->run->pool, f->name));
	buf_str(out, ",\"lines\":[");
	for (size_t i = 0; i < f->line.n; i++) {
		buf_str(out, i ? ",\n" : "\n");
		put_line(x, file, &f->line.at[i], out);
	}
	buf_str(out, "]}");
}

static void
put_profiles(const struct export *x, struct buf *out)
{
	for (size_t i = 0; i < x->run->summed.n; i++) {
		buf_str(out, i ? "," : "");
		value_put(out, value_text(x->run->pool, x->run->summed.at[i]));
	}
}

bool
export_json(const struct export *x, struct buf *out)
{
	struct pool *pool = x->run->pool;
	const char *comma = "";

	buf_str(out, "{\"format\":\"chord export\",\"version\":1,\"program\":");
	value_put(out, value_text(pool, x->run->path));
	buf_str(out, ",\"profiles\":[");
	put_profiles(x, out);
	buf_str(out, "],\"functions\":[");
	for (size_t i = 0; i < x->function->n; i++) {
		if (!view_is_exact(x->function->at[i].counts))
			continue;
		buf_printf(out, "%s\n", comma);
		put_function(pool, &x->function->at[i], out);
		comma = ",";
	}
	buf_str(out, "],\"files\":[");
	for (uint32_t i = 0; i < x->list->file.n; i++) {
		buf_str(out, i ? ",\n" : "\n");
		put_file(x, i, out);
	}
	buf_str(out, "]}\n");
	return true;
}

static void
put_insn(struct pool *pool, const struct export *x, const struct view_insn *in, struct buf *out)
{
	const char *name = view_insn_mnemonic(in);
	json_t *file = in->file == VIEW_NO_FILE ? json_null() : value_text(pool, x->list->file.at[in->file].name);

	value_put(out, json_pack("{s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:o,s:s,s:s?,s:o}", "object", value_text(pool, in->binary->path),
	          "function", value_text(pool, in->proc->name), "file", file, "line",
	          in->line ? json_integer(in->line) : json_null(), "block", json_integer(in->block), "part", json_integer(in->part),
	          "offset", value_number(in->offset), "address", value_number(in->addr), "class", profile_insn_name(in->kind),
	          "mnemonic", name, "count", value_number(in->count)));
	buf_char(out, '\n');
}

bool
export_jsonl(const struct export *x, struct buf *out)
{
	for (size_t i = 0; i < x->list->insn.n; i++)
		if (x->list->insn.at[i].known)
			put_insn(x->run->pool, x, &x->list->insn.at[i], out);
	return true;
}
