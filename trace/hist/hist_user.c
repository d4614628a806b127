/* Histograms: stacks of programs. See hist_user.h. */
#include "hist_user.h"
#include "instance/stacktrace.h"
#include "print/output.h"

uint32_t trace_hist_user_put(uint64_t *to)
{
	struct hist_user_stack *stack = (void *)to;

	stack->tgid = 0;
	stack->nr = trace_userstack_get(&stack->tgid, stack->callers);
	return hist_user_words(stack);
}

static int hist_user_order(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

int trace_hist_user_compare(const struct hist_user_stack *a, const struct hist_user_stack *b)
{
	int order = 0;

	for (uint32_t i = 0; !order && i < a->nr && i < b->nr; i++)
		order = hist_user_order(a->callers[i], b->callers[i]);
	if (!order)
		order = hist_user_order(a->nr, b->nr);
	return order ? order : hist_user_order(a->tgid, b->tgid);
}

void trace_hist_user_line(const struct hist_user_stack *stack, uint32_t index,
			  struct trace_seq *seq)
{
	uint64_t ip = stack->callers[index];

	if (!trace_print_user_place(stack->tgid, ip, index > 0, seq))
		trace_seq_printf(seq, "<%016llx>", (unsigned long long)ip);
}
