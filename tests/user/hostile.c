/*
 * hostile NAME: does one thing that no program may do, or that an unwary kernel stumbles over. If the
 * program is still there afterwards, it prints "still here" and ends with status 0.
 */
#include "nolib.h"

#define KERNEL_TEXT   0xffffffff80100000ul
#define DIRECT_MAP    0xffff888000000000ul
#define NOT_CANONICAL 0x0000800000000000ul
#define LAST_PAGE     0x00007ffffffff000ul

#define INSN(name, ...)                                                                            \
	static void name(void)                                                                     \
	{                                                                                          \
		__asm__ volatile(__VA_ARGS__);                                                     \
	}

INSN(do_in, "inb $0x60, %%al" : : : "rax")
INSN(do_out, "outb %%al, $0xf4" : : "a"(7))
INSN(do_cli, "cli" :)
INSN(do_hlt, "hlt" :)
INSN(do_rdmsr, "rdmsr" : : "c"(0xc0000080) : "rax", "rdx")
INSN(do_wrmsr, "wrmsr" : : "c"(0xc0000082), "a"(0), "d"(0))
INSN(do_cr3, "mov %%cr3, %%rax" : : : "rax")
INSN(do_dr7, "mov %%rax, %%dr7" : : "a"(0x401))
INSN(do_swapgs, "swapgs" :)
INSN(do_wrgsbase, "wrgsbase %%rax" : : "a"(KERNEL_TEXT))
INSN(do_xsetbv, "xsetbv" : : "a"(1), "d"(0), "c"(0))
INSN(do_int3, "int3" :)
INSN(do_int80, "int $0x80" : : "a"(1))
INSN(do_int14, "int $14" :)
INSN(do_int2, "int $2" :)
INSN(do_sysenter, "sysenter" :)
INSN(do_ud2, "ud2" :)
INSN(do_divide, "div %%ecx" : : "a"(1), "c"(0), "d"(0))
INSN(do_step, "pushfq; orq $0x100, (%%rsp); popfq; nop; nop" : : : "memory", "cc")
INSN(do_jump_kernel, "jmp *%%rax" : : "a"(KERNEL_TEXT))
INSN(do_jump_hole, "jmp *%%rax" : : "a"(NOT_CANONICAL))
INSN(do_push_hole, "mov %%rax, %%rsp; push %%rax" : : "a"(NOT_CANONICAL + 64))
INSN(do_null, "movb $1, (%%rax)" : : "a"(0))
INSN(do_read_kernel, "movb (%%rax), %%al" : : "a"(KERNEL_TEXT))
INSN(do_write_kernel, "movb $1, (%%rax)" : : "a"(DIRECT_MAP + 0x100000))
INSN(do_write_text, "movb $1, (%%rax)" : : "a"(main_program))
INSN(do_iret_kernel,
     "pushq $0x10; pushq %%rsp; pushfq; pushq $0x08; lea 1f(%%rip), %%rax; pushq %%rax; iretq; 1:"
     :
     :
     : "rax", "memory")
INSN(do_far_jump, "pushq $0x23; lea 1f(%%rip), %%rax; pushq %%rax; lretq; 1:" : : : "rax", "memory")

/* These leave the program alive. */
INSN(do_step_call, "pushfq; orq $0x100, (%%rsp); popfq; syscall"
     :
     : "a"(39)
     : "rcx", "r11", "memory", "cc")
INSN(do_flags,
     "pushfq; orq $0x44400, (%%rsp); popfq; syscall; cld; pushfq; andq $~0x44000, (%%rsp); popfq"
     :
     : "a"(39)
     : "rcx", "r11", "memory", "cc")
INSN(do_kernel_rsp, "mov %%rsp, %%rbx; mov %%rdx, %%rsp; syscall; mov %%rbx, %%rsp"
     :
     : "a"(39), "d"(KERNEL_TEXT)
     : "rbx", "rcx", "r11", "memory")
INSN(do_nmi_rsp, "mov %%rsp, %%rbx; mov %%rdx, %%rsp; mov $30000000, %%ecx; 1: dec %%ecx; jnz 1b; "
		 "mov %%rbx, %%rsp"
     :
     : "d"(0xffffffffd000f000ul)
     : "rbx", "rcx", "cc")
INSN(do_segments,
     "mov %%eax, %%ds; mov %%eax, %%es; mov %%eax, %%fs; mov %%eax, %%gs; mov $39, %%eax; syscall"
     :
     : "a"(0x2b)
     : "rcx", "r11", "memory")
INSN(do_null_segments, "mov %%eax, %%ds; mov %%eax, %%gs; mov $39, %%eax; syscall"
     :
     : "a"(0)
     : "rcx", "r11", "memory")

static char mov_ss_word[8] __attribute__((aligned(8)));

/* With a watchpoint on the word, #DB comes at the first instruction of the kernel's entry. */
static void do_mov_ss(void)
{
	long nr;

	mov_ss_word[0] = 0x2b;
	for (int i = 0; i < 100; i++) {
		nr = NR_GETPID; /* the call puts its result there */
		__asm__ volatile("mov %1, %%ss; syscall"
				 : "+a"(nr)
				 : "m"(*(short *)mov_ss_word)
				 : "rcx", "r11", "memory");
	}
	for (int i = 0; i < 100; i++)
		__asm__ volatile("mov %0, %%ds; mov %0, %%ss; nop"
				 :
				 : "m"(*(short *)mov_ss_word)
				 : "memory");
}

