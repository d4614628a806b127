/*
 * The kernel's files as FUSE sees them: each request of FUSE becomes requests of 9P, and is answered
 * when their answers have come. Nothing is kept: each look asks the kernel.
 */
#ifndef FILES_H
#define FILES_H

#define FUSE_USE_VERSION 34
#include <fuse3/fuse_lowlevel.h>

extern const struct fuse_lowlevel_ops files_ops;

/* Attach to `tree`, a directory of the kernel `guest`. Before the first request of FUSE. */
void files_attach(const char *tree, const char *guest);
/* Has the kernel said yes? 0; an error number; -1: no answer yet. */
int files_attached(void);
/* Have everybody who polls a file look again. */
void files_wake_polls(void);

#endif
