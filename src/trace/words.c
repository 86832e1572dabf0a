/* SPDX-License-Identifier: MIT */
/* Words of outcomes (format/trace.h) in a stream. Each word, and the token after it, are replaced by the tokens of the word's
 * paths. A word belongs to the next token of its context. Words and tokens of handlers come nested in between, so a token belongs
 * to the last word that has found none. */
#include "trace/internal.h"

#include "graph/graph.h"

#include <stdlib.h>
#include <string.h>

struct word {
	uint32_t word;
	bool doubtful;           /* a jump was made after it: its context may be gone */
};

struct words {
	struct replay_code *code;
	size_t listed;           /* modules */
	VEC(struct word) waiting;
	bool beside;             /* the last slot was a word */
	VEC(uint32_t) out;
	struct outcomes_sums sums;
};

struct words *
words_new(struct replay_code *code)
{
	struct words *w = xcalloc(1, sizeof *w);

	w->code = code;
	return w;
}

void
words_free(struct words *w)
{
	if (!w)
		return;
	free(w->waiting.at);
	free(w->out.at);
	free(w->sums.at);
	free(w);
}

struct words *
words_copy(const struct words *from)
{
	struct words *w = words_new(from->code);

	w->listed = from->listed;
	w->beside = from->beside;
	VEC_JOIN(w->waiting, from->waiting);
	return w;
}

bool
words_wait(const struct words *w)
{
	return w->waiting.n;
}

void
words_begin(struct words *w, size_t listed)
{
	w->waiting.n = 0;
	w->beside = false;
	w->listed = listed;
}

/* Puts the tokens of a word's paths. The word was written before the token of p. */
static void
put_paths(struct words *w, uint32_t token, const struct replay_path *p)
{
	struct word word = w->waiting.n ? w->waiting.at[--w->waiting.n] : (struct word){0};

	if (word.doubtful || !outcomes_read(p->outcomes, word.word, p->arc[p->narc - 1], &w->sums)) {
		VEC_PUSH(w->out, TRACE_NOT_KNOWN);
		return;
	}
	if (w->sums.n > 1)
		VEC_PUSH(w->out, TRACE_SPREAD);
	for (size_t i = 0; i < w->sums.n; i++)
		VEC_PUSH(w->out, token + 8 * (uint32_t)(w->sums.at[i] - p->sum));
}

static void
take_token(struct words *w, uint32_t token)
{
	bool damaged;
	const struct replay_path *p = replay_path_of(w->code, token, w->listed, &damaged);

	if (p && p->outcomes) {
		put_paths(w, token, p);
		return;
	}
	/* The code of the token is not at hand. */
	if (!p && w->beside)
		w->waiting.n--;
	VEC_PUSH(w->out, token);
}

static void
take_mark(struct words *w, uint32_t slot)
{
	switch (CHORD_SLOT_KIND(slot)) {
	case CHORD_MARK_JUMP:
		for (size_t i = 0; i < w->waiting.n; i++)
			w->waiting.at[i].doubtful = true;
		break;
	case CHORD_MARK_THREAD: case CHORD_MARK_CHILD:
		w->waiting.n = 0;
		break;
	case CHORD_MARK_MODULES:
		w->listed = CHORD_SLOT_PAYLOAD(slot);
		break;
	default:
		break;
	}
	VEC_PUSH(w->out, slot);
}

static void
take_slot(struct words *w, uint32_t slot)
{
	bool word = CHORD_IS_WORD(slot);

	if (word)
		VEC_PUSH(w->waiting, (struct word){.word = CHORD_WORD_OF(slot)});
	else if (CHORD_SLOT_KIND(slot))
		take_mark(w, slot);
	else if (slot)
		take_token(w, slot);
	else
		VEC_PUSH(w->out, slot);
	w->beside = word;
}

const uint32_t *
words_expand(struct words *w, const uint32_t *slot, size_t *n)
{
	w->out.n = 0;
	for (size_t i = 0; i < *n; i++)
		take_slot(w, slot[i]);
	if (!w->out.n)
		VEC_PUSH(w->out, CHORD_MARK_NONE);
	*n = w->out.n;
	return w->out.at;
}
