/* SPDX-License-Identifier: MIT */
/* Objects and programs that the real assembler and linker make here. Their addresses, symbols, lines and relocations are known
 * from how they are made. Also files that are no objects. */
#include "image/image.h"
#include "tests/unit/assembled.h"

#include <unistd.h>

/* ---- relocatable objects ---- */

static const struct obj_symbol *
symbol(const struct object *o, const char *name)
{
	for (uint32_t i = 0; i < o->nsymbol; i++)
		if (!strcmp(o->symbols[i].name, name))
			return &o->symbols[i];
	fail_msg("no symbol %s", name);
	return NULL;
}

static void
objects(void **state)
{
	static const char text[] =
		"\t.text\n\t.globl f\n\t.type f, @function\nf:\tnop\n\tcall outside@PLT\n\tmovq x(%rip), %rax\n\tret\n"
			"\t.size f, .-f\n"
		"\t.type pick, @gnu_indirect_function\npick:\tret\n"
		"\t.data\n\t.type x, @object\n\t.size x, 8\nx:\t.quad f+3\n\t.long f-.\n\t.bss\n\t.zero 100\n"
		"\t.section .text.once,\"axG\",@progbits,once,comdat\nonce:\tret\n\t.section .note.mine,\"\",@note\n\t.long 1\n";
	struct pool *pool = pool_new();
	struct buf bytes = {0};
	struct object *o = assemble_object(pool, text, &bytes);
	const struct obj_section *s = section_of(o, ".text");
	const struct obj_symbol *f = symbol(o, "f"), *x = symbol(o, "x"), *pick = symbol(o, "pick"), *out = symbol(o, "outside");

	(void)state;
	assert_ptr_equal(o->machine, machine_of_host());
	/* nop 1, call 5, movq 7, ret 1; pick's ret 1 */
	assert_true(s->alloc && s->exec && s->size == 15 && s->data[0] == 0x90 && s->data[13] == 0xc3 && !s->comdat);
	assert_true(f->global && f->func && !f->ifunc && f->value == 0 && f->size == 14 && &o->sections[f->section] == s);
	assert_true(pick->func && pick->ifunc && pick->value == 14 && !pick->global);
	assert_true(x->object && !x->func && x->value == 0 && x->size == 8);
	assert_true(out->global && out->section == 0);
	/* In order of their offsets, relative to the fields: the call's at 2, the load's at 9, 4 bytes before the next
	 * instruction. */
	assert_int_equal(s->nreloc, 2);
	assert_true(o->relocs[s->reloc].off == 2 && o->relocs[s->reloc].pcrel && o->relocs[s->reloc].addend == -4);
	assert_string_equal(o->symbols[o->relocs[s->reloc].sym].name, "outside");
	assert_true(o->relocs[s->reloc + 1].off == 9 && o->relocs[s->reloc + 1].pcrel);
	s = section_of(o, ".data");
	assert_true(s->alloc && !s->exec && s->size == 12 && s->nreloc == 2);
	assert_true(o->relocs[s->reloc].off == 0 && !o->relocs[s->reloc].pcrel && o->relocs[s->reloc].addend == 3);
	assert_true(o->relocs[s->reloc + 1].off == 8 && o->relocs[s->reloc + 1].pcrel);
	s = section_of(o, ".bss");
	assert_true(s->size == 100 && !s->data);
	assert_string_equal(section_of(o, ".text.once")->comdat, "once");
	assert_false(section_of(o, ".note.mine")->alloc);
	object_free(o);
	object_free(NULL);
	buf_free(&bytes);
	pool_free(pool);
}

/* Cut anywhere (its table of sections is at the end), or of another kind: refused with a reason, never read behind the end. */
static void
no_objects(void **state)
{
	struct pool *pool = pool_new();
	struct buf bytes = {0};
	const char *why = NULL;
	char *copy;

	(void)state;
	object_free(assemble_object(pool, "\t.text\nf:\tcall g\n\t.data\n\t.quad f\n", &bytes));
	for (size_t n = 0; n < bytes.n; n++) {
		copy = memcpy(malloc(n + 1), bytes.at, n);
		why = NULL;
		assert_null(object_read(pool, copy, n, &why));
		assert_true(why && *why);
		free(copy);
	}
	for (int machine = 0; machine < 2; machine++) {
		copy = memcpy(malloc(bytes.n), bytes.at, bytes.n);
		copy[machine ? 18 : 4] = machine ? 40 /* EM_ARM */ : 1 /* ELFCLASS32 */;
		why = NULL;
		assert_null(object_read(pool, copy, bytes.n, &why));
		assert_true(why && *why);
		free(copy);
	}
	buf_free(&bytes);
	pool_free(pool);
}

