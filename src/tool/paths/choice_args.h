/* SPDX-License-Identifier: MIT */
/* The options that choose paths, which `chord paths select` and `split` have in common. */
#ifndef CHORD_CHOICE_ARGS_H
#define CHORD_CHOICE_ARGS_H

#include "choice/choice.h"

struct choice_args {
	struct choice_rules rules;
	const char *out;         /* NULL: standard output */
	char **name;             /* program and profiles */
	int n;
};
/* An argp child whose input is struct choice_args; rules and names are required. */
extern const struct argp choice_argp;

#endif
