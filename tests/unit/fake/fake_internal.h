/*
 * The parts of fake_reset().
 */
#ifndef FAKE_INTERNAL_H
#define FAKE_INTERNAL_H

void fake_cpu_reset(void);
void fake_thread_reset(void);
void fake_text_reset(void);
void fake_probe_reset(void);

#endif
