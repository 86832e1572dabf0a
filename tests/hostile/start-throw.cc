/* SPDX-License-Identifier: MIT */
/* Prints on standard error how much of an alternate stack a handler used that throws and catches, three times. */
#include <csignal>
#include <cstdio>
#include <cstring>
#include <sys/mman.h>

static volatile int caught;

struct clean {
	~clean() { caught = caught + 1; }
};

static __attribute__((noinline)) void
thrower(int n)
{
	clean c;

	throw n;
}

static void
handler(int sig)
{
	try {
		thrower(sig);
	} catch (int) {
		caught = caught + 1;
	}
}

int
main()
{
	const std::size_t size = 65536;
	unsigned char *area = static_cast<unsigned char *>(mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	struct sigaction a = {};
	stack_t st = {};
	std::size_t i = 0;

	try {
		throw 1; /* the unwinder reads its tables */
	} catch (int) {
	}
	std::memset(area, 0x5a, size);
	st.ss_sp = area;
	st.ss_size = size;
	sigaltstack(&st, nullptr);
	a.sa_handler = handler;
	a.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR1, &a, nullptr);
	for (int n = 0; n < 3; n++)
		raise(SIGUSR1);
	while (i < size && area[i] == 0x5a)
		i++;
	std::fprintf(stderr, "%zu\n", size - i);
	return caught != 6;
}
