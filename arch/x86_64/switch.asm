; switch.asm - from one thread's stack to another's.
;
; In:    rdi, rsi: struct arch_context of the thread that stops and of the one that goes on.
; Keeps: CALLEE_REGS: a thread that does not run has them on its stack. Flags are not kept.

%include "asm.inc"
%include "trace_cfi.inc"

section .text

global arch_switch:function (arch_switch.end - arch_switch)
	align	16
arch_switch:
	cfi_routine call, 8, arch_switch.end
	push_saved CALLEE_REGS
	mov	[rdi], rsp
	mov	rsp, [rsi]
	pop_saved CALLEE_REGS
	ret
	cfi_routine_end
.end:

%ifdef WITH_PROCESSES
extern user_start
%endif

; A new thread begins here, by the `ret` of its first arch_switch(): r12 = argument, r13 = function.
; rbp and the word at rsp are 0, so that backtraces end here.
global arch_thread_start:function (arch_thread_start.end - arch_thread_start)
	align	16
arch_thread_start:
	cfi_routine call, 8, arch_thread_start.end
	cfi_outermost
	mov	rdi, r12
	call	r13
%ifdef WITH_PROCESSES
	jmp	user_start		; of user_entry.asm: the thread goes on as a program
%else
	ud2
%endif
	cfi_routine_end
.end:
