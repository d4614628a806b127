/*
 * <stdatomic.h> of the simulated machine: before every atomic access another CPU may run, or an
 * NMI come (sim.h). All simulated CPUs share one host thread, so the access itself is a plain one.
 */
#ifndef SIM_STDATOMIC_H
#define SIM_STDATOMIC_H

#include_next <stdatomic.h>
#include <stdbool.h>

void sim_step(void);
/* Memory changed, or not: CPUs that spin look again only when it did. */
void sim_wrote(bool is_new);

#undef atomic_load
#undef atomic_load_explicit
#undef atomic_store
#undef atomic_store_explicit
#undef atomic_exchange
#undef atomic_exchange_explicit
#undef atomic_fetch_add
#undef atomic_fetch_add_explicit
#undef atomic_fetch_sub
#undef atomic_fetch_sub_explicit
#undef atomic_fetch_or
#undef atomic_fetch_or_explicit
#undef atomic_fetch_and
#undef atomic_fetch_and_explicit
#undef atomic_compare_exchange_strong
#undef atomic_compare_exchange_strong_explicit

#define SIM_PLAIN_OF(p) __typeof__((void)0, *(p))
#define SIM_UPDATE(p, value)                                                                       \
	({                                                                                         \
		sim_step();                                                                        \
		SIM_PLAIN_OF(p) sim_old = *(p);                                                    \
		SIM_PLAIN_OF(p) sim_new = (value);                                                 \
		*(p) = sim_new;                                                                    \
		sim_wrote(sim_old != sim_new);                                                     \
		sim_old;                                                                           \
	})
/* The published data has to be there: other CPUs may look before the next plain access. */
#define SIM_STORE(p, value)                                                                        \
	({                                                                                         \
		(void)SIM_UPDATE(p, value);                                                        \
		sim_step();                                                                        \
	})
/* The same for what a bit says. */
#define SIM_UPDATE_AND_STEP(p, value)                                                              \
	({                                                                                         \
		SIM_PLAIN_OF(p) sim_before = SIM_UPDATE(p, value);                                 \
		sim_step();                                                                        \
		sim_before;                                                                        \
	})
#define SIM_EXCHANGE_IF(p, expected, value)                                                        \
	({                                                                                         \
		sim_step();                                                                        \
		SIM_PLAIN_OF(p) *sim_expected = (expected);                                        \
		SIM_PLAIN_OF(p) sim_old = *(p);                                                    \
		bool sim_done = sim_old == *sim_expected;                                          \
		if (sim_done)                                                                      \
			*(p) = (value);                                                            \
		else                                                                               \
			*sim_expected = sim_old;                                                   \
		sim_wrote(sim_done);                                                               \
		sim_done;                                                                          \
	})

#define atomic_load(p)			      (sim_step(), *(p))
#define atomic_load_explicit(p, order)	      (sim_step(), *(p))
#define atomic_store(p, v)		      SIM_STORE(p, v)
#define atomic_store_explicit(p, v, order)    SIM_STORE(p, v)
#define atomic_exchange(p, v)		      SIM_UPDATE(p, v)
#define atomic_exchange_explicit(p, v, order) SIM_UPDATE(p, v)

#define atomic_fetch_add(p, v)		       SIM_UPDATE(p, sim_old + (v))
#define atomic_fetch_add_explicit(p, v, order) SIM_UPDATE(p, sim_old + (v))
#define atomic_fetch_sub(p, v)		       SIM_UPDATE(p, sim_old - (v))
#define atomic_fetch_sub_explicit(p, v, order) SIM_UPDATE(p, sim_old - (v))
#define atomic_fetch_or(p, v)		       SIM_UPDATE_AND_STEP(p, sim_old | (v))
#define atomic_fetch_or_explicit(p, v, order)  SIM_UPDATE_AND_STEP(p, sim_old | (v))
#define atomic_fetch_and(p, v)		       SIM_UPDATE(p, sim_old &(v))
#define atomic_fetch_and_explicit(p, v, order) SIM_UPDATE(p, sim_old &(v))

#define atomic_compare_exchange_strong(p, e, v)		       SIM_EXCHANGE_IF(p, e, v)
#define atomic_compare_exchange_strong_explicit(p, e, v, s, f) SIM_EXCHANGE_IF(p, e, v)

#endif
