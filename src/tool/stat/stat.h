/* SPDX-License-Identifier: MIT */
/* What the files of `chord stat` share: stat.c has the options and runs the program, print.c prints. */
#ifndef CHORD_STAT_H
#define CHORD_STAT_H

#include "tool/print.h"
#include "view/runs.h"

struct stat_options {
	struct pool *pool;
	uint32_t runs;
	const char *events;      /* the list as given; NULL: all that are known */
	const char *output;      /* NULL: standard error */
	const char *separator;   /* not NULL: between the fields of one line for each event */
	bool json, per_thread, aslr;
	char **argv;             /* of the program, ends with NULL */
};

struct stat_result {
	const struct stat_options *opt;
	struct view_runs runs;
	int status;              /* of the program: the first that is not 0; 128 + a signal's number */
	int first_status;
	uint32_t other_status;   /* runs that did not end with it */
};

/* False: it could not be written. */
bool stat_print(const struct stat_result *s, FILE *to);
bool stat_fields(const struct stat_result *s, FILE *to);
bool stat_json(const struct stat_result *s, FILE *to);

#endif
