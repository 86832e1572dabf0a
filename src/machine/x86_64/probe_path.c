/* SPDX-License-Identifier: MIT */
/* Code that keeps the path register of an activation and counts paths, or writes them down. A path register in memory is in the
 * shadow of the return address: at its address with one bit flipped, which __chord_shadow has. */
#include "format/trace.h"
#include "machine/x86_64/x86_64.h"

#include <inttypes.h>
#include <stddef.h>

static const char *const name64[16] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp", "rsi", "rdi",
	"r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15"};
static const char *const name32[16] = {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi",
	"r8d", "r9d", "r10d", "r11d", "r12d", "r13d", "r14d", "r15d"};

static const char *const name16[16] = {"ax", "cx", "dx", "bx", "sp", "bp", "si", "di",
	"r8w", "r9w", "r10w", "r11w", "r12w", "r13w", "r14w", "r15w"};

static const char *const name8[16] = {"al", "cl", "dl", "bl", "spl", "bpl", "sil", "dil",
	"r8b", "r9b", "r10b", "r11b", "r12b", "r13b", "r14b", "r15b"};

enum { RAX = 0, RCX = 1, RED_ZONE = 128 };
/* Entries of a hash table that are looked at before the runtime is called. */
enum { NEAR = 4 };

/* Registers for one piece of code, and how live ones are saved. */
struct scratch {
	struct buf *out;
	const struct path_place *place;
	uint16_t dead, used;
	int kept[6], nkept;      /* live registers that wait in memory, in this order */
	int64_t depth;           /* by how much the stack pointer was moved down */
	int rax_in;              /* register where rax waits, -1: none */
	int shadow;              /* register that has the address of the shadow, -1: none */
	bool flags;              /* the flags wait in rax */
};

/* An unwinder that starts here, after a signal, has to find the frame. */
static void
moved(struct buf *out, const struct scratch *s, int64_t n)
{
	if (n && s->place->by_sp)
		buf_printf(out, "\t.cfi_adjust_cfa_offset %" PRId64 "\n", n);
}

/* Saves a live register below the stack pointer, without moving that if nothing else is there. */
static void
keep(struct scratch *s, int reg)
{
	s->kept[s->nkept++] = reg;
	if (s->place->below) {
		buf_printf(s->out, "\tmovq\t%%%s, %d(%%rsp)\n", name64[reg], -8 * s->nkept);
		return;
	}
	if (!s->depth) {
		buf_printf(s->out, "\tleaq\t-%d(%%rsp), %%rsp\n", RED_ZONE);
		moved(s->out, s, RED_ZONE);
	}
	s->depth += (s->depth ? 0 : RED_ZONE) + 8;
	buf_printf(s->out, "\tpushq\t%%%s\n", name64[reg]);
	moved(s->out, s, 8);
}

/* Makes so many registers available. */
static void
reserve(struct scratch *s, int n)
{
	static const int order[] = {11, 10, 9, 8, 7, 6, 1, 2, 0, 3, 12, 13, 14, 15};

	for (size_t i = 0; i < sizeof order / sizeof *order && __builtin_popcount(s->dead) < n; i++)
		if (!((s->used | s->dead) >> order[i] & 1)) {
			keep(s, order[i]);
			s->dead |= (uint16_t)(1u << order[i]);
		}
}

static int
take(struct scratch *s)
{
	int reg = __builtin_ctz(s->dead);

	if (!s->dead)
		bug("no register is left");
	s->dead &= (uint16_t)~(1u << reg);
	s->used |= (uint16_t)(1u << reg);
	return reg;
}

static void
give_back(struct scratch *s, int reg)
{
	s->dead |= (uint16_t)(1u << reg);
	s->used &= (uint16_t)~(1u << reg);
}

/* SF, ZF, AF, PF and CF wait in ah, OF in al. */
static void
keep_flags(struct scratch *s)
{
	if (!(s->dead & X86_RAX) && s->dead) {
		s->rax_in = take(s);
		buf_printf(s->out, "\tmovq\t%%rax, %%%s\n", name64[s->rax_in]);
	} else if (!(s->dead & X86_RAX)) {
		keep(s, RAX);
	}
	s->dead &= (uint16_t)~X86_RAX;
	s->used |= X86_RAX;
	s->flags = true;
	buf_str(s->out, "\tlahf\n\tseto\t%al\n");
}

/* A base register is live, but cannot be used for anything else, not even for a while. */
static unsigned
bit(int8_t reg)
{
	return reg < 0 ? 0 : 1u << reg;
}

static bool
uses_memory(const struct path_op *op)
{
	return op->guard || (op->record == PATH_RECORD_HELD && op->from < 0) ||
	       (op->next && (op->to < 0 || (op->next == PATH_ADD && op->from < 0)));
}

