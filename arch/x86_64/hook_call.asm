; hook_call_* - from inline functions into the hooks of <trace/hooks.h>.
;
; In:    called; rdi: what to pass as parent. The stack may have any alignment of 8.
; Calls: void trace_hook_*(uintptr_t ip, uintptr_t parent); ip is our return address
; Keeps: everything but the flags.

%include "asm.inc"
%include "trace_cfi.inc"

section .text

%macro hook_call 1
extern trace_hook_%1
global hook_call_%1:function (hook_call_%1.end - hook_call_%1)
	align	16
hook_call_%1:
	cfi_routine call, 8, hook_call_%1.end
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
	call	trace_hook_%1
	mov	rsp, [rsp]
	pop_all	rax, rcx, rdx, rsi, rdi, r8, r9, r10, r11
	pop	rbp
	cfi_base rsp, 8
	ret
	cfi_routine_end
.end:
%endmacro

	hook_call irqs_off
	hook_call irqs_on
	hook_call preempt_off
	hook_call preempt_on
