/* SPDX-License-Identifier: MIT */
/* Loads and stores of many kinds: frames of fixed and other sizes, arrays, lists, constants, thread-local and vector data, string
 * instructions, calls back from the C library, signals and jumps. */
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node { struct node *next; long value; char name[24]; };
static int table[64] = {3, 1, 4, 1, 5, 9, 2, 6};
static double matrix[8][8];
static __thread long mine;
static jmp_buf back;
static sigjmp_buf from_signal;
static volatile sig_atomic_t signals;
static long (*volatile operation)(long, long);

static long plus(long a, long b) { return a + b; }
static long times(long a, long b) { return a * b; }

static int
by_value(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static long
recurse(int n, struct node *list)
{
	struct node here = {list, n, ""};

	snprintf(here.name, sizeof here.name, "%d", n);
	mine += here.value;
	if (!n)
		return (long)strlen(here.name);
	return recurse(n - 1, &here) + (here.next ? here.next->value : 1);
}

static long
sizes(int n)
{
	char *p = alloca((size_t)n * 7 + 1);
	int array[n + 1];
	long sum = 0;

	memset(p, n, (size_t)n * 7);
	for (int i = 0; i <= n; i++)
		array[i] = p[i] + table[i & 63];
	for (int i = n; i >= 0; i--)
		sum += array[i] ^ table[array[i] & 63];
	return sum;
}

static long
variadic(int n, ...)
{
	long sum = 0;
	va_list v;

	va_start(v, n);
	for (int i = 0; i < n; i++)
		sum += i & 1 ? (long)va_arg(v, double) : va_arg(v, int);
	va_end(v);
	return sum;
}

static double
multiply(void)
{
	double trace = 0;

	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 8; k++)
			matrix[i][k] = i * k + 0.5;
	for (int i = 0; i < 8; i++)
		for (int k = 0; k < 8; k++)
			trace += matrix[i][k] * matrix[k][i];
	return trace;
}

static void
strings(char *to, const char *from, size_t n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : : "memory");
	n = 3;
	__asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(7) : "memory");
	n = 0;
	__asm__ volatile("rep stosl" : "+D"(to), "+c"(n) : "a"(7) : "memory");
	__asm__ volatile("lock; addl $2, %0; xchgl %k1, %0" : "+m"(table[5]), "+r"(n) : : "memory");
	__asm__ volatile("pushq %0; popq %1" : "+m"(mine), "=m"(table[20]) : : "memory");
	__asm__ volatile("prefetcht0 %0; movnti %1, %0" : "=m"(table[30]) : "r"(5));
}

static long
jumps(int n)
{
	volatile long kept = n;

	if (setjmp(back))
		return kept + table[n & 63];
	table[40]++;
	if (recurse(n, NULL) > 0)
		longjmp(back, 1);
	return 0;
}

static void
handler(int number)
{
	struct node local = {NULL, number, "in a handler"};

	signals += (int)local.value + table[number & 63];
	if (number == SIGUSR2)
		siglongjmp(from_signal, 1);
}

static long
struck(void)
{
	struct node local = {NULL, 5, ""};

	raise(SIGUSR1);
	local.value += table[3];
	if (!sigsetjmp(from_signal, 1))
		raise(SIGUSR2);
	return local.value + signals;
}

static long
chosen(int n)
{
	switch (n) {
	case 0: return table[9];
	case 1: return mine;
	case 2: return operation(n, table[2]);
	case 3: return (long)matrix[1][2];
	case 4: return signals;
	case 5: table[11] = n; return 1;
	default: return 0;
	}
}

static void *
thread(void *arg)
{
	mine = (long)(size_t)arg;
	return (void *)(size_t)(recurse(3, NULL) + mine);
}

int
main(int argc, char **argv)
{
	char text[64] = "0123456789abcdefghijklmnopqrstuvwxyz";
	struct node *list = NULL;
	long sum = 0;
	pthread_t other;
	void *result = NULL;

	operation = argc > 5 ? plus : times;
	signal(SIGUSR1, handler);
	signal(SIGUSR2, handler);
	for (int i = 0; i < 6; i++) {
		struct node *n = malloc(sizeof *n);

		*n = (struct node){list, i, "node"};
		list = n;
		sum += chosen(i) + sizes(i);
	}
	qsort(table, 16, sizeof *table, by_value);
	strings(text + 20, text, 15);
	for (struct node *n = list; n; n = n->next)
		sum += operation(n->value, 3) + n->name[2];
	sum += recurse(4, list) + jumps(2) + struck() + variadic(5, 1, 2.0, 3, 4.0, 5) + (long)multiply();
	if (argc > 1 && !pthread_create(&other, NULL, thread, argv[0] ? (void *)5 : NULL))
		pthread_join(other, &result);
	printf("%ld %s\n", sum + (long)(size_t)result, text);
	return 0;
}
