/*
 * Making and freeing trampolines: see ftrace_tramp.h. A struct ftrace_tramp has the wait in it
 * after which it is freed, so that releasing it cannot fail. These structs come from pages of our
 * own.
 */
#include "ftrace_tramp.h"

#define PAGE_BYTES 4096u
#define PER_PAGE   ((PAGE_BYTES - 16u) / (uint32_t)sizeof(struct ftrace_tramp))
_Static_assert(PER_PAGE < 64, "a bit for each");

struct tramp_page {
	struct tramp_page *next;
	uint64_t used; /* a bit for each of `tramp` */
	struct ftrace_tramp tramp[PER_PAGE];
};

static struct tramp_page *pages; /* guarded by ftrace_lock */

static struct tramp_page *page_with_room(void)
{
	struct tramp_page *page = pages;

	while (page && page->used == (1ull << PER_PAGE) - 1)
		page = page->next;
	if (page)
		return page;
	page = trace_plat_alloc(PAGE_BYTES);
	if (page) {
		page->next = pages;
		pages = page;
	}
	return page;
}

static struct ftrace_tramp *alloc_tramp(void)
{
	struct tramp_page *page = page_with_room();
	uint32_t i;

	if (!page)
		return NULL;
	i = (uint32_t)__builtin_ctzll(~page->used);
	page->used |= 1ull << i;
	page->tramp[i] = (struct ftrace_tramp){ 0 };
	return &page->tramp[i];
}

static void free_tramp(struct ftrace_tramp *tramp)
{
	struct tramp_page **link = &pages, *page;

	while (tramp < (*link)->tramp || tramp >= (*link)->tramp + PER_PAGE)
		link = &(*link)->next;
	page = *link;
	page->used &= ~(1ull << (tramp - page->tramp));
	if (page->used)
		return;
	*link = page->next;
	trace_plat_free(page, PAGE_BYTES);
}

struct ftrace_tramp *ftrace_tramp_create(const struct trace_trampoline_call *calls, size_t nr,
					 bool with_regs)
{
	struct ftrace_tramp *tramp = alloc_tramp();

	if (!tramp)
		return NULL;
	if (trace_plat_trampoline_create(calls, nr, with_regs, &tramp->code)) {
		free_tramp(tramp);
		return NULL;
	}
	tramp->wait.code[0] =
		(struct ftrace_code){ tramp->code.addr, tramp->code.addr + tramp->code.bytes - 1 };
	return tramp;
}

int ftrace_tramp_retarget(struct ftrace_tramp *tramp, uint32_t index, ftrace_func_t func)
{
	return trace_plat_trampoline_retarget(&tramp->code, index, (uintptr_t)func);
}

void ftrace_tramp_wait(struct ftrace_tramp *tramp)
{
	ftrace_wait_begin(&tramp->wait, NULL);
}

static void nobody_is_inside(struct ftrace_wait *wait)
{
	struct ftrace_tramp *tramp =
		(struct ftrace_tramp *)(void *)((char *)wait - offsetof(struct ftrace_tramp, wait));

	trace_plat_lock(&ftrace_lock);
	trace_plat_trampoline_destroy(&tramp->code);
	free_tramp(tramp);
	trace_plat_unlock(&ftrace_lock);
}

void ftrace_tramp_release(struct ftrace_tramp *tramp)
{
	ftrace_wait_begin(&tramp->wait, nobody_is_inside);
}
