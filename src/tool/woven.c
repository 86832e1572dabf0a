/* SPDX-License-Identifier: MIT */
/* What the reader of profiles asks of woven code. */
#include "asm/machine.h"
#include "tool/report.h"

/* An instruction of woven code. */
struct decoded {
	uint32_t len;            /* 0: it is none */
	uint64_t counter;        /* that it writes, or 0 */
	bool jumps;
};

static struct decoded
decode(struct image *image, uint64_t at)
{
	struct str code = image_bytes(image, at);
	struct decoded d;

	d.len = machine_x86_64.counts((const uint8_t *)code.at, code.n, at, &d.counter, &d.jumps);
	return d;
}

static uint64_t
writes_counter(void *image, uint64_t lo, uint64_t hi, uint64_t counter, uint64_t *end)
{
	struct decoded d;

	for (uint64_t at = lo; at < hi; at += d.len) {
		d = decode(image, at);
		if (!d.len)
			return 0;
		if (d.counter != counter)
			continue;
		if (end)
			*end = at + d.len;
		return at;
	}
	return 0;
}

static uint64_t
runs_straight(void *image, uint64_t lo, uint64_t hi)
{
	struct decoded d;

	for (uint64_t at = lo; at < hi; at += d.len) {
		d = decode(image, at);
		if (!d.len)
			return hi;
		if (d.jumps)
			lo = at + d.len;
	}
	return lo;
}

struct woven
woven_code(struct image *image)
{
	return (struct woven){image, writes_counter, runs_straight};
}
