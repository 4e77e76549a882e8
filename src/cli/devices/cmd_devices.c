/* SPDX-License-Identifier: MIT
 *
 * dtinfo devices: the processors and CUDA devices here, and what each does with each dtype. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/devices/devices.h"
#include "dtinfo/gpu_kernels.h"

static const struct dti_choice some_devices[] = {
    {.name = "cpu", .help = "the processors; no driver is loaded"},
    {.name = "cuda", .help = "the first CUDA device; cuda:N is another one"},
    {.name = "auto", .help = "the one that --device auto takes elsewhere"},
    {.name = "all", .help = "everything there is"},
    {.name = NULL},
};

static const struct dti_option options[] = {
    OPT_LIST(0, "device", struct devices_args, device, "DEVICE", some_devices,
             "cpu, cuda, cuda:N, auto or all (default all)"),
    OPT_FLAG(0, "ids", struct devices_args, ids, "also the UUIDs of CUDA devices"),
    OPT_FILE(0, "sysroot", struct devices_args, sysroot, "FOLDER",
             "processors of a recorded machine; CUDA devices only when asked for"),
    OPT_END,
};

const char *dti_devices_no_metal(void)
{
#if defined __APPLE__
    return "dtinfo has no kernels for Metal";
#else
    return "Metal exists on macOS only";
#endif
}

const char *dti_devices_gpu_trouble(const struct dti_gpu_list *list,
                                    const struct dti_gpu_facts *gpu)
{
    const char *why = NULL;
    return dti_gpu_program(gpu->major, gpu->minor, list->cuda_version, &why) ? NULL : why;
}

/* The device that "auto" stands for: the driver has the fastest first. */
static size_t best_gpu(const struct dti_gpu_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!dti_devices_gpu_trouble(list, &list->gpus[i]))
            return i;
    }
    return list->count;
}

static enum dti_status no_such_gpu(const struct devices_report *report, struct dti_error *reterr)
{
    const struct dti_gpu_list *const list = &report->list;
    char quoted[DTI_QUOTE_SIZE];
    const char *const name = report->wish;
    (void)dti_quote(quoted, name, strlen(name));
    if (list->count == 0)
        (void)dti_fail(reterr, DTI_UNAVAILABLE, "device %s is not available: %s", quoted,
                       list->why_not);
    else if (list->count == 1)
        (void)dti_fail(reterr, DTI_UNAVAILABLE,
                       "device %s is not there; the only CUDA device is cuda:0", quoted);
    else
        (void)dti_fail(reterr, DTI_UNAVAILABLE,
                       "device %s is not there; there are cuda:0 to cuda:%zu", quoted,
                       list->count - 1);
    dti_error_argument(reterr, name, strlen(name));
    return DTI_UNAVAILABLE;
}

static enum dti_status choose_gpus(struct devices_report *report,
                                   const struct dti_device_wish *wish, struct dti_error *reterr)
{
    const size_t best = best_gpu(&report->list);
    report->best = best < report->list.count ? report->list.gpus[best].id : "cpu";
    report->gpu_end = report->list.count;
    switch (wish->kind) {
    case DTI_DEVICE_CUDA: {
        size_t at = 0;
        while (at < report->list.count && report->list.gpus[at].number != wish->number)
            at++;
        if (at == report->list.count)
            return no_such_gpu(report, reterr);
        report->first_gpu = at;
        report->gpu_end = at + 1;
        break;
    }
    case DTI_DEVICE_AUTO:
        report->shows_cpu = best == report->list.count;
        report->first_gpu = best;
        report->gpu_end = best < report->list.count ? best + 1 : best;
        break;
    case DTI_DEVICE_CPU:
    case DTI_DEVICE_ALL:
        break;
    }
    return DTI_OK;
}

static enum dti_status gather(struct devices_report *report, const struct dti_device_wish *wish,
                              struct dti_error *reterr)
{
    const struct devices_args *const args = report->args;
    enum dti_status status = DTI_OK;
    report->shows_cpu = wish->kind == DTI_DEVICE_CPU || wish->kind == DTI_DEVICE_ALL;
    report->shows_cuda = wish->kind != DTI_DEVICE_CPU;
    report->shows_mps = wish->kind == DTI_DEVICE_ALL;
    if (report->shows_cuda) {
        status = dti_gpu_probe(&report->list, reterr);
        report->looked_for_cuda = status == DTI_OK;
        if (status == DTI_OK)
            status = choose_gpus(report, wish, reterr);
    }
    if (status == DTI_OK && report->shows_cpu)
        status = dti_machine_read(&report->machine, args->sysroot, reterr);
    if (status != DTI_OK || args->sysroot)
        return status;
    const char *const limit = getenv("DTINFO_CPU");
    report->level_limit = limit && limit[0] != '\0' ? limit : NULL;
    return dti_level_choose(limit, &report->level, reterr);
}

/* -q: the best device alone, for scripts. */
static enum dti_status answer(const struct devices_report *report, const struct dti_context *cx,
                              struct dti_error *reterr)
{
    if (cx->output != DTI_OUTPUT_HUMAN)
        return dti_devices_json(report, cx, reterr);
    if (!cx->quiet)
        return dti_devices_human(report, cx, reterr);
    const bool one_gpu = report->gpu_end == report->first_gpu + 1 && !report->shows_cpu;
    (void)fprintf(cx->out, "%s\n",
                  one_gpu        ? report->list.gpus[report->first_gpu].id
                  : report->best ? report->best
                                 : "cpu");
    return DTI_OK;
}

static enum dti_status run(const void *args_, char **operands, int operand_count,
                           struct dti_context *cx, struct dti_error *reterr)
{
    const struct devices_args *const args = args_;
    struct dti_device_wish wish;
    (void)operands, (void)operand_count;
    const char *const wished = args->device ? args->device : args->sysroot ? "cpu" : "all";
    enum dti_status status = dti_device_wish_parse(&wish, wished, reterr);
    if (status != DTI_OK)
        return status;
    struct devices_report *const report = calloc(1, sizeof *report);
    if (!report)
        return dti_fail(reterr, DTI_NO_MEMORY, "out of memory");
    report->args = args;
    report->wish = wished;
    status = gather(report, &wish, reterr);
    if (status == DTI_OK)
        status = answer(report, cx, reterr);
    dti_gpu_list_free(&report->list);
    free(report);
    return status;
}

const struct dti_command dti_command_devices = {
    .name = "devices",
    .group = "machine",
    .summary = "CPU and GPUs, and what each does natively with each dtype",
    .synopsis = "",
    .details =
        "That there is no GPU is an answer, not an error, unless one is asked for by --device."
        "\nWith -v all that is known; with -q only the best device.",
    .examples = "dtinfo devices\n"
                "dtinfo devices --device cpu -v\n"
                "dtinfo devices -q\n"
                "dtinfo devices --json",
    .schema = "dtinfo.devices/1",
    .operands = DTI_OPERANDS_NONE,
    .options = options,
    .args_size = sizeof(struct devices_args),
    .run = run,
};
