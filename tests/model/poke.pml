/*
 * Model of trace/arch/x86_64/text_poke.c: one site is changed twice, from instruction 0 to 1 and back,
 * while CPUs execute it and one CPU comes online, goes offline, and comes again.
 *
 * What a CPU may do that an emulator does not show: it fetches the first byte and the tail of the
 * site at different times, keeps each for as long as it likes, and forgets them only when it
 * serialises (or by whim). Nothing else is assumed about it.
 *
 * Must never happen: a first byte executed with the tail of the other instruction; an int3 with no
 * batch in flight; a handler that reads a batch which is gone.
 *
 * Each macro of the form NO_... or ..._LATE takes one rule away: a mutant, which must fail. See run.
 */
#define NCPU 2 /* 0 is online, 1 arrives */
#define LATE_CPU 1
#define INT3 2 /* a first byte; 0 and 1 are those of the two instructions */
#define NONE 3 /* not fetched */

byte mem_first = 0, mem_tail = 0;
byte first[NCPU], tail[NCPU]; /* what each CPU has fetched */
bool online[NCPU];
byte ticket = 0;     /* syncs asked for */
byte done[NCPU];     /* syncs answered */
bool hotplug = false; /* the lock */
bool flight = false;  /* a batch is published */
bool alive = false;   /* its memory is still there */
byte wanted;	      /* what it says */
byte handlers = 0;    /* CPUs that look at it */
bool has_gone = false; /* CPU 1 goes offline once */

inline serialise(cpu)
{
	d_step {
		first[cpu] = NONE;
		tail[cpu] = NONE
	}
}

/* The #BP handler: interrupts are off, so no sync is answered meanwhile. */
inline trap(cpu)
{
	handlers++;
	seen = flight;
	assert(seen); /* an unknown int3: a panic */
	assert(alive);
	assert(wanted != INT3);
	handlers--;
	serialise(cpu); /* IRET */
}

inline execute(cpu)
{
	if
	:: atomic { first[cpu] == INT3 -> skip }; trap(cpu)
	:: d_step {
		first[cpu] != INT3 && first[cpu] != NONE && tail[cpu] != NONE ->
		assert(first[cpu] == tail[cpu])
	   }
	:: else -> skip
	fi
}

inline come_online(cpu)
{
#ifndef AP_LATE
	atomic { !hotplug -> hotplug = true };
	online[cpu] = true;
#endif
#ifndef NO_AP_SERIALISE
	serialise(cpu);
#endif
#ifndef AP_LATE
	done[cpu] = ticket;
	hotplug = false
#else
	done[cpu] = ticket;
	online[cpu] = true
#endif
}

/*
 * It answers syncs until it has the lock. Then it leaves the mask, and still executes sites, because it
 * serves calls that were sent before; but none without the lock.
 */
inline go_offline(cpu)
{
#ifndef NO_GO_LOCK
	do
	:: atomic { !hotplug -> hotplug = true; break }
	:: atomic { done[cpu] < ticket -> serialise(cpu); done[cpu] = ticket }
	od;
#endif
	online[cpu] = false;
#ifndef GO_ON
	execute(cpu);
#endif
#ifndef NO_GO_LOCK
	hotplug = false;
#endif
#ifdef GO_ON
	execute(cpu)
#else
	skip
#endif
}

/* Fetching goes its own way, whatever the CPU executes meanwhile. */
proctype fetch(byte cpu)
{
end:	do
	:: atomic { first[cpu] == NONE -> first[cpu] = mem_first }
	:: atomic { tail[cpu] == NONE -> tail[cpu] = mem_tail }
	:: atomic { first[cpu] != NONE -> first[cpu] = NONE }
	:: atomic { tail[cpu] != NONE -> tail[cpu] = NONE }
	od
}

proctype cpu_main(byte cpu)
{
	bool seen;

end:	do
	:: online[cpu] -> execute(cpu)
	:: atomic { online[cpu] && done[cpu] < ticket -> serialise(cpu); done[cpu] = ticket }
	:: !online[cpu] -> come_online(cpu)
	:: atomic { cpu == LATE_CPU && online[cpu] && !has_gone -> has_gone = true }; go_offline(cpu)
	od
}

inline sync()
{
	ticket++;
	i = 0;
	do
	:: i == NCPU -> break
	:: i < NCPU && (!online[i] || done[i] >= ticket) -> i++
	od
}

inline change(to)
{
#ifndef AP_LATE
	atomic { !hotplug -> hotplug = true };
#endif
	alive = true;
	wanted = to;
#ifndef NO_PUBLISH_FIRST
	flight = true;
#endif
#ifndef NO_INT3
	mem_first = INT3;
#endif
#ifdef NO_PUBLISH_FIRST
	flight = true;
#endif
#ifndef NO_SYNC_INT3
	sync();
#endif
	mem_tail = to;
#ifndef NO_SYNC_TAIL
	sync();
#endif
	mem_first = to;
#ifndef NO_SYNC_FIRST
	sync();
#endif
	flight = false;
	handlers == 0;
	alive = false;
	wanted = INT3;
#ifndef AP_LATE
	hotplug = false
#endif
}

proctype poker()
{
	byte i;

	change(1);
	change(0)
}

init {
	byte n;

	atomic {
		for (n : 0 .. NCPU - 1) {
			first[n] = NONE;
			tail[n] = NONE;
			online[n] = n != LATE_CPU;
			run fetch(n);
			run cpu_main(n)
		}
		run poker()
	}
}
