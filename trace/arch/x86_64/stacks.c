/*
 * Return addresses on the stacks of threads: see <trace/arch_stacks.h>.
 */
#include <trace/arch_stacks.h>
#include <trace/ftrace.h>

#define WORD_BYTES  sizeof(uintptr_t)
#define FRAME_WORDS 2u

/* Can there be a frame at `frame`: is it aligned, not below `from`, and whole on the stack? */
static bool stacks_is_frame(uintptr_t frame, uintptr_t from, uintptr_t end)
{
	return frame >= from && frame % WORD_BYTES == 0 && frame + FRAME_WORDS * WORD_BYTES <= end;
}

/* Is it the frame of a trampoline: does it return behind a call site? */
static bool is_trampoline(const uintptr_t *frame)
{
	uintptr_t site = frame[1] - TRACE_INSN_SIZE;

	return ftrace_location(site) == site;
}

static uint32_t find_words(const struct trace_plat_look *look, struct trace_thread *thread,
			   uintptr_t from, uintptr_t end)
{
	from &= ~(WORD_BYTES - 1);
	return end > from ? look->find(thread, (const uintptr_t *)from, (end - from) / WORD_BYTES,
				       look->arg)
			  : 0;
}

void trace_stack_show_frames(const struct trace_plat_look *look, struct trace_thread *thread,
			     uintptr_t frame, uintptr_t end)
{
	uintptr_t from = frame;
	uint32_t found = 0;

	while (frame && stacks_is_frame(frame, from, end)) {
		const uintptr_t *at = (const uintptr_t *)frame;
		uintptr_t behind = frame + FRAME_WORDS * WORD_BYTES;

		/* From what it has called to the function's own return address, all words. */
		if (is_trampoline(at) && behind + WORD_BYTES <= end)
			found |= find_words(look, thread, from, behind + WORD_BYTES);
		else
			found |= look->find(thread, at + 1, 1, look->arg);
		from = behind;
		frame = at[0];
	}
	if (frame)
		found |= find_words(look, thread, from, end);
	look->seen(thread, found, look->arg);
}

void trace_stack_show_words(const struct trace_plat_look *look, struct trace_thread *thread,
			    uintptr_t from, uintptr_t end)
{
	look->seen(thread, find_words(look, thread, from, end), look->arg);
}
