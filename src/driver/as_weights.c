/* SPDX-License-Identifier: MIT */
/* Reads the file of -fchord-weights=FILE: weights, or a profile. */
#include "driver/driver.h"
#include "run/run.h"

#include <inttypes.h>
#include <stdio.h>

static bool
is_profile(const char *file)
{
	uint64_t magic = 0;
	FILE *f = fopen(file, "rb");
	bool is = f && fread(&magic, sizeof magic, 1, f) == 1 && magic == CHORD_PROFILE_MAGIC;

	if (f)
		fclose(f);
	return is;
}

/* A file without any weights is an error. If it lacks procedures, there is a warning, because nobody would notice it in the
 * program. */
static bool
from_profile(const char *file, const struct run *r, struct selection *in)
{
	run_weights(r, in);
	if (in->proc.n && r->unknown.n)
		say_warning(file, "no weights of %zu procedures or objects; of %s: %s", r->unknown.n, r->unknown.at[0].name,
		            r->unknown.at[0].reason);
	if (in->proc.n)
		return true;
	if (r->left_out.n) {
		say_error(file, "no weights: %s (`chord weights PROGRAM PROFILE` makes a file of weights)",
		          r->left_out.at[0].reason);
		return false;
	}
	for (size_t i = 0; i < r->unknown.n; i++)
		say_error(r->unknown.at[i].name, "%s", r->unknown.at[i].reason);
	say_error(file, "no weights: nothing that it counted is known%s", r->binary.n ? "" :
		" (`chord weights` makes a file of weights while the program is there)");
	return false;
}

bool
weights_read(struct pool *pool, const char *file, struct selection *in)
{
	char *name[] = {(char *)(uintptr_t)file};
	struct run r = {0};
	bool ok;

	*in = (struct selection){.pool = pool, .file = file};
	if (!is_profile(file))
		return selection_read(pool, file, SELECTION_WEIGHTS, in);
	ok = run_load_all(&r, file, name, 1) && from_profile(file, &r, in);
	run_close(&r);
	return ok;
}
