# SPDX-License-Identifier: MIT
# Writes an assembler's listing (--listing-lhs-width=4) as text again, with instructions as bytes, chosen by -v seed: each
# makes the bytes it made before. What is written is in the comments. -v share: of all instructions, in percent.
BEGIN { srand(seed); digits = "0123456789ABCDEF" }

function value(h) { return (index(digits, substr(h, 1, 1)) - 1) * 16 + index(digits, substr(h, 2, 1)) - 1 }
function pick(n) { return int(rand() * n) }

# Directive of the bytes h: one number for each size hex digits, lowest byte first.
function numbers(name, h, size,  out, i, k, one) {
	for (i = 1; i <= length(h); i += size) {
		one = ""
		for (k = i; k < i + size; k += 2)
			one = substr(h, k, 2) one
		out = out (out == "" ? "" : ",") "0x" one
	}
	return "\t" name "\t" out
}

function octal(h,  out, i) {
	for (i = 1; i < length(h); i += 2)
		out = out sprintf("\\%03o", value(substr(h, i, 2)))
	return "\t.ascii\t\"" out "\""
}

# One of the ways in which bytes can be written.
function written(h,  n, way, cut) {
	n = length(h) / 2
	way = pick(8)
	if (way == 0 && n > 1) {
		cut = 2 * (1 + pick(n - 1))
		return numbers(".byte", substr(h, 1, cut), 2) "\n" numbers(".byte", substr(h, cut + 1), 2)
	}
	if (way == 1)
		return octal(h)
	if (way == 2 && n % 2 == 0)
		return numbers(pick(2) ? ".word" : ".value", h, 4)
	if (way == 3 && n % 4 == 0)
		return numbers(pick(2) ? ".long" : ".int", h, 8)
	if (way == 4 && n == 8)
		return numbers(".quad", h, 16)
	if (way == 5 && pick(4) == 0)
		return "\t.rept\t1\n" numbers(".byte", h, 2) "\n\t.endr"
	if (way == 6 && pick(4) == 0) {
		macros++
		return "\t.macro\tbytes_" macros "\n" numbers(".byte", h, 2) "\n\t.endm\n\tbytes_" macros
	}
	return numbers(pick(6) ? ".byte" : ".BYTE", h, 2)
}

# A jump or call by name, with its distance as an expression.
function distance(h, to,  n) {
	n = length(h) / 2
	sub(/@PLT$/, "", to)
	if (to ~ /^[a-z]/)
		return numbers(".byte", substr(h, 1, 2), 2) "\n\t.reloc\t., R_X86_64_PLT32, " to "-4\n\t.long\t0"
	if (n == 2)
		return numbers(".byte", substr(h, 1, 2), 2) "\n\t.byte\t" to "-.-1"
	return numbers(".byte", substr(h, 1, 2 * n - 8), 2) "\n\t.long\t" to "-.-4"
}

!/\t/ { next }

{
	line[++n] = substr($0, index($0, "\t") + 1)
	head = substr($0, 1, index($0, "\t") - 1)
	bytes[n] = ""
	if (line[n] ~ /^\t[a-z]/ && head ~ /^ *[0-9]+ [0-9a-f]+ [0-9A-F ]+ *$/) {
		sub(/^ *[0-9]+ [0-9a-f]+ /, "", head)
		gsub(/ /, "", head)
		bytes[n] = head
	}
	operands = line[n]
	sub(/^\t[a-z0-9.]+/, "", operands)
	named = operands
	gsub(/%[a-z0-9]+|[$]?-?0x[0-9a-f]+/, "", named)
	plain[n] = bytes[n] != "" && named !~ /[A-Za-z_.]/
	sub(/^[ \t]+/, "", operands)
	jump[n] = bytes[n] != "" && line[n] ~ /^\t(j[a-z]+|call)\t(\.L|printf|putchar)[A-Za-z_.0-9@]*$/ ? operands : ""
}

END {
	for (i = 1; i <= n; i++) {
		if (bytes[i] == "" || pick(100) >= share) {
			print line[i]
		} else if (plain[i]) {
			from = i
			all = bytes[i]
			while (i < n && plain[i + 1] && pick(3) == 0)
				all = all bytes[++i]
			print written(all)
		} else if (jump[i] != "" && pick(100) < jumps) {
			print bytes[i] ~ /00000000$/ || pick(2) ? distance(bytes[i], jump[i]) : numbers(".byte", bytes[i], 2)
		} else {
			print line[i]
		}
	}
}
