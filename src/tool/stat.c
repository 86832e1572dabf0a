/* SPDX-License-Identifier: MIT */
/* chord stat: runs a measured program and prints exact totals of events. */
#include "driver/driver.h"
#include "tool/stat.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OPT_JSON = 'j', OPT_PER_THREAD = 256, OPT_ASLR, RUNS_MAX = 1000000, THREADS_MAX = 65536 };

static const struct argp_option options[] = {
	{"event", 'e', "LIST", 0, "The events, with commas between them; also more than once (default: all)", 0},
	{"repeat", 'r', "N", 0, "Run it N times with the same input: the median, and how far the counts go apart", 0},
	{"per-thread", OPT_PER_THREAD, NULL, 0, "Each thread by itself, too", 0},
	{"aslr", OPT_ASLR, NULL, 0, "Let the kernel choose addresses at random, as it does otherwise", 0},
	{"json", OPT_JSON, NULL, 0, "Print JSON", 0},
	{"output", 'o', "FILE", 0, "Print to FILE in place of standard error", 0},
	{0},
};

static const char doc[] =
	"Run a measured program and print exact totals of what it executed.\v"
	"Events: instructions, blocks, branches (conditional), taken, calls, indirect-calls, returns, loads, stores, bytes-loaded, "
	"bytes-stored, atomics, fp, vector, divides, backward-branches; call:PATTERN and insn:PATTERN, where PATTERN is globs with "
	"| between them or /a regular expression/; cost:FILE. chord-stat(1) says what each counts.\n\n"
	"The program has its standard input and output; what it leaves in processes that it starts is counted with it, if "
	"they were measured too. What is not in the counts is said below them.\n\n"
	"Exit status: the program's (128 + N if signal N ended it); 1 if it cannot be run or was not measured, 2 wrong usage.";

static uint32_t
parse_runs(const char *text, struct argp_state *state)
{
	char *end;
	unsigned long n;

	errno = 0;
	n = strtoul(text, &end, 10);
	if (*text < '0' || *text > '9' || *end || errno || !n || n > RUNS_MAX)
		argp_error(state, "-r %s: a number of runs is from 1 to %d", text, RUNS_MAX);
	return (uint32_t)n;
}

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct stat_options *o = state->input;

	switch (key) {
	case 'e':
		/* All of them, as perf stat has it. */
		o->events = o->events ? pool_printf(o->pool, "%s,%s", o->events, arg) : arg;
		break;
	case 'r':
		o->runs = parse_runs(arg, state);
		break;
	case OPT_JSON:
		o->json = true;
		break;
	case 'o':
		o->output = arg;
		break;
	case OPT_ASLR:
		o->aslr = true;
		break;
	case OPT_PER_THREAD:
		o->per_thread = true;
		break;
	case ARGP_KEY_ARG:
		/* The program: all that follows is its own. */
		o->argv = state->argv + state->next - 1;
		state->next = state->argc;
		break;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which program?");
		break;
	case ARGP_KEY_END:
		if (o->per_thread && o->runs > 1)
			argp_error(state, "--per-thread is of one run: threads of several are not the same");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* ---- the folder for profiles ---- */

static char *
make_folder(struct pool *pool)
{
	const char *tmp = getenv("TMPDIR");
	char *name = pool_printf(pool, "%s/chord-stat-XXXXXX", tmp && *tmp ? tmp : "/tmp");

	if (mkdtemp(name))
		return name;
	say_error(name, "%s", strerror(errno));
	return NULL;
}

typedef VEC(char *) names;

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static names
list_folder(struct pool *pool, const char *folder)
{
	DIR *dir = opendir(folder);
	names n = {0};

	for (struct dirent *d; dir && (d = readdir(dir));)
		if (*d->d_name != '.')
			VEC_PUSH(n, pool_printf(pool, "%s/%s", folder, d->d_name));
	if (dir)
		closedir(dir);
	if (n.n)
		qsort(n.at, n.n, sizeof *n.at, by_name);
	return n;
}

static void
remove_folder(const char *folder, const names *n)
{
	for (size_t i = 0; i < n->n; i++)
		unlink(n->at[i]);
	rmdir(folder);
}

/* ---- what one run adds ---- */

static void
add_note(struct stat_result *s, const char *text)
{
	for (size_t i = 0; i < s->note.n; i++)
		if (!strcmp(s->note.at[i], text))
			return;
	VEC_PUSH(s->note, pool_strdup(s->pool, text));
}

static void
add_unknown(struct stat_result *s, const struct named *u)
{
	for (size_t i = 0; i < s->unknown.n; i++)
		if (!strcmp(s->unknown.at[i].name, u->name) && !strcmp(s->unknown.at[i].reason, u->reason))
			return;
	VEC_PUSH(s->unknown, (struct named){pool_strdup(s->pool, u->name), pool_strdup(s->pool, u->reason)});
}

static void
find_unmeasured(struct stat_result *s, struct run *r)
{
	struct unmeasured un = {0};

	s->library.n = 0;
	s->refused = 0;
	unmeasured_find_all(r, &un);
	for (size_t i = 0; i < r->unit.n; i++)
		s->refused += r->unit.at[i].map.nrefused;
	for (size_t i = 0; i < un.library.n; i++)
		VEC_PUSH(s->library, pool_strdup(s->pool, un.library.at[i]));
	s->unmeasured = un.symbol.n;
	s->stripped = un.stripped;
	unmeasured_free(&un);
}

/* Patterns that matched nothing are mistaken, or there is nothing for them in the program. */
static void
check_patterns(struct stat_result *s, struct run *r)
{
	struct tally t;

	tally_run(&t, r->pool, r, &s->events, true);
	for (uint32_t i = 0; i < s->events.n; i++)
		if (s->events.at[i].pattern && !t.at[i].n)
			add_note(s, pool_printf(s->pool, "%s: nothing in the measured code matches", s->events.at[i].name));
}

static void
note_callees(struct stat_result *s, const struct tally *t)
{
	char n[32];

	if (t->through_pointers)
		add_note(s, pool_printf(s->pool, "%s calls through pointers: whom they called is not known, "
		                        "they are in no call:...", grouped(n, t->through_pointers)));
	if (t->unnamed)
		add_note(s, pool_printf(s->pool, "%s calls of procedures without a symbol: they are in no call:...",
		                        grouped(n, t->unnamed)));
}

static bool
has_event(const struct event_list *l, const char *name)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (!strcmp(l->at[i].name, name))
			return true;
	return false;
}

