; int3_entry - the entry for #BP of hosts that have no other: see <trace/arch_int3.h>.
;
; In:    by an interrupt gate, on the stack of the interrupted code.
; Calls: bool trace_int3_hit(struct trace_int3_frame *)
; Keeps: everything, but what that changes in the frame.

extern trace_int3_hit, trace_int3_other

struc pushed			; by the CPU
.rip:		resq 1
.cs:		resq 1
.rflags:	resq 1
.rsp:		resq 1
.ss:		resq 1
endstruc

PRIVILEGE	equ 3		; of cs: 0 in a kernel
PAD_BYTES	equ 8		; 16-byte aligned for C

%include "trace_asm.inc"
%define REGS rbp, rax, rcx, rdx, rsi, rdi, r8, r9, rbx, r10, r11, r12, r13, r14, r15

section .text

global trace_int3_entry:function (trace_int3_entry.end - trace_int3_entry)
	align	16
trace_int3_entry:
	test	byte [rsp + pushed.cs], PRIVILEGE
	jnz	trace_int3_other
	times pushed_size / 8 push qword [rsp + pushed.ss]	; the gap is the same five words
	push_all REGS
	mov	rdi, rsp
	sub	rsp, PAD_BYTES
	cld
	call	trace_int3_hit
	add	rsp, PAD_BYTES
	test	al, al
	jz	.other
	pop_all	REGS
	iretq
.other:
	pop_all	REGS
	add	rsp, pushed_size
	jmp	trace_int3_other
.end:
