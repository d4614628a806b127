/*
 * Every form of an instruction that the decoder tells apart, executed where it is and in its slot, by
 * the processor of this machine: the same registers, flags, vectors and memory come out, or the same
 * fault. Operands count from the instruction, or are anywhere else, or are registers.
 *
 * What is not copied to a slot (branches, and what probes refuse) is tried in the kernel: `ktest
 * kprobe_forms`; what needs privileges faults here, before it has done anything.
 *
 * links: trace/arch/x86_64/probe_slot.c trace/arch/x86_64/probe_insn.c trace/arch/x86_64/decode*.c
 * links: arch/x86_64/smp_sync.c
 */
#include "unit.h"
#include <cpuid.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <trace/arch_exec.h>
#include <trace/arch_text.h>
#include "decode_tables.h"
#include "probe_private.h"
#include "slot_forms.h"

#define PAGE	    4096ul
#define CODE	    ((uint8_t *)0x50000000)
#define DATA	    ((uint8_t *)0x20000000) /* behind and in front of it is nothing */
#define DATA_BYTES  (2 * PAGE)
#define TARGET	    (DATA + 1024) /* of operands that count from the instruction */
#define STATE_BYTES PAGE
#define FXSAVE_FIP  6u /* where x87 instructions were, which is not where they are meant to be */
#define FXSAVE_MASK 16u
#define XSAVE_HEAD  512u
#define XSAVE_PKRU  (1ull << 9)
#define X87_SSE	    3ull

/* ---- Running ---- */

struct run {
	uint64_t regs[16]; /* as instructions number them */
	uint64_t flags;
	uint64_t signal, fault_at; /* 0: it did not fault */
	uintptr_t fault_addr;
};

/* The memory that slot_run() reads and writes, at addresses of 32 bits. */
struct run slot_in, slot_out;
uint8_t slot_state_in[STATE_BYTES] __attribute__((aligned(64)));
uint8_t slot_state_out[STATE_BYTES] __attribute__((aligned(64)));
uint8_t slot_state_plain[STATE_BYTES] __attribute__((aligned(64)));
uint64_t slot_mask;
uint64_t slot_rsp;
void slot_run(const uint8_t *code);
void slot_done(void);

/* Registers, flags and vectors as slot_in and slot_state_in say, and back from slot_done(). */
__asm__(".text\n"
	".globl slot_run, slot_done\n"
	"slot_run: push %rbx\n	push %rbp\n	push %r12\n	push %r13\n	push %r14\n"
	"	push %r15\n	push %rdi\n	mov %rsp, slot_rsp\n"
	"	mov slot_mask, %eax\n	mov slot_mask + 4, %edx\n"
	"	xrstor64 slot_state_in\n"
	"	push slot_in + 128\n	popfq\n"
	"	mov slot_in, %rax\n	mov slot_in + 8, %rcx\n	mov slot_in + 16, %rdx\n"
	"	mov slot_in + 24, %rbx\n	mov slot_in + 32, %rsp\n	mov slot_in + 40, "
	"%rbp\n"
	"	mov slot_in + 48, %rsi\n	mov slot_in + 56, %rdi\n	mov slot_in + 64, "
	"%r8\n"
	"	mov slot_in + 72, %r9\n	mov slot_in + 80, %r10\n	mov slot_in + 88, %r11\n"
	"	mov slot_in + 96, %r12\n	mov slot_in + 104, %r13\n	mov slot_in + 112, "
	"%r14\n"
	"	mov slot_in + 120, %r15\n"
	"	jmp *slot_code\n"
	"slot_done: mov %rax, slot_out\n	mov %rcx, slot_out + 8\n	mov %rdx, slot_out "
	"+ 16\n"
	"	mov %rbx, slot_out + 24\n	mov %rsp, slot_out + 32\n	mov %rbp, slot_out "
	"+ 40\n"
	"	mov %rsi, slot_out + 48\n	mov %rdi, slot_out + 56\n	mov %r8, slot_out "
	"+ 64\n"
	"	mov %r9, slot_out + 72\n	mov %r10, slot_out + 80\n	mov %r11, slot_out "
	"+ 88\n"
	"	mov %r12, slot_out + 96\n	mov %r13, slot_out + 104\n	mov %r14, slot_out "
	"+ 112\n"
	"	mov %r15, slot_out + 120\n"
	"	mov slot_rsp, %rsp\n	pushfq\n	pop slot_out + 128\n	push $2\n	"
	"popfq\n"
	"	mov slot_mask, %eax\n	mov slot_mask + 4, %edx\n"
	"	xsave64 slot_state_out\n"
	"	xrstor64 slot_state_none\n"
	"	pop %rdi\n	pop %r15\n	pop %r14\n	pop %r13\n	pop %r12\n"
	"	pop %rbp\n	pop %rbx\n	ret\n");

