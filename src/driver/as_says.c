/* SPDX-License-Identifier: MIT */
/* What the assembler says. */
#include "driver/driver.h"

#include <string.h>

static struct as_message
message_read(struct str s)
{
	struct as_message m = {.is_stdin = str_starts(s, STDIN_NAME ":")};

	for (size_t i = 0; i + 2 < s.n; i++) {
		size_t k = i + 1;
		uint32_t line = 0;

		if (s.at[i] != ':')
			continue;
		while (k < s.n && s.at[k] >= '0' && s.at[k] <= '9' && line < UINT32_MAX / 10 - 1)
			line = line * 10 + (uint32_t)(s.at[k++] - '0');
		if (line && k < s.n && s.at[k] == ':') {
			m.line = line;
			m.is_one = true;
			return m;
		}
	}
	m.is_one = memmem(s.at, s.n, "Error:", 6) || memmem(s.at, s.n, "error:", 6) || memmem(s.at, s.n, "Warning:", 8);
	return m;
}

size_t
as_each_message(const struct buf *says, void (*f)(void *ctx, struct as_message m), void *ctx)
{
	size_t n = 0;

	for (size_t i = 0; i < says->n;) {
		const char *nl = memchr(says->at + i, '\n', says->n - i);
		size_t end = nl ? (size_t)(nl - says->at) : says->n;
		struct as_message m = message_read((struct str){says->at + i, end - i});

		if (m.is_one && f)
			f(ctx, m);
		n += m.is_one;
		i = end + 1;
	}
	return n;
}

void
as_name_file(struct buf *says, const char *name)
{
	struct buf named = {0};

	for (const char *line = says->at, *end = line + says->n, *next; line < end; line = next) {
		size_t n = strlen(STDIN_NAME);

		next = memchr(line, '\n', (size_t)(end - line));
		next = next ? next + 1 : end;
		if ((size_t)(next - line) > n && line[n] == ':' && !memcmp(line, STDIN_NAME, n)) {
			buf_str(&named, name);
			line += n;
		}
		buf_add(&named, line, (size_t)(next - line));
	}
	buf_free(says);
	*says = named;
}
