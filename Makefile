# SPDX-License-Identifier: MIT
# make                        build Chord in build/
# make demo                   install what is missing, build, measure Chord with Chord
# make check                  install what is missing, build, run the tests
# make unit                   the unit tests in a few seconds: the largest of them cut down
# make install PREFIX= DESTDIR=
# make deb                    a Debian package in build/deb
# make bench                  what measuring costs: the paper's tables, to bench/results.md; hours; goes on where it was stopped
# make bench PAPER=--quick    the short form, in seconds, to a folder of its own
# make bench BENCH="run loop" single benchmarks: bench/NAME.sh
# make golden               writes what is woven into tests/golden/ anew; read the difference
# make check-real, check-torture, check-csmith, check-gas   the long tests, whole
# make check-processors       programs on processors that qemu emulates (needs root, and packages that tests/processors/run.sh names)
# make check-replay           recordings of real programs and of signals, each replayed 100 times (REPLAYS=100 SIGNALS=1000)
# make asan                   Chord with sanitizers in build-asan/, and the tests that suit it
# make fmt, make layers       house rules: formatting, dependency order

PREFIX = /usr/local
DESTDIR =
BUILD = build
CC = gcc
CFLAGS = -O2 -g
# -Werror in .ci/run: a newer compiler warns of more, and Chord is to be built with it all the same.
STRICT =
export STRICT
WARN = -Wall -Wextra -Wshadow -Wconversion -Wmissing-prototypes -Wimplicit-fallthrough -Wformat=2 $(STRICT)
CPPFLAGS = -D_GNU_SOURCE -Isrc -I. -I$(BUILD)/made
LIBS = -lZydis -lelf -ldw -ljansson -liberty -lprotobuf-c -lz -lzstd -lxxhash -lm

