/* SPDX-License-Identifier: MIT */
/* What a tracee maps where, as /proc/PID/maps says. */
#include "tracee/tracee.h"

#include <stdlib.h>
#include <string.h>

/* Reads a hexadecimal number and what must come behind it. */
static bool
number(const char **at, char behind, uint64_t *n)
{
	char *end;

	*n = strtoull(*at, &end, 16);
	if (end == *at || *end != behind)
		return false;
	*at = end + 1;
	return true;
}

static bool
mode(const char **at, struct maps_line *m)
{
	if (strcspn(*at, " \n") != sizeof m->mode - 1)
		return false;
	memcpy(m->mode, *at, sizeof m->mode - 1);
	m->mode[sizeof m->mode - 1] = 0;
	*at += sizeof m->mode - 1;
	return *(*at)++ == ' ';
}

/* START-END MODE OFFSET DEVICE INODE NAME. Some lines have no name, and may end at once behind the inode. */
static bool
line(const char *at, const char *end, struct maps_line *m)
{
	char *behind;

	if (!number(&at, '-', &m->start) || !number(&at, ' ', &m->end) || !mode(&at, m) || !number(&at, ' ', &m->offset))
		return false;
	at += strcspn(at, " \n");
	m->inode = strtoull(at, &behind, 10);
	if (behind == at)
		return false;
	at = behind + strspn(behind, " ");
	m->name = (struct str){at, (size_t)(end - at)};
	return true;
}

bool
maps_next(const char **text, struct maps_line *m)
{
	bool found = false;

	while (*text && **text && !found) {
		const char *end = *text + strcspn(*text, "\n");

		found = line(*text, end, m);
		*text = *end ? end + 1 : end;
	}
	return found;
}
