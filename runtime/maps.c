/* SPDX-License-Identifier: MIT */
/* The mappings of the process, read from /proc/self/maps. */

/* A mapping. rights: four characters, the first one highest. */
typedef void chord_rt_mapping_fn(struct chord_rt_ctl *ctl, uint64_t start, uint64_t end, uint32_t rights);

struct chord_rt_maps {
	uint64_t v[2];                /* start and end, as far as they have been read */
	uint32_t at;                  /* what is read now: 0, 1: v[at]; 2: the rights; 3: the rest */
	uint32_t rights, n;
};

static void
chord_rt_read_maps(struct chord_rt_ctl *ctl, struct chord_rt_maps *m, char c, chord_rt_mapping_fn *f)
{
	if (c == '\n')
		chord_rt_clear(m, sizeof *m);
	else if (m->at < 2 && (c == '-' || c == ' '))
		m->at++;
	else if (m->at < 2)
		m->v[m->at] = m->v[m->at] * 16 + (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
	else if (m->at == 2 && (m->rights = m->rights << 8 | (unsigned char)c, ++m->n == 4)) {
		m->at = 3;
		f(ctl, m->v[0], m->v[1], m->rights);
	}
}

/* Calls f for each mapping, in ascending order. Under the lock. */
static void
chord_rt_each_mapping(struct chord_rt_ctl *ctl, chord_rt_mapping_fn *f)
{
	struct chord_rt_maps m = {{0, 0}, 0, 0, 0};
	long fd, n;

	fd = chord_rt_call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC);
	while (!chord_rt_failed(fd) && (n = chord_rt_call(SYS_read, fd, ctl->page, CHORD_RT_PAGE)) > 0)
		for (long i = 0; i < n; i++)
			chord_rt_read_maps(ctl, &m, (char)ctl->page[i], f);
	if (!chord_rt_failed(fd))
		chord_rt_call(SYS_close, fd);
}
