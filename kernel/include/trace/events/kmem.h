/*
 * Events of memory. Names are Linux's, and fields and text are but for what these allocators do not
 * have: flags, nodes, kinds of pages. See <trace/trace_events.h>.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kmem

#if !defined(KERNEL_EVENTS_KMEM_H) || defined(TRACE_HEADER_MULTI_READ)
#define KERNEL_EVENTS_KMEM_H

#include <trace/trace_events.h>

DECLARE_EVENT_CLASS(kmem_alloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req, size_t bytes_alloc),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc),
	TP_STRUCT__entry(
		__field(unsigned long, call_site)
		__field(const void *, ptr)
		__field(size_t, bytes_req)
		__field(size_t, bytes_alloc)
	),
	TP_fast_assign(
		__entry->call_site = call_site;
		__entry->ptr = ptr;
		__entry->bytes_req = bytes_req;
		__entry->bytes_alloc = bytes_alloc;
	),
	TP_printk("call_site=%pS ptr=%p bytes_req=%zu bytes_alloc=%zu",
		(void *)__entry->call_site, __entry->ptr, __entry->bytes_req,
		__entry->bytes_alloc)
);

/* `ptr` is NULL when there was no memory. */
DEFINE_EVENT(kmem_alloc, kmalloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req, size_t bytes_alloc),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc));

DEFINE_EVENT(kmem_alloc, kmem_cache_alloc,
	TP_PROTO(unsigned long call_site, const void *ptr, size_t bytes_req, size_t bytes_alloc),
	TP_ARGS(call_site, ptr, bytes_req, bytes_alloc));

TRACE_EVENT(kfree,
	TP_PROTO(unsigned long call_site, const void *ptr),
	TP_ARGS(call_site, ptr),
	TP_STRUCT__entry(
		__field(unsigned long, call_site)
		__field(const void *, ptr)
	),
	TP_fast_assign(
		__entry->call_site = call_site;
		__entry->ptr = ptr;
	),
	TP_printk("call_site=%pS ptr=%p", (void *)__entry->call_site, __entry->ptr)
);

TRACE_EVENT(kmem_cache_free,
	TP_PROTO(unsigned long call_site, const void *ptr, const char *name),
	TP_ARGS(call_site, ptr, name),
	TP_STRUCT__entry(
		__field(unsigned long, call_site)
		__field(const void *, ptr)
		__string(name, name)
	),
	TP_fast_assign(
		__entry->call_site = call_site;
		__entry->ptr = ptr;
		__assign_str(name, name);
	),
	TP_printk("call_site=%pS ptr=%p name=%s",
		(void *)__entry->call_site, __entry->ptr, __get_str(name))
);

DECLARE_EVENT_CLASS(mm_page,
	TP_PROTO(const void *page, unsigned long pfn, unsigned int order),
	TP_ARGS(page, pfn, order),
	TP_STRUCT__entry(
		__field(const void *, page)
		__field(unsigned long, pfn)
		__field(unsigned int, order)
	),
	TP_fast_assign(
		__entry->page = page;
		__entry->pfn = pfn;
		__entry->order = order;
	),
	TP_printk("page=%p pfn=0x%lx order=%d", __entry->page, __entry->pfn, __entry->order)
);

/* 2^order pages from number `pfn` on; `page` is the allocator's record of the first of them. */
DEFINE_EVENT(mm_page, mm_page_alloc,
	TP_PROTO(const void *page, unsigned long pfn, unsigned int order),
	TP_ARGS(page, pfn, order));

DEFINE_EVENT(mm_page, mm_page_free,
	TP_PROTO(const void *page, unsigned long pfn, unsigned int order),
	TP_ARGS(page, pfn, order));

#endif

#include <trace/define_trace.h>
