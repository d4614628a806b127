/*
 * Programs, as far as registers and page tables are concerned.
 *
 * A thread that runs a program has, above all frames of its kernel stack, one trap frame with the program's
 * registers, arch_user_frame(). While the program runs, nothing else is on that stack. Other registers
 * of the program are in struct arch_user while the thread does not run.
 *
 *   0x0000000000000000  one page, never mapped
 *   0x00007ffffffff000  TASK_SIZE_MAX: programs have the pages below. The last page of the lower half is
 *                       left out, so that no SYSCALL instruction ends where addresses are not canonical:
 *                       SYSRET to such an address would fault in the kernel, on the program's stack
 *
 * A program's root has the kernel's half by copies of top-level entries, which never change, and its
 * own pages in the lower half. The alias for writing text is in none of these roots.
 *
 * Context:   thread, unless said.
 * Locking:   the tables of a root: the caller's lock.
 * Ownership: pages in the tables belong to the caller; a table page to its root.
 */
#ifndef ARCH_USER_H
#define ARCH_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <arch/cpu_local.h>
#include <arch/trap.h>

#define TASK_SIZE_MAX 0x00007ffffffff000ull

#define USER_FPU_BYTES	  832u /* XSAVE of x87, SSE and AVX */
#define USER_FXSAVE_BYTES 512u /* FXSAVE, which XSAVE begins with */

struct arch_user {
	uint64_t root; /* for CR3 */
	uint64_t fs_base;
	uint64_t gs_base;
	uint8_t fpu[USER_FPU_BYTES] __attribute__((aligned(64)));
};

/* The registers that a program starts with, but for its root. */
void arch_user_init(struct arch_user *user);
/* Copy those of the running thread, for a fork. The root of `to` stays. */
void arch_user_copy(struct arch_user *to, struct arch_user *current);
/* The running thread uses other tables from now on; those of the kernel for UINT64_MAX. */
void arch_user_set_root(struct arch_user *current, uint64_t root);
/* Begin anew with other tables, for an execve of the running thread. */
void arch_user_restart(struct arch_user *current, uint64_t root);
/*
 * The scheduler goes from one thread to another, of which at least one runs a program; NULL: the other
 * does not. `top` is the end of the stack of the next one. Interrupts off.
 */
void arch_user_switch(struct arch_user *prev, struct arch_user *next, uintptr_t top);
/* The bases that the program of the running thread uses from now on. They are below TASK_SIZE_MAX. */
void arch_user_set_fs_base(struct arch_user *current, uint64_t base);
void arch_user_set_gs_base(struct arch_user *current, uint64_t base);

/* Bytes of the vectors' area that FXSAVE or XSAVE uses, and the parts that XSAVE switches; 0: FXSAVE. */
size_t arch_user_fpu_bytes(void);
uint64_t arch_user_fpu_features(void);
/* Put the vectors of the running thread into its area; set them to those of a new program. */
void arch_user_fpu_store(struct arch_user *current);
void arch_user_fpu_reset(struct arch_user *current);
/*
 * Put them into the program's memory, at an area that is aligned to 64 and has a cleared header. False: not all of its
 * pages are there, and a part may be written.
 */
bool arch_user_fpu_store_to(uint8_t *area);
/*
 * Set them to a program's, from an area of the kernel or of the program, for which access_ok() holds. False: they are none, or
 * not aligned to 64, or a page is not there; and nothing has changed.
 */
bool arch_user_fpu_load(struct arch_user *current, const uint8_t *area);

/* The program's registers, of a thread whose stack ends at `top`. */
static inline struct trap_frame *arch_user_frame(uintptr_t top)
{
	return (struct trap_frame *)top - 1;
}
/* Argument `i` of its system call, in the registers of Linux's convention. */
static inline __attribute__((always_inline)) uint64_t
arch_syscall_arg(const struct trap_frame *regs, unsigned int i)
{
	const uint64_t args[] = { regs->rdi, regs->rsi, regs->rdx, regs->r10, regs->r8, regs->r9 };

	return args[i];
}
static inline __attribute__((always_inline)) void arch_syscall_args(const struct trap_frame *regs,
								    uint64_t out_args[6])
{
	out_args[0] = regs->rdi;
	out_args[1] = regs->rsi;
	out_args[2] = regs->rdx;
	out_args[3] = regs->r10;
	out_args[4] = regs->r8;
	out_args[5] = regs->r9;
}
/*
 * All registers of a program that does not run, as Linux's struct user_regs_struct has them. The frame of a system call has the
 * call's number in one of them; no call: UINT64_MAX. Setting: 0; -EIO: a value that no program may have, and nothing is set.
 */
