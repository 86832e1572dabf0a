/* SPDX-License-Identifier: MIT */
/* Command lines, as all commands read them. */
#ifndef CHORD_OPTIONS_H
#define CHORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct argp;

/* As argp_parse(), but knows -h, and what an option that there is not may have been meant to be. Ends the program if the line is
 * wrong, or asks for help only. */
void options_read(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* Is an operand one or more profiles: a folder, a file that begins like one, what has the name of one, or "-", standard input? */
bool options_is_profile(const char *name);

/* "0.5" or "0.5%", up to six digits behind the point, in millionths of a percent. False: it is none. */
bool options_percent(const char *text, uint64_t *millionths);

#endif
