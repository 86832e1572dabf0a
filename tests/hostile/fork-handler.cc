/* SPDX-License-Identifier: MIT */
/* fork-handler N: a signal handler forks N times while exceptions fly; the child returns from it. Says how many children died. */
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

static volatile int forks, child, died, done, sink;

static void
start_timer(int us)
{
	struct itimerval t = {{0, 0}, {0, us}};

	setitimer(ITIMER_REAL, &t, 0);
}

static void
handler(int)
{
	int status = 0;
	pid_t p;

	if (child || done)
		return;
	p = fork();
	if (p == 0) {
		child = 1;
		return;
	}
	forks = forks + 1;
	waitpid(p, &status, 0);
	died = died + (status != 0);
	start_timer(137 + forks * 7 % 61);
}

template <int N>
__attribute__((noinline)) int
inner(int i)
{
	if (i >= 0)
		throw i + N;
	sink = N;
	return i;
}

template <int N>
__attribute__((noinline)) int
outer(int i)
{
	int v = inner<N>(i);

	sink = N;
	return v + N;
}

typedef int function(int);

/* Many places that throw: many counters of exits. */
template <int... N>
static function *const *
table(std::integer_sequence<int, N...>)
{
	static function *const t[] = {outer<N>...};

	return t;
}

int
main(int argc, char **argv)
{
	function *const *f = table(std::make_integer_sequence<int, 200>());
	int n = argc > 1 ? atoi(argv[1]) : 1, after = 0;
	long sum = 0;

	signal(SIGALRM, handler);
	for (int i = 0; forks < n && after < 50; i++) {
		if (i == 2000)
			start_timer(200);
		try {
			f[i % 200](1);
		} catch (int k) {
			sum += k;
		}
		after += child;
	}
	done = 1;
	if (child)
		_exit(0);
	printf("%d\n", died);
	return sum == 0;
}
