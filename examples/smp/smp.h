/* Declarations that the files of this kernel share. */
#ifndef SMP_H
#define SMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* machine.c, cpus.c, boot.asm: the serial port, the clock, the CPUs, the end. Not traced. */
void machine_init(void);
uint32_t machine_nr_cpus(void); /* how many QEMU has, SMP_MAX_CPUS at most; always the same */
void cpu_init(uint32_t id);
void cpus_start(void);
void interrupts_init(void);
void timer_start(void); /* of this CPU */
void *memcpy(void *to, const void *from, size_t len);
void console_write(const char *text);
void power_off(void) __attribute__((noreturn));
void call_entry(void);
void on_call(void);
void timer_entry(void);
void on_timer(uintptr_t rip);
extern const char ap_start[], ap_start_end[];
void ap_main(uint32_t id) __attribute__((noreturn));

/* Have all other CPUs call fn(arg) in an interrupt; end waits until they have. The first CPU only. */
void call_begin(void (*fn)(void *arg), void *arg);
void call_end(void);

/* threads.c, boot.asm: switched by the timer, whose tick interrupted the code at `rip`. Not traced. */
struct smp_thread;
void threads_init(uint32_t id); /* those of that CPU */
struct smp_thread *thread_current(void);
void thread_tick(uintptr_t rip);
void thread_begin(void); /* where a new thread starts */
void switch_stacks(uintptr_t *out_rsp, uintptr_t rsp);
void thread_main(void) __attribute__((noreturn)); /* kernel.c */
/* switches so far, and those of them that interrupted a trampoline */
void threads_count(uint64_t *out_switches, uint64_t *out_inside);
extern uint8_t boot_stacks[];

/* patch_int3.c or patch_stop.c: the work of other CPUs while code is changed. Not traced. */
void patch_init(void);

/* work.c: the traced code. */
uint64_t work(uint64_t n);

/* trace_host.c: the functions that the library asks for. Not traced. */
void print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