/* Is there a procedure of which all is known, not only the events that it counts? */
static bool
knows_more(const struct run *r)
{
	for (size_t i = 0; i < r->unit.n; i++)
		for (uint32_t k = 0; k < r->unit.at[i].map.nproc; k++)
			if (!r->unit.at[i].map.proc[k].refused && !counts_by_design(&r->unit.at[i].counts[k]))
				return true;
	return false;
}

/* What can be told of the program: all plain events, and what is counted. A table of costs is not read again. */
static void
choose_events(struct stat_result *s, const struct run *r)
{
	struct event_totals counted = run_events(r);
	struct event_list *l = &s->events;

	l->at = pool_array(s->pool, EVENT_KINDS + counted.n, sizeof *l->at);
	for (unsigned i = 0; event_name(i) && knows_more(r); i++)
		l->at[l->n++] = (struct event){.kind = (uint8_t)i, .name = event_name(i)};
	for (uint32_t i = 0; i < counted.n; i++) {
		const char *name = pool_strdup(s->pool, counted.at[i].name), *why;
		struct event_list one;

		if (has_event(l, name))
			continue;
		if (str_starts(str_of(name), "cost:") || !event_list_read(s->pool, name, &one, &why))
			l->at[l->n++] = (struct event){.kind = EVENT_KINDS, .name = name};
		else
			l->at[l->n++] = one.at[0];
	}
}

static void
add_run(struct stat_result *s, struct run *r)
{
	struct tally t;

	if (!s->nrun && !s->opt->events)
		choose_events(s, r);
	if (!s->nrun)
		s->at = pool_array(s->pool, (size_t)s->events.n * s->opt->runs, sizeof *s->at);
	tally_run(&t, r->pool, r, &s->events, false);
	for (uint32_t i = 0; i < s->events.n; i++) {
		struct tally_event *e = &s->at[i * s->opt->runs + s->nrun];

		*e = t.at[i];
		e->why = e->why ? pool_strdup(s->pool, e->why) : NULL;
	}
	note_callees(s, &t);
	for (size_t i = 0; i < r->unknown.n; i++)
		add_unknown(s, &r->unknown.at[i]);
	for (size_t i = 0; i < r->note.n; i++)
		add_note(s, r->note.at[i]);
	if (!s->nrun)
		check_patterns(s, r);
	s->processes = r->sum->nsummed;
	s->fewest = !s->nrun || s->processes < s->fewest ? s->processes : s->fewest;
	s->most = s->processes > s->most ? s->processes : s->most;
	find_unmeasured(s, r);
	s->nrun++;
}

