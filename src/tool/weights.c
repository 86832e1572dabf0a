/* SPDX-License-Identifier: MIT */
/* chord weights: how often edges ran, for a build with -fchord-weights=FILE. */
#include "tool/json.h"
#include "tool/options.h"
#include "tool/print.h"

#include <argp.h>
#include <stdlib.h>

enum { OPT_JSON = 256 };

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0, "Write them to FILE (default: standard output)", 0},
	{"json", OPT_JSON, NULL, 0, "Write JSON, for other tools; a build does not read it", 0},
	{0},
};

static const char doc[] =
	"Say how often each edge ran, for builds with -fchord-weights=FILE: those put fewer counters where it is hot.\v"
	"PROGRAM was built with counts of edges or paths (-fchord=edges, calls or paths). Without a PROFILE all profiles of this "
	"build in the current folder are summed. A procedure whose code has changed since then has no weights: they are "
	"guessed.\n\n"
	"Exit status: 0 done, 1 nothing is known, or the program or a profile cannot be used, 2 wrong usage.";

struct args {
	const char *out;
	bool json;
	char **name;
	int n;
};

static error_t
parse_weights(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'o':
		a->out = arg;
		break;
	case OPT_JSON:
		a->json = true;
		break;
	case ARGP_KEY_ARGS:
		a->name = state->argv + state->next;
		a->n = state->argc - state->next;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static json_t *
edges_of(const struct proc *p, const uint64_t *ran)
{
	json_t *a = json_array();

	for (uint32_t e = 0; e < p->narc; e++) {
		json_t *o = json_object();

		js_set(o, "from", js_vertex(p, p->arc[e].from));
		js_set(o, "to", js_vertex(p, p->arc[e].to));
		js_set(o, "count", js_number(ran[e], true));
		js_append(a, o);
	}
	return a;
}

static void
add_procedure(json_t *to, const struct proc *p, const struct selection_proc *ip)
{
	json_t *o = json_object();

	js_set_function(o, "name", p->name);
	js_set(o, "file", js_text(p->file));
	js_set(o, "edges", edges_of(p, ip->ran));
	js_append(to, o);
}

/* A procedure that is in several objects is listed once, as in the text. */
static json_t *
procedures_of(const struct run *r, const struct selection *in)
{
	bool *done = pool_array(in->pool, in->proc.n, sizeof *done);
	json_t *a = json_array();

	for (size_t i = 0; i < r->binary.n; i++) {
		const struct map *map = &r->binary.at[i].map;

		for (uint32_t k = 0; k < map->nproc; k++) {
			const struct proc *p = &map->proc[k];
			const struct selection_proc *other, *ip = selection_find(in, p->name, p->file, proc_hash(p), &other);

			if (!ip || done[ip - in->proc.at])
				continue;
			done[ip - in->proc.at] = true;
			add_procedure(a, p, ip);
		}
	}
	return a;
}

static void
put_json(const struct run *r, const struct selection *in, struct buf *out)
{
	json_t *o = js_document("chord weights");
	char *text;

	js_set(o, "program", js_text(r->path));
	js_set(o, "procedures", procedures_of(r, in));
	js_set(o, "unknown", js_named_list(r->unknown.at, r->unknown.n));
	js_set(o, "left_out", js_named_list(r->left_out.at, r->left_out.n));
	text = json_dumps(o, JSON_INDENT(1));
	if (!text)
		die("memory", "out of memory");
	buf_printf(out, "%s\n", text);
	free(text);
	json_decref(o);
}

static void
put_text(const struct selection *in, struct buf *out)
{
	selection_write_head(out, SELECTION_WEIGHTS);
	for (size_t i = 0; i < in->proc.n; i++)
		selection_write(out, SELECTION_WEIGHTS, &in->proc.at[i]);
}

/* Writes the weights. Reports what has no weights, and which profiles are left out. */
static bool
write_weights(const struct run *r, const struct args *a)
{
	struct selection in = {.pool = r->pool};
	struct buf out = {0};
	bool ok;

	run_weights(r, &in);
	if (a->json)
		put_json(r, &in, &out);
	else
		put_text(&in, &out);
	if (!in.proc.n)
		say_error(r->path, "no procedure's edges are known to have run: was it built with -fchord=edges, calls or paths?");
	for (size_t i = 0; i < r->unknown.n; i++)
		say_warning(image_readable(r->unknown.at[i].name), "no weights: %s", r->unknown.at[i].reason);
	for (size_t i = 0; i < r->left_out.n; i++)
		say_warning(r->left_out.at[i].name, "left out: %s", r->left_out.at[i].reason);
	ok = in.proc.n && save_output(a->out, &out);
	selection_free(&in);
	buf_free(&out);
	return ok;
}

int
cmd_weights(int argc, char **argv)
{
	static const struct argp argp = {options, parse_weights, "PROGRAM [PROFILE...]", doc, NULL, NULL, NULL};
	struct args a = {0};
	struct run r = {0};
	int status;

	options_read(&argp, argc, argv, 0, &a);
	status = run_load(&r, a.name[0], a.name + 1, a.n - 1) && write_weights(&r, &a) && !r.missing.n ? 0 : EXIT_NO;
	run_close(&r);
	return status;
}
