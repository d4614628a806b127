; trap_entry.asm - exceptions and interrupts: save, call, restore, return.
;
; In:    from the CPU, through the IDT: ss rsp rflags cs rip, and an error code for some vectors,
;        on a stack that the CPU aligned to 16.
; Calls: void trap_dispatch(struct trap_frame *), interrupts off
; Keeps: everything, except what the handler changes in the frame.
;
; While C runs, rbp is the frame's address plus one. An odd rbp tells unwind.c that a trap frame is
; there.
;
; A trap in a program comes on the kernel stack of its thread, which is empty then. The GS base is the
; program's; SWAPGS exchanges it with the kernel's, and again before the return. The selector of the
; interrupted code tells whether to do that, but not for traps that can come between an entry and its
; SWAPGS: #DB, #DF, #MC here, and NMI in nmi_entry.asm. These look at the GS base itself. The kernel's
; has its highest bit set; a program's never has, because programs set it by a system call.

%include "asm.inc"
%include "trace_cfi.inc"

extern trap_dispatch
%ifdef WITH_PROCESSES
extern user_iret, user_rsp_begin, user_rsp_end
%endif

MSR_GS_BASE	equ 0xc0000101
RFLAGS_FIXED	equ 2

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
%ifdef WITH_PROCESSES
	test	byte [rsp + 8], 3
	jnz	trap_stubs + 3 * TRAP_STUB_SIZE
%endif
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

; Into ebx: 1 when the GS base was a program's, and has been exchanged, otherwise 0. rsp is at a frame
; whose registers are saved. Changes rax, rcx, rdx.
%macro swapgs_if_needed 0
	xor	ebx, ebx
	mov	ecx, MSR_GS_BASE
	rdmsr
	test	edx, edx
	js	%%is_kernels
	swapgs
	inc	ebx
%%is_kernels:
%endmacro
%macro swapgs_back 0
	test	ebx, ebx
	jz	%%is_kernels
	swapgs
%%is_kernels:
%endmacro

global trap_common:function (trap_common.end - trap_common)
	align	16
trap_common:
	cfi_routine trap, IRET_FRAME_SIZE + 16, trap_common.end
%ifdef WITH_PROCESSES
	test	byte [rsp + trap_frame.cs - trap_frame.vector], 3
	jnz	trap_from_user
%endif
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

%ifdef WITH_PROCESSES
global trap_from_user:function (trap_from_user.end - trap_from_user)
	align	16
trap_from_user:
	cfi_routine trap, IRET_FRAME_SIZE + 16, trap_from_user.end
	swapgs
	push_saved TRAP_REGS
.saved:
	push	RFLAGS_FIXED		; a program may have AC set, which would switch SMAP off
	popfq
	lea	rbp, [rsp + 1]
	mov	rdi, rsp
	call	trap_dispatch
	jmp	user_iret
	cfi_routine_end
.end:
%endif

; #DF and #MC, each on its own stack: they end the kernel.
global trap_double_fault:function (trap_double_fault.end - trap_double_fault)
	align	16
trap_double_fault:
	cfi_routine trap, IRET_FRAME_SIZE + 8, trap_double_fault.end
	push_value 8
	jmp	trap_paranoid
	cfi_routine_end
.end:

global trap_machine_check:function (trap_machine_check.end - trap_machine_check)
	align	16
trap_machine_check:
	cfi_routine trap, IRET_FRAME_SIZE, trap_machine_check.end
	push_value 0
	push_value 18
	jmp	trap_paranoid
	cfi_routine_end
.end:

trap_paranoid:
	cfi_routine trap, IRET_FRAME_SIZE + 16, trap_paranoid.end
	push_saved TRAP_REGS
	swapgs_if_needed
	lea	rbp, [rsp + 1]
	mov	rdi, rsp
	cld
	call	trap_dispatch
	swapgs_back
	pop_saved TRAP_REGS
	add	rsp, 16
	cfi_set_depth IRET_FRAME_SIZE
	iretq
	cfi_routine_end
.end:

; #DB has a stack of its own, because a program can have one come before the first instruction of its
; system call, when rsp still is the program's: a watchpoint on a word that MOV SS or POP SS reads
; right before SYSCALL (Intel SDM volume 3, "Masking Exceptions and Interrupts When Switching Stacks").
; The frame is moved on at once, so that a handler may come to the next #DB:
;
;   from a program, or where rsp is a program's   to the empty stack of the thread
;   otherwise                                     to the interrupted stack, as other traps
;
; From here to .moved no watchpoint may be hit. Those on trap stacks and struct cpu_local are refused;
; trap_nmi() switches them off when an NMI comes in between.
global trap_debug:function (trap_debug.end - trap_debug)
	align	16
trap_debug:
	cfi_routine trap, IRET_FRAME_SIZE, trap_debug.end
	push_value 0
	push_value 1
	push_saved TRAP_REGS
	cld
	swapgs_if_needed
	mov	rdi, [rsp + trap_frame.rsp]
%ifdef WITH_PROCESSES
	test	byte [rsp + trap_frame.cs], 3
	jnz	.empty_stack
	mov	rax, [rsp + trap_frame.rip]
	mov	rcx, user_rsp_begin
	cmp	rax, rcx
	jb	.same_stack
	mov	rcx, user_rsp_end
	cmp	rax, rcx
	jae	.same_stack
.empty_stack:
	mov	rdi, [gs:LOCAL_STACK_TOP]
.same_stack:
%endif
	and	rdi, -16
	sub	rdi, trap_frame_size
	mov	rsi, rsp
	mov	rsp, rdi
	mov	ecx, trap_frame_size / 8
	rep movsq
.moved:
%ifdef WITH_PROCESSES
	test	byte [rsp + trap_frame.cs], 3
	jnz	trap_from_user.saved
%endif
	lea	rbp, [rsp + 1]
	mov	rdi, rsp
	call	trap_dispatch
	swapgs_back
	pop_saved TRAP_REGS
	add	rsp, 16
	cfi_set_depth IRET_FRAME_SIZE
	iretq
	cfi_routine_end
.end:
global trap_debug_end
trap_debug_end:

global trap_entry_end
trap_entry_end:
