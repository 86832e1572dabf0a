/* SPDX-License-Identifier: MIT */
/* Traces of bits. What an activation does between two writes is a word of outcomes (src/graph/outcomes.c), which is kept where a
 * path register is. Paths are cut as if they were written themselves, but where an edge is cut only to break a loop, the word is
 * written only when it is full. */
#include "weave/internal.h"

#include "format/trace.h"

/* The number to add to a slot with a word after a shift by `bits`, so that the word ends with `code`. */
static int64_t
added(uint8_t bits, uint32_t code)
{
	return ((int64_t)code << CHORD_WORD_SHIFT) - CHORD_MARK_NONE * (((int64_t)1 << bits) - 1);
}

static struct path_act
code_of(const struct outcomes *o, uint32_t e)
{
	static const uint8_t record[] = {
		[OUTCOMES_NO_WRITE] = PATH_NO_RECORD, [OUTCOMES_WRITE_PATH] = PATH_RECORD_KNOWN,
		[OUTCOMES_WRITE_WORD] = PATH_RECORD_WORD, [OUTCOMES_WRITE_FULL] = PATH_RECORD_FULL,
	};
	struct outcomes_act a = outcomes_act(o, e);
	struct path_act code = {.record = record[a.write], .sum = a.sum};

	if (a.write == OUTCOMES_WRITE_WORD) {
		code.shift = a.bits;
		code.more = added(a.bits, a.code);
	}
	if (a.next == OUTCOMES_SET) {
		code.next = PATH_SET;
		code.n = CHORD_WORD(a.word);
	} else if (a.next == OUTCOMES_SHIFT) {
		code.next = PATH_ADD;
		code.shift = a.bits;
		code.n = added(a.bits, a.code);
		code.more = a.write ? CHORD_WORD(a.word) : 0;
	}
	return code;
}

/* Is there a place for the code of an edge? */
static bool
has_place(const struct woven *w, uint32_t e, const struct path_act *a)
{
	const struct proc_text *p = w->proc;

	if (!a->record && !a->next)
		return true;
	if (p->arc_text.at[e].twice && a->record && w->early[e].where == SITE_NONE)
		return false;
	return w->edge[e].where != SITE_NONE || (p->arc_text.at[e].twice && !a->next);
}

/* Says where the word is known, in the form that assign.c and the map need. */
static void
set_known(const struct woven *w, const struct outcomes *o)
{
	struct probes *r = w->paths->paths->probes;

	for (uint32_t v = 0; v < w->proc->graph->nvert; v++) {
		r->known[v] = o->known[v] || v == w->proc->exit;
		r->value[v] = r->query[v] = r->start[v] = 0;
	}
}

uint32_t
bits_full(const struct woven *w)
{
	uint64_t least = (uint64_t)2 << w->paths->outcomes->full << CHORD_WORD_SHIFT;

	return least > UINT32_MAX ? 0 : (uint32_t)least;
}

bool
place_bits(const struct unit *u, struct woven *w, const bool *hard)
{
	const struct graph *g = w->proc->graph;
	const struct dag *d = w->paths->paths->dag;
	struct path_act *act = pool_array(u->pool, g->nedge, sizeof *act);
	bool *soft = pool_array(u->pool, g->nedge, sizeof *soft);
	struct outcomes *o;

	for (uint32_t e = 0; e < g->nedge; e++)
		soft[e] = d->cut[e] && !hard[e];
	o = outcomes_new(d, soft, w->paths->paths->val);
	if (!o)
		return false;
	for (uint32_t e = 0; e < w->proc->arcs.n; e++) {
		if (!witness_is_real(g, e) || leaves_unseen(w->proc, e))
			continue;
		act[e] = code_of(o, e);
		if (!has_place(w, e, &act[e]))
			return false;
	}
	w->paths->act = act;
	w->paths->outcomes = o;
	set_known(w, o);
	return true;
}
