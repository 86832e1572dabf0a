/* SPDX-License-Identifier: MIT */
/* Which part of a run to show: functions and files by patterns. */
#include "view/view.h"

#include <fnmatch.h>
#include <string.h>

bool
view_is_named(const struct proc *p, const char *pattern)
{
	if (!pattern || image_name_matches(p->name, pattern))
		return true;
	for (uint32_t i = 0; i < p->nalso; i++)
		if (image_name_matches(p->also[i], pattern))
			return true;
	return false;
}

bool
view_is_file(const char *path, const char *pattern)
{
	if (!pattern || !fnmatch(pattern, path, 0))
		return true;
	while ((path = strchr(path, '/')))
		if (!fnmatch(pattern, ++path, 0))
			return true;
	return false;
}

bool
view_is_chosen(const struct view_choice *c, const struct view_function *f)
{
	return view_is_named(f->proc, c->function) && view_is_file(f->file, c->file);
}

/* ---- suggestions for names that do not exist ---- */

struct names {
	const struct run *run;
	struct pool *pool;
};

/* The name that a pattern for procedure number i would have. */
static const char *
name_at(const void *ctx, size_t i)
{
	const struct names *names = ctx;

	for (size_t b = 0; b < names->run->binary.n; b++) {
		const struct map *map = &names->run->binary.at[b].map;

		if (i < map->nproc)
			return image_bare(names->pool, map->proc[i].name);
		i -= map->nproc;
	}
	return NULL;
}

bool
view_is_procedure(const struct run *run, const char *pattern)
{
	for (size_t k = 0; k < run->binary.n; k++)
		for (uint32_t i = 0; i < run->binary.at[k].map.nproc; i++)
			if (view_is_named(&run->binary.at[k].map.proc[i], pattern))
				return true;
	return false;
}

bool
view_is_written(const struct run *run, const char *pattern)
{
	for (size_t k = 0; k < run->binary.n; k++) {
		struct image *im = run->binary.at[k].image;

		for (uint32_t i = 0, n = image_scopes(im); i < n; i++)
			if (image_name_matches(image_scope(im, i)->name, pattern))
				return true;
	}
	return false;
}

/* Is the word the last part of the name, after a C++ class or a module of Fortran (__m_MOD_name)? */
static bool
is_last_part(const char *name, const char *word)
{
	size_t n = strlen(name), k = strlen(word);

	return k && n > k && !strcmp(name + n - k, word) && (name[n - k - 1] == ':' || name[n - k - 1] == '_');
}

const char *
view_meant(const struct run *run, const char *word)
{
	struct names names = {run, run->pool};
	const char *name;

	for (size_t i = 0; (name = name_at(&names, i)); i++)
		if (is_last_part(name, word))
			return name;
	return name_nearest(word, name_at, &names);
}
