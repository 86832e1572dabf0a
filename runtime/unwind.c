/* SPDX-License-Identifier: MIT */
/* Unwinds a stack by the call frame information of each object. It allocates nothing, takes no lock of its own and checks all that
 * it reads, because it runs in signal handlers and on stacks of any origin. */

enum chord_rt_how {
	CHORD_RT_SAME, CHORD_RT_UNDEFINED, CHORD_RT_AT, CHORD_RT_IS, CHORD_RT_REG, CHORD_RT_EXPR, CHORD_RT_VAL_EXPR,
};

/* Rules for the registers and, last, for the CFA (AT: register reg plus value). */
struct chord_rt_rules {
	int64_t value[CHORD_RT_NREG + 1]; /* an offset, a register, or where an expression is */
	uint8_t how[CHORD_RT_NREG + 1];
	uint8_t reg;
};

struct chord_rt_cfi {
	const unsigned char *init, *init_end, *insn, *insn_end;
	uint64_t begin, end;          /* the code that the entry is for */
	uint64_t code_align;
	int64_t data_align;
	uint8_t enc;
	bool signal, sized;
};

/* What a walk knows of the memory around it. */
struct chord_rt_scope {
	struct chord_rt_ctl *ctl;
	uint64_t map, map_end;        /* the object looked at last */
	const unsigned char *hdr;     /* its .eh_frame_hdr; NULL: it has none */
	uint64_t stamp;               /* marks cache entries of its frames; 0: they cannot be cached */
	uint64_t low, high;           /* known to be readable */
	uint64_t table, table_end;    /* likewise, of tables */
	bool bad;                     /* something could not be read */
	bool fast;                    /* little stack is left: objects that are not known yet stay unknown */
};

/* A walk: the frame it has reached, and the memory it saw last. */
struct chord_rt_walk {
	struct chord_rt_scope in;
	struct chord_rt_regs regs;    /* in that frame; rsp: as the frame left it for its call */
	struct chord_rt_regs next;    /* registers of the caller, set by chord_rt_look if the rules are not cached */
	uint64_t cfa;                 /* of that frame, after chord_rt_look; 0: not known */
	uint64_t begin;               /* of its function, likewise */
	struct chord_rt_cfi cfi;      /* found last */
	struct chord_rt_known *from;  /* the cache entry of the frame's rules; NULL: they are not cached */
	struct chord_rt_known rule;   /* a copy */
	uint32_t traced;              /* frames left so far that write a trace, if there is one */
	uint8_t turns;                /* signal frames met */
	bool exact;                   /* the PC is where a signal fired, not a return address */
	bool signal;                  /* the frame is a signal's */
	bool once;                    /* the process ends: nothing is worth keeping */
};

struct chord_rt_bytes {
	const unsigned char *p, *end;
};

/* Is the page of that address readable? Asks the kernel only about memory that is not known. */
static bool
chord_rt_reach(struct chord_rt_scope *in, uint64_t at)
{
	uint64_t page = at & -(uint64_t)CHORD_RT_PAGE;

	if (at - in->low < in->high - in->low)
		return true;
	if (!chord_rt_readable(at & -8ull))
		in->bad = true;
	else if (page == in->high)
		in->high += CHORD_RT_PAGE;
	else if (page + CHORD_RT_PAGE == in->low)
		in->low = page;
	else
		in->low = page, in->high = page + CHORD_RT_PAGE;
	return !in->bad;
}

static uint64_t
chord_rt_load(struct chord_rt_walk *w, uint64_t at)
{
	uint64_t v = 0;

	if (chord_rt_reach(&w->in, at) && chord_rt_reach(&w->in, at + 7))
		__builtin_memcpy(&v, (const void *)at, 8);
	return v;
}

/* ---- reading the tables ---- */

#define CHORD_RT_ENTRY 0x100000u /* bytes: no entry is larger */

