/* SPDX-License-Identifier: MIT */
/* The reasons for which damaged input was refused; each is a line of words. A test of damage has to meet many different ones.
 * Otherwise it damages only what is checked first. */
#ifndef REASONS_H
#define REASONS_H

#include "base/base.h"

#include <ctype.h>
#include <string.h>

/* Numbers are left out of reasons, so that they are counted by kind. */
struct reasons {
	char text[256][96];
	size_t n;
};

static inline void
reasons_note(struct reasons *r, const char *why)
{
	char kind[sizeof r->text[0]] = "";
	size_t n = 0, words = 0;

	assert_non_null(why);
	for (const char *s = why; *s; s++) {
		assert_true(isprint((unsigned char)*s) || (unsigned char)*s >= 0x80);
		words += *s == ' ';
		if (!isdigit((unsigned char)*s) && n + 1 < sizeof kind)
			kind[n++] = *s;
	}
	assert_true(words > 0);
	for (size_t i = 0; i < r->n; i++)
		if (!strcmp(r->text[i], kind))
			return;
	if (r->n < sizeof r->text / sizeof *r->text)
		strcpy(r->text[r->n++], kind);
}

#endif
