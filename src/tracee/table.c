/* SPDX-License-Identifier: MIT */
/* The system calls that can be recorded: what each does with the process's memory, as the kernel documents it (man-pages, section
 * 2). A call that is not in the table cannot be recorded. */
#include "tracee/tracee.h"

#include <asm/prctl.h>
#include <asm/termbits.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/futex.h>
#include <linux/random.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/msg.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <stdlib.h>

#define FIXED(arg_, n_)      {OUT_FIXED, arg_, 0, n_}
#define RESULT(arg_, n_)     {OUT_RESULT, arg_, 0, n_}
#define ARG(arg_, by_, n_)   {OUT_ARG, arg_, by_, n_}
#define LENGTH(arg_, by_)    {OUT_LENGTH, arg_, by_, 1}, FIXED(by_, 4)
#define BITS(arg_, by_)      {OUT_BITS, arg_, by_, 1}

#define CALL(name_, class_, ...) {.number = SYS_##name_, .name = #name_, .class = CALL_##class_, .out = {__VA_ARGS__}}
#define GIVEN(name_, ...)    CALL(name_, GIVEN, __VA_ARGS__)
/* A call that the headers of Debian 12 do not have. */
#define CALL_SINCE(number_, name_, class_, ...) {.number = number_, .name = #name_, .class = CALL_##class_, .out = {__VA_ARGS__}}
#define REFUSED(name_, why_) {.number = SYS_##name_, .name = #name_, .class = CALL_REFUSED, .why = why_}
#define BY(name_, arg_)      {.number = SYS_##name_, .name = #name_, .class = CALL_COMMAND, .arg = arg_}

/* Commands that the headers of Debian 12 do not have. */
#ifndef F_DUPFD_QUERY
#define F_DUPFD_QUERY        1027
#endif
#ifndef F_CREATED_QUERY
#define F_CREATED_QUERY      1028
#endif
#ifndef PR_GET_AUXV
#define PR_GET_AUXV          0x41555856
#endif
#ifndef PR_SET_MDWE
#define PR_SET_MDWE          65
#define PR_GET_MDWE          66
#endif
#ifndef PR_SET_MEMORY_MERGE
#define PR_SET_MEMORY_MERGE  67
#define PR_GET_MEMORY_MERGE  68
#endif

#define OUTSIDE "memory that other processes have, too"
#define BEHIND  "the kernel writes memory while no call is made"
#define AIO     BEHIND " (with --no-aio the program is told that there is no such call)"
#define VIEW    "it gives the process another view of the system"
#define ORDER   "pages of a file in another order"
#define FILTER  "a filter of system calls would see those of the recording"

enum { STAT = 144, STATX = 256, STATFS = 120, TIMESPEC = 16, RUSAGE = 144, SIGINFO = 128, LIMIT = 16, SIGSET = 8,
       TIMEX = 208, HANDLE = 136, IFREQ = 40 };