/* Is all of [at, end) readable? */
static bool
chord_rt_reach_table(struct chord_rt_scope *in, const unsigned char *at, const unsigned char *end)
{
	for (uint64_t page = (uint64_t)at & -(uint64_t)CHORD_RT_PAGE; page < (uint64_t)end; page += CHORD_RT_PAGE) {
		if (page - in->table < in->table_end - in->table)
			continue;
		if (!chord_rt_readable(page))
			return false;
		if (page != in->table_end)
			in->table = page;
		in->table_end = page + CHORD_RT_PAGE;
	}
	return end >= at;
}

static uint64_t
chord_rt_fixed(struct chord_rt_bytes *b, size_t n)
{
	uint64_t v = 0;

	if ((size_t)(b->end - b->p) < n) {
		b->p = b->end;
		return 0;
	}
	for (size_t i = n; i-- > 0;)
		v = v << 8 | b->p[i];
	b->p += n;
	return v;
}

/* One byte; 0 at the end. Most of what is read are single bytes. */
static uint8_t
chord_rt_byte(struct chord_rt_bytes *b)
{
	return b->p < b->end ? *b->p++ : 0;
}

static int64_t
chord_rt_signed(struct chord_rt_bytes *b, size_t n)
{
	uint64_t v = chord_rt_fixed(b, n), top = 1ull << (8 * n - 1);

	return (int64_t)((v ^ top) - top);
}

