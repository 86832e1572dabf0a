/* SPDX-License-Identifier: MIT */
/* base: structures that grow do so correctly, at sizes around every limit; sums that do not fit end the process with a message. */
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

/* ---- what ends the process ---- */

/* The exit status, or 128 and the signal, of a process that does it, and what it says. */
static int
ends(void (*what)(void), char said[512])
{
	int ends[2], status;
	ssize_t n;
	size_t had = 0;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	if (!pid) {
		dup2(ends[1], STDERR_FILENO);
		what();
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], said + had, 511 - had)) > 0)
		had += (size_t)n;
	said[had] = 0;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void buffer_of_all(void) { struct buf b = {.n = 2}; buf_reserve(&b, SIZE_MAX - 1); }
static void pool_of_all(void) { pool_alloc(pool_new(), SIZE_MAX); }
static void pool_of_most(void) { pool_alloc(pool_new(), SIZE_MAX / 2 + 1); }
static void array_of_all(void) { pool_array(pool_new(), SIZE_MAX / 8 + 1, 8); }
static void heap_array_of_all(void) { xreallocarray(NULL, SIZE_MAX / 2, 4); }
static void heap_of_all(void) { xmalloc(PTRDIFF_MAX); }
static void dies(void) { die("what", "why %d", 7); }
static void is_wrong(void) { bug("number %d", 7); }

static void
what_ends_the_process(void **state)
{
	static const struct { void (*what)(void); int status; const char *said; } cases[] = {
		{buffer_of_all, 1, "chord: memory: a text of more than 18446744073709551615 bytes\n"},
		{pool_of_all, 1, "chord: memory: a request for 18446744073709551615 bytes\n"},
		{pool_of_most, 1, "chord: memory: a request for 9223372036854775808 bytes\n"},
		{array_of_all, 1, "chord: memory: an array of 2305843009213693952 times 8 bytes\n"},
		{heap_array_of_all, 1, "chord: memory: an array of 9223372036854775807 times 4 bytes\n"},
		{heap_of_all, 1, "chord: memory: out of memory\n"},
		{dies, 1, "chord: what: why 7\n"},
	};
	char said[512];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(ends(cases[i].what, said), cases[i].status);
		assert_string_equal(said, cases[i].said);
	}
	assert_int_equal(ends(is_wrong, said), 128 + 6 /* SIGABRT */);
	assert_non_null(strstr(said, "chord: bug at tests/unit/test_base.c:"));
	assert_non_null(strstr(said, ": number 7\n"));
}

static void says_all(void)
{
	say_error("a", "b");
	error_at("f.s", 3, "c %s", "d");
	say_warning("e", "f");
	progress("g", 1, 2);
}

static void
messages(void **state)
{
	char said[512];

	(void)state;
	assert_int_equal(ends(says_all, said), 0);
	/* Progress is for terminals. */
	assert_string_equal(said, "chord: a: b\nchord: f.s:3: c d\nchord: warning: e: f\n");
}

/* ---- pools and arrays ---- */

/* Sizes around a chunk's: all are zero, aligned, and apart. */
static void
pools(void **state)
{
	static const size_t sizes[] = {0, 1, 15, 16, 17, 1023, 1024, 1025, 4095, 4096, 4097, 100000, 1 << 20,
		(1 << 20) + 1, 3 << 20, 1};
	enum { N = sizeof sizes / sizeof *sizes, ROUNDS = 5 };
	struct pool *p = pool_new();
	unsigned char *at[ROUNDS][N];

	(void)state;
	for (size_t r = 0; r < ROUNDS; r++)
		for (size_t i = 0; i < N; i++) {
			at[r][i] = pool_alloc(p, sizes[i]);
			assert_int_equal((uintptr_t)at[r][i] % 16, 0);
			for (size_t k = 0; k < sizes[i]; k++)
				if (at[r][i][k])
					fail_msg("byte %zu of %zu is not 0", k, sizes[i]);
			memset(at[r][i], (unsigned char)(r * N + i + 1), sizes[i]);
		}
	for (size_t r = 0; r < ROUNDS; r++)
		for (size_t i = 0; i < N; i++)
			for (size_t k = 0; k < sizes[i]; k++)
				if (at[r][i][k] != (unsigned char)(r * N + i + 1))
					fail_msg("byte %zu of %zu belongs to another one", k, sizes[i]);
	pool_free(p);
	pool_free(NULL);
}

static void
pool_texts(void **state)
{
	struct pool *p = pool_new();
	char *s = pool_strndup(p, "abcdef", 3);

	(void)state;
	assert_string_equal(s, "abc");
	assert_string_equal(pool_strdup(p, ""), "");
	assert_string_equal(pool_printf(p, "%s-%05d-%s", s, 42, "x"), "abc-00042-x");
	s = pool_printf(p, "%*d", 100000, 7);
	assert_int_equal(strlen(s), 100000);
	assert_int_equal(s[99999], '7');
	pool_free(p);
}

