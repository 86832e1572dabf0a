/* SPDX-License-Identifier: MIT */
/* A row for each instruction, as in RFC 4180. */
#include "export/export.h"
#include "export/value.h"

#include <inttypes.h>

static void
put_text(struct pool *pool, struct buf *out, const char *s)
{
	buf_char(out, '"');
	for (s = value_utf8(pool, s); *s; s++) {
		if (*s == '"')
			buf_char(out, '"');
		buf_char(out, *s);
	}
	buf_char(out, '"');
}

static void
put_mnemonic(struct buf *out, const struct view_insn *in)
{
	const char *name = in->kind == CHORD_INSN_PAD ? NULL : view_insn_mnemonic(in);

	if (name)
		buf_str(out, name);
}

bool
export_csv(const struct export *x, struct buf *out)
{
	buf_str(out, "object,function,file,line,block,part,offset,address,class,mnemonic,count\r\n");
	for (size_t i = 0; i < x->list->insn.n; i++) {
		const struct view_insn *in = &x->list->insn.at[i];

		if (!in->known)
			continue;
		put_text(x->run->pool, out, in->binary->path);
		buf_char(out, ',');
		put_text(x->run->pool, out, in->proc->name);
		buf_char(out, ',');
		put_text(x->run->pool, out, in->file == VIEW_NO_FILE ? "" : x->list->file.at[in->file].name);
		if (in->line)
			buf_printf(out, ",%u", in->line);
		else
			buf_char(out, ',');
		buf_printf(out, ",%u,%u,%" PRIu64 ",%" PRIu64 ",%s,", in->block, in->part, in->offset, in->addr,
		           profile_insn_name(in->kind));
		put_mnemonic(out, in);
		buf_printf(out, ",%" PRIu64 "\r\n", in->count);
	}
	return true;
}
