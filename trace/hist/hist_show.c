/*
 * Histograms: entries as text, in Linux's form. See hist.h.
 */
#include <trace/fmt.h>
#include <trace/syscalls.h>
#include <trace/trace_seq.h>
#include "hist_action.h"
#include "hist_user.h"
#include "hist_view.h"
#include "text/str.h"

#define BAR_CHARS	 20u
#define STACK_INDENT	 9
#define SYSCALL_NAME_MAX 64

/* ---- Keys ---- */

static void print_symbol(uint64_t address, bool has_offset, struct trace_seq *seq)
{
	char text[TRACE_SYM_LEN + 48];
	int width = has_offset ? 55 : 45;

	(void)trace_snprintf(text, sizeof(text), has_offset ? "%pS" : "%ps",
			     (void *)(uintptr_t)address);
	trace_seq_printf(seq, "[%llx] %-*s", (unsigned long long)address, width, text);
}

static void print_user_stack(const struct hist_user_stack *stack, struct trace_seq *seq)
{
	for (uint32_t i = 0; i < stack->nr; i++) {
		trace_seq_printf(seq, "%*c", STACK_INDENT, ' ');
		trace_hist_user_line(stack, i, seq);
		trace_seq_putc(seq, '\n');
	}
}

static void hist_show_print_stack(const struct hist_value *value, const uint64_t *words,
				  struct trace_seq *seq)
{
	const uint32_t *ips = (const void *)words;

	if (value->kind == HIST_USER_STACK) {
		print_user_stack((const void *)words, seq);
		return;
	}
	for (uint32_t i = 0; i < HIST_STACK_MAX && ips[i]; i++)
		trace_seq_printf(seq, "%*c%pB\n", STACK_INDENT, ' ',
				 (void *)trace_plat_ip_unpack(ips[i]));
}

/* Print the name of a system call, as wide as Linux's, and its number. */
static void print_syscall(uint64_t nr, struct trace_seq *seq)
{
	const struct trace_syscall *call = trace_syscall_of(nr);
	char name[SYSCALL_NAME_MAX];

	trace_snprintf(name, sizeof(name), "sys_%s", call ? call->name : "");
	trace_seq_printf(seq, "%-30s[%3llu]", call ? name : "unknown_syscall",
			 (unsigned long long)nr);
}

/* Print a key that is a number. `comm` is the name of the thread, where the key is one. */
static void print_number_key(const struct hist_value *key, uint64_t value, const char *comm,
			     struct trace_seq *seq)
{
	unsigned long long number = value;

	trace_seq_printf(seq, "%s: ", key->name);
	switch (key->modifier) {
	case HIST_HEX:
		trace_seq_printf(seq, "%llx", number);
		break;
	case HIST_SYM:
	case HIST_SYM_OFFSET:
		print_symbol(value, key->modifier == HIST_SYM_OFFSET, seq);
		break;
	case HIST_EXECNAME:
		trace_seq_printf(seq, "%-16s[%10llu]", comm, number);
		break;
	case HIST_SYSCALL:
		print_syscall(value, seq);
		break;
	case HIST_LOG2:
		trace_seq_printf(seq, "~ 2^%-2llu", number);
		break;
	case HIST_BUCKETS:
		trace_seq_printf(seq, "~ %llu-%llu", number,
				 number + (unsigned long long)key->buckets - 1);
		break;
	default:
		trace_seq_printf(seq, "%10llu", number);
	}
}

void trace_hist_print_key(const struct hist *hist, const uint64_t *entry, struct trace_seq *seq)
{
	bool has_lines = false;

	trace_seq_puts(seq, "{ ");
	for (uint32_t i = 0; i < hist->nr_keys; i++) {
		const struct hist_value *key = &hist->keys[i];
		const uint64_t *words = trace_hist_key_at(hist, entry, i);

		if (i)
			trace_seq_puts(seq, ", ");
		if (key->kind == HIST_NUMBER) {
			print_number_key(key, *words, (const char *)(entry + 1 + hist->comm_at),
					 seq);
		} else if (key->kind == HIST_TEXT) {
			trace_seq_printf(seq, "%s: %-50s", key->name, (const char *)words);
		} else {
			trace_seq_printf(seq, key->field ? "%s.stacktrace:\n" : "%s:\n", key->name);
			hist_show_print_stack(key, words, seq);
			has_lines = true;
		}
	}
	trace_seq_puts(seq, has_lines ? "}" : " }");
}

void trace_hist_print_kept(const struct hist_value *value, const uint64_t *words,
			   struct trace_seq *seq)
{
	struct hist_value plain = *value;

	/* Here without a name of the thread. */
	if (plain.modifier == HIST_EXECNAME)
		plain.modifier = HIST_PLAIN;
	if (value->kind == HIST_NUMBER) {
		print_number_key(&plain, *words, "", seq);
	} else if (value->kind == HIST_TEXT) {
		trace_seq_printf(seq, "%s: %-32s", value->name, (const char *)words);
	} else {
		trace_seq_printf(seq, "%s:\n", value->name);
		hist_show_print_stack(value, words, seq);
	}
}

/* ---- Values ---- */

uint32_t trace_hist_share_of(uint64_t value, uint64_t total)
{
	while (value > UINT64_MAX / 10000) {
		value /= 2;
		total /= 2;
	}
	return total ? (uint32_t)(value * 10000 / total) : 0;
}

static void print_bar(uint64_t value, uint64_t max, struct trace_seq *seq)
{
	uint32_t len = trace_hist_share_of(value, max) * BAR_CHARS / 10000;

	for (uint32_t i = 0; i < BAR_CHARS; i++)
		trace_seq_putc(seq, i < len ? '#' : ' ');
}

/* Print sum number `i`: the hits for 0, then the values. */
static void print_sum(const struct hist_view *view, uint32_t i, uint64_t sum, struct trace_seq *seq)
{
	const struct hist *hist = view->hist;
	const char *name = i ? hist->vals[i - 1].name : "hitcount";
	uint32_t share = trace_hist_share_of(sum, view->totals[i]);

	switch (i ? hist->vals[i - 1].modifier : HIST_PLAIN) {
	case HIST_PERCENT:
		trace_seq_printf(seq, " %s (%%): %3u.%02u", name, share / 100, share % 100);
		break;
	case HIST_GRAPH:
		trace_seq_printf(seq, " %s: ", name);
		print_bar(sum, view->maxima[i], seq);
		break;
	case HIST_HEX:
		trace_seq_printf(seq, " %s: %10llx", name, (unsigned long long)sum);
		break;
	default:
		trace_seq_printf(seq, " %s: %10llu", name, (unsigned long long)sum);
	}
}

static void hist_show_print_entry(const struct hist_view *view, const uint64_t *entry,
				  struct trace_seq *seq)
{
	const struct hist *hist = view->hist;

	trace_hist_print_key(hist, entry, seq);
	if (!hist->no_hitcount)
		print_sum(view, 0, entry[0], seq);
	for (uint32_t i = 0; i < hist->nr_vals; i++) {
		const struct hist_value *value = &hist->vals[i];

		if (value->is_expression && !value->is_constant)
			continue;
		trace_seq_putc(seq, ' ');
		print_sum(view, i + 1, hist_sum_at(hist, entry, i + 1), seq);
	}
	trace_hist_print_entry_actions(view, entry, seq);
	trace_seq_putc(seq, '\n');
}

void trace_hist_print_totals(const struct hist_view *view, struct trace_seq *seq)
{
	trace_seq_printf(seq, "\nTotals:\n    Hits: %llu\n    Entries: %zu\n    Dropped: %llu\n",
			 (unsigned long long)view->hits, view->nr, (unsigned long long)view->drops);
}

static bool text_next(struct hist_view *view, struct trace_seq *seq)
{
	if (view->at < view->nr) {
		hist_show_print_entry(view, view->order[view->at++], seq);
		return true;
	}
	if (view->is_over)
		return false;
	view->is_over = true;
	trace_hist_print_end_actions(view, seq);
	trace_hist_print_totals(view, seq);
	return true;
}

const struct hist_form trace_hist_form_text = { .next = text_next, .separator = "\n\n" };
