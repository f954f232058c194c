# SPDX-License-Identifier: GPL-2.0
# Unit tests of tools/lib/, of what the tool and the daemon do without a kernel, and
# of the packets that link/inject makes, under the sanitizers. Use: make -f cli.mk
HERE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
TREE := $(abspath $(HERE)/../..)
KSRC ?= $(shell $(HERE)/../vm/source)
OUT ?= $(TREE)/build/unit/cli
SPEC := $(TREE)/Documentation/netlink/specs/rclink.yaml
PACKAGES := libnl-genl-3.0 json-c

TESTS := ask call chan open link list metrics text doc packet paths peers story \
	group_story conf groups trust pace keep end hub hwcount log verbs hca epoch \
	pong stock layout socket rotate
PROGS := $(TESTS:%=$(OUT)/cli_%)
LIB_OBJS := $(patsubst %,$(OUT)/%.o,advice counter doc field group group_story kmod-gid link \
	list metrics nl out socket story text)
PACKET_OBJS := $(OUT)/packet.o
PEERS_OBJS := $(patsubst %,$(OUT)/%.o,peers ident verify range kmod-policy kmod-gid)
CONF_OBJS := $(patsubst %,$(OUT)/%.o,conf judge setting group_setting range \
	kmod-policy kmod-gid link counter field text verify ident)
GROUPS_OBJS := $(CONF_OBJS) $(patsubst %,$(OUT)/%.o,groups process)
PATHS_OBJS := $(patsubst %,$(OUT)/%.o,path paths kmod-gid)
PACE_OBJS := $(patsubst %,$(OUT)/%.o,backoff bucket sources)
KEEP_OBJS := $(patsubst %,$(OUT)/%.o,links_keep links_state backoff)
END_OBJS := $(CONF_OBJS) $(patsubst %,$(OUT)/%.o,kernel links links_end links_state bucket \
	peers)
CHAN_OBJS := $(patsubst %,$(OUT)/%.o,bench_hello chan group_text op pingpong status pipe_msg target times)
VERBS_OBJS := $(patsubst %,$(OUT)/%.o,echo_op hca news number physical port seal shown stock_dest \
	kmod-endpoint kmod-gid kmod-msg)
EPOCH_OBJS := $(patsubst %,$(OUT)/%.o,beat cq ctrl epoch large lease news objects ping \
	port range rc remote seal shown kmod-credit kmod-endpoint kmod-gid kmod-msg kmod-pattern \
	kmod-policy kmod-reason)
