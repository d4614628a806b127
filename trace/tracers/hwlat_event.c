/*
 * The event ftrace:hwlat, in Linux's format: see hwlat.h.
 */
#include <trace/trace_seq.h>
#include "hwlat.h"
#include "print/output.h"
#include "text/str.h"

/* Types are named as in Linux's format. */
#define HWLAT_FIELD(c_type, sign, member)                                                          \
	TRACE_FIELD_INIT(#member, c_type, hwlat_entry, member,                                     \
			 TRACE_SIZEOF_MEMBER(hwlat_entry, member),                                 \
			 TRACE_SIZEOF_MEMBER(hwlat_entry, member), sign, false)

static const struct trace_event_field hwlat_fields[] = {
	HWLAT_FIELD("u64", false, duration),	    HWLAT_FIELD("u64", false, outer_duration),
	HWLAT_FIELD("u64", false, nmi_total_ts),    HWLAT_FIELD("s64", true, tv_sec),
	HWLAT_FIELD("long", true, tv_nsec),	    HWLAT_FIELD("unsigned int", false, nmi_count),
	HWLAT_FIELD("unsigned int", false, seqnum), HWLAT_FIELD("unsigned int", false, count),
};

static void hwlat_event_text(const struct trace_iter *iter, struct trace_seq *seq)
{
	struct hwlat_entry entry;

	if (iter->event.len < sizeof(entry)) {
		trace_print_type(iter, seq);
		return;
	}
	memcpy(&entry, iter->event.data, sizeof(entry));
	trace_seq_printf(seq, "#%-5u inner/outer(us): %4llu/%-5llu ts:%lld.%09lld count:%u",
			 entry.seqnum, (unsigned long long)entry.duration,
			 (unsigned long long)entry.outer_duration, (long long)entry.tv_sec,
			 (long long)entry.tv_nsec, entry.count);
	if (entry.nmi_count)
		trace_seq_printf(seq, " nmi-total:%llu nmi-count:%u",
				 (unsigned long long)entry.nmi_total_ts, entry.nmi_count);
	trace_seq_putc(seq, '\n');
}

static void hwlat_event_raw(const struct trace_iter *iter, struct trace_seq *seq)
{
	struct hwlat_entry entry;

	if (iter->event.len < sizeof(entry)) {
		trace_print_type(iter, seq);
		return;
	}
	memcpy(&entry, iter->event.data, sizeof(entry));
	trace_seq_printf(seq, "%llu %lld %lld %09lld %u\n", (unsigned long long)entry.duration,
			 (long long)entry.outer_duration, (long long)entry.tv_sec,
			 (long long)entry.tv_nsec, entry.seqnum);
}

struct trace_event trace_hwlat_event = {
	.name = "hwlat",
	.system = "ftrace",
	.type = TRACE_TYPE_HWLAT,
	.fields = hwlat_fields,
	.nr_fields = TRACE_ARRAY_SIZE(hwlat_fields),
	.print_fmt = "\"cnt:%u\\tts:%010llu.%010lu\\tinner:%llu\\touter:%llu\\tcount:%d"
		     "\\tnmi-ts:%llu\\tnmi-count:%u\\n\", REC->seqnum, REC->tv_sec, REC->tv_nsec, "
		     "REC->duration, REC->outer_duration, REC->count, REC->nmi_total_ts, "
		     "REC->nmi_count",
	.funcs = &(const struct trace_event_functions){ .trace = hwlat_event_text,
							.raw = hwlat_event_raw },
};
