# SPDX-License-Identifier: GPL-2.0
# Unit tests of the files of kmod/ that know no kernel types, compiled as they
# are under the sanitizers. Use: make -f kmod.mk [fuzz]
HERE := $(abspath $(dir $(lastword $(MAKEFILE_LIST))))
TREE := $(abspath $(HERE)/../..)
KSRC ?= $(shell $(HERE)/../vm/source)
OUT ?= $(TREE)/build/unit

PURE := credit fate fsm gid announce latency msg policy endpoint pattern reason record \
	replay group-msg
TESTS := announce credit fate fsm gid group_ask group_chan group_conf group_msg group_seal keeper \
	latency msg policy endpoint pattern record replay
PROGS := $(TESTS:%=$(OUT)/kmod_%)

CPPFLAGS += -D_GNU_SOURCE -I$(HERE)/include -I$(TREE)/tools/include -I$(TREE)/kmod \
	-I$(TREE)/kmod/include -isystem $(KSRC)/tools/testing/selftests \
	-isystem $(KSRC)/scripts/include
# For sparse.
CPPFLAGS += '-D__must_hold(lock)='
CFLAGS ?= -g -O1
CFLAGS += -std=gnu11 -Wall -Wextra -Werror
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=all

HEADERS := $(wildcard $(TREE)/kmod/*.h $(TREE)/kmod/include/uapi/linux/*.h \
	$(TREE)/tools/include/linux/*.h $(HERE)/include/*/*.h)

.SECONDARY:
.PHONY: all
all: $(PROGS)

# Each test looks for what it leaves in memory, where it ends.
$(PROGS): $(HERE)/leak.c
$(PROGS): private SANITIZE += -Wl,--wrap=_exit

# These include what they test.
$(OUT)/kmod_group_ask: $(TREE)/kmod/group-ask.c
$(OUT)/kmod_group_chan: $(addprefix $(TREE)/kmod/group-,chan.c hear.c mem.c)
$(OUT)/kmod_group_conf: $(TREE)/kmod/group-conf.c
$(OUT)/kmod_group_seal: $(TREE)/kmod/group-seal.c
$(OUT)/kmod_keeper: $(TREE)/kmod/keeper.c

.PHONY: fuzz
fuzz: $(OUT)/fuzz_msg

$(OUT):
	@mkdir -p $@

$(OUT)/kmod_%: $(HERE)/kmod_%.c $(PURE:%=$(OUT)/%.o) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) -Wno-unused-parameter \
		-Wno-missing-field-initializers $(SANITIZE) -o $@ \
		$(filter-out $(TREE)/kmod/%,$^)

$(OUT)/%.o: $(TREE)/kmod/%.c $(HEADERS) | $(OUT)
	$(CC) $(CPPFLAGS) $(CFLAGS) $(SANITIZE) -c -o $@ $<

$(OUT)/fuzz_msg: $(HERE)/fuzz_msg.c $(TREE)/kmod/msg.c $(HEADERS) | $(OUT)
	clang $(CPPFLAGS) $(CFLAGS) -fsanitize=fuzzer,address,undefined \
		-fno-sanitize-recover=all -o $@ $(filter %.c,$^)