/* ---- programs ---- */

static char folder[] = "/tmp/chord-image-XXXXXX";

static const char *
in_folder(struct pool *pool, const char *name)
{
	return pool_printf(pool, "%s/%s", folder, name);
}

/* Lines: nop 4, f's ret 5, g's call 8, ret 9. */
static const char program[] =
	"\t.text\n\t.globl f, also\n\t.type f, @function\nf: also: nop\n\tret\n\t.size f, 2\n\t.type g, @function\n"
		"g:\tcall f\n\tret\n\t.size g, 6\n"
	"\t.type also, @function\n\t.section .rodata.x,\"a\"\n\t.ascii \"abc\"\n\t.section .mine,\"a\"\n\t.ascii \"12\"\n"
	"\t.section .mine.more,\"a\"\n\t.ascii \"345\"\n\t.section .init_code,\"ax\"\nh:\thlt\n";

static void
make(struct pool *pool, const char *name, const char *text, const char *link)
{
	const char *source = in_folder(pool, pool_printf(pool, "%s.s", name));

	assert_true(file_write(source, text, strlen(text)));
	assert_int_equal(system(pool_printf(pool, "cd %s && as --gdwarf-5 -o %s.o %s.s && ld -o %s %s.o %s", folder, name, name,
		name, name,
	                                    link)), 0);
}

static struct image *
opened(struct pool *pool, const char *name)
{
	const char *why = "";
	struct image *im = image_open(pool, in_folder(pool, name), &why);

	if (!im)
		fail_msg("%s: %s", name, why);
	return im;
}

static void
programs(void **state)
{
	struct pool *pool = pool_new();
	const struct image_symbol *s;
	const struct image_code *code;
	struct image_place place;
	struct str bytes;
	const char *why;
	struct image *im;
	struct insn in;

	(void)state;
	make(pool, "p", program, "--build-id=0x0123456789abcdef -e f -Ttext=0x401000 --section-start=.init_code=0x500000");
	im = opened(pool, "p");
	assert_ptr_equal(image_machine(im), machine_of_host());
	assert_string_equal(image_hex(pool, image_build_id(im)), "0123456789abcdef");
	assert_int_equal(image_code(im, &code), 2);
	assert_true(code[0].addr == 0x401000 && code[0].size == 8 && code[1].addr == 0x500000 && code[1].size == 1);
	assert_string_equal(image_code_name(im, 0x401007), ".text");
	assert_string_equal(image_code_name(im, 0x401008), "");
	assert_string_equal(image_code_name(im, 0x500000), ".init_code");
	bytes = image_bytes(im, 0x401001);
	assert_true(bytes.n == 7 && (unsigned char)bytes.at[0] == 0xc3);
	assert_int_equal(image_bytes(im, 0x400fff).n, 0);
	assert_true(image_insn(im, 0x401002, &in) && in.len == 5 && in.cls == CHORD_INSN_CALL);
	assert_false(image_insn(im, 0x401008, &in));
	/* also and f at one address, then g. */
	assert_int_equal(image_symbols(im, &s), 3);
	assert_true(s[0].addr == 0x401000 && s[1].addr == 0x401000 && s[2].addr == 0x401002 && s[2].size == 6);
	assert_true(strcmp(s[0].name, s[1].name) && !strcmp(s[2].name, "g"));
	assert_false(image_stripped(im));
	assert_true(image_section(im, ".mine", &bytes, &why) && str_is(bytes, "12"));
	assert_true(image_section_all(im, ".mine", &bytes, &why) && str_is(bytes, "12345"));
	assert_false(image_section(im, ".none", &bytes, &why));
	assert_null(why);
	assert_int_equal(image_section_addr(im, ".text"), 0x401000);
	assert_int_equal(image_section_addr(im, ".none"), 0);
	assert_true(image_has_lines(im));
	for (unsigned i = 0; i < 4; i++) {
		static const struct { uint64_t addr; unsigned line; } lines[] = {{0x401000, 4}, {0x401001, 5}, {0x401002, 8},
			{0x401007, 9}};

		assert_true(image_place(im, lines[i].addr, &place));
		assert_string_equal(base_name(place.file), "p.s");
		assert_int_equal(place.line, lines[i].line);
	}
	assert_false(image_place(im, 0x401008, &place));
	image_close(im);
	image_close(NULL);
	pool_free(pool);
}

static void
stripped(void **state)
{
	struct pool *pool = pool_new();
	const struct image_symbol *s;
	struct image_place place;
	struct image *im;

	(void)state;
	make(pool, "q", program, "-s --build-id=none -e f");
	im = opened(pool, "q");
	assert_int_equal(image_symbols(im, &s), 0);
	assert_true(image_stripped(im) && !image_has_lines(im) && !image_place(im, 0x401000, &place));
	assert_int_equal(image_build_id(im).n, 0);
	image_close(im);
	pool_free(pool);
}

/* What a shared object takes from others, by the words that the loader fills in. */
static void
imports(void **state)
{
	struct pool *pool = pool_new();
	const char *const *needed;
	struct image_import import;
	uint64_t got;
	struct image *im;

	(void)state;
	make(pool, "libdep.so", "\t.text\n\t.globl outside\n\t.type outside, @function\n"
		"outside:\tret\n", "-shared -soname libdep.so");
	make(pool, "libuser.so", "\t.text\n\tmovq outside@GOTPCREL(%rip), %rax\n\tret\n\t.data\n\t.globl at\nat:\t.quad 2f\n"
		"\t.text\n2:\tret\n",
	     "libdep.so -shared -z norelro");
	im = opened(pool, "libuser.so");
	assert_int_equal(image_needed(im, &needed), 1);
	assert_string_equal(needed[0], "libdep.so");
	got = image_section_addr(im, ".got");
	assert_true(image_import(im, got, &import));
	assert_true(import.slot == got && !strcmp(import.name, "outside"));
	/* The word in .data gets the address of the second ret, 8 bytes behind the begin of .text. */
	assert_true(image_import(im, image_section_addr(im, ".data"), &import));
	assert_null(import.name);
	assert_int_equal(import.addr, image_section_addr(im, ".text") + 8);
	assert_false(image_import(im, got + 8, &import));
	image_close(im);
	im = opened(pool, "libdep.so");
	assert_int_equal(image_needed(im, &needed), 0);
	image_close(im);
	pool_free(pool);
}

static void
no_programs(void **state)
{
	static const struct { const char *bytes; size_t n; } files[] = {{"", 0}, {"#!/bin/sh\n", 10}, {"\177ELF", 4},
		{"\177ELF\2\1\1", 7}};
	struct pool *pool = pool_new();
	const char *why;

	(void)state;
	for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
		assert_true(file_write(in_folder(pool, "none"), files[i].bytes, files[i].n));
		why = NULL;
		assert_null(image_open(pool, in_folder(pool, "none"), &why));
		assert_true(why && *why);
	}
	why = NULL;
	assert_null(image_open(pool, in_folder(pool, "absent"), &why));
	assert_non_null(strstr(why, "No such file"));
	why = NULL;
	assert_null(image_open(pool, folder, &why));
	assert_true(why && *why);
	/* An object is no program. */
	make(pool, "p", program, "-e f");
	why = NULL;
	assert_null(image_open(pool, in_folder(pool, "p.o"), &why));
	assert_true(why && *why);
	pool_free(pool);
}

static void
clean_paths(void **state)
{
	static const char *const cases[][2] = {
		{"a/./b//c", "a/b/c"}, {"/nowhere/a/../b", "/nowhere/b"}, {"a", "a"}, {"/", "/"}, {"./a", "a"}, {"../a", "../a"},
	};
	struct pool *pool = pool_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		assert_string_equal(image_clean_path(pool, cases[i][0]), cases[i][1]);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects),
		cmocka_unit_test(no_objects),
		cmocka_unit_test(programs),
		cmocka_unit_test(stripped),
		cmocka_unit_test(imports),
		cmocka_unit_test(no_programs),
		cmocka_unit_test(clean_paths),
	};
	char remove[64];
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	snprintf(remove, sizeof remove, "rm -r %s", folder);
	return system(remove) ? 1 : failed;
}