static const struct system_call calls[] = {
	/* memory */
	CALL(mmap, MAP), CALL(mremap, REMAP), CALL(madvise, ADVISE), CALL(munmap, DONE), CALL(mprotect, DONE), CALL(brk, DONE),
	CALL(pkey_alloc, DONE), CALL(pkey_free, DONE), CALL(pkey_mprotect, DONE), CALL_SINCE(462, mseal, DONE),
	BY(arch_prctl, 0), GIVEN(mlock), GIVEN(munlock), GIVEN(mlockall), GIVEN(munlockall), GIVEN(mlock2), GIVEN(msync),
	GIVEN(mincore, {OUT_PAGES, 2, 1, 1}), GIVEN(membarrier), GIVEN(mbind), GIVEN(set_mempolicy),
	GIVEN(get_mempolicy, FIXED(0, 4), BITS(1, 2)), GIVEN(set_mempolicy_home_node), GIVEN(migrate_pages),
	GIVEN(move_pages, ARG(4, 1, 4)), GIVEN(process_vm_readv, {OUT_VECTOR, 1, 2, 1}),
	/* files */
	GIVEN(open), GIVEN(openat), GIVEN(openat2), GIVEN(creat), GIVEN(close), GIVEN(close_range), GIVEN(lseek),
	GIVEN(dup), GIVEN(dup2),
	GIVEN(dup3), GIVEN(read, RESULT(1, 1)), GIVEN(pread64, RESULT(1, 1)), GIVEN(readv, {OUT_VECTOR, 1, 2, 1}),
	GIVEN(preadv, {OUT_VECTOR, 1, 2, 1}), GIVEN(preadv2, {OUT_VECTOR, 1, 2, 1}),
	CALL(write, OUTPUT), CALL(pwrite64, OUTPUT), CALL(writev, OUTPUT), CALL(pwritev, OUTPUT), CALL(pwritev2, OUTPUT),
	CALL(sendto, OUTPUT), CALL(ftruncate, RESIZE), CALL(truncate, RESIZE), CALL(fallocate, RESIZE),
	CALL(sendfile, PASS, FIXED(2, 8)), CALL(copy_file_range, PASS, FIXED(1, 8), FIXED(3, 8)),
	CALL(splice, PASS, FIXED(1, 8), FIXED(3, 8)), CALL(tee, PASS),
	GIVEN(stat, FIXED(1, STAT)), GIVEN(lstat, FIXED(1, STAT)), GIVEN(fstat, FIXED(1, STAT)), GIVEN(newfstatat, FIXED(2, STAT)),
	GIVEN(statx, FIXED(4, STATX)), GIVEN(statfs, FIXED(1, STATFS)), GIVEN(fstatfs, FIXED(1, STATFS)), GIVEN(access),
	GIVEN(faccessat), GIVEN(faccessat2), GIVEN(getcwd, RESULT(0, 1)), GIVEN(chdir), GIVEN(fchdir), GIVEN(chroot),
	GIVEN(readlink, RESULT(1, 1)), GIVEN(readlinkat, RESULT(2, 1)), GIVEN(getdents, RESULT(1, 1)), GIVEN(getdents64,
	RESULT(1, 1)),
	GIVEN(rename), GIVEN(renameat), GIVEN(renameat2), GIVEN(unlink), GIVEN(unlinkat), GIVEN(mkdir), GIVEN(mkdirat),
	GIVEN(rmdir),
	GIVEN(link), GIVEN(linkat), GIVEN(symlink), GIVEN(symlinkat), GIVEN(mknod), GIVEN(mknodat), GIVEN(chmod), GIVEN(fchmod),
	GIVEN(fchmodat), GIVEN(chown), GIVEN(fchown), GIVEN(lchown), GIVEN(fchownat), GIVEN(umask), GIVEN(utime), GIVEN(utimes),
	GIVEN(futimesat), GIVEN(utimensat), GIVEN(sync), GIVEN(syncfs), GIVEN(fsync), GIVEN(fdatasync), GIVEN(sync_file_range),
	GIVEN(flock), GIVEN(fadvise64), GIVEN(readahead), GIVEN(getxattr, RESULT(2, 1)), GIVEN(lgetxattr, RESULT(2, 1)),
	GIVEN(fgetxattr, RESULT(2, 1)), GIVEN(listxattr, RESULT(1, 1)), GIVEN(llistxattr, RESULT(1, 1)), GIVEN(flistxattr,
	RESULT(1, 1)),
	GIVEN(setxattr), GIVEN(lsetxattr), GIVEN(fsetxattr), GIVEN(removexattr), GIVEN(lremovexattr), GIVEN(fremovexattr),
	GIVEN(inotify_init), GIVEN(inotify_init1), GIVEN(inotify_add_watch), GIVEN(inotify_rm_watch), GIVEN(memfd_create),
	GIVEN(fanotify_init), GIVEN(fanotify_mark), GIVEN(name_to_handle_at, FIXED(2, HANDLE), FIXED(3, 4)),
	GIVEN(open_by_handle_at),
	CALL_SINCE(451, cachestat, GIVEN, FIXED(3, 40)), CALL_SINCE(452, fchmodat2, GIVEN),
	CALL_SINCE(457, statmount, GIVEN, ARG(1, 2, 1)), CALL_SINCE(458, listmount, GIVEN, RESULT(1, 8)),
	CALL_SINCE(463, setxattrat, GIVEN), CALL_SINCE(465, listxattrat, GIVEN, RESULT(3, 1)),
	CALL_SINCE(466, removexattrat, GIVEN),
	CALL_SINCE(468, file_getattr, GIVEN, ARG(2, 3, 1)), CALL_SINCE(469, file_setattr, GIVEN),
	BY(fcntl, 1), BY(ioctl, 1),
	/* waiting */
	GIVEN(poll, ARG(0, 1, 8)), GIVEN(ppoll, ARG(0, 1, 8), FIXED(2, TIMESPEC)), GIVEN(select, BITS(1, 0), BITS(2, 0), BITS(3, 0),
	FIXED(4, TIMESPEC)), GIVEN(pselect6, BITS(1, 0), BITS(2, 0), BITS(3, 0), FIXED(4, TIMESPEC)), GIVEN(epoll_create),
	GIVEN(epoll_create1), GIVEN(epoll_ctl), GIVEN(epoll_wait, RESULT(1, 12)), GIVEN(epoll_pwait, RESULT(1, 12)),
	GIVEN(epoll_pwait2, RESULT(1, 12)), GIVEN(eventfd), GIVEN(eventfd2), GIVEN(signalfd), GIVEN(signalfd4),
	GIVEN(pipe, FIXED(0, 8)), GIVEN(pipe2, FIXED(0, 8)), BY(futex, 1), GIVEN(pause), GIVEN(futex_waitv),
	CALL_SINCE(454, futex_wake, GIVEN), CALL_SINCE(455, futex_wait, GIVEN), CALL_SINCE(456, futex_requeue, GIVEN),
	GIVEN(shmget), CALL(shmat, ATTACH), CALL(shmdt, DETACH), BY(shmctl, 1),
	GIVEN(semget), GIVEN(semop), GIVEN(semtimedop), BY(semctl, 2), GIVEN(msgget), GIVEN(msgsnd),
	GIVEN(msgrcv, {OUT_TYPED, 1, 0, 1}), BY(msgctl, 1), GIVEN(mq_open), GIVEN(mq_unlink), GIVEN(mq_timedsend),
	GIVEN(mq_timedreceive, RESULT(1, 1), FIXED(3, 4)),
	GIVEN(mq_notify), GIVEN(mq_getsetattr, FIXED(2, 64)),
	GIVEN(wait4, FIXED(1, 4), FIXED(3, RUSAGE)), GIVEN(waitid, FIXED(2, SIGINFO), FIXED(4, RUSAGE)),
	/* sockets */
	GIVEN(socket), GIVEN(socketpair, FIXED(3, 8)), GIVEN(connect), GIVEN(bind), GIVEN(listen), GIVEN(shutdown),
	GIVEN(setsockopt),
	GIVEN(accept, LENGTH(1, 2)), GIVEN(accept4, LENGTH(1, 2)), GIVEN(getsockname, LENGTH(1, 2)), GIVEN(getpeername,
	LENGTH(1, 2)),
	GIVEN(getsockopt, LENGTH(3, 4)), GIVEN(recvfrom, RESULT(1, 1), LENGTH(4, 5)), GIVEN(recvmsg, {OUT_MESSAGE, 1, 0, 1}),
	GIVEN(recvmmsg, {OUT_MESSAGES, 1, 2, 1}, FIXED(4, TIMESPEC)), GIVEN(sendmsg), GIVEN(sendmmsg, RESULT(1, 64)),
	/* time */
	GIVEN(clock_gettime, FIXED(1, TIMESPEC)), GIVEN(clock_getres, FIXED(1, TIMESPEC)), GIVEN(clock_settime),
	GIVEN(gettimeofday, FIXED(0, TIMESPEC), FIXED(1, 8)), GIVEN(settimeofday), GIVEN(time, FIXED(0, 8)), GIVEN(times,
	FIXED(0, 32)),
	GIVEN(nanosleep, FIXED(1, TIMESPEC)), GIVEN(clock_nanosleep, FIXED(3, TIMESPEC)), GIVEN(alarm), GIVEN(getitimer,
	FIXED(1, 32)),
	GIVEN(setitimer, FIXED(2, 32)), GIVEN(timer_create, FIXED(2, 4)), GIVEN(timer_settime, FIXED(3, 32)),
	GIVEN(timer_gettime, FIXED(1, 32)), GIVEN(timer_getoverrun), GIVEN(timer_delete), GIVEN(timerfd_create),
	GIVEN(timerfd_settime, FIXED(3, 32)), GIVEN(timerfd_gettime, FIXED(1, 32)), GIVEN(adjtimex, FIXED(0, TIMEX)),
	GIVEN(clock_adjtime, FIXED(1, TIMEX)),
	/* signals */
	GIVEN(rt_sigaction, FIXED(2, 32)), GIVEN(rt_sigprocmask, FIXED(2, SIGSET)), GIVEN(rt_sigpending, FIXED(0, SIGSET)),
	GIVEN(rt_sigtimedwait, FIXED(1, SIGINFO)), GIVEN(rt_sigsuspend), GIVEN(rt_sigqueueinfo), GIVEN(rt_tgsigqueueinfo),
	GIVEN(sigaltstack, FIXED(1, 24)), GIVEN(kill), GIVEN(tkill), GIVEN(tgkill), CALL(rt_sigreturn, RETURN),
	CALL(restart_syscall, RESUME),
	/* the process and the system */
	GIVEN(getpid), GIVEN(getppid), GIVEN(gettid), GIVEN(getuid), GIVEN(geteuid), GIVEN(getgid), GIVEN(getegid), GIVEN(getpgid),
	GIVEN(getpgrp), GIVEN(getsid), GIVEN(setsid), GIVEN(setpgid), GIVEN(setuid), GIVEN(setgid), GIVEN(setreuid),
	GIVEN(setregid),
	GIVEN(setresuid), GIVEN(setresgid), GIVEN(setfsuid), GIVEN(setfsgid), GIVEN(setgroups),
	GIVEN(getresuid, FIXED(0, 4), FIXED(1, 4), FIXED(2, 4)), GIVEN(getresgid, FIXED(0, 4), FIXED(1, 4), FIXED(2, 4)),
	GIVEN(getgroups, RESULT(1, 4)), GIVEN(getrlimit, FIXED(1, LIMIT)), GIVEN(setrlimit), GIVEN(prlimit64, FIXED(3, LIMIT)),
	GIVEN(getrusage, FIXED(1, RUSAGE)), GIVEN(uname, FIXED(0, 390)), GIVEN(sysinfo, FIXED(0, 112)), GIVEN(getpriority),
	GIVEN(setpriority), GIVEN(sched_yield), GIVEN(sched_getaffinity, RESULT(2, 1)), GIVEN(sched_setaffinity),
	GIVEN(sched_getparam, FIXED(1, 4)), GIVEN(sched_setparam), GIVEN(sched_getscheduler), GIVEN(sched_setscheduler),
	GIVEN(sched_get_priority_max), GIVEN(sched_get_priority_min), GIVEN(sched_rr_get_interval, FIXED(1, TIMESPEC)),
	GIVEN(getcpu, FIXED(0, 4), FIXED(1, 4)), GIVEN(getrandom, RESULT(0, 1)), GIVEN(capget, FIXED(0, 8), FIXED(1, 24)),
	GIVEN(capset),
	GIVEN(sched_setattr), GIVEN(sched_getattr, ARG(1, 2, 1)), GIVEN(get_robust_list, FIXED(1, 8), FIXED(2, 8)), GIVEN(kcmp),
	GIVEN(landlock_create_ruleset), GIVEN(landlock_add_rule), GIVEN(landlock_restrict_self), GIVEN(sethostname),
	GIVEN(setdomainname),
	GIVEN(set_tid_address), GIVEN(set_robust_list), GIVEN(ioprio_get), GIVEN(ioprio_set), GIVEN(syslog, RESULT(1, 1)),
	BY(prctl, 0), CALL(rseq, ABSENT), CALL(exit, END), CALL(exit_group, END), CALL(clone, BIRTH), CALL(clone3, BIRTH),
	CALL(fork, BIRTH), CALL(vfork, BIRTH), CALL(execve, EXEC), GIVEN(pidfd_open), GIVEN(pidfd_send_signal),
	GIVEN(pidfd_getfd), GIVEN(add_key), GIVEN(request_key),
	CALL_SINCE(459, lsm_get_self_attr, GIVEN, LENGTH(1, 2)), CALL_SINCE(460, lsm_set_self_attr, GIVEN),
	CALL_SINCE(461, lsm_list_modules, GIVEN, LENGTH(0, 1)),
	/* calls whose effects show in memory at any time, or in other processes */
	REFUSED(process_vm_writev, OUTSIDE), REFUSED(ptrace, OUTSIDE), REFUSED(io_setup, AIO), REFUSED(io_submit, BEHIND),
	REFUSED(io_uring_setup, AIO), REFUSED(userfaultfd, BEHIND), REFUSED(perf_event_open, BEHIND), REFUSED(seccomp, FILTER),
	REFUSED(io_uring_enter, BEHIND), REFUSED(io_uring_register, BEHIND), REFUSED(io_getevents, BEHIND),
	REFUSED(io_pgetevents, BEHIND), REFUSED(process_madvise, OUTSIDE),
	REFUSED(memfd_secret, "memory that nobody else can read"),
	REFUSED(vmsplice, "what others read of a pipe is memory that may change until then"), REFUSED(remap_file_pages, ORDER),
	REFUSED(unshare, VIEW), REFUSED(setns, VIEW), REFUSED(mount, VIEW), REFUSED(umount2, VIEW), REFUSED(pivot_root, VIEW),
	REFUSED(move_mount, VIEW), REFUSED(open_tree, VIEW), REFUSED(fsopen, VIEW),
	REFUSED(execveat, "the file of the program may have no name"), REFUSED(bpf, "the kernel runs a program of its own"),
	REFUSED(modify_ldt, "addresses by other segments"), REFUSED(iopl, "a device's ports"), REFUSED(ioperm, "a device's ports"),
	BY(personality, 0),
};

