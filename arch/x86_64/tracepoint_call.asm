; tracepoint_call_* - from inline functions into the tracepoints of <trace/host_tracepoints.h>.
;
; In:    called, with `parent` in rdi. rsp need not be aligned to 16.
; Calls: void trace_*_call(uintptr_t ip, uintptr_t parent); ip is the return address of this call
; Keeps: everything but the flags.

%include "asm.inc"
%include "trace_cfi.inc"

section .text

%macro tracepoint_call 1
extern trace_%1_call
global tracepoint_call_%1:function (tracepoint_call_%1.end - tracepoint_call_%1)
	align	16
tracepoint_call_%1:
	cfi_routine call, 8, tracepoint_call_%1.end
	push	rbp
	mov	rbp, rsp
	cfi_base rbp, 16
	cfi_saved rbp, 16
	push_all rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	mov	rax, rsp
	and	rsp, -16
	sub	rsp, 16
	mov	[rsp], rax
	mov	rsi, rdi
	mov	rdi, [rbp + 8]
	call	trace_%1_call
	mov	rsp, [rsp]
	pop_all	rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	pop	rbp
	cfi_base rsp, 8
	ret
	cfi_routine_end
.end:
%endmacro

	tracepoint_call irq_disable
	tracepoint_call irq_enable
	tracepoint_call preempt_disable
	tracepoint_call preempt_enable
