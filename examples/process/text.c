/*
 * Makes the text of the program one that the library can change. It is copied into a file in
 * memory, and this is mapped twice: in place of the text, readable and executable, and elsewhere,
 * writable. No page can be written at the address where it is executed.
 *
 * All threads see a write after process_sync_cores(), which is membarrier() with SYNC_CORE. A
 * kernel would send an interrupt to all its CPUs for this.
 */
#define _GNU_SOURCE
#include <elf.h>
#include <linux/membarrier.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <trace/arch_breakpoint.h>
#include <trace/arch_text.h>
#include <ucontext.h>
#include <unistd.h>
#include "cpu.h"
#include "process.h"

struct process_text process_text;

__asm__(".pushsection .text\n"
	".balign 64\n"
	".globl process_exec_start, process_exec_end\n"
	"process_exec_start:\n"
	".skip 16384, 0xcc\n"
	"process_exec_end:\n"
	".popsection\n");

/* ---- The core sync ---- */

static long membarrier(int command)
{
	return syscall(SYS_membarrier, command, 0, 0);
}

void process_sync_cores(void)
{
	if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_SYNC_CORE))
		die("membarrier failed");
}

/* ---- The int3 ---- */

/* What answers may be freed after a grace period; no such period ends while the count is raised. */
static bool answer_int3(uintptr_t *rip, uintptr_t *rsp)
{
	bool is_answered;

	THIS_CPU(preempt_count) += PROCESS_IN_SIGNAL;
	is_answered = trace_breakpoint_dispatch(rip, rsp, NULL);
	THIS_CPU(preempt_count) -= PROCESS_IN_SIGNAL;
	return is_answered;
}

/*
 * A thread ran into the int3 at a site that is being changed: it goes on as the new instruction
 * says. For a call the library pushes a return address onto the interrupted stack; there is room,
 * because Linux leaves 128 bytes below the stack pointer free, for a signal, too.
 *
 * A signal handler does not hold back the core sync, as an interrupt would in a kernel. So whole
 * batches may begin and end while it runs, and then nobody answers: the site is executed again. If
 * no batch has begun meanwhile the int3 is not ours, and ends the program, as it would without us.
 */
static void on_trap(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	uintptr_t rip = (uintptr_t)regs[REG_RIP], rsp = (uintptr_t)regs[REG_RSP];
	struct trace_poke_stats before, after;

	trace_plat_poke_stats(&before);
	if (info->si_code == SI_KERNEL && answer_int3(&rip, &rsp)) {
		regs[REG_RIP] = (greg_t)rip;
		regs[REG_RSP] = (greg_t)rsp;
		return;
	}
	trace_plat_poke_stats(&after);
	if (info->si_code == SI_KERNEL && after.batches != before.batches) {
		regs[REG_RIP]--;
		return;
	}
	sigaction(SIGTRAP, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
	raise(signal); /* when this handler has returned */
}

/* ---- The two mappings ---- */

/* Find the pages of the program that can be executed: one segment, as its headers say. */
static void find_text(void)
{
	const Elf64_Phdr *segment = (const Elf64_Phdr *)getauxval(AT_PHDR);
	size_t page = (size_t)getpagesize();

	for (size_t nr = getauxval(AT_PHNUM); nr--; segment++) {
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		process_text.start = segment->p_vaddr / page * page;
		process_text.end = (segment->p_vaddr + segment->p_memsz + page - 1) / page * page;
		return;
	}
	die("no text");
}

static void map_text(void)
{
	void *text = (void *)process_text.start, *view;
	size_t bytes = process_text.end - process_text.start;
	int fd = memfd_create("text", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)bytes))
		die("no memory for text");
	view = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (view == MAP_FAILED)
		die("no view of text");
	memcpy(view, text, bytes);
	if (mmap(text, bytes, PROT_READ | PROT_EXEC, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED)
		die("cannot map text");
	close(fd);
	process_text.view_offset = (char *)view - (char *)text;
}

bool text_init(void)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO };

	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE))
		return false;
	find_text();
	map_text();
	sigfillset(&action.sa_mask);
	sigaction(SIGTRAP, &action, NULL);
	return true;
}