/* Commands: calls that do what an argument says. */
#define COMMAND(call_, arg_, command_, class_, ...) \
	{.number = SYS_##call_, .name = #call_ " " #command_, .class = CALL_##class_, .arg = arg_, \
	 .command = (uint32_t)(command_), .out = {__VA_ARGS__}}
#define FCNTL(command_, ...) COMMAND(fcntl, 1, command_, GIVEN, __VA_ARGS__)
#define IOCTL(command_, ...) COMMAND(ioctl, 1, command_, GIVEN, __VA_ARGS__)
#define REFUSED_COMMAND(call_, arg_, command_, why_) \
	{.number = SYS_##call_, .name = #call_ " " #command_, .class = CALL_REFUSED, .arg = arg_, \
	 .command = (uint32_t)(command_), .why = why_}
#define PRCTL(command_, ...) COMMAND(prctl, 0, command_, GIVEN, __VA_ARGS__)
#define SEMCTL(command_, ...) COMMAND(semctl, 2, command_, GIVEN, __VA_ARGS__)
#define SHMCTL(command_, ...) COMMAND(shmctl, 1, command_, GIVEN, __VA_ARGS__)
#define MSGCTL(command_, ...) COMMAND(msgctl, 1, command_, GIVEN, __VA_ARGS__)
#define FUTEX(command_, ...) COMMAND(futex, 1, command_, GIVEN, __VA_ARGS__)
#define FUTEX2(command_, ...) FUTEX(command_, __VA_ARGS__), FUTEX(command_ | FUTEX_PRIVATE_FLAG, __VA_ARGS__)

