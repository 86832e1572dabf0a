/* SPDX-License-Identifier: MIT */
/* chord verify: is every procedure of some programs measured? */
#include "tool/json.h"
#include "tool/options.h"
#include "tool/print.h"

#include <argp.h>
#include <inttypes.h>
#include <stdlib.h>

enum { OPT_STRICT = 256, OPT_JSON, FEW = 20 };

static const struct argp_option options[] = {
	{"strict", OPT_STRICT, NULL, 0, "Functions that were not built with Chord are a \"no\" too", 0},
	{"json", OPT_JSON, NULL, 0, "Print JSON about one program: all that is refused or was not built with Chord", 0},
	{"quiet", 'q', NULL, 0, "Print nothing, only set the exit status", 0},
	{0},
};

static const char doc[] =
	"Is every procedure of the programs measured?\v"
	"Procedures that Chord refused are listed with the reason, functions that were not built with Chord (assembly files, "
	"static libraries) by their names. The compiler's start-up files do not count.\n\n"
	"Exit status: 0 yes, 1 some procedure was refused, nothing at all is measured in a program, or (with --strict) some "
	"function was not built with Chord; 2 wrong usage.";

struct args {
	VEC(char *) program;
	bool strict, quiet, json;
};

static error_t
parse_verify(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case OPT_STRICT:
		a->strict = true;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case 'q':
		a->quiet = true;
		break;
	case ARGP_KEY_ARG:
		VEC_PUSH(a->program, arg);
		break;
	case ARGP_KEY_END:
		if (a->json && a->program.n > 1)
			argp_error(state, "--json takes one program at a time");
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void
list_unmeasured(const struct args *a, const struct binary *bin, const struct unmeasured *un)
{
	for (uint32_t i = 0; i < bin->map.nproc; i++)
		if (bin->map.proc[i].refused)
			printf("%s: %s\n", plain_name(bin->map.proc[i].name), bin->map.proc[i].refused);
	/* A static libc alone has a thousand: too many to read, unless they decide the answer. */
	for (size_t i = 0; i < un->symbol.n && (a->strict || un->symbol.n <= FEW); i++)
		printf("%s: not built with Chord\n", plain_name(un->symbol.at[i].name));
	printf("%s: %" PRIu32 " procedures measured, %" PRIu32 " refused; ", plain_text(bin->path),
	       bin->map.nproc - bin->map.nrefused, bin->map.nrefused);
	if (un->stripped)
		printf("without a symbol table functions not built with Chord cannot be told "
		       "(%" PRIu64 " bytes of code, with Chord's own, belong to no measured procedure)\n", un->bytes);
	else
		printf("%zu %s not built with Chord\n", un->symbol.n, of_many(un->symbol.n, "function", "functions"));
}

static bool
print_json(const struct binary *bin, const struct unmeasured *un, bool measured)
{
	json_t *o = js_document("chord verify"), *refused = json_array(), *others = json_array();

	for (uint32_t i = 0; i < bin->map.nproc; i++)
		if (bin->map.proc[i].refused)
			js_append(refused, js_named(bin->map.proc[i].name, bin->map.proc[i].refused));
	for (size_t i = 0; i < un->symbol.n; i++)
		js_append(others, js_named(un->symbol.at[i].name, "not built with Chord"));
	js_set(o, "program", js_text(bin->path));
	js_set(o, "measured", json_boolean(measured));
	js_set(o, "procedures", js_number(bin->map.nproc - bin->map.nrefused, true));
	js_set(o, "refused", refused);
	js_set(o, "not_measured", un->stripped ? json_null() : others);
	if (un->stripped)
		json_decref(others);
	js_set(o, "bytes_not_measured", js_number(un->bytes, true));
	return js_print_whole(o);
}

static int
verify(const struct args *a, struct binary *bin)
{
	struct unmeasured un = {0};
	bool no;

	unmeasured_find(bin, &un);
	no = bin->map.nrefused || bin->map.nproc == bin->map.nrefused || (a->strict && (un.symbol.n || un.stripped));
	if (a->json && !a->quiet)
		no |= !print_json(bin, &un, !no);
	else if (!a->quiet)
		list_unmeasured(a, bin, &un);
	unmeasured_free(&un);
	return no ? EXIT_NO : 0;
}

static int
verify_program(const struct args *a, const char *name)
{
	struct pool *pool = pool_new();
	const char *path = find_program(pool, name), *why;
	struct binary bin;
	int status = EXIT_NO;

	if (binary_open(pool, path, &bin, &why)) {
		status = verify(a, &bin);
		binary_close(&bin);
	} else {
		say_error(path, "%s", why);
	}
	pool_free(pool);
	return status;
}

int
cmd_verify(int argc, char **argv)
{
	static const struct argp argp = {options, parse_verify, "PROGRAM...", doc, print_names, NULL, NULL};
	struct args a = {0};
	int status = 0;

	options_read(&argp, argc, argv, 0, &a);
	for (size_t i = 0; i < a.program.n; i++)
		if (verify_program(&a, a.program.at[i]))
			status = EXIT_NO;
	free(a.program.at);
	return status;
}
