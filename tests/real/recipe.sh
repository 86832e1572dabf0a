#!/bin/sh
# SPDX-License-Identifier: MIT
# recipe.sh NAME FUNCTION [ARGUMENT...]: runs one step of one recipe. README has the list of functions.
set -eu
real=$(cd "$(dirname "$0")" && pwd)
. "$real/lib.sh"
. "$real/recipes/$1.sh"
shift
"$@"
