/*
 * Address spaces of programs.
 *
 *   0x0000000000400000  the program, where it was linked for; position independent ones from
 *                       MM_PIE_BASE on
 *                       heap: from behind the program, after a random gap, up to mm->brk
 *   mm->mmap_base       mappings, from here down
 *                       a gap
 *   mm->stack_top       the stack, which grows down to STACK_BYTES_MAX
 *   STACK_TOP           end of what a program may have
 *
 * struct vma is a range of addresses with one purpose. A page comes at the first access, by a fault:
 * zeros, a page of the file, or the copy of a page that a fork has left shared.
 *
 * Context:   thread.
 * Locking:   mm->lock guards ranges and page tables. Nothing is copied from or to a program while it is
 *            held, because a fault takes it. Threads of the program may run meanwhile, on other CPUs: when an entry
 *            loses a right, mm_flush_tlb() comes before the lock is released, and before the page gets another owner.
 * Ownership: an mm has a count of its users; the last mm_put() frees it. A vma holds its file, and the
 *            page tables hold one use of each page in them.
 */
#ifndef KERNEL_PROCESS_MM_H
#define KERNEL_PROCESS_MM_H

#include <arch/user.h>
#include <kernel/base.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/vfs.h>
#include "unwind/unwind.h"

#define STACK_TOP	TASK_SIZE_MAX
#define STACK_BYTES_MAX (8ul << 20)
#define STACK_GAP	(1ul << 20) /* that stays free below it */
#define MM_PIE_BASE	0x0000555555554000ul
#define MM_LOWEST	0x10000ul /* nothing is mapped below */
#define MM_MAX_VMAS	65530u

/* Protection, as PROT_* of mmap(), and kinds of a range. */
#define VM_READ		0x1u
#define VM_WRITE	0x2u
#define VM_EXEC		0x4u
#define VM_PROT		(VM_READ | VM_WRITE | VM_EXEC)
#define VM_STACK	0x100u /* grows down */
#define VM_HEAP		0x200u
#define VM_SHARED	0x400u	/* of a file: writes are the file's */
#define VM_UPROBES	0x800u	/* an area of uprobe.h */
#define VM_UPROBE_CALLS 0x1000u /* a trampoline of uprobe_call.c */

#define MM_UPROBE_CALLS 4u

struct vma {
	struct list link;
	uintptr_t start, end; /* page aligned */
	uint32_t flags;	      /* VM_* */
	struct file *file;    /* NULL: zeros */
	uint64_t offset;      /* of `start` in the file, page aligned */
};

struct mm {
	_Atomic uint32_t users;
	_Atomic uint64_t cpus; /* those that have its root loaded, a bit each */
	struct mutex lock;
	uint64_t root;
	struct list vmas; /* in the order of their addresses */
	uint32_t nr_vmas;
	uint64_t nr_pages;  /* that are there */
	uint64_t max_pages; /* as many were, before some were given up; see mm_max_pages() */
	uintptr_t start_brk, brk;
	uintptr_t mmap_base;
	uintptr_t stack_top;
	int aslr_mode; /* that it was made with, see <kernel/process.h> */
	uintptr_t arg_start, arg_end,
		env_end;	      /* strings of arguments, behind them the environment */
	uintptr_t aux_start, aux_end; /* the auxiliary vector, on the stack */
	char exe[VFS_PATH_MAX];	      /* absolute path of the program */
	/*
	 * Programs of the same user may look into it, and trace it: no rights were given up or taken in it, and its
	 * file may be read. Changed by its own threads.
	 */
	_Atomic bool is_dumpable;
	_Atomic uint32_t membarriers; /* those that its threads will ask for, see membarrier.c */
	struct list all_link;	      /* in mm_list; mm_list_lock */
	/* Probes in programs, see uprobe.h. */
	uint64_t uprobe_seq; /* the last change that this mm has seen */
	struct uprobe_area *_Atomic uprobe_areas;
	uintptr_t uprobe_trampoline;		 /* 0: it has none */
	uintptr_t uprobe_calls[MM_UPROBE_CALLS]; /* pages of uprobe_call.c; 0 behind the last */
	struct user_enabler *user_enablers;	 /* of user_events.c; lock */
	struct unwind_mm unwind;		 /* for stacks of programs */
};

/* All address spaces; a copy stands behind the original. mm_list_lock comes before the locks in them. */
extern struct mutex mm_list_lock;
extern struct list mm_list;
extern uint64_t mm_list_seq; /* the last change of probes that all of them have seen */

/* mm.c. NULL when out of memory. */
struct mm *mm_create(void);
struct mm *mm_get(struct mm *mm);
void mm_put(struct mm *mm);
/* A copy for a fork, pages shared until one side writes. */
struct mm *mm_copy(struct mm *from);
/*
 * Copy into, or set to zero (`from` NULL), memory of an mm, whether it is the running one or not. 0,
 * -EFAULT or -ENOMEM.
 */
int mm_write(struct mm *mm, uintptr_t to, const void *from, size_t bytes);
/* Copy from it, whoever runs it. The bytes that were copied. */
size_t mm_read(struct mm *mm, uintptr_t from, void *to, size_t bytes);
/* No CPU has entries in its TLB that the page tables have not. The lock is held; interrupts on. */
void mm_flush_tlb(struct mm *mm);
/* May other threads run in it, now or while the lock is held? The caller's own is not counted. */
static inline bool mm_is_shared(struct mm *mm)
{
	return atomic_load(&mm->users) > 1;
}
/* This CPU begins to use the tables, or has ceased to. Interrupts off. Not traced. */
static TRACE_ALWAYS_INLINE void mm_enter_cpu(struct mm *mm)
{
	atomic_fetch_or(&mm->cpus, 1ull << cpu_local_read(id));
}
static TRACE_ALWAYS_INLINE void mm_leave_cpu(struct mm *mm)
{
	atomic_fetch_and(&mm->cpus, ~(1ull << cpu_local_read(id)));
}
/* The most pages that it has had. */
static inline uint64_t mm_max_pages(const struct mm *mm)
{
	return mm->nr_pages > mm->max_pages ? mm->nr_pages : mm->max_pages;
}

