# SPDX-License-Identifier: MIT
# cmake --toolchain .../ChordToolchain.cmake: C and C++ are built with counters. CHORD_CC and CHORD_CXX in the environment say with
# which compilers, -fchord= among the flags says what is measured.
get_filename_component(_chord_bin "${CMAKE_CURRENT_LIST_DIR}/../../../bin" ABSOLUTE)
set(CMAKE_C_COMPILER "${_chord_bin}/chord-cc")
set(CMAKE_CXX_COMPILER "${_chord_bin}/chord-c++")
set(CMAKE_ASM_COMPILER "${_chord_bin}/chord-cc")
unset(_chord_bin)
