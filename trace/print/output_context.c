/* The columns before an event's text: thread, CPU, state, time. See output.h. */
#include "output.h"
#include "text/str.h"
#include "text/word.h"

#define NS_PER_US 1000u

static uint64_t to_us(uint64_t ns)
{
	return (ns + NS_PER_US / 2) / NS_PER_US;
}

static char irqs_char(uint8_t flags)
{
	bool bh_off = flags & TRACE_FLAG_BH_OFF;

	if (flags & TRACE_FLAG_IRQS_OFF)
		return bh_off ? 'D' : 'd';
	return bh_off ? 'b' : '.';
}

static char resched_char(uint8_t flags)
{
	bool needed = flags & TRACE_FLAG_NEED_RESCHED;
	bool by_count = flags & TRACE_FLAG_PREEMPT_RESCHED;

	if (needed)
		return by_count ? 'N' : 'n';
	return by_count ? 'p' : '.';
}

static char context_char(uint8_t flags)
{
	bool hardirq = flags & TRACE_FLAG_HARDIRQ;
	bool softirq = flags & TRACE_FLAG_SOFTIRQ;

	if (flags & TRACE_FLAG_NMI)
		return hardirq ? 'Z' : 'z';
	if (hardirq)
		return softirq ? 'H' : 'h';
	return softirq ? 's' : '.';
}

static char depth_char(uint32_t depth)
{
	return ".123456789abcdef"[depth];
}

void trace_print_state(const struct trace_entry *entry, struct trace_seq *seq)
{
	char text[5];

	text[0] = irqs_char(entry->flags);
	text[1] = resched_char(entry->flags);
	text[2] = context_char(entry->flags);
	text[3] = depth_char(entry->preempt_count & 0xfu);
	text[4] = depth_char((uint32_t)entry->preempt_count >> 4);
	trace_seq_write(seq, text, sizeof(text));
}

/* `-PID` with blanks behind it up to eight characters. */
static void output_context_print_pid(int32_t pid, struct trace_seq *seq)
{
	size_t start = seq->len;

	trace_seq_putc(seq, '-');
	if (pid < 0)
		trace_seq_putc(seq, '-');
	trace_seq_dec(seq, pid < 0 ? -(uint64_t)pid : (uint64_t)pid, 0, ' ');
	while (seq->len - start < 8 && trace_seq_room(seq))
		trace_seq_putc(seq, ' ');
}

/*
 * Times and what stands before them use no format, for speed: each line of a trace has them. This
 * one is written from its end to its start; with_colon: a colon and a blank follow it.
 */
static TRACE_ALWAYS_INLINE void print_time(const struct trace_iter *iter, struct trace_seq *seq,
					   uint64_t ts, bool with_colon)
{
	char text[TRACE_DIGITS_MAX + 12], *end = text + sizeof(text), *at = end;
	uint64_t us = to_us(ts), seconds = us / 1000000;
	uint32_t rest = (uint32_t)(us - seconds * 1000000);
	size_t len, least = with_colon ? 14 : 12;

	if (with_colon) {
		*--at = ' ';
		*--at = ':';
	}
	__builtin_memset(at - 13, ' ', 13); /* also the one before the time */
	if (iter->is_ns) {
		trace_digits_pair(at - 2, rest % 100);
		trace_digits_pair(at - 4, rest / 100 % 100);
		trace_digits_pair(at - 6, rest / 10000);
		at[-7] = '.';
		at = trace_digits(at - 7, seconds);
	} else {
		at = trace_digits(at, ts);
	}
	len = (size_t)(end - at) > least ? (size_t)(end - at) : least;
	text[sizeof(text) - len - 1] = ' ';
	trace_seq_write(seq, end - len - 1, len + 1);
}

void trace_print_time(const struct trace_iter *iter, struct trace_seq *seq, uint64_t ts)
{
	print_time(iter, seq, ts, false);
}

/* `(TGID) `, as wide as a pid; `(-------) ` when it is not known. */
static void output_context_print_tgid(const struct trace_iter *iter, int32_t pid,
				      struct trace_seq *seq)
{
	int32_t tgid = trace_iter_tgid(iter, pid);

	if (tgid)
		trace_seq_printf(seq, "(%7d) ", tgid);
	else
		trace_seq_puts(seq, "(-------) ");
}