const uint8_t *slot_code;
uint8_t slot_state_none[STATE_BYTES] __attribute__((aligned(64)));
static uintptr_t slot_base; /* of what runs: the instruction, or its copy */

/* It goes on as if the instruction were done, with the registers that it has left. */
static void on_signal(int signal, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;

	slot_out.signal = (uint64_t)signal;
	slot_out.fault_at = (uint64_t)regs[REG_RIP] - slot_base;
	slot_out.fault_addr = signal == SIGSEGV ? (uintptr_t)info->si_addr : 0;
	regs[REG_RIP] = (greg_t)(uintptr_t)slot_done;
	regs[REG_EFL] &= ~0x40100; /* neither traps nor alignment checks meanwhile */
}

static void prepare_data(void)
{
	for (size_t i = 0; i < DATA_BYTES / 8; i++) {
		/* Addresses of data; as flags they set neither TF nor AC nor NT. */
		uint64_t word = (uintptr_t)DATA + i % 16 * 8;

		memcpy(DATA + i * 8, &word, 8);
	}
}

static struct run run(const uint8_t *code, uintptr_t base)
{
	prepare_data();
	memset(&slot_out, 0, sizeof(slot_out));
	memset(slot_state_out, 0, sizeof(slot_state_out));
	slot_base = base;
	slot_code = code;
	slot_run(code);
	memset(slot_state_out + FXSAVE_FIP, 0, FXSAVE_MASK - FXSAVE_FIP);
	return slot_out;
}

/* ---- Functions that the slots call ---- */

static int nr_units;

uintptr_t trace_exec_alloc(size_t bytes)
{
	(void)bytes;
	nr_units++;
	return trace_arch_exec_start();
}

void trace_exec_free(uintptr_t addr, size_t bytes)
{
	(void)addr;
	(void)bytes;
	nr_units--;
}

/* Of jumps by way of memory, which are not copied. */
bool trace_plat_read(void *dst, const void *src, size_t size)
{
	(void)dst;
	(void)src;
	(void)size;
	return false;
}

void trace_text_write(uintptr_t addr, const void *bytes, size_t len)
{
	memcpy((void *)addr, bytes, len);
}

static struct {
	uint32_t nr, nr_ran, nr_refused, nr_by_hand;
	bool kinds[TRACE_INSN_SWAPGS + 1];
} counts;

/* ---- Which rows of the decoder's tables were tried ---- */

#define MAX_ROWS 256u

static const struct decode_map *const maps[] = { &trace_decode_one_byte, &trace_decode_0f,
						 &trace_decode_0f38, &trace_decode_0f3a };
static bool has_row[4][MAX_ROWS];

static uint32_t prefix_of(const struct trace_insn *insn)
{
	if (insn->prefixes & (TRACE_INSN_REP | TRACE_INSN_REPNE))
		return insn->prefixes & TRACE_INSN_REP ? PP_F3 : PP_F2;
	return insn->prefixes & TRACE_INSN_OPSIZE ? PP_66 : PP_NO;
}

static bool is_of_row(const struct trace_insn *insn, const struct decode_row *row)
{
	if (insn->opcode < row->first || insn->opcode > row->last || !(row->pp & prefix_of(insn)))
		return false;
	return !row->mod ||
	       (row->mod & (insn->modrm >= 0xc0 ? REG : MEM) &&
		row->reg >> (insn->modrm >> 3 & 7) & 1 && row->rm >> (insn->modrm & 7) & 1);
}

