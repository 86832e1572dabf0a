/* SPDX-License-Identifier: MIT */
/* Walks a stack from frame to frame. The rules of a return address are cached for all threads, because programs that jump and throw
 * a lot do so from few places.
 *
 * A writer takes a cache entry by making its sequence number odd. If another writer has the entry, nothing is written: nobody
 * waits, not even in a signal handler. Entries hold for one object, which is identified by its build id. So no entry is used for
 * other code that was loaded later to the same address. */

/* ---- objects ---- */

struct chord_rt_found {
	unsigned long long flags;
	void *start, *end, *link_map, *eh_frame;
	unsigned long long reserved[7];
};

typedef int chord_rt_find_fn(void *, struct chord_rt_found *);

struct chord_rt_place_of { struct chord_rt_scope *in; uint64_t pc; };

static int
chord_rt_object_of(struct dl_phdr_info *info, size_t size, void *arg)
{
	const struct chord_rt_place_of *of = arg;
	uint64_t at, low = ~0ull, high = 0;
	bool here = false;

	(void)size;
	of->in->hdr = NULL;
	for (uint32_t i = 0; i < info->phnum; i++) {
		at = info->addr + info->phdr[i].p_vaddr;
		if (info->phdr[i].p_type == PT_GNU_EH_FRAME)
			of->in->hdr = (const unsigned char *)at;
		if (info->phdr[i].p_type != PT_LOAD)
			continue;
		here |= of->pc >= at && of->pc < at + info->phdr[i].p_memsz;
		low = at < low ? at : low;
		high = at + info->phdr[i].p_memsz > high ? at + info->phdr[i].p_memsz : high;
	}
	if (!here)
		return 0;
	of->in->map = low & -(uint64_t)CHORD_RT_PAGE;
	of->in->map_end = high;
	return 1;
}

static bool
chord_rt_note_id_at(void *arg, uint32_t type, const char *name, size_t namesz, unsigned char *desc, size_t size)
{
	if (type != NT_GNU_BUILD_ID || namesz != 4 || !chord_rt_equal(name, "GNU", 4) || size < 16)
		return false;
	*(uint64_t *)arg = (uint64_t)desc;
	return true;
}

/* The address of an object's build id, if it is in the first page; else 0. */
static uint64_t
chord_rt_id_of(uint64_t start)
{
	const Elf64_Ehdr *e = (const Elf64_Ehdr *)start;
	struct chord_rt_object o = {.phdr = (const Elf64_Phdr *)(start + sizeof *e)};
	uint64_t at = 0;

	if (!chord_rt_readable(start) || !chord_rt_equal(e->e_ident, ELFMAG "\2\1", 6) || e->e_phoff != sizeof *e ||
	    e->e_phnum > (CHORD_RT_PAGE - sizeof *e) / sizeof *o.phdr)
		return 0;
	o.phnum = e->e_phnum;
	for (uint32_t i = o.phnum; i-- > 0;)
		if (o.phdr[i].p_type == PT_LOAD)
			o.bias = start - (o.phdr[i].p_vaddr & -(uint64_t)CHORD_RT_PAGE);
	chord_rt_find_note(&o, chord_rt_note_id_at, &at);
	return at - start <= CHORD_RT_PAGE - 16 ? at : 0;
}

