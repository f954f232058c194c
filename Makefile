# SPDX-License-Identifier: GPL-2.0
#
# Needs only make and apt to begin with: everything else is installed by the
# setup targets, which the others depend on.

PREFIX ?= /usr/local
export RCLINK_CACHE ?= $(HOME)/.cache/rclink
# For `make shell` and `make modules`.
KERNEL ?= 6.12
HOSTS ?= 2
# For `make check`: host is this machine, mixed has 6.12 and 6.1, mixed-back 6.1 and
# 6.12; debug is what of debug-all is quick; -ib is on InfiniBand ports that are
# simulated, -grh on virtual ones. All that is in ALL_ENVS alone runs in another one, too.
ENVS ?= host-all 6.1-all 6.12-all mixed mixed-back 6.12-ib 6.1-ib 6.12-ib-grh
ALL_ENVS := host-all 6.1-all 6.12-all mixed-all mixed-back 6.12-ib-all 6.1-ib 6.12-ib-grh
# For `make chaos`.
SECONDS ?= 600
SEED ?= 1
# For `make coverage`: test files; none means a choice of them.
ONLY ?=
# For `make bench`: each row is measured so many times.
RUNS ?= 5

VM := selftests/vm
# For a make in another directory, unless this one was told how many.
JOBS = $(if $(filter -j%,$(MAKEFLAGS)),,-j $(shell nproc))
RELEASE := $(shell uname -r)
# Asked when a recipe runs: setup may just have installed the headers.
RUNNING = $(notdir $(patsubst %/build,%,$(wildcard /lib/modules/$(RELEASE)/build)))
VERSION = $(shell sed -n 's/PACKAGE_VERSION="\(.*\)"/\1/p' dkms.conf)

BUILD_PACKAGES := gcc libc6-dev libnl-3-dev libnl-genl-3-dev libssl-dev \
	libevent-dev libjson-c-dev libncurses-dev libinih-dev libsystemd-dev \
	libibverbs-dev pkg-config kmod dwarves
# gojq: jq 1.6 compiles its own library at each start, 0.3 s on an emulated host.
LAB_PACKAGES := qemu-system-x86 seabios busybox-static cpio xz-utils zstd bzip2 \
	linux-source-6.12 iproute2 iputils-ping rdma-core ibverbs-utils perftest \
	rdmacm-utils openssl gojq socat ethtool procps python3 \
	python3-yaml python3-jsonschema python3-pyte python3-docutils \
	tshark util-linux rsync flex bison bc libelf-dev perl sparse shellcheck clang \
	libclang-rt-14-dev systemd
BENCH_PACKAGES := gnuplot-nox

.PHONY: all
all: modules tools ## the module, those of its tests, and the tools

# The module alone, as it is installed.
.PHONY: module
module: check-headers
	@set -e; for kver in $(or $(KVER),$(RELEASE)); do \
		$(VM)/module --alone $$kver; \
	done

.PHONY: modules
modules: setup-headers ## for this kernel, or KVER=6.1, 6.12, debug, a release
	@set -e; for kver in $(or $(KVER),$(RUNNING),6.1 6.12); do \
		$(VM)/module $$kver; \
	done

.PHONY: tools
tools: setup-build ## the command line tool and the daemon
	@echo "  TOOLS"
	@$(MAKE) -s $(JOBS) -C tools

# What the tests of links and channels run in guests.
.PHONY: programs
programs: setup
	@echo "  PROGRAMS"
	@set -e; for dir in netlink link chan; do \
		$(MAKE) -s $(JOBS) -C selftests/$$dir; \
	done

.PHONY: check
check: setup tools programs ## the tests, on 6.1 and on 6.12; ENVS="6.1 debug"
	@set -e; for kver in $(sort $(filter-out host,$(subst -soak,,$(subst -ib,,$(subst -grh,,$(subst -all,,$(subst mixed,6.1 6.12,$(subst -back,,$(ENVS))))))))); do \
		$(VM)/module $$kver; \
	done
	@$(MAKE) --no-print-directory -f selftests/unit/exchange.mk bench
	@$(VM)/suite $(ENVS)

.PHONY: check-all
check-all: ## the same, and each that can also between both kernels, and on InfiniBand
	@$(MAKE) --no-print-directory check ENVS="$(ALL_ENVS)"

.PHONY: check-debug
check-debug: ## the suite under KASAN, lockdep, kmemleak and others
	@$(MAKE) --no-print-directory check ENVS=debug-all

.PHONY: soak
soak: ## what the suite does some times, a thousand times; hours
	@$(MAKE) --no-print-directory check ENVS=$(KERNEL)-soak

.PHONY: chaos
chaos: setup tools programs ## faults drawn by SEED=1, for SECONDS=600, under traffic
	@$(VM)/module $(KERNEL)
	@$(VM)/run --kernel $(KERNEL) --timeout $$(($(SECONDS) + 900)) -- env \
		CHAOS_SECONDS=$(SECONDS) CHAOS_SEED=$(SEED) \
		selftests/tests/chan_chaos.sh

.PHONY: coverage
coverage: setup tools programs ## lines of kmod/ that tests run; ONLY="chan_ops sim_ib"
	@$(VM)/module $(KERNEL)
	@selftests/coverage/run $(KERNEL) $(ONLY)

.PHONY: bench
bench: setup setup-bench tools programs ## figures against perftest and rdma_cm; RUNS=5
	@$(VM)/module 6.1
	@$(VM)/module 6.12
	@selftests/bench/run $(RUNS) 6.1 6.12

.PHONY: demo
demo: $(if $(RCLINK_PEER),,setup) tools ## two virtual hosts: exchange, link, data
	@[ -n "$(RCLINK_PEER)" ] || $(VM)/module $(KERNEL)
	@KERNEL=$(KERNEL) selftests/demo.sh

.PHONY: shell
shell: setup tools ## a shell in host 1; KERNEL=6.1, 6.12, debug; HOSTS=1, 2, 3
	@$(VM)/module $(KERNEL)
	@$(VM)/run --shell --kernel $(KERNEL) --hosts $(HOSTS) \
		--timeout 86400 -- env RCL_TTY="$$(stty size)" \
		bash --rcfile $(VM)/shellrc -i

.PHONY: style
style: setup ## checkpatch, sparse, kernel-doc, shellcheck, cycles, locks, sizes
	@selftests/tests/static.sh

.PHONY: gen
gen: setup ## what the netlink specification generates
	@selftests/static/netlink-gen

.PHONY: gen-check
gen-check: setup ## is what is committed what the specification generates?
	@selftests/static/netlink-gen --check

# install_packages PACKAGES [, WANTED]: what is missing of them; what is WANTED
# only if the archive has it
define install_packages
	@command -v dpkg-query >/dev/null || exit 0; \
	wanted() { [ -n "$(2)" ] && apt-cache show $(2) >/dev/null 2>&1; }; \
	missing=$$(for package in $(1); do \
		dpkg-query -W -f '$${db:Status-Status}' $$package 2>/dev/null | \
			grep -qx installed || echo $$package; \
	done); \
	[ -n "$$missing" ] || wanted || exit 0; \
	if [ "$$(id -u)" -ne 0 ]; then \
		echo "missing:" $$missing $(2) >&2; \
		echo "not root; run 'sudo make $@' first" >&2; exit 1; \
	fi; \
	export DEBIAN_FRONTEND=noninteractive; \
	apt-get -q update; \
	! wanted || missing="$$missing $(2)"; \
	echo "installing:" $$missing; \
	apt-get -q install -y --no-install-recommends $$missing
endef

.PHONY: setup-build
setup-build:
	$(call install_packages,$(BUILD_PACKAGES))

.PHONY: setup-headers
setup-headers:
	$(call install_packages,$(BUILD_PACKAGES),\
		$(if $(RUNNING),,linux-headers-$(RELEASE)))

# Before anything else is built, which takes minutes.
.PHONY: check-headers
check-headers: setup-headers
	@for kver in $(or $(KVER),$(RELEASE)); do \
		$(VM)/headers $$kver >/dev/null || { \
			echo "or say KVER=RELEASE, another kernel's; 'make" \
				"install-tools' needs none, and has no module" >&2; \
			exit 1; \
		}; \
	done

.PHONY: setup-bench
setup-bench:
	$(call install_packages,$(BENCH_PACKAGES))

.PHONY: setup
setup: ## install the packages that building and testing need
	$(call install_packages,$(BUILD_PACKAGES) $(LAB_PACKAGES))

DKMS = $(if $(DESTDIR),,$(shell command -v dkms || :))
SOURCE := /usr/src/rclink-$(VERSION)
MODULES := $(DESTDIR)/lib/modules
DKMS_FILES := Kbuild dkms.conf dkms.mk kmod
# For other modules, with the versions of the symbols in RELEASE/Module.symvers.
API_HEADERS := include/rclink.h include/uapi/linux/rclink.h \
	include/uapi/linux/rclink_dev.h

# What an installation without DKMS left would be loaded instead of DKMS's.
define remove_module
	for file in $(MODULES)/*/updates/rclink.ko; do \
		[ -e "$$file" ] || continue; \
		rm "$$file"; \
		rmdir --ignore-fail-on-non-empty "$${file%/*}"; \
		release=$${file%/updates/*}; \
		[ -n "$(DESTDIR)" ] || depmod "$${release##*/}"; \
	done
endef

# What DKMS has, of any version, and which; a line of it is
# `rclink/VERSION, RELEASE, ARCH: STATE`, or `rclink/VERSION: added`.
DKMS_STATUS = $(if $(DKMS),dkms status -m rclink,:)
DKMS_RELEASES = $(sort $(shell $(DKMS_STATUS) | \
	sed -n 's,^rclink/[^\,]*\, \([^\,]*\)\,.*,\1,p'))
