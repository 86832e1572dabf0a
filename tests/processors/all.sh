# shellcheck shell=sh
# SPDX-License-Identifier: MIT
# all.sh NAME: in the folder that has the programs in p, runs each in NAME/PROGRAM, and leaves there what it says, its status, and its
# profiles. $RUNNER stands before each tool; in the virtual machine there is only busybox.
top=$(pwd)
top=${top%/}
for program in "$top"/p/*; do
	run=$top/$1/${program##*/}
	$RUNNER mkdir -p "$run"
	cd "$run" || exit 1
	$RUNNER timeout 120 "$program" </dev/null >out 2>err
	echo $? >status
done
