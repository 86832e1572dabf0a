/* SPDX-License-Identifier: MIT */
/* chord trace --encodings: what the runs would have written had they recorded branches or witnesses in place of paths (Ball & Larus
 * 1994, Table III and Fig. 22). */
#include "tool/trace/trace.h"

#include "tool/json.h"
#include "tool/print.h"
#include "tool/table.h"

#include <inttypes.h>
#include <string.h>

enum { TOP = 10 };

/* ---- sums ---- */

/* Which of three is the smallest; the first one if several are. */
static int
least(uint64_t a, uint64_t b, uint64_t c)
{
	return a <= b && a <= c ? 0 : b <= c ? 1 : 2;
}

static int
fewest_bits(const struct encoded_proc *p)
{
	return least(p->outcome_bits, p->witness_bits, p->token_bits);
}

static int
fewest_writes(const struct encoded_proc *p)
{
	return least(p->outcomes, p->witnesses, p->tokens);
}

static const char *const contender[] = {"bit tracing", "witnesses", "path tokens"};

/* By encoding: how many procedures it is the smallest for, and how many branches these procedures executed. */
struct winners {
	uint64_t procs[3], branches[3];
};

static struct winners
count_winners(const struct encoded_proc *p, size_t n, int (*best)(const struct encoded_proc *))
{
	struct winners w = {0};

	for (size_t i = 0; i < n; i++)
		if (p[i].branches) {
			w.procs[best(&p[i])]++;
			w.branches[best(&p[i])] += p[i].branches;
		}
	return w;
}

/* ---- text ---- */

static void
put_per_branch(struct table *t, uint64_t bytes, uint64_t branches)
{
	if (branches)
		table_printf(t, "%.3f", 8.0 * (double)bytes / (double)branches);
	else
		table_text(t, "-");
}

static void
print_sums(FILE *to, const struct encoding_sum *sum, uint64_t branches)
{
	static const struct column columns[] = {
		{"encoding", -20, 0}, {"writes", 15, 0}, {"bytes", 15, 0}, {"zstd", 13, 0}, {"bits/branch", 11, 0}, {"zstd", 7, 0},
	};
	struct table t = TABLE(columns);

	t.to = to;
	table_head(&t);
	for (int i = 0; i < ENCODINGS; i++) {
		table_text(&t, encoding_name[i]);
		table_number(&t, sum[i].writes);
		table_number(&t, sum[i].bytes);
		table_number(&t, sum[i].compressed);
		put_per_branch(&t, sum[i].bytes, branches);
		put_per_branch(&t, sum[i].compressed, branches);
		table_end(&t);
	}
}

static void
print_procs(FILE *to, const struct encoded_proc *p, size_t n)
{
	static const struct column columns[] = {
		{"function", -24, 0}, {"branches", 13, 0}, {"outcomes", 13, 0}, {"witnesses", 13, 0}, {"path tokens", 13, 0},
		{"bits", 14, 0}, {"bits", 14, 0}, {"bits", 14, 0}, {"least bits", -11, 0},
	};
	struct table t = TABLE(columns);
	size_t rows = table_rows(TOP, n);

	t.to = to;
	fputc('\n', to);
	table_head(&t);
	for (size_t i = 0; i < rows; i++) {
		const uint64_t number[] = {p[i].branches, p[i].outcomes, p[i].witnesses, p[i].tokens, p[i].outcome_bits,
			p[i].witness_bits, p[i].token_bits};

		table_text(&t, image_readable(p[i].writes->proc->name));
		for (size_t k = 0; k < sizeof number / sizeof *number; k++)
			table_number(&t, number[k]);
		table_text(&t, contender[fewest_bits(&p[i])]);
		table_end(&t);
	}
	table_more(&t, rows, n, "functions");
}