DKMS_VERSIONS = $(sort $(shell $(DKMS_STATUS) | \
	sed -n 's,^rclink/\([^,:]*\).*,\1,p'))

# forget_dkms VERSION...: in the shell
define forget_dkms
	forget_dkms() { for version; do \
		dkms remove rclink/$$version --all || \
			echo "DKMS may still have rclink/$$version" >&2; \
		rm -rf $(dir $(SOURCE))rclink-$$version; \
	done; }
endef

# has_build RELEASE: in the shell
define has_build
	has_build() { [ -e "$(MODULES)/$$1/build" ] || { \
		echo "no $(MODULES)/$$1/build: $$2" >&2; return 1; }; }
endef

# Nothing is taken away before it is known that the new one builds: at first DKMS
# does that in a tree of its own. It builds nothing again unless forced to.
define install_dkms
	umask 022; $(has_build); $(forget_dkms); \
	try() { \
		dkms build --dkmstree $(CURDIR)/build/dkms/tree \
			--sourcetree $(CURDIR)/build/dkms \
			rclink/$(VERSION) -k $$1; \
	}; \
	rm -rf build/dkms; \
	install -d build/dkms/tree build/dkms/rclink-$(VERSION); \
	cp -r $(DKMS_FILES) build/dkms/rclink-$(VERSION)/; \
	releases=; \
	others="$(filter-out $(VERSION),$(DKMS_VERSIONS))"; \
	for kver in $(or $(KVER),$(RELEASE)); do \
		has_build $$kver "install its headers (on Debian linux-headers-$$kver)"; \
		try $$kver; \
		releases="$$releases $$kver"; \
	done; \
	for kver in $(filter-out $(or $(KVER),$(RELEASE)),$(DKMS_RELEASES)); do \
		if ! has_build $$kver "it keeps the module that it has"; then \
			others=; \
		elif try $$kver; then \
			releases="$$releases $$kver"; \
		else \
			others=; \
			echo "$$kver keeps the module that it has, as this" \
				"one does not build for it" >&2; \
		fi; \
	done; \
	rm -rf build/dkms $(SOURCE); \
	install -d $(SOURCE); \
	cp -r $(DKMS_FILES) $(SOURCE)/; \
	for kver in $$releases; do \
		dkms build --force rclink/$(VERSION) -k $$kver; \
		dkms install --force rclink/$(VERSION) -k $$kver; \
	done; \
	forget_dkms $$others; \
	$(remove_module)
endef

.PHONY: install
install: check-headers tools $(if $(DKMS),,module) ## by DKMS if it is there; KVER=RELEASE
	@set -e; \
	if [ -n "$(DKMS)" ]; then \
		$(install_dkms); \
	else \
		for kver in $(or $(KVER),$(RELEASE)); do \
			release=$$($(VM)/headers $$kver); \
			release=$${release%% *}; \
			built=build/alone/$$release; \
			to=$(MODULES)/$$release/updates; \
			install -D -m 644 $$built/kmod/rclink.ko \
				$$to/rclink.ko; \
			strip --strip-debug $$to/rclink.ko; \
			install -D -m 644 $$built/Module.symvers \
			$(DESTDIR)$(SOURCE)/$$release/Module.symvers; \
			[ -n "$(DESTDIR)" ] || depmod $$release; \
			[ -n "$(DESTDIR)" ] || echo "the module is for" \
				"$$release only: to have it for later kernels," \
				"install dkms and the package that brings each" \
				"kernel's headers (on Debian linux-headers-amd64" \
				"or linux-headers-6.12-amd64), and say 'make" \
				"install' again"; \
		done; \
	fi
	@for header in $(API_HEADERS); do \
		install -D -m 644 kmod/$$header \
			$(DESTDIR)$(SOURCE)/kmod/$$header; \
	done
	@$(MAKE) --no-print-directory -C tools install PREFIX=$(PREFIX)

.PHONY: install-tools
install-tools: tools ## all but the module, which `rclink --verbs` does without
	@$(MAKE) --no-print-directory -C tools install PREFIX=$(PREFIX)

.PHONY: uninstall
uninstall: ## what install installed
	@set -e; $(forget_dkms); forget_dkms $(DKMS_VERSIONS)
	@rm -rf $(DESTDIR)$(SOURCE)
	@$(remove_module)
	@$(MAKE) --no-print-directory -C tools uninstall PREFIX=$(PREFIX)

.PHONY: clean
clean: ## what was built in the tree
	rm -rf build
	@$(MAKE) --no-print-directory -C tools clean

.PHONY: distclean
distclean: clean ## and the cache: kernels, sources
	rm -rf $(RCLINK_CACHE)

.PHONY: help
help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | \
		expand -t 16
