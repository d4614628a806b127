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
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <trace/arch_host.h>
#include <trace/ftrace.h>
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

/* ---- Probes ---- */

/* A part that the compiler moved away from function NAME is called NAME.cold, or NAME.cold.0. */
static uintptr_t whole_function(char *name, uintptr_t start)
{
	char *cold = strstr(name, ".cold");
	uintptr_t found;

	if (!cold)
		return start;
	*cold = '\0';
	found = trace_plat_symbol_find(name);
	return found ? found : start;
}

/* Handlers run through the library and what its host offers: none of this has call sites. */
const char *trace_plat_probe_refusal(uintptr_t addr, size_t len)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	(void)len;
	if (!trace_arch_is_text(addr))
		return "it is not in the program's code";
	if (addr >= trace_arch_exec_start() &&
	    addr < trace_arch_exec_start() + trace_arch_exec_bytes())
		return "it is code that tracing has made itself";
	if (!trace_plat_symbol(addr, name, &start, &bytes))
		return "there is no function";
	if (!ftrace_location(whole_function(name, start)))
		return "the function has no call site: a handler may run through it";
	return NULL;
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
	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_SYNC_CORE))
		return false;
	find_text();
	map_text();
	return true;
}