static void
print_winners(FILE *to, const char *what, const struct winners *w, uint64_t branches)
{
	fprintf(to, "%s:", what);
	for (int i = 0; i < 3; i++)
		fprintf(to, "%s %s %" PRIu64 " functions (%.1f %% of branches)", i ? "," : "", contender[i], w->procs[i],
		        branches ? 100.0 * (double)w->branches[i] / (double)branches : 0);
	fputc('\n', to);
}

static void
print_text(FILE *to, struct encodings *e)
{
	uint64_t branches = encodings_branches(e);
	size_t n;
	const struct encoded_proc *p = encodings_procs(e, &n);
	struct winners bits = count_winners(p, n, fewest_bits), writes = count_winners(p, n, fewest_writes);

	fprintf(to, "conditional branches executed: %" PRIu64 "\n\n", branches);
	print_sums(to, encodings_sum(e), branches);
	print_procs(to, p, n);
	fputc('\n', to);
	print_winners(to, "fewest bits", &bits, branches);
	print_winners(to, "fewest writes", &writes, branches);
}

/* ---- JSON ---- */

static json_t *
sum_json(const struct encoding_sum *s)
{
	json_t *j = json_object();

	js_set(j, "writes", js_number(s->writes, true));
	js_set(j, "bits", js_number(s->bits, true));
	js_set(j, "bytes", js_number(s->bytes, true));
	js_set(j, "compressed", js_number(s->compressed, true));
	return j;
}

static json_t *
pair_json(uint64_t writes, uint64_t bits)
{
	json_t *j = json_object();

	js_set(j, "writes", js_number(writes, true));
	js_set(j, "bits", js_number(bits, true));
	return j;
}

static json_t *
proc_json(const struct encoded_proc *p)
{
	json_t *j = json_object();

	js_set_function(j, "name", p->writes->proc->name);
	js_set(j, "branches", js_number(p->branches, true));
	js_set(j, "branch_bits", pair_json(p->outcomes, p->outcome_bits));
	js_set(j, "witness_bits", pair_json(p->witnesses, p->witness_bits));
	js_set(j, "tokens", pair_json(p->tokens, p->token_bits));
	return j;
}

static void
print_json(FILE *to, struct encodings *e)
{
	json_t *o = js_document("chord trace --encodings"), *all = json_object(), *functions = json_array();
	const struct encoding_sum *sum = encodings_sum(e);
	size_t n;
	const struct encoded_proc *p = encodings_procs(e, &n);

	for (int i = 0; i < ENCODINGS; i++)
		js_set(all, encoding_key[i], sum_json(&sum[i]));
	for (size_t i = 0; i < n; i++)
		js_append(functions, proc_json(&p[i]));
	js_set(o, "branches", js_number(encodings_branches(e), true));
	js_set(o, "encodings", all);
	js_set(o, "functions", functions);
	js_print(o, to);
}

/* ---- all of it ---- */

static bool
add_process(struct encodings *e, struct trace_out *o)
{
	const struct traced *t = o->process;
	const char *name = t->trace, *why = trace_short(o->run->pool, t->file);
	bool ok = !why;

	if (why)
		say_error(name, "%s: what is before that is counted", why);
	encodings_next_process(e);
	for (size_t i = 0; i < t->file->stream.n; i++) {
		why = encodings_add(e, t->file, t->code, i);
		if (why)
			say_error(name, "thread %zu: %s: the rest is counted", i + 1, why);
		ok &= !why;
	}
	return ok;
}

int
trace_encodings(struct trace_args *a, struct run *r, struct traced_list *list, FILE *to)
{
	struct trace_out o = {.args = a, .run = r, .to = to};
	struct encodings *e = encodings_new(place_names, &o);
	int status = 0;

	for (size_t i = 0; i < list->n; i++) {
		o.process = &list->at[i];
		if (!add_process(e, &o))
			status = EXIT_NO;
	}
	if (a->form == TRACE_JSON)
		print_json(to, e);
	else
		print_text(to, e);
	encodings_free(e);
	return status;
}
