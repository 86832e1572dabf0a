/* SPDX-License-Identifier: MIT */
/* What instructions do, for instructions that the real assembler made, and which events follow from that. */
#include "asm/event.h"
#include "tests/unit/assembled.h"

#include <unistd.h>

enum { A = 1, F = 2, V = 4, D = 8 };

static const struct expected {
	const char *text;
	unsigned loads, bytes_loaded, stores, bytes_stored, is;
	const char *mnemonic;
} table[] = {
	/* nothing is accessed */
	{"nop", 0, 0, 0, 0, 0, "nop"},
	{"nopw 0(%rax,%rax)", 0, 0, 0, 0, 0, "nop"},
	{"endbr64", 0, 0, 0, 0, 0, "endbr64"},
	{"lea 8(%rax),%rbx", 0, 0, 0, 0, 0, "lea"},
	{"prefetcht0 (%rax)", 0, 0, 0, 0, 0, "prefetcht0"},
	{"prefetchw (%rax)", 0, 0, 0, 0, 0, "prefetchw"},
	{"prefetchnta (%rax)", 0, 0, 0, 0, 0, "prefetchnta"},
	{"clflush (%rax)", 0, 0, 0, 0, 0, "clflush"},
	{"clflushopt (%rax)", 0, 0, 0, 0, 0, "clflushopt"},
	{"clwb (%rax)", 0, 0, 0, 0, 0, "clwb"},
	{"ud2", 0, 0, 0, 0, 0, "ud2"},
	{"syscall", 0, 0, 0, 0, 0, "syscall"},
	{"mfence", 0, 0, 0, 0, 0, "mfence"},
	{"jne 1b", 0, 0, 0, 0, 0, "jnz"},
	{"jmp 1b", 0, 0, 0, 0, 0, "jmp"},
	{"cmpl $1,%eax", 0, 0, 0, 0, 0, "cmp"},
	{"movslq %eax,%rdx", 0, 0, 0, 0, 0, "movsxd"},
	/* operands */
	{"mov (%rax),%ebx", 1, 4, 0, 0, 0, "mov"},
	{"mov %bl,(%rax)", 0, 0, 1, 1, 0, "mov"},
	{"movabs 0x1122334455667788,%rax", 1, 8, 0, 0, 0, "mov"},
	{"movzwl (%rax),%ebx", 1, 2, 0, 0, 0, "movzx"},
	{"movbe %rax,(%rbx)", 0, 0, 1, 8, 0, "movbe"},
	{"addq %rax,(%rbx)", 1, 8, 1, 8, 0, "add"},
	{"cmpl $1,(%rax)", 1, 4, 0, 0, 0, "cmp"},
	{"testb $1,(%rax)", 1, 1, 0, 0, 0, "test"},
	{"negq (%rax)", 1, 8, 1, 8, 0, "neg"},
	{"setne (%rax)", 0, 0, 1, 1, 0, "setnz"},
	{"cmovne (%rax),%rbx", 1, 8, 0, 0, 0, "cmovnz"},
	{"bt %eax,(%rbx)", 1, 4, 0, 0, 0, "bt"},
	{"btsl $3,(%rbx)", 1, 4, 1, 4, 0, "bts"},
	{"shlq %cl,(%rax)", 1, 8, 1, 8, 0, "shl"},
	{"imul (%rax),%rbx", 1, 8, 0, 0, 0, "imul"},
	{"mulq (%rax)", 1, 8, 0, 0, 0, "mul"},
	{"crc32q (%rax),%rbx", 1, 8, 0, 0, 0, "crc32"},
	{"popcntq (%rax),%rbx", 1, 8, 0, 0, 0, "popcnt"},
	{"mov %fs:0x28,%rax", 1, 8, 0, 0, 0, "mov"},
	{"incq %gs:0(%rip)", 1, 8, 1, 8, 0, "inc"},
	/* implied */
	{"push %rax", 0, 0, 1, 8, 0, "push"},
	{"push $1", 0, 0, 1, 8, 0, "push"},
	{"pushq (%rax)", 1, 8, 1, 8, 0, "push"},
	{"pop %rax", 1, 8, 0, 0, 0, "pop"},
	{"popq (%rax)", 1, 8, 1, 8, 0, "pop"},
	{"pushfq", 0, 0, 1, 8, 0, "pushfq"},
	{"popfq", 1, 8, 0, 0, 0, "popfq"},
	{"leave", 1, 8, 0, 0, 0, "leave"},
	{"enter $16,$0", 0, 0, 1, 8, 0, "enter"},
	{"call 1b", 0, 0, 1, 8, 0, "call"},
	{"call *%rax", 0, 0, 1, 8, 0, "call"},
	{"call *(%rax)", 1, 8, 1, 8, 0, "call"},
	{"jmp *(%rax)", 1, 8, 0, 0, 0, "jmp"},
	{"ret", 1, 8, 0, 0, 0, "ret"},
	{"ret $16", 1, 8, 0, 0, 0, "ret"},
	{"xlat", 1, 1, 0, 0, 0, "xlat"},
	/* strings: one round */
	{"movsb", 1, 1, 1, 1, 0, "movsb"},
	{"rep movsq", 1, 8, 1, 8, 0, "movsq"},
	{"rep stosl", 0, 0, 1, 4, 0, "stosd"},
	{"lodsw", 1, 2, 0, 0, 0, "lodsw"},
	{"repe cmpsb", 2, 2, 0, 0, 0, "cmpsb"},
	{"repne scasb", 1, 1, 0, 0, 0, "scasb"},
	/* atomics */
	{"lock incl (%rax)", 1, 4, 1, 4, A, "inc"},
	{"xchg %rax,(%rbx)", 1, 8, 1, 8, A, "xchg"},
	{"xchg %rax,%rbx", 0, 0, 0, 0, 0, "xchg"},
	{"xchg %al,%bl", 0, 0, 0, 0, 0, "xchg"},
	{"cmpxchg %rax,(%rbx)", 1, 8, 1, 8, 0, "cmpxchg"},
	{"lock cmpxchg %rax,(%rbx)", 1, 8, 1, 8, A, "cmpxchg"},
	{"lock cmpxchg16b (%rbx)", 1, 16, 1, 16, A, "cmpxchg16b"},
	{"lock xadd %eax,(%rbx)", 1, 4, 1, 4, A, "xadd"},
	/* divisions */
	{"divl %ecx", 0, 0, 0, 0, D, "div"},
	{"idivq (%rax)", 1, 8, 0, 0, D, "idiv"},
	{"divsd %xmm0,%xmm1", 0, 0, 0, 0, F | D, "divsd"},
	{"vdivps (%rax),%ymm0,%ymm1", 1, 32, 0, 0, F | V | D, "vdivps"},
	{"sqrtss (%rax),%xmm1", 1, 4, 0, 0, F | D, "sqrtss"},
	{"vsqrtpd %zmm0,%zmm1", 0, 0, 0, 0, F | V | D, "vsqrtpd"},
	{"rsqrtss %xmm0,%xmm1", 0, 0, 0, 0, F, "rsqrtss"},
	{"vrcp14ps %zmm0,%zmm1", 0, 0, 0, 0, F | V, "vrcp14ps"},
	/* x87 */
	{"flds (%rax)", 1, 4, 0, 0, 0, "fld"},
	{"fldt (%rax)", 1, 10, 0, 0, 0, "fld"},
	{"fld1", 0, 0, 0, 0, 0, "fld1"},
	{"fstpl (%rax)", 0, 0, 1, 8, 0, "fstp"},
	{"fxch", 0, 0, 0, 0, 0, "fxch"},
	{"fnstcw (%rax)", 0, 0, 1, 2, 0, "fnstcw"},
	{"fldcw (%rax)", 1, 2, 0, 0, 0, "fldcw"},
	{"fnstsw %ax", 0, 0, 0, 0, 0, "fnstsw"},
	{"fnstenv (%rax)", 0, 0, 1, 28, 0, "fnstenv"},
	{"fwait", 0, 0, 0, 0, 0, "fwait"},
	{"fcmovb %st(1),%st", 0, 0, 0, 0, 0, "fcmovb"},
	{"filds (%rax)", 1, 2, 0, 0, F, "fild"},
	{"fistpll (%rax)", 0, 0, 1, 8, F, "fistp"},
	{"faddl (%rax)", 1, 8, 0, 0, F, "fadd"},
	{"fchs", 0, 0, 0, 0, F, "fchs"},
	{"fucomip %st(1),%st", 0, 0, 0, 0, F, "fucomip"},
	{"fdivrp", 0, 0, 0, 0, F | D, "fdivp"},
	{"fsqrt", 0, 0, 0, 0, F | D, "fsqrt"},
	{"fyl2x", 0, 0, 0, 0, F, "fyl2x"},
	{"fincstp", 0, 0, 0, 0, 0, "fincstp"},
	/* scalar floating point */
	{"addss (%rax),%xmm0", 1, 4, 0, 0, F, "addss"},
	{"vaddsd (%rax),%xmm0,%xmm1", 1, 8, 0, 0, F, "vaddsd"},
	{"ucomisd %xmm0,%xmm1", 0, 0, 0, 0, F, "ucomisd"},
	{"cvtsi2sdl (%rax),%xmm0", 1, 4, 0, 0, F, "cvtsi2sd"},
	{"cvttsd2si %xmm0,%rax", 0, 0, 0, 0, F, "cvttsd2si"},
	{"vcvttss2usi %xmm0,%eax", 0, 0, 0, 0, F, "vcvttss2usi"},
	{"cvtss2sd %xmm0,%xmm1", 0, 0, 0, 0, F, "cvtss2sd"},
	{"roundsd $1,%xmm0,%xmm1", 0, 0, 0, 0, F, "roundsd"},
	{"cmpltsd %xmm0,%xmm1", 0, 0, 0, 0, F, "cmpsd"},
	{"vfmadd213ss (%rax),%xmm1,%xmm2", 1, 4, 0, 0, F, "vfmadd213ss"},
	{"vgetexpss %xmm0,%xmm1,%xmm2", 0, 0, 0, 0, F, "vgetexpss"},
	{"vdivsh %xmm0,%xmm1,%xmm2", 0, 0, 0, 0, F | D, "vdivsh"},
	{"vcomish %xmm0,%xmm1", 0, 0, 0, 0, F, "vcomish"},
	/* packed floating point */
	{"addps %xmm1,%xmm0", 0, 0, 0, 0, F | V, "addps"},
	{"vfmadd213pd (%rax),%ymm1,%ymm2", 1, 32, 0, 0, F | V, "vfmadd213pd"},
	{"vaddps (%rax){1to16},%zmm0,%zmm1", 1, 4, 0, 0, F | V, "vaddps"},
	{"vaddph %zmm0,%zmm1,%zmm2", 0, 0, 0, 0, F | V, "vaddph"},
	{"cvtdq2pd %xmm0,%xmm1", 0, 0, 0, 0, F | V, "cvtdq2pd"},
	{"vcvtph2ps (%rax),%ymm1", 1, 16, 0, 0, F | V, "vcvtph2ps"},
	{"cmpleps %xmm0,%xmm1", 0, 0, 0, 0, F | V, "cmpps"},
	{"dpps $1,%xmm0,%xmm1", 0, 0, 0, 0, F | V, "dpps"},
	{"vdpbf16ps %zmm0,%zmm1,%zmm2", 0, 0, 0, 0, F | V, "vdpbf16ps"},
	{"vfpclassps $1,%zmm0,%k1", 0, 0, 0, 0, F | V, "vfpclassps"},
	/* moves */
	{"movss (%rax),%xmm0", 1, 4, 0, 0, 0, "movss"},
	{"movaps %xmm0,(%rax)", 0, 0, 1, 16, 0, "movaps"},
	{"movups %xmm0,%xmm1", 0, 0, 0, 0, 0, "movups"},
	{"movd %eax,%xmm0", 0, 0, 0, 0, 0, "movd"},
	{"movhps %xmm0,(%rax)", 0, 0, 1, 8, 0, "movhps"},
	{"movddup (%rax),%xmm0", 1, 8, 0, 0, 0, "movddup"},
	{"lddqu (%rax),%xmm0", 1, 16, 0, 0, 0, "lddqu"},
	{"movntdq %xmm0,(%rax)", 0, 0, 1, 16, 0, "movntdq"},
	{"vmovdqu64 (%rax),%ymm16", 1, 32, 0, 0, 0, "vmovdqu64"},
	{"vbroadcastss (%rax),%ymm0", 1, 4, 0, 0, 0, "vbroadcastss"},
	{"vpbroadcastb %xmm0,%ymm0", 0, 0, 0, 0, 0, "vpbroadcastb"},
	{"pinsrd $1,(%rax),%xmm0", 1, 4, 0, 0, 0, "pinsrd"},
	{"pextrw $1,%xmm0,%eax", 0, 0, 0, 0, 0, "pextrw"},
	{"vextractf128 $1,%ymm0,(%rax)", 0, 0, 1, 16, 0, "vextractf128"},
	{"vzeroupper", 0, 0, 0, 0, 0, "vzeroupper"},
	{"pxor %xmm0,%xmm0", 0, 0, 0, 0, 0, "pxor"},
	{"vxorps %xmm1,%xmm1,%xmm0", 0, 0, 0, 0, 0, "vxorps"},
	{"vpxord %zmm1,%zmm1,%zmm0", 0, 0, 0, 0, 0, "vpxord"},
	/* integers and bits */
	{"pxor %xmm1,%xmm0", 0, 0, 0, 0, V, "pxor"},
	{"andps (%rax),%xmm0", 1, 16, 0, 0, V, "andps"},
	{"paddd (%rax),%xmm0", 1, 16, 0, 0, V, "paddd"},
	{"pabsd %xmm1,%xmm0", 0, 0, 0, 0, V, "pabsd"},
	{"paddb %mm0,%mm1", 0, 0, 0, 0, V, "paddb"},
	{"vpdpbusd %ymm0,%ymm1,%ymm2", 0, 0, 0, 0, V, "vpdpbusd"},
	{"pmovmskb %xmm0,%eax", 0, 0, 0, 0, V, "pmovmskb"},
	{"movmskpd %xmm0,%eax", 0, 0, 0, 0, V, "movmskpd"},
	{"vpmovzxbw (%rax),%ymm0", 1, 16, 0, 0, V, "vpmovzxbw"},
	{"shufps $0,(%rax),%xmm1", 1, 16, 0, 0, V, "shufps"},
	{"unpcklpd (%rax),%xmm1", 1, 16, 0, 0, V, "unpcklpd"},
	{"vpermilps $1,%ymm0,%ymm1", 0, 0, 0, 0, V, "vpermilps"},
	{"vperm2f128 $1,%ymm0,%ymm1,%ymm1", 0, 0, 0, 0, V, "vperm2f128"},
	{"blendvps %xmm0,%xmm1,%xmm2", 0, 0, 0, 0, V, "blendvps"},
	{"vtestps %xmm0,%xmm1", 0, 0, 0, 0, V, "vtestps"},
	{"aesenc %xmm0,%xmm1", 0, 0, 0, 0, V, "aesenc"},
	{"pcmpistri $1,(%rax),%xmm1", 1, 16, 0, 0, V, "pcmpistri"},
	{"vpcmpeqb (%rax),%zmm1,%k1", 1, 64, 0, 0, V, "vpcmpeqb"},
	{"kandw %k1,%k2,%k3", 0, 0, 0, 0, 0, "kandw"},
	/* under a mask */
	{"vmaskmovps (%rax),%ymm1,%ymm2", 1, 32, 0, 0, 0, "vmaskmovps"},
	{"vpmaskmovd %ymm2,%ymm1,(%rax)", 0, 0, 1, 32, 0, "vpmaskmovd"},
	{"maskmovdqu %xmm0,%xmm1", 0, 0, 1, 16, 0, "maskmovdqu"},
	{"vmovdqu32 %zmm0,(%rax){%k1}", 0, 0, 1, 64, 0, "vmovdqu32"},
	{"vpcompressd %zmm0,(%rax){%k1}", 0, 0, 1, 64, V, "vpcompressd"},
	/* an access an element */
	{"vgatherdps %ymm1,(%rax,%ymm2,4),%ymm3", 8, 32, 0, 0, 0, "vgatherdps"},
	{"vgatherdpd %ymm1,(%rax,%xmm2,4),%ymm3", 4, 32, 0, 0, 0, "vgatherdpd"},
	{"vgatherqps %xmm1,(%rax,%ymm2,4),%xmm3", 4, 16, 0, 0, 0, "vgatherqps"},
	{"vgatherqps %xmm1,(%rax,%xmm2,4),%xmm3", 2, 8, 0, 0, 0, "vgatherqps"},
	{"vpgatherqd (%rax,%zmm2,4),%ymm3{%k1}", 8, 32, 0, 0, 0, "vpgatherqd"},
	{"vpgatherdd (%rax,%zmm2,4),%zmm3{%k1}", 16, 64, 0, 0, 0, "vpgatherdd"},
	{"vscatterqpd %xmm3,(%rax,%xmm2,4){%k1}", 0, 0, 2, 16, 0, "vscatterqpd"},
	{"vgatherpf0dps (%rax,%zmm2,4){%k1}", 0, 0, 0, 0, 0, "vgatherpf0dps"},
	/* areas */
	{"fxsave (%rax)", 0, 0, 1, 512, 0, "fxsave"},
	{"xrstor (%rax)", 1, 576, 0, 0, 0, "xrstor"},
	{"xsavec (%rax)", 0, 0, 1, 576, 0, "xsavec"},
	{"movdir64b (%rax),%rbx", 1, 64, 1, 64, 0, "movdir64b"},
	{"stmxcsr (%rax)", 0, 0, 1, 4, 0, "stmxcsr"},
};
enum { N = sizeof table / sizeof *table };

/* The text, assembled: .text of an object. Each instruction is filled up to 16 bytes, so that where they are is known
 * without decoding. */
static struct object *
assemble(struct pool *pool, struct buf *bytes)
{
	struct buf text = {0};
	struct object *o;

	buf_str(&text, "1:\n");
	for (size_t i = 0; i < N; i++)
		buf_printf(&text, "\t.balign 16, 0x90\n\t%s\n", table[i].text);
	buf_str(&text, "\t.balign 16, 0x90\n");
	buf_char(&text, '\0');
	o = assemble_object(pool, text.at, bytes);
	buf_free(&text);
	return o;
}

static unsigned
kinds(const struct facts *f)
{
	return (f->atomic ? A : 0) | (f->fp ? F : 0) | (f->vector ? V : 0) | (f->divide ? D : 0);
}

static void
event_facts_of_instructions(void **state)
{
	struct pool *pool = pool_new();
	struct buf bytes = {0};
	struct object *o = assemble(pool, &bytes);
	const struct obj_section *text = section_of(o, ".text");

	(void)state;
	for (size_t i = 0, at = 0; i < N; i++, at += 16) {
		const struct expected *x = &table[i];
		struct facts f;

		if (!machine_of_host()->facts(text->data + at, text->size - at, &f))
			fail_msg("%s: does not decode", x->text);
		if (f.loads != x->loads || f.bytes_loaded != x->bytes_loaded || f.stores != x->stores ||
		    f.bytes_stored != x->bytes_stored || kinds(&f) != x->is || strcmp(f.mnemonic, x->mnemonic))
			fail_msg("%s: %s, loads %u/%u, stores %u/%u, kinds %x", x->text, f.mnemonic, f.loads, f.bytes_loaded,
			         f.stores, f.bytes_stored, kinds(&f));
	}
	object_free(o);
	buf_free(&bytes);
	pool_free(pool);
}

