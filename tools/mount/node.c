/* Files that FUSE knows. See node.h. */
#include <stdlib.h>
#include "client.h"
#include "node.h"

#define NR_LISTS 1024u
/* Clunks on their way at once: FUSE may forget thousands of files, and programs need tags meanwhile. */
#define CLUNKS_MAX 256u

static struct node *lists[NR_LISTS];
struct fids {
	uint32_t *fids;
	size_t nr, size;
};

static struct fids unused;     /* the server does not know them */
static struct fids to_clunk;   /* no request could be sent for them until now */
static unsigned int nr_clunks; /* on their way */
static uint32_t next_fid = ROOT_FID + 1;

static void push(struct fids *list, uint32_t fid)
{
	if (list->nr == list->size) {
		list->size = list->size ? 2 * list->size : 64;
		list->fids = realloc(list->fids, list->size * sizeof(*list->fids));
		if (!list->fids)
			abort();
	}
	list->fids[list->nr++] = fid;
}

uint32_t fid_new(void)
{
	return unused.nr ? unused.fids[--unused.nr] : next_fid++;
}

static void clunk_done(void *arg, int err, const uint8_t *body, size_t len)
{
	(void)err;
	(void)body;
	(void)len;
	nr_clunks--;
	push(&unused, (uint32_t)(uintptr_t)arg);
}

static bool can_clunk(void)
{
	return nr_clunks < CLUNKS_MAX && client_can_send(1);
}

void fid_clunk(uint32_t fid)
{
	if (!can_clunk()) {
		push(&to_clunk, fid);
		return;
	}
	client_begin(TCLUNK);
	client_put(fid, 4);
	client_send(clunk_done, (void *)(uintptr_t)fid);
	nr_clunks++;
}

void fids_clunk(void)
{
	while (to_clunk.nr && can_clunk())
		fid_clunk(to_clunk.fids[--to_clunk.nr]);
}

static struct node **link_of(uint64_t id)
{
	struct node **link = &lists[id % NR_LISTS];

	while (*link && (*link)->id != id)
		link = &(*link)->next;
	return link;
}

struct node *node_get(uint64_t id, uint32_t fid)
{
	struct node **link = link_of(id);
	struct node *node = *link;

	if (node) {
		/* The kernel may have renamed the file: the fid that has just been found knows. */
		fid_clunk(node->fid);
		node->fid = fid;
	} else {
		node = calloc(1, sizeof(*node));
		if (!node)
			abort();
		node->id = id;
		node->fid = fid;
		*link = node;
	}
	node->nr_lookups++;
	return node;
}

void node_forget(struct node *node, uint64_t nr_lookups)
{
	node->nr_lookups -= nr_lookups < node->nr_lookups ? nr_lookups : node->nr_lookups;
	if (node->nr_lookups)
		return;
	*link_of(node->id) = node->next;
	fid_clunk(node->fid);
	free(node);
}
