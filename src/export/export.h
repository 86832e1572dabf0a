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
};

/* export.c: all there are, and the one of a name or NULL. */
extern const struct exporter exporters[];
extern const size_t nexporter;
const struct exporter *exporter_named(const char *name);

bool export_lcov(const struct export *x, struct buf *out);
bool export_callgrind(const struct export *x, struct buf *out);
bool export_csv(const struct export *x, struct buf *out);
bool export_bolt(const struct export *x, struct buf *out);

#endif
