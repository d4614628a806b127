/*
 * The first line is a filter, the rest an event: compiled, and matched in memory that is no longer
 * than the event. Also with the whole in parentheses after a !, which has to say the opposite.
 * links: trace/events/filter_*.c trace/events/func_name.c trace/expr/expr_*.c trace/ops/ftrace_match.c trace/text/glob.c trace/text/str.c trace/text/seq.c trace/text/fmt.c trace/text/fmt_spec.c
 */
#include <string.h>
#include "events/filter.h"
#include <trace/event.h>
#include "fuzz_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* ---- The host of the filters ---- */

#define NR_CPUS 70
#define TEXT	0xffffffff81000000ul

uint32_t trace_plat_nr_cpus(void)
{
	return NR_CPUS;
}

bool trace_plat_read(void *to, const void *from, size_t bytes)
{
	if ((uintptr_t)from % 3 == 0)
		return false;
	memset(to, (int)((uintptr_t)from % 128), bytes);
	return true;
}

bool trace_plat_read_user(void *to, const void *from, size_t bytes)
{
	return trace_plat_read(to, from, bytes);
}

void trace_plat_current_comm(char *out_comm)
{
	strcpy(out_comm, "worker");
}

size_t trace_plat_symbol_find_all(const char *name, uintptr_t *out_addrs, size_t max)
{
	if (strcmp(name, "schedule") != 0)
		return 0;
	if (max)
		*out_addrs = TEXT;
	return 1;
}

const char *trace_plat_source_of(uintptr_t addr)
{
	return addr == TEXT ? "kernel/sched.c" : NULL;
}

bool trace_plat_symbol(uintptr_t addr, char *out_name, uintptr_t *out_start, size_t *out_size)
{
	if (addr < TEXT || addr - TEXT >= 16)
		return false;
	strcpy(out_name, "schedule");
	*out_start = TEXT;
	*out_size = 16;
	return true;
}

uint64_t fake_clock_read(void)
{
	return 0;
}

void fake_check_preempt_enable(uint32_t count)
{
	(void)count;
}

/* ---- The event ---- */

struct sample {
	struct trace_entry ent;
	int8_t s8;
	uint8_t u8;
	uint16_t u16;
	int32_t s32;
	uint32_t ip;
	uint32_t loc;
	uint32_t rel;
	uint32_t cpus;
	uint64_t u64;
	const char *ptr;
	char name[12];
	int list[3];
	char rest[];
} TRACE_ENTRY_ALIGNED;

#define FIELD(type, member) TRACE_FIELD(#member, type, sample, member)
#define KIND(c_type, member, place, filter)                                                        \
	{                                                                                          \
		.name = #member, .type = c_type, .offset = offsetof(struct sample, member),        \
		.size = TRACE_SIZEOF_MEMBER(sample, member), .element_size = 1,                    \
		.is_signed = false, .is_address = false, .kind = place, .filter_type = filter      \
	}
static const struct trace_event_field fields[] = {
	FIELD(signed char, s8),
	FIELD(unsigned char, u8),
	FIELD(unsigned short, u16),
	FIELD(int, s32),
	TRACE_FIELD_ADDRESS("ip", sample, ip),
	KIND("char", loc, TRACE_FIELD_DATA_LOC, FILTER_OTHER),
	KIND("char", rel, TRACE_FIELD_REL_LOC, FILTER_OTHER),
	KIND("cpumask_t", cpus, TRACE_FIELD_DATA_LOC, FILTER_CPUMASK),
	FIELD(unsigned long, u64),
	FIELD(const char *, ptr),
	FIELD(char, name),
	FIELD(int, list),
	TRACE_FIELD_REST("rest", char, sample, rest),
};
static const struct trace_event type = {
	.name = "sample",
	.system = "fuzz",
	.fields = fields,
	.nr_fields = sizeof(fields) / sizeof(fields[0]),
};

/* 1 or 0: what the filter says; -1: it is refused. */
static int run(const char *text, const uint8_t *event, size_t len)
{
	struct expr_error error = { 0 };
	struct expr_program *filter;
	int err = trace_filter_compile(&type, text, &filter, &error);
	bool matches;

	if (err) {
		if (!error.why || error.pos > strlen(text) + 2)
			abort();
		return -1;
	}
	matches = trace_expr_match(filter, event, (uint32_t)len);
	trace_expr_free(filter);
	return matches;
}

static void run_both(const char *text, const uint8_t *event, size_t len)
{
	char *opposite = malloc(strlen(text) + 4);
	int matches = run(text, event, len), inverse;

	strcat(strcat(strcpy(opposite, "!("), text), ")");
	inverse = run(opposite, event, len);
	/* An event that is too short passes neither. */
	if (matches >= 0 && len >= sizeof(struct sample) && inverse != !matches)
		abort();
	free(opposite);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const uint8_t *newline = memchr(data, '\n', len);
	size_t text_len = newline ? (size_t)(newline - data) : len;
	size_t event_len = newline ? len - text_len - 1 : 0;
	char *text = malloc(text_len + 1);
	uint8_t *event = malloc(event_len + 1);

	memcpy(text, data, text_len);
	text[text_len] = '\0';
	if (newline)
		memcpy(event + 1, newline + 1, event_len);
	run_both(text, event + 1, event_len);
	free(event);
	free(text);
	if (nr_allocated)
		abort();
	return 0;
}
