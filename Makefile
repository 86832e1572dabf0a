# SPDX-License-Identifier: MIT
# make, make demo, make check, make install PREFIX= DESTDIR=, make bench,
# make asan, make fmt, make layers

PREFIX = /usr/local
DESTDIR =
BUILD = build
CC = gcc
CFLAGS = -O2 -g
WARN = -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wimplicit-fallthrough -Wformat=2 -Werror
CPPFLAGS = -D_GNU_SOURCE -Isrc -I.
LIBS = -lZydis -lelf -ldw -ljansson

SRC := $(sort $(wildcard src/*/*.c src/*/*/*.c))
OBJ := $(SRC:%.c=$(BUILD)/%.o)
LIBEXEC = $(BUILD)/libexec/chord

all: $(BUILD)/chord $(LIBEXEC)/as $(LIBEXEC)/runtime.s $(BUILD)/chord-cc $(BUILD)/chord-c++

$(BUILD)/chord: $(OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(OBJ) $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

$(LIBEXEC)/as: $(BUILD)/chord
	@mkdir -p $(@D)
	ln -f $< $@

$(BUILD)/chord-cc $(BUILD)/chord-c++: $(BUILD)/chord
	ln -sf chord $@

$(LIBEXEC)/runtime.s: $(wildcard runtime/*) format/format.h
	@mkdir -p $(@D)
	runtime/pack.sh -o $@

clean:
	rm -rf $(BUILD)

-include $(OBJ:.o=.d)
.PHONY: all clean