static void
event_no_facts_of_no_instruction(void **state)
{
	struct facts f;

	(void)state;
	assert_false(machine_of_host()->facts((const uint8_t *)"\x06", 1, &f));
	assert_false(machine_of_host()->facts((const uint8_t *)"\x48", 1, &f));
	assert_false(machine_of_host()->facts((const uint8_t *)"", 0, &f));
}

/* ---- lists ---- */

static struct event_list
list(struct pool *pool, const char *text)
{
	struct event_list l;
	const char *why;

	if (!event_list_read(pool, text, &l, &why))
		fail_msg("%s: %s", text, why);
	return l;
}

static void
wrong(struct pool *pool, const char *text, const char *expected)
{
	struct event_list l;
	const char *why;

	if (event_list_read(pool, text, &l, &why))
		fail_msg("'%s' is taken", text);
	if (!strstr(why, expected))
		fail_msg("'%s': '%s', not '%s'", text, why, expected);
}

static void
event_lists(void **state)
{
	struct pool *pool = pool_new();
	struct event_list l = list(pool, "loads,insn:/^v.{1,3}(add|mul)/,call:read|write,loads");

	(void)state;
	assert_int_equal(l.n, 3);
	assert_int_equal(l.at[0].kind, EVENT_LOADS);
	assert_string_equal(l.at[1].name, "insn:/^v.{1,3}(add|mul)/");
	assert_string_equal(l.at[2].name, "call:read|write");
	event_list_free(&l);
	for (unsigned i = 0; event_name(i); i++) {
		l = list(pool, event_name(i));
		assert_int_equal(l.at[0].kind, i);
		event_list_free(&l);
	}
	wrong(pool, "", "an empty name");
	wrong(pool, "loads,", "an empty name");
	wrong(pool, ",loads", "an empty name");
	wrong(pool, "lods", "'lods' is no event; there are instructions, blocks");
	wrong(pool, "Loads", "no event");
	wrong(pool, "call:", "an empty pattern");
	wrong(pool, "insn:a||b", "an empty pattern");
	wrong(pool, "insn:/(/", "insn:/(/: /(/: ");
	wrong(pool, "insn:/a", "between two slashes");
	wrong(pool, "loads,call:/", "between two slashes");
	wrong(pool, "cost:", "needs the name of a file");
	wrong(pool, "cost:/nowhere/at/all", "/nowhere/at/all: No such file");
	wrong(pool, "insn:\001", "control characters");
	pool_free(pool);
}

