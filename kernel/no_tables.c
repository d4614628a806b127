/*
 * Empty tables of symbols, of the reasons why functions cannot be traced, of types and of lines,
 * for the first link of the kernel. From its result tools/ksyms, tools/whynot, tools/types and
 * tools/lines make the real tables; the second link takes those, because the definitions here are
 * weak.
 *
 * They are in a file of their own, so that no compiler uses these zeros where the tables are read.
 */
#include <kernel/btf.h>
#include <kernel/lines_format.h>
#include <kernel/symbols_format.h>
#include <kernel/whynot_format.h>

const struct symbols_header symbols_blob __attribute__((weak)) = { 0 };
const struct whynot_header whynot_blob __attribute__((weak)) = { 0 };
const struct lines_header lines_blob __attribute__((weak)) = { 0 };
const struct btf_blob btf_blob __attribute__((weak)) = { 0 };
