/*
 * Memory of the kernel.
 *
 *   alloc_pages  2^order physical pages in a row, from buddy lists
 *   kmalloc      small objects, from slab caches; larger ones from alloc_pages
 *   vmalloc      many pages, contiguous in kernel virtual addresses only, guard page behind
 *   stack_alloc  thread stacks, nothing mapped below
 *
 * Context:   page_*, k*, slab_*: any but NMI, interrupts off too. v*, stack_*: thread context.
 * Locking:   inside.
 * Ownership: the caller's until freed. NULL means out of memory; freeing NULL does nothing.
 */
#ifndef KERNEL_MM_H
#define KERNEL_MM_H

#include <kernel/base.h>

struct trace_thread;

#define PAGE_MAX_ORDER 10 /* 4 MiB */
#define STACK_BYTES    (4 * PAGE_SIZE)

/* Set up pages, slabs and stacks. On the boot CPU, once, before any other function of this file. */
void mm_init(void);

/*
 * The memory that the parameter reserve_mem=SIZE:ALIGN:NAME has set aside under that name, in the
 * direct map; NULL when there is none. Its contents are those of before the boot, or any other.
 */
void *mm_reserved(const char *name, size_t *out_bytes);

/*
 * 2^order pages, aligned to their size, at their address in the direct map; order is 0 to
 * PAGE_MAX_ORDER. The contents are undefined, except with _zeroed. They are freed with the same
 * order.
 */
void *alloc_pages(unsigned int order);
void *page_alloc_zeroed(unsigned int order);
void free_pages(void *memory, unsigned int order);
/* Memory of the direct map that was kept for something until now: the whole pages in it are free from then on. */
void free_reserved_area(void *start, void *end);

/*
 * One page with a count of its users, which is 1. put_page() takes one away and frees the page with the
 * last. NULL is allowed there.
 */
void *alloc_shared_page(void);
void *alloc_shared_page_zeroed(void);
void *get_page(void *page);
void put_page(void *page);
uint32_t page_count(void *page);

/*
 * Files and programs get no more pages when fewer than PAGE_RESERVE are free: the rest is for the
 * kernel.
 */
#define PAGE_RESERVE 512u
bool page_is_memory_short(void);

/*
 * Aligned to 16 bytes, contents undefined; kzalloc: zeroed. For more than 2048 bytes they are
 * 2^order whole pages; for more than 4 MiB the answer is NULL.
 */
void *kmalloc(size_t bytes);
void *kzalloc(size_t bytes);
/* nr * bytes, zeroed; NULL on overflow. */
void *kcalloc(size_t nr, size_t bytes);
void kfree(void *memory);
/* A copy for kfree(). */
char *kstrdup(const char *s);

struct slab_cache;
/*
 * A cache of objects of one size, 1 to 2048 bytes, for good. `name` is not copied. The contents of
 * a new object are undefined.
 */
struct slab_cache *kmem_cache_create(const char *name, size_t object_bytes);
void *kmem_cache_alloc(struct slab_cache *cache);
void kmem_cache_free(struct slab_cache *cache, void *object);

/* Zeroed, page aligned. NULL for 0 bytes, too. */
void *vmalloc(size_t bytes);
void vfree(void *memory);

/* Lowest address of a stack of STACK_BYTES; as many bytes below it are not mapped. */
void *stack_alloc(void);
void stack_free(void *stack);
/*
 * Name the stack's owner, for backtraces. `stack` NULL means the boot stack, `owner` NULL no owner.
 */
void stack_set_owner(void *stack, const struct trace_thread *owner);

struct mm_stats {
	uint64_t ram_bytes;   /* as the firmware reports it */
	uint64_t total_pages; /* managed */
	uint64_t free_pages;
	uint64_t used_pages;	   /* total - free */
	uint64_t slab_pages;	   /* of used: under slab caches */
	uint64_t vmalloc_pages;	   /* of used */
	uint64_t stack_pages;	   /* of used */
	uint64_t page_table_pages; /* of used; tables stay when their pages are unmapped */
	uint64_t slab_objects;	   /* live objects of all caches */
	uint64_t alloc_failures;   /* times that no free block of pages was large enough */
};

/*
 * Give back all reserves (empty slabs, spare stacks), then count: two calls give the same numbers
 * if nothing was leaked in between. Thread context.
 */
void mm_stats_get(struct mm_stats *out);
/*
 * Call fn for each slab cache: bytes of an object, number of live objects, pages of its slabs. A
 * lock is held and interrupts are off: fn must not allocate or block.
 */
void mm_each_cache(void (*fn)(const char *name, size_t bytes, uint64_t live, uint64_t pages,
			      void *arg),
		   void *arg);

#endif