/* ---- threads ---- */

static void
add_thread(struct stat_result *s, struct run *r, uint64_t pid, uint32_t number)
{
	struct stat_thread th = {pid, number, pool_array(s->pool, s->events.n, sizeof *th.at)};
	struct tally t;
	bool any = false;

	tally_run(&t, r->pool, r, &s->events, false);
	for (uint32_t i = 0; i < s->events.n; i++) {
		th.at[i] = t.at[i];
		th.at[i].why = t.at[i].why ? pool_strdup(s->pool, t.at[i].why) : NULL;
		any |= t.at[i].n || t.at[i].why;
	}
	for (size_t i = 0; i < r->unknown.n; i++)
		add_unknown(s, &(struct named){pool_printf(s->pool, "%s, in thread %u of process %ju", r->unknown.at[i].name,
		                                           number, (uintmax_t)pid), r->unknown.at[i].reason});
	if (any)
		VEC_PUSH(s->thread, th);
}

/* The threads of a process, each solved by itself. False: reported. */
static bool
add_process(struct stat_result *s, struct run *r, const char *name)
{
	struct buf b = {0};
	struct profile *p;
	const char *why = NULL;
	uint32_t n = 1;

	if (!file_read(name, &b))
		why = strerror(errno);
	for (uint32_t i = 0; i < n && !why; i++) {
		uint64_t pid;

		p = profile_parse_region(r->pool, (struct str){b.at, b.n}, i, &why);
		if (!p)
			break;
		pid = p->pid;
		n = p->nregion;
		if (n > THREADS_MAX)
			why = "damaged: more threads than there can be";
		else if (!(p->flags & CHORD_PROFILE_APART))
			why = "its threads cannot be told apart: it was built with an older Chord";
		run_resolve(r, p);
		if (!why)
			add_thread(s, r, pid, i);
	}
	buf_free(&b);
	if (why)
		say_error(name, "%s", why);
	return !why;
}

static bool
add_threads(struct stat_result *s, struct run *r, const names *n)
{
	bool ok = true;

	for (size_t i = 0; i < n->n && ok; i++)
		ok = add_process(s, r, n->at[i]);
	return ok;
}

/* Why no process left a profile. */
static void
say_unmeasured(struct pool *pool, const char *program)
{
	const char *why = NULL;
	struct unit u;

	if (strchr(program, '/') && !unit_open(pool, program, &u, &why))
		say_error(program, "%s", why);
	else
		say_error(program, "it left no profile: neither it nor what it started was built with `chord cc`");
}

/* Reads what the processes of a run left. */
static bool
read_run(struct stat_result *s, const char *folder)
{
	struct pool *pool = pool_new();
	names n = list_folder(pool, folder);
	bool ok = false;
	struct run r;

	if (!n.n) {
		say_unmeasured(pool, s->opt->argv[0]);
	} else {
		ok = run_load_all(&r, s->opt->argv[0], n.at, (int)n.n);
		if (ok)
			add_run(s, &r);
		ok = ok && (!s->opt->per_thread || add_threads(s, &r, &n));
		run_close(&r);
	}
	remove_folder(folder, &n);
	free(n.at);
	pool_free(pool);
	return ok;
}

/* Runs the program. What it does may hang on where it and its memory lie: the same place every time, unless the
 * system does not allow that. */
static int
run_program(const struct stat_options *o)
{
	int old = personality(0xffffffff), status;

	if (!o->aslr && old != -1)
		personality((unsigned long)old | ADDR_NO_RANDOMIZE);
	status = child_run(o->argv);
	if (!o->aslr && old != -1)
		personality((unsigned long)old);
	return status;
}

static void
take_status(struct stat_result *s, int status)
{
	if (!s->nrun)
		s->first_status = status;
	s->other_status += status != s->first_status;
	if (!s->status)
		s->status = status;
}

