; trap_entry.asm - exceptions and interrupts: save, call, restore, return.
;
; In:    from the CPU, through the IDT: ss rsp rflags cs rip, and an error code for some vectors,
;        on a stack that the CPU aligned to 16.
; Calls: void trap_dispatch(struct trap_frame *), interrupts off
; Keeps: everything, except what the handler changes in the frame.
;
; While C runs, rbp is the frame's address plus one. An odd rbp tells unwind.c that a trap frame is
; there.

%include "asm.inc"
%include "trace_cfi.inc"

extern trap_dispatch

section .text

; One stub of TRAP_STUB_SIZE bytes for each vector.
TRAP_STUB_SIZE	equ 16
%define HAS_ERROR_CODE(v) ((v) == 8 || ((v) >= 10 && (v) <= 14) || (v) == 17 || (v) == 21 || \
	(v) == 29 || (v) == 30)

global trap_stubs:function (trap_stubs.end - trap_stubs)
	align	TRAP_STUB_SIZE
trap_stubs:
	cfi_routine trap, IRET_FRAME_SIZE, trap_stubs.end
%assign vector 0
%rep 256
	align	TRAP_STUB_SIZE, int3
	%if HAS_ERROR_CODE(vector)
	cfi_set_depth IRET_FRAME_SIZE + 8
	%else
	cfi_set_depth IRET_FRAME_SIZE
	push_value 0
	%endif
	push_value vector
	jmp	trap_common
%assign vector vector + 1
%endrep
	align	TRAP_STUB_SIZE, int3
	cfi_routine_end
.end:

; #BP leaves a gap of 8 words between the interrupted stack and the frame. The handler of a changed
; call site, when it does a call in place of the int3, pushes the return address there.
BP_GAP_WORDS	equ 8
global trap_breakpoint:function (trap_breakpoint.end - trap_breakpoint)
	align	16
trap_breakpoint:
	cfi_routine trap, IRET_FRAME_SIZE, trap_breakpoint.end
	sub	rsp, BP_GAP_WORDS * 8 - IRET_FRAME_SIZE
	cfi_set_depth BP_GAP_WORDS * 8
	%rep	IRET_FRAME_SIZE / 8
	push_value qword [rsp + BP_GAP_WORDS * 8 - 8]
	%endrep
	push_value 0
	push_value 3
	jmp	trap_common
	cfi_routine_end
.end:

global trap_common:function (trap_common.end - trap_common)
	align	16
trap_common:
	cfi_routine trap, IRET_FRAME_SIZE + 16, trap_common.end
	push_saved TRAP_REGS
	lea	rbp, [rsp + 1]
	mov	rdi, rsp
	cld
	call	trap_dispatch
	pop_saved TRAP_REGS
	add	rsp, 16			; vector, error code
	cfi_set_depth IRET_FRAME_SIZE
	iretq
	cfi_routine_end
.end:

global trap_entry_end
trap_entry_end:
