/* SPDX-License-Identifier: MIT */
/* Going back in a replay: copies of all its processes, and the place in the log where each copy stands. */
#include "replay/internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct checkpoint {
	struct tasks all;
	uint64_t task;           /* number of the task that has its turn */
	uint64_t event, log_at;
	bool resumed;
	size_t passed[3];
	struct mapped mapped;    /* its files, with descriptors of their own */
	unsigned others;         /* how many more have this checkpoint */
};

/* A descriptor of its own; false: there are no more. */
static bool
copy_fd(int *fd)
{
	bool any = *fd >= 0;

	*fd = any ? fcntl(*fd, F_DUPFD_CLOEXEC, 0) : -1;
	return *fd >= 0 || !any;
}

/* Gives the copy descriptors of its own, and memory that is not shared with what was copied. False: that cannot be, and the files
 * of the copy are closed. */
static bool
copy_files(struct mapped *to, const struct mapped *from, struct tasks *copies)
{
	bool ok = true;

	to->pool = from->pool;
	to->apart = from->apart;
	for (size_t i = 0; i < from->file.n && ok; i++) {
		struct mapped_file f = from->file.at[i];

		ok = copy_fd(&f.fd);
		VEC_PUSH(to->file, f);
	}
	for (size_t i = 0; i < from->nameless.n && ok; i++) {
		struct mapped_file f = from->nameless.at[i];

		ok = copy_fd(&f.fd);
		VEC_PUSH(to->nameless, f);
	}
	if (ok && shared_part(copies, from, to))
		return true;
	mapped_close(to);
	return false;
}

/* Are enough descriptors left to go on? */
static bool
has_room(void)
{
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);
	bool room = next >= 0 && tracee_has_room(next);

	if (next >= 0)
		close(next);
	return room;
}

struct checkpoint *
checkpoint_take(struct replayer *r)
{
	struct mapped mapped = {0};
	struct checkpoint *c;
	struct tasks all = {0};

	if (r->ended || !r->task || !tasks_copy(&r->all, &all))
		return NULL;
	if (!copy_files(&mapped, &r->mapped, &all) || !has_room()) {
		mapped_close(&mapped);
		tasks_close(&all);
		return NULL;
	}
	for (size_t i = 0; i < mapped.nameless.n; i++)
		if (mapped.nameless.at[i].fd < 0 && r->mapped.nameless.at[i].fd >= 0) {
			close(r->mapped.nameless.at[i].fd);
			r->mapped.nameless.at[i].fd = -1;
		}
	c = xcalloc(1, sizeof *c);
	c->all = all;
	c->mapped = mapped;
	c->task = r->task->number;
	c->event = r->event;
	c->log_at = log_tell(r->log);
	c->resumed = r->resumed;
	memcpy(c->passed, r->passed, sizeof c->passed);
	return c;
}

bool
checkpoint_back(struct replayer *r, const struct checkpoint *c)
{
	struct tasks all = {0};

	if (!tasks_copy(&c->all, &all))
		return false;
	/* Their descriptors are free then. */
	mapped_close(&r->mapped);
	if (!copy_files(&r->mapped, &c->mapped, &all)) {
		tasks_close(&all);
		return false;
	}
	tasks_close(&r->all);
	r->all = all;
	replayer_become(r, tasks_numbered(&r->all, c->task));
	r->event = c->event;
	r->resumed = c->resumed;
	r->ended = false;
	memcpy(r->passed, c->passed, sizeof r->passed);
	return log_seek(r->log, c->log_at);
}

uint64_t
checkpoint_event(const struct checkpoint *c)
{
	return c->event;
}

struct checkpoint *
checkpoint_share(struct checkpoint *c)
{
	c->others++;
	return c;
}

void
checkpoint_free(struct checkpoint *c)
{
	if (!c || c->others--)
		return;
	tasks_close(&c->all);
	mapped_close(&c->mapped);
	free(c);
}