static uint64_t
of(const struct event *e, uint8_t cls, struct facts f, const char *callee)
{
	struct insn in = {.cls = cls};

	if (!f.mnemonic)
		f.mnemonic = "mov";
	return event_of_insn(e, &in, &f, callee);
}

static void
event_patterns(void **state)
{
	struct pool *pool = pool_new();
	struct event_list l = list(pool, "call:read|*lock,call:/^pthread_/,insn:v*|div,insn:/add/");
	const struct facts none = {0};

	(void)state;
	assert_int_equal(of(&l.at[0], CHORD_INSN_CALL, none, "read"), 1);
	assert_int_equal(of(&l.at[0], CHORD_INSN_CALL, none, "pread"), 0);
	assert_int_equal(of(&l.at[0], CHORD_INSN_ICALL, none, "pthread_mutex_lock"), 1);
	assert_int_equal(of(&l.at[0], CHORD_INSN_JUMP, none, "read"), 1);
	assert_int_equal(of(&l.at[0], CHORD_INSN_BRANCH, none, "read"), 0);
	assert_int_equal(event_of_jump_out(&l.at[0], "read"), 1);
	assert_int_equal(event_of_jump_out(&l.at[0], NULL), 0);
	assert_int_equal(of(&l.at[0], CHORD_INSN_CALL, none, NULL), 0);
	assert_int_equal(of(&l.at[1], CHORD_INSN_CALL, none, "pthread_create"), 1);
	assert_int_equal(of(&l.at[1], CHORD_INSN_CALL, none, "my_pthread_create"), 0);
	assert_int_equal(of(&l.at[2], 0, (struct facts){.mnemonic = "vaddps"}, NULL), 1);
	assert_int_equal(of(&l.at[2], 0, (struct facts){.mnemonic = "div"}, NULL), 1);
	assert_int_equal(of(&l.at[2], 0, (struct facts){.mnemonic = "idiv"}, NULL), 0);
	assert_int_equal(of(&l.at[3], 0, (struct facts){.mnemonic = "vaddps"}, NULL), 1);
	event_list_free(&l);
	pool_free(pool);
}

