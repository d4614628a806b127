/*
 * The host of trace/ in an ordinary process: one thread, which is CPU 0. GS points at a struct
 * cpu_local as in the kernel, so trace/ is compiled to the kernel's own instructions; sites are
 * switched by the kernel's text poke and call the kernel's trampolines, in SILICON_TEXT. Nothing
 * interrupts the thread, and a grace period is over at once: who asks for one is in no trampoline.
 *
 * process_target is the function with a call site: it returns its argument plus one.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <stdint.h>

typedef uint64_t (*process_fn)(uint64_t x);
#define process_target ((process_fn)0x10001000ul)

/* False: trampolines that are asked for are refused, as when memory is short. */
extern bool process_has_room;

/* After text_map(), once: GS, the clock, the target and its record. */
void process_init(void);
uint64_t process_now_ns(void);

#endif
