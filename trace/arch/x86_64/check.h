/* CHECK(): an assertion about what callers have to see to. */
#ifndef CHECK_H
#define CHECK_H

#include <trace/arch_host.h>

#define CHECK_TEXT(x)	 CHECK_TEXT_OF(x)
#define CHECK_TEXT_OF(x) #x

/* Is compiled into every build. */
#define CHECK(cond)                                                                                \
	do {                                                                                       \
		if (TRACE_UNLIKELY(!(cond)))                                                       \
			trace_arch_broken(__FILE__                                                 \
					  ":" CHECK_TEXT(__LINE__) ": assertion failed: " #cond);  \
	} while (0)

#endif
