/* SPDX-License-Identifier: MIT */
/* Gives every run of a command the same standard input. */
#include "launch/launch.h"
#include "driver/driver.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK = 65536 };

/* Opens a file without a name. */
static int
make_spool(void)
{
	const char *dir = getenv("TMPDIR");
	int fd = open(dir && *dir ? dir : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	return fd < 0 ? memfd_create("chord", MFD_CLOEXEC) : fd;
}

bool
input_open(struct launch_input *in, bool several)
{
	struct stat st;

	*in = (struct launch_input){.source = -1, .spool = -1, .control = -1};
	if (!several || fstat(0, &st))
		return true;
	in->start = lseek(0, 0, SEEK_CUR);
	in->rewinds = in->start >= 0 && (S_ISREG(st.st_mode) || S_ISBLK(st.st_mode));
	in->relays = S_ISFIFO(st.st_mode);
	if (S_ISSOCK(st.st_mode))
		in->left = "standard input is a socket: each run had what those before it left";
	if (in->relays) {
		in->source = fcntl(0, F_DUPFD_CLOEXEC, 3);
		in->spool = make_spool();
		if (in->source < 0 || in->spool < 0) {
			say_error("standard input", "cannot be kept for the next run: %s", strerror(errno));
			return false;
		}
	}
	return true;
}

/* ---- the relay, a process of its own ---- */

static bool
keep(int spool, const char *chunk, size_t n, off_t at)
{
	for (size_t done = 0; done < n;) {
		ssize_t wrote = pwrite(spool, chunk + done, n - done, at + (off_t)done);

		if (wrote < 0 && errno != EINTR)
			return false;
		done += wrote > 0 ? (size_t)wrote : 0;
	}
	return true;
}

/* Reads more from the source. False: it cannot be kept. */
static bool
fetch(const struct launch_input *in, char *chunk, off_t *have, bool *more)
{
	ssize_t n = read(in->source, chunk, CHUNK);

	*more = n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
	if (n <= 0)
		return true;
	if (!keep(in->spool, chunk, (size_t)n, *have))
		return false;
	*have += n;
	return true;
}

/* Passes on what was kept. False: nobody reads any more, or (*kept is false) the kept input cannot be read. */
static bool
hand_on(const struct launch_input *in, int to, char *chunk, off_t *sent, bool *kept)
{
	ssize_t n = pread(in->spool, chunk, CHUNK, *sent);

	*kept = n > 0 || (n < 0 && errno == EINTR);
	n = n > 0 ? write(to, chunk, (size_t)n) : -1;
	*sent += n > 0 ? n : 0;
	return n > 0 || errno == EAGAIN || errno == EINTR;
}

/* Passes on what was kept, then what comes, until the program has ended. Returns the exit status. */
static int
relay(const struct launch_input *in, int to, int control)
{
	static char chunk[CHUNK];
	off_t have = lseek(in->spool, 0, SEEK_END), sent = 0;
	bool more = true, kept;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	fcntl(to, F_SETFL, O_NONBLOCK);
	while (more || sent < have) {
		struct pollfd p[] = {{control, POLLIN, 0}, {to, sent < have ? POLLOUT : 0, 0},
		                     {sent < have ? -1 : in->source, POLLIN, 0}};

		if (poll(p, 3, -1) < 0 && errno != EINTR)
			return EXIT_NO;
		if (p[0].revents || p[1].revents & (POLLERR | POLLHUP))
			return 0;
		if (p[1].revents && !hand_on(in, to, chunk, &sent, &kept))
			return kept ? 0 : EXIT_NO;
		if (p[2].revents && !fetch(in, chunk, &have, &more))
			return EXIT_NO;
	}
	return 0;
}

/* ---- around a run ---- */

static bool
start_relay(struct launch_input *in)
{
	int data[2], control[2];

	if (pipe2(data, O_CLOEXEC) || pipe2(control, O_CLOEXEC))
		return false;
	fflush(NULL);
	in->relay = fork();
	if (in->relay == 0) {
		close(data[0]);
		close(control[1]);
		/* If somebody waits for the end of the output, it has to end with the program, so this process must not keep it
		 * open. */
		close(0);
		close(1);
		_exit(relay(in, data[1], control[0]));
	}
	in->control = control[1];
	close(control[0]);
	close(data[1]);
	if (in->relay < 0 || dup2(data[0], 0) < 0)
		return false;
	close(data[0]);
	return true;
}

bool
input_begin(struct launch_input *in)
{
	bool ok = true;

	if (in->rewinds)
		ok = lseek(0, in->start, SEEK_SET) >= 0;
	if (in->relays)
		ok = start_relay(in);
	if (!ok)
		say_error("standard input", "%s", strerror(errno));
	return ok;
}

bool
input_end(struct launch_input *in)
{
	int status;

	if (!in->relays)
		return true;
	dup2(in->source, 0);
	close(in->control);
	status = child_wait(in->relay);
	if (status)
		say_error("standard input", "cannot be kept for the next run");
	return !status;
}

void
input_close(struct launch_input *in)
{
	if (in->source >= 0)
		close(in->source);
	if (in->spool >= 0)
		close(in->spool);
}
