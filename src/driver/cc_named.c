/* SPDX-License-Identifier: MIT */
/* Compilers by their names. */
#include "driver/driver.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

/* Each has another way to be measured, or none. */
bool
cc_is_unlike_gcc(const char *command)
{
	static const char *const names[] = {"rustc", "cargo", "ldc2", "ldmd2", "dmd", "ocamlopt", "ocamlopt.opt", "ocamlfind",
		"fpc", "cobc", "nim", "valac", "ghc", "go", "tcc", "pcc", "klcc"};

	return NAMED(base_name(command), names);
}

/* Wrappers of compilers have many names, which end as the compilers' do: mpicc, mpicxx, mpif90, h5fc, gnatgcc. Sources end so
 * behind a dot: main.cc. */
static bool
ends_like_compiler(const char *name)
{
	static const char *const ends[] = {"cc", "CC", "++", "cxx", "fc", "f77", "f90", "f95", "fort"};

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (str_ends(str_of(name), ends[i]))
			return !strchr(name, '.');
	return false;
}

/* A compiler's name, with or without a target before it and a version behind it: x86_64-linux-gnu-g++-12. */
static bool
is_compiler(struct pool *pool, const char *command)
{
	static const char *const names[] = {"c89", "c99", "clang", "gfortran", "gdc", "gm2", "gccgo"};
	char *name = pool_strdup(pool, base_name(command)), *dash = strrchr(name, '-');

	if (dash && isdigit((unsigned char)dash[1]) && !dash[1 + strspn(dash + 1, "0123456789.")])
		*dash = '\0';
	dash = strrchr(name, '-');
	name = dash ? dash + 1 : name;
	return NAMED(name, names) || ends_like_compiler(name) || cc_is_unlike_gcc(command);
}

/* A file of that name in the current folder is an input, as it is for the compiler. */
static bool
is_command(struct pool *pool, const char *word)
{
	return strchr(word, '/') ? !access(word, X_OK) : access(word, F_OK) && file_in_path(pool, word);
}

size_t
cc_named(struct pool *pool, char **argv, size_t n)
{
	static const char *const caches[] = {"ccache", "distcc", "sccache"};
	size_t i = 0;

	while (i < n && is_command(pool, argv[i]) && NAMED(base_name(argv[i]), caches))
		i++;
	return i < n && is_command(pool, argv[i]) && is_compiler(pool, argv[i]) ? i + 1 : 0;
}
