/* SPDX-License-Identifier: MIT */
/* export: a run in the formats that other tools read. Each format has a file. */
#ifndef CHORD_EXPORT_H
#define CHORD_EXPORT_H

#include "view/view.h"

/* What is exported: the rows of the run, and where the counts stand. */
struct export {
	struct run *run;
	const struct view_listing *list;
	const struct view_functions *function; /* all, by unit and address; no format has those whose counts are not exact */
	const uint32_t *file;    /* the files of the list that are chosen, for formats that are `by_file` */
	uint32_t nfile;
};

struct exporter {
	const char *name, *what;
	/* Appends the whole text. False: reported, and the output must not be used. */
	bool (*write)(const struct export *x, struct buf *out);
	bool packed;             /* the output is compressed */
	bool by_file;            /* it stands by source file, which can be chosen */
};

/* export.c: all formats; the one with a name, or NULL. */
extern const struct exporter exporters[];
extern const size_t nexporter;
const struct exporter *exporter_named(const char *name);

/* The folder that most source files are in, as far as it is known where the compiler was run (pool of the run); "": not known. */
const char *export_folder(const struct export *x);

/* Returns `fits`; if it is false, reports that a sum does not fit in 64 bits. */
bool export_fits(const struct export *x, bool fits);

/* The formats, as exporter.write. */
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

/* gzip.c: appends the compressed bytes of `in`. */
void export_gzip(const struct buf *in, struct buf *out);

#endif
