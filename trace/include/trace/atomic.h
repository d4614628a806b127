/*
 * Atomic members of structs that C and C++ share. C++ has no _Atomic; it sees a volatile member in
 * the same place. The macros here are the operations that inline functions in public headers use on
 * such members, in either language. Code in C may use all of <stdatomic.h>.
 *
 * Context: any.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TRACE_ATOMIC_H
#define TRACE_ATOMIC_H

#ifdef __cplusplus

#include <stdint.h>

static_assert(alignof(uint64_t) == sizeof(uint64_t), "_Atomic aligns a member no further");

#define TRACE_ATOMIC			     volatile
#define trace_atomic_load_relaxed(member)    __atomic_load_n(member, __ATOMIC_RELAXED)
#define trace_atomic_load_acquire(member)    __atomic_load_n(member, __ATOMIC_ACQUIRE)
#define trace_atomic_store(member, value)    __atomic_store_n(member, value, __ATOMIC_SEQ_CST)
#define trace_atomic_exchange(member, value) __atomic_exchange_n(member, value, __ATOMIC_SEQ_CST)
/* It may fail for no reason, as atomic_compare_exchange_weak() may. */
#define trace_atomic_compare_exchange(member, expected, value)                                     \
	__atomic_compare_exchange_n(member, expected, value, true, __ATOMIC_SEQ_CST,               \
				    __ATOMIC_SEQ_CST)

#else

#include <stdatomic.h>

#define TRACE_ATOMIC			     _Atomic
#define trace_atomic_load_relaxed(member)    atomic_load_explicit(member, memory_order_relaxed)
#define trace_atomic_load_acquire(member)    atomic_load_explicit(member, memory_order_acquire)
#define trace_atomic_store(member, value)    atomic_store(member, value)
#define trace_atomic_exchange(member, value) atomic_exchange(member, value)
#define trace_atomic_compare_exchange(member, expected, value)                                     \
	atomic_compare_exchange_weak(member, expected, value)

#endif

#endif
