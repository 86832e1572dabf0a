#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# pairs.py PLAIN JSON [ARGUMENT...]: runs a program that is not measured one instruction at a time from main() on, decodes each with
# Capstone, and notes for each activation which instruction left last what another one uses. What `chord paths --json --def-use`
# says of the same program, measured, has to agree: each pair seen is listed, with a count between its bounds, and no pair is said to
# be covered more often than it was seen. Prints how much was compared. The program must not be a PIE, and has one thread.
import ctypes, json, os, signal, struct, subprocess, sys
from collections import Counter
import capstone
from capstone import x86, x86_const

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
TRACEME, PEEK, POKE, CONT, KILL, STEP, GETREGS, SETREGS = 0, 1, 4, 7, 8, 9, 12, 13

WHOLE = {}
for names in ("rax eax ax al ah", "rcx ecx cx cl ch", "rdx edx dx dl dh", "rbx ebx bx bl bh", "rbp ebp bp bpl", "rsi esi si sil",
              "rdi edi di dil"):
    WHOLE.update({n: names.split()[0] for n in names.split()})
for i in range(8, 16):
    WHOLE.update({f"r{i}{s}": f"r{i}" for s in ("", "d", "w", "b")})
for i in range(32):
    WHOLE.update({f"{w}mm{i}": f"xmm{i}" for w in "xyz"})
FLAGS = ("cf", "pf", "af", "zf", "sf", "of", "df")
CALLEE = {"rcx", "rsi", "rdi", "r8", "r9", "r10", "r11"} | {f"xmm{i}" for i in range(2, 32)} | set(FLAGS[:6])
# What leaves a part of its first operand, of those that Capstone says write it only.
PARTS = {"cvtsi2sd", "cvtsi2ss", "cvtss2sd", "cvtsd2ss", "sqrtsd", "sqrtss", "movlps", "movlpd", "movhps", "movhpd", "movhlps", "movlhps",
         "roundsd", "roundss", "bsf", "bsr"}
SHIFTS = {"shl", "sal", "shr", "sar", "rol", "ror", "rcl", "rcr"}


def is_register(op):
    return op.type == x86.X86_OP_REG


def accesses(insn):
    """What it uses and defines, and what nobody knows of behind it."""
    read, write = ({WHOLE[n] for n in map(insn.reg_name, regs) if n in WHOLE} for regs in insn.regs_access())
    op, name = insn.operands, insn.mnemonic.split()[-1]
    if capstone.CS_GRP_CALL in insn.groups:
        return read - {"rax"} if name == "syscall" else read, {"rax", "rdx", "xmm0", "xmm1"}, CALLEE
    if name.startswith("nop") or name.startswith("endbr"):
        return set(), set(), set()
    for o in op:
        if o.type == x86.X86_OP_MEM:
            read |= {WHOLE[n] for n in (insn.reg_name(r) for r in (o.mem.base, o.mem.index) if r) if n in WHOLE}
    # Capstone 4 says that these write rax, too.
    if name in ("cdq", "cqo"):
        write = {"rdx"}
    if name in ("test", "cmp"):
        write = set()
    # It says nothing of these.
    if name in ("vcomisd", "vcomiss", "vucomisd", "vucomiss"):
        write = set(FLAGS[:6])
    first = WHOLE.get(insn.reg_name(op[0].reg)) if op and is_register(op[0]) else None
    if first in write and (op[0].size < 4 or name in PARTS or name.startswith("cmov") or
                           (name in ("movsd", "movss") and is_register(op[1]))):
        read.add(first)
    if name in ("xor", "sub", "pxor", "xorps", "xorpd") and is_register(op[1]) and op[0].reg == op[1].reg and op[0].size >= 4:
        read = set()
    for i, flag in enumerate(FLAGS):
        def has(*kinds):
            return any(insn.eflags & getattr(x86_const, f"X86_EFLAGS_{kind}_{flag.upper()}", 0) for kind in kinds)
        if has("TEST"):
            read.add(flag)
        if has("MODIFY", "RESET", "SET", "UNDEFINED"):
            write.add(flag)
            if name in SHIFTS and len(op) == 2 and is_register(op[1]):
                read.add(flag)
    return read, write, set()


