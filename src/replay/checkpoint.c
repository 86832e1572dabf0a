/* SPDX-License-Identifier: MIT */
/* Going back in a replay: copies of the program by fork(), which it is made to call, with where in the log each stands. */
#include "replay/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct checkpoint {
	struct tracee t;
	uint64_t event, log_at;
	bool resumed;
	size_t passed[3];
	struct mapped mapped;    /* files of its own descriptors */
	struct task task;        /* the only one */
	uint64_t last;           /* the last number of one */
};

/* Memory that the copy would share. */
static bool
shares_memory(const struct tracee *t)
{
	struct pool *pool = pool_new();
	const char *line = tracee_proc(t, pool, "maps"), *how;
	bool shares = !line;

	for (; line && *line && !shares; line = strchr(line, '\n') + 1) {
		how = strchr(line, ' ');
		shares = how && how[1] && how[4] == 's';
	}
	pool_free(pool);
	return shares;
}

static void
copy_files(struct mapped *to, const struct mapped *from)
{
	to->pool = from->pool;
	to->apart = from->apart;
	for (size_t i = 0; i < from->file.n; i++) {
		struct mapped_file f = from->file.at[i];

		f.fd = fcntl(f.fd, F_DUPFD_CLOEXEC, 0);
		VEC_PUSH(to->file, f);
	}
}

struct checkpoint *
checkpoint_take(struct replayer *r)
{
	struct checkpoint *c;
	struct tracee t;

	if (r->ended || r->all.at.n > 1 || r->task->in_call || shares_memory(r->t) || !tracee_fork(r->t, &t))
		return NULL;
	c = xcalloc(1, sizeof *c);
	c->t = t;
	c->task = *r->task;
	c->last = r->all.last;
	c->event = r->event;
	c->log_at = log_tell(r->log);
	c->resumed = r->resumed;
	memcpy(c->passed, r->passed, sizeof c->passed);
	copy_files(&c->mapped, &r->mapped);
	return c;
}

bool
checkpoint_back(struct replayer *r, const struct checkpoint *c)
{
	struct tracee from = c->t, to;

	if (!tracee_fork(&from, &to))
		return false;
	to.own = from.own;
	to.of = from.of;
	tasks_close(&r->all);
	r->all.last = c->task.number - 1;
	r->task = tasks_begin(&r->all, &to);
	r->all.last = c->last;
	r->task->group->first = true;
	r->task->again = c->task.again;
	r->task->made = c->task.made;
	r->t = &r->task->t;
	r->clock = r->task->group->space->clock;
	r->event = c->event;
	r->resumed = c->resumed;
	r->ended = false;
	memcpy(r->passed, c->passed, sizeof r->passed);
	mapped_close(&r->mapped);
	copy_files(&r->mapped, &c->mapped);
	return log_seek(r->log, c->log_at);
}

uint64_t
checkpoint_event(const struct checkpoint *c)
{
	return c->event;
}

void
checkpoint_free(struct checkpoint *c)
{
	if (!c)
		return;
	tracee_close(&c->t);
	mapped_close(&c->mapped);
	free(c);
}
