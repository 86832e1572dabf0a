/* SPDX-License-Identifier: MIT */
/* The length of woven-in code, computed from its text before the assembler sees it. */
#include "machine/x86_64/x86_64.h"

#include <stdlib.h>
#include <string.h>

/* The bytes that a number in an operand takes: one if it fits into one byte, else four. none: 0 takes no byte. */
static uint32_t
room_of_number(const char *at, size_t n, bool none)
{
	enum { LEAST = -128, MOST = 127 };
	char text[24] = "", *end;
	long long v;

	if (!n)
		return none ? 0 : 4;
	memcpy(text, at, n < sizeof text ? n : sizeof text - 1);
	v = strtoll(text, &end, 0);
	if (*end)
		return 4;
	return v == 0 && none ? 0 : v >= LEAST && v <= MOST ? 1 : 4;
}

/* The bytes of NUMBER(%r), with or without %gs: before it, that come in addition to the opcode. */
static uint32_t
room_of_memory(const char *at, size_t n, const char *open)
{
	static const char rip[] = "(%rip)";
	const char *from = open, *colon = memchr(at, ':', n);
	bool indexed = memchr(open, ',', (size_t)(at + n - open)) || !strncmp(open, "(%rsp)", 6);

	while (from > at && !strchr("\t ,:", from[-1]))
		from--;
	if ((size_t)(at + n - open) >= sizeof rip - 1 && !memcmp(open, rip, sizeof rip - 1))
		return 4 + !!colon;
	return room_of_number(from, (size_t)(open - from), true) + indexed + !!colon;
}

static uint32_t
room_of_insn(const char *at, size_t n)
{
	enum { CODE = 3, JUMP = 5, BRANCH = 6 };
	const char *open = memchr(at, '(', n), *dollar = memchr(at, '$', n), *blank = memchr(at, '\t', n), *comma;
	uint32_t room = CODE;

	if (*at == 'j' || (n > 4 && !memcmp(at, "call", 4)))
		return n > 3 && !memcmp(at, "jmp", 3) ? JUMP : *at == 'j' ? BRANCH : JUMP;
	if (!blank)
		return 1;
	if (open)
		room += room_of_memory(at, n, open);
	comma = dollar ? memchr(dollar, ',', (size_t)(at + n - dollar)) : NULL;
	return room + (dollar ? room_of_number(dollar + 1, (size_t)((comma ? comma : at + n) - dollar - 1), false) : 0);
}

static uint32_t
room_of_line(const char *at, size_t n)
{
	const char *colon;

	while (n && (*at == ' ' || *at == '\t'))
		at++, n--;
	while (n && *at == '.' && (colon = memchr(at, ':', n))) {
		n -= (size_t)(colon + 1 - at);
		at = colon + 1;
		while (n && (*at == ' ' || *at == '\t'))
			at++, n--;
	}
	return n && *at != '.' ? room_of_insn(at, n) : 0;
}

static bool
is_branch(const char *at, size_t n)
{
	while (n && *at == '\t')
		at++, n--;
	return n > 1 && at[0] == 'j' && at[1] != 'm';
}

struct room
x86_room(const char *at, size_t n)
{
	struct room room = {0};

	for (size_t i = 0, end; i < n; i = end + 1) {
		for (end = i; end < n && at[end] != ';' && at[end] != '\n'; end++)
			;
		uint32_t bytes = room_of_line(at + i, end - i);

		room.bytes += bytes;
		room.steps += bytes && !is_branch(at + i, end - i);
	}
	return room;
}
