/* SPDX-License-Identifier: MIT */
/* Command lines, as all commands read them. */
#ifndef CHORD_OPTIONS_H
#define CHORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct argp;

/* As argp_parse(), but knows -h, and suggests an option that was meant by an unknown one. Ends the program if the line is wrong, or
 * only asks for help. */
void options_read(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* Is the option with that key given before the first operand? */
bool options_lead_with(const struct argp *argp, int argc, char **argv, int key);

/* True if an operand is one or more profiles: a folder, a file that begins like a profile or has a profile's name, or "-" (standard
 * input). */
bool options_is_profile(const char *name);

/* Reads "0.5" or "0.5%", with at most six digits after the point, in millionths of a percent. False: it is no such number. */
bool options_percent(const char *text, uint64_t *millionths);

#endif
