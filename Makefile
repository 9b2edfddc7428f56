# FolioLab: everything built goes to build/ ($(BUILD)); `make help` lists the targets.
#
#   build/foliolab         -O2 -g, frame pointers kept     objects in build/obj/
#   build/asan/foliolab    -O1 -g, ASan and UBSan          objects in build/asan/obj/
#   build/asan/tests/...   one cmocka program for each tests/.../test_*.c
#   build/tests/bench/...  one program for each tests/bench/*.c, -O2
#   build/tsan/...         the same with SANITIZE=-fsanitize=thread, for `make tsan`
#   build/coverage/...     the same with SANITIZE=--coverage, for `make coverage`
#
# Another compiler, other flags or another PREFIX rebuild by themselves (build/flags).

VERSION := 0.1.0

# Libraries found with pkg-config; a line here goes with a line in scripts/setup.
PKGS := \
	liblzma \
	libcjson \
	libcrypto \
	lua5.4 \
	md4c \
	ext2fs \
	com_err \
	libseccomp \
	ncursesw \
	libpng \
	zlib
# make NO_GUI=1: without the window and its libraries.
NO_GUI ?=
ifeq ($(NO_GUI),)
PKGS += sdl2 SDL2_ttf
else
GUI_CFLAGS := -DFL_NO_GUI
endif
TEST_PKGS := cmocka
# Libraries that have no .pc file; libdwarf has one from 0.3 on only.
PLAIN_LIBS := -ldwarf -lm -pthread

BUILD ?= build
PREFIX ?= /usr/local
DESTDIR ?=
CFLAGS ?= -O2 -g
WERROR ?= -Werror

BINDIR := $(PREFIX)/bin
SHAREDIR := $(PREFIX)/share
PKGDATADIR := $(SHAREDIR)/foliolab
# Debian's zsh has its own place for packages.
ZSHDIR ?= zsh/site-functions
# What other programs look for: FILE below assets/ = its place below $(SHAREDIR).
SHARED := \
	man/foliolab.1=man/man1/foliolab.1 \
	man/foliolab-workload.5=man/man5/foliolab-workload.5 \
	man/foliolab-lab.5=man/man5/foliolab-lab.5 \
	completion/foliolab.bash=bash-completion/completions/foliolab \
	completion/_foliolab=$(ZSHDIR)/_foliolab \
	completion/foliolab.fish=fish/vendor_completions.d/foliolab.fish \
	desktop/foliolab.desktop=applications/foliolab.desktop \
	desktop/foliolab.svg=icons/hicolor/scalable/apps/foliolab.svg
B := $(BUILD)
A := $(BUILD)/asan

.PHONY: all asan tests run test bench fuzz fuzzers soak tsan coverage analyze install uninstall deb clean check-style help FORCE
.DELETE_ON_ERROR:
.SECONDARY:
all: $(B)/foliolab

# Targets that set up by themselves or compile nothing do without the libraries.
GOALS_WITHOUT_LIBS := run test fuzz tsan coverage analyze deb clean help uninstall check-style
ifneq ($(filter-out $(GOALS_WITHOUT_LIBS),$(or $(MAKECMDGOALS),all)),)
MISSING := $(shell for p in $(PKGS); do pkg-config --exists $$p 2>/dev/null || echo $$p; done)
ifneq ($(MISSING),)
$(error missing $(MISSING): run scripts/setup)
endif
PKG_CFLAGS := $(shell pkg-config --cflags $(PKGS))
PKG_LIBS := $(shell pkg-config --libs $(PKGS))
# Only what tests are built from needs these, so that a plain `make` does without them.
TEST_CFLAGS := $(shell pkg-config --cflags $(TEST_PKGS) 2>/dev/null)
TEST_LIBS := $(shell pkg-config --libs $(TEST_PKGS) 2>/dev/null)
CC_VERSION := $(shell $(CC) --version 2>/dev/null | head -n 1)
endif

# Debug information is read by the program itself; in version 5 libdwarf before 0.4 takes code from
# headers for the .c file's (davea42/libdwarf-code#137).
DEBUG_CFLAGS := -gdwarf-4
# Recordings and caches name the build they belong to.
BUILD_ID := -Wl,--build-id=sha1
# No contraction of a*b+c: the same numbers from every compiler on every processor.
BASE_CFLAGS = -std=gnu11 -Wall -Wextra $(WERROR) -D_GNU_SOURCE -Iengine -Iassets \
	-DFL_VERSION='"$(VERSION)"' -DFL_PKGDATADIR='"$(PKGDATADIR)"' \
	-fno-omit-frame-pointer -ffp-contract=off -pthread $(GUI_CFLAGS) $(PKG_CFLAGS) $(CPPFLAGS)
