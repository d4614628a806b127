/* What the files of this kernel declare for each other. */
#ifndef SMP_H
#define SMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* machine.c, cpus.c, boot.asm: the serial port, the clock, the CPUs, the end. Not traced. */
void machine_init(void);
uint32_t machine_nr_cpus(void); /* how many QEMU has */
void cpu_init(uint32_t id);
void cpus_start(void);
void interrupts_init(void);
void *memcpy(void *to, const void *from, size_t len);
void console_write(const char *text);
void power_off(void) __attribute__((noreturn));
void breakpoint(void);
void interrupt(void);
void on_interrupt(void);
void interrupt_others(void);
extern const char ap_start[], ap_start_end[];
void ap_main(uint32_t id) __attribute__((noreturn));

/*
 * patch_int3.c or patch_stop.c: what other CPUs do while code is changed. patch_interrupted() runs
 * on them, in the interrupt that interrupt_others() sends. Not traced.
 */
void patch_init(void);
void patch_interrupted(void);

/* work.c: what is traced. */
uint64_t work(uint64_t n);

/* trace_host.c: what the library asks for. Not traced. */
void print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
