/* SPDX-License-Identifier: GPL-2.0 */
/* Each test has one of its own. */
