/* SPDX-License-Identifier: MIT
 *
 * Shared by the two halves of the page of `devices`: local devices, and architectures. */
#ifndef CLI_DEVICES_DEVICES_PAGE_H
#define CLI_DEVICES_DEVICES_PAGE_H

#include "answers/devices/arch.h"
#include "answers/devices/devices.h"
#include "cli/shell/command.h"

/* arch_human.c: --arch and --supports. */
enum dti_status dti_arch_human(const struct dti_command_context *cx,
                               const struct dti_arch_answer *answer, struct dti_error *reterr);
/* The head of a dtype's column, "e4m3fn" for fp8_e4m3fn. */
const char *dti_devices_column(enum dti_dtype dtype);

#endif
