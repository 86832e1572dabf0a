/* SPDX-License-Identifier: MIT */
/* The one printer of tables. */
#include "tool/table.h"

#include "tool/print.h"

#include <stdarg.h>
#include <string.h>

static int
gap_of(const struct table *t, size_t i)
{
	const struct column *c = &t->column[i];

	if (c->gap || !i)
		return i ? c->gap : t->indent;
	return c->width > 0 ? 1 : 2;
}

static int
width_of(const struct table *t, size_t i)
{
	enum { LARGE = 15 };
	int width = t->column[i].width;

	return width >= LARGE && width < t->wide ? t->wide : width;
}

void
table_widen_to(struct table *t, const char *text)
{
	int n = (int)strlen(text);

	t->wide = n > t->wide ? n : t->wide;
}

void
table_widen(struct table *t, const struct bounds *b)
{
	char text[RANGE];

	table_widen_to(t, range(text, b->least, b->most));
}

void
table_widen_for(struct table *t, uint64_t n)
{
	table_widen(t, &(struct bounds){n, n});
}

static void
put_blanks(struct table *t, int n)
{
	if (n && t->mark)
		fputc(t->mark, t->to);
	fprintf(t->to, "%*s", t->mark && n ? n - 1 : n, "");
	t->mark = 0;
}

/* A column's width in bytes for a text, of which some characters have several (UTF-8). */
static int
bytes_of(int width, const struct buf *text)
{
	int more = 0;

	for (size_t i = 0; i < text->n; i++)
		more += ((unsigned char)text->at[i] & 0xc0) == 0x80;
	return width > 0 ? width + more : width < 0 ? width - more : 0;
}

void
table_text(struct table *t, const char *text)
{
	struct buf plain = {0};

	if (t->at >= t->n)
		bug("a table of %zu columns gets one more", t->n);
	put_blanks(t, gap_of(t, t->at));
	buf_plain(&plain, text);
	fprintf(t->to, "%*.*s", bytes_of(width_of(t, t->at), &plain), (int)plain.n, plain.n ? plain.at : "");
	buf_free(&plain);
	t->at++;
}

void
table_printf(struct table *t, const char *fmt, ...)
{
	char text[256];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof text)
		bug("a cell of %d bytes", n);
	table_text(t, text);
}

void
table_number(struct table *t, uint64_t n)
{
	char text[32];

	table_text(t, grouped(text, n));
}

void
table_bounds(struct table *t, const struct bounds *b, bool known)
{
	char text[RANGE];

	table_text(t, known ? range(text, b->least, b->most) : "not known");
}

double
percent_shown(uint64_t part, uint64_t all, double step)
{
	double p = 100.0 * (double)part / (double)all;

	if (part < all && p > 100 - step)
		return 100 - step;
	return part && p < step ? step : p;
}

const char *
percent_of(char out[PERCENT], uint64_t part, uint64_t all, int decimals)
{
	char none[PERCENT], whole[PERCENT];
	double p = all ? 100.0 * (double)part / (double)all : 0, step = 1;

	snprintf(none, PERCENT, "%.*f", decimals, 0.0);
	snprintf(whole, PERCENT, "%.*f", decimals, 100.0);
	snprintf(out, PERCENT, "%.*f", decimals, p);
	for (int i = 0; i < decimals; i++)
		step /= 10;
	if (part && !strcmp(out, none))
		snprintf(out, PERCENT, "<%.*f", decimals, step);
	else if (part < all && !strcmp(out, whole))
		snprintf(out, PERCENT, ">%.*f", decimals, 100 - step);
	return out;
}

void
table_share(struct table *t, uint64_t part, uint64_t all)
{
	char text[PERCENT];

	table_printf(t, "%s%%", percent_of(text, part, all, 2));
}

void
table_skip(struct table *t, size_t n)
{
	while (n--)
		table_text(t, "");
}

void
table_end(struct table *t)
{
	fputc('\n', t->to);
	t->at = 0;
}

void
table_head(struct table *t)
{
	for (size_t i = 0; i < t->n && t->column[i].title; i++)
		table_text(t, t->column[i].title);
	table_end(t);
}

size_t
table_rows(size_t top, size_t n)
{
	return top && top < n ? top : n;
}

void
table_more(struct table *t, size_t shown, size_t n, const char *what)
{
	if (shown >= n)
		return;
	fprintf(t->to, "%*s and %zu more%s%s (--top=0 shows all)\n", width_of(t, 0), "", n - shown, what ? " " : "",
	        what ? what : "");
}
