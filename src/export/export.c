/* SPDX-License-Identifier: MIT */
/* The formats there are. */
#include "export/export.h"

#include <string.h>

const struct exporter exporters[] = {
	{"lcov", "lines, functions and branches, as geninfo writes them (lcov, genhtml, code review services)", export_lcov},
	{"callgrind", "instructions by function, line and address (callgrind_annotate, KCachegrind)", export_callgrind},
	{"csv", "a row for each instruction (databases, spreadsheets, data frames)", export_csv},
	{"bolt", "branches of the program built without Chord (llvm-bolt --data=)", export_bolt},
};
const size_t nexporter = sizeof exporters / sizeof *exporters;

const struct exporter *
exporter_named(const char *name)
{
	for (size_t i = 0; i < nexporter; i++)
		if (!strcmp(exporters[i].name, name))
			return &exporters[i];
	return NULL;
}
