/* SPDX-License-Identifier: MIT */
/* Numbers and columns as all commands print them. */
#include "tool/report.h"

#include <argp.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *
grouped(char out[32], uint64_t n)
{
	char digit[24];
	int len = snprintf(digit, sizeof digit, "%" PRIu64, n);
	char *o = out;

	for (int i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*o++ = ',';
		*o++ = digit[i];
	}
	*o = 0;
	return out;
}

const char *
range(char out[RANGE], uint64_t least, uint64_t most)
{
	char from[32], to[32];

	if (least == most)
		snprintf(out, RANGE, "%s", grouped(from, least));
	else if (most == COUNT_NO_BOUND)
		snprintf(out, RANGE, "%s or more", grouped(from, least));
	else
		snprintf(out, RANGE, "%s to %s", grouped(from, least), grouped(to, most));
	return out;
}

const char *
shown_path(const char *path)
{
	static const char none[] = "";
	char *cwd = *path == '/' ? getcwd(NULL, 0) : NULL;
	size_t n = cwd ? strlen(cwd) : 0;
	bool below = n > 1 && !strncmp(path, cwd, n) && path[n] == '/';

	free(cwd);
	return below ? path + n + 1 : *path ? path : none;
}

size_t
option_top(const char *text, const char *of, struct argp_state *state)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno)
		argp_error(state, "--top=%s: not a number of %s", text, of);
	return n;
}

bool
save_output(const char *file, const struct buf *out)
{
	bool ok = file ? file_write(file, out->at, out->n) : fwrite(out->at, 1, out->n, stdout) == out->n && !fflush(stdout);

	if (!ok)
		say_error(file ? file : "standard output", "%s", strerror(errno));
	return ok;
}
