/*
 * Files that FUSE knows, each with a fid, and numbers for fids. A file has one node, by whichever
 * name it was found: its identity in the kernel tells.
 */
#ifndef NODE_H
#define NODE_H

#include <stdint.h>

#define ROOT_FID 0u

struct node {
	struct node *next; /* in its list */
	uint64_t id;	   /* qid.path */
	uint32_t fid;
	uint64_t nr_lookups; /* that FUSE has not forgotten */
};

uint32_t fid_new(void);
/* Have the server forget it, as soon as that can be sent; then the number may be used again. */
void fid_clunk(uint32_t fid);
/* Send what could not be sent. Called when answers have come. */
void fids_clunk(void);

/* The node of file `id`, looked up once more. It takes `fid`, and ends the one that it had. */
struct node *node_get(uint64_t id, uint32_t fid);
void node_forget(struct node *node, uint64_t nr_lookups);

#endif
