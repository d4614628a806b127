/*
 * A program with functions for probes: `probed NAME [ROUNDS]` calls them and prints how often. The names are those in
 * modes[]; the functions begin with all the instructions that the kernel does by hand or in a slot.
 */
#include "threads.h"

#define SIGTRAP	  5
#define NR_PTRACE 101

/* Each begins with the instruction in its text, and returns its argument and 1. */
#define PROBED(name, text)                                                                         \
	long name(long value);                                                                     \
	__asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n" text ".size " #name   \
		", . - " #name "\n")

PROBED(f_nop, "nop\n lea 1(%rdi), %rax\n ret\n");
PROBED(f_push, "push %rbx\n mov %rdi, %rbx\n lea 1(%rbx), %rax\n pop %rbx\n ret\n");
PROBED(f_lea, "lea f_number(%rip), %rax\n mov (%rax), %rax\n add %rdi, %rax\n ret\n");
PROBED(f_mov, "mov f_number(%rip), %rax\n add %rdi, %rax\n ret\n");
PROBED(f_jmp, "jmp 1f\n ud2\n 1: lea 1(%rdi), %rax\n ret\n");
PROBED(f_jcc,
       "test %rdi, %rdi\n f_jcc_at: je 1f\n lea 1(%rdi), %rax\n ret\n 1: mov $1, %eax\n ret\n");
PROBED(f_call, "call 1f\n ret\n 1: lea 1(%rdi), %rax\n ret\n");
PROBED(f_call_mem, "call *f_pointer(%rip)\n ret\n");
PROBED(f_call_reg, "lea f_nop(%rip), %rax\n f_call_reg_at: call *%rax\n ret\n");
PROBED(f_jmp_mem, "jmp *f_pointer(%rip)\n");
PROBED(f_ret, "lea 1(%rdi), %rax\n f_ret_at: ret\n");
PROBED(f_loop, "mov $3, %ecx\n xor %eax, %eax\n 1: add $1, %eax\n f_loop_at: loop 1b\n lea "
	       "1(%rdi), %rax\n ret\n");
PROBED(f_pushf, "pushf\n pop %rax\n lea 1(%rdi), %rax\n ret\n");
/* A marker as newer programs have it; around it the red zone, registers and flags that have to stay. */
#define MARKER(name) #name ": .byte 0x66, 0x2e, 0x0f, 0x1f, 0x84, 0, 0, 0, 0, 0\n"
PROBED(f_marker,
       "mov %rdi, -8(%rsp)\n mov %rdi, -128(%rsp)\n mov $3, %eax\n mov $5, %ecx\n mov $7, %r11d\n "
       "stc\n" MARKER(f_marker_at) "jnc 1f\n cmp $3, %rax\n jne 1f\n cmp $5, %rcx\n jne 1f\n "
				   "cmp $7, %r11\n jne 1f\n mov -8(%rsp), %rax\n cmp -128(%rsp), "
				   "%rax\n jne 1f\n "
				   "lea 1(%rax), %rax\n ret\n 1: xor %eax, %eax\n ret\n");
PROBED(f_touch, "incb (%rdi)\n lea 1(%rdi), %rax\n ret\n");
__asm__(".data\n.balign 8\nf_number: .quad 1\nf_pointer: .quad f_nop\n.globl f_counter\nf_counter: "
	".short 0\n .short 7\n .text\n");
extern volatile uint16_t f_counter;
extern volatile uint8_t f_marker_at[10];

typedef long (*probed_fn)(long value);
static const probed_fn all[] = {
	f_nop,	    f_push,	f_lea,	   f_mov, f_jmp,  f_jcc,   f_call,
	f_call_mem, f_call_reg, f_jmp_mem, f_ret, f_loop, f_pushf, f_marker
};
#define NR_ALL (sizeof(all) / sizeof(all[0]))

static void die(const char *why)
{
	put(why);
	put(" is wrong\n");
	sys_exit(1);
}