/* The first row that fits counts, as for the decoder. */
static void note_row(const struct trace_insn *insn)
{
	struct trace_insn in_map = *insn;
	const struct decode_map *map;
	size_t i = 0;

	if (insn->encoding != TRACE_INSN_LEGACY)
		return;
	if (insn->map == TRACE_INSN_MAP_3DNOW) {
		in_map.map = TRACE_INSN_MAP_0F;
		in_map.opcode = 0x0f;
	}
	map = maps[in_map.map];
	while (i < map->nr && !is_of_row(&in_map, &map->rows[i]))
		i++;
	has_row[in_map.map][i < MAX_ROWS ? i : MAX_ROWS - 1] = true;
}

static void check_rows(void)
{
	for (size_t map = 0; map < 4; map++) {
		assert_true(maps[map]->nr < MAX_ROWS);
		for (size_t i = 0; i < maps[map]->nr; i++) {
			if (!has_row[map][i])
				fail_msg("no form is of map %zu, opcode %02x, row %zu", map,
					 maps[map]->rows[i].first, i);
		}
	}
}

/* ---- One instruction ---- */

static uint8_t plain_data[DATA_BYTES];

static void fail_form(const struct trace_insn *insn, const char *what)
{
	char bytes[3 * TRACE_INSN_MAX + 1];

	for (size_t i = 0; i < insn->length; i++)
		sprintf(bytes + 3 * i, "%02x ", CODE[i]);
	fail_msg("%s: %s in its slot", bytes, what);
}

static void put_jump(uint8_t *at, uintptr_t to)
{
	int32_t distance = (int32_t)(to - ((uintptr_t)at + 5));

	*at = 0xe9;
	memcpy(at + 1, &distance, sizeof(distance));
}

static void compare(const struct trace_insn *insn)
{
	uintptr_t slot = trace_probe_slot_make((uintptr_t)CODE, insn, CODE, false);
	struct run plain, copied;

	assert_true(slot);
	put_jump(CODE + insn->length, (uintptr_t)slot_done);
	plain = run(CODE, (uintptr_t)CODE);
	memcpy(plain_data, DATA, DATA_BYTES);
	memcpy(slot_state_plain, slot_state_out, STATE_BYTES);
	copied = run((const uint8_t *)slot, slot);
	if (memcmp(&plain, &copied, sizeof(plain)) != 0)
		fail_form(insn, "other registers, flags, or another fault");
	if (memcmp(plain_data, DATA, DATA_BYTES) != 0)
		fail_form(insn, "other memory");
	if (memcmp(slot_state_plain, slot_state_out, XSAVE_HEAD) != 0 ||
	    memcmp(slot_state_plain + XSAVE_HEAD + 64, slot_state_out + XSAVE_HEAD + 64,
		   STATE_BYTES - XSAVE_HEAD - 64) != 0)
		fail_form(insn, "other vectors");
	counts.nr++;
	counts.nr_ran += !plain.signal;
	trace_probe_slot_free(slot);
	assert_int_equal(nr_units, 0);
}

/* An operand that counts from the instruction leads to the data; an address in full, too. */
static void aim(const struct trace_insn *insn)
{
	int32_t distance = (int32_t)(TARGET - (CODE + insn->length));
	uintptr_t address = (uintptr_t)TARGET;

	if (insn->is_rip_relative)
		memcpy(CODE + insn->disp_offset, &distance, sizeof(distance));
	else if (insn->disp_size == sizeof(address))
		memcpy(CODE + insn->disp_offset, &address, sizeof(address));
}

void slot_form(const uint8_t *bytes)
{
	struct trace_insn insn;
	struct plat_probe probe;

	memcpy(CODE, bytes, TRACE_INSN_MAX);
	if (trace_insn_decode(&insn, CODE, TRACE_INSN_MAX))
		return;
	aim(&insn);
	if (trace_insn_decode(&insn, CODE, TRACE_INSN_MAX))
		return;
	counts.kinds[insn.kind] = true;
	note_row(&insn);
	if (slot_form_is_odd(&insn))
		return;
	if (trace_probe_compile(&probe, &insn, (uintptr_t)CODE))
		counts.nr_refused++;
	else if (probe.action != PROBE_SLOT)
		counts.nr_by_hand++;
	else
		compare(&insn);
}

/* ---- The machine ---- */

