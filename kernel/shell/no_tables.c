/*
 * The tables of symbols and of reasons in a kernel that has none: in the first link, whose result
 * tools/ksyms and tools/whynot make them from. The second link brings the strong definitions.
 *
 * In a file of their own, so that no compiler takes these values for the real ones.
 */
#include <kernel/symbols_format.h>
#include <kernel/whynot_format.h>

const struct symbols_header symbols_blob __attribute__((weak)) = { 0 };
const struct whynot_header whynot_blob __attribute__((weak)) = { 0 };