static const struct system_call commands[] = {
	FCNTL(F_DUPFD), FCNTL(F_DUPFD_CLOEXEC), FCNTL(F_GETFD), FCNTL(F_SETFD), FCNTL(F_GETFL), FCNTL(F_SETFL), FCNTL(F_SETLK),
	FCNTL(F_SETLKW), FCNTL(F_GETLK, FIXED(2, 32)), FCNTL(F_OFD_SETLK), FCNTL(F_OFD_SETLKW), FCNTL(F_OFD_GETLK, FIXED(2, 32)),
	FCNTL(F_GETOWN), FCNTL(F_SETOWN), FCNTL(F_GETOWN_EX, FIXED(2, 8)), FCNTL(F_SETOWN_EX), FCNTL(F_GETSIG), FCNTL(F_SETSIG),
	FCNTL(F_GETPIPE_SZ), FCNTL(F_SETPIPE_SZ), FCNTL(F_ADD_SEALS), FCNTL(F_GET_SEALS), FCNTL(F_GETLEASE), FCNTL(F_SETLEASE),
	FCNTL(F_NOTIFY), FCNTL(F_GET_RW_HINT, FIXED(2, 8)), FCNTL(F_SET_RW_HINT), FCNTL(F_GET_FILE_RW_HINT, FIXED(2, 8)),
	FCNTL(F_SET_FILE_RW_HINT), FCNTL(F_DUPFD_QUERY), FCNTL(F_CREATED_QUERY),
	IOCTL(TCGETS, FIXED(2, 36)), IOCTL(TCSETS), IOCTL(TCSETSW), IOCTL(TCSETSF),
	IOCTL(TCGETS2, FIXED(2, sizeof(struct termios2))), IOCTL(TCSETS2), IOCTL(TCSETSW2), IOCTL(TCSETSF2),
	IOCTL(TCGETA, FIXED(2, 18)), IOCTL(TCSETA), IOCTL(TCSETAW), IOCTL(TCSETAF), IOCTL(TCSBRKP), IOCTL(TIOCSBRK),
	IOCTL(TIOCCBRK), IOCTL(TIOCMBIS), IOCTL(TIOCMBIC), IOCTL(TIOCGEXCL, FIXED(2, 4)), IOCTL(TIOCGPTLCK, FIXED(2, 4)),
	IOCTL(FIOQSIZE, FIXED(2, 8)), IOCTL(FIGETBSZ, FIXED(2, 4)), IOCTL(FS_IOC_GETVERSION, FIXED(2, 8)),
	IOCTL(FS_IOC_FSSETXATTR), IOCTL(BLKROGET, FIXED(2, 4)), IOCTL(BLKGETSIZE, FIXED(2, 8)), IOCTL(BLKBSZGET, FIXED(2, 8)),
	IOCTL(BLKPBSZGET, FIXED(2, 4)), IOCTL(BLKIOMIN, FIXED(2, 4)), IOCTL(BLKIOOPT, FIXED(2, 4)),
	IOCTL(BLKROTATIONAL, FIXED(2, 2)), IOCTL(RNDGETENTCNT, FIXED(2, 4)), IOCTL(TCSBRK), IOCTL(TCFLSH), IOCTL(TCXONC),
	IOCTL(TIOCGWINSZ, FIXED(2, 8)), IOCTL(TIOCSWINSZ), IOCTL(TIOCGPGRP, FIXED(2, 4)), IOCTL(TIOCSPGRP),
	IOCTL(TIOCGSID, FIXED(2, 4)),
	IOCTL(TIOCNOTTY), IOCTL(TIOCSCTTY), IOCTL(TIOCOUTQ, FIXED(2, 4)), IOCTL(FIONREAD, FIXED(2, 4)), IOCTL(FIONBIO),
	IOCTL(FIOASYNC), IOCTL(FIOCLEX), IOCTL(FIONCLEX), IOCTL(TIOCGPTN, FIXED(2, 4)), IOCTL(TIOCSPTLCK), IOCTL(FICLONE),
	IOCTL(FICLONERANGE), IOCTL(FS_IOC_GETFLAGS, FIXED(2, 8)), IOCTL(FS_IOC_SETFLAGS), IOCTL(FS_IOC_FSGETXATTR, FIXED(2, 28)),
	IOCTL(SIOCATMARK, FIXED(2, 4)), IOCTL(SIOCGPGRP, FIXED(2, 4)), IOCTL(SIOCGIFNAME, FIXED(2, IFREQ)),
	IOCTL(SIOCGIFINDEX, FIXED(2, IFREQ)),
	IOCTL(SIOCGIFDSTADDR, FIXED(2, IFREQ)), IOCTL(SIOCGIFMETRIC, FIXED(2, IFREQ)), IOCTL(SIOCGIFTXQLEN, FIXED(2, IFREQ)),
	IOCTL(SIOCGIFMAP, FIXED(2, IFREQ)), IOCTL(SIOCGIFCONF, {OUT_COUNTED, 2, 0, 1}),
	IOCTL(SIOCGIFFLAGS, FIXED(2, IFREQ)), IOCTL(SIOCGIFADDR, FIXED(2, IFREQ)), IOCTL(SIOCGIFNETMASK, FIXED(2, IFREQ)),
	IOCTL(SIOCGIFMTU, FIXED(2, IFREQ)), IOCTL(SIOCGIFHWADDR, FIXED(2, IFREQ)), IOCTL(SIOCGIFBRDADDR, FIXED(2, IFREQ)),
	IOCTL(BLKGETSIZE64, FIXED(2, 8)), IOCTL(BLKSSZGET, FIXED(2, 4)), IOCTL(TIOCSTI), IOCTL(TIOCEXCL), IOCTL(TIOCNXCL),
	IOCTL(TIOCMGET, FIXED(2, 4)), IOCTL(TIOCMSET), IOCTL(TIOCGPKT, FIXED(2, 4)), IOCTL(TIOCPKT), IOCTL(TIOCGPTPEER),
	IOCTL(TIOCGETD, FIXED(2, 4)),
	PRCTL(PR_SET_NAME), PRCTL(PR_GET_NAME, FIXED(1, 16)), PRCTL(PR_SET_PDEATHSIG), PRCTL(PR_GET_PDEATHSIG, FIXED(1, 4)),
	PRCTL(PR_SET_DUMPABLE), PRCTL(PR_GET_DUMPABLE), PRCTL(PR_SET_KEEPCAPS), PRCTL(PR_GET_KEEPCAPS), PRCTL(PR_SET_NO_NEW_PRIVS),
	PRCTL(PR_GET_NO_NEW_PRIVS),
	PRCTL(PR_CAPBSET_READ), PRCTL(PR_CAPBSET_DROP), PRCTL(PR_SET_TIMERSLACK), PRCTL(PR_GET_TIMERSLACK),
	PRCTL(PR_SET_CHILD_SUBREAPER), PRCTL(PR_GET_CHILD_SUBREAPER, FIXED(1, 4)), PRCTL(PR_GET_SECCOMP), PRCTL(PR_SET_VMA),
	PRCTL(PR_GET_SECUREBITS), PRCTL(PR_SET_PTRACER), PRCTL(PR_SET_THP_DISABLE), PRCTL(PR_GET_THP_DISABLE),
	PRCTL(PR_CAP_AMBIENT), PRCTL(PR_SET_SECUREBITS), PRCTL(PR_GET_SPECULATION_CTRL), PRCTL(PR_SET_SPECULATION_CTRL),
	PRCTL(PR_SET_IO_FLUSHER), PRCTL(PR_GET_IO_FLUSHER), PRCTL(PR_GET_TID_ADDRESS, FIXED(1, 8)), PRCTL(PR_GET_TIMING),
	PRCTL(PR_MCE_KILL), PRCTL(PR_MCE_KILL_GET), PRCTL(PR_GET_AUXV, ARG(1, 2, 1)), PRCTL(PR_SET_MDWE), PRCTL(PR_GET_MDWE),
	PRCTL(PR_SET_MEMORY_MERGE), PRCTL(PR_GET_MEMORY_MERGE),
	REFUSED_COMMAND(prctl, 0, PR_SET_SECCOMP, FILTER),
	SEMCTL(IPC_RMID), SEMCTL(IPC_SET), SEMCTL(IPC_STAT, FIXED(3, 104)), SEMCTL(GETPID), SEMCTL(GETVAL), SEMCTL(GETNCNT),
	SEMCTL(GETZCNT), SEMCTL(SETVAL), SEMCTL(SETALL), MSGCTL(IPC_RMID), MSGCTL(IPC_SET), MSGCTL(IPC_STAT, FIXED(2, 120)),
	SHMCTL(IPC_RMID), SHMCTL(IPC_SET), SHMCTL(IPC_STAT, FIXED(2, 112)), SHMCTL(SHM_LOCK), SHMCTL(SHM_UNLOCK),
	SHMCTL(IPC_INFO, FIXED(2, 72)), SHMCTL(SHM_INFO, FIXED(2, 48)), SHMCTL(SHM_STAT, FIXED(2, 112)),
	FUTEX2(FUTEX_WAIT), FUTEX2(FUTEX_WAKE), FUTEX2(FUTEX_WAIT_BITSET), FUTEX2(FUTEX_WAKE_BITSET), FUTEX2(FUTEX_REQUEUE),
	FUTEX2(FUTEX_CMP_REQUEUE), FUTEX2(FUTEX_WAKE_OP, FIXED(4, 4)),
	FUTEX2(FUTEX_LOCK_PI, FIXED(0, 4)), FUTEX2(FUTEX_LOCK_PI2, FIXED(0, 4)), FUTEX2(FUTEX_TRYLOCK_PI, FIXED(0, 4)),
	FUTEX2(FUTEX_UNLOCK_PI, FIXED(0, 4)), FUTEX(FUTEX_LOCK_PI2 | FUTEX_CLOCK_REALTIME, FIXED(0, 4)),
	FUTEX(FUTEX_LOCK_PI2 | FUTEX_CLOCK_REALTIME | FUTEX_PRIVATE_FLAG, FIXED(0, 4)),
	FUTEX(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME),
	FUTEX(FUTEX_WAIT_BITSET | FUTEX_CLOCK_REALTIME | FUTEX_PRIVATE_FLAG),
	/* Addresses are not random anyway (setarch -R). */
	COMMAND(personality, 0, 0xffffffff, GIVEN), COMMAND(personality, 0, ADDR_NO_RANDOMIZE, DONE),
	COMMAND(arch_prctl, 0, ARCH_SET_FS, DONE), COMMAND(arch_prctl, 0, ARCH_SET_GS, DONE),
	COMMAND(arch_prctl, 0, ARCH_GET_FS, GIVEN, FIXED(1, 8)), COMMAND(arch_prctl, 0, ARCH_GET_GS, GIVEN, FIXED(1, 8)),
	/* Features that some kernels lack: a kernel without one writes nothing. */
	COMMAND(arch_prctl, 0, 0x3001, ABSENT), COMMAND(arch_prctl, 0, 0x5001, ABSENT), COMMAND(arch_prctl, 0, 0x5005, ABSENT),
};