/* Is that the word below the stack pointer? */
static bool
is_room(int8_t assigned)
{
	return assigned == X86_SP;
}

static bool
is_short(int64_t n)
{
	return n >= INT32_MIN && n <= INT32_MAX;
}

/* Moves and lea change no flags. */
static bool
changes_flags(const struct path_op *op)
{
	return op->record || uses_memory(op) || !is_short(op->n * 8) ||
	       (op->next == PATH_ADD && (is_room(op->from) || is_room(op->to)));
}

static struct scratch
begin(struct buf *out, const struct path_op *op, const struct path_place *place)
{
	struct scratch s = {.out = out, .place = place, .rax_in = -1, .shadow = -1};
	uint16_t never = (uint16_t)(X86_RSP | 1u << place->reg | bit(op->from) | bit(op->to) |
	                            bit((int8_t)(place->base - 1)) | (op->traced ? X86_CURSOR : 0));

	s.dead = (uint16_t)(X86_ALL_REGS & ~place->live.regs_live & ~never);
	s.used = never;
	if (place->live.flags_live && changes_flags(op))
		keep_flags(&s);
	return s;
}

static void
end(struct scratch *s)
{
	if (s->flags)
		buf_str(s->out, "\taddb\t$127, %al\n\tsahf\n");
	if (s->rax_in >= 0)
		buf_printf(s->out, "\tmovq\t%%%s, %%rax\n", name64[s->rax_in]);
	for (int i = s->nkept; i-- > 0;) {
		if (s->place->below) {
			buf_printf(s->out, "\tmovq\t%d(%%rsp), %%%s\n", -8 * (i + 1), name64[s->kept[i]]);
			continue;
		}
		buf_printf(s->out, "\tpopq\t%%%s\n", name64[s->kept[i]]);
		moved(s->out, s, -8);
	}
	if (s->depth) {
		buf_printf(s->out, "\tleaq\t%d(%%rsp), %%rsp\n", RED_ZONE);
		moved(s->out, s, -RED_ZONE);
	}
}

/* ---- the place in memory ---- */

/* The distance of the return address from place->reg as it is now. */
static int64_t
distance(const struct scratch *s)
{
	return s->place->loaded ? -8 : s->place->off + (s->place->reg == X86_SP ? s->depth : 0);
}

/* Puts its address into a register, the stack pointer being `depth` lower than at the place. */
static void
load_frame(const struct scratch *s, struct buf *out, int reg, int64_t depth)
{
	int64_t off = s->place->off + (s->place->reg == X86_SP ? depth : 0);

	if (s->place->loaded)
		buf_printf(out, "\tmovq\t%" PRId64 "(%%%s), %%%s\n\tleaq\t-8(%%%s), %%%s\n", off, name64[s->place->reg],
		           name64[reg], name64[reg], name64[reg]);
	else
		buf_printf(out, "\tleaq\t%" PRId64 "(%%%s), %%%s\n", off, name64[s->place->reg], name64[reg]);
}

/* The register for the address of the shadow, less distance(). The order of flipping a bit and adding does not matter, because no
 * frame crosses a multiple of that bit. */
static int
shadow(struct scratch *s)
{
	if (s->shadow < 0) {
		s->shadow = take(s);
		if (s->place->loaded)
			buf_printf(s->out, "\tmovq\t%" PRId64 "(%%%s), %%%s\n\txorq\t%%gs:__chord_shadow(%%rip), %%%s\n",
			           s->place->off + (s->place->reg == X86_SP ? s->depth : 0), name64[s->place->reg],
			           name64[s->shadow], name64[s->shadow]);
		else
			buf_printf(s->out, "\tmovq\t%%gs:__chord_shadow(%%rip), %%%s\n\txorq\t%%%s, %%%s\n", name64[s->shadow],
			           name64[s->place->reg], name64[s->shadow]);
	}
	return s->shadow;
}

/* A stub calls from below the red zone; in between are n words of its own on the stack. */
static void
lower(const struct scratch *s, struct buf *stub, int n)
{
	buf_printf(stub, "\tleaq\t-%d(%%rsp), %%rsp\n", RED_ZONE + n * 8);
	moved(stub, s, RED_ZONE + n * 8);
}

static void
raise_again(const struct scratch *s, struct buf *stub, int n)
{
	buf_printf(stub, "\tleaq\t%d(%%rsp), %%rsp\n", RED_ZONE + n * 8);
	moved(stub, s, -(RED_ZONE + n * 8));
}

/* In a stub the call frame state is that of the place it belongs to, and the stack pointer may be lower. */
static void
begin_stub(const struct scratch *s, struct buf *stub, const char *label)
{
	buf_printf(stub, "%s:\n", label);
	moved(stub, s, s->depth);
}