static long call_all(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		for (size_t k = 0; k < NR_ALL; k++) {
			if (all[k](i) != i + 1)
				die("a result");
		}
	}
	return rounds * (long)NR_ALL;
}

static void run_all(long rounds)
{
	put_number(call_all(rounds));
	put(" calls\n");
}

static void wait_child(long pid)
{
	int status = -1;

	if (pid <= 0 || CALL4(NR_WAIT4, pid, &status, 0, 0) != pid || status)
		die("a child");
}

/* Children that call, unmap and map memory, and die. */
static void run_fork(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		long pid = CALL0(NR_FORK);

		if (!pid) {
			call_all(3);
			sys_exit(0);
		}
		call_all(2);
		CALL2(NR_MUNMAP, syscall6(NR_MMAP, 0, 8192, 3, 0x22, -1, 0), 8192);
		wait_child(pid);
	}
	put_number(rounds * 5 * (long)NR_ALL);
	put(" calls\n");
}

/* ---- Threads ---- */

#define NR_THREADS 4
static char stacks[NR_THREADS][16384] __attribute__((aligned(16)));
static int tids[NR_THREADS];

static void thread_calls(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		call_all(1);
		CALL2(NR_MUNMAP, syscall6(NR_MMAP, 0, 8192, 3, 0x22, -1, 0), 8192);
	}
}

/* They share slots, and have shadow stacks of their own. */
static void run_threads(long rounds)
{
	for (size_t i = 0; i < NR_THREADS; i++) {
		if (new_thread(stacks[i] + sizeof(stacks[i]), &tids[i], thread_calls, rounds) <= 0)
			die("a thread");
	}
	thread_calls(rounds);
	for (size_t i = 0; i < NR_THREADS; i++)
		wait_zero(&tids[i]);
	put_number((NR_THREADS + 1) * rounds * (long)NR_ALL);
	put(" calls\n");
}

/* A child forked in the middle of a call returns from it, too. */
__attribute__((noinline)) long f_forks(long value);
long f_forks(long value)
{
	return CALL0(NR_FORK) + 0 * value;
}

static void run_forks(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		long pid = f_forks(i);

		if (!pid)
			sys_exit(0);
		wait_child(pid);
	}
	put_number(rounds);
	put(" calls\n");
}

/* ---- Recursion, longjmp ---- */

static void *jump_buffer[8];

__attribute__((noinline)) long f_deep(long depth, long leaves);
static long (*volatile deeper)(long depth, long leaves) = f_deep; /* no loop is made of it */
long f_deep(long depth, long leaves)
{
	if (depth == 0 && leaves)
		__builtin_longjmp(jump_buffer, 1);
	if (depth == 0)
		return 0;
	return deeper(depth - 1, leaves) + 1;
}

static volatile long nr_done;

static void run_longjmp(long rounds)
{
	for (nr_done = 0; nr_done < rounds; nr_done++) {
		if (!__builtin_setjmp(jump_buffer))
			deeper(5, 1);
		if (deeper(3, 0) != 3)
			die("a depth");
	}
	put_number(rounds * 10);
	put(" calls, ");
	put_number(rounds * 4);
	put(" returns\n");
}

/* ---- Signals ---- */

static volatile long nr_signals, nr_traps;

static void on_signal(int sig)
{
	(void)sig;
	nr_signals++;
	if (f_push(nr_signals) != nr_signals + 1)
		die("a result in a handler");
}

static void on_trap(int sig)
{
	(void)sig;
	nr_traps++;
}

/* A child sends signals as fast as it can. */
static void run_signals(long rounds)
{
	long parent = CALL0(NR_GETPID), pid, calls = 0;

	set_handler(SIGUSR1, on_signal);
	pid = CALL0(NR_FORK);
	if (!pid) {
		for (long i = 0; i < rounds; i++)
			CALL2(NR_KILL, parent, SIGUSR1);
		sys_exit(0);
	}
	for (;;) {
		int status;

		calls += call_all(1);
		if (CALL4(NR_WAIT4, pid, &status, 1, 0) == pid)
			break;
	}
	put_number(calls);
	put(" calls, ");
	put_number(nr_signals);
	put(" signals\n");
}

