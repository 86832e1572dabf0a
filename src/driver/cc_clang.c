/* SPDX-License-Identifier: MIT */
/* What clang does otherwise than gcc: one clang makes code for many systems, and it is its own assembler, for which some options
 * write what no other assembler reads. */
#include "driver/driver.h"
#include "machine/machine.h"

#include <string.h>

bool
cc_is_foreign(const char *target)
{
	static const char *const systems[] = {"linux", "elf", "none"};
	const char *machine = machine_of_host()->name;
	size_t n = strcspn(target, "-");

	if (strlen(machine) != n || strncmp(machine, target, n))
		return true;
	if (!target[n])
		return false;
	for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
		if (strstr(target + n, systems[i]))
			return false;
	return true;
}

const char *
cc_counter_option(const char *option)
{
	static const char *const own[][2] = {
		{"-faddrsig", "-fno-addrsig"},
		{"-gembed-source", "-gno-embed-source"},
		{"-fpseudo-probe-for-profiling", "-fno-pseudo-probe-for-profiling"},
	};

	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		if (!strcmp(option, own[i][0]))
			return own[i][1];
	return NULL;
}
