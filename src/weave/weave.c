/* SPDX-License-Identifier: MIT */
/* The pipeline, from the compiler's text to woven text. */
#include "weave/measure.h"

#include "asm/dest.h"

#include <stdlib.h>
#include <string.h>

/* Sections of counters must have one name, and for each new one the assembler walks all of them. So in a text with more groups the
 * counters of the other groups are together, and stay even if the linker drops the procedure. */
enum { GROUPS_MOST = 4096 };

struct job {
	const struct weave_options *o;
	struct text text;
	struct buf labelled, object_bytes;
	struct object *object;
	struct unit unit;
	struct woven *woven;      /* by procedure */
	struct plan plan;
	uint32_t groups;          /* procedures whose counters are in groups of their own */
	uint32_t anchors;         /* sections of code that have sections of the map */
	struct edits edits;
	struct lengths *lengths;
	uint32_t changed;         /* procedures that the weights know only with another graph */
	bool *mended;             /* by index in o->bad_line: the line was rejected for a jump that now reaches further */
	struct weave_stats stats;
	const char *why;
};

/* Every pass fills what its comment says, and needs what the ones before it filled. */

/* text: statements */
static enum weave_result
pass_text(struct job *j, const char *at, size_t n, const char *file)
{
	if (!text_read(&j->text, j->unit.pool, j->o->machine->text, at, n, file, &j->why))
		return WEAVE_FAILED;
	return j->text.code ? WEAVE_DONE : WEAVE_NOTHING;
}

static bool
dumps(const struct job *j, const char *pass)
{
	return j->o->dump && (!j->o->dump_pass || !strcmp(j->o->dump_pass, pass));
}

/* Does it describe restartable sequences to the kernel? */
static bool
has_restartable(const struct object *o)
{
	for (uint32_t i = 1; i < o->nsection; i++)
		if (strstr(o->sections[i].name, "rseq"))
			return true;
	return false;
}

/* assemble: the object that the text makes, with a place for every statement */
static enum weave_result
pass_assemble(struct job *j)
{
	if (!label_text(&j->text, &j->labelled)) {
		j->why = "it has labels that begin with " LABEL_PREFIX;
		return WEAVE_FAILED;
	}
	if (dumps(j, "labels") && j->o->dump_pass)
		fwrite(j->labelled.at, 1, j->labelled.n, j->o->dump);
	if (!j->o->assemble(j->o->ctx, &j->labelled, &j->object_bytes))
		return WEAVE_REJECTED;
	j->unit.object = j->object = object_read(j->unit.pool, j->object_bytes.at, j->object_bytes.n, &j->why);
	if (j->object && j->object->machine != j->o->machine) {
		j->why = pool_printf(j->unit.pool, "the assembler makes code for %s", j->object->machine->object->what);
		return WEAVE_FAILED;
	}
	if (!j->object)
		return WEAVE_FAILED;
	j->unit.machine = j->o->machine;
	j->unit.reserved = j->o->reserved;
	j->unit.restartable = has_restartable(j->unit.object);
	j->unit.calls_cut = measures_with(j->o->measures, CHORD_IN_ORDER);
	j->unit.text = &j->text;
	j->unit.place = label_places(&j->text, j->object, j->unit.pool);
	text_doubt_uses(&j->text, j->unit.machine, j->object, j->unit.place);
	j->unit.cfi = cfi_read(&j->text, j->unit.machine->unwind, j->unit.pool);
	return WEAVE_DONE;
}

#define REJECTED "the assembler does not take it with counters in it"

static bool
is_bad_line(const struct job *j, uint32_t lo, uint32_t hi)
{
	for (size_t i = 0; i < j->o->nbad_line; i++)
		if (j->o->bad_line[i] >= lo && j->o->bad_line[i] <= hi && !j->mended[i])
			return true;
	return false;
}

/* If the line was rejected once, it is not bad, because something else is woven now. */
static bool
mend_line(struct job *j, uint32_t line)
{
	size_t n = 0, at = 0;

	for (size_t i = 0; i < j->o->nbad_line; i++)
		if (j->o->bad_line[i] == line) {
			at = i;
			n++;
		}
	if (n == 1)
		j->mended[at] = true;
	return n == 1;
}

/* Jumps that have only a short form, and lead too far with counters in between. */
static void
mend_near_jumps(struct job *j)
{
	j->mended = pool_array(j->unit.pool, j->o->nbad_line + 1, sizeof *j->mended);
	for (uint32_t s = 0; s < j->unit.ncode && j->o->nbad_line; s++)
		for (size_t i = 0; j->unit.code[s] && i < j->unit.code[s]->insns.n; i++) {
			struct insn *in = &j->unit.code[s]->insns.at[i];

			uint32_t jump = in->attr & INSN_NEAR ? jump_stmt(&j->unit, in) : UINT32_MAX;

			if (jump != UINT32_MAX && mend_line(j, j->text.stmts.at[jump].line))
				in->attr |= INSN_TOO_FAR;
		}
}

