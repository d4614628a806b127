; return_to_handler - what a function whose return is hooked returns into.
;
; In:    by a return: rsp just above the slot that held the return address; rax and rdx are what the
;        function returns, the registers that C keeps are its caller's, all others are free.
; Calls: void trace_graph_return(uintptr_t *slot), which puts the real return address into the slot,
;        and finds the returned value in slot[-2]
; Keeps: rax, rdx, and what C keeps.
;
; The slot holds this routine's address until C has replaced it, and lies where a frame has its
; return address: an unwinder finds the caller there, and in rcx for the last instruction. That one is
; a jump, not a ret: the function's own ret was the one that belongs to its call. With two of them the
; processor would guess all returns wrong that follow, of the callers too.

%include "trace_cfi.inc"

extern trace_graph_return

HOOK_SLOT_BYTES equ 5		; until the slot is on the stack again

section .text

global return_to_handler:function (return_to_handler_end - return_to_handler)
	align	16
return_to_handler:
	cfi_routine call, 0, return_to_handler_end
	push_value strict dword return_to_handler ; all code lies in the top 2 GiB
	times HOOK_SLOT_BYTES - ($ - return_to_handler) nop ; unwind.c knows the number
	push_saved rbp
	mov	rbp, rsp
	push_saved rax, rdx
	lea	rdi, [rbp + 8]
	call	trace_graph_return
	pop_saved rax, rdx
	pop_saved rbp
global return_to_handler_pop, return_to_handler_jump
return_to_handler_pop:
	pop	rcx
	cfi_set_depth 0
	cfi_return_in rcx
return_to_handler_jump:
	jmp	rcx
	cfi_routine_end
return_to_handler_end:
