/*
 * Tests of what a tracer does with a stopped program by ptrace(): its system calls, memory, registers, steps and signals. The name of a
 * test is the argument. The tracee is a child, which is this program. Ends with 0, or with the line of the check that failed.
 */
#include "ptraces.h"

enum {
	NR_RT_SIGACTION = 13
};

static volatile long word = 0x1122334455667788;
static volatile int got;

/* ---- System calls ---- */

static void make_calls(void)
{
	CALL3(1000, 1, 2, 3);
	sys_exit((int)CALL0(NR_GETPPID));
}

static void calls(void)
{
	long pid = tracee(make_calls);
	struct regs regs;
	unsigned long info[10];

	CHECK(ptrace(SETOPTIONS, pid, 0, (void *)OPTION_SYSGOOD) == 0);
	CHECK(ask(TO_CALL, pid, 0) == AT_CALL);
	regs = regs_of(pid);
	CHECK(regs.orig_rax == 1000 && regs.rdi == 1 && regs.rdx == 3 && (long)regs.rax == -ENOSYS);
	CHECK(ptrace(GET_SYSCALL_INFO, pid, sizeof(info), info) == 80);
	CHECK((info[0] & 0xff) == 1 && info[0] >> 32 == 0xc000003e && info[1] == regs.rip &&
	      info[2] == regs.rsp);
	CHECK(info[3] == 1000 && info[4] == 1 && info[6] == 3);
	CHECK(ask(TO_CALL, pid, 0) == AT_CALL);
	CHECK(ptrace(GET_SYSCALL_INFO, pid, sizeof(info), info) == 33);
	CHECK((info[0] & 0xff) == 2 && (long)info[3] == -ENOSYS && (info[4] & 0xff) == 1);
	CHECK(ask(TO_CALL, pid, 0) == AT_CALL); /* another call in its place, and another result */
	regs = regs_of(pid);
	CHECK(regs.orig_rax == NR_GETPPID && regs.cs == 0x33 && regs.ss == 0x2b);
	regs.orig_rax = (unsigned long)-1;
	regs.rax = 77;
	CHECK(ptrace(SETREGS, pid, 0, &regs) == 0);
	CHECK(ask(TO_CALL, pid, 0) == AT_CALL && regs_of(pid).rax == 77);
	CHECK(ptrace(POKEUSER, pid, 10 * 8, (void *)7) == 0);
	CHECK(ask(TO_CALL, pid, 0) == AT_CALL && regs_of(pid).orig_rax == NR_EXIT_GROUP);
	CHECK(ptrace(CONT, pid, 0, (void *)65) == -EIO && ptrace(12345, pid, 0, 0) == -EIO);
	ends(pid, 7);
}

/* ---- Memory and registers ---- */

__attribute__((noinline)) static int marked(int value)
{
	__asm__ volatile("nop");
	return value + 1;
}

static void use_memory(void)
{
	kill_own(SIGUSR1);
	CHECK(word == 42);
	sys_exit(marked(3));
}

/* Its letter in /proc/PID/stat, behind the name in parentheses. */
static char state_of(long pid)
{
	char path[32] = "/proc/", digits[20], text[64] = "", *at = path + 6;
	int nr = 0;
	long fd;

	do
		digits[nr++] = (char)('0' + pid % 10);
	while (pid /= 10);
	while (nr)
		*at++ = digits[--nr];
	for (const char *end = "/stat"; *end;)
		*at++ = *end++;
	fd = CALL3(NR_OPEN, path, 0, 0);
	CHECK(fd >= 0 && CALL3(NR_READ, fd, text, sizeof(text) - 1) > 0 && CALL1(3, fd) == 0);
	for (at = text; *at && *at != ')';)
		at++;
	CHECK(at[0] && at[1] == ' ');
	return at[2];
}

