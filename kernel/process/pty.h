/*
 * Terminals that programs make: a pair of files, of which one is a terminal to programs and the other one is who types and
 * reads there.
 *
 *   open("/dev/ptmx")   master   write: typed bytes --> line discipline --> read    slave   /dev/pts/N
 *                                read  <-- ring <--------- echo, output --- write
 *
 * When the master is closed, the terminal is hung up: its session gets SIGHUP and loses it, and files of the slave are of no
 * use any more. When the last file of the slave is closed, the master reads what is left and then gets -EIO; the slave can
 * be opened again.
 *
 * Context:   thread of a program.
 * Locking:   pty_lock guards the table and `refs`, tty.lock all else.
 * Ownership: each file of either side holds one reference.
 */
#ifndef KERNEL_PROCESS_PTY_H
#define KERNEL_PROCESS_PTY_H

#include <kernel/vfs.h>
#include "tty.h"

#define PTY_BYTES 4096u /* written, and not read by the master yet */
#define NR_PTYS	  64u

struct pty {
	struct tty tty; /* first: it is found by that */
	uint32_t index; /* N of /dev/pts/N */
	uint32_t refs;
	bool has_master;
	bool is_locked;	 /* the slave cannot be opened yet */
	bool was_opened; /* since then the master waits for no slave */
	uint32_t nr_slaves;
	struct waitq changed; /* woken when either side can go on */
	uint32_t head, tail;  /* [tail, head) of the ring, by growing positions */
	uint8_t ring[PTY_BYTES];
};

/* pty.c: the files. A new file of the slave: 0; -EIO: there is no master, or it has not unlocked it. */
int pty_open_slave(struct pty *pty, struct file *file);
/* The same for /dev/tty, with a reference from tty_get(), which is taken over. */
int pty_open_own(struct file *file, struct tty *tty);
/* A file becomes the master. The reference is taken over. */
void pty_open_master(struct pty *pty, struct file *file);
/* The functions of struct tty_ops. */
extern const struct tty_ops pty_tty_ops;

/* pty_dev.c: names and numbers. */
struct tty *pty_get_tty(uint64_t id);
void pty_put_tty(struct tty *tty);
/* The name in /dev/pts goes. */
void pty_remove_name(const struct pty *pty);
long pty_master_ioctl(struct file *file, unsigned int cmd, unsigned long arg);
/* /dev/ptmx and /dev/pts. 0 or -ENOMEM. Boot only. */
int pty_init(void);

#endif
