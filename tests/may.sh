# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# To be sourced by suites that need what some containers do not permit.

# may WHAT...: see may.c. If not, $why says so. What is not built is left to fail.
may()
{
	why=$("${MAY:=$(dirname "$(realpath "$CHORD")")/may}" "$@" 2>&1)
	[ $? != 1 ]
}
