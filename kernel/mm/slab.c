/*
 * Slab caches and kmalloc(), see <kernel/mm.h>.
 *
 *   slab (2^order pages):  | struct slab | object | object | ... |
 *
 * Free objects are linked through their first word. A slab is on its cache's list while it has a
 * free object. The metadata of each of its pages says SLAB and the order, which is how kfree()
 * finds the slab of an address.
 *
 * Debug builds put a red zone behind each object: a guard that must never change, and whether the
 * object is free. Free objects, and the bytes behind those that were asked for, hold patterns; a
 * pattern that has changed shows a write outside of an object.
 */
#include <kernel/config.h>
#include <kernel/list.h>
#include <kernel/lock.h>
#include <kernel/mm.h>
#include <kernel/string.h>
#include <trace/events/kmem.h>
#include "page.h"
#include "slab.h"

#define SLAB_MAX_ORDER	3
#define SLAB_MIN_NR	8 /* objects in a slab, if the order allows */
#define SLAB_KEEP_EMPTY 2 /* empty slabs that a cache keeps; the others are freed */
#define RED_ZONE	0xfa7c0de5fa7c0de5ull
#define RED_FREE	0x6b6b6b6bu
#define RED_LIVE	0xa11cea11u
#define FILL_FREE	0x6b
#define FILL_NEW	0xa5
#define FILL_BEHIND	0xbb

struct red_zone {
	uint64_t guard;
	uint32_t state; /* RED_FREE or RED_LIVE */
	uint32_t bytes; /* asked for; those behind them, up to object_bytes, are FILL_BEHIND */
};

struct slab {
	struct list link; /* in cache->slabs while an object is free */
	struct slab_cache *cache;
	void *free; /* first free object */
	uint32_t nr_live;
	uint32_t unused;
} __attribute__((aligned(64)));

struct slab_cache {
	struct spinlock lock; /* guards everything from `slabs` on, and the slabs */
	const char *name;
	struct list all_link; /* guarded by caches_lock */
	uint32_t object_bytes;
	uint32_t stride;   /* from one object to the next */
	uint32_t per_slab; /* objects */
	uint32_t order;	   /* a slab has 2^order pages */
	struct list slabs; /* those with a free object */
	uint32_t nr_slabs;
	uint32_t nr_empty;
	uint64_t nr_live;
};

static struct list caches = LIST_INIT(caches);
static struct spinlock caches_lock;

static const uint16_t class_bytes[] = { 16, 32, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048 };
static const char *const class_names[] = {
	"kmalloc-16",  "kmalloc-32",  "kmalloc-64",  "kmalloc-96",  "kmalloc-128",  "kmalloc-192",
	"kmalloc-256", "kmalloc-384", "kmalloc-512", "kmalloc-768", "kmalloc-1024", "kmalloc-2048",
};
static struct slab_cache classes[ARRAY_SIZE(class_bytes)];
#define KMALLOC_MAX 2048u

/* For events: where the function that uses this was called. */
#define CALLER ((unsigned long)__builtin_return_address(0))

static struct red_zone *slab_red_zone_of(const struct slab_cache *cache, void *object)
{
	return (struct red_zone *)((char *)object + ALIGN_UP(cache->object_bytes, 16u));
}

static bool slab_is_filled(const uint8_t *from, size_t len, uint8_t byte)
{
	while (len && *from == byte) {
		from++;
		len--;
	}
	return len == 0;
}

/* Fill a free object, but for its first word, which links it to the next free one. */
static void slab_mark_free(const struct slab_cache *cache, void *object)
{
	*slab_red_zone_of(cache, object) =
		(struct red_zone){ .guard = RED_ZONE, .state = RED_FREE };
	memset((char *)object + sizeof(void *), FILL_FREE, cache->object_bytes - sizeof(void *));
}

static void slab_check_taken(struct slab_cache *cache, void *object, size_t bytes)
{
	struct red_zone *red = slab_red_zone_of(cache, object);

	if (red->guard != RED_ZONE || red->state != RED_FREE ||
	    !slab_is_filled((uint8_t *)object + sizeof(void *),
			    cache->object_bytes - sizeof(void *), FILL_FREE))
		panic("%s: object %p was written after it was freed", cache->name, object);
	red->state = RED_LIVE;
	red->bytes = (uint32_t)bytes;
	memset(object, FILL_NEW, bytes);
	memset((char *)object + bytes, FILL_BEHIND, cache->object_bytes - bytes);
}

static void slab_check_returned(struct slab_cache *cache, void *object)
{
	struct red_zone *red = slab_red_zone_of(cache, object);

	if (red->state == RED_FREE)
		panic("%s: object %p is freed twice", cache->name, object);
	if (red->guard != RED_ZONE || red->state != RED_LIVE ||
	    !slab_is_filled((uint8_t *)object + red->bytes, cache->object_bytes - red->bytes,
			    FILL_BEHIND))
		panic("%s: something wrote behind the end of object %p", cache->name, object);
	slab_mark_free(cache, object);
}

