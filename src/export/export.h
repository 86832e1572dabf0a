/* SPDX-License-Identifier: MIT */
/* export: a run in the formats that other tools read. One file for each format. */
#ifndef CHORD_EXPORT_H
#define CHORD_EXPORT_H

#include "view/view.h"

/* What is exported: the rows of the run and where its counts stand. */
struct export {
	struct run *run;
	const struct view_listing *list;
	const struct view_functions *function; /* all, by unit and address; those whose counts are not exact are in no format */
};

struct exporter {
	const char *name, *what;
	/* Appends all. False: reported; then the output is not to be used. */
	bool (*write)(const struct export *x, struct buf *out);
	bool packed;             /* it is compressed */
};

/* export.c: all there are, and the one of a name or NULL. */
extern const struct exporter exporters[];
extern const size_t nexporter;
const struct exporter *exporter_named(const char *name);

/* The folder that most source files are in, as far as it is known where the compiler was run (pool); "": it is not. */
const char *export_folder(const struct export *x);

/* Reports a sum that does not fit 64 bits. */
bool export_fits(const struct export *x, bool fits);

bool export_lcov(const struct export *x, struct buf *out);
bool export_lcov2(const struct export *x, struct buf *out);
bool export_cobertura(const struct export *x, struct buf *out);
bool export_gcov(const struct export *x, struct buf *out);
bool export_json(const struct export *x, struct buf *out);
bool export_jsonl(const struct export *x, struct buf *out);
bool export_callgrind(const struct export *x, struct buf *out);
bool export_folded(const struct export *x, struct buf *out);
bool export_speedscope(const struct export *x, struct buf *out);
bool export_pprof(const struct export *x, struct buf *out);
bool export_csv(const struct export *x, struct buf *out);
bool export_llvm(const struct export *x, struct buf *out);
bool export_afdo(const struct export *x, struct buf *out);
bool export_bolt(const struct export *x, struct buf *out);

/* gzip.c: appends the same compressed. */
void export_gzip(const struct buf *in, struct buf *out);

#endif
