/*
 * Names of number types that definitions of events use, as Linux has them.
 */
#ifndef HOST_TYPES_H
#define HOST_TYPES_H

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef unsigned long long u64;
typedef int8_t s8;
typedef long long s64;

#endif
