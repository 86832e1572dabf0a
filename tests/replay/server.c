/* SPDX-License-Identifier: MIT */
/* A server on the loopback that polls, and three clients, each of them a process. Their messages have the time in them. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CLIENTS = 3, ROUNDS = 4 };

static struct sockaddr_in addr;

static int
client(int me)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	char line[128];
	ssize_t n = 0;

	if (connect(fd, (struct sockaddr *)&addr, sizeof addr))
		return 1;
	for (int i = 0; i < ROUNDS; i++) {
		dprintf(fd, "client %d round %d\n", me, i);
		n = read(fd, line, sizeof line - 1);
		if (n <= 0)
			return 1;
	}
	line[n] = 0;
	printf("client %d got %s", me, line);
	fflush(stdout);
	return 0;
}

/* Answers what has come. False: there is no more. */
static int
answer(int fd, unsigned *served)
{
	struct timespec now;
	char line[64];
	ssize_t n = read(fd, line, sizeof line - 1);

	if (n <= 0)
		return 0;
	clock_gettime(CLOCK_REALTIME, &now);
	line[n] = 0;
	dprintf(fd, "%u at %ld: %s", ++*served, now.tv_nsec, line);
	return 1;
}

static unsigned
serve(int listener)
{
	struct pollfd p[CLIENTS + 1] = {{listener, POLLIN, 0}};
	unsigned n = 1, gone = 0, served = 0;

	while (gone < CLIENTS && poll(p, n, -1) > 0)
		for (unsigned i = n; i-- > 0;) {
			if (!p[i].revents)
				continue;
			if (!i)
				p[n++] = (struct pollfd){accept(listener, NULL, NULL), POLLIN, 0};
			else if (!answer(p[i].fd, &served))
				close(p[i].fd), p[i].fd = -1, gone++;
		}
	return served;
}

int
main(void)
{
	int listener = socket(AF_INET, SOCK_STREAM, 0), status, bad = 0;
	socklen_t size = sizeof addr;

	addr.sin_family = AF_INET;
	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(listener, (struct sockaddr *)&addr, sizeof addr) || listen(listener, CLIENTS) ||
	    getsockname(listener, (struct sockaddr *)&addr, &size))
		return 1;
	for (int i = 0; i < CLIENTS; i++)
		if (!fork())
			_exit(client(i));
	printf("served %u\n", serve(listener));
	for (int i = 0; i < CLIENTS; i++)
		bad |= wait(&status) < 0 || status;
	return bad;
}
