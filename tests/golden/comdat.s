# An inline function in a COMDAT group: its counters and its map go with it.
# measures: edges
# g++ -O1 -fno-asynchronous-unwind-tables:
#   template<class T> T larger(T a, T b)
#   {
#   	return a < b ? b : a;
#   }
#
#   template int larger(int, int);
	.file	"comdat.cc"
	.text
	.section	.text._Z6largerIiET_S0_S0_,"axG",@progbits,_Z6largerIiET_S0_S0_,comdat
	.weak	_Z6largerIiET_S0_S0_
	.type	_Z6largerIiET_S0_S0_, @function
_Z6largerIiET_S0_S0_:
.LFB1:
	.cfi_startproc
	cmpl	%esi, %edi
	movl	%esi, %eax
	cmovge	%edi, %eax
	ret
	.cfi_endproc
.LFE1:
	.size	_Z6largerIiET_S0_S0_, .-_Z6largerIiET_S0_S0_
	.ident	"GCC: (Debian 12.2.0-14+deb12u1) 12.2.0"
	.section	.note.GNU-stack,"",@progbits
