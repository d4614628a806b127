/* The traced code: see work.c. It knows nothing of the library. */
#ifndef WORK_H
#define WORK_H

#include <stdint.h>

/* The standard deviation of some numbers that are made from `seed`. */
double work(uint32_t seed);

void work_note_signal(int signal);
uint32_t work_nr_signals(void);

#endif
