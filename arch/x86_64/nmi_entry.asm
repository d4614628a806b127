; nmi_entry.asm - NMI, safe against the next NMI that an IRET inside the handler lets in.
;
; The CPU blocks NMIs from entry until the next IRET, even that of another trap (Intel SDM volume 3,
; "Handling Multiple NMIs"). If the handler hits an int3, the IRET of #BP ends the blocking early,
; and the next NMI starts again at the top of the same IST stack. So the frame does not stay there:
; it is copied to the main part below. A second NMI finds that the interrupted rsp is on this stack,
; so the first one is not done. It only sets the latch, a flag that makes the first one run its
; handler again:
;
;   NMI stack, NMI_STACK_SIZE bytes, aligned to its size; the first page is the guard
;
;     size      +-----------------------+
;               | entry: latch, frame   |  NMI_ENTRY_SIZE; the IST pointer is below the latch
;               +-----------------------+
;               | main: frame, handler  |
;     4096      +-----------------------+
;               | guard                 |
;               +-----------------------+
;
;   interrupted rsp outside      first NMI: copy the frame, run the handler
;   inside, not in .window       set the latch; the first one repeats its handler
;   inside, in .window           set it, too; the first one may have looked at it already, so return
;                                to .repeat instead
;
; From the entry to the switch to the main part nothing can trap, so no second NMI comes there.
; In .window rsp points at the copied frame and all other registers are restored, as .repeat needs it.
;
; Calls: void trap_nmi(struct trap_frame *)
; Keeps: everything.

%include "asm.inc"
%include "trace_cfi.inc"

extern trap_nmi
%ifdef WITH_PROCESSES
extern user_rsp_begin, user_rsp_end
%endif

MSR_GS_BASE	equ 0xc0000101
NMI_STACK_SIZE	equ 32768
NMI_ENTRY_SIZE	equ 256

struc nmi_stack				; the entry part, up to the top of the stack, lowest address first
.rdx:		resq 1
.rcx:		resq 1
.rax:		resq 1
.rip:		resq 1
.cs:		resq 1
.rflags:	resq 1
.rsp:		resq 1
.ss:		resq 1
.unused:	resq 1			; the IST pointer points here, 16-byte aligned
.latch:		resq 1
endstruc

; Distance from the copied frame, at the top of the main part, up to the latch.
LATCH_FROM_FRAME equ IRET_FRAME_SIZE + NMI_ENTRY_SIZE - 8

section .text

global nmi_entry:function (nmi_entry.end - nmi_entry)
	align	16
nmi_entry:
	cfi_routine trap, IRET_FRAME_SIZE, nmi_entry.end
	push_saved rax, rcx, rdx
%ifdef WITH_PROCESSES
	; rsp may be any address where it is a program's: no sign of a first NMI.
	test	byte [rsp + nmi_stack.cs], 3
	jnz	.first
	mov	rax, [rsp + nmi_stack.rip]
	mov	rcx, user_rsp_begin
	cmp	rax, rcx
	jb	.kernel_rsp
	mov	rcx, user_rsp_end
	cmp	rax, rcx
	jb	.first
.kernel_rsp:
%endif
	mov	rax, [rsp + nmi_stack.rsp]
	mov	rcx, rsp
	xor	rax, rcx
	test	rax, -NMI_STACK_SIZE
	jz	.nested

.first:
	mov	rcx, rsp
	or	rcx, NMI_STACK_SIZE - 1
	sub	rcx, NMI_ENTRY_SIZE - 1		; top of the main part
	mov	rdx, rsp
	cfi_base rdx, IRET_FRAME_SIZE + 24
	mov	rsp, rcx
	push	qword [rdx + nmi_stack.ss]
	push	qword [rdx + nmi_stack.rsp]
	push	qword [rdx + nmi_stack.rflags]
	push	qword [rdx + nmi_stack.cs]
	push	qword [rdx + nmi_stack.rip]
	mov	rax, [rdx + nmi_stack.rax]
	mov	rcx, [rdx + nmi_stack.rcx]
	mov	rdx, [rdx + nmi_stack.rdx]
	cfi_set_depth IRET_FRAME_SIZE
	cfi_same rax, rcx, rdx
.repeat:
	mov	qword [rsp + LATCH_FROM_FRAME], 0
	push_value 0
	push_value 2
	push_saved TRAP_REGS
	xor	ebx, ebx		; 1: the GS base was a program's, see trap_entry.asm
	mov	ecx, MSR_GS_BASE
	rdmsr
	test	edx, edx
	js	.is_kernels
	swapgs
	inc	ebx
.is_kernels:
	lea	rbp, [rsp + 1]
	mov	rdi, rsp
	cld
	call	trap_nmi
	test	ebx, ebx
	jz	.was_kernels
	swapgs
.was_kernels:
	pop_saved TRAP_REGS
	add	rsp, 16
	cfi_set_depth IRET_FRAME_SIZE
.window:
	cmp	qword [rsp + LATCH_FROM_FRAME], 0
	jne	.repeat
	iretq
.window_end:

.nested:
	cfi_set_depth IRET_FRAME_SIZE + 24
	cfi_saved rax, IRET_FRAME_SIZE + 8
	cfi_saved rcx, IRET_FRAME_SIZE + 16
	cfi_saved rdx, IRET_FRAME_SIZE + 24
	mov	rcx, rsp
	or	rcx, NMI_STACK_SIZE - 1
	mov	qword [rcx - 7], 1
	mov	rax, [rsp + nmi_stack.rip]
	mov	rcx, .window
	cmp	rax, rcx
	jb	.leave
	mov	rcx, .window_end
	cmp	rax, rcx
	jae	.leave
	mov	rcx, .repeat
	mov	[rsp + nmi_stack.rip], rcx
.leave:
	pop_saved rax, rcx, rdx
	iretq
	cfi_routine_end
.end:

global nmi_entry_end
nmi_entry_end:
