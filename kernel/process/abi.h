/*
 * Numbers and structures that programs share with the kernel, as Linux has them on x86-64.
 */
#ifndef KERNEL_PROCESS_ABI_H
#define KERNEL_PROCESS_ABI_H

#include <kernel/base.h>

/* mmap() */
#define MAP_SHARED	    0x01u
#define MAP_PRIVATE	    0x02u
#define MAP_TYPE	    0x0fu
#define MAP_FIXED	    0x10u
#define MAP_ANONYMOUS	    0x20u
#define MAP_FIXED_NOREPLACE 0x100000u

/* Signals and their codes. */
#define SIGINT	2
#define SIGBUS	7
#define SIGKILL 9
#define SIGSEGV 11
#define SIGCHLD 17

#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRERR  2

/* clone() */
#define CLONE_SIGNAL	     0x000000ffu /* sent to the parent at the end */
#define CLONE_VM	     0x00000100u
#define CLONE_VFORK	     0x00004000u
#define CLONE_SETTLS	     0x00080000u
#define CLONE_PARENT_SETTID  0x00100000u
#define CLONE_CHILD_CLEARTID 0x00200000u
#define CLONE_CHILD_SETTID   0x01000000u

/* wait4() */
#define WNOHANG	   1
#define WUNTRACED  2
#define WCONTINUED 8

#endif
