/*
 * Input and output ports.
 *
 * Context: any; all inline, none is traced.
 */
#ifndef ARCH_PORT_H
#define ARCH_PORT_H

#include <stdint.h>
#include <trace/compiler.h>

static TRACE_ALWAYS_INLINE void outb(uint16_t port, uint8_t value)
{
	__asm__ volatile("outb %0, %1" : : "a"(value), "Nd"(port) : "memory");
}
static TRACE_ALWAYS_INLINE void outw(uint16_t port, uint16_t value)
{
	__asm__ volatile("outw %0, %1" : : "a"(value), "Nd"(port) : "memory");
}
static TRACE_ALWAYS_INLINE void outl(uint16_t port, uint32_t value)
{
	__asm__ volatile("outl %0, %1" : : "a"(value), "Nd"(port) : "memory");
}
static TRACE_ALWAYS_INLINE uint8_t inb(uint16_t port)
{
	uint8_t value;

	__asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}
static TRACE_ALWAYS_INLINE uint16_t inw(uint16_t port)
{
	uint16_t value;

	__asm__ volatile("inw %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}
static TRACE_ALWAYS_INLINE uint32_t inl(uint16_t port)
{
	uint32_t value;

	__asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port) : "memory");
	return value;
}

#endif
