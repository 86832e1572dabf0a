/* SPDX-License-Identifier: MIT */
/* chord paths --diff: which paths only one of two runs took. */
#include "compare/compare.h"
#include "tool/paths/paths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct paths_diff {
	struct run run[2];
	const char *side[2]; /* what was compared: a profile, or what stood for several of them */
	struct path_comparison found;
};

/* ---- printing ---- */

static void
print_only(const char *title, const struct path_pair *p, size_t n, const struct paths_options *opt)
{
	char a[32];

	printf("\n%s %s that only %s took\n", grouped(a, n), n == 1 ? "path" : "paths", plain_text(title));
	if (n)
		paths_print_heading(false);
	for (size_t i = 0; i < n && (!opt->top || i < opt->top); i++)
		paths_print_row(p[i].before ? p[i].before : p[i].after, 0, opt->source);
	if (opt->top && n > opt->top)
		printf("  and %zu more (--top=0 shows all)\n", n - opt->top);
}

static void
print_changed(const struct paths_diff *d, const struct paths_options *opt)
{
	size_t n = d->found.changed.n;
	char a[32], b[32], c[32];

	printf("\n%s %s that both took, but not as often\n", grouped(a, n), n == 1 ? "path" : "paths");
	if (n)
		paths_print_heading(false);
	for (size_t i = 0; i < n && (!opt->top || i < opt->top); i++) {
		const struct path_pair *p = &d->found.changed.at[i];
		bool more = p->after->count > p->before->count;
		uint64_t by = more ? p->after->count - p->before->count : p->before->count - p->after->count;

		printf("%18s times, then %s (%c%s):\n", grouped(a, p->before->count), grouped(b, p->after->count),
		       more ? '+' : '-', grouped(c, by));
		paths_print_row(p->after, 0, opt->source);
	}
	if (opt->top && n > opt->top)
		printf("  and %zu more (--top=0 shows all)\n", n - opt->top);
}

static void
print_text(const struct paths_diff *d, const struct paths_options *opt)
{
	printf("%s: from %s to %s\n", plain_text(d->run[0].path), plain_text(d->side[0]), plain_text(d->side[1]));
	print_only(d->side[1], d->found.only_after.at, d->found.only_after.n, opt);
	print_only(d->side[0], d->found.only_before.at, d->found.only_before.n, opt);
	print_changed(d, opt);
	for (int i = 0; i < 2; i++)
		paths_print_doubts(&d->found.side[i], pool_printf(d->run[0].pool, ", of %s", plain_text(d->side[i])));
}

static json_t *
json_pairs(const struct path_pair *p, size_t n, const struct paths_options *opt)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n && (!opt->top || i < opt->top); i++) {
		json_t *o = paths_json_row(p[i].after ? p[i].after : p[i].before);

		js_set(o, "before", js_number(p[i].before ? p[i].before->count : 0, true));
		js_set(o, "after", js_number(p[i].after ? p[i].after->count : 0, true));
		json_object_del(o, "count");
		json_object_del(o, "instructions");
		js_append(a, o);
	}
	return a;
}

static bool
print_json(const struct paths_diff *d, const struct paths_options *opt)
{
	json_t *o = js_document("chord paths --diff");

	js_set(o, "program", js_text(d->run[0].path));
	js_set(o, "before", js_text(d->side[0]));
	js_set(o, "after", js_text(d->side[1]));
	js_set(o, "only_after", json_pairs(d->found.only_after.at, d->found.only_after.n, opt));
	js_set(o, "only_before", json_pairs(d->found.only_before.at, d->found.only_before.n, opt));
	js_set(o, "changed", json_pairs(d->found.changed.at, d->found.changed.n, opt));
	for (int i = 0; i < 2; i++) {
		json_t *doubts = json_object();

		paths_json_doubts(doubts, &d->found.side[i]);
		js_set(o, i ? "doubts_after" : "doubts_before", doubts);
	}
	return js_print_whole(o);
}

/* ---- the command ---- */

static bool
load_sides(struct paths_diff *d, const struct paths_options *opt, char **name)
{
	for (int i = 0; i < 2; i++) {
		if (!run_load(&d->run[i], name[0], &name[1 + i], 1) ||
		    !view_paths(&d->found.side[i], &d->run[i], opt->function))
			return false;
		d->side[i] = d->run[i].summed.n == 1 ? d->run[i].summed.at[0] : name[1 + i];
	}
	compare_paths(&d->found);
	return true;
}

int
paths_diff(const struct paths_options *opt, char **name)
{
	struct paths_diff d = {0};
	bool ok;

	ok = load_sides(&d, opt, name);
	if (ok && opt->json)
		ok = print_json(&d, opt);
	else if (ok)
		print_text(&d, opt);
	if (!print_whole(NULL, stdout) || d.run[0].missing.n || d.run[1].missing.n)
		ok = false;
	compare_paths_free(&d.found);
	warn_of_newer_sources(&d.run[0]);
	for (int i = 0; i < 2; i++)
		if (d.run[i].pool)
			run_close(&d.run[i]);
	view_source_free();
	return ok ? 0 : EXIT_NO;
}
