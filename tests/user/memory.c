/*
 * Tests of a program's memory: zeros at the first touch, a heap, mappings, protection, and pages
 * that a fork shares until one side writes. Ends with 0, or with the line of the check that failed.
 */
#include "nolib.h"

#define PAGE 4096

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

/* Growing in place, moving with what is in it, shrinking; pages that are given up are zeros again. */
static void test_remap(void)
{
	char *at = (char *)syscall6(NR_MMAP, 0, 8 * PAGE, 3, 0x22, -1, 0), *moved;

	for (int i = 0; i < 8; i++)
		at[i * PAGE] = (char)(i + 1);
	CHECK(CALL2(NR_MUNMAP, at + 4 * PAGE, PAGE) == 0);
	CHECK(CALL4(NR_MREMAP, at, 4 * PAGE, 5 * PAGE, 0) == (long)at);
	CHECK(at[3 * PAGE] == 4 && at[4 * PAGE] == 0 && at[5 * PAGE] == 6);
	CHECK(CALL4(NR_MREMAP, at, 2 * PAGE, 3 * PAGE, 0) == -12);
	moved = (char *)CALL4(NR_MREMAP, at, 2 * PAGE, 20 * PAGE, 1);
	CHECK((long)moved > 0 && moved != at && moved[0] == 1 && moved[PAGE] == 2);
	CHECK(moved[19 * PAGE] == 0 && CALL3(NR_WRITE, 1, at, 1) == -14 && at[2 * PAGE] == 3);
	CHECK(CALL4(NR_MREMAP, moved, 20 * PAGE, PAGE, 0) == (long)moved);
	CHECK(CALL3(NR_WRITE, 1, moved + PAGE, 1) == -14);
	CHECK(CALL4(NR_MREMAP, at, PAGE, PAGE, 1) == -14);
	CHECK(CALL4(NR_MREMAP, moved + 1, PAGE, PAGE, 1) == -22);
	CHECK(syscall6(NR_MREMAP, (long)moved, PAGE, PAGE, 3, (long)(at + 2 * PAGE), 0) ==
	      (long)(at + 2 * PAGE));
	CHECK(at[2 * PAGE] == 1 && at[3 * PAGE] == 4);
	CHECK(CALL3(NR_MADVISE, at + 2 * PAGE, PAGE, 4) == 0 && at[2 * PAGE] == 0);
	CHECK(CALL3(NR_MADVISE, at, PAGE, 4) == -12 &&
	      CALL3(NR_MADVISE, at + 2 * PAGE, PAGE, 99) == -22);
	CHECK(CALL3(NR_MADVISE, at + 3 * PAGE, PAGE, 4) == 0 &&
	      CALL3(NR_MINCORE, at + 2 * PAGE, 2 * PAGE, bss) == 0);
	CHECK(bss[0] == 1 && bss[1] == 0 && CALL3(NR_MINCORE, at, PAGE, bss) == -12);
	CHECK(CALL3(NR_MINCORE, at + 2 * PAGE, PAGE, 8) == -14 &&
	      CALL3(NR_MINCORE, at + 1, 1, bss) == -22);
	/* Pages that are not there are the first mistake, and nothing is said of them. */
	bss[0] = 77;
	CHECK(CALL3(NR_MINCORE, at, PAGE, 8) == -12 && CALL3(NR_MINCORE, at, 2 * PAGE, bss) == -12);
	CHECK(bss[0] == 77);
	bss[0] = 0;
	CHECK(CALL2(NR_MUNMAP, at + 2 * PAGE, 6 * PAGE) == 0);
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

/* Memory that parent and child share, and a file that is written by its mapping. */
static void test_shared(void)
{
	char *at = (char *)syscall6(NR_MMAP, 0, 2 * PAGE, 3, 0x21, -1, 0), *file;
	long fd = CALL3(NR_OPEN, "/tmp/shared", 0102, 0644), pid, only_read, only_write;

	CHECK((long)at > 0 && fd >= 0);
	at[PAGE] = 1;
	pid = CALL0(NR_FORK);
	if (!pid) {
		at[0] = 7;
		at[PAGE]++;
		sys_exit(0);
	}
	CHECK(wait_for(pid) == 0 && at[0] == 7 && at[PAGE] == 2);
	CHECK(CALL2(NR_MUNMAP, at, 2 * PAGE) == 0 && CALL2(NR_FTRUNCATE, fd, 10) == 0);
	file = (char *)syscall6(NR_MMAP, 0, PAGE, 1, 1, fd, 0);
	CHECK((long)file > 0 && file[0] == 0 && CALL3(NR_WRITE, fd, "abc", 3) == 3 &&
	      file[2] == 'c');
	CHECK(CALL3(NR_MPROTECT, file, PAGE, 3) == 0);
	file[0] = 'x';
	CHECK(CALL4(NR_PREAD, fd, bss, 2, 0) == 2 && bss[0] == 'x' && bss[1] == 'b');
	CHECK(CALL3(NR_MSYNC, file, PAGE, 4) == 0 && CALL3(NR_MSYNC, file, PAGE, 5) == -22);
	only_read = CALL3(NR_OPEN, "/tmp/shared", 0, 0);
	CHECK(syscall6(NR_MMAP, 0, PAGE, 3, 1, only_read, 0) == -13);
	file = (char *)syscall6(NR_MMAP, 0, PAGE, 1, 1, only_read, 0);
	CHECK(file[0] == 'x' && CALL3(NR_MPROTECT, file, PAGE, 3) == -13);
	file = (char *)syscall6(NR_MMAP, 0, PAGE, 3, 2, only_read, 0);
	file[0] = 'y';
	CHECK(CALL4(NR_PREAD, fd, bss, 1, 0) == 1 && bss[0] == 'x');
	only_write = CALL3(NR_OPEN, "/tmp/shared", 1, 0);
	CHECK(syscall6(NR_MMAP, 0, PAGE, 1, 2, only_write, 0) == -13 &&
	      syscall6(NR_MMAP, 0, PAGE, 3, 1, only_write, 0) == -13);
	CHECK(CALL1(NR_UNLINK, "/tmp/shared") == 0);
	bss[0] = bss[1] = 0;
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
	test_remap();
	test_fork();
	test_shared();
	test_vfork();
	test_exec();
	put("memory is as it should be\n");
	sys_exit(0);
}