/* Its own breakpoint is none of a probe's. */
static void run_int3(long rounds)
{
	set_handler(SIGTRAP, on_trap);
	for (long i = 0; i < rounds; i++)
		__asm__ volatile("int3" : : : "memory");
	if (nr_traps != rounds)
		die("a trap");
	call_all(rounds);
	put_number(rounds * (long)NR_ALL);
	put(" calls\n");
}

/* Every instruction traps behind itself: also those in slots. */
static void run_steps(long rounds)
{
	set_handler(SIGTRAP, on_trap);
	for (long i = 0; i < rounds; i++) {
		__asm__ volatile("pushf\n orq $0x100, (%%rsp)\n popf\n" : : : "memory", "cc");
		f_push(i);
		f_lea(i);
		if (f_marker(i) != i + 1)
			die("a stepped result");
		__asm__ volatile("pushf\n andq $~0x100, (%%rsp)\n popf\n" : : : "memory", "cc");
	}
	if (nr_traps < rounds * 8)
		die("a step");
	put_number(rounds * 3);
	put(" calls\n");
}

/* The text as the program reads it, and the counter. */
static void run_look(long rounds)
{
	(void)rounds;
	put_number(*(const volatile uint8_t *)f_nop);
	put(" ");
	put_number(f_counter);
	put("\n");
}

/* Faults at the first instruction of f_touch(). */
static void run_touch(long rounds)
{
	long pages = syscall6(NR_MMAP, 0, rounds * 4096, 3, 0x22, -1, 0);

	for (long i = 0; i < rounds; i++)
		f_touch(pages + i * 4096);
	put_number(rounds);
	put(" calls\n");
}

/* ---- Text of its own ---- */

#define PROGRAM	   "/bin/probed"
#define PAGE	   4096ul
#define LINKED_AT  0x400000ul
#define TEXT_BEGIN ((unsigned long)f_nop & ~(PAGE - 1))
#define TEXT_BYTES ((((unsigned long)f_touch | (PAGE - 1)) + 1) - TEXT_BEGIN)

/* Those that run anywhere: they ask for no data. */
static const probed_fn alone[] = { f_nop, f_push, f_jmp,   f_jcc,   f_call,
				   f_ret, f_loop, f_pushf, f_marker };
#define NR_ALONE (sizeof(alone) / sizeof(alone[0]))

static long map_text(void)
{
	long fd = CALL2(NR_OPEN, PROGRAM, 0);
	long at = syscall6(NR_MMAP, 0, TEXT_BYTES, 5, 2, fd, TEXT_BEGIN - LINKED_AT);

	if (at <= 0)
		die("a mapping");
	CALL1(NR_CLOSE, fd);
	return at;
}

static void call_in(long text, probed_fn function)
{
	if (((probed_fn)((unsigned long)function - TEXT_BEGIN + text))(1) != 2)
		die("a result elsewhere");
}

/* Code that calls the trampoline moves away, and back. */
static void run_move(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		long at = map_text(), to = map_text();

		call_in(at, f_marker);
		call_in(at, f_marker);
		if (syscall6(NR_MREMAP, at, TEXT_BYTES, TEXT_BYTES, 3, to, 0) != to)
			die("mremap");
		call_in(to, f_marker);
		call_in(to, f_marker);
		if (syscall6(NR_MREMAP, to, TEXT_BYTES, TEXT_BYTES, 3, at, 0) != at)
			die("mremap back");
		call_in(at, f_marker);
		CALL2(NR_MUNMAP, at, TEXT_BYTES);
	}
	put_number(rounds * 5);
	put(" calls\n");
}

static void put_marker(void)
{
	for (size_t i = 0; i < sizeof(f_marker_at); i++) {
		put_number(f_marker_at[i]);
		put(i + 1 < sizeof(f_marker_at) ? " " : "\n");
	}
}