/*
 * aslr.c. Places of stack and mappings in a new mm, for a program that the running process begins; `is_secure`: random
 * ones even if its personality is against it.
 */
void aslr_place_mappings(struct mm *mm, bool is_secure);
/* The place of a position independent program, and bytes between it and its heap: whole pages. */
uintptr_t aslr_program_bias(const struct mm *mm);
uintptr_t aslr_heap_gap(const struct mm *mm);
/* Bytes between the strings on its first stack and what is below. */
uintptr_t aslr_stack_gap(const struct mm *mm);

/* vma.c; the lock is held. The first range that ends above `addr`; NULL for none. */
struct vma *find_vma(struct mm *mm, uintptr_t addr);
/*
 * Make a range, where nothing is mapped, and hold its file. 0 or -ENOMEM. Ranges of zeros with equal
 * flags that touch become one.
 */
int vma_add(struct mm *mm, const struct vma *range);
/* Unmap addresses; ranges are cut. 0 or -ENOMEM. */
int vma_remove_range(struct mm *mm, uintptr_t start, uintptr_t end);
/*
 * Change the protection. 0; -ENOMEM, also when some of it is not mapped; -EACCES: the file of a shared range
 * was not opened for that.
 */
int vma_protect(struct mm *mm, uintptr_t start, uintptr_t end, uint32_t prot);
/* The highest free addresses of that length below the mappings; 0 for none. */
uintptr_t vma_find_free(struct mm *mm, size_t bytes);
uint32_t vma_page_flags(const struct vma *vma);
/* Is every address mapped? */
bool vma_is_covered(struct mm *mm, uintptr_t start, uintptr_t end);
/* Give up the pages; the next access makes them anew. */
void vma_drop_pages(struct mm *mm, uintptr_t start, uintptr_t end);

/* fault.c */
enum fault_result {
	FAULT_DONE,
	FAULT_NOT_MAPPED, /* SEGV_MAPERR */
	FAULT_DENIED,	  /* SEGV_ACCERR */
	FAULT_NO_FILE,	  /* behind the end of the file */
	FAULT_NO_MEMORY,
};
/* Make the page at `addr` there for an access (VM_READ, VM_WRITE or VM_EXEC). The lock is held. */
enum fault_result handle_mm_fault(struct mm *mm, uintptr_t addr, uint32_t access);
/*
 * mm.c. The same, and the byte at `addr` as the kernel sees it: good until the lock is released. NULL: *out_result says
 * why.
 */
void *mm_page_locked(struct mm *mm, uintptr_t addr, uint32_t access, enum fault_result *out_result);

/*
 * The page at `addr`, page aligned, as the kernel sees it, when it is the program's own, of which it has made a copy otherwise.
 * The page in *out_old, if not NULL, is the caller's to let go of when no TLB has it. NULL: no memory, or a page of a file that
 * has not come yet. The lock is held.
 */
void *mm_own_page(struct mm *mm, uintptr_t addr, void **out_old);

/* uprobe_area.c; the lock is held. 0 or -ENOMEM. */
int uprobe_areas_copy(struct mm *to, const struct mm *from);
void uprobe_areas_free(struct mm *mm);

/*
 * uprobe_call.c; the lock is held. The range of code is about to move: calls in it become breakpoints again. 0 or -ENOMEM.
 */
int uprobe_calls_end(struct mm *mm, uintptr_t start, uintptr_t end);

/* user_events.c; the locks are held. 0 or -ENOMEM. */
int user_enablers_copy(struct mm *to, const struct mm *from);
/* The last user has gone. */
void user_enablers_free(struct mm *mm);

/* rlimit.c. Do the limits of the running program allow this range more, in place of those there? The lock is held. */
bool may_expand_vm(struct mm *mm, const struct vma *range);

/* mmap.c: the work of the calls. Addresses and lengths as programs give them; 0 or -errno. */
long do_mmap(struct mm *mm, uintptr_t addr, size_t bytes, uint32_t prot, uint32_t flags,
	     struct file *file, uint64_t offset);
int do_munmap(struct mm *mm, uintptr_t addr, size_t bytes);
int do_mprotect(struct mm *mm, uintptr_t addr, size_t bytes, uint32_t prot);
/* The arguments of mremap(). */
struct mremap_args {
	uintptr_t old;
	size_t old_bytes, bytes;
	uint32_t flags;
	uintptr_t new_addr; /* with MREMAP_FIXED */
};
/* mremap.c. The address, or -errno. */
long do_mremap(struct mm *mm, const struct mremap_args *args);
int do_madvise(struct mm *mm, uintptr_t addr, size_t bytes, int advice);
int do_msync(struct mm *mm, uintptr_t addr, size_t bytes);
/* For `nr` pages from `addr` on: 1 for each that is there, otherwise 0. -ENOMEM: some are not mapped. */
int do_mincore(struct mm *mm, uintptr_t addr, size_t nr, uint8_t *out);
/* The break afterwards: the old one when it could not be moved. */
uintptr_t do_brk(struct mm *mm, uintptr_t brk);

#endif