PONG_OBJS := $(EPOCH_OBJS) $(patsubst %,$(OUT)/%.o,pingpong pong verbs_pingpong)
STOCK_OBJS := $(patsubst %,$(OUT)/%.o,cq rc stock stock_dest kmod-endpoint kmod-gid)
HEADERS := $(wildcard $(TREE)/tools/*/*.h $(TREE)/selftests/link/*.h \
	$(TREE)/kmod/*.h $(TREE)/kmod/include/uapi/linux/*.h)

CPPFLAGS += -D_GNU_SOURCE -I$(TREE)/tools/lib -I$(TREE)/tools/exchange \
	-I$(TREE)/tools/host -I$(TREE)/tools/rclink \
	-I$(TREE)/tools/rclinkd -I$(TREE)/tools/librclink \
	-I$(TREE)/selftests/link \
	-I$(TREE)/kmod/include/uapi -I$(OUT) \
	-isystem $(KSRC)/tools/testing/selftests \
	$(shell pkg-config --cflags $(PACKAGES))
# For what knows the module's own files.
KMOD_FLAGS := -I$(TREE)/tools/verbs -I$(TREE)/tools/include -I$(TREE)/kmod/include
CFLAGS ?= -g -O1
CFLAGS += -std=gnu11 -Wall -Wextra -Werror
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
LIBS = $(shell pkg-config --libs $(PACKAGES)) -lcrypto -lm

vpath %.c $(TREE)/tools/verbs $(TREE)/tools/lib $(TREE)/tools/host $(TREE)/tools/rclink \
	$(TREE)/tools/rclinkd $(TREE)/tools/exchange $(TREE)/tools/librclink \
	$(TREE)/selftests/link

.SECONDARY:
.PHONY: all
all: $(PROGS)

# Each test looks for what it leaves in memory, where it ends.
$(PROGS): $(HERE)/leak.c
$(PROGS): private SANITIZE += -Wl,--wrap=_exit

$(OUT):
	@mkdir -p $@

# What the specification says, for the tests to compare with.
$(OUT)/cli_spec.h: $(HERE)/cli_spec.py $(SPEC) | $(OUT)
	/usr/bin/python3 $(HERE)/cli_spec.py $(SPEC) > $@

$(OUT)/cli_peers: $(HERE)/cli_peers.c $(PEERS_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ $(LIBS) -lssl -lcrypto

$(OUT)/cli_packet: $(HERE)/cli_packet.c $(PACKET_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^

# The test is the name service when that does not answer.
$(OUT)/cli_conf: $(HERE)/cli_conf.c $(CONF_OBJS) $(OUT)/load.o
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ $(LIBS) -linih -lssl -lcrypto \
		-Wl,--wrap=getpwnam -Wl,--wrap=getgrnam

# The test is the module that it asks.
$(OUT)/cli_groups: $(HERE)/cli_groups.c $(GROUPS_OBJS) $(HERE)/groups_module.h
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $(filter-out %.h,$^) $(LIBS) -linih -lssl -lcrypto -levent_core

# The test is the clock, and what reads keys.
$(OUT)/cli_trust: $(HERE)/cli_trust.c $(OUT)/trust.o $(PEERS_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ $(LIBS) -lssl

$(OUT)/cli_paths: $(HERE)/cli_paths.c $(PATHS_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^

$(OUT)/cli_pace: $(HERE)/cli_pace.c $(PACE_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^

# The test is the module, and what dials.
$(OUT)/cli_keep: $(HERE)/cli_keep.c $(KEEP_OBJS) $(HERE)/keep_module.h
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $(filter-out %.h,$^) -levent_core

# The test is the module, and who asks it.
$(OUT)/cli_end: $(HERE)/cli_end.c $(END_OBJS) $(HERE)/end_module.h
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $(filter-out %.h,$^) $(LIBS) -linih -lssl -lcrypto -levent_core

# The test is the module, and the sockets to it.
$(OUT)/cli_hub: $(HERE)/cli_hub.c $(OUT)/hub.o
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ -levent_core

# The test is the module that it asks, and the device.
$(OUT)/cli_hwcount: $(HERE)/cli_hwcount.c $(OUT)/hwcount.o $(OUT)/text.o
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ -levent_core -Wl,--wrap=fopen

$(OUT)/cli_log: $(HERE)/cli_log.c $(patsubst %,$(OUT)/%.o,log bucket process strangers text)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^

# The test is the module that it asks.
$(OUT)/cli_list: $(HERE)/cli_list.c $(OUT)/list.o
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^

# The test is the module that it asks.
$(OUT)/cli_call: $(HERE)/cli_call.c $(patsubst %,$(OUT)/%.o,call counter field link list text)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ $(LIBS)

# The test is the module that it asks, and the rest of the tool.
$(OUT)/cli_rotate: $(HERE)/cli_rotate.c $(patsubst %,$(OUT)/%.o,cmd_rotate text)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^

# The test is the module that it asks, and says when there are no threads.
$(OUT)/cli_ask: $(HERE)/cli_ask.c $(OUT)/ask.o
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ -levent_core -pthread -Wl,--wrap=pthread_create

# The test is the module, of one file.
$(OUT)/cli_chan: $(HERE)/cli_chan.c $(CHAN_OBJS)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ -Wl,--wrap=ioctl,--wrap=open -lm

# The test is the module, whose files can be mapped or not.
$(OUT)/cli_open: $(HERE)/cli_open.c $(OUT)/chan.o
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $^ -pthread -Wl,--wrap=ioctl,--wrap=open,--wrap=mmap

# The test is the device that has partition keys.
$(OUT)/cli_verbs: $(HERE)/cli_verbs.c $(VERBS_OBJS)
	$(CC) $(KMOD_FLAGS) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter \
		$(SANITIZE) -o $@ $^ -lcrypto -libverbs

$(OUT)/cli_hca: $(HERE)/cli_hca.c $(patsubst %,$(OUT)/%.o,hca kmod-gid)
	$(CC) $(KMOD_FLAGS) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter \
		$(SANITIZE) -o $@ $^ -libverbs

# The test is the device, and the peer.
$(OUT)/cli_epoch: $(HERE)/cli_epoch.c $(HERE)/verbs_fake.c $(EPOCH_OBJS) \
		$(HERE)/verbs_fake.h $(HERE)/verbs_peer.h
	$(CC) $(KMOD_FLAGS) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter \
		$(SANITIZE) -o $@ $(filter-out %.h,$^) -lcrypto -levent_core

# The test is that, and what dials.
$(OUT)/cli_pong: $(HERE)/cli_pong.c $(HERE)/verbs_fake.c $(PONG_OBJS) \
		$(HERE)/verbs_fake.h $(HERE)/verbs_peer.h
	$(CC) $(KMOD_FLAGS) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter \
		$(SANITIZE) -o $@ $(filter-out %.h,$^) -lcrypto -levent_core \
		-Wl,--wrap=event_add

# The test is the device, the clock, and the peer.
$(OUT)/cli_stock: $(HERE)/cli_stock.c $(HERE)/verbs_fake.c $(STOCK_OBJS) \
		$(HERE)/verbs_fake.h
	$(CC) $(KMOD_FLAGS) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter \
		$(SANITIZE) -o $@ $(filter-out %.h,$^) -Wl,--wrap=poll

$(OUT)/cli_socket: $(HERE)/cli_socket.c $(patsubst %,$(OUT)/%.o,socket stock_tcp)
	$(CC) $(KMOD_FLAGS) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter \
		$(SANITIZE) -o $@ $^

$(OUT)/cli_layout: $(HERE)/cli_layout.c $(HERE)/layout_kmod.c $(HERE)/layout.h $(HEADERS)
	$(CC) $(KMOD_FLAGS) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter \
		$(SANITIZE) -o $@ $(filter %.c,$^)

$(OUT)/cli_%: $(HERE)/cli_%.c $(LIB_OBJS) $(OUT)/cli_spec.h
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter $(SANITIZE) \
		-o $@ $(filter-out %.h,$^) $(LIBS)

$(OUT)/%.o: %.c $(HEADERS) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -c -o $@ $<

$(patsubst %,$(OUT)/%.o,group_story path range story kmod-policy kmod-gid) $(VERBS_OBJS) $(PONG_OBJS) $(STOCK_OBJS): \
	CPPFLAGS := $(KMOD_FLAGS) $(CPPFLAGS)

$(OUT)/kmod-%.o: $(TREE)/kmod/%.c $(HEADERS) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -c -o $@ $<
