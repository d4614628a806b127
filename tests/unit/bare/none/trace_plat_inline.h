/*
 * The inline half of a host that has nothing: what is called of it turns up in `nm -u`, beside the
 * other half.
 */
#ifndef TRACE_PLAT_INLINE_H
#define TRACE_PLAT_INLINE_H
#endif
