/*
 * The table of system calls, by number. syscall.h says what a row means.
 */
#ifndef KERNEL_SYSCALLS_H
#define KERNEL_SYSCALLS_H

#define SYSCALLS(CALL)                                                                             \
	CALL(0, read, ARGS3, unsigned int, fd, char *, buf, size_t, count)                         \
	CALL(1, write, ARGS3, unsigned int, fd, const char *, buf, size_t, count)                  \
	CALL(3, close, ARGS1, unsigned int, fd)                                                    \
	CALL(9, mmap, ARGS6, unsigned long, addr, unsigned long, len, unsigned long, prot,         \
	     unsigned long, flags, unsigned int, fd, unsigned long, off)                           \
	CALL(10, mprotect, ARGS3, unsigned long, start, size_t, len, unsigned long, prot)          \
	CALL(11, munmap, ARGS2, unsigned long, addr, size_t, len)                                  \
	CALL(12, brk, ARGS1, unsigned long, brk)                                                   \
	CALL(39, getpid, ARGS0)                                                                    \
	CALL(56, clone, ARGS5, unsigned long, clone_flags, unsigned long, newsp, int *,            \
	     parent_tidptr, int *, child_tidptr, unsigned long, tls)                               \
	CALL(57, fork, ARGS0)                                                                      \
	CALL(58, vfork, ARGS0)                                                                     \
	CALL(59, execve, ARGS3, const char *, filename, const char *const *, argv,                 \
	     const char *const *, envp)                                                            \
	CALL(60, exit, ARGS1, int, error_code)                                                     \
	CALL(61, wait4, ARGS4, int, upid, int *, stat_addr, int, options, void *, ru)              \
	CALL(110, getppid, ARGS0)                                                                  \
	CALL(158, arch_prctl, ARGS2, int, option, unsigned long, arg2)                             \
	CALL(186, gettid, ARGS0)                                                                   \
	CALL(218, set_tid_address, ARGS1, int *, tidptr)                                           \
	CALL(231, exit_group, ARGS1, int, error_code)

#endif