static void
vectors(void **state)
{
	VEC(uint32_t) v = {0};
	VEC(uint32_t) w = {0};

	(void)state;
	for (uint32_t i = 0; i < 100000; i++)
		VEC_PUSH(v, i * 3);
	assert_int_equal(v.n, 100000);
	assert_true(v.cap >= v.n);
	VEC_PUSH(w, 1);
	VEC_JOIN(w, v);
	assert_int_equal(w.n, 100001);
	for (uint32_t i = 0; i < 100000; i++)
		assert_int_equal(w.at[i + 1], i * 3);
	free(v.at);
	free(w.at);
}

/* ---- buffers ---- */

static void
buffers(void **state)
{
	struct buf b = {0};

	(void)state;
	buf_add(&b, NULL, 0);
	assert_null(b.at);
	for (int i = 0; i < 1000; i++)
		buf_char(&b, (char)('a' + i % 26));
	buf_str(&b, "");
	buf_str(&b, "END");
	assert_int_equal(b.n, 1003);
	assert_memory_equal(b.at + 998, "kl" "END", 5);
	b.n = 0;
	/* Room that is just enough, and one byte short of that. */
	for (int width = 120; width < 140; width++) {
		struct buf one = {0};

		buf_printf(&one, "%*d", width, 5);
		assert_int_equal(one.n, width);
		assert_int_equal(one.at[width - 1], '5');
		buf_free(&one);
	}
	buf_printf(&b, "%*s|", 70000, "x");
	assert_int_equal(b.n, 70001);
	assert_memory_equal(b.at + 69998, " x|", 3);
	buf_free(&b);
	assert_true(!b.at && !b.n && !b.cap);
}

static void
numbers_as_text(void **state)
{
	static const struct { uint64_t n; const char *plain, *grouped; } cases[] = {
		{0, "0", "0"}, {7, "7", "7"}, {999, "999", "999"}, {1000, "1000", "1,000"}, {123456, "123456", "123,456"},
		{UINT64_MAX, "18446744073709551615", "18,446,744,073,709,551,615"},
	};
	char out[32];

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b = {0};

		buf_number(&b, cases[i].n);
		buf_char(&b, '\0');
		assert_string_equal(b.at, cases[i].plain);
		assert_string_equal(grouped(out, cases[i].n), cases[i].grouped);
		buf_free(&b);
	}
}