#define ARCH_USER_REGS 27
void arch_user_regs_get(const struct trap_frame *regs, const struct arch_user *user, uint64_t *out);
int arch_user_regs_set(struct trap_frame *regs, struct arch_user *user, const uint64_t *from);
/* Would the processor take this area of vectors? It has USER_FPU_BYTES. */
bool arch_user_fpu_is_valid(const uint8_t *area);
/* An area of vectors that tells which parts are in it: as XSAVE has it, for debuggers. */
void arch_user_fpu_describe(uint8_t *area);
/* The next instruction traps when it is done. False: it does so anyway. */
bool arch_user_step_on(struct trap_frame *regs);
void arch_user_step_off(struct trap_frame *regs);
/* Let the program start at `ip` with its stack pointer at `sp`; all other registers are 0. */
void arch_user_frame_init(struct trap_frame *regs, uintptr_t ip, uintptr_t sp);
/* Features as AT_HWCAP has them. */
uint64_t arch_user_hwcap(void);

/* Are these addresses a program's, whether or not there is memory? */
static inline bool access_ok(uintptr_t addr, size_t bytes)
{
	return bytes <= TASK_SIZE_MAX && addr <= TASK_SIZE_MAX - bytes;
}

/*
 * Copy between a program's memory and the kernel's. The result is the number of bytes that were not
 * copied, because an address is not the program's or its page could not be made; 0: all. The kernel never
 * faults. Pages are made as the program's own access would.
 */
size_t copy_from_user(void *to, const void *from, size_t bytes);
size_t copy_to_user(void *to, const void *from, size_t bytes);

/*
 * Copy from the memory of the running program, as far as its pages are there; false when one is not. Any
 * context with preemption off, so that no fault is handled by making a page. Not traced.
 */
bool arch_read_user_nofault(void *to, const void *from, size_t bytes);
/*
 * The return addresses in the frames of the running program from `fp` on, at most `max`; the first lies at `lowest` or
 * above, each other one above the one before. Returns how many there are. Context as above.
 */
uint32_t arch_user_frames(uint64_t fp, uint64_t lowest, uint64_t *out_callers, uint32_t max);

/* ---- Page tables ---- */

#define USER_PAGE_WRITE 0x1u
#define USER_PAGE_EXEC	0x2u
#define USER_PAGE_NONE	0x4u /* it is kept, but every access faults */

/* A root without pages below TASK_SIZE_MAX; 0 when out of memory. */
uint64_t arch_user_root_create(void);
/* Free the root and its tables, which map nothing any more. No CPU uses it. */
void arch_user_root_free(uint64_t root);
/* Put a page at `virt`, in place of another that may be there. 0 or -ENOMEM. */
int arch_user_map(uint64_t root, uintptr_t virt, uint64_t phys, uint32_t flags);
/* The page at `virt`; false when there is none. */
bool arch_user_lookup(uint64_t root, uintptr_t virt, uint64_t *out_phys, bool *out_is_writable);
/*
 * Call fn for each page that is there from `start` to `end`. *entry may be changed by the next two
 * functions.
 */
typedef int (*arch_user_page_fn)(uintptr_t virt, uint64_t *entry, void *arg);
/* 0, or what fn has returned and the walk has ended with. */
int arch_user_each(uint64_t root, uintptr_t start, uintptr_t end, arch_user_page_fn fn, void *arg);
uint64_t arch_user_entry_phys(const uint64_t *entry);
bool arch_user_entry_is_writable(const uint64_t *entry);
void arch_user_entry_set(uint64_t *entry, uint32_t flags);
void arch_user_entry_clear(uint64_t *entry);
/*
 * Drop the pages of programs from the TLBs of the CPUs in `cpus`, a bit each; from that of this one in any case.
 * Interrupts on, if there are others.
 */
void arch_user_flush_tlb(uint64_t cpus);

#endif
