/* SPDX-License-Identifier: MIT */
/* Instructions whose result the program does not determine. They read the time stamp counter, random numbers, or the number of the
 * processor, which cpuid tells, too. Each has two bytes or more. The kernel can make those that read the time trap (PR_SET_TSC). If
 * the kernel is itself a guest that cannot do this (PVM), it does not say so. */
#include "machine/x86_64/x86_64.h"

#ifdef __x86_64__

#include <cpuid.h>
#include <stddef.h>
#include <string.h>
#include <sys/user.h>
#include <x86intrin.h>

/* clts, which only the kernel may execute: it gives SIGSEGV. */
const uint8_t x86_nondet_trap[X86_NONDET_TRAP] = {0x0f, 0x06};

#define WORD(name) (offsetof(struct user_regs_struct, name) / sizeof(uint64_t))

/* Bytes after 0f: of rdtsc; of rdtscp, which has two; of cpuid; of a group whose instructions /6 and /7 with a register are meant
 * here. */
enum { TIME = 0x31, SYSTEM = 0x01, TIME_AND_PROCESSOR = 0xf9, CPUID = 0xa2, GROUP = 0xc7, GROUP_FROM = 0xf0 };

struct parsed {
	enum nondeterminism kind;
	uint8_t len, size, reg;  /* size: bytes of its result, which goes to register word `reg` */
};

/* Does this processor have the instruction? Other processors do something else for the same bytes. */
static bool
has(enum nondeterminism kind)
{
	unsigned a, b, c, d;

	if (kind == NONDET_NOT || !__get_cpuid_count(kind == NONDET_RANDOM ? 1 : 7, 0, &a, &b, &c, &d))
		return false;
	return kind == NONDET_RANDOM ? c & bit_RDRND : kind == NONDET_SEED ? b & bit_RDSEED : c & bit_RDPID;
}

static void
parse_group(const uint8_t *bytes, size_t n, struct parsed *p)
{
	bool word = false, repeated = false;
	uint8_t rex = 0, modrm;
	size_t i = 0;

	for (; i < n && (bytes[i] == 0x66 || bytes[i] == 0xf3); i++) {
		word |= bytes[i] == 0x66;
		repeated |= bytes[i] == 0xf3;
	}
	if (i < n && (bytes[i] & 0xf0) == 0x40)
		rex = bytes[i++];
	if (i + 3 > n || bytes[i] != 0x0f || bytes[i + 1] != GROUP || bytes[i + 2] < GROUP_FROM)
		return;
	modrm = bytes[i + 2];
	if (repeated)
		p->kind = modrm & 8 ? NONDET_PROCESSOR : NONDET_NOT;
	else
		p->kind = modrm & 8 ? NONDET_SEED : NONDET_RANDOM;
	if (!has(p->kind))
		p->kind = NONDET_NOT;
	p->len = (uint8_t)(i + 3);
	p->size = repeated || rex & 8 ? 8 : word ? 2 : 4;
	p->reg = x86_word[(modrm & 7) | (rex & 1) << 3];
}

static struct parsed
parse(const uint8_t *bytes, size_t n)
{
	struct parsed p = {0};

	if (n >= 2 && bytes[0] == 0x0f && bytes[1] == TIME)
		p = (struct parsed){.kind = NONDET_TIME, .len = 2};
	else if (n >= 3 && bytes[0] == 0x0f && bytes[1] == SYSTEM && bytes[2] == TIME_AND_PROCESSOR)
		p = (struct parsed){.kind = NONDET_TIME_AND_PROCESSOR, .len = 3};
	else if (n >= 2 && bytes[0] == 0x0f && bytes[1] == CPUID)
		p = (struct parsed){.kind = NONDET_IDENTITY, .len = 2};
	else
		parse_group(bytes, n, &p);
	return p;
}

enum nondeterminism
x86_nondet(const uint8_t *bytes, size_t n)
{
	return parse(bytes, n).kind;
}

__attribute__((target("rdrnd"))) static struct nondet_result
draw(void)
{
	unsigned long long v = 0;
	bool ok = _rdrand64_step(&v);

	return (struct nondet_result){v, ok};
}

__attribute__((target("rdseed"))) static struct nondet_result
seed(void)
{
	unsigned long long v = 0;
	bool ok = _rdseed64_step(&v);

	return (struct nondet_result){v, ok};
}

static struct nondet_result
identify(const struct traced_regs *regs)
{
	uint32_t a, b, c, d;

	__cpuid_count((uint32_t)regs->word[WORD(rax)], (uint32_t)regs->word[WORD(rcx)], a, b, c, d);
	return (struct nondet_result){a | (uint64_t)b << 32, c | (uint64_t)d << 32};
}

struct nondet_result
x86_nondet_make(enum nondeterminism kind, const struct traced_regs *regs)
{
	struct nondet_result r = {0};
	unsigned processor;

	switch (kind) {
	case NONDET_NOT: break;
	case NONDET_TIME: case NONDET_TIME_AND_PROCESSOR:
		r.value = __rdtscp(&processor);
		r.more = processor;
		break;
	case NONDET_RANDOM: return draw();
	case NONDET_SEED: return seed();
	case NONDET_PROCESSOR:
		__rdtscp(&processor);
		r.value = processor;
		break;
	case NONDET_IDENTITY: return identify(regs);
	}
	return r;
}

/* If there is no random number, the register is zero. The carry flag tells the two cases apart; parity, adjust, zero, sign and
 * overflow are clear. */
static void
give_random(struct traced_regs *r, const struct parsed *p, const struct nondet_result *result)
{
	enum { CARRY = 1, FLAGS = 0x8d5 };
	uint64_t v = result->more ? result->value : 0, *reg = &r->word[p->reg];

	*reg = p->size == 8 ? v : p->size == 4 ? (uint32_t)v : (*reg & ~(uint64_t)0xffff) | (v & 0xffff);
	r->word[WORD(eflags)] = (r->word[WORD(eflags)] & ~(uint64_t)FLAGS) | (result->more ? CARRY : 0);
}

void
x86_nondet_give(struct traced_regs *r, const uint8_t *bytes, size_t n, const struct nondet_result *result)
{
	struct parsed p = parse(bytes, n);

	switch (p.kind) {
	case NONDET_NOT: break;
	case NONDET_TIME_AND_PROCESSOR:
		r->word[WORD(rcx)] = (uint32_t)result->more;
		/* fallthrough */
	case NONDET_TIME:
		r->word[WORD(rax)] = (uint32_t)result->value;
		r->word[WORD(rdx)] = result->value >> 32;
		break;
	case NONDET_RANDOM: case NONDET_SEED: give_random(r, &p, result); break;
	case NONDET_PROCESSOR: r->word[p.reg] = result->value; break;
	case NONDET_IDENTITY:
		r->word[WORD(rax)] = (uint32_t)result->value;
		r->word[WORD(rbx)] = result->value >> 32;
		r->word[WORD(rcx)] = (uint32_t)result->more;
		r->word[WORD(rdx)] = result->more >> 32;
		break;
	}
	r->word[WORD(rip)] += p.len;
}

const uint8_t *
x86_nondet_find(const uint8_t *from, const uint8_t *end)
{
	for (const uint8_t *at = from; end - at > 1 && (at = memchr(at, 0x0f, (size_t)(end - at - 1))); at++)
		if (at[1] == TIME || at[1] == CPUID || (at[1] == GROUP && end - at > 2 && at[2] >= GROUP_FROM) ||
		    (at[1] == SYSTEM && end - at > 2 && at[2] == TIME_AND_PROCESSOR))
			return at;
	return NULL;
}

#endif
