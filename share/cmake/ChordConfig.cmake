# SPDX-License-Identifier: MIT
# find_package(Chord): the target Chord::chord has the folder of <chord.h>. CHORD_EXECUTABLE, CHORD_CC and CHORD_CXX are the
# commands;
# CHORD_TOOLCHAIN_FILE makes a whole build measured: cmake --toolchain.
get_filename_component(_chord_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
set(CHORD_EXECUTABLE "${_chord_prefix}/bin/chord")
set(CHORD_CC "${_chord_prefix}/bin/chord-cc")
set(CHORD_CXX "${_chord_prefix}/bin/chord-c++")
set(CHORD_TOOLCHAIN_FILE "${CMAKE_CURRENT_LIST_DIR}/ChordToolchain.cmake")
if(NOT TARGET Chord::chord)
	add_library(Chord::chord INTERFACE IMPORTED)
	set_target_properties(Chord::chord PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_chord_prefix}/include")
endif()
unset(_chord_prefix)