/* Takes a cache entry in order to write it. */
static bool
chord_rt_claim(uint32_t *seq)
{
	uint32_t now = __atomic_load_n(seq, __ATOMIC_RELAXED);

	return !(now & 1) && __atomic_compare_exchange_n(seq, &now, now + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void
chord_rt_disclaim(uint32_t *seq)
{
	__atomic_fetch_add(seq, 1, __ATOMIC_RELEASE);
}

static bool
chord_rt_has_id(uint64_t at, uint64_t id0, uint64_t id1)
{
	uint64_t id[2];

	__builtin_memcpy(id, (const void *)at, sizeof id);
	return id[0] == id0 && id[1] == id1;
}

static __attribute__((noinline)) uint64_t
chord_rt_stamp_new(struct chord_rt_ctl *ctl, struct chord_rt_object_id *o, const struct chord_rt_scope *in)
{
	uint64_t at = chord_rt_id_of(in->map), stamp;

	if (!at || !chord_rt_claim(&o->seq))
		return 0;
	o->start = in->map;
	o->end = in->map_end;
	o->hdr = (uint64_t)in->hdr;
	o->at = at;
	__builtin_memcpy(o->id, (const void *)at, sizeof o->id);
	o->stamp = stamp = __atomic_add_fetch(&ctl->stamps, 1, __ATOMIC_RELAXED) + 1;
	chord_rt_disclaim(&o->seq);
	return stamp;
}

/* A number for the object of in->map; 0 if no build id tells it from other objects. */
static uint64_t
chord_rt_stamp(struct chord_rt_ctl *ctl, const struct chord_rt_scope *in)
{
	struct chord_rt_object_id *o = &ctl->object[(in->map >> 12) * 0x9e3779b97f4a7c15ull >> 58];
	uint32_t seq = __atomic_load_n(&o->seq, __ATOMIC_ACQUIRE);
	struct chord_rt_object_id now = *(volatile struct chord_rt_object_id *)o;

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	if (now.stamp && !(seq & 1) && seq == __atomic_load_n(&o->seq, __ATOMIC_RELAXED) && now.start == in->map &&
	    now.end == in->map_end && now.hdr == (uint64_t)in->hdr && chord_rt_has_id(now.at, now.id[0], now.id[1]))
		return now.stamp;
	return in->fast ? 0 : chord_rt_stamp_new(ctl, o, in);
}
_Static_assert(CHORD_RT_OBJECTS == 1 << (64 - 58), "");

static bool
chord_rt_map_of(struct chord_rt_scope *in, uint64_t pc)
{
	chord_rt_find_fn *find = (chord_rt_find_fn *)in->ctl->real[CHORD_RT_HOOK__dl_find_object];
	struct chord_rt_place_of of = {in, pc};
	struct chord_rt_found f;

	if (find) {
		if (find((void *)pc, &f) != 0)
			return false;
		in->map = (uint64_t)f.start;
		in->map_end = (uint64_t)f.end;
		in->hdr = f.eh_frame;
		return true;
	}
	return !in->fast && chord_rt_dl_iterate_phdr && chord_rt_dl_iterate_phdr(chord_rt_object_of, &of);
}

/* Finds the object that has the PC. */
static void
chord_rt_find_object(struct chord_rt_scope *in, uint64_t pc)
{
	struct chord_rt_ctl *ctl = in->ctl;

	if (pc - in->map < in->map_end - in->map)
		return;
	in->stamp = 0;
	if (pc - ctl->main < ctl->main_end - ctl->main) {
		in->map = ctl->main;
		in->map_end = ctl->main_end;
		in->hdr = (const unsigned char *)ctl->main_hdr;
		in->stamp = 1;
	} else if (chord_rt_map_of(in, pc)) {
		in->stamp = chord_rt_stamp(ctl, in);
	} else {
		in->map = in->map_end = 0;
		in->hdr = NULL;
	}
	if (in->stamp)
		in->stamp |= (uint64_t)__atomic_load_n(&ctl->epoch, __ATOMIC_RELAXED) << 32;
}

/* ---- cached rules ---- */

/* Functions in which walks spend most of their time. */
#define CHORD_RT_HOT __attribute__((optimize("O2")))
#define CHORD_RT_INLINE inline __attribute__((always_inline))

#define CHORD_RT_SILENT ((uint64_t *)1)

static struct chord_rt_known *
chord_rt_known_pair(struct chord_rt_ctl *ctl, uint64_t pc)
{
	return &ctl->known[(pc * 0x9e3779b97f4a7c15ull >> (64 - 11)) & ~1ull];
}
_Static_assert(CHORD_RT_KNOWN == 1 << 11, "");

static CHORD_RT_INLINE bool
chord_rt_recall_from(const struct chord_rt_scope *in, struct chord_rt_known *k, uint64_t pc, struct chord_rt_known *to)
{
	to->seq = __atomic_load_n(&k->seq, __ATOMIC_ACQUIRE);
	if (k->pc != pc || k->stamp != in->stamp || (to->seq & 1))
		return false;
	to->cfa = k->cfa;
	to->count = k->count;
	to->begin = k->begin;
	__builtin_memcpy(to->at, k->at, 8);
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return __atomic_load_n(&k->seq, __ATOMIC_RELAXED) == to->seq;
}

/* Copies a cache entry to *to and gives its address; NULL: there is none. */
static CHORD_RT_INLINE struct chord_rt_known *
chord_rt_recall(const struct chord_rt_scope *in, uint64_t pc, struct chord_rt_known *to)
{
	struct chord_rt_known *k = chord_rt_known_pair(in->ctl, pc);

	if (!in->stamp)
		return NULL;
	if (chord_rt_recall_from(in, k, pc, to))
		return k;
	return chord_rt_recall_from(in, k + 1, pc, to) ? k + 1 : NULL;
}

static const uint8_t chord_rt_saved[CHORD_RT_NSAVED] = CHORD_RT_SAVED;

/* Do the rules fit into a cache entry? Then *to gets them. Registers that calls may change are left out, because nothing further up
 * was computed from them. */
static bool
chord_rt_is_common(const struct chord_rt_rules *r, struct chord_rt_known *to)
{
	int64_t cfa = r->value[CHORD_RT_CFA], v;

	if (r->how[CHORD_RT_CFA] != CHORD_RT_AT || (r->reg != CHORD_RT_SP && r->reg != CHORD_RT_FP) || cfa != (int32_t)cfa ||
	    r->how[CHORD_RT_PC] != CHORD_RT_AT || r->value[CHORD_RT_PC] != -8 || r->how[CHORD_RT_SP] != CHORD_RT_SAME)
		return false;
	to->cfa = (int32_t)cfa;
	to->by_fp = r->reg == CHORD_RT_FP;
	to->deepest = 1;
	for (uint32_t i = 0; i < sizeof chord_rt_saved; i++) {
		v = r->value[chord_rt_saved[i]];
		to->at[i] = 0;
		if (r->how[chord_rt_saved[i]] == CHORD_RT_SAME)
			continue;
		if (r->how[chord_rt_saved[i]] != CHORD_RT_AT || v % 8 || v > -16 || v < -255 * 8)
			return false;
		to->at[i] = (uint8_t)(-v / 8);
		to->deepest = to->at[i] > to->deepest ? to->at[i] : to->deepest;
	}
	return true;
}

static void
chord_rt_keep(const struct chord_rt_walk *w, uint64_t pc, const struct chord_rt_known *rule)
{
	struct chord_rt_known *k = chord_rt_known_pair(w->in.ctl, pc);

	k += k[1].seq < k[0].seq;
	if (!w->in.stamp || w->once || !chord_rt_claim(&k->seq))
		return;
	k->cfa = rule->cfa;
	k->pc = pc;
	k->stamp = w->in.stamp;
	k->begin = rule->begin;
	k->count = rule->count;
	__builtin_memcpy(k->at, rule->at, 8);
	chord_rt_disclaim(&k->seq);
}

/* Two more facts about an address are cached, under keys that are not addresses: where the function begins that the address is in;
 * and that a frame which goes on at the address is the outermost one and ends just above the stack pointer. */
#define CHORD_RT_BEGIN_AT (1ull << 63)
#define CHORD_RT_BOTTOM_AT (1ull << 62)

static bool
chord_rt_recall_about(struct chord_rt_walk *w, uint64_t key, uint64_t *begin)
{
	struct chord_rt_known k;

	if (!chord_rt_recall(&w->in, key, &k))
		return false;
	*begin = k.begin;
	return true;
}

static void
chord_rt_keep_about(struct chord_rt_walk *w, uint64_t key, uint64_t begin)
{
	struct chord_rt_known k;

	k.cfa = 0;
	k.begin = begin;
	k.count = NULL;
	__builtin_memcpy(k.at, (const uint8_t [8]){0}, 8);
	chord_rt_keep(w, key, &k);
}

/* Does a function begin at the PC? */
static bool
chord_rt_begins(struct chord_rt_walk *w, uint64_t pc)
{
	uint64_t begin = 0;

	chord_rt_find_object(&w->in, pc);
	if (chord_rt_recall_about(w, pc | CHORD_RT_BEGIN_AT, &begin))
		return begin == pc;
	begin = chord_rt_find_cfi(w, pc) ? w->cfi.begin : 0;
	chord_rt_keep_about(w, pc | CHORD_RT_BEGIN_AT, begin);
	return begin == pc;
}

/* The counter of exits at the frame's PC has been found, and is cached. */
static void
chord_rt_keep_count(struct chord_rt_walk *w, uint64_t *count)
{
	uint32_t seq = w->rule.seq;

	if (!__atomic_compare_exchange_n(&w->from->seq, &seq, seq + 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return;
	w->from->count = count;
	chord_rt_disclaim(&w->from->seq);
}

/* ---- steps ---- */

enum chord_rt_step { CHORD_RT_FRAME, CHORD_RT_OUTERMOST, CHORD_RT_STUCK };

/* Finds the rules for the PC of the frame: in w->rule if they are cached, else in m. */
static __attribute__((noinline)) bool
chord_rt_find_rules(struct chord_rt_walk *w, struct chord_rt_machine *m)
{
	uint64_t pc = w->regs.r[CHORD_RT_PC] - !w->exact;

	chord_rt_find_object(&w->in, pc);
	w->from = w->exact ? NULL : chord_rt_recall(&w->in, pc, &w->rule);
	w->signal = false;
	w->begin = w->rule.begin;
	if (w->from)
		return true;
	if (!chord_rt_find_cfi(w, pc))
		return false;
	w->begin = w->cfi.begin;
	w->signal = w->cfi.signal;
	if (!chord_rt_rules_at(&w->cfi, m, pc))
		return false;
	if (!w->exact && !w->signal && chord_rt_is_common(m->state, &w->rule)) {
		w->rule.begin = w->begin;
		w->rule.count = NULL;
		chord_rt_keep(w, pc, &w->rule);
	}
	return true;
}

static CHORD_RT_INLINE enum chord_rt_step
chord_rt_look_quick(struct chord_rt_walk *w)
{
	uint64_t cfa = w->regs.r[w->rule.by_fp ? CHORD_RT_FP : CHORD_RT_SP] + (uint64_t)(int64_t)w->rule.cfa;
	uint64_t low = cfa - 8 * w->rule.deepest;

	w->cfa = cfa;
	if (cfa <= w->regs.r[CHORD_RT_SP])
		return CHORD_RT_STUCK;
	if ((low < w->in.low || cfa > w->in.high) && (!chord_rt_reach(&w->in, low) || !chord_rt_reach(&w->in, cfa - 1)))
		return CHORD_RT_STUCK;
	return ((uint64_t *)cfa)[-1] ? CHORD_RT_FRAME : CHORD_RT_OUTERMOST;
}

extern unsigned char chord_rt_process_back __attribute__((visibility("hidden"))); /* return address of clone's first function */

/* No rules are known for the frame. Is its return address the beginning of a function? makecontext leaves such an address below the
 * first frame. */
static enum chord_rt_step
chord_rt_look_unknown(struct chord_rt_walk *w)
{
	uint64_t pc = w->regs.r[CHORD_RT_PC];

	w->cfa = w->regs.r[CHORD_RT_SP] + 8;
	if (pc == (uint64_t)&chord_rt_process_back)
		return CHORD_RT_OUTERMOST;
	if (w->exact || !chord_rt_begins(w, pc))
		return CHORD_RT_STUCK;
	chord_rt_keep_about(w, pc | CHORD_RT_BOTTOM_AT, pc);
	return CHORD_RT_OUTERMOST;
}

/* Has chord_rt_look_unknown(), or an undefined return address, shown before that the frame is the outermost one? */
static bool
chord_rt_is_bottom(struct chord_rt_walk *w)
{
	uint64_t pc = w->regs.r[CHORD_RT_PC];

	if (w->exact)
		return false;
	chord_rt_find_object(&w->in, pc);
	if (!chord_rt_recall_about(w, pc | CHORD_RT_BOTTOM_AT, &w->begin))
		return false;
	w->cfa = w->regs.r[CHORD_RT_SP] + 8;
	w->signal = false;
	return true;
}

/* The word of a region that points to the registers of woven code that is in one of this module's routines (__chord_pointer and the
 * like). */
static const struct chord_rt_regs **
chord_rt_asking(const struct chord_rt_mod *m, const struct chord_rt_region *r)
{
	return (const struct chord_rt_regs **)(CHORD_RT_NEAR(m->desc->mine) + 8 + r->base);
}

/* The stack pointer with which woven code entered the module's routine that contains the PC; 0: no routine contains it. Only the
 * first and the last instruction of a routine run with that stack pointer. */
static uint64_t
chord_rt_asking_sp(const struct chord_rt_desc *d, uint64_t pc, uint64_t sp)
{
	uint64_t first = CHORD_RT_NEAR(d->pointer), last = CHORD_RT_NEAR(d->pointer_end), also = first, third = first;
	uint64_t fourth = first, fifth = first;

	if (pc < first || pc > last) {
		first = CHORD_RT_NEAR(d->called);
		also = CHORD_RT_NEAR(d->called2);
		third = CHORD_RT_NEAR(d->called3);
		fourth = CHORD_RT_NEAR(d->called4);
		fifth = CHORD_RT_NEAR(d->called5);
		last = CHORD_RT_NEAR(d->called_end);
	}
	if (pc < first || pc > last)
		return 0;
	return sp + (pc == first || pc == also || pc == third || pc == fourth || pc == fifth || pc == last ? 0 : CHORD_RT_ASKING);
}

/* Did the signal interrupt such a routine or its callees? Then the frame becomes that of the woven code that called the routine.
 * (The unwind table leads there, too, one frame later, for other unwinders: activations of the runtime are not activations of the
 * program.) */
static void
chord_rt_was_asking(struct chord_rt_walk *w)
{
	uint64_t pc = w->regs.r[CHORD_RT_PC], sp = w->regs.r[CHORD_RT_SP], came;
	const struct chord_rt_mod *m = w->exact ? chord_rt_mod_of(w->in.ctl, pc) : NULL;
	const struct chord_rt_region *r = m ? chord_rt_region_mine(w->in.ctl) : NULL;
	const struct chord_rt_regs *asking;

	if (!r)
		return;
	came = chord_rt_asking_sp(m->desc, pc, sp);
	asking = *chord_rt_asking(m, r);
	if (came && pc <= CHORD_RT_NEAR(m->desc->pointer_end) && pc >= CHORD_RT_NEAR(m->desc->pointer)) {
		w->regs.r[CHORD_RT_SP] = came;
		w->regs.r[CHORD_RT_PC] = ((const uint64_t *)came)[-5];
	} else if (came) {
		w->regs.r[CHORD_RT_SP] = came + 8;
		w->regs.r[CHORD_RT_PC] = *(const uint64_t *)came;
	} else if (asking && (uint64_t)asking - sp < CHORD_RT_PAGE) {
		w->regs = *asking;
	} else {
		return;
	}
	w->in.ctl->asked = 1;
	w->cfi.begin = w->cfi.end = 0;
}

/* Activations below sp have ended, so none of them returns to __chord_pointer. */
static __attribute__((noinline)) void
chord_rt_forget_asking(struct chord_rt_ctl *ctl, uint64_t sp)
{
	const struct chord_rt_region *r = chord_rt_region_mine(ctl);
	const struct chord_rt_mod *m;

	for (uint32_t i = 0; r && i < ctl->nmodule; i++) {
		m = chord_rt_module(ctl, i);
		if (m->life == CHORD_LIFE_LOADED && !m->left && (uint64_t)*chord_rt_asking(m, r) < sp)
			*chord_rt_asking(m, r) = NULL;
	}
}

static __attribute__((noinline)) enum chord_rt_step
chord_rt_look_slow(struct chord_rt_walk *w)
{
	struct chord_rt_machine m;
	struct chord_rt_rules *r = m.state;

	chord_rt_was_asking(w);
	if (chord_rt_is_bottom(w))
		return CHORD_RT_OUTERMOST;
	if (!chord_rt_find_rules(w, &m))
		return chord_rt_look_unknown(w);
	if (w->from)
		return chord_rt_look_quick(w);
	if (r->how[CHORD_RT_CFA] == CHORD_RT_VAL_EXPR)
		w->cfa = chord_rt_evaluate(w, r->value[CHORD_RT_CFA], 0);
	else
		w->cfa = w->regs.r[r->reg] + (uint64_t)r->value[CHORD_RT_CFA];
	if (r->how[CHORD_RT_PC] == CHORD_RT_UNDEFINED) {
		if (!w->exact && !w->signal && w->cfa == w->regs.r[CHORD_RT_SP] + 8)
			chord_rt_keep_about(w, w->regs.r[CHORD_RT_PC] | CHORD_RT_BOTTOM_AT, w->begin);
		return CHORD_RT_OUTERMOST;
	}
	/* Only a signal can have switched to another stack. */
	if (w->signal ? w->turns > 64 : w->cfa <= w->regs.r[CHORD_RT_SP])
		return CHORD_RT_STUCK;
	for (uint32_t i = 0; i < CHORD_RT_NREG; i++)
		w->next.r[i] = chord_rt_value(w, r, i);
	return w->in.bad ? CHORD_RT_STUCK : w->next.r[CHORD_RT_PC] ? CHORD_RT_FRAME : CHORD_RT_OUTERMOST;
}

/* Looks at the current frame: sets w->cfa, w->begin and what chord_rt_up needs. OUTERMOST: it has no caller. */
static CHORD_RT_HOT enum chord_rt_step
chord_rt_look(struct chord_rt_walk *w)
{
	uint64_t pc = w->regs.r[CHORD_RT_PC];
	enum chord_rt_step step;

	w->cfa = 0;
	if (pc == 0)
		return CHORD_RT_OUTERMOST;
	w->from = NULL;
	if (!w->exact && pc - 1 - w->in.map < w->in.map_end - w->in.map)
		w->from = chord_rt_recall(&w->in, pc - 1, &w->rule);
	if (!w->from) {
		step = chord_rt_look_slow(w);
	} else {
		w->signal = false;
		w->begin = w->rule.begin;
		step = chord_rt_look_quick(w);
	}
	if (step == CHORD_RT_STUCK)
		w->cfa = 0;
	return step;
}

/* Moves to the caller, after chord_rt_look gave FRAME. */
static CHORD_RT_HOT void
chord_rt_up(struct chord_rt_walk *w)
{
	const uint64_t *cfa = (const uint64_t *)w->cfa;

	w->exact = w->signal;
	w->turns += w->signal;
	if (!w->from) {
		w->regs = w->next;
		return;
	}
#pragma GCC unroll 6
	for (uint32_t i = 0; i < CHORD_RT_NSAVED; i++)
		if (w->rule.at[i])
			w->regs.r[(uint32_t [])CHORD_RT_SAVED[i]] = *(cfa - w->rule.at[i]);
	w->regs.r[CHORD_RT_SP] = w->cfa;
	w->regs.r[CHORD_RT_PC] = cfa[-1];
}

static void
chord_rt_scope_from(struct chord_rt_scope *in, struct chord_rt_ctl *ctl, uint64_t sp)
{
	in->ctl = ctl;
	in->map = in->map_end = in->table = in->table_end = 0;
	in->low = (sp - 8) & -(uint64_t)CHORD_RT_PAGE; /* this page is in use now */
	in->high = in->low + CHORD_RT_PAGE;
	in->bad = in->fast = false;
}

static void
chord_rt_walk_from(struct chord_rt_walk *w, struct chord_rt_ctl *ctl, const struct chord_rt_regs *regs)
{
	chord_rt_scope_from(&w->in, ctl, regs->r[CHORD_RT_SP]);
	w->regs = *regs;
	w->cfi.begin = w->cfi.end = 0;
	w->turns = 0;
	w->traced = 0;
	w->once = false;
	w->exact = regs->r[CHORD_RT_PC] & CHORD_RT_AMID;
	w->regs.r[CHORD_RT_PC] &= ~CHORD_RT_AMID;
	w->from = NULL;
}