static void slab_cache_setup(struct slab_cache *cache, const char *name, size_t bytes)
{
	uint64_t flags, align;

	memset(cache, 0, sizeof(*cache));
	cache->name = name;
	cache->object_bytes = (uint32_t)(bytes < sizeof(void *) ? sizeof(void *) : bytes);
	/* The slab's head ends at a multiple of 64: so do objects whose size is one. */
	align = bytes % 64 ? 16ul : 64ul;
	cache->stride =
		(uint32_t)ALIGN_UP(bytes + (KERNEL_DEBUG ? sizeof(struct red_zone) : 0), align);
	while (cache->order < SLAB_MAX_ORDER &&
	       ((PAGE_SIZE << cache->order) - sizeof(struct slab)) / cache->stride < SLAB_MIN_NR)
		cache->order++;
	cache->per_slab =
		(uint32_t)(((PAGE_SIZE << cache->order) - sizeof(struct slab)) / cache->stride);
	ASSERT(cache->per_slab > 0);
	list_init(&cache->slabs);
	flags = spin_lock_irqsave(&caches_lock);
	list_add_tail(&caches, &cache->all_link);
	spin_unlock_irqrestore(&caches_lock, flags);
}

static void slab_mark_pages(struct slab *slab, unsigned int order, enum page_state state)
{
	struct page *page = page_of(slab);

	for (uint32_t i = 0; i < 1u << order; i++) {
		page[i].state = (uint8_t)(i && state == PAGE_STATE_BUSY ? PAGE_STATE_NONE : state);
		page[i].order = (uint8_t)order;
	}
}

/* A slab with all its objects free; NULL when out of memory. */
static struct slab *slab_create(struct slab_cache *cache)
{
	struct slab *slab = alloc_pages(cache->order);
	char *object;

	if (!slab)
		return NULL;
	slab_mark_pages(slab, cache->order, PAGE_STATE_SLAB);
	slab->cache = cache;
	slab->nr_live = 0;
	slab->free = NULL;
	object = (char *)(slab + 1) + (size_t)cache->per_slab * cache->stride;
	for (uint32_t i = 0; i < cache->per_slab; i++) {
		object -= cache->stride;
		*(void **)object = slab->free;
		slab->free = object;
		if (KERNEL_DEBUG)
			slab_mark_free(cache, object);
	}
	return slab;
}

static void slab_release(struct slab *slab, unsigned int order)
{
	slab_mark_pages(slab, order, PAGE_STATE_BUSY);
	free_pages(slab, order);
}

static void *slab_take_object_locked(struct slab_cache *cache)
{
	struct slab *slab;
	void *object;

	if (list_empty(&cache->slabs))
		return NULL;
	slab = list_entry(cache->slabs.next, struct slab, link);
	object = slab->free;
	ASSERT(object);
	slab->free = *(void **)object;
	if (slab->nr_live++ == 0)
		cache->nr_empty--;
	if (!slab->free)
		list_remove(&slab->link);
	cache->nr_live++;
	return object;
}

/* A new object, of which the caller has asked for `bytes` bytes. */
static void *slab_alloc_object(struct slab_cache *cache, size_t bytes)
{
	uint64_t flags;
	void *object;

	if (mm_fails_now())
		return NULL;
	flags = spin_lock_irqsave(&cache->lock);
	object = slab_take_object_locked(cache);
	if (!object) {
		struct slab *slab = slab_create(cache);

		if (slab) {
			list_add(&cache->slabs, &slab->link);
			cache->nr_slabs++;
			cache->nr_empty++;
			object = slab_take_object_locked(cache);
		}
	}
	spin_unlock_irqrestore(&cache->lock, flags);
	if (KERNEL_DEBUG && object)
		slab_check_taken(cache, object, bytes);
	return object;
}

void *kmem_cache_alloc(struct slab_cache *cache)
{
	void *object = slab_alloc_object(cache, cache->object_bytes);

	trace_kmem_cache_alloc(CALLER, object, cache->object_bytes, cache->stride);
	return object;
}

static void slab_free_object(struct slab_cache *cache, void *object)
{
	struct slab *slab, *empty = NULL;
	uint64_t flags;

	slab = (struct slab *)ALIGN_DOWN((uintptr_t)object, PAGE_SIZE << cache->order);
	ASSERT(slab->cache == cache);
	ASSERT(((uintptr_t)object - (uintptr_t)(slab + 1)) % cache->stride == 0);
	if (KERNEL_DEBUG)
		slab_check_returned(cache, object);

	flags = spin_lock_irqsave(&cache->lock);
	if (!slab->free)
		list_add(&cache->slabs, &slab->link);
	*(void **)object = slab->free;
	slab->free = object;
	cache->nr_live--;
	ASSERT(slab->nr_live > 0);
	if (--slab->nr_live == 0 && cache->nr_empty++ >= SLAB_KEEP_EMPTY) {
		list_remove(&slab->link);
		cache->nr_empty--;
		cache->nr_slabs--;
		empty = slab;
	}
	spin_unlock_irqrestore(&cache->lock, flags);
	if (empty)
		slab_release(empty, cache->order);
}

void kmem_cache_free(struct slab_cache *cache, void *object)
{
	if (!object)
		return;
	trace_kmem_cache_free(CALLER, object, cache->name);
	slab_free_object(cache, object);
}

