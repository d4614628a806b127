/*
 * Whether threads are inside functions: see livepatch_private.h.
 */
#include <trace/fmt.h>
#include "func/fgraph_private.h"
#include "livepatch_private.h"

struct move {
	const struct klp_ranges *ranges;
	enum klp_side side;
	size_t nr_left;
};

/* Compilers move unlikely parts of a function to one of their own. */
static void add_cold_part(struct klp_ranges *ranges, const char *name)
{
	char cold[TRACE_SYM_LEN + 8], found[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	trace_snprintf(cold, sizeof(cold), "%s.cold", name);
	start = trace_plat_symbol_find(cold);
	if (start && trace_plat_symbol(start, found, &start, &bytes))
		ranges->range[ranges->nr++] = (struct klp_range){ start, start + bytes };
}

static void add_function(struct klp_ranges *ranges, uintptr_t func)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	if (!trace_plat_symbol(func, name, &start, &bytes))
		return;
	ranges->range[ranges->nr++] = (struct klp_range){ start, start + bytes };
	add_cold_part(ranges, name);
}

int klp_ranges_make(struct klp_ranges *ranges, const struct klp_patch *patch, enum klp_side side)
{
	ranges->nr = 0;
	ranges->max = 2 * (patch->nr_funcs + KLP_RANGES_FIXED);
	ranges->range = trace_plat_alloc(ranges->max * sizeof(*ranges->range));
	if (!ranges->range)
		return -ENOMEM;
	for (size_t i = 0; i < patch->nr_funcs; i++) {
		const struct klp_func *func = &patch->funcs[i];

		add_function(ranges, side == KLP_NEW ? klp_func_covered(func) : func->new_func);
	}
	add_function(ranges, klp_callback_address());
	return 0;
}

void klp_ranges_free(struct klp_ranges *ranges)
{
	if (ranges->range)
		trace_plat_free(ranges->range, ranges->max * sizeof(*ranges->range));
	*ranges = (struct klp_ranges){ 0 };
}

static bool is_inside(const struct klp_ranges *ranges, uintptr_t address)
{
	for (size_t i = 0; i < ranges->nr; i++) {
		/* A return address may be the first byte behind a call that ends its function. */
		if (address >= ranges->range[i].start && address <= ranges->range[i].end)
			return true;
	}
	return false;
}

/* Return addresses that graph tracing has taken off the stack. */
static bool is_in_shadow(const struct klp_ranges *ranges, const struct trace_thread *thread)
{
	const struct fgraph_frame *top =
		atomic_load_explicit(&thread->graph_top, memory_order_relaxed);

	if (!thread->graph_base)
		return false;
	for (const struct fgraph_frame *frame = thread->graph_base + 1; frame < top; frame++) {
		if (is_inside(ranges, trace_plat_ip_unpack(frame->ret)))
			return true;
	}
	return false;
}

/* Interrupts off, the thread does not run meanwhile. */
static void move_one(struct trace_thread *thread, const uintptr_t *words, size_t nr, void *arg)
{
	struct move *move = arg;

	if (klp_side_of(thread) == move->side)
		return;
	for (size_t i = 0; i < nr; i++) {
		if (is_inside(move->ranges, words[i]))
			return;
	}
	if (!is_in_shadow(move->ranges, thread))
		klp_set_side(thread, move->side);
}

static void count_left(int32_t pid, struct trace_thread *thread, void *arg)
{
	struct move *move = arg;

	(void)pid;
	if (klp_side_of(thread) != move->side)
		move->nr_left++;
}

size_t klp_move_threads(const struct klp_ranges *ranges, enum klp_side side)
{
	struct move move = { .ranges = ranges, .side = side };

	trace_plat_each_stack(move_one, &move);
	trace_plat_each_thread(count_left, &move);
	return move.nr_left;
}