class Program:
    def __init__(self, path, args):
        self.at = {}
        for line in subprocess.run(["nm", "-S", path], capture_output=True, text=True, check=True).stdout.splitlines():
            w = line.split()
            if len(w) == 4 and w[2] in "tTwW":
                addr, size = int(w[0], 16), int(w[1], 16)
                self.at.update({a: (w[3], a - addr) for a in range(addr, addr + size)})
        self.entry = {a: f for a, (f, off) in self.at.items() if not off}
        self.pid = os.fork()
        if not self.pid:
            libc.ptrace(TRACEME, 0, None, None)
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            os.execv(path, [path, *args])
        os.waitpid(self.pid, 0)
        self.mem = open(f"/proc/{self.pid}/mem", "rb", 0)
        self.md = capstone.Cs(capstone.CS_ARCH_X86, capstone.CS_MODE_64)
        self.md.detail = True
        self.known = {}

    def regs(self):
        buf = (ctypes.c_ulonglong * 27)()
        libc.ptrace(GETREGS, self.pid, None, ctypes.addressof(buf))
        return buf

    def wait(self):
        return os.WIFSTOPPED(os.waitpid(self.pid, 0)[1])

    def word(self, addr):
        return struct.unpack("<Q", os.pread(self.mem.fileno(), 8, addr))[0]

    def run_to(self, addr):
        """False: it ended first."""
        was = self.word(addr)
        libc.ptrace(POKE, self.pid, addr, was & ~0xff | 0xcc)
        libc.ptrace(CONT, self.pid, None, None)
        if not self.wait():
            return False
        libc.ptrace(POKE, self.pid, addr, was)
        regs = self.regs()
        regs[16] = addr
        libc.ptrace(SETREGS, self.pid, None, ctypes.addressof(regs))
        return True

    def step(self):
        libc.ptrace(STEP, self.pid, None, None)
        return self.wait()

    def decode(self, addr):
        if addr not in self.known:
            insn = next(self.md.disasm(os.pread(self.mem.fileno(), 15, addr), addr))
            groups = insn.groups
            self.known[addr] = (*accesses(insn), capstone.CS_GRP_CALL in groups, capstone.CS_GRP_RET in groups)
        return self.known[addr]


def whole(function):
    return function.removesuffix(".cold")


def watch(p):
    """Pairs that a run has, and how often."""
    main = next(a for a, f in p.entry.items() if f == "main")
    seen, stack, steps, limit = Counter(), [(0, "main", {})], 0, int(os.environ.get("PAIRS_STEPS", "2000000"))
    alive = p.run_to(main)
    stack[0] = p.regs()[19], "main", {}
    while alive and stack:
        regs = p.regs()
        pc, sp = regs[16], regs[19]
        if pc not in p.at:
            back = p.word(sp)
            if back not in p.at:
                break
            alive = p.run_to(back)
            continue
        # Activations above have returned, or were left by longjmp().
        while stack and stack[-1][0] < sp:
            stack.pop()
        steps += 1
        if steps > limit:
            sys.exit(f"more than {limit} instructions")
        place = p.at[pc]
        read, write, lost, calls, returns = p.decode(pc)
        left = stack[-1][2]
        for r in read:
            if left.get(r):
                seen[left[r], place, r] += 1
        for r in lost:
            left[r] = None
        for r in write:
            left[r] = place
        alive = p.step()
        regs = p.regs() if alive else None
        to = p.entry.get(regs[16]) if alive else None
        if calls and to:
            stack.append((regs[19], whole(to), {}))
        elif returns:
            stack.pop()
        elif to and whole(to) != whole(place[0]):
            stack[-1] = regs[19], whole(to), {}
    if alive:
        os.kill(p.pid, signal.SIGKILL)
        os.waitpid(p.pid, 0)
    return seen, steps


def place_of(function, at):
    return function + (".cold" if at["part"] else ""), at["offset"]


def main():
    said = json.load(open(sys.argv[2]))["def_use"]
    functions = {f["name"] for f in said["functions"]}
    seen, steps = watch(Program(os.path.abspath(sys.argv[1]), sys.argv[3:]))
    pairs, exact = {}, 0
    for x in said["pairs"]:
        key = place_of(x["function"], x["definition"]), place_of(x["function"], x["use"]), x["register"]
        least = x["count"] if x["count"] is not None else x["count_at_least"]
        most = x["count"] if x["count"] is not None else x["count_at_most"]
        pairs[key] = least, most
        exact += least == most
        n = seen[key]
        if n < least or (most is not None and n > most):
            sys.exit(f"{key}: {n}, not {least} to {most}")
        if (x["status"] == "covered") != (least > 0) or (x["status"] == "not covered") != (most == 0):
            sys.exit(f"{key}: {x['status']}, {least} to {most}")
    for key, n in seen.items():
        if whole(key[0][0]) in functions and n and key not in pairs:
            sys.exit(f"{key}: seen {n} times, not listed")
    covered = sum(1 for key in seen if key in pairs and seen[key])
    print(f"{steps} instructions, {covered} of {len(pairs)} pairs seen, {exact} counts exact")
    return 0 if covered else 1


sys.exit(main())
