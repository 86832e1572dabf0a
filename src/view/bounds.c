/* SPDX-License-Identifier: MIT */
/* Numbers that are known within bounds. */
#include "view/view.h"

bool
bounds_add(struct bounds *sum, const struct bounds *b)
{
	sum->most = saturating_add(sum->most, b->most);
	return checked_add(&sum->least, b->least);
}

void
bounds_raise(struct bounds *b, const struct bounds *other)
{
	b->least = other->least > b->least ? other->least : b->least;
	b->most = other->most > b->most ? other->most : b->most;
}

bool
view_is_exact(const struct counts *c)
{
	return !c->why && !c->most;
}
