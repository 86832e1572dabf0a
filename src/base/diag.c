/* SPDX-License-Identifier: MIT */
/* Messages: errors, warnings, bugs, progress. */
#include "base/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

void
verror(const char *what, const char *fmt, va_list ap)
{
	fflush(stdout);
	fprintf(stderr, "chord: %s: ", what);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

void
say_error(const char *what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verror(what, fmt, ap);
	va_end(ap);
}

void
error_at(const char *file, unsigned line, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "chord: %s:%u: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

void
say_warning(const char *what, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fprintf(stderr, "chord: warning: %s: ", what);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

_Noreturn void
die(const char *what, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	verror(what, fmt, ap);
	va_end(ap);
	exit(EXIT_NO);
}

_Noreturn void
bug_at(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	fprintf(stderr, "chord: bug at %s:%d: ", file, line);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	abort();
}

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* Steps begin at 0. A step that ends within a second needs no line, and ten lines a second are enough. */
void
progress(const char *step, uint64_t done, uint64_t total)
{
	static uint64_t next;
	static bool shown;
	uint64_t now;

	if (total < 2 || !isatty(STDERR_FILENO))
		return;
	now = now_ms();
	if (done >= total) {
		if (shown)
			fprintf(stderr, "\r\033[K");
		shown = false;
	} else if (!done && !shown) {
		next = now + 1000;
	} else if (now >= next) {
		fprintf(stderr, "\r\033[K%s: %" PRIu64 " of %" PRIu64, step, done, total);
		shown = true;
		next = now + 100;
	}
}
