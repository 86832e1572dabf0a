/* SPDX-License-Identifier: MIT */
/* Detects recursion: CHORD_CC may name a script or a cache that runs Chord, which would run it again, forever. An environment
 * variable has the process number of `chord cc`. A server that the compiler starts may inherit the variable and serve other builds
 * later. So the variable only counts if that process is this one or one of its ancestors. */
#include "driver/driver.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUNNING "CHORD_CC_RUNNING"

enum { GENERATIONS = 256 };

/* The parent of a process; 0: it is not known. */
static pid_t
parent_of(pid_t pid)
{
	char path[40];
	struct buf b = {0};
	const char *behind;
	pid_t parent = 0;

	if (pid == getpid())
		return getppid();
	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (file_read(path, &b)) {
		buf_char(&b, 0);
		/* `PID (NAME) STATE PARENT`: the name may contain anything. */
		behind = strrchr(b.at, ')');
		if (behind && strlen(behind) > 4)
			parent = atoi(behind + 4);
	}
	buf_free(&b);
	return parent;
}

static bool
descends_from(pid_t pid)
{
	pid_t at = getpid();

	for (int n = 0; at > 0 && n < GENERATIONS; n++, at = parent_of(at))
		if (at == pid)
			return true;
	return false;
}

void
cc_within(struct pool *pool, const char *variable)
{
	const char *running = getenv(RUNNING), *command = getenv(variable);
	int pid = running ? atoi(running) : 0;

	if (pid > 0 && descends_from(pid))
		die(variable, "%s leads back to Chord, which runs it: name a compiler",
		    command && *command ? command : "the compiler");
	if (setenv(RUNNING, pool_printf(pool, "%d", (int)getpid()), 1))
		die("environment", "out of memory");
}
