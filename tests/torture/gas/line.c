/* SPDX-License-Identifier: MIT */
/* Random choices, and how a line of the text is written. */
#include "gas.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

uint64_t state;
FILE *to;

unsigned
below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)((state >> 33) % n);
}

bool
one_in(unsigned n)
{
	return !below(n);
}

char *
text(const char *fmt, ...)
{
	char *s;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	return s;
}

static bool begun; /* this line has something already */

void
raw(const char *fmt, ...)
{
	va_list ap;

	if (begun)
		fputc('\n', to);
	begun = false;
	va_start(ap, fmt);
	vfprintf(to, fmt, ap);
	va_end(ap);
	fputc('\n', to);
}

/* The name of an instruction or directive in other letters, and the blanks behind it. */
static void
disguise(const char *s)
{
	size_t n = strcspn(s, " ");
	bool upper = one_in(12);

	for (size_t i = 0; i < n; i++)
		fputc(upper && s[i] >= 'a' && s[i] <= 'z' ? s[i] - 32 : s[i], to);
	if (s[n] && one_in(6))
		fputs(PICK("\t", "  ", " \t ", "   "), to), n++;
	fputs(s + n, to);
}

void
line(const char *fmt, ...)
{
	char *s;
	unsigned after = below(16);
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		abort();
	va_end(ap);
	if (one_in(16))
		raw("%s", PICK("// it's \"", "/ 'tis", "# 12 \"other.c\"", "/* two\nlines; */", "# \" unclosed", "#APP", "",
			"\t;;", "\t/*\"*/ # ; '",
			"#", "#NO APP"));
	fputs(PICK("\t", "\t", "\t", "", "  ", "\t \t", "/* a */ "), to);
	disguise(s);
	switch (after) {
	case 0: fputs("\t# it's; \"\n", to); break;
	case 1: fputs(" /* ' */\n", to); break;
	case 2: fputs(" ; ", to); break;
	case 3: fputs(";\n", to); break;
	case 4: fputs(" /* over\n * two */\n", to); break;
	case 5: fputs("  \t\n", to); break;
	default: fputc('\n', to);
	}
	begun = after == 2;
	free(s);
}

void
label(const char *name)
{
	fprintf(to, "%s%s", name, *name == '"' ? ":" : PICK(":", ":", ":", " :", ":\t", "\t:"));
	begun = one_in(2);
	fputs(begun ? PICK(" ", "\t", " /* here */ ", "; ") : PICK("\n", "\n\n", " # here\n"), to);
}

void
say(const struct place *p, const char *att, const char *intel)
{
	line("%s", p->intel ? intel : att);
	cost += p->times;
}

char *
number(long n)
{
	switch (below(9)) {
	case 0: return text("0x%lx", n);
	case 1: return text("0%lo", n);
	case 2: return text("(%ld+%ld)", n - 1, 1l);
	case 3: return text("%ld*1", n);
	case 4: return text("0X%lX", n);
	case 5: return n == ';' ? text("';") : n == '#' ? text("'#") : n == '"' ? text("'\"") : n == '\'' ? text("'''") :
		n > 64 && n < 91 ? text("'%c", (int)n) : text("%ld", n);
	case 6: return text("~~%ld", n);
	case 7: return text("1&&%ld+0", n);
	default: return text("%ld", n);
	}
}