static void
end_stub(const struct scratch *s, struct buf *stub, const char *to)
{
	x86_jump(stub, to);
	moved(stub, s, -s->depth);
}

static void
guard(struct scratch *s, struct buf *stub)
{
	int a = take(s);
	const char *r = name64[a];

	load_frame(s, s->out, a, s->depth);
	buf_printf(s->out, "\tnotq\t%%%s\n\tshrq\t$%d, %%%s\n", r, CHORD_SHADOW_BITS, r);
	buf_printf(s->out, "\tcmpq\t%%gs:__chord_shadow+8(%%rip), %%%s\n\tjne\t%s\n%s:\n", r, s->place->guard,
	           s->place->guarded);
	begin_stub(s, stub, s->place->guard);
	lower(s, stub, 1);
	buf_str(stub, "\tmovq\t%rax, (%rsp)\n");
	load_frame(s, stub, RAX, s->depth + RED_ZONE + 8);
	buf_str(stub, "\tcall\t__chord_stack\n\tmovq\t(%rsp), %rax\n");
	raise_again(s, stub, 1);
	end_stub(s, stub, s->place->guarded);
	give_back(s, a);
}

/* What code of a restorer begins with: movq $15, %rax, to which a signal's handler returns. */
enum { RESTORER = 0x0fc0c748 };
/* From the interrupted context to the signal's description behind it. */
enum { CONTEXT = 304 };

/* The kernel passes all handlers the addresses of the signal's description and of the interrupted context as second and third
 * argument. The latter stands just above the return address, as few other callers' arguments do. What looks otherwise may have no
 * return address, nor anything that can be read there. Nothing of the activation is below the stack pointer yet. */
static void
strike(struct buf *out, struct buf *stub, const struct path_place *place)
{
	struct scratch s = {.out = stub, .place = place};
	const char *no = place->struck;

	buf_printf(out, "\tcmpq\t%%rsp, %%rdx\n\tja\t%s\n%s:\n", place->struck, place->begun);
	buf_printf(stub, "%s:\n", place->struck);
	lower(&s, stub, 1);
	buf_str(stub, "\tmovq\t%rax, (%rsp)\n");
	load_frame(&s, stub, RAX, RED_ZONE + 8);
	buf_printf(stub, "\taddq\t$8, %%rax\n\tcmpq\t%%rax, %%rdx\n\tjne\t%s_1\n", no);
	buf_printf(stub, "\taddq\t$%d, %%rax\n\tcmpq\t%%rax, %%rsi\n\tjne\t%s_1\n", CONTEXT, no);
	buf_printf(stub, "\tmovq\t-%d(%%rax), %%rax\n\tcmpl\t$%d, (%%rax)\n\tjne\t%s_1\n", CONTEXT + 8, RESTORER, no);
	buf_printf(stub, "\tcall\t__chord_trace_signal\n%s_1:\n\tmovq\t(%%rsp), %%rax\n", no);
	raise_again(&s, stub, 1);
	x86_jump(stub, place->begun);
}

/* The word below the stack pointer, relative to its current value. */
static void
room(const struct scratch *s)
{
	buf_printf(s->out, "%" PRId64 "(%%rsp)", s->depth - PATH_ROOM);
}

static void
room_to(const struct scratch *s, int reg)
{
	buf_str(s->out, "\tmovq\t");
	room(s);
	buf_printf(s->out, ", %%%s\n", name64[reg]);
}

static void
to_room(const struct scratch *s, int reg)
{
	buf_printf(s->out, "\tmovq\t%%%s, ", name64[reg]);
	room(s);
	buf_char(s->out, '\n');
}

/* ---- what is counted where ---- */

/* The register's value for a sum, or for a difference of sums. */
static int64_t
scaled(const struct path_counters *t, int64_t n)
{
	return t->kind == CHORD_PATH_HASHED ? n : n * 8;
}

static void
entry_of(struct buf *out, const struct path_counters *t, int64_t bytes)
{
	buf_printf(out, "%s+%" PRId64 "(%%rip)", t->label, (int64_t)t->offset + bytes);
}

/* base: as in struct path_place. */
static void
entry_by(struct buf *out, const struct path_counters *t, int64_t bytes, uint8_t base)
{
	if (base && is_short((int64_t)t->offset + bytes))
		buf_printf(out, "%" PRId64 "(%%%s)", (int64_t)t->offset + bytes, name64[base - 1]);
	else
		entry_of(out, t, bytes);
}

static uint32_t
hash(const struct path_counters *t, int64_t sum)
{
	return ((uint32_t)sum * CHORD_PATH_HASH) >> (32 - t->bits);
}

