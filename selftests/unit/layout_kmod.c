// SPDX-License-Identifier: GPL-2.0
#include "../../kmod/endpoint.h"
#include "layout.h"

const size_t *kmod_layout(void)
{
	return layout;
}