static bool
run_once(struct stat_result *s, struct stat_input *in)
{
	char *folder = make_folder(s->pool);
	int status, saved;
	names left;
	bool ok;

	if (!folder)
		return false;
	setenv("CHORD_FILE", pool_printf(s->pool, "%s/%%n.%%p.chord", folder), 1);
	if (s->opt->per_thread)
		setenv("CHORD_THREADS", "apart", 1);
	if (!input_begin(in)) {
		rmdir(folder);
		return false;
	}
	status = run_program(s->opt);
	saved = errno;
	ok = input_end(in);
	if (status == -1)
		say_error(s->opt->argv[0], "%s", strerror(saved));
	else
		take_status(s, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
	if (status != -1 && ok)
		return read_run(s, folder);
	left = list_folder(s->pool, folder);
	remove_folder(folder, &left);
	free(left.at);
	return false;
}

/* What runs of a program that does not always do the same differ in. */
static void
note_differences(struct stat_result *s)
{
	uint32_t differ = 0;

	for (uint32_t i = 0; i < s->events.n; i++)
		differ += stat_differs(s, i);
	if (differ)
		add_note(s, pool_printf(s->pool, "the runs did not do the same: %u of %u counts differ; shown are their medians",
		                        differ, s->events.n));
	if (s->fewest != s->most)
		add_note(s, pool_printf(s->pool, "the runs had from %ju to %ju processes", (uintmax_t)s->fewest,
		                        (uintmax_t)s->most));
	if (s->other_status)
		add_note(s, pool_printf(s->pool, "%u of %u runs ended with another status than the first, which ended with %d",
		                        s->other_status, s->nrun, s->first_status));
}

/* Opened before the program runs, so that no run is for nothing, and emptied when there is something to be printed. */
struct output {
	const char *name;
	FILE *to;
	bool made;               /* there was no such file */
};

static bool
output_open(struct output *out, const char *name)
{
	int fd;

	*out = (struct output){.name = name ? name : "standard error", .to = stderr};
	if (!name)
		return true;
	fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	out->made = fd >= 0;
	if (fd < 0 && errno == EEXIST)
		fd = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	out->to = fd < 0 ? NULL : fdopen(fd, "w");
	if (!out->to)
		say_error(name, "%s", strerror(errno));
	return out->to;
}

static bool
output_print(const struct output *out, const struct stat_result *s)
{
	bool ok;

	/* A device or a pipe has nothing to be emptied. */
	if (out->to != stderr && ftruncate(fileno(out->to), 0) && errno != EINVAL)
		ok = false;
	else
		ok = s->opt->json ? stat_json(s, out->to) : stat_print(s, out->to);
	if (!ok)
		say_error(out->name, "%s", strerror(errno));
	return ok;
}

static bool
output_close(struct output *out, bool printed)
{
	if (out->to == stderr)
		return true;
	if (!printed && out->made)
		unlink(out->name);
	if (!fclose(out->to))
		return true;
	say_error(out->name, "%s", strerror(errno));
	return false;
}

static int
stat_all(struct stat_result *s)
{
	struct stat_input in;
	struct output out;
	const char *why;
	bool ok;

	if (s->opt->events && !event_list_read(s->pool, s->opt->events, &s->events, &why)) {
		say_error("-e", "%s", why);
		return EXIT_USAGE;
	}
	if (!output_open(&out, s->opt->output))
		return EXIT_NO;
	ok = input_open(&in, s->opt->runs > 1);
	for (uint32_t i = 0; i < s->opt->runs && ok; i++)
		ok = run_once(s, &in);
	if (in.left)
		add_note(s, in.left);
	input_close(&in);
	if (ok)
		note_differences(s);
	ok = ok && output_print(&out, s);
	ok &= output_close(&out, ok);
	event_list_free(&s->events);
	return ok ? s->status : EXIT_NO;
}

int
cmd_stat(int argc, char **argv)
{
	static const struct argp argp = {options, parse, "PROGRAM [ARGUMENT...]", doc, NULL, NULL, NULL};
	struct pool *pool = pool_new();
	struct stat_options o = {.runs = 1, .pool = pool};
	struct stat_result s = {.opt = &o, .pool = pool};
	int status;

	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &o))
		die("memory", "out of memory");
	status = stat_all(&s);
	free(s.unknown.at);
	free(s.note.at);
	free(s.library.at);
	free(s.thread.at);
	pool_free(s.pool);
	return status;
}
