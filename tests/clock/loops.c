/* SPDX-License-Identifier: MIT */
/* Everything that repeats code within one thread without ending activations: loops of all kinds, recursion, frames of changing
 * size, procedures that one call enters, string instructions. */
#include <alloca.h>
#include <stdlib.h>
#include <string.h>

#define HOT __attribute__((noinline, noclone))

static volatile int sink;

HOT static void
nothing(void)
{
	sink++;
}

/* Nothing but their callers' counts tells these activations apart. */
HOT static int
sole_leaf(int n)
{
	return n * sink;
}

HOT static int
sole(int n)
{
	return sole_leaf(n + 1) + 1;
}

HOT static int
down(int n)
{
	if (n)
		down(n - 1);
	sink++; /* while it returns, at one count */
	return n;
}

/* Frames of changing size: the stack pointer of an inner activation may be that of the one that called it. */
HOT static void
grow(int n)
{
	char *room;

	if (n)
		grow(n - 1);
	room = alloca((size_t)(n * 48 + 16));
	room[0] = (char)n;
	sink += room[0];
	nothing();
	sink++;
}

HOT static void
shrink(int n)
{
	{
		char room[n * 48 + 16];

		room[n] = (char)n;
		sink += room[n];
	}
	if (n)
		shrink(n - 1);
	sink++;
}

HOT static int even(int n);
HOT static int
odd(int n)
{
	return n ? !even(n - 1) + sink - sink : 0;
}

HOT static int
even(int n)
{
	return n ? !odd(n - 1) + sink - sink : 1;
}

HOT static int
by_pointer(int (*f)(int), int n)
{
	return f(n) + f(n);
}

HOT static int
nested(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++)
		for (int k = i; k; k &= k - 1)
			sum += sole(k);
	do
		sum--;
	while (sum % 5);
	return sum;
}

HOT static int
switches(int n)
{
	int sum = 0;

	for (int i = 0; i < n; i++) {
		switch (i % 7) {
		case 0: sum += 3; break;
		case 1: sink++; break;
		case 2: sum ^= sink; break;
		case 3: nothing(); break;
		case 4: sum -= 7; break;
		case 5: continue;
		}
		switch (sum & 7) {
		case 0: sink += 2; break;
		case 1: sum++; break;
		case 2: sink ^= 5; break;
		case 3: sum += sink; break;
		case 4: sum *= 3; break;
		case 5: sink--; break;
		}
	}
	return sum;
}

HOT static int
threaded(const char *code)
{
	static const void *const to[] = {&&add, &&sub, &&call, &&end};
	int sum = 0;

	goto *to[*code++ - '0'];
add:
	sum += sink;
	goto *to[*code++ - '0'];
sub:
	sum -= 3;
	goto *to[*code++ - '0'];
call:
	sum += sole_leaf(sum);
	goto *to[*code++ - '0'];
end:
	return sum;
}

HOT static int
two_ways_in(int n)
{
	int sum = 0;

	if (n & 1)
		goto middle;
	do {
		sum += n;
middle:
		sum ^= sink;
		if (sum & 1)
			nothing();
	} while (--n > 0);
	return sum;
}

HOT static int
tail(int n, int sum)
{
	if (n == 0)
		return sum;
	sink = sum;
	return tail(n - 1, sum + n);
}

HOT static void
strings(char *to, const char *from, size_t n)
{
	for (int i = 0; i < 2; i++) {
		void *t = to;
		const void *f = from;
		size_t k = n;

		__asm__ volatile("rep movsb" : "+D"(t), "+S"(f), "+c"(k) : : "memory");
		t = to;
		k = n / 8;
		__asm__ volatile("rep stosq" : "+D"(t), "+c"(k) : "a"(0l) : "memory");
		k = 5;
		__asm__ volatile("1: loop 1b" : "+c"(k));
	}
}

static int
compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

int
main(void)
{
	static char from[100], to[100];
	int list[20];

	down(5);
	grow(6);
	shrink(6);
	sink += even(7) + by_pointer(odd, 3) + by_pointer(down, 2);
	sink += nested(12) + switches(30) + threaded("0120120213") + two_ways_in(7) + two_ways_in(8) + tail(6, 0);
	strings(to, from, sizeof to);
	for (int i = 0; i < 20; i++)
		list[i] = i * 7 % 20;
	qsort(list, 20, sizeof *list, compare);
	nothing();
	nothing();
	return 0;
}