PLAIN_CFLAGS = $(BASE_CFLAGS) $(CFLAGS) $(DEBUG_CFLAGS)
SANITIZE ?= -fsanitize=address,undefined -fno-sanitize-recover=all
ASAN_CFLAGS = $(BASE_CFLAGS) $(CFLAGS) -O1 -g $(DEBUG_CFLAGS) -DFL_DEBUG=1 $(SANITIZE)
# cmocka hands every test a state, few want it.
FOR_TESTS = -Itests -Wno-unused-parameter $(TEST_CFLAGS)
LIBS = $(BUILD_ID) $(PKG_LIBS) $(PLAIN_LIBS) $(LDLIBS)

# Sources. In tests/ whatever is not a program of its own is a helper that all programs may use.
find_c = $(sort $(shell find $(1) -name '*.c' ! -name '.*' 2>/dev/null))
MAIN := engine/cli/main.c
NOT_BUILT := $(if $(NO_GUI),engine/view/gui/sdl/% tests/view/test_window.c tests/view/test_display.c \
	tests/bench/gui_cost.c)
LIB_SRCS := $(filter-out $(MAIN) $(NOT_BUILT),$(call find_c,engine))
TEST_TREE := $(filter-out $(NOT_BUILT),$(call find_c,tests))
BENCH_SRCS := $(filter tests/bench/%,$(TEST_TREE))
TEST_SRCS := $(foreach f,$(filter-out $(BENCH_SRCS),$(TEST_TREE)),$(if $(filter test_%,$(notdir $f)),$f))
LIBFUZZER := tests/fuzz/libfuzzer.c
FAULTS := tests/faults/shim.c
HELPER_SRCS := $(filter-out $(BENCH_SRCS) $(TEST_SRCS) $(LIBFUZZER) $(FAULTS),$(TEST_TREE))

TEST_PROGS := $(TEST_SRCS:%.c=$(A)/%)
BENCH_PROGS := $(BENCH_SRCS:%.c=$(B)/%)
FUZZ_NAMES := $(patsubst tests/fuzz/fuzz_%.c,%,$(filter tests/fuzz/fuzz_%.c,$(TEST_TREE)))
FUZZ_PROGS := $(FUZZ_NAMES:%=$(A)/fuzz/%)

ifneq ($(V),)
Q :=
say :=
else
Q := @
say = @printf '  %-5s %s\n' $(1) $(2)
endif

# Rewrites $@ only where its text changed, so that what depends on it is rebuilt only then.
quote = '$(subst ','\'',$(1))'
define remember
	@mkdir -p $(@D)
	@printf '%s\n' $(call quote,$(1)) | cmp -s - $@ || printf '%s\n' $(call quote,$(1)) >$@
endef

define archive
	$(call say,AR,$@)
	$(Q)mkdir -p $(@D) && rm -f $@ && $(AR) rcs $@ $(filter %.o,$^)
endef

# The rules of one variant: $(1) its folder, $(2) the variable with its flags.
define variant
$(1)/flags: FORCE
	$$(call remember,$$(CC) $$(CC_VERSION) $$($(2)) $$(FOR_TESTS) $$(LDFLAGS) $$(LIBS) $$(TEST_LIBS))
# A source that went away must leave the archive too.
$(1)/objects: FORCE
	$$(call remember,$$(LIB_SRCS) $$(HELPER_SRCS))

