# SPDX-License-Identifier: GPL-2.0
#
# Needs only make and apt to begin with: everything else is installed by the
# setup targets, which the others depend on.

PREFIX ?= /usr/local
CACHE ?= $(HOME)/.cache/rclink
export RCLINK_CACHE = $(CACHE)
# For `make shell` and `make modules`.
KERNEL ?= 6.12
HOSTS ?= 2

VM := selftests/vm
# Asked when a recipe runs: setup may just have installed them.
HEADERS = $(shell ls -d /lib/modules/*/build | cut -d / -f 4)
RUNNING = $(filter $(shell uname -r),$(HEADERS))
VERSION = $(shell sed -n 's/PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

BUILD_PACKAGES := gcc libc6-dev linux-headers-amd64 linux-headers-6.12-amd64 \
	libnl-3-dev libnl-genl-3-dev libssl-dev libevent-dev libjson-c-dev \
	pkg-config kmod
LAB_PACKAGES := qemu-system-x86 seabios busybox-static cpio xz-utils zstd bzip2 \
	linux-source-6.12 iproute2 rdma-core ibverbs-utils perftest \
	rdmacm-utils libibverbs-dev openssl jq socat ethtool procps python3 \
	python3-yaml python3-jsonschema tshark util-linux \
	flex bison bc libelf-dev dwarves perl sparse shellcheck clang \
	libclang-rt-14-dev

.PHONY: all
all: setup-build ## module for this kernel (else each with headers), and tools
	@$(MAKE) --no-print-directory modules tools

.PHONY: modules
modules: setup-build ## the module; KVER=6.1, 6.12, debug or a release for one
	@set -e; for kver in $(or $(KVER),$(RUNNING),$(HEADERS)); do \
		$(VM)/module $$kver; \
	done

.PHONY: tools
tools: setup-build ## the command line tool
	@$(MAKE) --no-print-directory -C tools

.PHONY: check
check: setup tools ## every test on every supported kernel
	@$(VM)/module 6.1
	@$(VM)/module 6.12
	@$(MAKE) --no-print-directory -f selftests/unit/exchange.mk bench
	@$(MAKE) -s -C selftests/netlink
	@$(MAKE) -s -C selftests/link
	@$(VM)/suite host 6.1 6.12 mixed

.PHONY: check-debug
check-debug: setup tools ## the suite under KASAN, lockdep, kmemleak and others
	@$(VM)/module debug
	@$(MAKE) -s -C selftests/netlink
	@$(MAKE) -s -C selftests/link
	@$(VM)/suite debug

.PHONY: demo
demo: setup tools ## two virtual hosts: exchange, link, data, figures
	@$(VM)/module $(KERNEL)
	@KERNEL=$(KERNEL) selftests/demo.sh

.PHONY: shell
shell: setup tools ## a shell in host 1; KERNEL=6.1, 6.12, debug; HOSTS=1, 2, 3
	@$(VM)/module $(KERNEL)
	@$(VM)/run --shell --kernel $(KERNEL) --hosts $(HOSTS) \
		--timeout 86400 -- bash -i

.PHONY: style
style: setup ## checkpatch, sparse, kernel-doc, shellcheck, cycles, sizes
	@selftests/tests/static.sh

.PHONY: gen
gen: setup ## what the netlink specification generates
	@selftests/static/netlink-gen

.PHONY: gen-check
gen-check: setup ## is what is committed what the specification generates?
	@selftests/static/netlink-gen --check

# install-packages PACKAGES: the missing ones, if any
define install_packages
	@command -v dpkg-query >/dev/null || exit 0; \
	missing=$$(for package in $(1); do \
		dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null | \
			grep -qx installed || echo $$package; \
	done); \
	[ -n "$$missing" ] || exit 0; \
	echo "installing:" $$missing; \
	if [ "$$(id -u)" -ne 0 ]; then \
		echo "not root; run 'sudo make setup' first" >&2; exit 1; \
	fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get -q update && \
	apt-get -q install -y --no-install-recommends $$missing
endef

.PHONY: setup-build
setup-build:
	$(call install_packages,$(BUILD_PACKAGES))

.PHONY: setup
setup: ## install the packages that building and testing need
	$(call install_packages,$(BUILD_PACKAGES) $(LAB_PACKAGES))

.PHONY: install
install: all ## by DKMS if it is there, else for the running kernel
	@if command -v dkms >/dev/null && [ -z "$(DESTDIR)" ]; then \
		install -d /usr/src/rclink-$(VERSION); \
		cp -r Kbuild dkms.conf kmod /usr/src/rclink-$(VERSION)/; \
		dkms install --force rclink/$(VERSION); \
	elif [ -n "$(RUNNING)" ]; then \
		install -D -m 644 build/$(RUNNING)/kmod/rclink.ko \
		$(DESTDIR)/lib/modules/$(RUNNING)/updates/rclink.ko; \
		[ -n "$(DESTDIR)" ] || depmod; \
	else \
		echo "no headers of the running kernel: module not installed"; \
	fi
	@$(MAKE) --no-print-directory -C tools install PREFIX=$(PREFIX)

.PHONY: uninstall
uninstall: ## what install installed
	@if command -v dkms >/dev/null && [ -z "$(DESTDIR)" ]; then \
		dkms remove rclink/$(VERSION) --all; \
		rm -rf /usr/src/rclink-$(VERSION); \
	fi
	rm -f $(DESTDIR)/lib/modules/*/updates/rclink.ko
	@$(MAKE) --no-print-directory -C tools uninstall PREFIX=$(PREFIX)

.PHONY: clean
clean: ## what was built in the tree
	rm -rf build
	@$(MAKE) --no-print-directory -C tools clean

.PHONY: distclean
distclean: clean ## and the cache: kernels, sources
	rm -rf $(CACHE)

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | \
		expand -t 16
