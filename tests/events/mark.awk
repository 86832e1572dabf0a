# SPDX-License-Identifier: MIT
# mark.awk -v share=P -v seed=N -v table=1: puts queries of what chord_events(instructions) makes into assembly text, at
# a share of all instruction boundaries, with code that records the answer (record.c). The text must keep nothing below
# the stack pointer (-mno-red-zone). With table the addresses behind the queries are in section .marks, in their order.
BEGIN {
	srand(seed)
	names = "ax bx cx dx si di bp 8 9 10 11 12 13 14 15"
	nname = split(names, name, " ")
}

function wide(i) { return "%r" name[i] }
function narrow(i) { return i < 8 ? "%e" name[i] : "%r" name[i] "d" }

function mark(    r, s)
{
	r = 1 + int(rand() * nname)
	s = r == 3 ? 4 : 3
	print "\tpushfq\n\tpushq\t" wide(s) "\n\tpushq\t" wide(r)
	print "\t.set \".Levents.instructions\", 0\n\tmovl\t$0, " narrow(r)
	if (table) {
		print ".Lmark_" seed "_" ++n ":"
		print "\t.pushsection\t.marks,\"\",@progbits\n\t.quad\t.Lmark_" seed "_" n "\n\t.popsection"
	}
	print "\tmovq\trecord_at(%rip), " wide(s) "\n\tmovq\t" wide(r) ", (" wide(s) ")"
	print "\taddq\t$8, " wide(s) "\n\tbtrq\t$24, " wide(s) "\n\tmovq\t" wide(s) ", record_at(%rip)"
	print "\tpopq\t" wide(r) "\n\tpopq\t" wide(s) "\n\tpopfq"
}

/^[ \t]*\.cfi_startproc/ { inside = 1 }
/^[ \t]*\.cfi_endproc/ { inside = 0 }
/^[ \t]*#APP/ { inline = 1 }
/^[ \t]*#NO_APP/ { inline = 0 }

# An instruction, but for those that have to stay first or together.
/^\t[a-z]/ {
	alone = !/^\t(endbr64|rex64|data16)/ && !/@tls|__tls_get_addr/ && !glued
	if (inside && !inline && alone && rand() < share)
		mark()
	glued = /^\t(rep|repz|repnz|lock|data16|rex64)[ \t]*$/ || /@tls/
}
/^\t\.(byte|value)/ { glued = 1 }

/^\t\.addrsig/ { next } # of clang: not for as

{ print }
