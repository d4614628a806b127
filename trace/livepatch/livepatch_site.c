/*
 * One replaced function: see livepatch_private.h.
 */
#include "livepatch_private.h"
#include "ops/ftrace_private.h"
#include "text/str.h"

static struct klp_site *sites; /* guarded by klp_lock */

/*
 * Send the call to the newest function. While that one is in transition, threads on the old side go
 * to the one below it, or to the original. The acquire pairs with the release in klp_site_push().
 */
static TRACE_NOINLINE void klp_callback(uintptr_t ip, uintptr_t parent_ip, struct ftrace_ops *ops,
					struct ftrace_regs *fregs)
{
	const struct klp_site *site = ops->private;
	const struct klp_func *func;

	(void)ip;
	(void)parent_ip;
	trace_plat_preempt_disable();
	func = atomic_load_explicit(&site->top, memory_order_acquire);
	if (func && atomic_load_explicit(&func->is_moving, memory_order_acquire) &&
	    klp_side_of(trace_plat_current()) == KLP_OLD)
		func = atomic_load_explicit(&func->below, memory_order_relaxed);
	if (func)
		ftrace_regs_set_instruction_pointer(fregs, func->new_func);
	trace_plat_preempt_enable();
}

uintptr_t klp_callback_address(void)
{
	return (uintptr_t)klp_callback;
}

static struct klp_site *livepatch_site_find(uintptr_t func)
{
	struct klp_site *site = sites;

	while (site && site->func != func)
		site = site->next;
	return site;
}

static void free_site(struct ftrace_after *after)
{
	struct klp_site *site =
		(struct klp_site *)(void *)((char *)after - offsetof(struct klp_site, after));

	ftrace_free_filter(&site->ops);
	trace_plat_free(site, sizeof(*site));
}

/*
 * Make a site for the function at `address`, with `func` as its only replacement, and register it.
 */
static int add_site(uintptr_t address, struct klp_func *func)
{
	struct klp_site *site = trace_plat_alloc(sizeof(*site));
	int err;

	if (!site)
		return -ENOMEM;
	site->func = address;
	site->ops.func = klp_callback;
	site->ops.private = site;
	/* Permanent: turning ftrace_enabled off must not bring back the original functions. */
	site->ops.flags = FTRACE_OPS_FL_SAVE_REGS | FTRACE_OPS_FL_IPMODIFY | FTRACE_OPS_FL_DYNAMIC |
			  FTRACE_OPS_FL_PERMANENT;
	atomic_store(&site->top, func);
	err = ftrace_set_filter_ip(&site->ops, address, false, true);
	if (err)
		goto free;
	err = register_ftrace_function(&site->ops);
	if (err == -ENODEV) { /* if damage was found just now, the site may call it: do not free */
		atomic_store(&site->top, NULL);
		trace_plat_synchronize_preempt(); /* no callback uses `func` any more */
		return err;
	}
	if (err)
		goto free;
	site->next = sites;
	sites = site;
	func->site = site;
	return 0;

free:
	free_site(&site->after);
	return err;
}

static void remove_site(struct klp_site *site)
{
	struct klp_site **link = &sites;

	while (*link != site)
		link = &(*link)->next;
	*link = site->next;
	/* If text is damaged the site may go on calling it: it is never freed then. */
	if (ftrace_unregister(&site->ops))
		return;
	site->after.fn = free_site;
	ftrace_call_after(&site->after);
}

/* Do several functions have this name? Static functions of different files may. */
static bool is_ambiguous(const char *name)
{
	struct trace_symbol_cursor names = { { 0 } };
	struct ftrace_cursor cursor = { 0 };
	char found[TRACE_SYM_LEN + 16];
	struct dyn_ftrace *record;
	uint32_t nr = 0;

	while ((record = ftrace_next_record(&cursor)))
		nr += trace_plat_symbol_next(&names, trace_plat_ip_unpack(record->ip), found) &&
		      trace_streq(found, name);
	return nr > 1;
}

int klp_site_push(struct klp_func *func)
{
	uintptr_t address = trace_plat_symbol_find(func->old_name);
	struct klp_site *site;
	int err;

	if (!address)
		return -ENOENT;
	if (!ftrace_location(address) || !func->new_func || is_ambiguous(func->old_name))
		return -EINVAL;
	site = livepatch_site_find(address);
	atomic_store(&func->below, NULL);
	atomic_store(&func->is_moving, true);
	if (!site)
		return add_site(address, func);
	func->site = site;
	err = klp_site_settle(func, false);
	if (err) { /* the site may still jump to the old function, past `func` */
		func->site = NULL;
		return err;
	}
	atomic_store(&func->below, atomic_load(&site->top));
	atomic_store_explicit(&site->top, func, memory_order_release);
	return 0;
}

void klp_site_pop(struct klp_func *func)
{
	struct klp_func *_Atomic *link = &func->site->top;
	struct klp_site *site = func->site;

	while (atomic_load(link) != func)
		link = &atomic_load(link)->below;
	atomic_store_explicit(link, atomic_load(&func->below), memory_order_release);
	trace_plat_synchronize_preempt(); /* no callback uses it any more */
	atomic_store(&func->is_moving, false);
	func->site = NULL;
	if (!atomic_load(&site->top))
		remove_site(site);
	else
		(void)klp_site_settle(atomic_load(&site->top), true);
}

int klp_site_settle(const struct klp_func *func, bool may_jump)
{
	struct klp_site *site = func->site;
	const struct klp_func *top = atomic_load(&site->top);

	return ftrace_set_site_jump(&site->ops, may_jump && top ? top->new_func : 0);
}

uintptr_t klp_func_covered(const struct klp_func *func)
{
	const struct klp_func *below = atomic_load(&func->below);

	return below ? below->new_func : func->site->func;
}