/* The marker as the program reads it, `rounds` calls later. */
static void run_marker(long rounds)
{
	for (long i = 0; i < rounds; i++)
		f_marker(i);
	put_marker();
}

/* Of a program that another one traces; its breakpoint could be there. */
static void run_traced(long rounds)
{
	long pid = CALL0(NR_FORK);

	if (pid) {
		wait_child(pid);
		return;
	}
	if (CALL4(NR_PTRACE, 0, 0, 0, 0))
		die("ptrace");
	run_marker(rounds);
	sys_exit(0);
}

/* No page is free near the program's text. */
static void run_full(long rounds)
{
	if (syscall6(NR_MMAP, 0x10000, LINKED_AT - 0x10000, 0, 0x32, -1, 0) != 0x10000)
		die("a mapping");
	run_marker(rounds);
}

/* The trampoline's system call, from elsewhere. */
static void run_enters(long rounds)
{
	(void)rounds;
	put_number(-CALL0(336));
	put("\n");
}

/* Its file is mapped once more, called there, and unmapped. */
static void run_remap(long rounds)
{
	for (long i = 0; i < rounds; i++) {
		long at = map_text();

		for (size_t k = 0; k < NR_ALONE; k++) {
			if (((probed_fn)((unsigned long)alone[k] - TEXT_BEGIN + at))(i) != i + 1)
				die("a result elsewhere");
		}
		CALL2(NR_MUNMAP, at, TEXT_BYTES);
	}
	put_number(rounds * (long)NR_ALONE);
	put(" calls\n");
}

/* It writes to the pages of its text, behind a jump: each has the page for itself then. */
static void run_rewrite(long rounds)
{
	volatile uint8_t *unreached = (volatile uint8_t *)f_jmp + 2;

	for (long i = 0; i < rounds; i++) {
		if (CALL3(NR_MPROTECT, TEXT_BEGIN, TEXT_BYTES, 7))
			die("a page that may be written");
		*unreached ^= 0x55;
		if (CALL3(NR_MPROTECT, TEXT_BEGIN, TEXT_BYTES, 5))
			die("a page");
		call_all(1);
	}
	put_number(rounds * (long)NR_ALL);
	put(" calls\n");
}

static void run_exec(long rounds)
{
	static char digits[12];
	char *at = digits + sizeof(digits) - 1;
	const char *argv[] = { PROGRAM, "exec", NULL, NULL };

	call_all(1);
	if (rounds <= 1) {
		put("executed\n");
		return;
	}
	for (rounds--; rounds; rounds /= 10)
		*--at = (char)('0' + rounds % 10);
	argv[2] = at;
	CALL3(NR_EXECVE, PROGRAM, argv, argv + 3);
	die("exec");
}

static const struct {
	const char *name;
	void (*run)(long rounds);
} modes[] = {
	{ "all", run_all },	    { "fork", run_fork },	{ "forks", run_forks },
	{ "threads", run_threads }, { "longjmp", run_longjmp }, { "signals", run_signals },
	{ "int3", run_int3 },	    { "steps", run_steps },	{ "look", run_look },
	{ "exec", run_exec },	    { "touch", run_touch },	{ "remap", run_remap },
	{ "rewrite", run_rewrite }, { "move", run_move },	{ "marker", run_marker },
	{ "traced", run_traced },   { "full", run_full },	{ "enters", run_enters },
};

void main_program(long *sp)
{
	const char *const *argv = (const char *const *)(sp + 1);
	long rounds = 0;

	for (const char *at = *sp > 2 ? argv[2] : "100"; *at; at++)
		rounds = rounds * 10 + (*at - '0');
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]) && *sp > 1; i++) {
		if (text_equal(argv[1], modes[i].name)) {
			modes[i].run(rounds);
			sys_exit(0);
		}
	}
	put("probed: no such mode\n");
	sys_exit(2);
}
