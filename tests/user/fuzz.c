/*
 * fuzz NAME SEED ROUNDS: programs that are damaged, that race with themselves, or that take all there is. A test ends
 * well if what should be refused was refused; the kernel's own state is for the caller to look at.
 */
#include "clones.h"
#include "fuzz.h"

#define PAGE	       4096
#define LONG_MS	       100000 /* for a child that ends by itself */
#define OPEN_FILES     200
#define SHARED	       ((char *)0x20000000)
#define HEAD	       4096 /* bytes of the file that are in its head, at most */
#define ENDED	       77   /* status of a copy of this program that begins as it should */
#define NR_CLOSE       3
#define NR_READV       19
#define NR_YIELD       24
#define NR_GETTIME     228
#define NR_CLOSE_RANGE 436
#define NR_GETDENTS64  217

enum {
	EMFILE = 24
};

static long rounds;

/* rt_sigreturn() with no frame, and with a stack pointer at the worst places. */
static void frames(void)
{
	static const unsigned long stacks[] = {
		0,    8,	  1ul << 47,	      (1ul << 47) - 8,
		~0ul, ~0ul << 47, 0xffffffff80100000, 0xffff888000000000
	};
	char *page = (char *)syscall6(NR_MMAP, 0, 2 * PAGE, 3, 0x22, -1, 0);
	int died = 0;

	CALL2(NR_MUNMAP, page + PAGE, PAGE);
	for (long i = 0; i < rounds; i++) {
		unsigned long at =
			draw(2) ? stacks[draw(8)] : (unsigned long)page + PAGE - draw(1200);
		long pid = CALL0(NR_FORK);

		for (int j = 0; j < PAGE / 8; j++)
			((volatile unsigned long *)page)[j] =
				draw(4) ? draw(1 << 20) : stacks[draw(8)];
		if (!pid) {
			__asm__ volatile("mov %0, %%rsp\n mov $15, %%eax\n syscall\n 1: jmp 1b"
					 :
					 : "r"(at)
					 : "rax");
		}
		died += (fuzz_wait(pid, LONG_MS) & 0x7f) == SIGSEGV;
	}
	CHECK(died == rounds);
}

static char stack[16384] __attribute__((aligned(16)));
static volatile int is_over;

/* A thread that takes away the memory which the others hand to system calls, and gives it back. */
static void unmaps(long unused)
{
	(void)unused;
	while (!is_over) {
		CALL2(NR_MUNMAP, SHARED + PAGE, PAGE);
		syscall6(NR_MMAP, (long)SHARED + PAGE, PAGE, 3, 0x32, -1, 0);
		CALL3(NR_MPROTECT, SHARED, 2 * PAGE, 1);
		CALL3(NR_MADVISE, SHARED, 2 * PAGE, 4);
		CALL3(NR_MPROTECT, SHARED, 2 * PAGE, 3);
	}
}

static int is_result(long result)
{
	return result >= 0 || result == -14;
}

/* Calls that read and write memory across a border which comes and goes: all, a part or EFAULT. */
static void unmap(void)
{
	static int tid;
	int ends[2];
	long zero = CALL3(NR_OPEN, "/dev/zero", 2, 0),
	     self = CALL3(NR_OPEN, "/proc/self/exe", 0, 0);

	CHECK(CALL1(NR_PIPE, ends) == 0 && zero > 0 && self > 0);
	CHECK(syscall6(NR_MMAP, (long)SHARED, 2 * PAGE, 3, 0x32, -1, 0) == (long)SHARED);
	CHECK(new_thread(stack + sizeof(stack), &tid, unmaps, 0) > 0);
	for (long i = 0; i < rounds; i++) {
		char *at = SHARED + PAGE - draw(200);
		long written = CALL3(NR_WRITE, ends[1], at, 400),
		     vec[4] = { (long)at, 100, (long)SHARED, 6000 };

		CHECK(is_result(written));
		if (written > 0)
			CHECK(is_result(CALL3(NR_READ, ends[0], at, 400)));
		CHECK(is_result(CALL3(NR_READ, zero, at, 4096)));
		CHECK(is_result(CALL4(NR_PREAD, self, at, 4096, draw(4096))));
		CHECK(is_result(CALL3(NR_READV, zero, vec, 2)));
		CALL3(NR_OPEN, at, 0, 0);
		CALL2(NR_GETTIME, 1, SHARED + PAGE - 8);
	}
	is_over = 1;
	while (__atomic_load_n(&tid, __ATOMIC_SEQ_CST))
		CALL0(NR_YIELD);
}

/* A copy of this program's file, in memory and open. */
static char copy[65536];
static long copy_len;

static void read_self(void)
{
	long fd = CALL3(NR_OPEN, "/proc/self/exe", 0, 0);

	copy_len = CALL3(NR_READ, fd, copy, sizeof(copy));
	CHECK(copy_len > 64 && copy_len < (long)sizeof(copy));
	CALL1(NR_CLOSE, fd);
}

static void write_file(long bytes)
{
	long fd = CALL3(NR_OPEN, "copy", 01101, 0755);

	CHECK(fd >= 0 && CALL3(NR_WRITE, fd, copy, bytes) == bytes);
	CALL1(NR_CLOSE, fd);
}

