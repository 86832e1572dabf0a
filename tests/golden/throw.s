# An exception that is caught: the landing pad has an entry of its own.
# measures: edges paths trace
# g++ -O2:
#   int may(int);
#
#   int tries(int a)
#   {
#   	try {
#   		return may(a);
#   	} catch (int e) {
#   		return e;
#   	}
#   }
	.file	"throw.cc"
	.text
	.section	.text.unlikely,"ax",@progbits
.LCOLDB0:
	.text
.LHOTB0:
	.p2align 4
	.globl	_Z5triesi
	.type	_Z5triesi, @function
_Z5triesi:
.LFB0:
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDA0
	subq	$24, %rsp
	.cfi_def_cfa_offset 32
.LEHB0:
	call	_Z3mayi@PLT
.LEHE0:
.L1:
	addq	$24, %rsp
	.cfi_remember_state
	.cfi_def_cfa_offset 8
	ret
.L5:
	.cfi_restore_state
	movq	%rax, %rdi
	movq	%rdx, %rax
	jmp	.L2
	.globl	__gxx_personality_v0
	.section	.gcc_except_table,"a",@progbits
	.align 4
.LLSDA0:
	.byte	0xff
	.byte	0x9b
	.uleb128 .LLSDATT0-.LLSDATTD0
.LLSDATTD0:
	.byte	0x1
	.uleb128 .LLSDACSE0-.LLSDACSB0
.LLSDACSB0:
	.uleb128 .LEHB0-.LFB0
	.uleb128 .LEHE0-.LEHB0
	.uleb128 .L5-.LFB0
	.uleb128 0x1
.LLSDACSE0:
	.byte	0x1
	.byte	0
	.align 4
	.long	DW.ref._ZTIi-.
.LLSDATT0:
	.text
	.cfi_endproc
	.section	.text.unlikely
	.cfi_startproc
	.cfi_personality 0x9b,DW.ref.__gxx_personality_v0
	.cfi_lsda 0x1b,.LLSDAC0
	.type	_Z5triesi.cold, @function
_Z5triesi.cold:
.LFSB0:
.L2:
	.cfi_def_cfa_offset 32
	subq	$1, %rax
	jne	.L8
	call	__cxa_begin_catch@PLT
	movl	(%rax), %eax
	movl	%eax, 12(%rsp)
	call	__cxa_end_catch@PLT
	movl	12(%rsp), %eax
	jmp	.L1
.L8:
.LEHB1:
	call	_Unwind_Resume@PLT
.LEHE1:
	.cfi_endproc
.LFE0:
	.section	.gcc_except_table
	.align 4
.LLSDAC0:
	.byte	0xff
	.byte	0x9b
	.uleb128 .LLSDATTC0-.LLSDATTDC0
.LLSDATTDC0:
	.byte	0x1
	.uleb128 .LLSDACSEC0-.LLSDACSBC0
.LLSDACSBC0:
	.uleb128 .LEHB1-.LCOLDB0
	.uleb128 .LEHE1-.LEHB1
	.uleb128 0
	.uleb128 0
.LLSDACSEC0:
	.byte	0x1
	.byte	0
	.align 4
	.long	DW.ref._ZTIi-.
.LLSDATTC0:
	.section	.text.unlikely
	.text
	.size	_Z5triesi, .-_Z5triesi
	.section	.text.unlikely
	.size	_Z5triesi.cold, .-_Z5triesi.cold
.LCOLDE0:
	.text
.LHOTE0:
	.hidden	DW.ref._ZTIi
	.weak	DW.ref._ZTIi
	.section	.data.rel.local.DW.ref._ZTIi,"awG",@progbits,DW.ref._ZTIi,comdat
	.align 8
	.type	DW.ref._ZTIi, @object
	.size	DW.ref._ZTIi, 8
DW.ref._ZTIi:
	.quad	_ZTIi
	.hidden	DW.ref.__gxx_personality_v0
	.weak	DW.ref.__gxx_personality_v0
	.section	.data.rel.local.DW.ref.__gxx_personality_v0,"awG",@progbits,DW.ref.__gxx_personality_v0,comdat
	.align 8
	.type	DW.ref.__gxx_personality_v0, @object
	.size	DW.ref.__gxx_personality_v0, 8
DW.ref.__gxx_personality_v0:
	.quad	__gxx_personality_v0
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