/* Looks at the next entries, where the runtime may have put the path: their offset is in register b, the table in c. */
static void
look_further(struct scratch *s, struct buf *stub, const struct path_counters *t, int key, int b, int c)
{
	for (int i = 1; i < NEAR; i++) {
		buf_printf(stub, "\taddl\t$%zu, %%%s\n", sizeof(struct chord_path_entry), name32[b]);
		buf_printf(stub, "\tandl\t$%zu, %%%s\n", (sizeof(struct chord_path_entry) << t->bits) - 1, name32[b]);
		buf_printf(stub, "\tcmpq\t%%%s, %%gs:(%%%s,%%%s)\n\tjne\t%s_%d\n", name64[key], name64[c], name64[b],
		           s->place->miss, i);
		buf_printf(stub, "\tincq\t%%gs:%zu(%%%s,%%%s)\n", offsetof(struct chord_path_entry, count), name64[c], name64[b]);
		x86_jump(stub, s->place->counted);
		buf_printf(stub, "%s_%d:\n", s->place->miss, i);
	}
}

static void
look_further_known(struct scratch *s, struct buf *stub, const struct path_counters *t, int64_t sum)
{
	int64_t size = (int64_t)sizeof(struct chord_path_entry), at;

	for (uint32_t i = 1; i < NEAR && is_short(sum + 1); i++) {
		at = size * ((hash(t, sum) + i) & ((1u << t->bits) - 1));
		buf_printf(stub, "\tcmpq\t$%" PRId64 ", %%gs:", sum + 1);
		entry_of(stub, t, at);
		buf_printf(stub, "\n\tjne\t%s_%u\n\tincq\t%%gs:", s->place->miss, i);
		entry_of(stub, t, at + (int64_t)offsetof(struct chord_path_entry, count));
		buf_char(stub, '\n');
		x86_jump(stub, s->place->counted);
		buf_printf(stub, "%s_%u:\n", s->place->miss, i);
	}
}

/* Handles a record whose first entry has another key: the sum is in register `key`, plus 1; -1: it is known. */
static void
miss(struct scratch *s, struct buf *stub, const struct path_counters *t, int key, int64_t sum)
{
	lower(s, stub, 2);
	buf_str(stub, "\tmovq\t%rax, 8(%rsp)\n\tmovq\t%rcx, (%rsp)\n");
	if (key >= 0)
		buf_printf(stub, "\tleaq\t-1(%%%s), %%rax\n", name64[key]);
	else
		buf_printf(stub, "\tmovq\t$%" PRId64 ", %%rax\n", sum);
	buf_printf(stub, "\tleaq\t%s(%%rip), %%rcx\n\tcall\t__chord_path\n", t->desc);
	buf_str(stub, "\tmovq\t(%rsp), %rcx\n\tmovq\t8(%rsp), %rax\n");
	raise_again(s, stub, 2);
	end_stub(s, stub, s->place->counted);
}

/* Finds the address of the path's entry, the stack pointer being `depth` lower than at the place. Returns the register that has it,
 * which is `reg` if it is in no other. Changes flags. */
static int
load_token(const struct scratch *s, struct buf *out, const struct path_counters *t, const struct path_op *op, int reg,
           int64_t depth)
{
	int from = op->from;

	if (op->record == PATH_RECORD_KNOWN) {
		buf_str(out, "\tleaq\t");
		entry_of(out, t, op->sum * 8);
		buf_printf(out, ", %%%s\n", name64[reg]);
		return reg;
	}
	if (is_room(op->from)) {
		buf_printf(out, "\tmovq\t%" PRId64 "(%%rsp), %%%s\n", depth - PATH_ROOM, name64[reg]);
		from = reg;
	} else if (op->from < 0) {
		load_frame(s, out, reg, depth);
		buf_printf(out, "\txorq\t%%gs:__chord_shadow(%%rip), %%%s\n\tmovq\t(%%%s), %%%s\n", name64[reg], name64[reg],
		           name64[reg]);
		from = reg;
	}
	if (!op->sum)
		return from;
	buf_printf(out, "\tleaq\t%" PRId64 "(%%%s), %%%s\n", op->sum * 8, name64[from], name64[reg]);
	return reg;
}

/* Is the register free that has the address of the cursor wherever nothing else is in it? */
static bool
has_cursor(const struct path_place *place)
{
	return !(place->live.regs_live & X86_CURSOR) && place->reg != X86_CURSOR_REG;
}

/* Takes the thread's next slot: register p then has the address behind it. The place is reserved before it is written, and in one
 * instruction, because a signal handler writes slots, too: one that comes between the load and the addition leaves another sum than
 * is expected, one that comes later finds the slot taken. So does the end of a segment, since the sum in p keeps its high bits.
 *
 * The address of the cursor is a word in memory that does not change. It is kept in a register, also through calls and returns,
 * and only compared with that word: a processor that forwards stores to loads by the names of their registers then has the cursor
 * at once, and else each slot would wait for the last one's. Code that is not traced may leave anything there. c: a register that
 * may be used. from: the label of the stub, "_2" and "_3" behind it are others' */
static void
take_slot(const struct scratch *s, struct buf *stub, const char *add, const char *from, int p, int c)
{
	const char *h = name64[has_cursor(s->place) ? X86_CURSOR_REG : c];

	if (has_cursor(s->place)) {
		buf_printf(s->out, "\tcmpq\t__chord_trace_home(%%rip), %%%s\n\tjne\t%s_2\n%s_3:\n", h, from, from);
		buf_printf(stub, "%s_2:\n\tmovq\t__chord_trace_home(%%rip), %%%s\n\tjmp\t%s_3\n", from, h, from);
	} else {
		buf_printf(s->out, "\tmovq\t__chord_trace_home(%%rip), %%%s\n", h);
	}
	buf_printf(s->out, "\tmovq\t%%gs:(%%%s), %%%s\n\t%s, %%gs:(%%%s)\n", h, name64[p], add, h);
	buf_printf(s->out, "\taddw\t$4, %%%s\n\tcmpq\t%%%s, %%gs:(%%%s)\n\tjne\t%s\n", name16[p], name64[p], h, from);
}

/* What has no room behind it, or was interrupted, is written by the runtime: rcx has the address of the path's entry, rax the place
 * that was meant for it, which is behind the one in register p. */
static void
write_slowly(const struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op, int p)
{
	int token;

	begin_stub(s, stub, s->place->miss);
	buf_printf(stub, "\tsubw\t$4, %%%s\n", name16[p]);
	lower(s, stub, 3);
	buf_printf(stub, "\tmovq\t%%rax, 8(%%rsp)\n\tmovq\t%%rcx, (%%rsp)\n\tmovq\t%%%s, 16(%%rsp)\n", name64[p]);
	token = load_token(s, stub, t, op, RCX, s->depth + RED_ZONE + 24);
	if (token != RCX)
		buf_printf(stub, "\tmovq\t%%%s, %%rcx\n", name64[token]);
	buf_str(stub, "\tmovq\t16(%rsp), %rax\n\tcall\t__chord_trace_slow\n");
	buf_str(stub, "\tmovq\t(%rsp), %rcx\n\tmovq\t8(%rsp), %rax\n");
	raise_again(s, stub, 3);
	end_stub(s, stub, s->place->counted);
}

/* Writes the path down where the thread's next slot is, and moves that on. */
static void
write_path(struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op)
{
	int p = take(s), c = take(s), token;

	take_slot(s, stub, "addq\t$4", s->place->miss, p, c);
	token = load_token(s, s->out, t, op, c, s->depth);
	buf_printf(s->out, "\tmovl\t%%%s, -4(%%%s)\n%s:\n", name32[token], name64[p], s->place->counted);
	write_slowly(s, stub, t, op, p);
	give_back(s, p);
	give_back(s, c);
}

static void
record_known(struct scratch *s, struct buf *stub, const struct path_counters *t, int64_t sum)
{
	int64_t at;

	if (t->kind != CHORD_PATH_HASHED) {
		buf_str(s->out, "\tincq\t%gs:");
		entry_by(s->out, t, sum * 8, s->place->base);
		buf_char(s->out, '\n');
		return;
	}
	at = (int64_t)(hash(t, sum) * sizeof(struct chord_path_entry));
	if (!is_short(sum + 1)) {
		int a = take(s);

		buf_printf(s->out, "\tmovabsq\t$%" PRId64 ", %%%s\n\tcmpq\t%%%s, %%gs:", sum + 1, name64[a], name64[a]);
		give_back(s, a);
	} else {
		buf_printf(s->out, "\tcmpq\t$%" PRId64 ", %%gs:", sum + 1);
	}
	entry_by(s->out, t, at, s->place->base);
	buf_printf(s->out, "\n\tjne\t%s\n\tincq\t%%gs:", s->place->miss);
	entry_by(s->out, t, at + (int64_t)offsetof(struct chord_path_entry, count), s->place->base);
	buf_printf(s->out, "\n%s:\n", s->place->counted);
	begin_stub(s, stub, s->place->miss);
	look_further_known(s, stub, t, sum);
	miss(s, stub, t, -1, sum);
}

static void
add_number(struct scratch *s, int64_t n, int reg)
{
	if (is_short(n)) {
		buf_printf(s->out, "\taddq\t$%" PRId64 ", %%%s\n", n, name64[reg]);
		return;
	}
	int b = take(s);
	buf_printf(s->out, "\tmovabsq\t$%" PRId64 ", %%%s\n\taddq\t%%%s, %%%s\n", n, name64[b], name64[b], name64[reg]);
	give_back(s, b);
}

/* A register for a path register that is in none. */
static int
load(struct scratch *s, int8_t from)
{
	int a = is_room(from) ? -1 : shadow(s), r = take(s);

	if (is_room(from)) {
		room_to(s, r);
		return r;
	}

	buf_printf(s->out, "\tmovq\t%" PRId64 "(%%%s), %%%s\n", distance(s), name64[a], name64[r]);
	return r;
}

/* The hash of the sum in register a, which is lost. */
static void
record_hashed(struct scratch *s, struct buf *stub, const struct path_counters *t, int a)
{
	int b = take(s), c = take(s);

	buf_printf(s->out, "\timull\t$%d, %%%s, %%%s\n", (int32_t)CHORD_PATH_HASH, name32[a], name32[b]);
	buf_printf(s->out, "\tshrl\t$%d, %%%s\n\tshll\t$4, %%%s\n", 32 - t->bits, name32[b], name32[b]);
	buf_printf(s->out, "\tleaq\t%s+%" PRIu64 "(%%rip), %%%s\n\tincq\t%%%s\n", t->label, t->offset, name64[c], name64[a]);
	buf_printf(s->out, "\tcmpq\t%%%s, %%gs:(%%%s,%%%s)\n\tjne\t%s\n", name64[a], name64[c], name64[b], s->place->miss);
	buf_printf(s->out, "\tincq\t%%gs:%zu(%%%s,%%%s)\n%s:\n", offsetof(struct chord_path_entry, count), name64[c], name64[b],
	           s->place->counted);
	begin_stub(s, stub, s->place->miss);
	look_further(s, stub, t, a, b, c);
	give_back(s, b);
	give_back(s, c);
	miss(s, stub, t, a, 0);
}

static void
record_held(struct scratch *s, struct buf *stub, const struct path_counters *t, const struct path_op *op)
{
	int64_t more = op->sum;
	bool in_register = op->from >= 0 && !is_room(op->from);
	int r = in_register ? op->from : load(s, op->from);

	if (op->marked)
		buf_printf(s->out, "\tandq\t$-8, %%%s\n", name64[r]);

	if (t->kind == CHORD_PATH_HASHED) {
		if (more)
			add_number(s, more, r);
		record_hashed(s, stub, t, r);
	} else if (is_short(more * 8)) {
		buf_printf(s->out, "\tincq\t%%gs:%" PRId64 "(%%%s)\n", more * 8, name64[r]);
	} else {
		add_number(s, more * 8, r);
		buf_printf(s->out, "\tincq\t%%gs:(%%%s)\n", name64[r]);
	}
	if (!in_register)
		give_back(s, r);
}

/* ---- the register ---- */

/* Sets a register to the value for a sum, with a mark. */
static void
set_register(struct scratch *s, const struct path_counters *t, int reg, int64_t to, uint8_t mark)
{
	if (t->kind == CHORD_PATH_HASHED) {
		buf_printf(s->out, "\t%s\t$%" PRId64, is_short(to) ? "movq" : "movabsq", to);
	} else {
		buf_str(s->out, "\tleaq\t");
		entry_of(s->out, t, to * 8 + mark);
	}
	buf_printf(s->out, ", %%%s\n", name64[reg]);
}

static void
set(struct scratch *s, const struct path_counters *t, const struct path_op *op)
{
	int a, b;

	if (is_room(op->to)) {
		b = take(s);
		set_register(s, t, b, op->n, op->mark);
		to_room(s, b);
		give_back(s, b);
		return;
	}
	if (op->to >= 0) {
		set_register(s, t, op->to, op->n, op->mark);
		return;
	}
	a = shadow(s);
	if (t->kind == CHORD_PATH_HASHED && is_short(op->n)) {
		buf_printf(s->out, "\tmovq\t$%" PRId64 ", %" PRId64 "(%%%s)\n", op->n, distance(s), name64[a]);
		return;
	}
	b = take(s);
	set_register(s, t, b, op->n, 0);
	buf_printf(s->out, "\tmovq\t%%%s, %" PRId64 "(%%%s)\n", name64[b], distance(s), name64[a]);
	give_back(s, b);
}

/* Adds to a register, without changing flags if that is possible. */
static void
move(struct scratch *s, int from, int to, int64_t n)
{
	if (!is_short(n)) {
		if (from != to)
			buf_printf(s->out, "\tmovq\t%%%s, %%%s\n", name64[from], name64[to]);
		add_number(s, n, to);
	} else if (n) {
		buf_printf(s->out, "\tleaq\t%" PRId64 "(%%%s), %%%s\n", n, name64[from], name64[to]);
	} else if (from != to) {
		buf_printf(s->out, "\tmovq\t%%%s, %%%s\n", name64[from], name64[to]);
	}
}

static void
add_in_memory(struct scratch *s, int64_t n)
{
	int a = shadow(s), b;

	if (is_short(n)) {
		buf_printf(s->out, "\taddq\t$%" PRId64 ", %" PRId64 "(%%%s)\n", n, distance(s), name64[a]);
		return;
	}
	b = take(s);
	buf_printf(s->out, "\tmovabsq\t$%" PRId64 ", %%%s\n\taddq\t%%%s, %" PRId64 "(%%%s)\n", n, name64[b], name64[b],
	           distance(s), name64[a]);
	give_back(s, b);
}

static void
add_in_room(struct scratch *s, int64_t n)
{
	int b = is_short(n) ? -1 : take(s);

	if (b < 0) {
		buf_printf(s->out, "\taddq\t$%" PRId64 ", ", n);
	} else {
		buf_printf(s->out, "\tmovabsq\t$%" PRId64 ", %%%s\n\taddq\t%%%s, ", n, name64[b], name64[b]);
		give_back(s, b);
	}
	room(s);
	buf_char(s->out, '\n');
}

static void
from_shadow(struct scratch *s, int reg)
{
	int a = shadow(s);

	buf_printf(s->out, "\tmovq\t%" PRId64 "(%%%s), %%%s\n", distance(s), name64[a], name64[reg]);
}

static void
to_shadow(struct scratch *s, int reg)
{
	int a = shadow(s);

	buf_printf(s->out, "\tmovq\t%%%s, %" PRId64 "(%%%s)\n", name64[reg], distance(s), name64[a]);
}

/* The register to use for the path register: its own, the one where it goes, or another one. */
static int
fetch(struct scratch *s, int8_t from, int8_t to)
{
	int r;

	if (from >= 0 && !is_room(from))
		return from;
	r = to >= 0 && !is_room(to) ? to : -1;
	if (r < 0)
		return load(s, from);
	if (is_room(from))
		room_to(s, r);
	else
		from_shadow(s, r);
	return r;
}

static void
add(struct scratch *s, const struct path_op *op, int64_t n)
{
	int r;

	if (op->from == op->to && is_room(op->to)) {
		add_in_room(s, n);
		return;
	}
	if (op->from < 0 && op->to < 0) {
		add_in_memory(s, n);
		return;
	}
	r = fetch(s, op->from, op->to);
	if (op->to >= 0 && !is_room(op->to)) {
		move(s, r, op->to, n);
		return;
	}
	move(s, r, r, n);
	if (is_room(op->to))
		to_room(s, r);
	else
		to_shadow(s, r);
}

/* The most registers that it needs at a time. */
static int
registers(const struct path_op *op, const struct path_counters *t)
{
	bool hashed = t->kind == CHORD_PATH_HASHED;
	bool loads = op->from < 0 || is_room(op->from), stores = op->to < 0 || is_room(op->to);
	int record = op->record == PATH_RECORD_HELD ? loads + (hashed ? 2 : 0) : 0;
	int transfer = op->next == PATH_ADD && op->from != op->to && loads && stores;
	int set = op->next == PATH_SET ? stores && !(hashed && op->to < 0) : transfer;
	int number = !is_short(op->sum * 8 + 8) || !is_short(op->n * 8);

	if (op->traced && op->record && record < 2)
		record = 2;
	return uses_memory(op) + number + (record > set ? record : set);
}

/* A stub counts and marks what is not marked yet. */
static void
record_marked(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_counters *t,
              const struct path_place *place)
{
	struct path_op other = *op;
	struct scratch s;

	if (is_room(op->to)) {
		buf_printf(out, "\ttestb\t$%d, %d(%%rsp)\n\tje\t%s\n\tincq\t%%gs:", op->mark, -PATH_ROOM, place->miss);
		entry_by(out, t, (op->n + op->sum) * 8, place->base);
		buf_printf(out, "\n%s:\n", place->counted);
	} else {
		buf_printf(out, "\ttestb\t$%d, %%%s\n\tje\t%s\n\tincq\t%%gs:%" PRId64 "(%%%s)\n%s:\n", op->mark,
		           name8[op->to], place->miss, op->sum * 8 - op->mark, name64[op->to], place->counted);
	}
	buf_printf(stub, "%s:\n", place->miss);
	other.mark = 0;
	s = begin(stub, &other, place);
	reserve(&s, registers(&other, t));
	record_held(&s, stub, t, &other);
	set(&s, t, op);
	end(&s);
	x86_jump(stub, place->counted);
}