static void memory(void)
{
	long pid = tracee(use_memory), code = (long)marked, saved;
	long values[3] = { 0 };
	struct iovec own = { values, 16 }, other = { (void *)&word, 8 }, bad = { 0, 8 };
	struct iovec both[2] = { other, bad };
	struct regs regs;

	CHECK(peek(pid, &word) == 0x1122334455667788);
	CHECK(state_of(pid) == 't' && state_of(get_pid()) == 'R');
	CHECK(ptrace(PEEK, pid, 8, values) == -EIO && ptrace(PEEK, pid, (long)&word, 0) == -EFAULT);
	CHECK(syscall6(NR_PROCESS_VM_READV, pid, (long)&own, 1, (long)both, 2, 0) == 8 &&
	      values[0] == word);
	CHECK(syscall6(NR_PROCESS_VM_READV, pid, (long)&own, 1, (long)&bad, 1, 0) == -EFAULT);
	values[0] = 41;
	CHECK(syscall6(NR_PROCESS_VM_WRITEV, pid, (long)&own, 1, (long)&other, 1, 0) == 8 &&
	      peek(pid, &word) == 41);
	CHECK(ptrace(POKETEXT, pid, (long)&word, (void *)42) == 0 && word == 0x1122334455667788);
	CHECK(ask(CONT, pid, 0) == STOPPED(SIGUSR1));
	/* A breakpoint in its code, and none in this program's. */
	saved = peek(pid, (void *)code);
	CHECK(ptrace(POKETEXT, pid, code, (void *)((saved & ~0xffl) | 0xcc)) == 0);
	CHECK(*(unsigned char *)code != 0xcc && marked(1) == 2);
	CHECK(ask(CONT, pid, 0) == STOPPED(SIGTRAP));
	regs = regs_of(pid);
	CHECK(regs.rip == (unsigned long)code + 1 && regs.rdi == 3);
	CHECK(ptrace(POKETEXT, pid, code, (void *)saved) == 0);
	regs.rip--;
	regs.rdi = 8;
	CHECK(ptrace(SETREGS, pid, 0, &regs) == 0);
	regs.cs = 0x10;
	CHECK(ptrace(SETREGS, pid, 0, &regs) == -EIO);
	CHECK(ptrace(PEEKUSER, pid, 16 * 8, values) == 0 && values[0] == code);
	CHECK(ptrace(PEEKUSER, pid, 928, values) == -EIO &&
	      ptrace(PEEKUSER, pid, 4, values) == -EIO);
	/* An address that is none is the program's fault, not the kernel's. */
	CHECK(ptrace(POKEUSER, pid, 16 * 8, (void *)(1l << 62)) == 0);
	CHECK(ask(CONT, pid, 0) == STOPPED(SIGSEGV));
	CHECK(ptrace(POKEUSER, pid, 16 * 8, (void *)code) == 0);
	ends(pid, 9);
}

static void use_vectors(void)
{
	unsigned long value = 5;

	__asm__ volatile("movq %1, %%xmm3\n\t"
			 "movq $39, %%rax\n\t"
			 "syscall\n\t"
			 "movq %%rax, %%rdi\n\t"
			 "movq $10, %%rsi\n\t"
			 "movq $62, %%rax\n\t"
			 "syscall\n\t"
			 "movq %%xmm3, %0"
			 : "=r"(value)
			 : "r"(value)
			 : "rax", "rdi", "rsi", "rcx", "r11", "xmm3", "memory");
	sys_exit((int)value);
}

static void vectors(void)
{
	static unsigned long fpu[512];
	long pid = tracee(use_vectors), xstate;
	struct iovec set = { fpu, sizeof(fpu) };

	CHECK(ask(CONT, pid, 0) == STOPPED(SIGUSR1));
	CHECK(ptrace(GETREGSET, pid, 2, &set) == 0 && set.len == 512 && fpu[26] == 5);
	fpu[26] = 6;
	CHECK(ptrace(SETFPREGS, pid, 0, fpu) == 0);
	fpu[26] = 0;
	set.len = sizeof(fpu);
	xstate = ptrace(GETREGSET, pid, 0x202, &set);
	CHECK(xstate == 0 ? set.len >= 832 && (fpu[58] & 7) == 7 : xstate == -19);
	xstate = xstate ? xstate : 832 - (long)set.len; /* others have more than AVX */
	if (xstate == 0) {
		CHECK(fpu[26] == 6);
		fpu[26] = 7;
		CHECK(ptrace(SETREGSET, pid, 0x202, &set) == 0);
		fpu[65] = 1; /* a part of the header that has to be 0 */
		CHECK(ptrace(SETREGSET, pid, 0x202, &set) == -EINVAL);
	}
	set.len = 16;
	CHECK(ptrace(GETREGSET, pid, 1, &set) == 0 && set.len == 16);
	CHECK(ptrace(GETREGSET, pid, 99, &set) == -EINVAL);
	ends(pid, xstate == 0 ? 7 : 6);
}

/* ---- Single steps ---- */

extern char step_begin[], step_call[], step_end[];

__attribute__((noinline)) static void walk(void)
{
	unsigned long flags;

	kill_own(SIGUSR1);
	__asm__ volatile("step_begin: nop\n\t"
			 "nop\n\t"
			 "movl $39, %%eax\n\t"
			 "step_call: syscall\n\t"
			 "step_end: pushfq\n\t"
			 "popq %0"
			 : "=r"(flags)
			 :
			 : "rax", "rcx", "r11", "memory");
	sys_exit(flags & FLAG_TF ? 1 : 0);
}

static void steps(void)
{
	long pid = tracee(walk);
	unsigned long at, nr = 0, info[16];

	CHECK(ask(CONT, pid, 0) == STOPPED(SIGUSR1));
	at = regs_of(pid).rip;
	while (at != (unsigned long)step_begin) {
		CHECK(ask(STEP, pid, 0) == STOPPED(SIGTRAP));
		at = regs_of(pid).rip;
	}
	while (at != (unsigned long)step_end) {
		CHECK(ask(STEP, pid, 0) == STOPPED(SIGTRAP));
		CHECK(ptrace(GETSIGINFO, pid, 0, info) == 0 && info[0] == SIGTRAP);
		CHECK(!(regs_of(pid).flags & FLAG_TF));
		at = regs_of(pid).rip;
		nr++;
	}
	CHECK(nr == 4 && (long)regs_of(pid).rax == pid);
	ends(pid, 0);
}

/* ---- Signals ---- */

static void handler(int sig)
{
	got = sig;
}

__asm__("restorer: mov $15, %eax\n syscall\n");
extern void restorer(void);

static void take_signals(void)
{
	const struct {
		void (*handler)(int sig);
		unsigned long flags;
		void (*restorer)(void);
		unsigned long mask;
	} action = { handler, 0x04000000, restorer, 0 };

	CHECK(CALL4(NR_RT_SIGACTION, SIGUSR1, &action, 0, 8) == 0);
	kill_own(SIGUSR1);
	CHECK(!got);
	kill_own(12);
	CHECK(got == SIGUSR1);
	sys_exit(5);
}

static void signals(void)
{
	long pid = tracee(take_signals);
	int info[32];

	CHECK(ask(CONT, pid, 0) == STOPPED(SIGUSR1));
	CHECK(ptrace(GETSIGINFO, pid, 0, info) == 0 && info[0] == SIGUSR1 && info[2] == 0 &&
	      info[4] == pid);
	CHECK(ask(CONT, pid, 0) == STOPPED(12)); /* the first one is not given */
	info[0] = 12;
	CHECK(ptrace(SETSIGINFO, pid, 0, info) == 0);
	CHECK(ask(STEP, pid, (void *)SIGUSR1) ==
	      STOPPED(SIGTRAP)); /* another one is, up to its handler */
	CHECK(regs_of(pid).rip == (unsigned long)handler && regs_of(pid).rdi == SIGUSR1);
	ends(pid, 5);
	pid = tracee(walk);
	CHECK(ask(CONT, pid, (void *)SIGKILL) == SIGKILL);
}

void main_program(long *sp)
{
	static const struct test tests[] = { { "calls", calls },     { "memory", memory },
					     { "vectors", vectors }, { "steps", steps },
					     { "signals", signals }, { 0, 0 } };
	const char *name = sp[2] ? (const char *)sp[2] : "";

	run_tests(tests, name);
	sys_exit(1);
}
