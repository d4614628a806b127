/*
 * Every form of an instruction that the decoder tells apart, run plainly and with a probe at it: in a
 * slot, in one with a post handler, done by hand, or in a detour. Registers, flags, stack and memory
 * are the same afterwards. The forms: kprobe_forms.asm.
 */
#include <arch/cpu.h>
#include <arch/regs.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <kernel/thread.h>
#include <kernel/time.h>
#include <trace/fmt.h>
#include <trace/kprobe.h>
#include "ktest.h"

#define MAX_FORMS    640u
#define MEMORY_BYTES 1024u
#define STACK_WORDS  64u
#define RSP	     4u
#define JUMP_WAIT_NS (400 * NSEC_PER_MSEC)
#define JUMP_WAITS   50u /* at most, on a busy machine */
#define FEWEST_JUMPS 100u

#define NEEDS_REFUSAL (1u << 0)
#define NEEDS_SSE     (1u << 1)
#define NEEDS_AVX     (1u << 2)
#define NEEDS_BMI     (1u << 3)

/* kprobe_forms.asm */
struct kprobe_form {
	const char *text;
	uintptr_t insn;
	uintptr_t start;
	uint64_t needs; /* NEEDS_ */
};

struct form_state {
	uint64_t regs[16];
	uint64_t flags;
	uint64_t is_elsewhere;
	uint64_t stack[STACK_WORDS];
};

extern const struct kprobe_form kprobe_forms[]; /* ends with one without an address */
extern struct form_state kprobe_form_in, kprobe_form_out;
extern uint8_t kprobe_form_memory[MEMORY_BYTES];
extern uint64_t kprobe_form_stack[STACK_WORDS]; /* forms start in the middle */
void kprobe_form_run(uintptr_t form);

/* ---- Running ---- */

/* CF PF ZF SF OF DF by turns; bit 1 is always set. */
static const uint64_t form_flags[] = { 0x002, 0x003, 0x006, 0x042, 0x082, 0x802, 0x882, 0xcc7 };

static uint64_t form_plain[MAX_FORMS][ARRAY_SIZE(form_flags)]; /* what came out without a probe */
static struct kprobe form_probes[MAX_FORMS];
static struct kprobe *form_pointers[MAX_FORMS];
static uint64_t form_hits, form_posts;

static void kprobe_form_prepare(uint64_t flags)
{
	uintptr_t memory = (uintptr_t)kprobe_form_memory;
	struct form_state *in = &kprobe_form_in;

	for (uint32_t i = 0; i < MEMORY_BYTES; i++)
		kprobe_form_memory[i] = (uint8_t)(i * 37 + (i >> 4));
	for (uint32_t i = 0; i < STACK_WORDS; i++)
		in->stack[i] = 0x0123456789abcdefull * (i + 1);
	for (uint32_t i = 0; i < 16; i++)
		in->regs[i] = 0x1122334455667788ull * (i + 1);
	in->regs[1] = 3;
	in->regs[3] = memory + 384;
	in->regs[5] = memory + 320;
	in->regs[6] = memory + 256;
	in->regs[7] = memory + 512;
	in->regs[12] = memory + 128;
	in->regs[13] = memory + 192;
	in->regs[14] = 8;
	in->flags = flags;
	memset(&kprobe_form_out, 0, sizeof(kprobe_form_out));
}

/* Memory below the stack pointer is free for all. */
static void kprobe_form_forget(struct form_state *state)
{
	uint64_t below = state->regs[RSP] - (uintptr_t)kprobe_form_stack;

	if (KTEST_NEED(below <= sizeof(state->stack)))
		memset(state->stack, 0, below);
}

static uint64_t kprobe_form_hash(uint64_t hash, const void *bytes, size_t len)
{
	const uint64_t *words = bytes;

	for (size_t i = 0; i < len / sizeof(*words); i++)
		hash = (hash ^ words[i]) * 0x100000001b3ull ^ hash >> 29;
	return hash;
}

static uint32_t kprobe_form_get_xcr0(uint64_t cr4)
{
	uint32_t value = 1, high;

	if (cr4 & CR4_OSXSAVE)
		__asm__ volatile("xgetbv" : "=a"(value), "=d"(high) : "c"(0));
	return value;
}

static void kprobe_form_set_xcr0(uint32_t value)
{
	__asm__ volatile("xsetbv" : : "a"(value), "c"(0), "d"(0));
}

/*
 * With the CPU's vectors switched on for as long as it takes, and no base in FS, where a program may have
 * left one. All that came out, as a number.
 */
