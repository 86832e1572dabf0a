/* SPDX-License-Identifier: MIT */
/* What a log says of its run: how it began, and, if it is replayed, how far each of its threads came. */
#include "replay/internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- threads ---- */

struct tally_row {
	uint64_t made, struck, count; /* system calls, signals, what the clock gained */
	bool counts;
	uint64_t process;        /* its number; 0: the row is empty */
	uint64_t programs;       /* how many programs that has had in place of its first one */
	char program[64];        /* the last of them, as far as there is room for its name */
};

struct tally {
	VEC(struct tally_row) row; /* by number, from 1 */
};

struct tally *
tally_new(void)
{
	return xcalloc(1, sizeof(struct tally));
}

void
tally_free(struct tally *t)
{
	if (t)
		free(t->row.at);
	free(t);
}

void
tally_clear(struct tally *t)
{
	if (t)
		t->row.n = 0;
}

static void
note_program(struct tally_row *row, const struct task *task)
{
	char link[4096], proc[64];
	ssize_t n;

	row->process = task->group->number;
	row->programs = task->group->programs;
	snprintf(proc, sizeof proc, "/proc/%d/exe", task->t.pid);
	n = readlink(proc, link, sizeof link - 1);
	link[n < 0 ? 0 : n] = 0;
	snprintf(row->program, sizeof row->program, "%.*s", (int)sizeof row->program - 1, base_name(link));
	for (char *c = row->program; *c; c++)
		*c = plain_char(*c);
}

static struct tally_row *
row_of(struct tally *t, const struct task *task)
{
	struct tally_row *row;

	while (t->row.n < task->number)
		VEC_PUSH(t->row, (struct tally_row){0});
	row = &t->row.at[task->number - 1];
	if (!row->process || row->programs != task->group->programs)
		note_program(row, task);
	return row;
}

/* Only one task runs at a time, so what the memory's clock has gained since the last look belongs to this task. Chord's runtime
 * sets the count of a new process to 0, and the difference, which wraps, then takes the parent's part back. */
void
tally_count(struct tally *t, const struct task *task, uint64_t sum)
{
	struct tally_row *row;

	if (!t || !task)
		return;
	row = row_of(t, task);
	row->count += sum - task->group->space->seen;
	row->counts |= sum != 0;
	task->group->space->seen = sum;
}

void
tally_call(struct tally *t, const struct task *task, uint64_t sum)
{
	tally_count(t, task, sum);
	if (t)
		row_of(t, task)->made++;
}

void
tally_signal(struct tally *t, const struct task *task)
{
	if (t)
		row_of(t, task)->struck++;
}

void
tally_print(const struct tally *t, const char *log)
{
	for (size_t i = 0; i < t->row.n; i++) {
		const struct tally_row *row = &t->row.at[i];

		fprintf(stderr, "chord: %s: thread %zu", log, i + 1);
		if (row->process)
			fprintf(stderr, ", process %" PRIu64 " (%s)", row->process, row->program);
		fprintf(stderr, ": %" PRIu64 " system calls, %" PRIu64 " signals", row->made, row->struck);
		if (row->counts)
			fprintf(stderr, ", clock %" PRIu64, row->count);
		fputc('\n', stderr);
	}
}

/* ---- the log ---- */

void
log_put_seed(struct log *l, const uint64_t *seed)
{
	log_put(l, seed != NULL);
	if (seed)
		log_put(l, *seed);
}

bool
log_get_seed(struct log *l, uint64_t *seed)
{
	uint64_t any = log_get(l);

	*seed = any ? log_get(l) : 0;
	return any;
}

static uint64_t
size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (uint64_t)st.st_size;
}

/* Prints a word of a command so that it stays on one line. */
static void
print_word(const char *word)
{
	bool plain = *word;

	for (const char *c = word; *c; c++)
		plain &= *c > ' ' && *c < 127 && !strchr("\"'\\$`|&;<>()*?[]#~!{}", *c);
	if (plain) {
		printf(" %s", word);
		return;
	}
	fputs(" '", stdout);
	for (const char *c = word; *c; c++)
		if (*c == '\'')
			fputs("'\\''", stdout);
		else
			printf((unsigned char)*c < ' ' || *c == 127 ? "\\%03o" : "%c", (unsigned char)*c);
	putchar('\'');
}

static void
print_start(const char *path, const struct tracee_start *s)
{
	printf("log: %s, %" PRIu64 " bytes, version %d\n", path, size_of(path), LOG_VERSION);
	printf("recorded: %s\n", log_scope(path) == LOG_SIGNALS_ONLY ? "signals only" : "all");
	printf("program:");
	print_word(s->file);
	printf("\ncommand:");
	for (char **word = s->argv; *word; word++)
		print_word(*word);
	printf("\nfolder:");
	print_word(s->cwd ? s->cwd : "");
	putchar('\n');
}

bool
replay_info(const char *log)
{
	struct pool *pool = pool_new();
	struct log *l = log_open(log);
	struct tracee_start s;
	bool ok = l, chaos;
	uint64_t seed;

	if (ok && log_get(l) != LOG_START) {
		say_error(log, "it is damaged: it does not begin with a program");
		ok = false;
	}
	if (ok) {
		chaos = log_get_seed(l, &seed);
		log_get_bytes(l, pool);
		start_read(l, pool, &s);
		ok = !log_failed(l);
	}
	if (ok) {
		print_start(log, &s);
		if (chaos)
			printf("chaos: seed %" PRIu64 "\n", seed);
	}
	log_close(l);
	pool_free(pool);
	return ok;
}
