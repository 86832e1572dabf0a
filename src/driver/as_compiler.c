/* SPDX-License-Identifier: MIT */
/* Asks gcc which assembler it would run without Chord: one in a folder of the user's -B, or its own one; and which registers it was
 * told to leave alone. gcc tells its children in two variables how it was called. */
#include "driver/driver.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is Chord what gcc finds by -B with this value, a folder or the beginning of a name? */
static bool
is_chords_folder(struct pool *pool, const char *folder)
{
	return is_chord(pool_printf(pool, "%s/as", folder)) || is_chord(pool_printf(pool, "%sas", folder));
}

/* Adds the user's -B options. */
static void
push_folders(struct pool *pool, const char *options, VEC_ARGS *args)
{
	VEC_ARGS all = {0};

	args_split(pool, str_of(options), &all);
	for (size_t i = 0; i + 1 < all.n; i++)
		if (!strcmp(all.at[i], "-B") && !is_chords_folder(pool, all.at[++i]))
			VEC_PUSH(*args, pool_printf(pool, "-B%s", all.at[i]));
	free(all.at);
}

/* Takes Chord's folders out of COMPILER_PATH, where gcc would find them again. */
static void
clean_compiler_path(struct pool *pool)
{
	const char *path = getenv("COMPILER_PATH");
	struct buf clean = {0};

	for (const char *p = path; p && *p; p += strspn(p, ":")) {
		size_t n = strcspn(p, ":");
		const char *folder = pool_strndup(pool, p, n);

		if (!is_chords_folder(pool, folder))
			buf_printf(&clean, "%s%s", clean.n ? ":" : "", folder);
		p += n;
	}
	buf_char(&clean, 0);
	if (path && setenv("COMPILER_PATH", clean.at, 1))
		die("environment", "out of memory");
	buf_free(&clean);
}

const char *
as_of_compiler(struct pool *pool)
{
	const char *gcc = getenv("COLLECT_GCC"), *options = getenv("COLLECT_GCC_OPTIONS"), *name = NULL;
	struct child_fds fds = CHILD_FDS_NONE;
	struct buf says = {0};
	VEC_ARGS args = {0};

	if (!gcc || !options)
		return NULL;
	VEC_PUSH(args, pool_strdup(pool, gcc));
	push_folders(pool, options, &args);
	VEC_PUSH(args, pool_strdup(pool, "-print-prog-name=as"));
	VEC_PUSH(args, NULL);
	clean_compiler_path(pool);
	if (child_hear(args.at, &fds, &fds.out, &says) == 0 && says.n)
		name = pool_strndup(pool, says.at, says.n - 1);
	free(args.at);
	buf_free(&says);
	/* A name without a folder: gcc would look in PATH. */
	return name && strchr(name, '/') && !access(name, X_OK) && !is_chord(name) ? name : NULL;
}

uint16_t
as_reserved(struct pool *pool, const struct machine_text *text)
{
	static const char *const options[] = {"-ffixed-", "-fcall-saved-"};
	const char *given = getenv("COLLECT_GCC_OPTIONS");
	uint16_t reserved = 0;
	VEC_ARGS all = {0};

	args_split(pool, str_of(given ? given : ""), &all);
	for (size_t i = 0; i < all.n; i++)
		for (size_t k = 0; k < sizeof options / sizeof *options; k++)
			if (str_starts(str_of(all.at[i]), options[k]))
				reserved |= text->named(str_of(all.at[i] + strlen(options[k])));
	free(all.at);
	return reserved;
}