static uint64_t
chord_rt_leb(struct chord_rt_bytes *b, bool sign)
{
	uint64_t v = 0, byte;
	uint32_t shift = 0;

	do {
		byte = chord_rt_byte(b);
		if (shift < 64)
			v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (sign && shift < 64 && (byte & 0x40))
		v |= ~0ull << shift;
	return v;
}

static uint64_t
chord_rt_uleb(struct chord_rt_bytes *b)
{
	return chord_rt_leb(b, false);
}

static int64_t
chord_rt_sleb(struct chord_rt_bytes *b)
{
	return (int64_t)chord_rt_leb(b, true);
}

static void
chord_rt_skip(struct chord_rt_bytes *b, uint64_t n)
{
	b->p = n < (uint64_t)(b->end - b->p) ? b->p + n : b->end;
}

/* Reads a pointer in a DW_EH_PE encoding; data: the base of datarel. */
static uint64_t
chord_rt_pointer(struct chord_rt_bytes *b, uint8_t enc, uint64_t data)
{
	uint64_t at = (uint64_t)b->p, v;

	switch (enc & 0x0f) {
	case 0x01: v = chord_rt_uleb(b); break;
	case 0x02: v = chord_rt_fixed(b, 2); break;
	case 0x03: v = chord_rt_fixed(b, 4); break;
	case 0x09: v = (uint64_t)chord_rt_sleb(b); break;
	case 0x0a: v = (uint64_t)chord_rt_signed(b, 2); break;
	case 0x0b: v = (uint64_t)chord_rt_signed(b, 4); break;
	default: v = chord_rt_fixed(b, 8); break;
	}
	if ((enc & 0x70) == 0x10)
		v += at;
	else if ((enc & 0x70) == 0x30)
		v += data;
	return v;
}

/* The bytes of a CIE or FDE after its length, all of them readable. *p moves to the next entry. */
static bool
chord_rt_entry(struct chord_rt_scope *in, const unsigned char **p, struct chord_rt_bytes *b)
{
	struct chord_rt_bytes all = {*p, *p + 12};
	uint64_t n;

	if (!chord_rt_reach_table(in, *p, *p + 4))
		return false;
	n = chord_rt_fixed(&all, 4);
	if (n == 0xffffffff)
		n = chord_rt_reach_table(in, *p, *p + 12) ? chord_rt_fixed(&all, 8) : 0;
	if (n == 0 || n > CHORD_RT_ENTRY || !chord_rt_reach_table(in, all.p, all.p + n))
		return false;
	b->p = all.p;
	b->end = *p = all.p + n;
	return true;
}

static bool
chord_rt_cie(struct chord_rt_scope *in, const unsigned char *cie, struct chord_rt_cfi *f)
{
	struct chord_rt_bytes b, aug;
	const unsigned char *s;
	uint8_t version;

	if (!chord_rt_entry(in, &cie, &b) || chord_rt_fixed(&b, 4) != 0)
		return false;
	version = chord_rt_byte(&b);
	for (s = b.p; b.p < b.end && *b.p; b.p++)
		;
	if (b.p == b.end)
		return false;
	chord_rt_skip(&b, version == 4 ? 3 : 1);
	f->code_align = chord_rt_uleb(&b);
	f->data_align = chord_rt_sleb(&b);
	if ((version == 1 ? chord_rt_byte(&b) : chord_rt_uleb(&b)) != CHORD_RT_PC || (*s && *s != 'z'))
		return false;
	f->enc = 0;
	f->signal = false;
	f->sized = *s == 'z';
	if (f->sized) {
		uint64_t n = chord_rt_uleb(&b);

		aug = b;
		chord_rt_skip(&b, n);
		while (*++s) {
			if (*s == 'R')
				f->enc = chord_rt_byte(&aug);
			else if (*s == 'L')
				chord_rt_byte(&aug);
			else if (*s == 'P')
				chord_rt_pointer(&aug, chord_rt_byte(&aug), 0);
			else if (*s == 'S')
				f->signal = true;
		}
	}
	f->init = b.p;
	f->init_end = b.end;
	return true;
}

/* Reads an FDE; false if the entry is not one. *next: the entry after it. */
static bool
chord_rt_fde(struct chord_rt_scope *in, const unsigned char *fde, struct chord_rt_cfi *f, const unsigned char **next)
{
	struct chord_rt_bytes b;
	const unsigned char *at;
	uint64_t back;

	*next = fde;
	if (!chord_rt_entry(in, next, &b))
		return false;
	at = b.p;
	back = chord_rt_fixed(&b, 4);
	if (!back || !chord_rt_cie(in, at - back, f))
		return false;
	f->begin = chord_rt_pointer(&b, f->enc, 0);
	f->end = f->begin + chord_rt_pointer(&b, f->enc & 0x0f, 0);
	if (f->sized)
		chord_rt_skip(&b, chord_rt_uleb(&b));
	f->insn = b.p;
	f->insn_end = b.end;
	return true;
}

/* ---- finding the entry for a PC ---- */

/* Searches the sorted table of .eh_frame_hdr: pairs of code address and FDE. */
static const unsigned char *
chord_rt_search(struct chord_rt_scope *in, const unsigned char *hdr, uint64_t pc)
{
	struct chord_rt_bytes b = {hdr + 4, hdr + 20};
	const int32_t *table;
	uint64_t n, lo = 0, hi, mid;

	if (!chord_rt_reach_table(in, hdr, b.end) || hdr[0] != 1 || hdr[3] != 0x3b)
		return NULL;
	chord_rt_pointer(&b, hdr[1], (uint64_t)hdr);
	n = hi = chord_rt_pointer(&b, hdr[2], (uint64_t)hdr);
	table = (const int32_t *)(const void *)b.p;
	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		if (!chord_rt_reach_table(in, (const unsigned char *)&table[2 * mid], (const unsigned char *)&table[2 * mid + 2]))
			return NULL;
		if ((uint64_t)hdr + (uint64_t)(int64_t)table[2 * mid] <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	return n && lo ? hdr + table[2 * lo - 1] : NULL;
}

/* Searches entry by entry, because static programs often have no table. */
static bool
chord_rt_scan_frames(struct chord_rt_scope *in, const unsigned char *p, uint64_t size, uint64_t pc, struct chord_rt_cfi *f)
{
	const unsigned char *end = p + size, *next;
	uint32_t n;

	for (; p + 8 < end && chord_rt_reach_table(in, p, p + 4); p = next) {
		chord_rt_copy(&n, p, 4);
		if (n == 0)
			next = p + 4;
		else if (chord_rt_fde(in, p, f, &next) && pc >= f->begin && pc < f->end)
			return true;
		if (next <= p)
			return false;
	}
	return false;
}

/* Finds .eh_frame in the program's file, once. */
static void
chord_rt_frames_of_file(struct chord_rt_ctl *ctl, uint64_t bias)
{
	Elf64_Ehdr e;
	Elf64_Shdr s, str;
	char name[10];
	long fd;

	if (__atomic_load_n(&ctl->frames_asked, __ATOMIC_ACQUIRE))
		return;
	fd = chord_rt_call(SYS_openat, AT_FDCWD, "/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (chord_rt_failed(fd))
		return;
	if (chord_rt_call(SYS_pread64, fd, &e, sizeof e, 0) != sizeof e ||
	    chord_rt_call(SYS_pread64, fd, &str, sizeof str, e.e_shoff + e.e_shstrndx * sizeof str) != sizeof str)
		e.e_shnum = 0;
	for (uint32_t i = 0; i < e.e_shnum; i++) {
		if (chord_rt_call(SYS_pread64, fd, &s, sizeof s, e.e_shoff + i * sizeof s) != sizeof s ||
		    chord_rt_call(SYS_pread64, fd, name, sizeof name, str.sh_offset + s.sh_name) != sizeof name ||
		    !chord_rt_equal(name, ".eh_frame", 10))
			continue;
		ctl->frames_size = s.sh_size;
		__atomic_store_n(&ctl->frames, bias + s.sh_addr, __ATOMIC_RELEASE);
	}
	__atomic_store_n(&ctl->frames_asked, 1, __ATOMIC_RELEASE);
	chord_rt_call(SYS_close, fd);
}

static struct chord_rt_mod *
chord_rt_mod_of(struct chord_rt_ctl *ctl, uint64_t pc)
{
	struct chord_rt_mod *m;

	for (uint32_t i = 0; i < ctl->nmodule; i++) {
		m = chord_rt_module(ctl, i);
		if (pc >= m->text && pc < m->text_end && m->life == CHORD_LIFE_LOADED)
			return m;
	}
	return NULL;
}

static bool
chord_rt_find_in_file(struct chord_rt_walk *w, uint64_t pc)
{
	struct chord_rt_ctl *ctl = w->in.ctl;
	struct chord_rt_mod *m = chord_rt_mod_of(ctl, pc);

	if (!m || !m->main)
		return false;
	chord_rt_frames_of_file(ctl, m->bias);
	return ctl->frames && chord_rt_scan_frames(&w->in, (const unsigned char *)ctl->frames, ctl->frames_size, pc, &w->cfi);
}

/* Finds the FDE for a PC in the object that w->in.hdr belongs to. */
static bool
chord_rt_find_cfi(struct chord_rt_walk *w, uint64_t pc)
{
	const unsigned char *fde, *next;

	if (pc >= w->cfi.begin && pc < w->cfi.end)
		return true;
	w->cfi.begin = w->cfi.end = 0;
	if (!w->in.hdr)
		return chord_rt_find_in_file(w, pc);
	fde = chord_rt_search(&w->in, w->in.hdr, pc);
	return fde && chord_rt_fde(&w->in, fde, &w->cfi, &next) && pc >= w->cfi.begin && pc < w->cfi.end;
}

/* ---- running the instructions ---- */

/* A jump in a DWARF expression must stay in it. */
static void
chord_rt_jump_in(struct chord_rt_walk *w, struct chord_rt_bytes *b, const unsigned char *begin, int64_t n)
{
	if (n < begin - b->p || n > b->end - b->p)
		w->in.bad = true, b->p = b->end;
	else
		b->p += n;
}

/* Evaluates a DWARF expression; top: the value that is on its stack at first. */
static uint64_t
chord_rt_evaluate(struct chord_rt_walk *w, int64_t where, uint64_t top)
{
	struct chord_rt_bytes b = {(const unsigned char *)where, (const unsigned char *)where + 10};
	uint64_t s[18], n = chord_rt_uleb(&b), a;
	const unsigned char *begin = b.p;
	uint32_t k = 1;
	uint8_t op;

	s[0] = 0, s[1] = top;
	b.end = b.p + n;
	for (uint32_t steps = 0; b.p < b.end && steps < 1000; steps++) {
		if (k < 1 || k > 15)
			return w->in.bad = true, 0;
		op = chord_rt_byte(&b);
		a = s[k];
		switch (op) {
		case 0x03: case 0x0e: case 0x0f: s[++k] = chord_rt_fixed(&b, 8); break;
		case 0x06: s[k] = chord_rt_load(w, a); break;
		case 0x08: s[++k] = chord_rt_byte(&b); break;
		case 0x09: s[++k] = (uint64_t)chord_rt_signed(&b, 1); break;
		case 0x0a: s[++k] = chord_rt_fixed(&b, 2); break;
		case 0x0b: s[++k] = (uint64_t)chord_rt_signed(&b, 2); break;
		case 0x0c: s[++k] = chord_rt_fixed(&b, 4); break;
		case 0x0d: s[++k] = (uint64_t)chord_rt_signed(&b, 4); break;
		case 0x10: s[++k] = chord_rt_uleb(&b); break;
		case 0x11: s[++k] = (uint64_t)chord_rt_sleb(&b); break;
		case 0x12: s[++k] = a; break;
		case 0x13: k--; break;
		case 0x14: s[k + 1] = s[k - 1]; k++; break;
		case 0x16: s[k] = s[k - 1]; s[k - 1] = a; break;
		case 0x1a: s[--k] &= a; break;
		case 0x1c: s[--k] -= a; break;
		case 0x1e: s[--k] *= a; break;
		case 0x1f: s[k] = -a; break;
		case 0x20: s[k] = ~a; break;
		case 0x21: s[--k] |= a; break;
		case 0x22: s[--k] += a; break;
		case 0x23: s[k] += chord_rt_uleb(&b); break;
		case 0x24: k--; s[k] = a < 64 ? s[k] << a : 0; break;
		case 0x25: k--; s[k] = a < 64 ? s[k] >> a : 0; break;
		case 0x26: k--; s[k] = (uint64_t)((int64_t)s[k] >> (a < 63 ? a : 63)); break;
		case 0x27: s[--k] ^= a; break;
		case 0x29: k--; s[k] = s[k] == a; break;
		case 0x2a: k--; s[k] = (int64_t)s[k] >= (int64_t)a; break;
		case 0x2b: k--; s[k] = (int64_t)s[k] > (int64_t)a; break;
		case 0x2c: k--; s[k] = (int64_t)s[k] <= (int64_t)a; break;
		case 0x2d: k--; s[k] = (int64_t)s[k] < (int64_t)a; break;
		case 0x2e: k--; s[k] = s[k] != a; break;
		case 0x28: k--; n = (uint64_t)chord_rt_signed(&b, 2); chord_rt_jump_in(w, &b, begin, a ? (int64_t)n : 0); break;
		case 0x2f: n = (uint64_t)chord_rt_signed(&b, 2); chord_rt_jump_in(w, &b, begin, (int64_t)n); break;
		case 0x96: break;
		default:
			if (op >= 0x30 && op <= 0x4f)
				s[++k] = op - 0x30u;
			else if (op >= 0x70 && op <= 0x80)
				s[++k] = w->regs.r[op - 0x70] + (uint64_t)chord_rt_sleb(&b);
			else
				w->in.bad = true, b.p = b.end;
		}
	}
	return s[k];
}

static void
chord_rt_rule(struct chord_rt_rules *r, uint64_t reg, enum chord_rt_how how, int64_t value)
{
	if (reg > CHORD_RT_CFA || (reg == CHORD_RT_CFA && how != CHORD_RT_AT && how != CHORD_RT_VAL_EXPR))
		return; /* a floating-point register */
	r->how[reg] = (uint8_t)how;
	r->value[reg] = value;
}

/* False: the expression cannot be read. */
static bool
chord_rt_rule_expr(struct chord_rt_rules *r, struct chord_rt_bytes *b, uint64_t reg, enum chord_rt_how how)
{
	int64_t at = (int64_t)b->p;
	uint64_t n = chord_rt_uleb(b);

	if (n == 0 || n > (uint64_t)(b->end - b->p))
		return false;
	chord_rt_rule(r, reg, how, at);
	b->p += n;
	return true;
}

static void
chord_rt_def_cfa(struct chord_rt_rules *r, uint64_t reg, int64_t off)
{
	r->reg = (uint8_t)(reg < CHORD_RT_NREG ? reg : CHORD_RT_SP);
	chord_rt_rule(r, CHORD_RT_CFA, CHORD_RT_AT, off);
}

/* state[0]: the rules; state[1]: the rules after the CIE; the others: remembered states. */
struct chord_rt_machine {
	struct chord_rt_rules state[4];
	uint32_t depth;
	uint64_t loc;
};

static void
chord_rt_restore(struct chord_rt_machine *m, uint64_t reg)
{
	if (reg < CHORD_RT_NREG)
		chord_rt_rule(&m->state[0], reg, m->state[1].how[reg], m->state[1].value[reg]);
}

/* Instructions whose opcode takes the whole byte. */
static bool
chord_rt_extended(struct chord_rt_machine *m, const struct chord_rt_cfi *f, struct chord_rt_bytes *b, uint8_t op)
{
	struct chord_rt_rules *r = m->state;
	uint64_t x;

	switch (op) {
	case 0x00: case 0x2d: break;
	case 0x01: m->loc = chord_rt_pointer(b, f->enc, 0); break;
	case 0x02: m->loc += chord_rt_byte(b) * f->code_align; break;
	case 0x03: m->loc += chord_rt_fixed(b, 2) * f->code_align; break;
	case 0x04: m->loc += chord_rt_fixed(b, 4) * f->code_align; break;
	case 0x05: x = chord_rt_uleb(b); chord_rt_rule(r, x, CHORD_RT_AT, (int64_t)chord_rt_uleb(b) * f->data_align); break;
	case 0x06: chord_rt_restore(m, chord_rt_uleb(b)); break;
	case 0x07: chord_rt_rule(r, chord_rt_uleb(b), CHORD_RT_UNDEFINED, 0); break;
	case 0x08: chord_rt_rule(r, chord_rt_uleb(b), CHORD_RT_SAME, 0); break;
	case 0x09: x = chord_rt_uleb(b); chord_rt_rule(r, x, CHORD_RT_REG, (int64_t)chord_rt_uleb(b)); break;
	case 0x0a:
		if (m->depth == 2)
			return false;
		chord_rt_copy(&m->state[2 + m->depth++], r, sizeof *r);
		break;
	case 0x0b:
		if (m->depth == 0)
			return false;
		chord_rt_copy(r, &m->state[2 + --m->depth], sizeof *r);
		break;
	case 0x0c: x = chord_rt_uleb(b); chord_rt_def_cfa(r, x, (int64_t)chord_rt_uleb(b)); break;
	case 0x0d: chord_rt_def_cfa(r, chord_rt_uleb(b), r->value[CHORD_RT_CFA]); break;
	case 0x0e: chord_rt_def_cfa(r, r->reg, (int64_t)chord_rt_uleb(b)); break;
	case 0x0f: return chord_rt_rule_expr(r, b, CHORD_RT_CFA, CHORD_RT_VAL_EXPR);
	case 0x10: x = chord_rt_uleb(b); return chord_rt_rule_expr(r, b, x, CHORD_RT_EXPR);
	case 0x11: x = chord_rt_uleb(b); chord_rt_rule(r, x, CHORD_RT_AT, chord_rt_sleb(b) * f->data_align); break;
	case 0x12: x = chord_rt_uleb(b); chord_rt_def_cfa(r, x, chord_rt_sleb(b) * f->data_align); break;
	case 0x13: chord_rt_def_cfa(r, r->reg, chord_rt_sleb(b) * f->data_align); break;
	case 0x14: x = chord_rt_uleb(b); chord_rt_rule(r, x, CHORD_RT_IS, (int64_t)chord_rt_uleb(b) * f->data_align); break;
	case 0x15: x = chord_rt_uleb(b); chord_rt_rule(r, x, CHORD_RT_IS, chord_rt_sleb(b) * f->data_align); break;
	case 0x16: x = chord_rt_uleb(b); return chord_rt_rule_expr(r, b, x, CHORD_RT_VAL_EXPR);
	case 0x2e: chord_rt_uleb(b); break;
	case 0x2f: x = chord_rt_uleb(b); chord_rt_rule(r, x, CHORD_RT_AT, -(int64_t)chord_rt_uleb(b) * f->data_align); break;
	default: return false;
	}
	return true;
}

/* Runs instructions up to those for addresses after pc. */
static bool
chord_rt_run(struct chord_rt_machine *m, const struct chord_rt_cfi *f, struct chord_rt_bytes b, uint64_t pc)
{
	uint8_t op, low;

	while (b.p < b.end && m->loc <= pc) {
		op = chord_rt_byte(&b);
		low = op & 0x3f;
		if (op >> 6 == 1)
			m->loc += low * f->code_align;
		else if (op >> 6 == 2)
			chord_rt_rule(m->state, low, CHORD_RT_AT, (int64_t)chord_rt_uleb(&b) * f->data_align);
		else if (op >> 6 == 3)
			chord_rt_restore(m, low);
		else if (!chord_rt_extended(m, f, &b, op))
			return false;
	}
	return true;
}

static uint64_t
chord_rt_value(struct chord_rt_walk *w, const struct chord_rt_rules *r, uint32_t reg)
{
	int64_t v = r->value[reg];

	switch (r->how[reg]) {
	case CHORD_RT_AT: return chord_rt_load(w, w->cfa + (uint64_t)v);
	case CHORD_RT_IS: return w->cfa + (uint64_t)v;
	case CHORD_RT_REG: return (uint64_t)v < CHORD_RT_NREG ? w->regs.r[v] : 0;
	case CHORD_RT_EXPR: return chord_rt_load(w, chord_rt_evaluate(w, v, w->cfa));
	case CHORD_RT_VAL_EXPR: return chord_rt_evaluate(w, v, w->cfa);
	case CHORD_RT_UNDEFINED: return 0;
	default: return reg == CHORD_RT_SP ? w->cfa : w->regs.r[reg];
	}
}

/* Puts the rules at the PC, for which *cfi was found, into state[0] of the machine. */
static bool
chord_rt_rules_at(const struct chord_rt_cfi *cfi, struct chord_rt_machine *m, uint64_t pc)
{
	struct chord_rt_rules *r = m->state;

	chord_rt_clear(r, sizeof *r);
	m->depth = 0;
	m->loc = 0;
	r->reg = CHORD_RT_SP;
	if (!chord_rt_run(m, cfi, (struct chord_rt_bytes){cfi->init, cfi->init_end}, ~0ull))
		return false;
	chord_rt_copy(&m->state[1], r, sizeof *r);
	m->loc = cfi->begin;
	return chord_rt_run(m, cfi, (struct chord_rt_bytes){cfi->insn, cfi->insn_end}, pc);
}
