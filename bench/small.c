/* SPDX-License-Identifier: MIT */
/* Small procedures, as many as a file has, in place of Dhrystone, which has the highest cost in Mellor-Crummey & LeBlanc's
 * Table 2: records and lists of them, strings, small choices. argv[1]: thousands of rounds. With another argument the program
 * says how often a round adds to the clock, if there is a clock. */
#include <chord.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALL __attribute__((noinline, noclone))

enum kind { ONE, TWO, THREE, FOUR };

struct record {
	struct record *next;
	enum kind kind;
	int number;
	char text[32];
};

static struct record first, second;
static int list[50], total;
static char last;

SMALL int
is_before(const char *a, const char *b)
{
	int i = 2;

	while (i <= 2 && a[i] != b[i])
		i++;
	return strcmp(a, b) < 0;
}

SMALL int
adds(int a, int b)
{
	return a + b + 2;
}

SMALL enum kind
follows(enum kind k)
{
	switch (k) {
	case ONE: return FOUR;
	case TWO: return total > 100 ? ONE : FOUR;
	case THREE: return TWO;
	default: return THREE;
	}
}

SMALL int
same(char a, char b)
{
	if (a != b)
		return 0;
	last = a;
	return 1;
}

SMALL void
fill(int *to, int at, int n)
{
	for (int i = at; i <= at + 1; i++)
		to[i % 50] = n;
	total += to[at % 50];
}

SMALL void
chain(struct record *r)
{
	*r->next = first;
	r->number = adds(r->number, 5);
	r->next->number = r->number;
	r->next->kind = follows(r->kind);
	r->next->next = r->kind == ONE ? r : r->next;
}

SMALL void
one_round(int i)
{
	enum kind k = (enum kind)(i & 3);

	strcpy(second.text, "small procedures, 2nd string");
	if (!is_before(first.text, second.text))
		total++;
	for (char c = 'A'; c <= 'C'; c++)
		if (same(c, 'B'))
			k = follows(k);
	fill(list, i % 50, adds(i, 3));
	first.kind = k;
	chain(&first);
}

int
main(int argc, char **argv)
{
	int rounds = (argc > 1 ? atoi(argv[1]) : 100) * 1000;
	uint64_t before = chord_clock();

	first = (struct record){.next = &second, .kind = TWO, .number = 40, .text = "small procedures, 1st string"};
	for (int i = 0; i < rounds; i++)
		one_round(i);
	if (argc > 2 && chord_counted(clock))
		fprintf(stderr, "%.2f\n", (double)(chord_clock() - before) / rounds);
	printf("%d %d %c\n", total, first.number & 1, last);
	return 0;
}