/* Does the part have a system call around which the runtime cannot be called? It may make a thread or process. */
static bool
has_other_trap(const struct unit *u, const struct part *t)
{
	const struct object *o = u->object;
	bool other;

	for (uint32_t i = t->first; i < t->last; i++) {
		const struct insn *in = &t->code->insns.at[i];

		if (in->cls == CHORD_INSN_SYSCALL &&
		    u->machine->trap(o->sections[t->code->section].data + in->off, in->len, &other) && other)
			return true;
	}
	return false;
}

/* Refuses the procedures that have code on such a line. Their statements may stand anywhere: subsections are put together. */
static void
refuse_bad_lines(struct job *j)
{
	uint32_t proc, part;

	for (size_t i = 0; i < j->text.stmts.n && j->o->nbad_line; i++) {
		const struct place *at = &j->unit.place[i];

		if (is_bad_line(j, j->text.stmts.at[i].line, j->text.stmts.at[i].line) &&
		    at->section && unit_find(&j->unit, at->section, at->off, &proc, &part) && !j->unit.procs.at[proc].reason)
			j->unit.procs.at[proc].reason = REJECTED;
	}
}

#define COUNTS_CODE "a number in an instruction counts bytes of code"

/* refuse: procedures whose woven text the assembler has rejected before, or has other numbers in it, and what the runtime cannot
 * follow */
static void
pass_refuse(struct job *j)
{
	mend_near_jumps(j);
	for (size_t i = 0; i < j->unit.procs.n; i++) {
		struct proc_text *p = &j->unit.procs.at[i];

		for (size_t k = 0; k < p->parts.n && !p->reason; k++) {
			const struct part *t = &p->parts.at[k];

			if (has_other_trap(&j->unit, t))
				p->reason = "a system call as 32-bit programs make it (int $0x80, sysenter)";
			if (j->o->nbad_line && t->first_stmt != UINT32_MAX &&
			    is_bad_line(j, j->text.stmts.at[t->first_stmt].line, j->text.stmts.at[t->last_stmt].line))
				p->reason = REJECTED;
		}
		if (j->lengths->proc && j->lengths->proc[i] && !p->reason)
			p->reason = COUNTS_CODE;
	}
	refuse_bad_lines(j);
}

/* For each new section the assembler walks all sections of that name with different links. So map sections of one code section
 * name the same symbol, and texts with many code sections use several names. */
static void
set_anchor(struct job *j, struct woven *w, uint32_t *by_section)
{
	const struct part *t = &w->proc->parts.at[0];
	uint32_t *a = &by_section[t->code->section];

	if (*a) {
		w->anchor = *a - 1;
		w->bucket = j->woven[w->anchor].bucket;
		return;
	}
	w->anchor = w->number;
	w->bucket = j->anchors++ / CHORD_MAP_BUCKET;
	if (t->first_stmt != UINT32_MAX)
		*a = w->number + 1;
}

/* How often its edges ran before, if that is known. */
static void
find_weights(struct job *j, struct woven *w)
{
	const struct selection_proc *other = NULL;

	if (j->o->weights)
		w->before = place_find(&j->unit, w, j->o->weights, &other);
	j->changed += other != NULL;
	if (w->before && w->before->nran && w->before->nran != w->proc->arcs.n) {
		error_at(j->o->weights->file, w->before->line, "%s: it has another number of edges", w->proc->name);
		j->plan.wrong = true;
	}
}

static void
warn_of_changes(const struct job *j)
{
	if (j->changed && j->o->warnings)
		buf_printf(j->o->warnings, "%s: %u %s not those of %s: their weights are guessed\n",
		           *j->text.source ? j->text.source : j->text.file, j->changed,
		           j->changed == 1 ? "procedure is" : "procedures are", j->o->weights->file);
}

#define LOST_STACK "its stack pointer may point to data where something has to be counted"
#define LOST_JUMP  LOST_STACK "; counts of what its jumps abandon, or come to behind a call, are not exact"

/* Why a procedure is refused that moves its stack pointer. The reader cannot count jumps that are not measured. */
static const char *
stray_reason(const struct proc_text *p)
{
	for (uint32_t e = 0; e < p->arcs.n; e++)
		if (p->arcs.at[e].kind == CHORD_EDGE_LOST)
			return LOST_JUMP;
	return LOST_STACK;
}

/* Does the measure need a stack wherever something is measured? */
static bool
needs_stack(const struct weave_options *o)
{
	bool any = measures_with(o->measures, CHORD_STACK);

	for (uint32_t e = 0; e < o->events.n; e++)
		any |= o->events.at[e].timed;
	return any;
}

