/*
 * The types of the kernel's functions, in the format BTF: made by tools/types in the second link.
 *
 * Context: any; the data is constant.
 */
#ifndef KERNEL_BTF_H
#define KERNEL_BTF_H

#include <stddef.h>
#include <stdint.h>

/* The start of BTF, which says how long it is. */
struct btf_blob {
	uint16_t magic;
	uint8_t version;
	uint8_t flags;
	uint32_t header_len; /* the offsets below count from behind it */
	uint32_t type_offset;
	uint32_t type_len;
	uint32_t string_offset; /* strings come last */
	uint32_t string_len;
};

extern const struct btf_blob btf_blob;

/* 0: the kernel was built without types. */
static inline size_t btf_bytes(void)
{
	return (size_t)btf_blob.header_len + btf_blob.string_offset + btf_blob.string_len;
}

#endif
