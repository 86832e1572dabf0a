/* SPDX-License-Identifier: MIT */
/* Messages: errors, warnings, bugs, progress. */
#include "base/base.h"

#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

/* Names of files and symbols may hold any byte. Control characters, which could harm a terminal, become blanks; lines stay
 * lines. */
static void
put_plain(const char *s)
{
	for (; *s; s++)
		fputc(*s == '\n' || *s == '\t' ? *s : plain_char(*s), stderr);
}

/* Writes what a message is about. An empty name would not be seen. */
static void
put_what(const char *what)
{
	put_plain(*what ? what : "\"\"");
	fputs(": ", stderr);
}

/* Writes the rest of a message. */
static void
put_message(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	put_plain(text ? text : "out of memory");
	fputc('\n', stderr);
	free(text);
}

void
verror(const char *what, const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("chord: ", stderr);
	put_what(what);
	put_message(fmt, ap);
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
	fputs("chord: ", stderr);
	put_plain(file);
	fprintf(stderr, ":%u: ", line);
	va_start(ap, fmt);
	put_message(fmt, ap);
	va_end(ap);
}

void
say_warning(const char *what, const char *fmt, ...)
{
	va_list ap;

	fflush(stdout);
	fputs("chord: warning: ", stderr);
	put_what(what);
	va_start(ap, fmt);
	put_message(fmt, ap);
	va_end(ap);
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
