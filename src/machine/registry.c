/* SPDX-License-Identifier: MIT */
/* The registry of machines: the only place that names one. */
#include "machine/machine.h"

extern const struct machine machine_x86_64;

static const struct machine *const machines[] = {&machine_x86_64};

const struct machine *
machine_of_elf(uint16_t elf)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i]->object->elf == elf)
			return machines[i];
	return NULL;
}

const struct machine *
machine_of_host(void)
{
	for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
		if (machines[i]->host)
			return machines[i];
	return NULL;
}
