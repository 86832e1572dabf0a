/* SPDX-License-Identifier: MIT */
/* mutate CHORD MUTATIONS SEED LOG...: replays logs that nobody recorded. They are mutations of each log, packed
 * anew with right check sums: numbers become other ones, at all limits and beyond; bytes change; parts are left
 * out or come twice. Sometimes the packed bytes are changed. The replay has to end within its time, by a message
 * or as the log says, whatever the log is. Where it does not, the mutation is kept as LOG.SEED, and a line says
 * so. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "log_file.h"

enum { MOST = 1 << 26, SECONDS = 20 };

static uint64_t state;

static uint64_t
next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static size_t
put(unsigned char *to, uint64_t v)
{
	size_t n = 0;

	for (; v >= 128; v >>= 7)
		to[n++] = (unsigned char)(v | 128);
	to[n++] = (unsigned char)v;
	return n;
}

static uint64_t
some_number(uint64_t was)
{
	static const uint64_t ends[] = {
		0, 1, 2, 3, 127, 128, 4095, 4096, INT32_MAX, UINT32_MAX, 1ull << 32, 1ull << 47, (1ull << 47) - 4096, 1ull << 62,
		INT64_MAX, 1ull << 63, UINT64_MAX, UINT64_MAX - 4095, UINT64_MAX - 4096,
	};

	switch (next() % 4) {
	case 0: return was + 1;
	case 1: return was - 1;
	case 2: return was ^ 1ull << next() % 64;
	default: return ends[next() % (sizeof ends / sizeof *ends)];
	}
}

/* As if a number began there. */
static size_t
change_number(unsigned char *at, size_t n, size_t room)
{
	unsigned char now[10];
	uint64_t v = 0;
	size_t old = 0, len;

	do
		v |= (uint64_t)(at[old] & 127) << 7 * old;
	while (at[old++] & 128 && old < 9 && old < n);
	len = put(now, some_number(v));
	if (n - old + len > room)
		return n;
	memmove(at + len, at + old, n - old);
	memcpy(at, now, len);
	return n - old + len;
}

/* Where something stands, of which there is more at the beginning, and at the end. */
static size_t
place(size_t n)
{
	switch (next() % 4) {
	case 0: return next() % (n < 20000 ? n : 20000);
	case 1: return n - 1 - next() % (n < 3000 ? n : 3000);
	default: return next() % n;
	}
}

static size_t
mutate(unsigned char *at, size_t n, size_t room)
{
	for (uint64_t k = 1 + next() % 3; k && n > 1; k--) {
		size_t where = place(n), len = 1 + next() % 40;

		if (len > n - where)
			len = n - where;
		switch (next() % 8) {
		case 0: at[where] = (unsigned char)next(); break;
		case 1:
			memmove(at + where, at + where + len, n - where - len);
			n -= len;
			break;
		case 2:
			if (n + len <= room) {
				memmove(at + where + len, at + where, n - where);
				n += len;
			}
			break;
		default: n = where + change_number(at + where, n - where, room - where);
		}
	}
	return n;
}

/* How it ended, as waitpid() has it; -1: not within its time. */
static int
replayed(const char *chord, const char *log, const char *errors)
{
	const struct timespec nap = {0, 2000000};
	pid_t child = fork();
	int status;

	if (!child) {
		int null = open("/dev/null", O_RDWR), to = open(errors, O_WRONLY | O_CREAT | O_TRUNC, 0600);

		setpgid(0, 0);
		dup2(null, 0);
		dup2(null, 1);
		dup2(to, 2);
		execl(chord, chord, "replay", log, (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < SECONDS * 500; i++) {
		if (waitpid(child, &status, WNOHANG) == child)
			return status;
		nanosleep(&nap, NULL);
	}
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	return -1;
}

static bool
has(const char *file, const char *text)
{
	static char buf[1 << 16];
	int fd = open(file, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, buf, sizeof buf - 1);

	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	return strstr(buf, text);
}

/* NULL: it is as it should be. */
static const char *
fault(int status, const char *errors)
{
	if (status < 0)
		return "it does not end";
	if (has(errors, "AddressSanitizer") || has(errors, "runtime error"))
		return "a sanitizer found something";
	if (has(errors, "bug"))
		return "a bug of Chord's own";
	if (WIFEXITED(status) && WEXITSTATUS(status) == 1 && !has(errors, "chord: "))
		return "status 1 without a message";
	return NULL;
}

static unsigned char head[LOG_HEAD], plain[MOST], copy[MOST], packed[MOST];

/* A mutation of what the log has, or of its chunks: the size of the file. */
static size_t
make_mutation(size_t n)
{
	static const size_t chunks[] = {1, 7, 300, 5000, LOG_CHUNK, LOG_CHUNK, LOG_CHUNK, LOG_CHUNK};
	bool chunk = next() % 8 == 0;
	size_t len;

	memcpy(copy, plain, n);
	if (!chunk)
		n = mutate(copy, n, MOST);
	memcpy(packed, head, sizeof head);
	len = log_pack(packed, MOST, copy, n, n < 100000 ? chunks[next() % 8] : LOG_CHUNK);
	if (!chunk || !len)
		return len;
	len = LOG_HEAD + mutate(packed + LOG_HEAD, len - LOG_HEAD, MOST - LOG_HEAD);
	if (len >= LOG_HEAD + 8)
		log_seal(packed, len);
	return len;
}

/* How many were not as they should be. */
static int
all_of(const char *chord, const char *log, unsigned long mutations, uint64_t seed)
{
	char name[4096], errors[4096];
	FILE *in = fopen(log, "rb");
	size_t n = in ? fread(packed, 1, MOST, in) : 0;
	int failed = 0;

	if (in)
		fclose(in);
	memcpy(head, packed, sizeof head);
	n = log_unpack(packed, n, plain, MOST / 2);
	if (!n)
		return 1;
	for (unsigned long i = 0; i < mutations; i++) {
		const char *why;
		size_t len;
		FILE *out;

		state = (seed + i) * 0x9e3779b97f4a7c15 + 1;
		next();
		len = make_mutation(n);
		snprintf(name, sizeof name, "%s.%llu", log, (unsigned long long)(seed + i));
		snprintf(errors, sizeof errors, "%s.%llu.err", log, (unsigned long long)(seed + i));
		out = fopen(name, "wb");
		if (!out || !len || fwrite(packed, 1, len, out) != len || fclose(out))
			return 1;
		why = fault(replayed(chord, name, errors), errors);
		failed += why != NULL;
		if (why) {
			printf("%s: %s\n", name, why);
		} else {
			unlink(name);
			unlink(errors);
		}
	}
	return failed;
}

int
main(int argc, char **argv)
{
	int failed = 0;

	for (int i = 4; i < argc; i++)
		failed += all_of(argv[1], argv[i], strtoul(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
	return failed != 0;
}
