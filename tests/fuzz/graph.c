/* SPDX-License-Identifier: MIT */
/* `chord graph` on any file. */
#include "tool/tool.h"

#include "base/base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	static int fd = -1;
	char path[32], name[] = "chord graph";
	char *argv[] = {name, path, NULL};

	if (fd < 0) {
		fd = memfd_create("graph", 0);
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			abort();
	}
	if (ftruncate(fd, 0) || pwrite(fd, data, n, 0) != (ssize_t)n)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	cmd_graph(2, argv);
	return 0;
}
