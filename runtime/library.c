/* SPDX-License-Identifier: MIT */
/* Libraries of compilers that are known by their names, because of what their threads and handlers do. */

struct chord_rt_named { uint64_t at; const char *name; };

static int
chord_rt_is_library(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct chord_rt_named *named = arg;
	bool here = false;

	(void)size;
	for (uint32_t i = 0; i < info->phnum; i++)
		here |= info->phdr[i].p_type == PT_LOAD && named->at - info->addr - info->phdr[i].p_vaddr < info->phdr[i].p_memsz;
	if (here)
		named->name = info->name;
	return here;
}

/* The file with the code at an address. NULL: not known. The list of objects is used only if the C library has no function that
 * works without its lock, because another thread may hold that lock for ever. */
static const char *
chord_rt_library_of(const struct chord_rt_ctl *ctl, uint64_t at)
{
	chord_rt_find_fn *find = (chord_rt_find_fn *)ctl->real[CHORD_RT_HOOK__dl_find_object];
	struct chord_rt_named named = {at, NULL};
	struct chord_rt_found f;

	if (find && at)
		return find((void *)at, &f) ? NULL : ((const struct chord_rt_link_map *)f.link_map)->name;
	if (at && chord_rt_dl_iterate_phdr)
		chord_rt_dl_iterate_phdr(chord_rt_is_library, &named);
	return named.name;
}

/* Does the library's name, without folders, begin in one of these ways? They have 8 characters each. */
static bool
chord_rt_is_one_of(const char *name, const char (*begins)[9], uint32_t n)
{
	const char *slash = name;
	bool found = false;

	for (; name && *name; name++)
		slash = *name == '/' ? name + 1 : slash;
	for (uint32_t i = 0; slash && i < n; i++)
		found |= chord_rt_length(slash) >= 8 && chord_rt_equal(slash, begins[i], 8);
	return found;
}

/* Has the code at an address threads that spin for a while before they sleep, as those of OpenMP do? */
static bool
chord_rt_spins(const struct chord_rt_ctl *ctl, uint64_t at)
{
	static const char names[][9] = {"libgomp.", "libomp.s", "libomp-1", "libiomp5"};

	return chord_rt_is_one_of(chord_rt_library_of(ctl, at), names, sizeof names / sizeof *names);
}

/* Does a handler at an address never let the program go on at another instruction? That of Fortran's library ends the program.
 * That of Ada's raises an exception, which is followed as all are. */
static bool
chord_rt_handler_is_known(const struct chord_rt_ctl *ctl, uint64_t at)
{
	static const char names[][9] = {"libgfort", "libgnat-", "libgnat."};

	return chord_rt_is_one_of(chord_rt_library_of(ctl, at), names, sizeof names / sizeof *names);
}
