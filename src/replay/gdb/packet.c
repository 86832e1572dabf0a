/* SPDX-License-Identifier: MIT */
/* gdb's remote serial protocol: packets ("$...#sum"), and the connection. Specified in gdb's manual, appendix E. */
#include "replay/gdb/gdb.h"

#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { INTERRUPT = 3, CONFIRMED = '+', ESCAPE = '}', FLIP = 0x20, PACKET_MOST = 1 << 16 };

/* ---- bytes ---- */

static bool
fill(struct connection *c)
{
	ssize_t n;

	if (c->at == c->got.n)
		c->at = c->got.n = 0;
	buf_reserve(&c->got, 1 << 14);
	do
		n = read(c->in, c->got.at + c->got.n, 1 << 14);
	while (n < 0 && errno == EINTR);
	c->got.n += n > 0 ? (size_t)n : 0;
	return n > 0;
}

/* -1: there is no more. */
static int
get(struct connection *c)
{
	if (c->at == c->got.n && !fill(c))
		return -1;
	return (unsigned char)c->got.at[c->at++];
}

static void
put(struct connection *c, const char *at, size_t n)
{
	while (n) {
		ssize_t did = write(c->out, at, n);

		if (did < 0 && errno == EINTR)
			continue;
		/* A later read will show that nobody is there. */
		if (did < 0)
			return;
		at += did;
		n -= (size_t)did;
	}
}

/* ---- numbers ---- */

static int
digit(int c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

uint64_t
get_hex(const char **at)
{
	uint64_t v = 0;

	for (; digit(**at) >= 0; ++*at)
		v = v << 4 | (uint64_t)digit(**at);
	return v;
}

void
put_hex(struct buf *b, const void *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%02x", ((const unsigned char *)at)[i]);
}

/* ---- packets ---- */

/* Reads up to the end of a packet. A packet that is longer than any should be becomes empty. *sum: the sum of the bytes that came.
 * -1: nobody is there. */
static int
get_body(struct connection *c, struct buf *to, unsigned *sum)
{
	size_t n = 0;
	int ch;

	*sum = 0;
	to->n = 0;
	while ((ch = get(c)) >= 0 && ch != '#') {
		*sum += (unsigned)ch;
		if (ch == ESCAPE) {
			ch = get(c);
			*sum += (unsigned)ch;
			ch ^= FLIP;
		}
		if (n++ < PACKET_MOST)
			buf_char(to, (char)ch);
	}
	if (n > PACKET_MOST)
		to->n = 0;
	buf_char(to, 0);
	to->n--;
	return ch;
}

bool
packet_get(struct connection *c, struct buf *to)
{
	for (;;) {
		int ch = get(c), high, low;
		unsigned sum;

		if (ch < 0)
			return false;
		c->interrupted |= ch == INTERRUPT;
		if (ch != '$')
			continue;
		if (get_body(c, to, &sum) < 0)
			return false;
		high = digit(get(c));
		low = digit(get(c));
		if (!c->ack || (high >= 0 && low >= 0 && (unsigned)(high << 4 | low) == (sum & 0xff))) {
			if (c->ack)
				put(c, "+", 1);
			c->interrupted = false;
			return true;
		}
		put(c, "-", 1);
	}
}

void
packet_put(struct connection *c, const void *at, size_t n)
{
	struct buf b = {0};
	unsigned sum = 0;

	buf_char(&b, '$');
	for (size_t i = 0; i < n; i++) {
		char ch = ((const char *)at)[i];

		if (ch == '$' || ch == '#' || ch == ESCAPE || ch == '*') {
			buf_char(&b, ESCAPE);
			ch ^= FLIP;
		}
		buf_char(&b, ch);
	}
	for (size_t i = 1; i < b.n; i++)
		sum += (unsigned char)b.at[i];
	buf_printf(&b, "#%02x", sum & 0xff);
	put(c, b.at, b.n);
	buf_free(&b);
}

void
packet_text(struct connection *c, const char *text)
{
	packet_put(c, text, strlen(text));
}

bool
packet_interrupt(struct connection *c)
{
	struct pollfd p = {c->in, POLLIN, 0};
	bool was;

	while (c->at < c->got.n || poll(&p, 1, 0) > 0) {
		/* If gdb has gone, that is an interruption, too. */
		if (c->at == c->got.n && !fill(c)) {
			c->interrupted = true;
			break;
		}
		if (c->got.at[c->at] == INTERRUPT)
			c->interrupted = true;
		else if (c->got.at[c->at] != CONFIRMED)
			break;
		c->at++;
	}
	was = c->interrupted;
	c->interrupted = false;
	return was;
}

/* ---- connecting ---- */

static int
listen_at(const struct sockaddr *a, socklen_t n, const char *name)
{
	int s = socket(a->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

	if (s >= 0)
		setsockopt(s, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (s < 0 || bind(s, a, n) || listen(s, 1)) {
		say_error(name, "%s", strerror(errno));
		if (s >= 0)
			close(s);
		return -1;
	}
	return s;
}

static int
listen_path(const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	if (strlen(name) >= sizeof a.sun_path) {
		say_error(name, "too long for a socket's name");
		return -1;
	}
	strcpy(a.sun_path, name);
	return listen_at((struct sockaddr *)&a, sizeof a, name);
}

static int
listen_port(const char *where)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t n = sizeof a;
	char *end = NULL;
	unsigned long port = where ? strtoul(where, &end, 10) : 0;
	int s;

	if (where && (*end || end == where || port > 65535)) {
		say_error(where, "neither a port nor the path of a socket");
		return -1;
	}
	a.sin_port = htons((uint16_t)port);
	s = listen_at((struct sockaddr *)&a, sizeof a, where ? where : "a port");
	if (s >= 0 && !getsockname(s, (struct sockaddr *)&a, &n))
		fprintf(stderr, "chord: in gdb: target remote localhost:%d\n", ntohs(a.sin_port));
	return s;
}

bool
connection_open(struct connection *c, const char *where)
{
	int s;

	*c = (struct connection){.in = 0, .out = 1, .ack = true};
	if (where && !strcmp(where, "-"))
		return true;
	s = where && strchr(where, '/') ? listen_path(where) : listen_port(where);
	if (s < 0)
		return false;
	do
		c->in = c->out = accept4(s, NULL, NULL, SOCK_CLOEXEC);
	while (c->in < 0 && errno == EINTR);
	close(s);
	if (where && strchr(where, '/'))
		unlink(where);
	if (c->in < 0)
		say_error("gdb", "%s", strerror(errno));
	return c->in >= 0;
}

void
connection_close(struct connection *c)
{
	if (c->in > 1)
		close(c->in);
	buf_free(&c->got);
}
