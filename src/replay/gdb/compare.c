/* SPDX-License-Identifier: MIT */
/* Memory compared with a number, so that gdb need not be asked at each change: `ADDRESS SIZE OPERATOR VALUE`. */
#include "replay/gdb/gdb.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const operators[] = {"==", "!=", "<=", ">=", "<", ">"};

/* Does the number fit into that many bytes? */
static bool
fits(const struct comparison *c)
{
	unsigned bits = (unsigned)c->n * 8;
	int64_t v = (int64_t)c->value;

	if (bits == 64)
		return true;
	return c->sign ? v >= -(1ll << (bits - 1)) && v < 1ll << (bits - 1) : c->value < 1ull << bits;
}

static const char *
read_operator(const char *p, unsigned *number)
{
	for (*number = 0; *number < sizeof operators / sizeof *operators; ++*number) {
		size_t n = strlen(operators[*number]);

		if (!strncmp(p, operators[*number], n))
			return p + n;
	}
	return NULL;
}

/* If the value has a sign, both numbers are compared as signed. */
static bool
read_value(struct comparison *c, const char *p)
{
	char *end;

	p += strspn(p, " ");
	c->sign = *p == '-' || *p == '+';
	errno = 0;
	c->value = c->sign ? (uint64_t)strtoll(p, &end, 0) : strtoull(p, &end, 0);
	return end != p && !*end && !errno && fits(c);
}

const struct comparison *
comparison_read(struct pool *pool, uint64_t at, uint64_t n, const char *p)
{
	struct comparison c = {.at = at, .n = n}, *to;

	if (n != 1 && n != 2 && n != 4 && n != 8)
		return NULL;
	p = read_operator(p + strspn(p, " "), &c.operator);
	if (!p || !read_value(&c, p))
		return NULL;
	to = pool_alloc(pool, sizeof *to);
	*to = c;
	return to;
}

/* < 0, 0 or > 0. */
static int
order(const struct comparison *c, uint64_t v)
{
	unsigned rest = 64 - (unsigned)c->n * 8;

	if (!c->sign)
		return (v > c->value) - (v < c->value);
	return ((int64_t)(v << rest) >> rest > (int64_t)c->value) - ((int64_t)(v << rest) >> rest < (int64_t)c->value);
}

bool
comparison_holds(const struct comparison *c, const struct tracee *t)
{
	uint64_t v = 0;

	if (!tracee_read(t, c->at, &v, c->n))
		return false;
	switch (c->operator) {
	case 0: return order(c, v) == 0;
	case 1: return order(c, v) != 0;
	case 2: return order(c, v) <= 0;
	case 3: return order(c, v) >= 0;
	case 4: return order(c, v) < 0;
	default: return order(c, v) > 0;
	}
}