$(1)/obj/%.o: %.c $(1)/flags
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$($(2)) -MMD -MP -c -o $$@ $$<
$(1)/obj/tests/%.o: tests/%.c $(1)/flags
	$$(call say,CC,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$($(2)) $$(FOR_TESTS) -MMD -MP -c -o $$@ $$<

$(1)/libfoliolab.a: $$(LIB_SRCS:%.c=$(1)/obj/%.o) $(1)/objects
	$$(archive)
$(1)/libtest.a: $$(HELPER_SRCS:%.c=$(1)/obj/%.o) $(1)/objects
	$$(archive)

$(1)/foliolab: $(1)/obj/$$(MAIN:.c=.o) $(1)/libfoliolab.a
	$$(call say,LINK,$$@)
	$$(Q)$$(CC) $$($(2)) $$(LDFLAGS) -o $$@ $$^ $$(LIBS)
$(1)/tests/%: $(1)/obj/tests/%.o $(1)/libtest.a $(1)/libfoliolab.a
	$$(call say,LINK,$$@)
	$$(Q)mkdir -p $$(@D)
	$$(Q)$$(CC) $$($(2)) $$(LDFLAGS) -o $$@ $$^ $$(TEST_LIBS) $$(LIBS)

# What a page's viewer is made of is part of the program.
$(1)/obj/engine/view/web/page.o: $(wildcard assets/html/*)

-include $$(patsubst %.c,$(1)/obj/%.d,$$(MAIN) $$(LIB_SRCS) $$(TEST_TREE))
endef
$(eval $(call variant,$(B),PLAIN_CFLAGS))
$(eval $(call variant,$(A),ASAN_CFLAGS))

# libFuzzer's programs, one a target; `make fuzz` builds them with clang in a folder of their own.
$(A)/fuzz/%: $(LIBFUZZER) $(A)/libtest.a $(A)/libfoliolab.a
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(ASAN_CFLAGS) $(FOR_TESTS) -fsanitize=fuzzer -DFUZZ_TARGET=fuzz_$* $(LDFLAGS) -o $@ $^ $(LIBS)
fuzzers: $(FUZZ_PROGS)

fuzz:
	@BUILD=$(B) scripts/fuzz $(TARGETS)

# Makes calls fail in programs that are there; sanitizes nothing itself.
$(A)/faults.so: $(FAULTS)
	$(call say,LINK,$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BASE_CFLAGS) -O1 -g -fPIC -shared -o $@ $< -ldl

asan: $(A)/foliolab

tests: $(B)/foliolab $(A)/foliolab $(A)/faults.so $(TEST_PROGS)

run:
	@scripts/run $(ARGS)

test:
	@scripts/test $(SUITES)

bench: $(B)/foliolab $(A)/foliolab $(BENCH_PROGS)
	@BUILD=$(B) scripts/run-suites --bench $(SUITES)

soak: tests
	@BUILD=$(B) scripts/run-suites --soak $(SUITES)

install: all
	install -D -m 755 $(B)/foliolab $(DESTDIR)$(BINDIR)/foliolab
	find labs assets/costs -type f ! -name '.*' -exec sh -c 'for f do \
		if test -x "$$f"; then mode=755; else mode=644; fi; \
		install -D -m $$mode "$$f" "$$0/$$f" || exit 1; done' $(DESTDIR)$(PKGDATADIR) {} +
	for f in $(SHARED); do \
		install -D -m 644 "assets/$${f%%=*}" "$(DESTDIR)$(SHAREDIR)/$${f#*=}" || exit 1; done

uninstall:
	rm -f $(DESTDIR)$(BINDIR)/foliolab
	for f in $(SHARED); do rm -f "$(DESTDIR)$(SHAREDIR)/$${f#*=}" || exit 1; done
	rm -rf $(DESTDIR)$(PKGDATADIR)

tsan:
	@BUILD=$(B) scripts/tsan $(SUITES)

coverage:
	@BUILD=$(B) scripts/coverage $(SUITES)

analyze:
	@scripts/analyze $(CHECKS)

deb:
	@BUILD=$(B) scripts/make-deb

clean:
	rm -rf $(B)

check-style:
	@scripts/check-style $(CHECKS)

help:
	@echo 'all          $(B)/foliolab (default)'
	@echo 'run          set up, build and start it (ARGS="run ..." for something else)'
	@echo 'test         set up, build and run every test (SUITES="lib cli/test_run" for some)'
	@echo 'bench        the promised ratios against this host; fails on a miss'
	@echo 'soak         the full counts; takes hours'
	@echo 'fuzz         libFuzzer on every reader of input (TARGETS="golden lab" FL_FUZZ_SECONDS=60)'
	@echo 'tsan         the suites with threads under ThreadSanitizer'
	@echo 'coverage     lines of engine/mm, fs, block, machine, lib that the tests run; at least 90 %'
	@echo 'analyze      cppcheck and the analyzer of clang (CHECKS=clang for one)'
	@echo 'asan         $(A)/foliolab with ASan, UBSan and the debug checks'
	@echo 'tests        build everything the tests need, run nothing'
	@echo 'install      to $$(DESTDIR)$$(PREFIX), PREFIX=$(PREFIX)'
	@echo 'uninstall    remove what install put there'
	@echo 'deb          Debian packages, in $(B)/deb/'
	@echo 'check-style  include floors, sizes, headers, shellcheck, luacheck, clang-format'
	@echo 'clean        remove $(B)/'
	@echo 'Variables: CC CFLAGS CPPFLAGS LDFLAGS WERROR= NO_GUI=1 BUILD PREFIX DESTDIR V=1'
