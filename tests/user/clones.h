/*
 * Threads for the programs of tests/user, of which each has a stack of its own.
 */
#ifndef CLONES_H
#define CLONES_H

#include "nolib.h"

/* VM, FS, FILES, SIGHAND, THREAD, SYSVSEM, PARENT_SETTID, CHILD_CLEARTID */
#define CLONE_THREAD_FLAGS 0x350f00l

/*
 * Both calls that make a thread: it calls fn(arg) on its own stack, and ends. The stack keeps the two words that it
 * begins with.
 */
__asm__("clone_thread:\n mov %rcx, %r10\n xor %r8d, %r8d\n mov $56, %eax\n jmp 1f\n"
	"clone_thread3:\n mov $435, %eax\n"
	"1: syscall\n test %rax, %rax\n jz 2f\n ret\n"
	"2: xor %ebp, %ebp\n pop %rax\n pop %rdi\n call *%rax\n mov $60, %eax\n xor %edi, %edi\n "
	"syscall\n hlt\n");
long clone_thread(unsigned long flags, void *stack, int *parent_tid, int *child_tid);
long clone_thread3(void *args, unsigned long size);

/* The tid is written to `tid`, and 0 when the thread ends. */
static inline long new_thread(char *stack_end, int *tid, void (*fn)(long), long arg)
{
	long *stack = (long *)stack_end - 4;

	stack[0] = (long)fn;
	stack[1] = arg;
	return clone_thread(CLONE_THREAD_FLAGS, stack, tid, tid);
}

#endif
