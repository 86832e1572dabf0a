/* SPDX-License-Identifier: MIT */
/* Messages: errors, warnings, bugs, progress. */
#include "base/base.h"

#include <inttypes.h>
#include <stdlib.h>
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

void
progress(const char *step, uint64_t done, uint64_t total)
{
	static uint64_t last;
	uint64_t percent = total ? done * 100 / total : 100;

	if (!isatty(STDERR_FILENO) || total < 2)
		return;
	if (done >= total)
		fprintf(stderr, "\r\033[K");
	else if (percent != last)
		fprintf(stderr, "\r%s: %" PRIu64 "%%", step, percent);
	last = percent;
}