/* All of a state up to the masks and vectors of AVX-512, which take 2,688 bytes. */
static void prepare_state(void)
{
	uint32_t eax, ebx, ecx, edx;
	uint64_t xcr0;

	__cpuid_count(0xd, 0, eax, ebx, ecx, edx);
	xcr0 = eax | (uint64_t)edx << 32;
	slot_mask = xcr0 & 0xff & ~XSAVE_PKRU;
	*(uint16_t *)slot_state_none = 0x37f; /* x87: all masked */
	*(uint32_t *)(slot_state_none + 24) = 0x1f80;
	*(uint64_t *)(slot_state_none + XSAVE_HEAD) = X87_SSE;
	/* Vectors of small numbers, which are distances in data as well; masks with some bits. */
	for (size_t i = 0; i < STATE_BYTES / 4; i++)
		((uint32_t *)slot_state_in)[i] = (uint32_t)(i * 8 % 64);
	memset(slot_state_in, 0, 160);
	memset(slot_state_in + XSAVE_HEAD - 96, 0, 96 + 64);
	*(uint16_t *)slot_state_in = 0x37f;
	slot_state_in[4] = 0x1f; /* five registers of x87 are in use */
	for (size_t i = 0; i < 8; i++)
		memcpy(slot_state_in + 32 + i * 16, "\0\0\0\0\0\0\0\x80\xff\x3f", 10); /* 1.0 */
	*(uint32_t *)(slot_state_in + 24) = 0x1f80;
	*(uint64_t *)(slot_state_in + XSAVE_HEAD) = slot_mask;
}

static void prepare_registers(void)
{
	for (size_t i = 0; i < 16; i++)
		slot_in.regs[i] = (uintptr_t)DATA + 512 + i * 64;
	slot_in.regs[1] = 3;
	slot_in.flags = 0x8d7; /* CF PF AF ZF SF OF */
}

static void *map(void *at, size_t bytes, int prot)
{
	void *got = mmap(at, bytes, prot, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	assert_ptr_equal(got, at);
	return got;
}

static int setup(void **state)
{
	cpu_set_t one;

	(void)state;
	map(CODE, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	map(DATA, DATA_BYTES, PROT_READ | PROT_WRITE);
	map((void *)trace_arch_exec_start(), PAGE, PROT_READ | PROT_WRITE | PROT_EXEC);
	/* Some say on which CPU they are. */
	CPU_ZERO(&one);
	CPU_SET((size_t)sched_getcpu(), &one);
	sched_setaffinity(0, sizeof(one), &one);
	prepare_state();
	prepare_registers();
	return 0;
}

/* ---- Tests ---- */

/* In each test, for cmocka has handlers of its own. */
static void catch_signals(void)
{
	static const int signals[] = { SIGSEGV, SIGILL, SIGFPE, SIGBUS, SIGTRAP };
	static uint8_t stack[1 << 16];
	stack_t alt = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction action = { .sa_sigaction = on_signal,
				    .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER };

	assert_int_equal(sigaltstack(&alt, NULL), 0);
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		assert_int_equal(sigaction(signals[i], &action, NULL), 0);
}

static void check(uint32_t least, uint32_t least_ran)
{
	print_message("%u in slots, of which %u did not fault; %u done by hand, %u refused\n",
		      counts.nr, counts.nr_ran, counts.nr_by_hand, counts.nr_refused);
	assert_true(counts.nr >= least && counts.nr_ran >= least_ran);
	counts.nr = counts.nr_ran = counts.nr_by_hand = counts.nr_refused = 0;
}

static void test_legacy(void **state)
{
	(void)state;
	catch_signals();
	slot_forms_legacy();
	check(20000, 10000);
	for (size_t kind = 0; kind <= TRACE_INSN_SWAPGS; kind++) {
		if (!counts.kinds[kind])
			fail_msg("no form is of kind %zu", kind);
	}
	check_rows();
}

static void test_vex(void **state)
{
	(void)state;
	catch_signals();
	slot_forms_vex();
	check(2000, 0);
}

static void test_evex(void **state)
{
	(void)state;
	catch_signals();
	slot_forms_evex();
	check(10000, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_legacy),
		cmocka_unit_test(test_vex),
		cmocka_unit_test(test_evex),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
