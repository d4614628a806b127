/*
 * Stage: the objects that make an event known: its class, struct trace_event_call event_NAME, and
 * an entry in the list of all events, a section that the linker gathers. The text of TP_printk() is
 * kept as it is written, for the line `print fmt` of `format`: functions of other stages are plain
 * words here. See <trace/define_trace.h>.
 *
 * SPDX-License-Identifier: MIT
 */
#include <trace/stages/clear.h>

#undef __get_dynamic_array
#undef __get_dynamic_array_len
#undef __get_str
#undef __get_ip
#undef __get_sockaddr
#undef __get_rel_dynamic_array
#undef __get_rel_dynamic_array_len
#undef __get_rel_str
#undef __get_rel_sockaddr
#undef __assign_str
#undef __assign_str_len
#undef __assign_vstr
#undef __assign_bitmask
#undef __assign_cpumask
#undef __assign_sockaddr
#undef __assign_rel_str
#undef __assign_rel_str_len
#undef __assign_rel_vstr
#undef __assign_rel_bitmask
#undef __assign_rel_cpumask
#undef __assign_rel_sockaddr

#undef __entry
#define __entry REC

/* The words of TRACE_REC_ADDRESS(). */
#define __get_ip(item) (void *)(((REC->item + 0x80000000ul) & 0xfffffffful) - 0x80000000ul)

#undef TP_printk
#define TP_printk(fmt, ...) "\"" fmt "\", " TRACE_STAGE_WORDS(__VA_ARGS__)
#undef TRACE_STAGE_WORDS
#undef TRACE_STAGE_WORDS_
#define TRACE_STAGE_WORDS_(...) #__VA_ARGS__
#define TRACE_STAGE_WORDS(...)	TRACE_STAGE_WORDS_(__VA_ARGS__)

#undef TRACE_STAGE_PRINT
#define TRACE_STAGE_PRINT(name, print)                                                             \
	static const char TRACE_UNUSED trace_event_print_##name[] = print;                         \
	static const struct trace_event_functions TRACE_UNUSED trace_event_funcs_##name = {        \
		.trace = trace_event_text_##name,                                                  \
	};

#undef TRACE_STAGE_CLASS
#define TRACE_STAGE_CLASS(name, proto, args, tstruct, assign, print)                               \
	static const struct trace_event_class TRACE_UNUSED trace_event_class_##name = {            \
		.system = TRACE_EVENT_STRING(TRACE_SYSTEM),                                        \
		.fields = trace_event_fields_##name,                                               \
		.probe = (tracepoint_probe_fn)trace_event_probe_##name,                            \
	};                                                                                         \
	TRACE_STAGE_PRINT(name, print)

#undef TRACE_STAGE_CALL
#define TRACE_STAGE_CALL(template, call_name, fmt, reg_, unreg_)                                   \
	static struct trace_event_call event_##call_name = {                                       \
		.event = { .name = #call_name,                                                     \
			   .system = TRACE_EVENT_STRING(TRACE_SYSTEM),                             \
			   .print_fmt = trace_event_print_##fmt,                                   \
			   .funcs = &trace_event_funcs_##fmt },                                    \
		.event_class = &trace_event_class_##template,                                      \
		.tp = &trace_##call_name##_tracepoint,                                             \
		.reg = reg_,                                                                       \
		.unreg = unreg_,                                                                   \
	};                                                                                         \
	static struct trace_event_call *const event_##call_name##_listed                           \
		__attribute__((section("trace_event_calls"), used)) = &event_##call_name;

#undef TRACE_STAGE_EVENT
#define TRACE_STAGE_EVENT(template, name, proto, args, tp, reg, unreg)                             \
	TRACE_STAGE_CALL(template, name, template, reg, unreg)
#undef TRACE_STAGE_EVENT_PRINT
#define TRACE_STAGE_EVENT_PRINT(template, name, proto, args, print)                                \
	TRACE_STAGE_PRINT(name, print)                                                             \
	TRACE_STAGE_CALL(template, name, name, NULL, NULL)

#undef TRACE_STAGE_EVAL
#define TRACE_STAGE_EVAL(id, name_, number) TRACE_STAGE_EVAL_(__COUNTER__, name_, number)
#undef TRACE_STAGE_EVAL_
#define TRACE_STAGE_EVAL_(count, name_, number) TRACE_STAGE_EVAL__(count, name_, number)
#undef TRACE_STAGE_EVAL__
#define TRACE_STAGE_EVAL__(count, name_, number)                                                   \
	static const struct trace_eval_map trace_eval_map_##count = {                              \
		.system = TRACE_EVENT_STRING(TRACE_SYSTEM),                                        \
		.text = name_,                                                                     \
		.value = number,                                                                   \
	};                                                                                         \
	static const struct trace_eval_map *const trace_eval_map_##count##_listed                  \
		__attribute__((section("trace_eval_maps"), used)) = &trace_eval_map_##count;
