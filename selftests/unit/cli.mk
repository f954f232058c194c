# SPDX-License-Identifier: GPL-2.0
# Unit tests of tools/lib/ and of what the tool and the daemon do without a kernel,
# under the sanitizers. Use: make -f cli.mk
HERE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
TREE := $(abspath $(HERE)/../..)
KSRC ?= $(shell $(HERE)/../vm/source)
OUT ?= $(TREE)/build/unit/cli
SPEC := $(TREE)/Documentation/netlink/specs/rclink.yaml
PACKAGES := libnl-genl-3.0 json-c

TESTS := chan link metrics text doc peers story conf pace
PROGS := $(TESTS:%=$(OUT)/cli_%)
LIB_OBJS := $(patsubst %,$(OUT)/%.o,advice doc link metrics nl out story text)
PEERS_OBJS := $(patsubst %,$(OUT)/%.o,peers ident)
CONF_OBJS := $(patsubst %,$(OUT)/%.o,conf setting range kmod-policy link text \
	verify ident)
PACE_OBJS := $(patsubst %,$(OUT)/%.o,backoff bucket)
CHAN_OBJS := $(patsubst %,$(OUT)/%.o,bench_hello op status pipe_msg target)
HEADERS := $(wildcard $(TREE)/tools/*/*.h $(TREE)/kmod/include/uapi/linux/*.h)

CPPFLAGS += -D_GNU_SOURCE -I$(TREE)/tools/lib -I$(TREE)/tools/exchange \
	-I$(TREE)/tools/host -I$(TREE)/tools/rclink \
	-I$(TREE)/tools/rclinkd -I$(TREE)/tools/librclink \
	-I$(TREE)/kmod/include/uapi -I$(OUT) \
	-isystem $(KSRC)/tools/testing/selftests \
	$(shell pkg-config --cflags $(PACKAGES))
CFLAGS ?= -g -O1
CFLAGS += -std=gnu11 -Wall -Wextra -Werror
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
LIBS = $(shell pkg-config --libs $(PACKAGES)) -lcrypto -lm

vpath %.c $(TREE)/tools/lib $(TREE)/tools/host $(TREE)/tools/rclink \
	$(TREE)/tools/rclinkd $(TREE)/tools/exchange $(TREE)/tools/librclink

.SECONDARY:
.PHONY: all
all: $(PROGS)

$(OUT):
	@mkdir -p $@

# What the specification says, for the tests to compare with.
$(OUT)/cli_spec.h: $(HERE)/cli_spec.py $(SPEC) | $(OUT)
	/usr/bin/python3 $(HERE)/cli_spec.py $(SPEC) > $@

$(OUT)/cli_peers: $(HERE)/cli_peers.c $(PEERS_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ $(LIBS)

$(OUT)/cli_conf: $(HERE)/cli_conf.c $(CONF_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ $(LIBS) -linih -lssl -lcrypto

$(OUT)/cli_pace: $(HERE)/cli_pace.c $(PACE_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^

$(OUT)/cli_chan: $(HERE)/cli_chan.c $(CHAN_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^

$(OUT)/cli_%: $(HERE)/cli_%.c $(LIB_OBJS) $(OUT)/cli_spec.h
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $(filter-out %.h,$^) $(LIBS)

$(OUT)/%.o: %.c $(HEADERS) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -c -o $@ $<

$(OUT)/range.o $(OUT)/kmod-policy.o: CPPFLAGS := -I$(TREE)/tools/include \
	-I$(TREE)/kmod/include $(CPPFLAGS)

$(OUT)/kmod-policy.o: $(TREE)/kmod/policy.c $(HEADERS) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -c -o $@ $<
