/*
 * Finding out which threads are inside given functions: see livepatch_private.h.
 */
#include <trace/fmt.h>
#include "livepatch_private.h"

struct move {
	const struct klp_ranges *ranges;
	enum klp_side side;
	size_t nr_left;
};

/* Compilers move unlikely parts of a function to a function of its own, NAME.cold. */
static void add_cold_part(struct klp_ranges *ranges, const char *name)
{
	char cold[TRACE_SYM_LEN + 8], found[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	trace_snprintf(cold, sizeof(cold), "%s.cold", name);
	start = trace_plat_symbol_find(cold);
	if (start && trace_plat_symbol(start, found, &start, &bytes))
		ranges->range[ranges->nr++] = (struct ftrace_code){ start, start + bytes };
}

/*
 * The range includes the address behind the function: that is a return address in it when its last
 * instruction is a call to a function that never returns.
 */
static void add_function(struct klp_ranges *ranges, uintptr_t func)
{
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t bytes;

	if (!trace_plat_symbol(func, name, &start, &bytes))
		return;
	ranges->range[ranges->nr++] = (struct ftrace_code){ start, start + bytes };
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

/* For struct trace_plat_look: interrupts may be off, and the thread does not run meanwhile. */
static uint32_t find_ranges(struct trace_thread *thread, const uintptr_t *words, size_t nr,
			    void *arg)
{
	const struct move *move = arg;

	if (klp_side_of(thread) == move->side)
		return 0;
	for (size_t i = 0; i < move->ranges->nr; i++) {
		for (size_t word = 0; word < nr; word++) {
			if (ftrace_code_has(move->ranges->range[i], words[word]))
				return 1;
		}
	}
	return 0;
}

static void move_one(struct trace_thread *thread, uint32_t found, void *arg)
{
	const struct move *move = arg;

	for (size_t i = 0; i < move->ranges->nr && !found; i++)
		found = ftrace_code_in_shadow(move->ranges->range[i], thread);
	if (!found)
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
	const struct trace_plat_look look = { find_ranges, move_one, &move };

	trace_plat_each_stack(&look);
	trace_plat_each_thread(count_left, &move);
	return move.nr_left;
}
