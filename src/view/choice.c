/* SPDX-License-Identifier: MIT */
/* What of a run is to be shown: functions and files by patterns. */
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