static uint64_t kprobe_form_try(const struct kprobe_form *form, uint64_t flags)
{
	uint64_t irq_flags = arch_irq_save(), cr4 = read_cr4(), hash;
	uint32_t xcr0 = kprobe_form_get_xcr0(cr4);

	wrmsr(MSR_FS_BASE, 0);
	if (form->needs & (NEEDS_SSE | NEEDS_AVX))
		write_cr4(cr4 | CR4_OSFXSR | (form->needs & NEEDS_AVX ? CR4_OSXSAVE : 0));
	if (form->needs & NEEDS_AVX)
		kprobe_form_set_xcr0(7);
	kprobe_form_prepare(flags);
	kprobe_form_run(form->start);
	if (form->needs & NEEDS_AVX)
		kprobe_form_set_xcr0(xcr0);
	write_cr4(cr4);
	kprobe_form_forget(&kprobe_form_out);
	hash = kprobe_form_hash(1, &kprobe_form_out, sizeof(kprobe_form_out));
	hash = kprobe_form_hash(hash, kprobe_form_memory, MEMORY_BYTES);
	arch_irq_restore(irq_flags);
	return hash;
}

static bool kprobe_form_can_run(const struct kprobe_form *form)
{
	uint32_t leaf1 = cpuid(1, 0).ecx, leaf7 = cpuid(7, 0).ebx;
	const uint32_t avx = 1u << 28 | 1u << 26, avx2 = 1u << 5, bmi = 1u << 3 | 1u << 8,
		       sse42 = 1u << 20, movbe = 1u << 22;

	if (form->needs & NEEDS_REFUSAL)
		return false;
	if (form->needs & NEEDS_SSE)
		return leaf1 & sse42;
	if (form->needs & NEEDS_AVX)
		return (leaf1 & avx) == avx && leaf7 & avx2;
	if (form->needs & NEEDS_BMI)
		return (leaf7 & bmi) == bmi && leaf1 & movbe;
	return true;
}

/* ---- Handlers ---- */

static TRACE_NOTRACE int kprobe_form_pre(struct kprobe *p, struct ftrace_regs *regs)
{
	form_hits += regs->rip == p->addr;
	/* The registers that C need not keep, and the flags. */
	__asm__ volatile("xor %%eax, %%eax\n\tmov %%eax, %%ecx\n\tmov %%eax, %%edx\n\t"
			 "mov %%eax, %%esi\n\tmov %%eax, %%edi\n\tmov %%eax, %%r8d\n\t"
			 "mov %%eax, %%r9d\n\tmov %%eax, %%r10d\n\tmov %%eax, %%r11d"
			 :
			 :
			 : "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc");
	return 0;
}

static TRACE_NOTRACE void kprobe_form_post(struct kprobe *p, struct ftrace_regs *regs,
					   uint64_t flags)
{
	(void)p;
	(void)regs;
	(void)flags;
	form_posts++;
}

/* ---- Tests ---- */

static bool kprobe_form_is_accepted(const struct kprobe_form *form)
{
	char why[160];

	if (!kprobe_refusal(form->insn, why, sizeof(why)))
		return true;
	ktest_failed(form->text, 0, why);
	return false;
}

static void kprobe_form_failed(const struct kprobe_form *form, const char *what, uint64_t nr)
{
	char text[128];

	trace_snprintf(text, sizeof(text), "%s: %s %lx", form->text, what, (unsigned long)nr);
	ktest_failed(__FILE__, __LINE__, text);
}

/* Make a probe of each form that can be run here, and run it plainly; how many. */
static size_t kprobe_form_fill(kprobe_post_handler_t post, uint32_t probe_flags)
{
	size_t nr = 0;

	memset(form_probes, 0, sizeof(form_probes));
	for (const struct kprobe_form *form = kprobe_forms; form->insn; form++) {
		uint32_t i = (uint32_t)(form - kprobe_forms);

		if (!KTEST_NEED(i < MAX_FORMS))
			return 0;
		if (!kprobe_form_can_run(form) || !KTEST_NEED(kprobe_form_is_accepted(form)))
			continue;
		for (uint32_t n = 0; n < ARRAY_SIZE(form_flags); n++)
			form_plain[i][n] = kprobe_form_try(form, form_flags[n]);
		form_probes[i] = (struct kprobe){ .addr = form->insn,
						  .pre_handler = kprobe_form_pre,
						  .post_handler = post,
						  .flags = probe_flags };
		form_pointers[nr++] = &form_probes[i];
	}
	return nr;
}

/* A form whose probe is registered: hit once in each run, and the same comes out. */
static void kprobe_form_compare(const struct kprobe_form *form, uint64_t nr_posts)
{
	uint32_t i = (uint32_t)(form - kprobe_forms);

	for (uint32_t n = 0; n < ARRAY_SIZE(form_flags); n++) {
		form_hits = form_posts = 0;
		if (!KTEST_NEED(kprobe_form_try(form, form_flags[n]) == form_plain[i][n]))
			kprobe_form_failed(form, "not as without a probe, flags", form_flags[n]);
		if (!KTEST_NEED(form_hits == 1 && form_posts == nr_posts))
			kprobe_form_failed(form, "hits", form_hits << 32 | form_posts);
	}
}

static TRACE_NOTRACE int kprobe_form_join(struct kprobe *p, struct ftrace_regs *regs)
{
	(void)p;
	(void)regs;
	return 0;
}

/* A second probe, which wants all registers, comes to each. */
static void kprobe_forms_join(size_t nr)
{
	static struct kprobe joined[MAX_FORMS];
	static struct kprobe *joined_pointers[MAX_FORMS];

	for (size_t i = 0; i < nr; i++) {
		joined[i] = (struct kprobe){ .addr = form_pointers[i]->addr,
					     .pre_handler = kprobe_form_join };
		joined_pointers[i] = &joined[i];
	}
	if (!KTEST_NEED(!register_kprobes(joined_pointers, nr)))
		return;
	for (size_t i = 0; i < nr; i++)
		kprobe_form_compare(&kprobe_forms[form_pointers[i] - form_probes], 0);
	unregister_kprobes(joined_pointers, nr);
}

static size_t kprobe_forms_jumping(size_t nr)
{
	size_t nr_jumps = 0;

	for (size_t i = 0; i < nr; i++)
		nr_jumps += form_pointers[i]->flags & KPROBE_FLAG_OPTIMIZED ? 1 : 0;
	return nr_jumps;
}

/* All of them at once, after `wait_ns`. Returns how many had a jump. */
static size_t kprobe_forms_compare(kprobe_post_handler_t post, uint64_t wait_ns,
				   uint32_t probe_flags)
{
	size_t nr = kprobe_form_fill(post, probe_flags), nr_jumps = 0;

	KTEST_CHECK(nr > 400);
	if (!KTEST_NEED(!register_kprobes(form_pointers, nr)))
		return 0;
	thread_sleep_ns(wait_ns);
	for (uint32_t i = 1; wait_ns && i < JUMP_WAITS && kprobe_forms_jumping(nr) <= FEWEST_JUMPS;
	     i++)
		thread_sleep_ns(wait_ns);
	for (size_t i = 0; i < nr; i++) {
		const struct kprobe *p = form_pointers[i];

		nr_jumps += p->flags & KPROBE_FLAG_OPTIMIZED ? 1 : 0;
		kprobe_form_compare(&kprobe_forms[p - form_probes], post ? 1 : 0);
		KTEST_CHECK(!atomic_load(&p->nmissed));
	}
	if (probe_flags & KPROBE_FLAG_ARGS)
		kprobe_forms_join(nr);
	unregister_kprobes(form_pointers, nr);
	return nr_jumps;
}

/* The same; on one CPU, because some forms say on which they are (sgdt, cpuid). */
static size_t kprobe_forms_try(kprobe_post_handler_t post, uint64_t wait_ns, uint32_t probe_flags)
{
	size_t nr_jumps;

	KTEST_CHECK(!thread_set_affinity(current_thread(), 1));
	nr_jumps = kprobe_forms_compare(post, wait_ns, probe_flags);
	thread_set_affinity(current_thread(), THREAD_ANY_CPU);
	return nr_jumps;
}

static void test_kprobe_forms(void)
{
	KTEST_CHECK(!kprobes_set_optimization(false));
	KTEST_CHECK(!kprobe_forms_try(NULL, 0, 0));
	KTEST_CHECK(!kprobe_forms_try(kprobe_form_post, 0, 0));
	KTEST_CHECK(!kprobes_set_optimization(true));
}

static void test_kprobe_forms_jumps(void)
{
	KTEST_CHECK(kprobe_forms_try(NULL, JUMP_WAIT_NS, 0) > FEWEST_JUMPS);
	KTEST_CHECK(kprobe_forms_try(NULL, JUMP_WAIT_NS, KPROBE_FLAG_ARGS) > FEWEST_JUMPS);
}

static void test_kprobe_forms_refused(void)
{
	for (const struct kprobe_form *form = kprobe_forms; form->insn; form++) {
		struct kprobe p = { .addr = form->insn, .pre_handler = kprobe_form_pre };
		char why[160];
		int err;

		if (!(form->needs & NEEDS_REFUSAL))
			continue;
		err = register_kprobe(&p);
		if (!KTEST_NEED(err == -EINVAL))
			kprobe_form_failed(form, "is not refused", (uint64_t)err);
		if (!err)
			unregister_kprobe(&p);
		KTEST_CHECK(kprobe_refusal(form->insn, why, sizeof(why)) == -EINVAL);
		if (!strstr(why, "the instruction"))
			ktest_failed(form->text, 0, why);
	}
}

const struct ktest ktest_kprobe_forms[] = {
	{ "kprobe_forms", test_kprobe_forms },
	{ "kprobe_forms_jumps", test_kprobe_forms_jumps },
	{ "kprobe_forms_refused", test_kprobe_forms_refused },
	{ 0 },
};
