/* SPDX-License-Identifier: MIT */
/* Command lines, as all commands read them. */
#ifndef CHORD_OPTIONS_H
#define CHORD_OPTIONS_H

#include <stddef.h>

struct argp;

/* As argp_parse(), but knows -h, and what an option that there is not may have been meant to be. Ends the program if the line is
 * wrong, or asks for help only. */
void options_read(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* The name that is least unlike a word, if it is so enough to have been meant; or NULL. name(ctx, i) is NULL behind the last. */
const char *options_nearest(const char *word, const char *(*name)(const void *ctx, size_t i), const void *ctx);

#endif