static void
event_plain_ones(void **state)
{
	static const struct { const char *name; uint8_t cls; struct facts f; uint64_t n; } t[] = {
		{"instructions", CHORD_INSN_PAD, {0}, 1},
		{"branches", CHORD_INSN_BRANCH, {0}, 1}, {"branches", CHORD_INSN_JUMP, {0}, 0},
		{"calls", CHORD_INSN_CALL, {0}, 1}, {"calls", CHORD_INSN_ICALL, {0}, 1}, {"calls", CHORD_INSN_JUMP, {0}, 0},
		{"indirect-calls", CHORD_INSN_ICALL, {0}, 1}, {"indirect-calls", CHORD_INSN_CALL, {0}, 0},
		{"returns", CHORD_INSN_RET, {0}, 1},
		{"loads", 0, {.loads = 16, .bytes_loaded = 64}, 16}, {"bytes-loaded", 0, {.loads = 16, .bytes_loaded = 64}, 64},
		{"stores", 0, {.stores = 2, .bytes_stored = 9}, 2}, {"bytes-stored", 0, {.stores = 2, .bytes_stored = 9}, 9},
		{"atomics", 0, {.atomic = true}, 1}, {"fp", 0, {.fp = true}, 1}, {"vector", 0, {.vector = true}, 1},
		{"divides", 0, {.divide = true}, 1}, {"blocks", 0, {.loads = 1}, 0}, {"taken", CHORD_INSN_BRANCH, {0}, 0},
		{"backward-branches", CHORD_INSN_BRANCH, {0}, 0},
	};
	struct pool *pool = pool_new();
	struct event_list l = list(pool, "blocks,taken,backward-branches,loads");

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof *t; i++) {
		struct event_list one = list(pool, t[i].name);

		if (of(&one.at[0], t[i].cls, t[i].f, NULL) != t[i].n)
			fail_msg("%s: case %zu", t[i].name, i);
	}
	assert_int_equal(event_of_block(&l.at[0]), 1);
	assert_int_equal(event_of_block(&l.at[1]), 0);
	assert_int_equal(event_of_edge(&l.at[1], CHORD_EDGE_TAKEN, false), 1);
	assert_int_equal(event_of_edge(&l.at[1], CHORD_EDGE_FALL, true), 0);
	assert_int_equal(event_of_edge(&l.at[2], CHORD_EDGE_TAKEN, false), 0);
	assert_int_equal(event_of_edge(&l.at[2], CHORD_EDGE_JUMP, true), 1);
	assert_int_equal(event_of_edge(&l.at[2], CHORD_EDGE_INDIRECT, true), 1);
	assert_int_equal(event_of_edge(&l.at[2], CHORD_EDGE_FALL, true), 0);
	assert_int_equal(event_of_edge(&l.at[3], CHORD_EDGE_TAKEN, true), 0);
	event_list_free(&l);
	pool_free(pool);
}

/* ---- cost tables ---- */

static char folder[] = "/tmp/chord-costs-XXXXXX";

/* `cost:PATH` of a file with that text. */
static const char *
costs(struct pool *pool, const char *name, const char *text)
{
	const char *path = pool_printf(pool, "%s/%s", folder, name);

	assert_true(file_write(path, text, strlen(text)));
	return pool_printf(pool, "cost:%s", path);
}

static void
event_cost_tables(void **state)
{
	struct pool *pool = pool_new();
	struct event_list l = list(pool, costs(pool, "model", "# another machine\ninsn:lea|imul 3\n\ndivide\t20 # slow\n"
	                                       "call 5\nindirect-call 9\nfp 4\nload 2\nstore 1\ntaken 7\ndefault 1\nnop 0"));
	const struct event *e = &l.at[0];

	(void)state;
	assert_int_equal(strlen(e->name), strlen("cost:model#01234567"));
	assert_memory_equal(e->name, "cost:model#", strlen("cost:model#"));
	assert_int_equal(of(e, 0, (struct facts){.mnemonic = "mov"}, NULL), 1);
	assert_int_equal(of(e, 0, (struct facts){.mnemonic = "imul", .loads = 1}, NULL), 5);
	assert_int_equal(of(e, 0, (struct facts){.divide = true, .fp = true}, NULL), 20);
	assert_int_equal(of(e, 0, (struct facts){.fp = true, .loads = 2}, NULL), 8);
	assert_int_equal(of(e, CHORD_INSN_ICALL, (struct facts){.stores = 1}, NULL), 6);
	assert_int_equal(of(e, CHORD_INSN_BRANCH, (struct facts){0}, NULL), 1);
	assert_int_equal(of(e, CHORD_INSN_PAD, (struct facts){0}, NULL), 1); /* default comes first */
	assert_int_equal(event_of_edge(e, CHORD_EDGE_TAKEN, false), 7);
	assert_int_equal(event_of_edge(e, CHORD_EDGE_JUMP, false), 0);
	assert_int_equal(event_of_block(e), 0);
	event_list_free(&l);
	l = list(pool, costs(pool, "loads", "load 1\r\n"));
	assert_int_equal(of(&l.at[0], 0, (struct facts){.loads = 3, .stores = 1}, NULL), 3);
	assert_int_equal(of(&l.at[0], 0, (struct facts){0}, NULL), 0);
	event_list_free(&l);
	pool_free(pool);
}

static void
event_bad_cost_tables(void **state)
{
	struct pool *pool = pool_new();
	const char *one = costs(pool, "one", "load 1"), *sub = pool_printf(pool, "%s/sub", folder);
	struct event_list l;

	(void)state;
	wrong(pool, costs(pool, "a", "load 1\nlods 2\n"), "/a:2: 'lods' is no class");
	wrong(pool, costs(pool, "a", "load\n"), "/a:1: a line has a class and its cost");
	wrong(pool, costs(pool, "a", "load 1 2\n"), "/a:1: a line has a class and its cost");
	wrong(pool, costs(pool, "a", "\nload -1\n"), "/a:2: '-1' is no cost");
	wrong(pool, costs(pool, "a", "load 0x10\n"), "is no cost");
	wrong(pool, costs(pool, "a", "load 4294967296\n"), "is no cost");
	wrong(pool, costs(pool, "a", "load 1\nload 1\n"), "/a:2: 'load' has a cost already");
	wrong(pool, costs(pool, "a", "# nothing\n"), "no costs in it");
	wrong(pool, costs(pool, "a", ""), "no costs in it");
	wrong(pool, costs(pool, "a", "insn:/(/ 1\n"), "/a:1: /(/: ");
	wrong(pool, pool_printf(pool, "cost:%s", folder), "Is a directory");
	assert_int_equal(system(pool_printf(pool, "mkdir %s && cp %s/one %s/one", sub, folder, sub)), 0);
	l = list(pool, pool_printf(pool, "%s,cost:%s/one", one, sub));
	assert_int_equal(l.n, 1);
	event_list_free(&l);
	costs(pool, "sub/one", "load 2");
	l = list(pool, pool_printf(pool, "%s,cost:%s/one", one, sub));
	assert_int_equal(l.n, 2);
	event_list_free(&l);
	assert_int_equal(system(pool_printf(pool, "rm -r %s", folder)), 0);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(event_facts_of_instructions),
		cmocka_unit_test(event_no_facts_of_no_instruction),
		cmocka_unit_test(event_lists),
		cmocka_unit_test(event_patterns),
		cmocka_unit_test(event_plain_ones),
		cmocka_unit_test(event_cost_tables),
		cmocka_unit_test(event_bad_cost_tables),
	};

	if (!mkdtemp(folder))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
