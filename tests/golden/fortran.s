# A nest of two loops from Fortran.
# measures: edges paths
# gfortran -O1 -fno-asynchronous-unwind-tables:
#   subroutine rows(n, a, s)
#     integer :: n, i, j
#     real(8) :: a(n, n), s(n)
#     do j = 1, n
#       do i = 1, n
#         s(i) = s(i) + a(i, j)
#       end do
#     end do
#   end subroutine
	.file	"fortran.f90"
	.text
	.globl	rows_
	.type	rows_, @function
rows_:
	movl	(%rdi), %eax
	movslq	%eax, %r8
	testq	%r8, %r8
	movl	$0, %ecx
	cmovs	%rcx, %r8
	testl	%eax, %eax
	jle	.L1
	salq	$3, %r8
	leaq	-8(%rsi), %rcx
	leal	1(%rax), %r9d
	movl	$1, %edi
	movl	%eax, %esi
.L4:
	movl	$0, %eax
.L3:
	movsd	(%rdx,%rax,8), %xmm0
	addsd	8(%rcx,%rax,8), %xmm0
	movsd	%xmm0, (%rdx,%rax,8)
	addq	$1, %rax
	cmpq	%rax, %rsi
	jne	.L3
	addl	$1, %edi
	addq	%r8, %rcx
	cmpl	%r9d, %edi
	jne	.L4
.L1:
	ret
	.size	rows_, .-rows_
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
