/* SPDX-License-Identifier: MIT */
/* Names of C++, Rust and D, as the descriptions of their manglings define them. */
#include "image/image.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static void
check(const char *symbol, const char *full, const char *bare)
{
	char *name = image_demangle(symbol, true);

	if (!full) {
		assert_null(name);
		return;
	}
	assert_non_null(name);
	assert_string_equal(name, full);
	free(name);
	name = image_demangle(symbol, false);
	assert_non_null(name);
	assert_string_equal(name, bare);
	free(name);
}

/* Itanium C++ ABI, 5.1. */
static void
cplusplus(void **state)
{
	(void)state;
	check("_Z1fv", "f()", "f");
	check("_Z1fi", "f(int)", "f");
	check("_Z5firstI3DuoEvS0_", "void first<Duo>(Duo)", "first<Duo>");
	check("_Z5firstI3DuoEvT_", "void first<Duo>(Duo)", "first<Duo>");
	check("_ZN1N1fE", "N::f", "N::f");
	check("_ZN3FooIA4_iE3barE", "Foo<int [4]>::bar", "Foo<int [4]>::bar");
	check("_ZNSsC1Ev", "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string()",
	      "std::basic_string<char, std::char_traits<char>, std::allocator<char> >::basic_string");
	check("_Z1fv.cold", "f() [clone .cold]", "f");
	check("_Z1fi.isra.0", "f(int) [clone .isra.0]", "f");
	check("_Z1fi@@V1", "f(int)@@V1", "f@@V1");
}

/* RFC 2603, and the older form, which looks like C++ and has a hash. */
static void
rust(void **state)
{
	(void)state;
	check("_RNvC6_123foo3bar", "123foo::bar", "123foo::bar");
	check("_RNvNtCs1234_7mycrate3foo3bar", "mycrate::foo::bar", "mycrate::foo::bar");
	check("_ZN4core3fmt5write17h0123456789abcdefE", "core::fmt::write", "core::fmt::write");
}

/* dlang.org/spec/abi.html */
static void
d(void **state)
{
	(void)state;
	check("_D3std5stdio9writefilnFZv", "std.stdio.writefiln()", "std.stdio.writefiln()");
	check("_Dmain", "D main", "D main");
}

static void
others(void **state)
{
	char *large = malloc(100001);

	(void)state;
	check("main", NULL, NULL);
	check("", NULL, NULL);
	check("_", NULL, NULL);
	check("_Z", NULL, NULL);
	check("_Zfoo", NULL, NULL);
	check("_Data", NULL, NULL);
	check("_Reset", NULL, NULL);
	check("memcpy@GLIBC_2.14", NULL, NULL);
	/* Neither deep nesting nor length does harm. */
	memset(large, 'P', 100000);
	memcpy(large, "_Z1f", 4);
	large[100000] = 0;
	check(large, NULL, NULL);
	large[8000] = 0;
	free(image_demangle(large, true));
	free(large);
}

static void
texts(void **state)
{
	(void)state;
	assert_string_equal(image_readable_text("running then: main, _Z1fi and _ZN1N1gEv."),
	                    "running then: main, f(int) and N::g().");
	assert_string_equal(image_readable_text(""), "");
	assert_string_equal(image_readable("_Z1fi"), "f(int)");
	assert_string_equal(image_readable("f"), "f");
	assert_true(image_name_matches("_Z1fi", "_Z1fi"));
	assert_true(image_name_matches("_Z1fi", "f"));
	assert_true(image_name_matches("_Z1fi", "f(i*)"));
	assert_false(image_name_matches("_Z1fi", "*int*"));
	assert_false(image_name_matches("_Z1fi", "g"));
	image_keep_mangled();
	assert_string_equal(image_readable("_Z1fi"), "_Z1fi");
	assert_string_equal(image_readable_text("_Z1fi"), "_Z1fi");
}

#define UTF8 "\u00e4\u00f6\u00fc\u20ac"

static void
short_names(void **state)
{
	static const struct { const char *name; size_t most; const char *is; } cases[] = {
		{"f(int)", 12, "f(int)"},
		{"std::map<int, std::less<int> >::find(int const&)", 48, "std::map<int, std::less<int> >::find(int const&)"},
		{"std::map<int, std::less<int> >::find(int const&)", 30, "std::map<...>::find(...)"},
		{"std::map<int, std::less<int> >::find(int const&)", 20, "std::...>::find(...)"},
		{"bool app::operator< <app::Long>(app::Long const&, app::Long const&)", 40, "bool app::operator< <...>(...)"},
		{"app::Functor<app::Other>::operator()(int, int) const", 40, "app::Functor<...>::operator()(...) const"},
		{"app::(anonymous namespace)::hidden(app::Long const&)", 45, "app::(anonymous namespace)::hidden(...)"},
		{"app::operator->*(app::Left const&, app::Right const&)", 30, "app::operator->*(...)"},
		{"a_function_of_c_whose_name_is_very_long_indeed", 21, "a_func..._long_indeed"},
		{"empty<>(app::Parameter, app::Parameter)", 20, "empty<>(...)"},
		{"unbalanced<int(app::Parameter, app::Parameter)", 21, NULL},
	};
	struct pool *pool = pool_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		const char *is = image_shortened(pool, cases[i].name, cases[i].most);

		assert_true(strlen(is) <= cases[i].most);
		if (cases[i].is)
			assert_string_equal(is, cases[i].is);
	}
	/* No character is cut in two. */
	for (size_t most = 12; most < 40; most++)
		for (const char *c = image_shortened(pool, UTF8 UTF8 UTF8 UTF8 UTF8, most); *c; c++)
			if ((unsigned char)*c >= 0xc0)
				assert_true(((unsigned char)c[1] & 0xc0) == 0x80);
	pool_free(pool);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cplusplus),
		cmocka_unit_test(rust),
		cmocka_unit_test(d),
		cmocka_unit_test(others),
		cmocka_unit_test(short_names),
		cmocka_unit_test(texts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
