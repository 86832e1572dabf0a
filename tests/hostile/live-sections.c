/* SPDX-License-Identifier: MIT */
/* With -fbasic-block-sections=all a comparison stands in another section than the second of the branches that read its flags. */
#include <stdio.h>
#include <stdlib.h>

struct node {
	struct node *l, *r;
	int key;
};

__attribute__((noinline)) static struct node *
insert(struct node *t, int key)
{
	if (!t) {
		t = calloc(1, sizeof *t);
		t->key = key;
		return t;
	}
	if (key < t->key)
		t->l = insert(t->l, key);
	else if (key > t->key)
		t->r = insert(t->r, key);
	return t;
}

__attribute__((noinline)) static int
depth(const struct node *t)
{
	int l, r;

	if (!t)
		return 0;
	l = depth(t->l);
	r = depth(t->r);
	return 1 + (l > r ? l : r);
}

int
main(void)
{
	struct node *t = NULL;

	for (int i = 0; i < 300; i++)
		t = insert(t, i * 7919 % 1009);
	printf("%d\n", depth(t));
	return 0;
}
