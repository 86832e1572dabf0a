/* SPDX-License-Identifier: MIT */
/* What a command costs, alone or in relation to another one.
 *
 *	pair RUNS COMMAND         median, least and most CPU seconds of COMMAND
 *	pair [-s | -e] RUNS PLAIN MEASURED  the same of the ratio MEASURED / PLAIN, PLAIN's median, the ratio of their least times
 *
 * Commands are given to sh. The two commands of a pair run one after the other, and they take turns at being first, so other
 * work of the machine hits both. Time is the user CPU time of everything that the command waited for. With one command, and
 * with -s, it includes system time. With -e it is elapsed time. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

struct cost {
	double user, system, elapsed;
};

/* Options: which of these counts. */
enum { USER, WITH_SYSTEM = 's', ELAPSED = 'e' };

static double
seconds(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void __attribute__((noreturn))
fail(const char *what)
{
	fprintf(stderr, "pair: %s: %s\n", what, strerror(errno));
	exit(1);
}

static struct cost
run(const char *command)
{
	struct timespec begin, end;
	struct rusage usage;
	int status;
	pid_t pid;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = fork();
	if (pid < 0)
		fail("fork");
	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			fail("wait4");
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "pair: status %d of: %s\n", status, command);
		exit(1);
	}
	return (struct cost){
		seconds(usage.ru_utime), seconds(usage.ru_stime),
		(double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
	};
}

static int
order(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *v, size_t n)
{
	qsort(v, n, sizeof(*v), order);
	return n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
}

static void
print_range(double *v, size_t n)
{
	double middle = median(v, n);

	printf("%.4f %.4f %.4f", middle, v[0], v[n - 1]);
}

static void
one(const char *command, double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct cost cost = run(command);

		v[i] = cost.user + cost.system;
	}
	print_range(v, n);
	putchar('\n');
}

static double
time_of(struct cost c, int which)
{
	return which == ELAPSED ? c.elapsed : c.user + (which == WITH_SYSTEM ? c.system : 0);
}

static void
two(const char *plain, const char *measured, double *ratio, double *base, size_t n, int which)
{
	double quick = 1e9, quick_base = 1e9;

	for (size_t i = 0; i < n; i++) {
		bool swapped = i % 2;
		double first = time_of(run(swapped ? measured : plain), which);
		double second = time_of(run(swapped ? plain : measured), which);

		base[i] = swapped ? second : first;
		ratio[i] = (swapped ? first : second) / base[i];
		quick_base = base[i] < quick_base ? base[i] : quick_base;
		quick = swapped ? (first < quick ? first : quick) : (second < quick ? second : quick);
	}
	print_range(ratio, n);
	printf(" %.4f %.4f\n", median(base, n), quick / quick_base);
}

int
main(int argc, char **argv)
{
	int which = argc > 1 && (!strcmp(argv[1], "-s") || !strcmp(argv[1], "-e")) ? argv[1][1] : USER;
	size_t n;
	double *v;

	argc -= which != USER;
	argv += which != USER;
	n = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : 0;
	v = calloc(2 * n + 1, sizeof(*v));

	if (n == 0 || argc < 3 || argc > 4 || !v) {
		fputs("usage: pair [-s | -e] RUNS PLAIN [MEASURED]\n", stderr);
		return 2;
	}
	if (argc == 3)
		one(argv[2], v, n);
	else
		two(argv[2], argv[3], v, v + n, n, which);
	free(v);
	return 0;
}