SRC := $(sort $(wildcard src/*/*.c src/*/*/*.c))
# What is made of a schema is compiled without our warnings.
MADE = $(BUILD)/made/pprof.pb-c $(BUILD)/made/perfetto.pb-c
OBJ := $(SRC:%.c=$(BUILD)/%.o) $(MADE:%=%.o)
TEST := $(patsubst tests/unit/%.c,$(BUILD)/tests/%,$(wildcard tests/unit/*.c))
LIBEXEC = $(BUILD)/libexec/chord
NODE = $(firstword $(wildcard .packages/usr/share/nodejs) /usr/share/nodejs)
# As many as there are processors, if nothing is said of jobs.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
MAN := $(wildcard docs/man/*.1)

all: $(BUILD)/chord $(LIBEXEC)/as $(LIBEXEC)/runtime.s $(LIBEXEC)/timers.s $(LIBEXEC)/trace.s $(LIBEXEC)/headers/chord.h $(BUILD)/chord-cc $(BUILD)/chord-c++ $(LIBEXEC)/html/.made

# All of it but main(): the command and what tests beside it take from it.
LIB = $(BUILD)/libchord.a

$(LIB): $(filter-out $(BUILD)/src/tool/main.o,$(OBJ))
	rm -f $@
	ar rcsD $@ $^

$(BUILD)/chord: $(BUILD)/src/tool/main.o $(LIB)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)

$(BUILD)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

$(BUILD)/made/pprof.pb-c.c: src/export/pprof.proto
$(BUILD)/made/perfetto.pb-c.c: src/tool/trace/perfetto.proto
$(MADE:%=%.c):
	@mkdir -p $(@D)
	protoc-c --c_out=$(@D) -I$(<D) $<

$(MADE:%=%.o): %.o: %.c
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

$(BUILD)/src/export/pprof.o: $(BUILD)/made/pprof.pb-c.c
$(BUILD)/src/tool/trace/perfetto.o: $(BUILD)/made/perfetto.pb-c.c

$(LIBEXEC)/as: $(BUILD)/chord
	@mkdir -p $(@D)
	ln -f $< $@

$(BUILD)/chord-cc $(BUILD)/chord-c++: $(BUILD)/chord
	ln -sf chord $@

$(LIBEXEC)/runtime.s: $(wildcard runtime/*.* runtime/*/*) $(wildcard format/*.h)
	@mkdir -p $(@D)
	CHORD_RT_CC=gcc runtime/pack.sh --beside $(LIBEXEC)/runtime.bin -o $@

$(LIBEXEC)/timers.s $(LIBEXEC)/trace.s: $(LIBEXEC)/%.s: runtime/x86_64/%.s runtime/pack.sh $(wildcard format/*.h)
	@mkdir -p $(@D)
	runtime/pack.sh --$* -o $@

$(LIBEXEC)/headers/chord.h: include/chord.h
	@mkdir -p $(@D)
	cp $< $@

# The pages of chord html, with the libraries that the distribution has for them. Without these everything else is built.
$(LIBEXEC)/html/.made: tools/html.sh $(wildcard share/html/* $(addprefix $(NODE)/,d3/dist/d3.min.js dagre/dist/dagre.min.js))
	tools/html.sh $(NODE) $(@D)

$(BUILD)/may: tests/may.c
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CFLAGS) $(WARN) -o $@ $<
$(BUILD)/step: tests/step/step.c tests/stepping.h
$(BUILD)/stops: tests/events/stops.c
$(BUILD)/truth: tests/timers/truth.c
$(BUILD)/record: tests/paths/record.c tests/stepping.h tests/strikes.h
$(BUILD)/steps: tests/tracing/steps.c tests/stepping.h tests/strikes.h
$(BUILD)/kills: tests/tracing/kills.c tests/stepping.h
$(BUILD)/regenerate: tests/tracing/regenerate.c
$(BUILD)/studies: bench/studies.c
$(BUILD)/chamber: tests/torture/chamber.c tests/torture/child.c tests/torture/opinion.c tests/torture/some.c
$(BUILD)/step $(BUILD)/stops $(BUILD)/truth $(BUILD)/record $(BUILD)/steps $(BUILD)/kills $(BUILD)/regenerate $(BUILD)/studies $(BUILD)/chamber: $(LIB)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) $(LDFLAGS) -o $@ $(filter %.c,$^) $(LIB) $(LIBS)

$(BUILD)/tests/%: tests/unit/%.c $(LIB) $(wildcard tests/unit/*.h)
	@mkdir -p $(@D)
	$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) $(LDFLAGS) -o $@ $(filter-out %.h,$^) $(LIBS) -lcmocka

setup:
	tools/setup.sh build

demo: setup
	$(MAKE) $(JOBS) all
	JOBS="$(JOBS)" tools/demo.sh $(BUILD)

check:
	tools/setup.sh build check
	$(MAKE) $(JOBS) all $(TEST) $(BUILD)/step $(BUILD)/stops $(BUILD)/truth $(BUILD)/record $(BUILD)/steps $(BUILD)/regenerate $(BUILD)/studies $(BUILD)/chamber $(BUILD)/may
	tests/run.sh $(BUILD)

unit: all asan-tests
	CHORD_UNIT=quick tests/run.sh $(BUILD) unit

golden: all
	CHORD=$(abspath $(BUILD)/chord) tests/golden/run.sh --rewrite

check-real check-torture check-csmith check-gas check-oracle check-processors: all $(BUILD)/chamber $(BUILD)/kills $(BUILD)/may
	tools/setup.sh build check
	tests/run.sh $(BUILD) $(@:check-%=%)

check-replay: all $(BUILD)/may
	tools/setup.sh build check
	REPLAYS=$${REPLAYS:-100} SIGNALS=$${SIGNALS:-1000} tests/run.sh $(BUILD) replay

# Options of bench/paper/paper.sh in PAPER.
BENCH = paper
bench: all
	tools/setup.sh build check bench
	export CHORD=$(abspath $(BUILD)/chord); \
	for name in $(BENCH); do case $$name in paper) bench/paper.sh $(PAPER) ;; *) bench/$$name.sh ;; esac || exit; done

BESIDE = chamber step stops truth record steps regenerate studies may
ASAN = -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined -Wno-format-truncation -Wno-format-overflow

# What runs beside Chord has no sanitizers, the programs measured have none either.
asan: $(BESIDE:%=$(BUILD)/%)
	$(MAKE) BUILD=build-asan CFLAGS="$(ASAN)" LDFLAGS="-fsanitize=address,undefined" all asan-tests
	for tool in $(BESIDE); do cp $(BUILD)/$$tool build-asan; done
	CHAMBER=$(abspath $(BUILD)/chamber) tests/run.sh build-asan unit graph hook input situations calls events timers step stat diff weights hostile paths export coverage html replay-sample torture-sample csmith-sample

asan-tests: $(TEST)

# For scripts that link what is linked here.
libs:
	@echo $(LIBS)

install: all
	install -d $(DESTDIR)$(PREFIX)/bin $(DESTDIR)$(PREFIX)/libexec/chord/headers $(DESTDIR)$(PREFIX)/share/man/man1 \
		$(DESTDIR)$(PREFIX)/include
	install -m 755 $(BUILD)/chord $(DESTDIR)$(PREFIX)/bin/chord
	ln -sf chord $(DESTDIR)$(PREFIX)/bin/chord-cc
	ln -sf chord $(DESTDIR)$(PREFIX)/bin/chord-c++
	install -m 755 $(BUILD)/chord $(DESTDIR)$(PREFIX)/libexec/chord/as
	install -m 644 $(LIBEXEC)/runtime.s $(LIBEXEC)/runtime.bin $(LIBEXEC)/runtime.frames $(LIBEXEC)/timers.s $(LIBEXEC)/trace.s $(DESTDIR)$(PREFIX)/libexec/chord
	rm -rf $(DESTDIR)$(PREFIX)/libexec/chord/html
	cp -R $(LIBEXEC)/html $(DESTDIR)$(PREFIX)/libexec/chord/html
	rm -f $(DESTDIR)$(PREFIX)/libexec/chord/html/.made
	install -m 644 include/chord.h $(DESTDIR)$(PREFIX)/libexec/chord/headers/chord.h
	install -m 644 include/chord.h $(DESTDIR)$(PREFIX)/include/chord.h
	install -m 644 $(MAN) $(DESTDIR)$(PREFIX)/share/man/man1
	ln -sf chord-cc.1 $(DESTDIR)$(PREFIX)/share/man/man1/chord-c++.1
	tools/share.sh "$(DESTDIR)" "$(PREFIX)"

# A package of Debian's in build/deb. DEBFULLNAME and DEBEMAIL say whose it is.
deb:
	tools/setup.sh build deb
	tools/deb.sh $(BUILD)/deb

fmt:
	tools/fmt.sh

layers:
	tools/layers.sh

clean:
	rm -rf build build-asan .packages

-include $(OBJ:.o=.d)
.PHONY: all libs deb setup demo check unit golden check-real check-replay check-torture check-csmith check-gas check-oracle check-processors bench asan asan-tests install fmt layers clean
.SECONDARY:
