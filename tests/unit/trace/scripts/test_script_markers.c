/* Scripts at markers of programs: notes of a file in ELF, and each way in which an argument is written. */
#include "unit.h"
#include "allocations.h"
#include "fake/fake.h"
#include "script_help.h"
#include "programs.h"
#include "program_elf.h"
#include <sys/mman.h>
#include <trace/thread.h>

#define PID	    100
#define NOTES_AT    0x500u
#define NOTES_BYTES 0xb00u
#define SECTION_AT  (0x200 + 2 * sizeof(Elf64_Shdr)) /* of the notes */
#define SEMAPHORE   0x1100u
#define ADDR(at)    (FAKE_PROGRAM_BASE + (at))

/* ---- The file ---- */

static uint32_t notes_end;

static void note_put(const void *from, size_t bytes)
{
	memcpy(fake_program_file + notes_end, from, bytes);
	notes_end += (uint32_t)bytes;
}

/* A note whose last `cut` bytes are missing. */
static void note_cut(uint64_t at, uint64_t semaphore, const char *words, size_t bytes, uint32_t cut)
{
	const uint64_t numbers[] = { ADDR(at), ADDR(0x1800), semaphore ? ADDR(semaphore) : 0 };
	const uint32_t head[] = { 8, (uint32_t)(sizeof(numbers) + bytes) - cut, 3 };

	note_put(head, sizeof(head));
	note_put("stapsdt", 8);
	note_put(numbers, sizeof(numbers));
	note_put(words, bytes - cut);
	notes_end = (notes_end + 3) / 4 * 4;
}

#define NOTE(at, semaphore, words) note_cut(at, semaphore, words, sizeof(words), 0)

static void section_set(uint32_t type, uint64_t bytes)
{
	const Elf64_Shdr section = { .sh_type = type, .sh_offset = NOTES_AT, .sh_size = bytes };

	memcpy(fake_program_file + SECTION_AT, &section, sizeof(section));
	((Elf64_Ehdr *)(void *)fake_program_file)->e_shnum = 3;
}

static void notes_begin(void)
{
	program_elf_make();
	memset(fake_program_file + NOTES_AT, 0, NOTES_BYTES);
	section_set(SHT_NOTE, NOTES_BYTES);
	notes_end = NOTES_AT;
}

/* ---- Host ---- */

static int reset(void **state)
{
	int err = script_reset(state);

	fake_thread_add(PID, "prog");
	fake_programs_start();
	fake_run(PID);
	notes_begin();
	return err;
}

static int check(void **state)
{
	fake_run(PID);
	trace_thread_exited(PID, "prog");
	fake_thread_exit(PID);
	fake_run(1);
	assert_int_equal(fake_file_refs, 0);
	fake_uprobes = NULL;
	return script_check(state);
}

static void refused(const char *text, int want, const char *why)
{
	struct trace_script *script;
	long out = fake_alloc_out;
	int err = trace_script_create(text, NULL, &script, &script_error);

	if (err != want || strcmp(script_error.why, why))
		fail_msg("%s: %d %s", text, err, script_error.why);
	assert_int_equal(fake_alloc_out, out);
	assert_int_equal(fake_file_refs, 0);
}

static struct ftrace_regs regs;

static void step(uint64_t at)
{
	assert_true(fake_program_step(at, &regs));
}

static uint16_t semaphore(void)
{
	fake_program_touch(SEMAPHORE / TRACE_UPROBE_PAGE);
	return *(uint16_t *)(void *)fake_program_byte(0, SEMAPHORE);
}

/* ---- Words ---- */

static void steps(void)
{
	step(0x1010);
	step(0x1011);
	step(0x1011);
	step(0x1012);
}

static void words(void **state)
{
	(void)state;
	NOTE(0x1010, 0, "shop\0open\0");
	NOTE(0x1011, 0, "shop\0sold\0");
	NOTE(0x1012, 0, "depot\0sold\0");
	assert_string_equal(
		script_run("usdt:/bin/prog:shop:open { @[probe, func] = count() }", steps),
		"@[usdt:/bin/prog:shop:open, 0x401010]: 1\n");
	assert_string_equal(script_run("usdt:/bin/prog:sold { @[probe] = count() }", steps),
			    "@[usdt:/bin/prog:depot:sold]: 1\n@[usdt:/bin/prog:shop:sold]: 2\n");
	assert_string_equal(script_run("U:/bin/prog:s*:* { @[probe] = count() }", steps),
			    "@[usdt:/bin/prog:shop:open]: 1\n@[usdt:/bin/prog:shop:sold]: 2\n");
	assert_string_equal(
		script_run("usdt:/bin/prog:*p*:so?d/pid == 100/ { @ = count() }", steps), "@: 3\n");
	refused("usdt:/bin/prog:shop:shut { }", -ENOENT,
		"no marker of the file matches 'shop:shut'");
	refused("usdt:/bin/prog:shut { }", -ENOENT, "no marker of the file matches 'shut'");
	refused("usdt:/bin/prog { }", -EINVAL, "a marker is PATH:PROVIDER:NAME or PATH:NAME");
	refused("usdt:/bin/prog:shop: { }", -EINVAL, "a marker is PATH:PROVIDER:NAME or PATH:NAME");
	refused("usdt:/bin/none:shop:open { }", -ENOENT, "there is no file '/bin/none'");
	refused("usdt:/bin/prog:open { @ = retval }", -EINVAL,
		"usdt:/bin/prog:open has no 'retval'");
	fake_program_file[0x1011] = NO_PROBE;
	refused("usdt:/bin/prog:sold { }", -EOPNOTSUPP,
		"no probe can be at usdt:/bin/prog:shop:sold: the instruction is there to trap");
	fake_program_file[0] = 'X';
	refused("usdt:/bin/prog:open { }", -ENOEXEC,
		"this is no program, and has no marker 'open'");
}

/* ---- Semaphores ---- */

static uint16_t wanted;

static void look_at_semaphore(void)
{
	wanted = semaphore();
	step(0x1010);
}

static void semaphores(void **state)
{
	(void)state;
	memset(fake_program_file + SEMAPHORE, 0, 2);
	NOTE(0x1010, SEMAPHORE, "shop\0open\0");
	NOTE(0x1012, SEMAPHORE, "shop\0open\0");
	assert_int_equal(semaphore(), 0);
	assert_string_equal(script_run("usdt:/bin/prog:open { @ = count() }", look_at_semaphore),
			    "@: 1\n");
	assert_int_equal(wanted, 2);
	assert_int_equal(semaphore(), 0);
}

/* ---- Arguments ---- */

static uint64_t memory[4];

static void hit_with_registers(void)
{
	regs.arg[0] = 0xfffffffffffffffe;
	regs.arg[1] = (uintptr_t)memory;
	regs.arg[2] = 3;
	regs.saved[0] = 0x1234;
	regs.frame = (uintptr_t)&memory[2];
	step(0x1010);
}

static const char *values(const char *conversions)
{
	static char text[256];

	snprintf(text, sizeof(text),
		 "usdt:/bin/prog:m { printf(\"%s\", arg0, arg1, arg2, arg3, arg4); }", conversions);
	return script_run(text, hit_with_registers);
}

static void arguments(void **state)
{
	(void)state;
	memory[0] = 0x1122334455667788;
	memory[1] = 77;
	memory[2] = 88;
	memory[3] = (uint64_t)-99;
	NOTE(0x1010, 0, "p\0m\0-4@%edi 4@%edi 8@%rdi  1@%dil -1@%di ");
	assert_string_equal(values("%d %d %d %d %d"), "-2 4294967294 -2 254 -2");
	notes_begin();
	NOTE(0x1010, 0,
	     "p\0m\0"
	     "2@%r10 8@%r10d -4@%r10w 1@%r10b -8@$-7");
	assert_string_equal(values("%x %x %x %x %d"), "1234 1234 1234 34 -7");
	notes_begin();
	NOTE(0x1010, 0,
	     "p\0m\0"
	     "4@(%rsi) 8@8(%rsi) 8@-8(%rbp) -8@(%rsi,%rdx,8) 2@1(%rsi,%rdx)");
	assert_string_equal(values("%x %d %d %d %x"), "55667788 77 77 -99 3344");
	notes_begin();
	NOTE(0x1010, 0,
	     "p\0m\0"
	     "1@$255 -1@$255 8@0x8(%rsi) 8@-8+16(%rsi) 8@+0(%rbp)");
	assert_string_equal(values("%d %d %d %d %d"), "255 -1 77 77 88");
}

/* Where an argument has a sign at one place alone it has none. */
static void signs(void **state)
{
	(void)state;
	NOTE(0x1010, 0, "p\0m\0-8@%rdi");
	NOTE(0x1011, 0,
	     "p\0m\0"
	     "8@%rdi");
	assert_string_equal(
		script_run("usdt:/bin/prog:m /arg0 < 0/ { @ = count() }", hit_with_registers),
		"@: 0\n");
	notes_begin();
	NOTE(0x1010, 0, "p\0m\0-8@%rdi");
	NOTE(0x1011, 0, "p\0m\0-4@%esi");
	assert_string_equal(
		script_run("usdt:/bin/prog:m /arg0 < 0/ { @ = count() }", hit_with_registers),
		"@: 1\n");
	refused("usdt:/bin/prog:m { @ = arg1 }", -EINVAL, "usdt:/bin/prog:p:m has no 'arg1'");
}

/* Of a variable by its name: as far from the marker as in the addresses that the file was linked with. */
static void variables(void **state)
{
	uint8_t *page = mmap((void *)ADDR(0x1000), TRACE_UPROBE_PAGE, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	(void)state;
	assert_ptr_equal(page, (void *)ADDR(0x1000));
	page[0x10] = 144;
	page[0x30] = 5;
	page[0x34] = 7;
	NOTE(0x1010, 0,
	     "p\0m\0"
	     "1@main(%rip) 1@32+main(%rip) 1@main+0x24(%rip) 1@main-16+0x30(%rip) 1@far(%rip)");
	assert_string_equal(values("%d %d %d %d %d"), "144 5 7 5 0");
	munmap(page, TRACE_UPROBE_PAGE);
}

static void unknown(void **state)
{
	static const char *const words[] = {
		"8f@%xmm0",
		"4@%xmm0",
		"8@%ah",
		"8@",
		"8",
		"3@%rdi",
		"8@%rdi+1",
		"8@$x",
		"8@$",
		"8@(",
		"8@()",
		"8@(%rdi",
		"8@(%none)",
		"8@(%rdi,)",
		"8@(%rdi,%rsi,)",
		"8@(%rdi,%rsi,9)",
		"8@8(%rip)",
		"8@main(%rdi)",
		"8@none(%rip)",
		"8@twice(%rip)",
		"8@-main(%rip)",
		"8@main+main(%rip)",
		"8@1x(%rdi)",
		"8@+(%rdi)",
		"@%rdi",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		char text[64];
		int len = snprintf(text, sizeof(text), "p%cm%c%s", 0, 0, words[i]);

		notes_begin();
		note_cut(0x1010, 0, text, (size_t)len + 1, 0);
		refused("usdt:/bin/prog:m { @ = arg0 }", -EINVAL,
			"'arg0' of usdt:/bin/prog:p:m is where it cannot be read");
		trace_script_free(script_make("usdt:/bin/prog:m { @ = count() }"));
	}
}

/* ---- Notes that are no markers ---- */

static const char *list(const char *pattern)
{
	static char text[4096], buf[4096];
	struct trace_seq seq;
	bool has_more = true;
	size_t at = 0;

	text[0] = '\0';
	while (has_more) {
		trace_seq_init(&seq, buf, 64);
		has_more = trace_script_list(pattern, &at, &seq);
		strncat(text, buf, seq.len);
	}
	return text;
}

static void damaged(void **state)
{
	const uint32_t other[] = { 4, 4, 1, 0x554e47, 5 }, huge[] = { 8, 0xfffffff0, 3 };
	uint32_t begin;

	(void)state;
	note_put(other, sizeof(other));
	NOTE(0x1010, 0, "p\0a\0");
	note_cut(0x1010, 0, "p\0b\0", 5, 1); /* the last text has no end */
	note_cut(0x1010, 0, "p\0c\0", 5, 3); /* nor the second */
	note_cut(0x1010, 0, "p", 2, 2);	     /* there is none */
	NOTE(0x3000, 0, "p\0d\0");	     /* no segment has the address */
	NOTE(0x1010, 0x3000, "p\0e\0");	     /* nor that of the semaphore */
	begin = notes_end;
	NOTE(0x1010, 0, "p\0f\0");
	fake_program_file[begin + 8] = 4; /* another kind */
	begin = notes_end;
	NOTE(0x1010, 0, "p\0g\0");
	fake_program_file[begin + 12] = 'S'; /* of somewhere else */
	NOTE(0x1010, 0, "p\0h\0");
	NOTE(0x1010, 0, "q\0h\0");
	assert_string_equal(list("usdt:/bin/prog:*"),
			    "usdt:/bin/prog:p:a\nusdt:/bin/prog:p:h\nusdt:/bin/prog:q:h\n");
	assert_string_equal(list("usdt:/bin/prog:q:*"), "usdt:/bin/prog:q:h\n");
	note_put(huge, sizeof(huge));
	NOTE(0x1010, 0, "p\0i\0");
	assert_string_equal(list("usdt:/bin/prog:p:*"), "usdt:/bin/prog:p:a\nusdt:/bin/prog:p:h\n");
	section_set(SHT_NOTE, 1ull << 40);
	assert_string_equal(list("usdt:/bin/prog:p:*"), "usdt:/bin/prog:p:a\nusdt:/bin/prog:p:h\n");
	section_set(SHT_PROGBITS, NOTES_BYTES);
	assert_string_equal(list("usdt:/bin/prog:*"), "");
	assert_string_equal(list("usdt:/bin/none:*"), "");
}

/* ---- No memory ---- */

static void without_memory(void **state)
{
	static const char text[] = "usdt:/bin/prog:* { @ = sum(arg0); }";
	struct trace_script *script;
	long nr, out = fake_alloc_out;

	(void)state;
	NOTE(0x1010, SEMAPHORE, "shop\0open\0-4@%edi");
	NOTE(0x1012, 0, "shop\0sold\0-4@%edi");
	trace_script_free(script_begin(text));
	for_each_allocation(nr, trace_script_create(text, NULL, &script, &script_error)) {
		assert_null(script);
		assert_int_equal(fake_alloc_out, out);
		assert_int_equal(fake_file_refs, 0);
	}
	assert_in_range(nr, 3, 100);
	for_each_allocation(nr, trace_script_start(script)) {
		trace_script_free(script);
		assert_int_equal(fake_alloc_out, out);
		script = script_make(text);
	}
	assert_in_range(nr, 2, 100);
	trace_script_free(script);
	assert_int_equal(fake_alloc_out, out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(words, reset, check),
		cmocka_unit_test_setup_teardown(semaphores, reset, check),
		cmocka_unit_test_setup_teardown(arguments, reset, check),
		cmocka_unit_test_setup_teardown(signs, reset, check),
		cmocka_unit_test_setup_teardown(variables, reset, check),
		cmocka_unit_test_setup_teardown(unknown, reset, check),
		cmocka_unit_test_setup_teardown(damaged, reset, check),
		cmocka_unit_test_setup_teardown(without_memory, reset, check),
	};

	return cmocka_run_group_tests(tests, script_setup, NULL);
}
