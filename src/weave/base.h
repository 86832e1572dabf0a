/* SPDX-License-Identifier: MIT */
/* Shared by the files that choose registers for counters: for their addresses (base.c), and for counts of loops (promote.c). */
#ifndef CHORD_BASE_REGISTERS_H
#define CHORD_BASE_REGISTERS_H

#include "weave/internal.h"

/* A site that adds to counters of the kind that is placed. */
struct use {
	struct site *site;
	uint32_t edge;           /* GRAPH_NONE: it is in a block */
	double price;            /* what a base saves there */
	bool waits;              /* in a loop where the addition would wait for the one before, though a register has the address */
	bool waits_alone;        /* in a loop where a PC-relative addition would */
};

struct bases {
	const struct unit *u;
	struct woven *w;
	const struct graph *g;
	const struct loops *loops;
	struct pool *pool;       /* for this procedure only */
	uint8_t what;            /* enum base_of */
	const struct number_box *box;
	uint16_t *avail;         /* by vertex: registers that are dead all through it */
	uint16_t *idle;          /* by vertex: registers that it leaves alone, so they can be lent */
	bool *still;             /* by vertex: words below the stack pointer keep their values all through it */
	struct site *place;      /* by edge: its place in a block, if is_placed[]: see base_load_site() */
	bool *is_placed;
	bool lending;            /* registers are looked for that can be lent */
	uint8_t nlent;           /* words below the stack pointer that are taken */
	uint8_t *held[BASES_OF]; /* by vertex: the register that has the address there, plus 1 */
	double *runs;            /* by block */
	struct cycles *cycles;
	VEC(struct use) uses;
	uint16_t *counting;      /* by vertex: registers that count there, or keep where others began to (promote.c) */
	uint16_t used;           /* registers that promotions use somewhere */
	uint8_t words;           /* words below the stack pointer that they use */
	uint16_t never;          /* registers that cannot be a base */
};

/* base_regs.c: finds loops and the registers that are dead or idle. Everything is b->pool's. False: there is no loop. */
bool bases_prepare(struct bases *b);

/* base_site.c: the counter, as in struct site, to which alone the site adds 1; 0: there is none. If its path is marked, that holds
 * for each round but the first. */
uint32_t base_counter(const struct site *s);
/* The site on the edge where a register can be loaded that is dead after the edge, or can be lent. base: the register,
 * plus 1; 0: a word below the stack pointer is stored to or loaded. SITE_NONE: there is none. */
struct site base_load_site(const struct bases *b, uint32_t e, uint8_t base);
/* The price of code on edge e, if a site was found there; otherwise GRAPH_NEVER. insns: the code's price without jumps. */
double base_price_at(const struct bases *b, uint32_t e, const struct site *s, double insns);
/* The site that has this code: that of the edge if the code stands there, otherwise a new one, which is a copy of *s without what
 * that one does. last: the code comes behind all other code at its place. The result is valid until the next call. */
struct site *base_put(struct bases *b, uint32_t e, const struct site *s, bool last);

/* base_regs.c: can control come to a block of the procedure because of an exception or a nonlocal jump? */
bool base_has_landing_pads(const struct bases *b);
/* Keeps registers (a set) from being used from here on. */
void base_exclude(struct bases *b, uint16_t never);
/* base.c: are both vertices in one short loop, where an addition would wait for the one before, though a register has the
 * address? */
bool base_waits_still(const struct bases *b, uint32_t v, uint32_t to);

/* base.c: finds the sites that would use a base of that kind. */
void base_find_uses(struct bases *b, uint8_t what);
/* borrow.c: lets additions that still wait for each other borrow a register. */
void place_borrows(struct bases *b);

/* promote.c: lets registers count in loops, which are then no longer dead or idle anywhere in the procedure. */
void place_promotions(struct bases *b, const struct weave_options *o);
/* Removes them again. */
void forget_promotions(struct woven *w);
/* Does the instruction, number i of the block's part, only add a number to the register (its number), or leave it alone? *n: the
 * number. */
bool promote_moves(const struct unit *u, const struct woven *w, uint32_t block, uint32_t i, uint8_t reg, int64_t *n);
/* Keeps other woven-in code from using these registers where they count. */
void mark_promotions(const struct bases *b);
/* Gives them their words beside the counters. */
void number_promotions(struct woven *w);

#endif