/* ioctl() fails with ENOTTY if the file has no such command, and then writes nothing. That is known only when the call is over. */
static struct system_call
command_of(struct pool *pool, const struct system_call *c, const uint64_t arg[6])
{
	struct system_call unknown = *c;

	for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
		if (commands[i].number == c->number && commands[i].command == (uint32_t)arg[commands[i].arg])
			return commands[i];
	unknown.name = pool_printf(pool, "%s 0x%x", c->name, (uint32_t)arg[c->arg]);
	unknown.class = CALL_UNKNOWN;
	return unknown;
}

bool
call_cuts_off(uint64_t number, const uint64_t arg[6])
{
	switch (number) {
	case SYS_open: return arg[1] & O_TRUNC;
	case SYS_openat: return arg[2] & O_TRUNC;
	case SYS_creat: case SYS_openat2: return true;
	default: return false;
	}
}

bool
call_moves_on(uint64_t number, const uint64_t arg[6])
{
	return number == SYS_write || number == SYS_writev || (number == SYS_pwritev2 && arg[3] == UINT64_MAX);
}

struct system_call
call_of(struct pool *pool, uint64_t number, const uint64_t arg[6])
{
	for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
		if ((uint64_t)calls[i].number == number)
			return calls[i].class == CALL_COMMAND ? command_of(pool, &calls[i], arg) : calls[i];
	return (struct system_call){.number = (int)number, .name = pool_printf(pool, "number %d", (int)number),
	.class = CALL_UNKNOWN};
}
