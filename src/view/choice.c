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

/* The procedure that has the code of a function of this name, itself under another one: of a clone, or of a C++ function whose name
 * spaces only the symbol has (-g1). NULL: there is none. */
static const char *
became(const struct run *run, const char *word)
{
	for (size_t k = 0; k < run->binary.n; k++) {
		const struct binary *b = &run->binary.at[k];

		for (uint32_t i = 0; i < b->map.nproc; i++) {
			const struct proc *p = &b->map.proc[i];
			uint32_t scope = image_scope_around(b->image, p->part[0].addr);

			if (scope != IMAGE_NO_SCOPE && image_name_matches(image_scope(b->image, scope)->name, word) &&
			    !view_is_named(p, word))
				return image_bare(run->pool, p->name);
		}
	}
	return NULL;
}

const char *
view_meant(const struct run *run, const char *word)
{
	struct names names = {run, run->pool};
	const char *name = became(run, word);

	if (name)
		return name;
	for (size_t i = 0; (name = name_at(&names, i)); i++)
		if (is_last_part(name, word))
			return name;
	return name_nearest(word, name_at, &names);
}

static bool
was_inlined(const struct run *run, const char *word)
{
	for (size_t k = 0; k < run->binary.n; k++) {
		struct image *im = run->binary.at[k].image;

		for (uint32_t i = 0, n = image_scopes(im); i < n; i++)
			if (image_scope(im, i)->in != IMAGE_NO_SCOPE && image_name_matches(image_scope(im, i)->name, word))
				return true;
	}
	return false;
}

/* Is it a function, and none that is measured? */
static bool
is_unmeasured(const struct run *run, const char *word)
{
	for (size_t k = 0; k < run->binary.n; k++) {
		const struct image_symbol *s;
		size_t n = image_symbols(run->binary.at[k].image, &s);

		for (size_t i = 0; i < n; i++)
			if (!parts_find(&run->binary.at[k].parts, s[i].addr) && image_name_matches(s[i].name, word))
				return true;
	}
	return false;
}

const char *
view_unnamed(const struct run *run, const char *word, const char *how)
{
	const char *meant = became(run, word);

	if (!meant && was_inlined(run, word))
		return pool_printf(run->pool, ": it was inlined%s", how);
	if (!meant && is_unmeasured(run, word))
		return ": it was not built with Chord";
	meant = meant ? meant : view_meant(run, word);
	return meant ? pool_printf(run->pool, "; did you mean %s?", meant) : "";
}
