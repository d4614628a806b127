/*
 * Tests of a program's memory: zeros at the first touch, a heap, mappings, protection, and pages
 * that a fork shares until one side writes. Ends with 0, or with the line of the check that failed.
 */
#include "nolib.h"

#define PAGE 4096

#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (!(cond)) {                                                                     \
			say("failed: line", __LINE__);                                             \
			sys_exit(1);                                                               \
		}                                                                                  \
	} while (0)

static char bss[5 * PAGE];
static int data = 42;

static void test_zeros(void)
{
	for (size_t i = 0; i < sizeof(bss); i++)
		CHECK(bss[i] == 0);
	CHECK(data == 42);
}

static void test_heap(void)
{
	char *brk = (char *)CALL1(NR_BRK, 0);

	CHECK((char *)CALL1(NR_BRK, brk + 3 * PAGE) == brk + 3 * PAGE);
	for (size_t i = 0; i < 3 * PAGE; i++)
		CHECK(brk[i] == 0);
	brk[2 * PAGE] = 1;
	CHECK((char *)CALL1(NR_BRK, brk + PAGE) == brk + PAGE);
	CHECK((char *)CALL1(NR_BRK, brk + 3 * PAGE) == brk + 3 * PAGE);
	CHECK(brk[2 * PAGE] == 0);
	CHECK((char *)CALL1(NR_BRK, 0x7ffffffff000) == brk + 3 * PAGE);
}

static void test_mappings(void)
{
	char *at = (char *)syscall6(NR_MMAP, 0, 10 * PAGE, 3, 0x22, -1, 0);

	CHECK((long)at > 0);
	at[5 * PAGE] = 7;
	CHECK(CALL2(NR_MUNMAP, at + 4 * PAGE, PAGE) == 0);
	CHECK(at[5 * PAGE] == 7 && at[3 * PAGE] == 0);
	CHECK(CALL3(NR_WRITE, 1, at + 4 * PAGE, 1) == -14);
	CHECK((char *)syscall6(NR_MMAP, (long)(at + 4 * PAGE), PAGE, 3, 0x32, -1, 0) ==
	      at + 4 * PAGE);
	CHECK(at[4 * PAGE] == 0);
	CHECK(syscall6(NR_MMAP, (long)at, PAGE, 3, 0x100022, -1, 0) == -17);
	CHECK(CALL3(NR_MPROTECT, at, 2 * PAGE, 0) == 0);
	CHECK(CALL3(NR_WRITE, 1, at, 1) == -14);
	CHECK(CALL3(NR_MPROTECT, at, 2 * PAGE, 3) == 0);
	at[0] = 1;
	CHECK(CALL3(NR_MPROTECT, at, 11 * PAGE, 1) == -12);
	CHECK(CALL2(NR_MUNMAP, at + 1, PAGE) == -22 && CALL2(NR_MUNMAP, at, 0) == -22);
	CHECK(syscall6(NR_MMAP, 0, 0, 3, 0x22, -1, 0) == -22);
	CHECK(syscall6(NR_MMAP, 0, PAGE, 3, 0x2, 77, 0) == -9);
}

static int wait_for(long pid)
{
	int status = -1;

	CHECK(CALL4(NR_WAIT4, pid, &status, 0, 0) == pid);
	return status;
}

static void test_fork(void)
{
	long pid;

	bss[0] = 1;
	pid = CALL0(NR_FORK);
	CHECK(pid >= 0);
	if (!pid) {
		CHECK(bss[0] == 1 && data == 42);
		bss[0] = 2;
		data = 43;
		sys_exit(bss[0] + data);
	}
	CHECK(wait_for(pid) == 45 << 8);
	CHECK(bss[0] == 1 && data == 42);
	bss[0] = 0;
	CHECK(CALL4(NR_WAIT4, -1, 0, 0, 0) == -10);
	pid = CALL0(NR_FORK);
	if (!pid)
		*(volatile char *)0 = 0;
	CHECK(wait_for(pid) == 11);
}

static void test_vfork(void)
{
	volatile int shared = 0;
	long pid = CALL0(NR_VFORK);

	if (!pid) {
		shared = 5;
		sys_exit(3);
	}
	CHECK(shared == 5 && wait_for(pid) == 3 << 8);
}

static void test_exec(void)
{
	static const char *const argv[] = { "x", "y", 0 };
	long pid = CALL0(NR_FORK);

	if (!pid) {
		CHECK(CALL3(NR_EXECVE, "/nowhere", argv, 0) == -2);
		CHECK(CALL3(NR_EXECVE, "/bin", argv, 0) == -13);
		CHECK(CALL3(NR_EXECVE, 8, argv, 0) == -14);
		CHECK(CALL3(NR_EXECVE, "/bin/hello", 8, 0) == -14);
		CALL3(NR_EXECVE, "/bin/hello", argv, 0);
		sys_exit(99);
	}
	CHECK(wait_for(pid) == 2 << 8);
}

void main_program(long *sp)
{
	(void)sp;
	test_zeros();
	test_heap();
	test_mappings();
	test_fork();
	test_vfork();
	test_exec();
	put("memory is as it should be\n");
	sys_exit(0);
}
