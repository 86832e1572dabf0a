/* SPDX-License-Identifier: MIT */
/* lua N: Lua with a handler whose result depends on where the interpreter stands; runs until N signals have come. */
#include "lstate.h"
#include "lua.h"
#include "lauxlib.h"
#include "lualib.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static lua_State *L;
static volatile uint64_t seen, count;

static void
on_signal(int sig)
{
	seen = seen * 31 + (uint64_t)(uintptr_t)L->ci->u.l.savedpc + (uint64_t)sig;
	count++;
}

static const char work[] =
	"local t = {} for i = 1, 300 do t[i] = (i * 7919) % 1009 .. 'x' end "
	"table.sort(t) local f f = function(n) return n < 2 and n or f(n - 1) + f(n - 2) end "
	"total = (total or 0) + f(12) + #table.concat(t):rep(3)";

int
main(int argc, char **argv)
{
	uint64_t most = argc > 1 ? strtoull(argv[1], NULL, 10) : 50;
	struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};

	L = luaL_newstate();
	luaL_openlibs(L);
	signal(SIGALRM, on_signal);
	setitimer(ITIMER_REAL, &often, NULL);
	while (count < most)
		if (luaL_dostring(L, work))
			return 1;
	setitimer(ITIMER_REAL, &never, NULL);
	lua_getglobal(L, "total");
	printf("%llu %llu %s\n", (unsigned long long)seen, (unsigned long long)count, lua_tostring(L, -1));
	return 3;
}
