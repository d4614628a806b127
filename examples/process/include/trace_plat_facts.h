/* Facts about this host that <trace/platform.h> asks for. */
#ifndef TRACE_PLAT_FACTS_H
#define TRACE_PLAT_FACTS_H

#include <trace/arch_facts.h>

#define TRACE_PRODUCT "process"

#endif
