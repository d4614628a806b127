/*
 * Memory of the kernel.
 *
 *   page_alloc   2^order physical pages in a row, from buddy lists
 *   kmalloc      small objects, from slab caches; larger ones from page_alloc
 *   vmalloc      many pages, contiguous in kernel virtual addresses only, guard page behind
 *   stack_alloc  thread stacks with an unmapped guard page below
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

/* Buddy lists from memory_free_ranges(), slabs, vmap. Boot CPU, once, before anything below. */
void mm_init(void);

/* Addresses are in the direct map. Contents are undefined, or zero. */
void *page_alloc(unsigned int order);
void *page_alloc_zeroed(unsigned int order);
void page_free(void *memory, unsigned int order);

/* Aligned to 16 bytes; more than 2048 bytes are whole pages. */
void *kmalloc(size_t bytes);
void *kzalloc(size_t bytes);
/* nr * bytes, zeroed; NULL on overflow. */
void *kcalloc(size_t nr, size_t bytes);
void kfree(void *memory);
char *kstrdup(const char *s);

struct slab_cache;
/* `name` is kept. Objects are not constructed: contents undefined. */
struct slab_cache *slab_cache_create(const char *name, size_t object_bytes);
/* Every object must be free. */
void slab_cache_destroy(struct slab_cache *cache);
void *slab_alloc(struct slab_cache *cache);
void slab_free(struct slab_cache *cache, void *object);

/* Zeroed, page aligned. */
void *vmalloc(size_t bytes);
void vfree(void *memory);

/* Lowest address of a stack of STACK_BYTES; the page below is not mapped. */
void *stack_alloc(void);
void stack_free(void *stack);
/* Whose stack it is, for backtraces; NULL: the boot stack. */
void stack_set_owner(void *stack, const struct trace_thread *owner);

struct mm_stats {
	uint64_t ram_bytes;   /* as the firmware reports it */
	uint64_t total_pages; /* managed */
	uint64_t free_pages;
	uint64_t used_pages;	   /* total - free */
	uint64_t slab_pages;	   /* of used: under slab caches */
	uint64_t vmalloc_pages;	   /* of used */
	uint64_t stack_pages;	   /* of used */
	uint64_t page_table_pages; /* of used; only ever grows, to a bound */
	uint64_t slab_objects;	   /* live objects of all caches */
	uint64_t alloc_failures;
};

/*
 * Give back what caches hold (empty slabs, spare stacks), then count: two calls with nothing
 * leaked in between agree. Thread context.
 */
void mm_stats_get(struct mm_stats *out);
/* For each slab cache; a lock is held and interrupts are off: fn must not allocate or block. */
void mm_each_cache(void (*fn)(const char *name, size_t bytes, uint64_t live, uint64_t pages,
			      void *arg),
		   void *arg);

#endif
