/*
 * The table of system calls, by number. syscall.h says what a row means.
 */
#ifndef KERNEL_SYSCALLS_H
#define KERNEL_SYSCALLS_H

struct arch_signal_stack;
struct epoll_event;
struct pollfd;
struct rlimit;
struct user_cap_data;
struct user_cap_header;
struct user_iovec;
struct user_itimerval;
struct user_sigaction;
struct user_siginfo;
struct user_stat;
struct user_statx;
struct user_timespec;
struct user_timeval;

/* A line for each call, as far as that is possible. */
/* clang-format off */
#define SYSCALLS(CALL) \
	CALL(0, read, ARGS3, unsigned int, fd, char *, buf, size_t, count) \
	CALL(1, write, ARGS3, unsigned int, fd, const char *, buf, size_t, count) \
	CALL(2, open, ARGS3, const char *, filename, int, flags, unsigned int, mode) \
	CALL(3, close, ARGS1, unsigned int, fd) \
	CALL(4, newstat, ARGS2, const char *, filename, struct user_stat *, statbuf) \
	CALL(5, newfstat, ARGS2, unsigned int, fd, struct user_stat *, statbuf) \
	CALL(6, newlstat, ARGS2, const char *, filename, struct user_stat *, statbuf) \
	CALL(7, poll, ARGS3, struct pollfd *, ufds, unsigned int, nfds, int, timeout_msecs) \
	CALL(8, lseek, ARGS3, unsigned int, fd, long, offset, unsigned int, whence) \
	CALL(9, mmap, ARGS6, unsigned long, addr, unsigned long, len, unsigned long, prot, unsigned long, flags, \
	     unsigned int, fd, unsigned long, off) \
	CALL(10, mprotect, ARGS3, unsigned long, start, size_t, len, unsigned long, prot) \
	CALL(11, munmap, ARGS2, unsigned long, addr, size_t, len) \
	CALL(12, brk, ARGS1, unsigned long, brk) \
	CALL(13, rt_sigaction, ARGS4, int, sig, const struct user_sigaction *, act, struct user_sigaction *, oact, size_t, \
	     sigsetsize) \
	CALL(14, rt_sigprocmask, ARGS4, int, how, const uint64_t *, nset, uint64_t *, oset, size_t, sigsetsize) \
	CALL(15, rt_sigreturn, ARGS0) \
	CALL(16, ioctl, ARGS3, unsigned int, fd, unsigned int, cmd, unsigned long, arg) \
	CALL(17, pread64, ARGS4, unsigned int, fd, char *, buf, size_t, count, long, pos) \
	CALL(18, pwrite64, ARGS4, unsigned int, fd, const char *, buf, size_t, count, long, pos) \
	CALL(19, readv, ARGS3, unsigned long, fd, const struct user_iovec *, vec, unsigned long, vlen) \
	CALL(20, writev, ARGS3, unsigned long, fd, const struct user_iovec *, vec, unsigned long, vlen) \
	CALL(21, access, ARGS2, const char *, filename, int, mode) \
	CALL(22, pipe, ARGS1, int *, fildes) \
	CALL(23, select, ARGS5, int, n, uint64_t *, inp, uint64_t *, outp, uint64_t *, exp, struct user_timeval *, tvp) \
	CALL(24, sched_yield, ARGS0) \
	CALL(25, mremap, ARGS5, unsigned long, addr, unsigned long, old_len, unsigned long, new_len, unsigned long, flags, \
	     unsigned long, new_addr) \
	CALL(26, msync, ARGS3, unsigned long, start, size_t, len, int, flags) \
	CALL(27, mincore, ARGS3, unsigned long, start, size_t, len, unsigned char *, vec) \
	CALL(28, madvise, ARGS3, unsigned long, start, size_t, len_in, int, behavior) \
	CALL(32, dup, ARGS1, unsigned int, fildes) \
	CALL(33, dup2, ARGS2, unsigned int, oldfd, unsigned int, newfd) \
	CALL(34, pause, ARGS0) \
	CALL(35, nanosleep, ARGS2, const struct user_timespec *, rqtp, struct user_timespec *, rmtp) \
	CALL(36, getitimer, ARGS2, int, which, struct user_itimerval *, value) \
	CALL(37, alarm, ARGS1, unsigned int, seconds) \
	CALL(38, setitimer, ARGS3, int, which, const struct user_itimerval *, value, struct user_itimerval *, ovalue) \
	CALL(39, getpid, ARGS0) \
	CALL(40, sendfile64, ARGS4, int, out_fd, int, in_fd, long *, offset, size_t, count) \
	CALL(41, socket, ARGS3, int, family, int, type, int, protocol) \
	CALL(44, sendto, ARGS6, int, fd, void *, buff, size_t, len, unsigned int, flags, void *, addr, int, addr_len) \
	CALL(45, recvfrom, ARGS6, int, fd, void *, ubuf, size_t, size, unsigned int, flags, void *, addr, int *, addr_len) \
	CALL(46, sendmsg, ARGS3, int, fd, const void *, msg, unsigned int, flags) \
	CALL(47, recvmsg, ARGS3, int, fd, void *, msg, unsigned int, flags) \
	CALL(48, shutdown, ARGS2, int, fd, int, how) \
	CALL(52, getpeername, ARGS3, int, fd, void *, usockaddr, int *, usockaddr_len) \
	CALL(53, socketpair, ARGS4, int, family, int, type, int, protocol, int *, usockvec) \
	CALL(56, clone, ARGS5, unsigned long, clone_flags, unsigned long, newsp, int *, parent_tidptr, int *, child_tidptr, \
	     unsigned long, tls) \
	CALL(57, fork, ARGS0) \
	CALL(58, vfork, ARGS0) \
	CALL(59, execve, ARGS3, const char *, filename, const char *const *, argv, const char *const *, envp) \
	CALL(60, exit, ARGS1, int, error_code) \
	CALL(61, wait4, ARGS4, int, upid, int *, stat_addr, int, options, void *, ru) \
	CALL(62, kill, ARGS2, int, pid, int, sig) \
	CALL(63, newuname, ARGS1, char *, name) \
	CALL(72, fcntl, ARGS3, unsigned int, fd, unsigned int, cmd, unsigned long, arg) \
	CALL(73, flock, ARGS2, unsigned int, fd, unsigned int, cmd) \
	CALL(74, fsync, ARGS1, unsigned int, fd) \
	CALL(75, fdatasync, ARGS1, unsigned int, fd) \
	CALL(76, truncate, ARGS2, const char *, path, long, length) \
	CALL(77, ftruncate, ARGS2, unsigned int, fd, long, length) \
	CALL(79, getcwd, ARGS2, char *, buf, unsigned long, size) \
	CALL(80, chdir, ARGS1, const char *, filename) \
	CALL(81, fchdir, ARGS1, unsigned int, fd) \
	CALL(82, rename, ARGS2, const char *, oldname, const char *, newname) \
	CALL(83, mkdir, ARGS2, const char *, pathname, unsigned int, mode) \
	CALL(84, rmdir, ARGS1, const char *, pathname) \
	CALL(85, creat, ARGS2, const char *, pathname, unsigned int, mode) \
	CALL(86, link, ARGS2, const char *, oldname, const char *, newname) \
	CALL(87, unlink, ARGS1, const char *, pathname) \
	CALL(88, symlink, ARGS2, const char *, oldname, const char *, newname) \
	CALL(89, readlink, ARGS3, const char *, path, char *, buf, int, bufsiz) \
	CALL(90, chmod, ARGS2, const char *, filename, unsigned int, mode) \
	CALL(91, fchmod, ARGS2, unsigned int, fd, unsigned int, mode) \
	CALL(92, chown, ARGS3, const char *, filename, unsigned int, user, unsigned int, group) \
	CALL(93, fchown, ARGS3, unsigned int, fd, unsigned int, user, unsigned int, group) \
	CALL(94, lchown, ARGS3, const char *, filename, unsigned int, user, unsigned int, group) \
	CALL(95, umask, ARGS1, int, mask) \
	CALL(96, gettimeofday, ARGS2, struct user_timeval *, tv, void *, tz) \
	CALL(97, getrlimit, ARGS2, unsigned int, resource, struct rlimit *, rlim) \
	CALL(98, getrusage, ARGS2, int, who, void *, ru) \
	CALL(99, sysinfo, ARGS1, void *, info) \
	CALL(100, times, ARGS1, uint64_t *, tbuf) \
	CALL(101, ptrace, ARGS4, long, request, long, pid, unsigned long, addr, unsigned long, data) \
	CALL(102, getuid, ARGS0) \
	CALL(103, syslog, ARGS3, int, type, char *, buf, int, len) \
	CALL(104, getgid, ARGS0) \
	CALL(105, setuid, ARGS1, unsigned int, uid) \
	CALL(106, setgid, ARGS1, unsigned int, gid) \
	CALL(107, geteuid, ARGS0) \
	CALL(108, getegid, ARGS0) \
	CALL(109, setpgid, ARGS2, int, pid, int, pgid) \
	CALL(110, getppid, ARGS0) \
	CALL(111, getpgrp, ARGS0) \
	CALL(112, setsid, ARGS0) \
	CALL(113, setreuid, ARGS2, unsigned int, ruid, unsigned int, euid) \
	CALL(114, setregid, ARGS2, unsigned int, rgid, unsigned int, egid) \
	CALL(115, getgroups, ARGS2, int, gidsetsize, unsigned int *, grouplist) \
	CALL(116, setgroups, ARGS2, int, gidsetsize, const unsigned int *, grouplist) \
	CALL(117, setresuid, ARGS3, unsigned int, ruid, unsigned int, euid, unsigned int, suid) \
	CALL(118, getresuid, ARGS3, unsigned int *, ruidp, unsigned int *, euidp, unsigned int *, suidp) \
	CALL(119, setresgid, ARGS3, unsigned int, rgid, unsigned int, egid, unsigned int, sgid) \
	CALL(120, getresgid, ARGS3, unsigned int *, rgidp, unsigned int *, egidp, unsigned int *, sgidp) \
	CALL(121, getpgid, ARGS1, int, pid) \
	CALL(122, setfsuid, ARGS1, unsigned int, uid) \
	CALL(123, setfsgid, ARGS1, unsigned int, gid) \
	CALL(124, getsid, ARGS1, int, pid) \
	CALL(125, capget, ARGS2, struct user_cap_header *, header, struct user_cap_data *, dataptr) \
	CALL(126, capset, ARGS2, struct user_cap_header *, header, const struct user_cap_data *, data) \
	CALL(127, rt_sigpending, ARGS2, uint64_t *, uset, size_t, sigsetsize) \
	CALL(128, rt_sigtimedwait, ARGS4, const uint64_t *, uthese, struct user_siginfo *, uinfo, \
	     const struct user_timespec *, uts, size_t, sigsetsize) \
	CALL(129, rt_sigqueueinfo, ARGS3, int, pid, int, sig, const struct user_siginfo *, uinfo) \
	CALL(130, rt_sigsuspend, ARGS2, const uint64_t *, unewset, size_t, sigsetsize) \
	CALL(131, sigaltstack, ARGS2, const struct arch_signal_stack *, uss, struct arch_signal_stack *, uoss) \
	CALL(132, utime, ARGS2, char *, filename, const long *, times) \
	CALL(133, mknod, ARGS3, const char *, filename, unsigned int, mode, unsigned int, dev) \
	CALL(135, personality, ARGS1, unsigned int, personality) \
	CALL(137, statfs, ARGS2, const char *, pathname, void *, buf) \
	CALL(138, fstatfs, ARGS2, unsigned int, fd, void *, buf) \
	CALL(140, getpriority, ARGS2, int, which, int, who) \
	CALL(141, setpriority, ARGS3, int, which, int, who, int, niceval) \
	CALL(142, sched_setparam, ARGS2, int, pid, int *, param) \
	CALL(143, sched_getparam, ARGS2, int, pid, int *, param) \
	CALL(144, sched_setscheduler, ARGS3, int, pid, int, policy, int *, param) \
	CALL(145, sched_getscheduler, ARGS1, int, pid) \
	CALL(146, sched_get_priority_max, ARGS1, int, policy) \
	CALL(147, sched_get_priority_min, ARGS1, int, policy) \
	CALL(148, sched_rr_get_interval, ARGS2, int, pid, struct user_timespec *, interval) \
	CALL(149, mlock, ARGS2, unsigned long, start, size_t, len) \
	CALL(150, munlock, ARGS2, unsigned long, start, size_t, len) \
	CALL(151, mlockall, ARGS1, int, flags) \
	CALL(152, munlockall, ARGS0) \
	CALL(157, prctl, ARGS5, int, option, unsigned long, arg2, unsigned long, arg3, unsigned long, arg4, unsigned long, \
	     arg5) \
	CALL(158, arch_prctl, ARGS2, int, option, unsigned long, arg2) \
	CALL(160, setrlimit, ARGS2, unsigned int, resource, const struct rlimit *, rlim) \
	CALL(161, chroot, ARGS1, const char *, filename) \
	CALL(162, sync, ARGS0) \
	CALL(165, mount, ARGS5, char *, dev_name, char *, dir_name, char *, type, unsigned long, flags, void *, data) \
	CALL(166, umount, ARGS2, char *, name, int, flags) \
	CALL(169, reboot, ARGS4, int, magic1, int, magic2, unsigned int, cmd, void *, arg) \
	CALL(170, sethostname, ARGS2, const char *, name, int, len) \
	CALL(171, setdomainname, ARGS2, const char *, name, int, len) \
	CALL(186, gettid, ARGS0) \
	CALL(187, readahead, ARGS3, int, fd, long, offset, size_t, count) \
	CALL(188, setxattr, ARGS5, const char *, pathname, const char *, name, const void *, value, size_t, size, int, flags) \
	CALL(189, lsetxattr, ARGS5, const char *, pathname, const char *, name, const void *, value, size_t, size, int, flags) \
	CALL(190, fsetxattr, ARGS5, int, fd, const char *, name, const void *, value, size_t, size, int, flags) \
	CALL(191, getxattr, ARGS4, const char *, pathname, const char *, name, void *, value, size_t, size) \
	CALL(192, lgetxattr, ARGS4, const char *, pathname, const char *, name, void *, value, size_t, size) \
	CALL(193, fgetxattr, ARGS4, int, fd, const char *, name, void *, value, size_t, size) \
	CALL(194, listxattr, ARGS3, const char *, pathname, char *, list, size_t, size) \
	CALL(195, llistxattr, ARGS3, const char *, pathname, char *, list, size_t, size) \
	CALL(196, flistxattr, ARGS3, int, fd, char *, list, size_t, size) \
	CALL(197, removexattr, ARGS2, const char *, pathname, const char *, name) \
	CALL(198, lremovexattr, ARGS2, const char *, pathname, const char *, name) \
	CALL(199, fremovexattr, ARGS2, int, fd, const char *, name) \
	CALL(200, tkill, ARGS2, int, pid, int, sig) \
	CALL(201, time, ARGS1, long *, tloc) \
	CALL(202, futex, ARGS6, uint32_t *, uaddr, int, op, uint32_t, val, const struct user_timespec *, utime, uint32_t *, \
	     uaddr2, uint32_t, val3) \
	CALL(203, sched_setaffinity, ARGS3, int, pid, unsigned int, len, unsigned long *, user_mask_ptr) \
	CALL(204, sched_getaffinity, ARGS3, int, pid, unsigned int, len, unsigned long *, user_mask_ptr) \
	CALL(213, epoll_create, ARGS1, int, size) \
	CALL(217, getdents64, ARGS3, unsigned int, fd, void *, dirent, unsigned int, count) \
	CALL(218, set_tid_address, ARGS1, int *, tidptr) \
	CALL(219, restart_syscall, ARGS0) \
	CALL(221, fadvise64, ARGS4, int, fd, long, offset, size_t, len, int, advice) \
	CALL(222, timer_create, ARGS3, int, which_clock, const struct user_sigevent *, timer_event_spec, int *, \
	     created_timer_id) \
	CALL(223, timer_settime, ARGS4, int, timer_id, int, flags, const struct user_timespec *, new_setting, \
	     struct user_timespec *, old_setting) \
	CALL(224, timer_gettime, ARGS2, int, timer_id, struct user_timespec *, setting) \
	CALL(225, timer_getoverrun, ARGS1, int, timer_id) \
	CALL(226, timer_delete, ARGS1, int, timer_id) \
	CALL(228, clock_gettime, ARGS2, int, which_clock, struct user_timespec *, tp) \
	CALL(229, clock_getres, ARGS2, int, which_clock, struct user_timespec *, tp) \
	CALL(230, clock_nanosleep, ARGS4, int, which_clock, int, flags, const struct user_timespec *, rqtp, \
	     struct user_timespec *, rmtp) \
	CALL(231, exit_group, ARGS1, int, error_code) \
	CALL(232, epoll_wait, ARGS4, int, epfd, struct epoll_event *, events, int, maxevents, int, timeout) \
	CALL(233, epoll_ctl, ARGS4, int, epfd, int, op, int, fd, const struct epoll_event *, event) \
	CALL(234, tgkill, ARGS3, int, tgid, int, pid, int, sig) \
	CALL(235, utimes, ARGS2, char *, filename, const struct user_timeval *, utimes) \
	CALL(247, waitid, ARGS5, int, which, int, upid, struct user_siginfo *, infop, int, options, void *, ru) \
	CALL(252, ioprio_get, ARGS2, int, which, int, who) \
	CALL(257, openat, ARGS4, int, dfd, const char *, filename, int, flags, unsigned int, mode) \
	CALL(258, mkdirat, ARGS3, int, dfd, const char *, pathname, unsigned int, mode) \
	CALL(259, mknodat, ARGS4, int, dfd, const char *, filename, unsigned int, mode, unsigned int, dev) \
	CALL(260, fchownat, ARGS5, int, dfd, const char *, filename, unsigned int, user, unsigned int, group, int, flag) \
	CALL(261, futimesat, ARGS3, int, dfd, const char *, filename, const struct user_timeval *, utimes) \
	CALL(262, newfstatat, ARGS4, int, dfd, const char *, filename, struct user_stat *, statbuf, int, flag) \
	CALL(263, unlinkat, ARGS3, int, dfd, const char *, pathname, int, flag) \
	CALL(264, renameat, ARGS4, int, olddfd, const char *, oldname, int, newdfd, const char *, newname) \
	CALL(265, linkat, ARGS5, int, olddfd, const char *, oldname, int, newdfd, const char *, newname, int, flags) \
	CALL(266, symlinkat, ARGS3, const char *, oldname, int, newdfd, const char *, newname) \
	CALL(267, readlinkat, ARGS4, int, dfd, const char *, path, char *, buf, int, bufsiz) \
	CALL(268, fchmodat, ARGS3, int, dfd, const char *, filename, unsigned int, mode) \
	CALL(269, faccessat, ARGS3, int, dfd, const char *, filename, int, mode) \
	CALL(270, pselect6, ARGS6, int, n, uint64_t *, inp, uint64_t *, outp, uint64_t *, exp, struct user_timespec *, tsp, \
	     void *, sig) \
	CALL(271, ppoll, ARGS5, struct pollfd *, ufds, unsigned int, nfds, struct user_timespec *, tsp, const uint64_t *, \
	     sigmask, size_t, sigsetsize) \
	CALL(273, set_robust_list, ARGS2, void *, head, size_t, len) \
	CALL(274, get_robust_list, ARGS3, int, pid, void **, head_ptr, size_t *, len_ptr) \
	CALL(275, splice, ARGS6, int, fd_in, long *, off_in, int, fd_out, long *, off_out, size_t, len, unsigned int, flags) \
	CALL(276, tee, ARGS4, int, fdin, int, fdout, size_t, len, unsigned int, flags) \
	CALL(277, sync_file_range, ARGS4, int, fd, long, offset, long, nbytes, unsigned int, flags) \
	CALL(278, vmsplice, ARGS4, int, fd, const struct user_iovec *, uiov, unsigned long, nr_segs, unsigned int, flags) \
	CALL(280, utimensat, ARGS4, int, dfd, const char *, filename, const struct user_timespec *, utimes, int, flags) \
	CALL(281, epoll_pwait, ARGS6, int, epfd, struct epoll_event *, events, int, maxevents, int, timeout, \
	     const uint64_t *, sigmask, size_t, sigsetsize) \
	CALL(282, signalfd, ARGS3, int, ufd, const uint64_t *, user_mask, size_t, sizemask) \
	CALL(283, timerfd_create, ARGS2, int, clockid, int, flags) \
	CALL(284, eventfd, ARGS1, unsigned int, count) \
	CALL(285, fallocate, ARGS4, int, fd, int, mode, long, offset, long, len) \
	CALL(286, timerfd_settime, ARGS4, int, ufd, int, flags, const struct user_timespec *, utmr, struct user_timespec *, \
	     otmr) \
	CALL(287, timerfd_gettime, ARGS2, int, ufd, struct user_timespec *, otmr) \
	CALL(289, signalfd4, ARGS4, int, ufd, const uint64_t *, user_mask, size_t, sizemask, int, flags) \
	CALL(290, eventfd2, ARGS2, unsigned int, count, int, flags) \
	CALL(291, epoll_create1, ARGS1, int, flags) \
	CALL(292, dup3, ARGS3, unsigned int, oldfd, unsigned int, newfd, int, flags) \
	CALL(293, pipe2, ARGS2, int *, fildes, int, flags) \
	CALL(295, preadv, ARGS5, unsigned long, fd, const struct user_iovec *, vec, unsigned long, vlen, unsigned long, \
	     pos_l, unsigned long, pos_h) \
	CALL(296, pwritev, ARGS5, unsigned long, fd, const struct user_iovec *, vec, unsigned long, vlen, unsigned long, \
	     pos_l, unsigned long, pos_h) \
	CALL(297, rt_tgsigqueueinfo, ARGS4, int, tgid, int, pid, int, sig, const struct user_siginfo *, uinfo) \
	CALL(302, prlimit64, ARGS4, int, pid, unsigned int, resource, const struct rlimit *, new_rlim, struct rlimit *, \
	     old_rlim) \
	CALL(306, syncfs, ARGS1, int, fd) \
	CALL(309, getcpu, ARGS3, unsigned int *, cpup, unsigned int *, nodep, void *, unused) \
	CALL(310, process_vm_readv, ARGS6, int, pid, const struct user_iovec *, lvec, unsigned long, liovcnt, \
	     const struct user_iovec *, rvec, unsigned long, riovcnt, unsigned long, flags) \
	CALL(311, process_vm_writev, ARGS6, int, pid, const struct user_iovec *, lvec, unsigned long, liovcnt, \
	     const struct user_iovec *, rvec, unsigned long, riovcnt, unsigned long, flags) \
	CALL(315, sched_getattr, ARGS4, int, pid, void *, uattr, unsigned int, usize, unsigned int, flags) \
	CALL(316, renameat2, ARGS5, int, olddfd, const char *, oldname, int, newdfd, const char *, newname, unsigned int, \
	     flags) \
	CALL(318, getrandom, ARGS3, char *, ubuf, size_t, len, unsigned int, flags) \
	CALL(319, memfd_create, ARGS2, const char *, uname, unsigned int, flags) \
	CALL(322, execveat, ARGS5, int, fd, const char *, filename, const char *const *, argv, const char *const *, envp, \
	     int, flags) \
	CALL(324, membarrier, ARGS3, int, cmd, unsigned int, flags, int, cpu_id) \
	CALL(325, mlock2, ARGS3, unsigned long, start, size_t, len, int, flags) \
	CALL(326, copy_file_range, ARGS6, int, fd_in, long *, off_in, int, fd_out, long *, off_out, size_t, len, \
	     unsigned int, flags) \
	CALL(327, preadv2, ARGS6, unsigned long, fd, const struct user_iovec *, vec, unsigned long, vlen, unsigned long, \
	     pos_l, unsigned long, pos_h, int, flags) \
	CALL(328, pwritev2, ARGS6, unsigned long, fd, const struct user_iovec *, vec, unsigned long, vlen, unsigned long, \
	     pos_l, unsigned long, pos_h, int, flags) \
	CALL(332, statx, ARGS5, int, dfd, const char *, filename, int, flags, unsigned int, mask, struct user_statx *, buffer) \
	CALL(334, rseq, ARGS4, void *, rseq, unsigned int, rseq_len, int, flags, unsigned int, sig) \
	CALL(336, uprobe, ARGS0) \
	CALL(435, clone3, ARGS2, const void *, uargs, size_t, size) \
	CALL(436, close_range, ARGS3, unsigned int, fd, unsigned int, max_fd, unsigned int, flags) \
	CALL(439, faccessat2, ARGS4, int, dfd, const char *, filename, int, mode, int, flags) \
	CALL(441, epoll_pwait2, ARGS6, int, epfd, struct epoll_event *, events, int, maxevents, \
	     const struct user_timespec *, timeout, const uint64_t *, sigmask, size_t, sigsetsize)
/* clang-format on */

#endif
