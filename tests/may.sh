# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# To be sourced by suites that need something that some containers do not permit.

# may WHAT...: see may.c. If not, $why says so. What is not built is left to fail.
may()
{
	why=$("${MAY:=$(dirname "$(realpath "$CHORD")")/may}" "$@" 2>&1)
	[ $? != 1 ]
}

# is_fixed: were addresses fixed from outside, so that they are the same in each run here?
is_fixed()
{
	[ "$(cat /proc/sys/kernel/randomize_va_space)" = 0 ] || [ $((0x$(cat /proc/self/personality) & 0x40000)) != 0 ]
}