void
x86_path(struct buf *out, struct buf *stub, const struct path_op *op, const struct path_counters *table,
         const struct path_place *place)
{
	struct scratch s;

	if (op->mark) {
		record_marked(out, stub, op, table, place);
		return;
	}
	if (op->strikes)
		strike(out, stub, place);
	s = begin(out, op, place);
	reserve(&s, registers(op, table));
	if (op->guard)
		guard(&s, stub);
	if (op->record && op->traced)
		write_path(&s, stub, table, op);
	else if (op->record == PATH_RECORD_KNOWN)
		record_known(&s, stub, table, op->sum);
	else if (op->record == PATH_RECORD_HELD)
		record_held(&s, stub, table, op);
	if (op->next == PATH_SET)
		set(&s, table, op);
	else if (op->next == PATH_ADD)
		add(&s, op, scaled(table, op->n));
	end(&s);
}

/* ---- registers that are written down ---- */

/* Puts what is written into a register. */
static void
load_data(struct scratch *s, const struct data_op *op, int v)
{
	int64_t disp = op->base == X86_SP ? s->depth : 0;

	if (op->base == REG_THREAD) {
		buf_printf(s->out, "\tmovq\t%%fs:0, %%%s\n", name64[v]);
		return;
	}
	buf_printf(s->out, "\tlea%s\t%" PRId64 "(", op->narrow ? "l" : "q", disp);
	if (op->base >= 0)
		buf_printf(s->out, "%%%s", name64[op->base]);
	if (op->index >= 0)
		buf_printf(s->out, ",%%%s,%u", name64[op->index], op->scale);
	buf_printf(s->out, "), %%%s\n", op->narrow ? name32[v] : name64[v]);
}

/* The slot with the high or low half of the value in register v. */
static void
data_slot(struct buf *out, const struct data_op *op, int half, int v, int to)
{
	if (half) {
		buf_printf(out, "\tleal\t%d(,%%%s,8), %%%s\n", CHORD_MARK_MORE, name64[v], name32[to]);
		return;
	}
	if (v != to)
		buf_printf(out, "\tmovq\t%%%s, %%%s\n", name64[v], name64[to]);
	buf_printf(out, "\tshrq\t$%d, %%%s\n\tandl\t$%d, %%%s\n\torl\t$%u, %%%s\n", CHORD_DATA_LOW - CHORD_DATA_HIGH,
	           name64[to], -(1 << CHORD_DATA_HIGH), name32[to], CHORD_DATA_FIRST(op->check), name32[to]);
}

/* As write_path(). The slot is taken by another instruction: where it is added to the cursor, no path's slot is taken. */
static void
write_data(struct scratch *s, struct buf *stub, const struct data_op *op, int half, int v)
{
	int p = take(s), c = take(s);
	char miss[64];

	snprintf(miss, sizeof miss, "%s_%c", s->place->miss, half ? 'b' : 'a');
	take_slot(s, stub, "subq\t$-4", miss, p, c);
	data_slot(s->out, op, half, v, c);
	buf_printf(s->out, "\tmovl\t%%%s, -4(%%%s)\n%s_%d:\n", name32[c], name64[p], s->place->counted, half);

	buf_printf(stub, "%s:\n\tsubw\t$4, %%%s\n", miss, name16[p]);
	moved(stub, s, s->depth);
	lower(s, stub, 3);
	buf_printf(stub, "\tmovq\t%%rax, 8(%%rsp)\n\tmovq\t%%rcx, (%%rsp)\n\tmovq\t%%%s, 16(%%rsp)\n", name64[p]);
	data_slot(stub, op, half, v, RCX);
	buf_str(stub, "\tmovq\t16(%rsp), %rax\n\tcall\t__chord_trace_slow\n\tmovq\t(%rsp), %rcx\n\tmovq\t8(%rsp), %rax\n");
	raise_again(s, stub, 3);
	buf_printf(stub, "\tjmp\t%s_%d\n", s->place->counted, half);
	moved(stub, s, -s->depth);
	give_back(s, p);
	give_back(s, c);
}

void
x86_data(struct buf *out, struct buf *stub, const struct data_op *op, const struct path_place *place)
{
	struct scratch s = {.out = out, .place = place, .rax_in = -1, .shadow = -1};
	uint16_t never = (uint16_t)(X86_RSP | X86_CURSOR | (op->base == REG_THREAD ? 0 : bit(op->base)) | bit(op->index));
	uint16_t flags = place->live.flags_live ? X86_RAX : 0;
	int v;

	s.dead = (uint16_t)(X86_ALL_REGS & ~place->live.regs_live & ~never & ~flags);
	s.used = never | flags;
	reserve(&s, 1);
	v = take(&s);
	load_data(&s, op, v);
	s.used = (uint16_t)(never | 1u << v);
	if (flags && !((place->live.regs_live | never) & X86_RAX))
		s.dead |= X86_RAX;
	if (flags)
		keep_flags(&s);
	reserve(&s, 2);
	write_data(&s, stub, op, 0, v);
	write_data(&s, stub, op, 1, v);
	end(&s);
}
