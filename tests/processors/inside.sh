#!/bin/sh
# SPDX-License-Identifier: MIT
# The first program of the virtual machine. It runs each program of the shared folder and writes down what it does.
# processors=NAME on the kernel's command line is the folder in which they run.
mount -t proc proc /proc
for module in /modules/*; do
	insmod "$module"
done
mount -t 9p -o trans=virtio,version=9p2000.L,msize=1048576,cache=loose shared /mnt
mount -t proc proc /mnt/proc
mount -t devtmpfs dev /mnt/dev
mkdir -p /mnt/dev/shm
mount -t tmpfs shm /mnt/dev/shm
read -r line </proc/cmdline
name=${line#*processors=}
name=${name%% *}
RUNNER=/busybox chroot /mnt /busybox sh /all.sh "$name"
sync
poweroff -f