/* sites, counters: where counters go, and which are needed */
static void
pass_place(struct job *j)
{
	uint32_t *anchor = pool_array(j->unit.pool, j->unit.ncode + 1u, sizeof *anchor);

	j->woven = pool_array(j->unit.pool, j->unit.procs.n + 1, sizeof *j->woven);
	j->plan = (struct plan){.o = j->o, .u = &j->unit, .woven = j->woven};
	/* This text begins with a number of its own, so that other texts begin with others. */
	j->plan.way = j->unit.procs.n ? (uint32_t)str_hash(str_of(j->unit.procs.at[0].name)) : 0;
	for (uint32_t i = 0; i < j->unit.procs.n; i++) {
		struct proc_text *p = &j->unit.procs.at[i];
		struct woven *w = &j->woven[i];

		w->proc = p;
		w->number = i;
		w->align = sizeof(uint64_t);
		set_anchor(j, w, anchor);
		w->grouped = j->unit.object->sections[p->parts.at[0].code->section].comdat && j->groups < GROUPS_MOST;
		j->groups += w->grouped;
		if (p->reason)
			continue;
		if (p->strays && needs_stack(j->o)) {
			p->reason = stray_reason(p);
			continue;
		}
		place_sites(&j->unit, w);
		find_weights(j, w);
		measures_plan(&j->plan, w);
	}
	measures_plan_text(&j->plan);
	for (uint32_t i = 0; i < j->unit.procs.n; i++)
		if (j->unit.procs.at[i].reason && j->unit.procs.at[i].strays)
			j->unit.procs.at[i].reason = stray_reason(&j->unit.procs.at[i]);
	warn_of_changes(j);
}

/* bases: by which registers counters are found */
static void
pass_bases(struct job *j)
{
	for (uint32_t i = 0; i < j->unit.procs.n; i++)
		if (!j->unit.procs.at[i].reason)
			place_bases(&j->unit, &j->woven[i], j->o);
}

/* emit: the edits that put the counters in place */
static void
pass_emit(struct job *j)
{
	for (uint32_t i = 0; i < j->unit.procs.n; i++) {
		struct proc_text *p = &j->unit.procs.at[i];

		j->stats.procs++;
		if (p->reason) {
			j->stats.refused++;
			emit_refused(&j->unit, &j->woven[i], &j->edits);
		} else {
			j->stats.counters += j->woven[i].ncounter - j->woven[i].spare;
			emit_proc(&j->unit, &j->woven[i], &j->edits, j->o);
		}
	}
}

/* queries: answers to chord_events() in the text */
static void
pass_queries(struct job *j)
{
	emit_queries(&j->unit, j->woven, j->o, &j->edits);
}

/* Would macros of the text's take the place of what is woven in? */
static bool
is_captured(struct job *j, const struct buf *tail)
{
	struct str name;
	bool is = text_defines(&j->text, tail->at, tail->n, &name) ||
	          (j->o->runtime && text_defines(&j->text, j->o->runtime, j->o->runtime_size, &name));

	for (size_t i = 0; i < j->edits.list.n && !is; i++) {
		const struct edit *e = &j->edits.list.at[i];

		is = e->rank != RANK_OPERAND && text_defines(&j->text, j->edits.text.at + e->text, e->len, &name);
	}
	if (is)
		j->why = pool_printf(j->unit.pool, "it has a macro named %.*s, as what Chord puts into it", (int)name.n, name.at);
	return is;
}

/* The text with the edits, and what follows it. */
static void
put_out(struct job *j, const struct buf *tail, bool runtime, struct buf *out)
{
	edit_apply(&j->edits, &j->text, out);
	if (out->n && out->at[out->n - 1] != '\n')
		buf_char(out, '\n');
	if (runtime) {
		buf_str(out, j->o->machine->text->own);
		buf_add(out, tail->at, tail->n);
		emit_own(out, j->unit.object, j->o->runtime, j->o->runtime_size);
	}
}

/* Looks for lengths of code that woven text would change. If the assembler does not take that text, it will say so of the output,
 * too. */
static void
find_lengths(struct job *j, const struct buf *tail, bool runtime)
{
	struct buf text = {0}, bytes = {0};
	const char *why;
	struct object *o;

	if (!j->o->assemble_woven || !lengths_stated(&j->unit))
		return;
	if (!j->lengths->proc)
		j->lengths->proc = xcalloc(j->unit.procs.n + 1, sizeof *j->lengths->proc);
	lengths_label(&j->unit, &j->edits);
	put_out(j, tail, runtime, &text);
	if (j->o->assemble_woven(j->o->ctx, &text, &bytes) && (o = object_read(j->unit.pool, bytes.at, bytes.n, &why))) {
		lengths_find(j->lengths, &j->unit, o);
		object_free(o);
	}
	buf_free(&text);
	buf_free(&bytes);
}