/* DWARF 5, figure 7.22, has the first ones. */
static void
leb128(void **state)
{
	static const struct { uint64_t v; size_t n; const char *bytes; } cases[] = {
		{2, 1, "\x02"}, {127, 1, "\x7f"}, {128, 2, "\x80\x01"}, {129, 2, "\x81\x01"}, {12857, 2, "\xb9\x64"}, {0, 1, "\0"},
		{UINT64_MAX, 10, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"},
	};
	static const struct { int64_t v; uint64_t as; } folded[] = {
		{0, 0}, {-1, 1}, {1, 2}, {-2, 3}, {INT64_MAX, UINT64_MAX - 1}, {INT64_MIN, UINT64_MAX},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct buf b = {0};

		buf_uleb(&b, cases[i].v);
		assert_int_equal(b.n, cases[i].n);
		assert_memory_equal(b.at, cases[i].bytes, b.n);
		buf_free(&b);
	}
	for (size_t i = 0; i < sizeof folded / sizeof *folded; i++) {
		struct buf a = {0}, b = {0};

		buf_zigzag(&a, folded[i].v);
		buf_uleb(&b, folded[i].as);
		assert_int_equal(a.n, b.n);
		assert_memory_equal(a.at, b.at, a.n);
		buf_free(&a);
		buf_free(&b);
	}
}

static void
sums(void **state)
{
	uint64_t sum = UINT64_MAX - 5;

	(void)state;
	assert_true(checked_add(&sum, 0) && checked_add(&sum, 5) && sum == UINT64_MAX);
	assert_false(checked_add(&sum, 1));
	sum = 1;
	assert_false(checked_add(&sum, UINT64_MAX));
	assert_true(saturating_add(2, 3) == 5 && saturating_add(UINT64_MAX, 0) == UINT64_MAX);
	assert_true(saturating_add(UINT64_MAX - 1, 1) == UINT64_MAX && saturating_add(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

/* ---- slices, and the table of them ---- */

static void
slices(void **state)
{
	struct str s = {"abcabc", 3}, none = {NULL, 0};

	(void)state;
	assert_true(str_is(s, "abc") && !str_is(s, "abca") && !str_is(s, "ab"));
	assert_true(str_eq(s, (struct str){s.at + 3, 3}) && str_eq(none, STR("")) && !str_eq(none, s));
	assert_true(str_starts(s, "") && str_starts(s, "abc") && !str_starts(s, "abca") && !str_starts(s, "b"));
	assert_true(str_ends(s, "") && str_ends(s, "bc") && !str_ends(s, "babc") && !str_ends(s, "ab"));
	/* FNV-1a's own test vectors. */
	assert_true(str_hash(STR("")) == 0xcbf29ce484222325u);
	assert_true(str_hash(STR("a")) == 0xaf63dc4c8601ec8cu);
	assert_true(str_hash(STR("foobar")) == 0x85944171f73967e8u);
	assert_string_equal(base_name("/a/b.c"), "b.c");
	assert_string_equal(base_name("b.c"), "b.c");
	assert_string_equal(base_name("a/"), "");
}

static void
maps_of_text(void **state)
{
	enum { N = 50000 };
	struct strmap m = {0};
	struct pool *p = pool_new();
	uint64_t value = 99;

	(void)state;
	assert_false(strmap_get(&m, STR("k1"), &value));
	assert_int_equal(value, 99);
	for (uint64_t i = 0; i < N; i++)
		strmap_put(&m, str_of(pool_printf(p, "k%llu", (unsigned long long)i)), i);
	strmap_put(&m, STR(""), 5);
	for (uint64_t i = 0; i < N; i += 2)
		strmap_put(&m, str_of(pool_printf(p, "k%llu", (unsigned long long)i)), i + N);
	assert_int_equal(m.n, N + 1);
	for (uint64_t i = 0; i < N; i++) {
		assert_true(strmap_get(&m, str_of(pool_printf(p, "k%llu", (unsigned long long)i)), &value));
		assert_int_equal(value, i % 2 ? i : i + N);
	}
	assert_true(strmap_get(&m, STR(""), &value) && value == 5);
	assert_false(strmap_get(&m, STR("k50000"), &value));
	strmap_free(&m);
	pool_free(p);
}

/* ---- files ---- */

static char folder[] = "/tmp/chord-base-XXXXXX";

static void
files(void **state)
{
	enum { SIZE = 300000 };
	struct pool *p = pool_new();
	const char *path = pool_printf(p, "%s/file", folder), *other = pool_printf(p, "%s/link", folder);
	struct buf in = {0}, out = {0};
	struct stat before, after;

	(void)state;
	for (int i = 0; i < SIZE; i++)
		buf_char(&out, (char)(i * 7));
	assert_false(file_read(path, &in));
	assert_int_equal(errno, ENOENT);
	assert_true(file_write(path, out.at, out.n));
	assert_true(file_read(path, &in));
	assert_int_equal(in.n, SIZE);
	assert_memory_equal(in.at, out.at, SIZE);
	/* What is there is replaced, not written to: somebody may have it mapped. Its mode stays. */
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(stat(path, &before), 0);
	assert_true(file_write(path, "new", 3));
	assert_int_equal(stat(path, &after), 0);
	assert_true(before.st_ino != after.st_ino && after.st_size == 3 && (after.st_mode & 07777) == 0640);
	/* A file with two names stays one. */
	assert_int_equal(link(path, other), 0);
	assert_true(file_write(path, "newer", 5));
	in.n = 0;
	assert_true(file_read(other, &in));
	assert_int_equal(in.n, 5);
	assert_false(file_write(folder, "x", 1));
	assert_int_equal(errno, EISDIR);
	unlink(path);
	unlink(other);
	buf_free(&in);
	buf_free(&out);
	pool_free(p);
}

/* Of a pipe nothing is lost by a look at its head. */
static void
heads(void **state)
{
	const char *path, *const text = "head and more";
	struct pool *p = pool_new();
	struct buf in = {0};
	char head[4];
	int end[2];

	(void)state;
	assert_int_equal(pipe(end), 0);
	assert_int_equal(write(end[1], text, strlen(text)), strlen(text));
	close(end[1]);
	path = pool_printf(p, "/proc/self/fd/%d", end[0]);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(file_peek(path, head, sizeof head), sizeof head);
		assert_memory_equal(head, text, sizeof head);
	}
	assert_true(file_read(path, &in));
	assert_int_equal(in.n, strlen(text));
	assert_memory_equal(in.at, text, in.n);
	assert_int_equal(file_peek(path, head, sizeof head), 0);
	close(end[0]);
	assert_int_equal(file_peek("/dev/zero", head, sizeof head), -1);
	assert_int_equal(file_peek(folder, head, sizeof head), -1);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(file_peek(pool_printf(p, "%s/none", folder), head, sizeof head), -1);
	assert_int_equal(errno, ENOENT);
	buf_free(&in);
	pool_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_ends_the_process),
		cmocka_unit_test(messages),
		cmocka_unit_test(pools),
		cmocka_unit_test(pool_texts),
		cmocka_unit_test(vectors),
		cmocka_unit_test(buffers),
		cmocka_unit_test(numbers_as_text),
		cmocka_unit_test(leb128),
		cmocka_unit_test(sums),
		cmocka_unit_test(slices),
		cmocka_unit_test(maps_of_text),
		cmocka_unit_test(files),
		cmocka_unit_test(heads),
	};
	int failed;

	if (!mkdtemp(folder))
		return 1;
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(folder);
	return failed;
}
