/* SPDX-License-Identifier: MIT */
/* chord merge: the sum of profiles, as a file. */
#include "tool/json.h"
#include "tool/options.h"
#include "tool/print.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OPT_FILES = 256, OPT_UNRELATED, OPT_JSON };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write the sum to FILE (required)", 0},
	{"files-from", OPT_FILES, "FILE", 0, "Also the profiles and folders whose names are in FILE, one a line, or each "
	 "followed by a zero byte; -, or an operand -: from standard input", 0},
	{"unrelated", OPT_UNRELATED, NULL, 0, "Also sum profiles of unrelated programs", 0},
	{"json", OPT_JSON, NULL, 0, "Print JSON: what the sum is of", 0},
	{0},
};

static const char doc[] =
	"Sum profiles of one build into one profile.\v"
	"The sum is a profile like any other: it can be reported, and merged again, in any order and in any groups. Profiles "
	"belong together if each has at least one module (the program or a shared object) in common with others. A folder stands "
	"for all profiles in it, one that a run's first process left for those of its other processes, too. What is in the sum "
	"already is not added again, and that is said.\n\n"
	"Exit status: 0 done, 1 a profile cannot be used or the sum cannot be written (there is none then), 2 wrong usage.";

struct args {
	const char *out;
	bool unrelated, json;
	VEC(char *) in;
	VEC(const char *) from;  /* files of names */
	VEC(struct buf) text;    /* what is in them */
};

static error_t
parse_merge(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'o':
		a->out = arg;
		break;
	case OPT_FILES:
		VEC_PUSH(a->from, arg);
		break;
	case OPT_UNRELATED:
		a->unrelated = true;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case ARGP_KEY_ARG:
		if (strcmp(arg, "-"))
			VEC_PUSH(a->in, arg);
		else
			VEC_PUSH(a->from, arg);
		break;
	case ARGP_KEY_END:
		if (!a->in.n && !a->from.n)
			argp_error(state, "which profiles?");
		if (!a->out)
			argp_error(state, "where to? Give -o FILE");
		if (a->json && !strcmp(a->out, "-"))
			argp_error(state, "standard output cannot have both the sum (-o -) and --json");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* A sum may be replaced by a larger sum. The profile of one process must not be replaced by a sum. */
static bool
would_destroy(const char *out, const struct found_list *list)
{
	struct stat st;

	for (size_t i = 0; !stat(out, &st) && i < list->n; i++) {
		const struct found *f = &list->at[i];

		if (f->ino != st.st_ino || f->dev != st.st_dev || !S_ISREG(st.st_mode) || f->flags & CHORD_PROFILE_MERGED)
			continue;
		say_error(out, "it is among the profiles to be summed, and would be replaced by the sum");
		return true;
	}
	return false;
}

static void
merge_all(struct merge *m, const struct found_list *list)
{
	for (size_t i = 0; i < list->n; i++) {
		progress("merging", i, list->n);
		merge_file(m, &list->at[i]);
	}
	progress("merging", list->n, list->n);
}

static bool
write_sum(const struct merge *m, struct pool *pool, const char *to)
{
	struct buf out = {0};
	const char *unknown;
	bool ok;

	if (!m->sum->nsummed) {
		say_error(to, "there is nothing to sum");
		return false;
	}
	if ((unknown = profile_unknown(pool, m->sum)))
		say_warning(to, "%s", unknown);
	profile_write(m->sum, &out);
	ok = save_output(to, &out);
	buf_free(&out);
	return ok;
}

static json_t *
modules_of(const struct profile *sum, struct pool *pool)
{
	json_t *a = json_array();

	for (size_t i = 0; i < sum->module.n; i++) {
		const struct module *m = &sum->module.at[i];
		json_t *o = json_object();

		js_set(o, "name", js_text(m->path));
		js_set(o, "build_id", js_text(image_hex(pool, (struct str){(const char *)m->id, m->nid})));
		js_append(a, o);
	}
	return a;
}

static bool
print_json(const struct args *a, const struct profile *sum, struct pool *pool)
{
	const char *unknown = profile_unknown(pool, sum);
	json_t *o = js_document("chord merge");

	js_set(o, "output", js_text(a->out));
	js_set(o, "processes", js_number(sum->nsummed, true));
	js_set(o, "modules", modules_of(sum, pool));
	js_set(o, "unknown", unknown ? js_text(unknown) : json_null());
	return js_print_whole(o);
}

/* ---- names that a file has ---- */

/* Names are one a line, or, if there is a zero byte, each is followed by one. False: reported. */
static bool
read_names(struct args *a, const char *from, struct buf *text)
{
	const char *what = strcmp(from, "-") ? from : "standard input";
	char end;

	if (!file_read(from, text)) {
		say_error(what, "%s", strerror(errno));
		return false;
	}
	if (text->n >= 8 && !memcmp(text->at, &(uint64_t){CHORD_PROFILE_MAGIC}, 8)) {
		say_error(what, "it is a profile, and no list of the names of profiles");
		return false;
	}
	end = text->n && memchr(text->at, 0, text->n) ? 0 : '\n';
	buf_char(text, end);
	for (char *at = text->at, *stop = text->at + text->n; at < stop;) {
		char *behind = memchr(at, end, (size_t)(stop - at));

		*behind = 0;
		if (*at)
			VEC_PUSH(a->in, at);
		at = behind + 1;
	}
	return true;
}

static bool
collect_names(struct args *a)
{
	for (size_t i = 0; i < a->from.n; i++)
		if (!read_names(a, a->from.at[i], &a->text.at[i]))
			return false;
	return true;
}

static bool
merge(struct args *a, struct pool *pool)
{
	struct merge m = {.sum = profile_new()};
	struct found_list list = {0};
	bool ok;

	find_named(pool, a->in.at, (int)a->in.n, &list);
	if (!list.n)
		say_error(a->in.n ? a->in.at[0] : a->from.at[0],
		          a->in.n ? "there is no profile in the folder" : "it names no profile");
	ok = list.n && !would_destroy(a->out, &list);
	if (ok)
		merge_all(&m, &list);
	ok = ok && !m.spoilt && (a->unrelated || merge_is_one(&m)) && write_sum(&m, pool, a->out) &&
	     (!a->json || print_json(a, m.sum, pool));
	free(list.at);
	merge_free(&m);
	return ok;
}

int
cmd_merge(int argc, char **argv)
{
	static const struct argp argp = {options, parse_merge, "-o FILE PROFILE...", doc, NULL, NULL, NULL};
	struct args a = {0};
	struct pool *pool = pool_new();
	bool ok;

	options_read(&argp, argc, argv, 0, &a);
	for (size_t i = 0; i < a.from.n; i++)
		VEC_PUSH(a.text, (struct buf){0});
	ok = collect_names(&a) && merge(&a, pool);
	for (size_t i = 0; i < a.text.n; i++)
		buf_free(&a.text.at[i]);
	free(a.text.at);
	free(a.from.at);
	free(a.in.at);
	pool_free(pool);
	return ok ? 0 : EXIT_NO;
}