static enum weave_result
pass_output(struct job *j, struct buf *out)
{
	bool runtime = j->o->runtime && (j->stats.procs > j->stats.refused || has_resolvers(&j->unit));
	struct buf tail = {0};

	if (runtime)
		measures_tail(&tail, &j->unit, j->o);
	if (runtime)
		emit_watched(&j->text, measures_with(j->o->measures, CHORD_IN_ORDER), &j->edits, &tail);
	if (runtime)
		emit_resolvers(&j->unit, &j->edits);
	if (is_captured(j, &tail)) {
		buf_free(&tail);
		return WEAVE_FAILED;
	}
	put_out(j, &tail, runtime, out);
	find_lengths(j, &tail, runtime);
	buf_free(&tail);
	return WEAVE_DONE;
}

static void
each_proc(struct job *j, void (*f)(struct unit *, struct proc_text *))
{
	for (size_t i = 0; i < j->unit.procs.n; i++)
		if (!j->unit.procs.at[i].reason)
			f(&j->unit, &j->unit.procs.at[i]);
}

static void
dump_procs(struct job *j, const char *pass)
{
	for (size_t i = 0; dumps(j, pass) && i < j->unit.procs.n; i++)
		show_proc(&j->unit, &j->unit.procs.at[i], j->o->dump);
}

static void
dump_woven(struct job *j, const char *pass)
{
	for (size_t i = 0; dumps(j, pass) && i < j->unit.procs.n; i++)
		show_woven(&j->unit, &j->woven[i], j->o->dump);
}

static enum weave_result
run(struct job *j, const char *at, size_t n, const char *file, struct buf *out)
{
	enum weave_result r;

	if ((r = pass_text(j, at, n, file)) != WEAVE_DONE)
		return r;
	if ((r = pass_assemble(j)) != WEAVE_DONE)
		return r;
	code_read(&j->unit);
	proc_find(&j->unit);
	leader_find(&j->unit);
	hidden_find(&j->unit);
	prologues_keep(&j->unit);
	if (dumps(j, "code"))
		show_unit(&j->unit, j->o->dump);
	pass_refuse(j);
	each_proc(j, cfg_build);
	distances_keep(&j->unit);
	each_proc(j, computed_find);
	dump_procs(j, "graph");
	live_prepare(&j->unit);
	live_find(&j->unit);
	stack_find(&j->unit);
	pass_place(j);
	if (j->plan.wrong)
		return WEAVE_WRONG;
	pass_bases(j);
	dump_woven(j, "place");
	pass_queries(j);
	pass_emit(j);
	return pass_output(j, out);
}

static void
release(struct job *j)
{
	for (size_t i = 0; j->woven && i < j->unit.procs.n; i++) {
		free(j->woven[i].segments.at);
		free(j->woven[i].call_free.at);
		free(j->woven[i].loads.at);
		free(j->woven[i].cells_of.at);
		free(j->woven[i].promotions.at);
		free(j->woven[i].call_sites.at);
		free(j->woven[i].labelled.at);
		free(j->woven[i].entered.at);
		free(j->woven[i].data.at);
	}
	unit_free(&j->unit);
	object_free(j->object);
	text_free(&j->text);
	buf_free(&j->labelled);
	buf_free(&j->object_bytes);
	edit_free(&j->edits);
	pool_free(j->unit.pool);
}

/* Weaves once. */
static enum weave_result
weave_once(const char *at, size_t n, const char *file, const struct weave_options *o, struct lengths *l, struct buf *out,
           struct weave_stats *stats, char **why)
{
	struct job j = {.o = o, .unit.pool = pool_new(), .lengths = l};
	enum weave_result r = run(&j, at, n, file, out);

	*stats = j.stats;
	*why = j.why ? xstrdup(j.why) : NULL;
	release(&j);
	return r;
}

enum weave_result
weave(const char *at, size_t n, const char *file, const struct weave_options *o, struct buf *out,
      struct weave_stats *stats, char **why)
{
	struct weave_options once = *o;
	struct lengths l = {0};
	size_t begin = out->n, warned = o->warnings ? o->warnings->n : 0;
	enum weave_result r;

	/* What is shown is the last weaving, and which one that is shows only afterwards. */
	once.dump = o->assemble_woven ? NULL : o->dump;
	r = weave_once(at, n, file, &once, &l, out, stats, why);
	while (l.again || once.dump != o->dump) {
		if (!l.again) {
			once.dump = o->dump;
			once.assemble_woven = NULL;
		}
		l.again = false;
		free(*why);
		out->n = begin;
		if (o->warnings)
			o->warnings->n = warned;
		r = weave_once(at, n, file, &once, &l, out, stats, why);
	}
	free(l.proc);
	return r;
}