/* Thread, its process if that is wanted, CPU and state. `head` remembers the text for the thread's next line. */
static void output_context_print_head(struct trace_iter *iter, struct trace_iter_head *head,
				      const char *comm)
{
	const struct trace_entry *entry = trace_iter_entry(iter);
	struct trace_seq seq;

	trace_seq_init(&seq, head->text, sizeof(head->text));
	trace_seq_right(&seq, comm, 16);
	output_context_print_pid(entry->pid, &seq);
	trace_seq_putc(&seq, ' ');
	if (iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_RECORD_TGID))
		output_context_print_tgid(iter, entry->pid, &seq);
	trace_seq_putc(&seq, '[');
	trace_seq_dec(&seq, iter->event.cpu, 3, '0');
	trace_seq_puts(&seq, "] ");
	if (iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_IRQ_INFO))
		trace_print_state(entry, &seq);
	head->len = (uint32_t)seq.len;
}

void trace_print_context(struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_entry *entry = trace_iter_entry(iter);
	struct trace_iter_head *head = &iter->heads[trace_iter_place(entry->pid)];
	uint32_t state = (uint32_t)entry->flags | (uint32_t)entry->preempt_count << 8;
	const char *comm = trace_iter_comm(iter); /* forgets `head` if that is of another thread */

	if (iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_IRQ_INFO))
		state |= 1u << 16;
	if (iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_RECORD_TGID))
		state |= 1u << 17;
	if (!head->len || head->cpu != iter->event.cpu || head->state != state) {
		head->cpu = iter->event.cpu;
		head->state = state;
		output_context_print_head(iter, head, comm);
	}
	trace_seq_write(seq, head->text, head->len);
	print_time(iter, seq, iter->event.ts, true);
}

char trace_delay_mark(uint64_t ns)
{
	static const struct {
		uint64_t above_ns;
		char mark;
	} marks[] = {
		{ 1000000000u, '$' }, { 100000000u, '@' }, { 10000000u, '*' },
		{ 1000000u, '#' },    { 100000u, '!' },	   { 10000u, '+' },
	};

	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
		if (ns > marks[i].above_ns)
			return marks[i].mark;
	}
	return ' ';
}

static void print_verbose_time(const struct trace_iter *iter, struct trace_seq *seq, uint64_t since,
			       uint64_t delay)
{
	unsigned long long now = iter->event.ts;

	if (!iter->is_ns) {
		trace_seq_printf(seq, "[%016llx] %lld (+%lld): ", now, (long long)since,
				 (long long)delay);
		return;
	}
	since = to_us(since);
	delay = to_us(delay);
	trace_seq_printf(
		seq, "[%08llx] %llu.%03llums (+%llu.%03llums): ", (unsigned long long)to_us(now),
		(unsigned long long)(since / 1000), (unsigned long long)(since % 1000),
		(unsigned long long)(delay / 1000), (unsigned long long)(delay % 1000));
}

static void print_short_time(const struct trace_iter *iter, struct trace_seq *seq, uint64_t since,
			     uint64_t delay)
{
	if (iter->is_ns)
		trace_seq_printf(seq, " %4lldus%c: ", (long long)to_us(since),
				 trace_delay_mark(delay));
	else
		trace_seq_printf(seq, " %4lld: ", (long long)since);
}

void trace_print_latency_context(struct trace_iter *iter, struct trace_seq *seq)
{
	const struct trace_entry *entry = trace_iter_entry(iter);
	uint64_t since = iter->event.ts - iter->start_ts;
	uint64_t delay = iter->next_ts - iter->event.ts;

	if (iter->tr->options & TRACE_OPT_BIT(TRACE_OPT_VERBOSE)) {
		trace_seq_printf(seq, "%16s %7d %3u %d %08x %08llx ", trace_iter_comm(iter),
				 entry->pid, iter->event.cpu, entry->flags,
				 entry->preempt_count & 0xfu, (unsigned long long)iter->index);
		print_verbose_time(iter, seq, since, delay);
		return;
	}
	trace_seq_printf(seq, "%8.8s-%-7d %3u", trace_iter_comm(iter), entry->pid, iter->event.cpu);
	trace_print_state(entry, seq);
	print_short_time(iter, seq, since, delay);
}
