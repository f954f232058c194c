# SPDX-License-Identifier: GPL-2.0
# What DKMS runs where it builds: it removes all but the module afterwards, and
# who builds against it needs the versions of the symbols.
#
#	make -f dkms.mk KDIR=DIR SYMVERS=FILE

.PHONY: all
all:
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules
	install -D -m 644 Module.symvers $(SYMVERS)
