/*
 * The checks of features, and the words of their sentences: see why.h.
 */
#include <trace/fmt.h>
#include "why.h"
#include "feature/list.h"
#include "text/str.h"

#define US_NS	1000ull
#define MS_NS	1000000ull
#define SEC_NS	1000000000ull
#define MIN_NS	(60 * SEC_NS)
#define HOUR_NS (60 * MIN_NS)

static struct trace_whys *all_whys;

void trace_whys_register(struct trace_whys *whys)
{
	TRACE_LIST_ADD(all_whys, whys);
}

const struct trace_whys *trace_whys_first(void)
{
	return all_whys;
}

static void add_line(struct trace_why *why, const char *fmt, va_list args)
{
	char line[512];

	trace_vsnprintf(line, sizeof(line), fmt, args);
	trace_seq_puts(why->seq, line);
	trace_seq_putc(why->seq, '\n');
}

void trace_why_say(struct trace_why *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_line(why, fmt, args);
	va_end(args);
	why->nr_said++;
}

void trace_why_note(struct trace_why *why, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	add_line(why, fmt, args);
	va_end(args);
}

void trace_why_add_event(struct trace_why *why, const char *name)
{
	size_t len = trace_strlen(why->event_names);

	if (why->nr_events < TRACE_WHY_MAX_NAMED)
		trace_snprintf(why->event_names + len, sizeof(why->event_names) - len, "%s%s",
			       len ? ", " : "", name);
	else if (why->nr_events == TRACE_WHY_MAX_NAMED)
		trace_snprintf(why->event_names + len, sizeof(why->event_names) - len, ", ...");
	why->nr_events++;
}

struct trace_why_text trace_why_number(uint64_t number)
{
	struct trace_why_text out = { "" };
	size_t digits = 1, at = 0;

	for (uint64_t rest = number; rest >= 10; rest /= 10)
		digits++;
	at = digits + (digits - 1) / 3;
	for (size_t i = 0; i < digits; i++) {
		if (i && i % 3 == 0)
			out.text[--at] = ',';
		out.text[--at] = (char)('0' + number % 10);
		number /= 10;
	}
	return out;
}

struct trace_why_text trace_why_time(uint64_t ns)
{
	static const struct {
		uint64_t from_ns, unit_ns;
		const char *name;
	} units[] = {
		{ HOUR_NS, HOUR_NS, "h" }, { MIN_NS, MIN_NS, "min" }, { SEC_NS, SEC_NS, "s" },
		{ MS_NS, MS_NS, "ms" },	   { US_NS, US_NS, "us" },    { 0, 1, "ns" },
	};
	struct trace_why_text out = { 0 };
	size_t i = 0;
	uint64_t whole, tenths;

	while (ns < units[i].from_ns)
		i++;
	whole = ns / units[i].unit_ns;
	tenths = ns % units[i].unit_ns * 10 / units[i].unit_ns;
	if (whole < 100 && tenths)
		trace_snprintf(out.text, sizeof(out.text), "%llu.%llu %s",
			       (unsigned long long)whole, (unsigned long long)tenths,
			       units[i].name);
	else
		trace_snprintf(out.text, sizeof(out.text), "%llu %s", (unsigned long long)whole,
			       units[i].name);
	return out;
}

struct trace_why_text trace_why_ago(const struct trace_why *why, uint64_t then_ns)
{
	return trace_why_time(why->now_ns > then_ns ? why->now_ns - then_ns : 0);
}

/* A percentage, rounded so that 0 and 100 mean none and all. */
struct trace_why_text trace_why_percent(uint64_t part, uint64_t all)
{
	uint64_t percent = 0;
	struct trace_why_text out = { 0 };

	while (part > UINT64_MAX / 200) {
		part /= 2;
		all /= 2;
	}
	if (all)
		percent = (part * 200 / all + 1) / 2;
	if (part && !percent)
		percent = 1;
	if (part < all && percent == 100)
		percent = 99;
	trace_snprintf(out.text, sizeof(out.text), "%llu %%", (unsigned long long)percent);
	return out;
}

struct trace_why_text trace_why_thread(int32_t pid, const char *comm)
{
	char name[TRACE_COMM_LEN];
	struct trace_why_text out = { 0 };

	if (!comm) {
		comm = name;
		if (!trace_plat_thread_comm(pid, false, name))
			comm = pid ? "<...>" : "<idle>";
	}
	trace_snprintf(out.text, sizeof(out.text), "%s-%d", comm[0] ? comm : "<...>", pid);
	return out;
}

struct trace_why_text trace_why_function(uintptr_t ip)
{
	struct trace_why_text out = { 0 };
	char name[TRACE_SYM_LEN];
	uintptr_t start;
	size_t size;

	if (trace_plat_symbol(ip, name, &start, &size))
		trace_strcpy(out.text, name, sizeof(out.text));
	else
		trace_snprintf(out.text, sizeof(out.text), "0x%lx", (unsigned long)ip);
	return out;
}

const char *trace_why_s(uint64_t number)
{
	return number == 1 ? "" : "s";
}