static void do_mov_ss_int3(void)
{
	mov_ss_word[0] = 0x2b;
	__asm__ volatile("mov %0, %%ss; int3" : : "m"(*(short *)mov_ss_word) : "memory");
}

static void do_execute_data(void)
{
	static char code[] = { (char)0xc3, 0 };

	((void (*)(void))(void *)code)();
}

static void do_last_page(void)
{
	long at = syscall6(NR_MMAP, LAST_PAGE, 4096, 7, 0x32, -1, 0);

	if (at >= 0)
		sys_exit(99);
	at = syscall6(NR_MMAP, LAST_PAGE - 4096, 4096, 7, 0x32, -1, 0);
	if (at != (long)(LAST_PAGE - 4096))
		sys_exit(98);
	/* a system call whose return address is the first that is never mapped */
	((char *)LAST_PAGE)[-2] = 0x0f;
	((char *)LAST_PAGE)[-1] = 0x05;
	__asm__ volatile("jmp *%%rdx" : : "a"(NR_GETPID), "d"(LAST_PAGE - 2));
}

static long deeper(volatile long n)
{
	volatile char frame[4096];

	frame[0] = (char)n;
	return n < 0 ? 0 : deeper(n + 1) + frame[0];
}

static void do_deep(void)
{
	sys_exit((int)deeper(0));
}

/* All numbers of calls, with pointers that are bad in many ways. */
static void do_bad_pointers(void)
{
	static const unsigned long values[] = {
		0,	    1,		 0xffful, 0x10000,    LAST_PAGE - 1, NOT_CANONICAL,
		DIRECT_MAP, KERNEL_TEXT, ~0ul,	  ~0ul - 4095
	};
	static const long left_out[] = { 15,  23,  34,	35,  56,  57,  58,  60,	 61,  62,  7,
					 130, 200, 230, 231, 232, 234, 270, 271, 281, 435, 247 };

	for (long nr = 0; nr < 600; nr++) {
		int is_left_out = nr == NR_READ || nr == NR_MMAP || nr == NR_MUNMAP ||
				  nr == NR_MPROTECT || nr == 3;

		for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++)
			is_left_out |= nr == left_out[i];
		for (size_t i = 0; i < sizeof(values) / sizeof(values[0]) && !is_left_out; i++) {
			long v = (long)values[i];

			syscall6(nr, v, v, v, v, v, v);
			syscall6(nr, 1, v, 4096, v, 4096, v);
			syscall6(nr, -100, v, v, 4096, v, 0);
		}
	}
}

/* Bytes that reach to the end of memory, and one further. */
static void do_page_end(void)
{
	long page = syscall6(NR_MMAP, 0, 8192, 3, 0x22, -1, 0);
	char *end = (char *)page + 4096;

	CALL2(NR_MUNMAP, end, 4096);
	end[-1] = '\n';
	if (CALL3(NR_WRITE, 1, end - 1, 1) != 1 || CALL3(NR_WRITE, 1, end - 1, 2) != -14)
		sys_exit(97);
	if (CALL3(NR_WRITE, 1, end, 1) != -14 || CALL3(NR_WRITE, 1, KERNEL_TEXT, 1) != -14)
		sys_exit(96);
	if (CALL2(NR_ARCH_PRCTL, 0x1003, KERNEL_TEXT) != -14 ||
	    CALL2(NR_ARCH_PRCTL, 0x1002, KERNEL_TEXT) != -1)
		sys_exit(95);
}

static void do_spin(void)
{
	for (;;)
		;
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{ "in", do_in },
	{ "out", do_out },
	{ "cli", do_cli },
	{ "hlt", do_hlt },
	{ "rdmsr", do_rdmsr },
	{ "wrmsr", do_wrmsr },
	{ "cr3", do_cr3 },
	{ "dr7", do_dr7 },
	{ "swapgs", do_swapgs },
	{ "wrgsbase", do_wrgsbase },
	{ "xsetbv", do_xsetbv },
	{ "int3", do_int3 },
	{ "int80", do_int80 },
	{ "int14", do_int14 },
	{ "int2", do_int2 },
	{ "sysenter", do_sysenter },
	{ "ud2", do_ud2 },
	{ "divide", do_divide },
	{ "step", do_step },
	{ "step_call", do_step_call },
	{ "jump_kernel", do_jump_kernel },
	{ "jump_hole", do_jump_hole },
	{ "push_hole", do_push_hole },
	{ "null", do_null },
	{ "read_kernel", do_read_kernel },
	{ "write_kernel", do_write_kernel },
	{ "write_text", do_write_text },
	{ "iret_kernel", do_iret_kernel },
	{ "far_jump", do_far_jump },
	{ "flags", do_flags },
	{ "kernel_rsp", do_kernel_rsp },
	{ "nmi_rsp", do_nmi_rsp },
	{ "segments", do_segments },
	{ "null_segments", do_null_segments },
	{ "mov_ss", do_mov_ss },
	{ "mov_ss_int3", do_mov_ss_int3 },
	{ "execute_data", do_execute_data },
	{ "last_page", do_last_page },
	{ "deep", do_deep },
	{ "bad_pointers", do_bad_pointers },
	{ "page_end", do_page_end },
	{ "spin", do_spin },
};

void main_program(long *sp)
{
	const char *name = ((char **)(sp + 1))[1];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (text_equal(name, cases[i].name)) {
			cases[i].run();
			put("still here\n");
			sys_exit(0);
		}
	}
	sys_exit(100);
}
