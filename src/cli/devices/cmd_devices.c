/* SPDX-License-Identifier: MIT
 *
 * dtinfo devices: the processors and CUDA devices here, and what each does with each dtype. */
#include <stdio.h>
#include <stdlib.h>

#include "cli/devices/devices_page.h"

static const struct dti_choice some_devices[] = {
    {.name = "cpu", .help = "the processors; no driver is loaded"},
    {.name = "cuda", .help = "the first CUDA device; cuda:N is another one"},
    {.name = "auto", .help = "the one that --device auto takes elsewhere"},
    {.name = "all", .help = "everything there is"},
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_LIST(0, "device", struct dti_devices_request, device, "DEVICE", some_devices,
             "cpu, cuda, cuda:N, auto or all (default all)"),
    OPT_FLAG(0, "ids", struct dti_devices_request, ids, "also the UUIDs of CUDA devices"),
    OPT_FILE(0, "sysroot", struct dti_devices_request, sysroot, "FOLDER",
             "processors of a recorded machine; CUDA devices only when asked for"),
    OPT_END,
};

/* -q: the best device alone, for scripts. */
static enum dti_status show(const struct dti_devices_answer *answer, struct dti_context *cx,
                            struct dti_error *reterr)
{
    if (cx->output != DTI_OUTPUT_HUMAN)
        return DTI_ANSWER(cx, devices, answer, reterr);
    if (!cx->quiet)
        return dti_devices_human(answer, cx, reterr);
    const bool one_gpu = answer->gpu_end == answer->first_gpu + 1 && !answer->shows_cpu;
    (void)fprintf(cx->out, "%s\n",
                  one_gpu        ? answer->list.gpus[answer->first_gpu].id
                  : answer->best ? answer->best
                                 : "cpu");
    return DTI_OK;
}

static enum dti_status run(const void *args, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    struct dti_devices_request request = *(const struct dti_devices_request *)args;
    struct dti_devices_answer *answer;
    const char *const limit = getenv("DTINFO_CPU");
    (void)operands, (void)operand_count;
    request.level_limit = limit && limit[0] != '\0' ? limit : NULL;
    enum dti_status status = dti_devices_find(&answer, &request, reterr);
    if (status != DTI_OK)
        return status;
    status = show(answer, cx, reterr);
    dti_devices_free(answer);
    return status;
}

const struct dti_command dti_command_devices = {
    .name = "devices",
    .group = "machine",
    .summary = "CPU and GPUs, and what each does natively with each dtype",
    .synopsis = "",
    .details = "Having no GPU is not an error, unless --device asks for one.\n"
               "-v shows all that is known, -q only the best device.",
    .examples = "dtinfo devices\n"
                "dtinfo devices --device cpu -v\n"
                "dtinfo devices -q\n"
                "dtinfo devices --json",
    .schema = "dtinfo.devices/1",
    .operands = DTI_OPERANDS_NONE,
    .options = options,
    .args_size = sizeof(struct dti_devices_request),
    .run = run,
};
