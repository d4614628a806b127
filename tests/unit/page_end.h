/* Text that ends where memory ends: who reads behind it, or writes, crashes. */
#ifndef UNIT_PAGE_END_H
#define UNIT_PAGE_END_H

#include <string.h>
#include <sys/mman.h>
#include "unit.h"

#define PAGE_END_BYTES 4096u

/* A copy of the `bytes` bytes at `text`, which ends with a page. Good until the next call. */
static inline char *at_page_end(const char *text, size_t bytes)
{
	static char *page;

	if (!page) {
		page = mmap(NULL, 2 * PAGE_END_BYTES, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		assert_true(page != MAP_FAILED);
		assert_int_equal(mprotect(page + PAGE_END_BYTES, PAGE_END_BYTES, PROT_NONE), 0);
	}
	memset(page, '#', PAGE_END_BYTES);
	return memcpy(page + PAGE_END_BYTES - bytes, text, bytes);
}

#endif
