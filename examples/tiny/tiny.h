/* Declarations that the files of this kernel share. */
#ifndef TINY_H
#define TINY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* machine.c, boot.asm: the serial port, the clock, the end. Not traced. */
void machine_init(void);
void console_write(const char *text);
void power_off(void) __attribute__((noreturn));

/* demo.c: the traced code. Returns whether 1^3 + 2^3 + .. + n^3 = (1 + 2 + .. + n)^2. */
bool demo(unsigned int n);

/* trace_host.c: the functions that the library asks for. Not traced. */
void print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
