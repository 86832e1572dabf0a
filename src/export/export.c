/* SPDX-License-Identifier: MIT */
/* The list of formats. */
#include "export/export.h"

#include <string.h>

const struct exporter exporters[] = {
	{"lcov", "lines, functions and branches, as geninfo writes them (lcov, genhtml, code review services)",
	 .write = export_lcov, .by_file = true},
	{"lcov2", "what lcov has, and the last lines of functions (lcov 2 and later)", .write = export_lcov2, .by_file = true},
	{"cobertura", "lines and branches as Cobertura's XML (GitLab, Jenkins, Azure)", .write = export_cobertura, .by_file = true},
	{"gcov", "lines, functions and branches as gcov's JSON, version 2 (gcovr, geninfo)", .write = export_gcov, .by_file = true},
	{"callgrind", "instructions by function, line and address (callgrind_annotate, KCachegrind)", .write = export_callgrind},
	{"pprof", "instructions by address, with their callers as far as known (pprof, Pyroscope, Parca)",
	 .write = export_pprof, .packed = true},
	{"folded", "instructions by stack, as far as stacks are known (flame graphs)", .write = export_folded},
	{"speedscope", "instructions by stack, for speedscope", .write = export_speedscope},
	{"json", "functions and lines with their branches, by a schema", .write = export_json},
	{"jsonl", "a row for each instruction, in JSON (databases, data frames)", .write = export_jsonl},
	{"csv", "a row for each instruction (databases, spreadsheets, data frames)", .write = export_csv},
	{"llvm", "counts by function and line as LLVM's profiles of samples (clang -fprofile-sample-use=)", .write = export_llvm},
	{"afdo", "counts by function and line as AutoFDO's profiles (gcc -fauto-profile=)", .write = export_afdo},
	{"bolt", "branches of the program built without Chord (llvm-bolt --data=)", .write = export_bolt},
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

/* The length of the folder in which a file was compiled; 0: no known folder contains it. */
static size_t
compiled_in(const struct export *x, const char *file)
{
	for (size_t i = 0; i < x->run->binary.n; i++) {
		const char *below = image_file_below(x->run->binary.at[i].image, file);

		if (below > file)
			return (size_t)(below - file) - 1;
	}
	return 0;
}

const char *
export_folder(const struct export *x)
{
	const char *folder = "";
	size_t most = 0;

	for (size_t i = 0; i < x->list->file.n; i++) {
		size_t n = compiled_in(x, x->list->file.at[i].name), in = 0;

		for (size_t k = 0; k < x->list->file.n && n; k++)
			in += !strncmp(x->list->file.at[k].name, x->list->file.at[i].name, n + 1);
		if (in <= most)
			continue;
		most = in;
		folder = pool_strndup(x->run->pool, x->list->file.at[i].name, n);
	}
	return folder;
}

bool
export_fits(const struct export *x, bool fits)
{
	if (!fits)
		say_error(x->run->path, "the sum of its counts does not fit 64 bits");
	return fits;
}