/* Give back the empty slabs of one cache. */
static void slab_cache_shrink(struct slab_cache *cache)
{
	uint64_t flags = spin_lock_irqsave(&cache->lock);
	struct list *pos, *following;

	list_for_each_safe(pos, following, &cache->slabs) {
		struct slab *slab = list_entry(pos, struct slab, link);

		if (slab->nr_live > 0)
			continue;
		list_remove(pos);
		cache->nr_empty--;
		cache->nr_slabs--;
		slab_release(slab, cache->order);
	}
	spin_unlock_irqrestore(&cache->lock, flags);
}

struct slab_cache *kmem_cache_create(const char *name, size_t object_bytes)
{
	struct slab_cache *cache;

	ASSERT(object_bytes > 0 && object_bytes <= KMALLOC_MAX);
	cache = kmalloc(sizeof(*cache));
	if (cache)
		slab_cache_setup(cache, name, object_bytes);
	return cache;
}

/* The class whose objects hold `bytes` bytes, at most KMALLOC_MAX. */
static struct slab_cache *slab_class_of(size_t bytes)
{
	size_t i = 0;

	while (bytes > class_bytes[i])
		i++;
	return &classes[i];
}

/* The bytes that kmalloc() takes for `bytes`. */
static size_t slab_kmalloc_room(size_t bytes)
{
	return bytes > KMALLOC_MAX ? PAGE_SIZE << page_order_of(bytes)
				   : slab_class_of(bytes)->stride;
}

/* Inlined, so that a trace shows only functions that others call by name. */
static TRACE_ALWAYS_INLINE void *slab_kmalloc(size_t bytes, unsigned long call_site)
{
	void *memory = NULL;

	if (bytes <= KMALLOC_MAX)
		memory = slab_alloc_object(slab_class_of(bytes), bytes);
	else if (bytes <= PAGE_SIZE << PAGE_MAX_ORDER)
		memory = alloc_pages(page_order_of(bytes));
	if (trace_kmalloc_enabled())
		trace_kmalloc(call_site, memory, bytes, slab_kmalloc_room(bytes));
	return memory;
}

void *kmalloc(size_t bytes)
{
	return slab_kmalloc(bytes, CALLER);
}

static TRACE_ALWAYS_INLINE void *slab_kzalloc(size_t bytes, unsigned long call_site)
{
	void *memory = slab_kmalloc(bytes, call_site);

	if (memory)
		memset(memory, 0, bytes);
	return memory;
}

void *kzalloc(size_t bytes)
{
	return slab_kzalloc(bytes, CALLER);
}

void *kcalloc(size_t nr, size_t bytes)
{
	size_t total;

	if (__builtin_mul_overflow(nr, bytes, &total))
		return NULL;
	return slab_kzalloc(total, CALLER);
}

void kfree(void *memory)
{
	struct page *page;

	if (!memory)
		return;
	page = page_of(memory);
	if (!page)
		panic("kfree(%p): not from kmalloc", memory);
	trace_kfree(CALLER, memory);
	if (page->state == PAGE_STATE_SLAB) {
		struct slab *slab =
			(struct slab *)ALIGN_DOWN((uintptr_t)memory, PAGE_SIZE << page->order);

		slab_free_object(slab->cache, memory);
		return;
	}
	free_pages(memory, page->order);
}

char *kstrdup(const char *s)
{
	size_t bytes = strlen(s) + 1;
	char *copy = slab_kmalloc(bytes, CALLER);

	if (copy)
		memcpy(copy, s, bytes);
	return copy;
}

void slab_init(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		slab_cache_setup(&classes[i], class_names[i], class_bytes[i]);
}

void slab_shrink(void)
{
	uint64_t flags = spin_lock_irqsave(&caches_lock);
	struct list *pos;

	list_for_each(pos, &caches)
		slab_cache_shrink(list_entry(pos, struct slab_cache, all_link));
	spin_unlock_irqrestore(&caches_lock, flags);
}

void mm_each_cache(void (*fn)(const char *name, size_t bytes, uint64_t live, uint64_t pages,
			      void *arg),
		   void *arg)
{
	uint64_t flags = spin_lock_irqsave(&caches_lock);
	struct list *pos;

	list_for_each(pos, &caches) {
		struct slab_cache *cache = list_entry(pos, struct slab_cache, all_link);

		fn(cache->name, cache->object_bytes, cache->nr_live,
		   (uint64_t)cache->nr_slabs << cache->order, arg);
	}
	spin_unlock_irqrestore(&caches_lock, flags);
}

void slab_get_counts(uint64_t *out_pages, uint64_t *out_objects)
{
	uint64_t flags = spin_lock_irqsave(&caches_lock);
	struct list *pos;

	*out_pages = 0;
	*out_objects = 0;
	list_for_each(pos, &caches) {
		struct slab_cache *cache = list_entry(pos, struct slab_cache, all_link);

		*out_pages += (uint64_t)cache->nr_slabs << cache->order;
		*out_objects += cache->nr_live;
	}
	spin_unlock_irqrestore(&caches_lock, flags);
}