/* Execute the file as the user, for so many ms at most. */
static int execute(long ms)
{
	static const char *const argv[] = { "copy", "ended", 0 };
	long pid = CALL0(NR_FORK);

	if (!pid) {
		limit(LIMIT_NPROC, 3);
		limit(LIMIT_AS, 1ul << 26);
		limit(LIMIT_FSIZE, 0);
		become_user();
		for (int fd = 0; fd < 3; fd++)
			CALL1(NR_CLOSE, fd);
		CALL3(NR_EXECVE, "copy", argv, argv + 2);
		sys_exit(126);
	}
	return fuzz_wait(pid, ms);
}

/* A byte of the head is another in each round: the headers, and the notes and code behind them. Then a file that ends too early. */
static void elf(void)
{
	static const unsigned char values[] = { 0, 1, 2, 3, 4, 6, 0x40, 0x7f, 0x80, 0xff };
	long head, refused = 0, ran = 0;

	read_self();
	head = 64 + copy[56] * 56;
	CHECK(head < HEAD);
	write_file(copy_len);
	CHECK(execute(LONG_MS) == ENDED << 8);
	for (long i = 0; i < rounds; i++) {
		char *at = copy + draw(draw(4) ? 64 + 3 * 56 : (unsigned long)head), was = *at;
		int status;

		*at = draw(4) ? (char)values[draw(sizeof(values))] : (char)(was ^ (1 << draw(8)));
		write_file(copy_len);
		status = execute(500);
		refused += status == 126 << 8;
		ran += status == ENDED << 8;
		*at = was;
	}
	CHECK(refused && ran);
	for (long bytes = 0; bytes < head;
	     bytes += 1 + (long)draw(2000 / (unsigned long)rounds + 1)) {
		write_file(bytes);
		CHECK(execute(LONG_MS) == 126 << 8);
	}
	fuzz_end_all();
}

/* Children that do nothing but fork, as many as the user may have. The limit holds them, and they all can be ended. */
static void forks(void)
{
	for (long i = 0; i < rounds; i++) {
		long pid = CALL0(NR_FORK);
		int status, refused = 0;

		if (!pid) {
			limit(LIMIT_NPROC, 16);
			become_user();
			pid = CALL0(NR_GETPID);
			while (refused < 8)
				refused += CALL0(NR_FORK) == -EAGAIN;
			while (CALL0(NR_GETPID) != pid)
				CALL0(NR_PAUSE);
			sys_exit(ENDED);
		}
		status = fuzz_wait(pid, LONG_MS);
		CHECK(status == ENDED << 8);
		fuzz_end_all();
	}
}

/* A program that wants more memory than there is: it is killed, or told so, and this one goes on. */
static void memory(void)
{
	for (long i = 0; i < rounds; i++) {
		long pid = CALL0(NR_FORK);
		int status;

		if (!pid) {
			become_user();
			for (;;) {
				char *at = (char *)syscall6(NR_MMAP, 0, 1 << 22, 3, 0x22, -1, 0);

				if ((long)at < 0)
					sys_exit(ENDED);
				for (int j = 0; j < 1 << 22; j += PAGE)
					((volatile char *)at)[j] = 1;
			}
		}
		status = fuzz_wait(pid, LONG_MS);
		CHECK(status == SIGKILL || status == ENDED << 8);
	}
}

static const char *file_name(long nr)
{
	static char name[8] = "f00000";

	for (int i = 5; i > 0; i--, nr /= 10)
		name[i] = (char)('0' + nr % 10);
	return name;
}

static long count_entries(void)
{
	static char buf[8192];
	long fd = CALL3(NR_OPEN, ".", 0200000, 0), got, nr = 0;

	while ((got = CALL3(NR_GETDENTS64, fd, buf, sizeof(buf))) > 0)
		for (long at = 0; at < got; at += *(unsigned short *)(buf + at + 16))
			nr += buf[at + 19] == 'f';
	CHECK(got == 0 && CALL1(NR_CLOSE, fd) == 0);
	return nr;
}

/* As many open files as there can be, and so many in one directory. */
static void files(void)
{
	long nr = 0, fd;

	CALL3(NR_CLOSE_RANGE, 3, ~0u, 0);
	limit(LIMIT_NOFILE, OPEN_FILES);
	while ((fd = CALL3(NR_OPEN, file_name(nr), 0102, 0600)) >= 0)
		nr++;
	CHECK(fd == -EMFILE && nr == OPEN_FILES - 3);
	CHECK(CALL3(NR_CLOSE_RANGE, 3, ~0u, 0) == 0);
	for (; nr < rounds; nr++) {
		fd = CALL3(NR_OPEN, file_name(nr), 0102, 0600);
		CHECK(fd == 3 && CALL1(NR_CLOSE, fd) == 0);
	}
	CHECK(count_entries() == nr);
	while (nr--)
		CHECK(CALL1(NR_UNLINK, file_name(nr)) == 0);
	CHECK(count_entries() == 0);
}

static const struct signal_test tests[] = {
	{ "frames", frames }, { "unmap", unmap }, { "elf", elf }, { "forks", forks },
	{ "memory", memory }, { "files", files }, { 0, 0 },
};

void main_program(long *sp)
{
	char **argv = (char **)(sp + 1);

	if (text_equal(argv[1], "ended"))
		sys_exit(ENDED);
	fuzz_seed = (unsigned long)number_of(argv[2]) * 7919 + 1;
	rounds = number_of(argv[3]);
	fuzz_begin("/tmp/fuzz");
	run_test(tests, argv[1]);
}
