/* SPDX-License-Identifier: MIT */
/* Instructions as text, in the assembler's own syntax. */
#include "machine/x86_64/x86_64.h"

#include <inttypes.h>

static const ZydisFormatter *
formatter(void)
{
	static ZydisFormatter f;
	static bool ready;

	if (ready)
		return &f;
	if (ZYAN_FAILED(ZydisFormatterInit(&f, ZYDIS_FORMATTER_STYLE_ATT)))
		bug("no formatter");
	ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_BRANCHES, ZYAN_FALSE);
	ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED);
	ZydisFormatterSetProperty(&f, ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE);
	ready = true;
	return &f;
}

bool
x86_print(struct buf *out, const uint8_t *bytes, size_t n, uint64_t addr)
{
	ZydisDecodedInstruction in;
	ZydisDecodedOperand op[ZYDIS_MAX_OPERAND_COUNT];
	char text[192];

	if (ZYAN_FAILED(ZydisDecoderDecodeFull(x86_decoder(), bytes, n, &in, op)) ||
	    ZYAN_FAILED(ZydisFormatterFormatInstruction(formatter(), &in, op, in.operand_count_visible, text, sizeof text, addr,
	        ZYAN_NULL)))
		return false;
	buf_str(out, text);
	return true;
}
