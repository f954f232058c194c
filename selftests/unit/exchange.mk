# SPDX-License-Identifier: GPL-2.0
# Unit tests of tools/exchange/, with real OpenSSL on loopback.
# Use: make -f exchange.mk [all|check|bench]; SAN= builds without sanitizers.
HERE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
TREE := $(abspath $(HERE)/../..)
KSRC ?= $(shell $(HERE)/../vm/source)
SAN ?= 1
OUT ?= $(TREE)/build/unit/exchange$(if $(SAN),-san)

include $(TREE)/tools/exchange/Makefile.inc

CPPFLAGS += -D_GNU_SOURCE -I$(TREE)/tools/exchange -I$(TREE)/tools/lib \
	-I$(TREE)/tools/include -I$(TREE)/kmod/include \
	-I$(TREE)/kmod/include/uapi -DGOLDEN='"$(HERE)/golden"' \
	-isystem $(KSRC)/tools/testing/selftests
CFLAGS ?= -g -O2
CFLAGS += -std=gnu11 -Wall -Wextra -Werror
ifneq ($(SAN),)
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
endif

TESTS := codec path ident dial tls date old session load cut peer
PROGS := $(TESTS:%=$(OUT)/exchange_%)
BENCH := $(TREE)/build/unit/bench_exchange
OBJS := $(EXCHANGE_SRCS:exchange/%.c=$(OUT)/%.o) \
	$(OUT)/process.o $(OUT)/kmod-gid.o $(patsubst %,$(OUT)/exchange_%.o,lib raw cert)
HEADERS := $(wildcard $(TREE)/tools/exchange/*.h $(HERE)/exchange_*.h) $(TREE)/kmod/gid.h

.SECONDARY:
.PHONY: all
all: $(PROGS)

ifneq ($(SAN),)
# Each test looks for what it leaves in memory, where it ends.
$(PROGS): $(HERE)/leak.c
$(PROGS): private SANITIZE += -Wl,--wrap=_exit
endif

# Each prints TAP and fails if a point of it does.
.PHONY: check
check: $(PROGS)
	@status=0; for prog in $(PROGS); do $$prog || status=1; done; \
		exit $$status

.PHONY: bench
bench: $(BENCH)

$(OUT):
	@mkdir -p $@

$(OUT)/exchange_%: $(OUT)/exchange_%.o $(OBJS)
	$(CC) $(SANITIZE) -o $@ $^ $(EXCHANGE_LIBS)

$(OUT)/%.o: $(TREE)/tools/exchange/%.c $(HEADERS) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -c -o $@ $<

$(OUT)/%.o: $(TREE)/tools/lib/%.c $(HEADERS) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -c -o $@ $<

$(OUT)/kmod-%.o: $(TREE)/kmod/%.c $(HEADERS) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -c -o $@ $<

# The harness leaves an argument unused.
$(OUT)/%.o: $(HERE)/%.c $(HEADERS) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) -c -o $@ $<

# Never with sanitizers: it measures.
$(BENCH): $(HERE)/bench_exchange.c \
		$(EXCHANGE_SRCS:%=$(TREE)/tools/%) \
		$(TREE)/tools/lib/process.c $(TREE)/kmod/gid.c $(HEADERS)
	@mkdir -p $(@D)
	$(CC) $(CPPFLAGS) $(CFLAGS) -o $@ $(filter %.c,$^) $(EXCHANGE_LIBS)
