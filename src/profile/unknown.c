/* SPDX-License-Identifier: MIT */
/* Data of profiles that later versions may add. It is named, and merged by its rule. */
#include "profile/internal.h"

#include <string.h>

/* ---- extents of a profile ---- */

static bool
is_same_kind(const struct unknown *x, const struct unknown *y)
{
	return x->type == y->type && x->module == y->module && x->a == y->a && x->b == y->b && x->c == y->c && x->n == y->n;
}

static void
drop(struct profile *sum, uint32_t type)
{
	size_t n = 0;

	for (size_t i = 0; i < sum->unknown.n; i++)
		if (sum->unknown.at[i].type != type)
			sum->unknown.at[n++] = sum->unknown.at[i];
	sum->unknown.n = n;
	for (size_t i = 0; i < sum->unsummed.n; i++)
		if (sum->unsummed.at[i] == CHORD_EXTENT_TAG(type))
			return;
	VEC_PUSH(sum->unsummed, CHORD_EXTENT_TAG(type));
}

static bool
is_dropped(const struct profile *sum, uint32_t type)
{
	for (size_t i = 0; i < sum->unsummed.n; i++)
		if (sum->unsummed.at[i] == CHORD_EXTENT_TAG(type))
			return true;
	return false;
}

static void
keep(struct profile *sum, struct unknown u)
{
	unsigned char *copy = pool_alloc(sum->pool, u.n ? u.n : 1);

	memcpy(copy, u.at, u.n);
	u.at = copy;
	VEC_PUSH(sum->unknown, u);
}

static bool
add_numbers(struct unknown *to, const struct unknown *from)
{
	bool fits = true;

	for (size_t i = 0; i + 8 <= to->n; i += 8) {
		uint64_t a, b;

		memcpy(&a, to->at + i, 8);
		memcpy(&b, from->at + i, 8);
		fits &= checked_add(&a, b);
		memcpy(to->at + i, &a, 8);
	}
	return fits;
}

/* The extent of the same kind in the sum; NULL: none. */
static struct unknown *
counterpart(struct profile *sum, const struct unknown *u)
{
	for (size_t i = 0; i < sum->unknown.n; i++)
		if (is_same_kind(&sum->unknown.at[i], u))
			return &sum->unknown.at[i];
	return NULL;
}

static bool
join(struct profile *sum, struct unknown u, bool first)
{
	uint32_t rule = CHORD_EXTENT_RULE(u.type);
	struct unknown *have = counterpart(sum, &u);

	if (is_dropped(sum, u.type))
		return true;
	if (rule == CHORD_MERGE_SUM && have)
		return add_numbers(have, &u);
	if (first || rule == CHORD_MERGE_SUM || rule == CHORD_MERGE_KEEP)
		keep(sum, u);
	else
		drop(sum, u.type);
	return true;
}

bool
unknown_join(struct profile *sum, const struct profile *p, const uint32_t *to, bool first)
{
	bool fits = true;

	/* Data that has a meaning only for its own process is dropped once there are two processes. */
	for (size_t i = sum->unknown.n; !first && i-- > 0;) {
		uint32_t rule = i < sum->unknown.n ? CHORD_EXTENT_RULE(sum->unknown.at[i].type) : CHORD_MERGE_KEEP;

		if (rule != CHORD_MERGE_SUM && rule != CHORD_MERGE_KEEP)
			drop(sum, sum->unknown.at[i].type);
	}
	for (size_t i = 0; i < p->unsummed.n; i++)
		drop(sum, p->unsummed.at[i]);
	for (size_t i = 0; i < p->unknown.n; i++) {
		struct unknown u = p->unknown.at[i];

		u.module = u.module < p->module.n ? to[u.module] : UINT32_MAX;
		fits &= join(sum, u, first);
	}
	return fits;
}

void
unknown_write(const struct profile *p, struct buf *out)
{
	for (size_t i = 0; i < p->unknown.n; i++) {
		const struct unknown *u = &p->unknown.at[i];

		profile_extent(out, (struct chord_extent_head){.type = u->type, .module = u->module, .a = u->a, .b = u->b,
		                                               .c = u->c}, u->n, false);
		buf_add(out, u->at, u->n);
		profile_fill_page(out);
	}
}

/* ---- in words ---- */

/* Adds a number to a list, once. */
static void
name_tag(struct buf *b, uint32_t tag)
{
	char word[16];
	size_t n;

	snprintf(word, sizeof word, " %u,", tag);
	n = strlen(word);
	if (!b->n || !memmem(b->at, b->n, word, n))
		buf_add(b, word, n);
}

static const char *
in_words(struct pool *pool, struct buf *tags, const char *before, const char *behind)
{
	const char *text = tags->n ? pool_printf(pool, "%s%.*s%s", before, (int)tags->n - 1, tags->at, behind) : NULL;

	buf_free(tags);
	return text;
}

const char *
profile_unknown(struct pool *pool, const struct profile *p)
{
	struct buf tags = {0}, gone = {0};
	const char *there, *left;

	for (size_t i = 0; i < p->unknown.n; i++)
		name_tag(&tags, CHORD_EXTENT_TAG(p->unknown.at[i].type));
	for (size_t i = 0; i < p->unsummed.n; i++)
		name_tag(&gone, p->unsummed.at[i]);
	there = in_words(pool, &tags, "profiles have data of kind", ", which this version of Chord does not know: passed over");
	left = in_words(pool, &gone, "profiles have data of kind",
	                ", which this version of Chord does not know and cannot sum: left out");
	return there && left ? pool_printf(pool, "%s; %s", there, left) : there ? there : left;
}
