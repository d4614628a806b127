/* Calls of work() as clang's XRay traces them: its flight data recorder, which keeps every call. */
#include "loop.h"

/* The runtime's interface; its headers are C++. */
enum {
	XRAY_LOG_INITIALIZED = 2,
	XRAY_PATCHED = 1
};
int __xray_log_select_mode(const char *mode);
int __xray_log_init_mode(const char *mode, const char *config);
int __xray_patch(void);

int main(void)
{
	if (__xray_log_select_mode("xray-fdr") ||
	    __xray_log_init_mode("xray-fdr", "func_duration_threshold_us=0") !=
		    XRAY_LOG_INITIALIZED ||
	    __xray_patch() != XRAY_PATCHED)
		return 2;
	return loop_run(loop_call_work);
}
