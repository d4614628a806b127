/*
 * Programs of the fake machine, for probes in them: a file, and a few programs that have mapped it.
 *
 *   fake_program_file   "/bin/prog", "/lib/link" and "/lib64/libprog.so.3": FAKE_PROGRAM_PAGES pages, offset 0 is at FAKE_PROGRAM_BASE in each program
 *   a stack             FAKE_PROGRAM_WORDS words at FAKE_PROGRAM_STACK in each program
 *
 * Each byte of the file is an instruction that does nothing; 0xbb cannot be probed, 0xdd is none, 0xee begins one of two. A page comes into
 * a program by fake_program_touch(). Executing and all memory of <trace/uprobe.h> is that of the program
 * fake_program.
 *
 * Context: a test. To be included by one test file, behind tracefs.h.
 */
#ifndef PROGRAMS_H
#define PROGRAMS_H

#include <trace/errno.h>
#include <trace/platform_uprobes.h>
#include <trace/uprobe.h>

#define FAKE_PROGRAMS	   4
#define FAKE_PROGRAM_PAGES 4
#define FAKE_PROGRAM_BASE  0x400000ul
#define FAKE_PROGRAM_STACK 0x70000000ul
#define FAKE_PROGRAM_WORDS 64
#define FAKE_TRAMPOLINE	   0x60000000ul
#define FAKE_PROGRAM_PATH  "/bin/prog"
#define FAKE_PROGRAM_LINK  "/lib/link"		 /* another name of the file */
#define FAKE_PROGRAM_LIB   "/lib64/libprog.so.3" /* a third one */

#define FILE_ID	   77u
#define BREAKPOINT 0xccu
#define NO_PROBE   0xbbu
#define NO_INSN	   0xddu
#define TWO_BYTES  0xeeu

struct uprobe_file {
	int unused;
};

struct program {
	uint8_t page[FAKE_PROGRAM_PAGES][TRACE_UPROBE_PAGE];
	bool has_page[FAKE_PROGRAM_PAGES];
	uint64_t seq;
	uintptr_t stack[FAKE_PROGRAM_WORDS];
};

static struct program programs[FAKE_PROGRAMS];
static uint64_t last_seq;
static struct uprobe_file the_file;

static uint8_t fake_program_file[FAKE_PROGRAM_PAGES * TRACE_UPROBE_PAGE];
static int fake_program; /* the running one */
static int fake_file_refs;
static int
	fake_edit_budget; /* programs until there is no memory for their pages; negative: enough */
static int fake_nr_edits; /* calls of edit() */
static int fake_nr_locates;	/* calls of locate() */
static int fake_nr_steps;	/* instructions at probes */
static bool fake_no_trampoline; /* there is no memory for it */

/* ---- Files ---- */

/* The directory is /bin. A path without a slash in front has no `..`. */
static int program_file_path(const char *path, char *out_path, size_t bytes)
{
	const char *name = strncmp(path, "./", 2) == 0 ? path + 2 : path;
	int len = snprintf(out_path, bytes, "%s%s", *path == '/' ? "" : "/bin/", name);

	return len < (int)bytes ? 0 : -ENAMETOOLONG;
}

static int program_file_get(const char *path, struct uprobe_file **out_file)
{
	char whole[64];

	if (program_file_path(path, whole, sizeof(whole)))
		return -ENAMETOOLONG;
	if (strcmp(whole, "/bin") == 0)
		return -EINVAL;
	if (strcmp(whole, FAKE_PROGRAM_PATH) != 0 && strcmp(whole, FAKE_PROGRAM_LINK) != 0 &&
	    strcmp(whole, FAKE_PROGRAM_LIB) != 0)
		return -ENOENT;
	fake_file_refs++;
	*out_file = &the_file;
	return 0;
}

static struct uprobe_file *program_file_hold(struct uprobe_file *file)
{
	fake_file_refs++;
	return file;
}

static void program_file_put(struct uprobe_file *file)
{
	(void)file;
	fake_file_refs--;
}

static uint64_t program_file_id(const struct uprobe_file *file)
{
	(void)file;
	return FILE_ID;
}

static uint64_t program_file_bytes(struct uprobe_file *file)
{
	(void)file;
	return sizeof(fake_program_file);
}

static size_t program_file_read(struct uprobe_file *file, uint64_t offset, void *to, size_t bytes)
{
	(void)file;
	if (offset >= sizeof(fake_program_file))
		return 0;
	if (bytes > sizeof(fake_program_file) - offset)
		bytes = sizeof(fake_program_file) - offset;
	memcpy(to, fake_program_file + offset, bytes);
	return bytes;
}

/* ---- Mappings ---- */

static int program_edit(uint64_t file, const struct trace_uprobe_edit *edits, size_t nr,
			uint64_t seq, uint64_t base)
{
	fake_nr_edits++;
	if (file != FILE_ID || seq != last_seq + 1)
		abort();
	last_seq = seq;
	for (int i = 0; i < FAKE_PROGRAMS; i++) {
		struct program *program = &programs[i];

		if (!base && fake_edit_budget >= 0 && fake_edit_budget-- == 0)
			return -ENOMEM;
		for (size_t k = 0; k < nr && program->seq >= base; k++) {
			uint64_t page = edits[k].offset / TRACE_UPROBE_PAGE;

			if (k && edits[k].offset < edits[k - 1].offset)
				abort();
			if (program->has_page[page])
				trace_uprobe_edit_apply(&edits[k], program->page[page]);
		}
		program->seq = seq;
	}
	return 0;
}

/* The running program gets a page. */
HELPER void fake_program_touch(unsigned int page)
{
	struct program *program = &programs[fake_program];

	if (program->has_page[page])
		return;
	memcpy(program->page[page], fake_program_file + page * TRACE_UPROBE_PAGE,
	       TRACE_UPROBE_PAGE);
	program->has_page[page] = true;
	if (uprobe_in_page(FILE_ID, page))
		uprobe_arm_page(FILE_ID, page, program->page[page], program->seq);
}

/* It loses the page. */
HELPER void fake_program_drop(unsigned int page)
{
	programs[fake_program].has_page[page] = false;
	uprobe_maps_changed();
}

/* A byte of a program; NULL: it does not have the page. */
HELPER uint8_t *fake_program_byte(int program, uint64_t offset)
{
	return programs[program].has_page[offset / TRACE_UPROBE_PAGE]
		       ? &programs[program]
				  .page[offset / TRACE_UPROBE_PAGE][offset % TRACE_UPROBE_PAGE]
		       : NULL;
}

/* The program `to` becomes a copy of the running one. */
HELPER void fake_program_fork(int to)
{
	programs[to] = programs[fake_program];
}

static bool program_locate(uintptr_t addr, uint64_t *out_file, uint64_t *out_offset)
{
	fake_nr_locates++;
	*out_file = FILE_ID;
	*out_offset = addr - FAKE_PROGRAM_BASE;
	return addr - FAKE_PROGRAM_BASE < sizeof(fake_program_file);
}

static uintptr_t program_address(uint64_t file, uint64_t offset, uintptr_t addr)
{
	(void)addr;
	return file == FILE_ID && offset < sizeof(fake_program_file) ? FAKE_PROGRAM_BASE + offset
								     : 0;
}

HELPER uintptr_t *fake_program_word(uint32_t word)
{
	return &programs[fake_program].stack[word];
}

/* The memory of the running program; NULL: it has none there. */
static void *program_memory(uintptr_t addr, size_t bytes)
{
	uintptr_t in_file = addr - FAKE_PROGRAM_BASE, in_stack = addr - FAKE_PROGRAM_STACK;

	if (in_stack < sizeof(programs->stack) && bytes <= sizeof(programs->stack) - in_stack)
		return (char *)programs[fake_program].stack + in_stack;
	if (in_file >= sizeof(fake_program_file) ||
	    bytes > TRACE_UPROBE_PAGE - in_file % TRACE_UPROBE_PAGE)
		return NULL;
	fake_program_touch((unsigned int)(in_file / TRACE_UPROBE_PAGE));
	return fake_program_byte(fake_program, in_file);
}

static bool program_read(void *to, uintptr_t from, size_t bytes)
{
	const void *at = program_memory(from, bytes);

	if (at)
		memcpy(to, at, bytes);
	return at;
}

static bool program_write(uintptr_t to, const void *from, size_t bytes)
{
	void *at = program_memory(to, bytes);

	if (at)
		memcpy(at, from, bytes);
	return at;
}

/* ---- Machine ---- */

static const char *program_prepare(const uint8_t *bytes, size_t len,
				   struct trace_uprobe_insn *out_insn)
{
	memset(out_insn, 0, sizeof(*out_insn));
	if (!len || bytes[0] == NO_INSN)
		return "no instruction begins there";
	out_insn->bytes[0] = bytes[0];
	out_insn->len = bytes[0] == TWO_BYTES ? 2 : 1;
	return bytes[0] == NO_PROBE || bytes[0] == BREAKPOINT ? "the instruction is there to trap"
							      : NULL;
}

static void program_step(const struct trace_uprobe_insn *insn, struct ftrace_regs *regs,
			 uintptr_t *remembered)
{
	(void)remembered;
	fake_nr_steps++;
	ftrace_regs_set_instruction_pointer(regs,
					    ftrace_regs_get_instruction_pointer(regs) + insn->len);
}

static bool program_trampoline(uintptr_t *out_addr)
{
	*out_addr = FAKE_TRAMPOLINE;
	return !fake_no_trampoline;
}

static const struct trace_uprobe_host host = {
	.file_get = program_file_get,
	.file_path = program_file_path,
	.file_hold = program_file_hold,
	.file_put = program_file_put,
	.file_id = program_file_id,
	.file_bytes = program_file_bytes,
	.file_read = program_file_read,
	.edit = program_edit,
	.locate = program_locate,
	.address = program_address,
	.read = program_read,
	.write = program_write,
	.prepare = program_prepare,
	.step = program_step,
	.trampoline = program_trampoline,
	.breakpoint = BREAKPOINT,
};

/* No program has any page, and the file is 0x90s. The host has programs from now on. */
HELPER void fake_programs_start(void)
{
	memset(programs, 0, sizeof(programs));
	memset(fake_program_file, 0x90, sizeof(fake_program_file));
	for (int i = 0; i < FAKE_PROGRAMS; i++)
		programs[i].seq = last_seq;
	fake_program = 0;
	fake_file_refs = 0;
	fake_edit_budget = -1;
	fake_nr_edits = fake_nr_locates = fake_nr_steps = 0;
	fake_no_trampoline = false;
	fake_uprobes = &host;
}

/* ---- Executing ---- */

/* Execute the instruction at the offset. False: there is a breakpoint that is no probe's. */
HELPER bool fake_program_step(uint64_t offset, struct ftrace_regs *regs)
{
	fake_program_touch((unsigned int)(offset / TRACE_UPROBE_PAGE));
	regs->rip = FAKE_PROGRAM_BASE + offset;
	for (;;) {
		uint8_t byte = *fake_program_byte(fake_program, offset);

		if (byte != BREAKPOINT) {
			regs->rip++;
			return true;
		}
		if (!uprobe_hit(regs))
			return false;
		if (regs->rip != FAKE_PROGRAM_BASE + offset)
			return true;
	}
}

/* Call the function at the offset from `ret`, with the return address in that word of the stack. */
HELPER void fake_program_call(uint64_t offset, uint32_t word, uintptr_t ret)
{
	struct ftrace_regs regs = { .slot = (uintptr_t *)(FAKE_PROGRAM_STACK +
							  word * sizeof(uintptr_t)) };

	if (ret)
		*fake_program_word(word) = ret;
	if (!fake_program_step(offset, &regs))
		abort();
}

/* Return by the address in that word. */
HELPER uintptr_t fake_program_return(uint32_t word, uint64_t value)
{
	struct ftrace_regs regs = {
		.rip = *fake_program_word(word),
		.value = value,
		.slot = (uintptr_t *)(FAKE_PROGRAM_STACK + (word + 1) * sizeof(uintptr_t)),
	};

	if (regs.rip == FAKE_TRAMPOLINE && !uprobe_return(&regs))
		abort();
	return regs.rip;
}

#endif
