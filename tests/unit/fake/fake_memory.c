/*
 * Memory of the fake machine, and of the program that runs there, as probes read it; see fake.h.
 */
#include <sys/uio.h>
#include <unistd.h>
#include "fake.h"

/* Is there memory? */
static bool is_mapped(void *to, const void *from, size_t bytes)
{
	struct iovec local = { .iov_base = to, .iov_len = bytes };
	struct iovec remote = { .iov_base = (void *)(uintptr_t)from, .iov_len = bytes };

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)bytes;
}

/* Is any of these bytes in the page? */
static bool is_in_page(const void *page, const void *from, size_t bytes)
{
	uintptr_t first = (uintptr_t)page, start = (uintptr_t)from;

	return first && start < first + FAKE_PAGE_BYTES && first < start + bytes;
}

/* Bytes near an object may be read, as in a kernel: the sanitiser is not asked. */
__attribute__((no_sanitize("address"))) static bool read_any(void *to, const void *from,
							     size_t bytes)
{
	if (!from || is_in_page(fake_bad_page, from, bytes))
		return false;
	if (fake_reads_anywhere)
		return is_mapped(to, from, bytes);
	for (size_t i = 0; i < bytes; i++)
		((volatile char *)to)[i] = ((const volatile char *)from)[i];
	return true;
}

bool trace_plat_read_user(void *to, const void *from, size_t bytes)
{
	if (is_in_page(fake_user_page, from, 1) &&
	    is_in_page(fake_user_page, (const char *)from + bytes - 1, 1))
		return read_any(to, from, bytes);
	return fake_reads_user && (uintptr_t)from >= FAKE_PAGE_BYTES &&
	       trace_plat_read(to, from, bytes);
}

bool trace_plat_read(void *to, const void *from, size_t bytes)
{
	return !is_in_page(fake_user_page, from, bytes) && read_any(to, from, bytes);
}
