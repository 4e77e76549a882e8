/* SPDX-License-Identifier: MIT
 *
 * Devices: see devices.h. */
#include "answers/devices/devices.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answers/rows.h"
#include "devices/gpu/gpu_kernels.h"
#include "util/run/allocate.h"
#include "util/text/nearest.h"

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

/* The device that "auto" selects: the driver lists the fastest first. */
static size_t best_gpu(const struct dti_gpu_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (!dti_devices_gpu_trouble(list, &list->gpus[i]))
            return i;
    }
    return list->count;
}

static enum dti_status no_such_gpu(const struct dti_devices_answer *answer,
                                   struct dti_error *reterr)
{
    const struct dti_gpu_list *const list = &answer->list;
    const char *const name = answer->choice, *const quoted = DTI_QUOTED(name, strlen(name));
    if (list->count == 0)
        return dti_fail_word(reterr, DTI_UNAVAILABLE, name, strlen(name),
                             "device %s is not available: %s", quoted, list->why_not);
    if (list->count == 1)
        return dti_fail_word(reterr, DTI_UNAVAILABLE, name, strlen(name),
                             "no device %s; the only CUDA device is cuda:0", quoted);
    return dti_fail_word(reterr, DTI_UNAVAILABLE, name, strlen(name),
                         "no device %s; the CUDA devices are cuda:0 to cuda:%zu", quoted,
                         list->count - 1);
}

static enum dti_status choose_gpus(struct dti_devices_answer *answer,
                                   const struct dti_device_choice *choice, struct dti_error *reterr)
{
    const size_t best = best_gpu(&answer->list);
    answer->best = best < answer->list.count ? answer->list.gpus[best].id : "cpu";
    answer->gpu_end = answer->list.count;
    switch (choice->kind) {
    case DTI_DEVICE_CUDA: {
        size_t at = 0;
        while (at < answer->list.count && answer->list.gpus[at].number != choice->number)
            at++;
        if (at == answer->list.count)
            return no_such_gpu(answer, reterr);
        answer->first_gpu = at;
        answer->gpu_end = at + 1;
        break;
    }
    case DTI_DEVICE_AUTO:
        answer->shows_cpu = best == answer->list.count;
        answer->first_gpu = best;
        answer->gpu_end = best < answer->list.count ? best + 1 : best;
        break;
    case DTI_DEVICE_CPU:
    case DTI_DEVICE_ALL:
        break;
    }
    return DTI_OK;
}

/* Chooses the highest level; a lower one if the operating system does not enable its registers. */
static enum dti_status choose_level(struct dti_devices_answer *answer, struct dti_error *reterr)
{
    enum dti_level level;
    const enum dti_status status = dti_level_choose(answer->request->level_limit, &level, reterr);
    if (status != DTI_OK)
        return status;
    answer->level = level;
    while (!dti_level_permitted(answer->level, &answer->level_trouble) ||
           !dti_level_includes(level, answer->level))
        answer->level--;
    return DTI_OK;
}

static enum dti_status gather(struct dti_devices_answer *answer,
                              const struct dti_device_choice *choice, struct dti_error *reterr)
{
    const struct dti_devices_request *const request = answer->request;
    enum dti_status status = DTI_OK;
    answer->shows_cpu = choice->kind == DTI_DEVICE_CPU || choice->kind == DTI_DEVICE_ALL;
    answer->shows_cuda = choice->kind != DTI_DEVICE_CPU;
    answer->shows_mps = choice->kind == DTI_DEVICE_ALL;
    if (answer->shows_cuda) {
        status = dti_gpu_probe(&answer->list, reterr);
        answer->looked_for_cuda = status == DTI_OK;
        if (answer->list.cuda_version != 0 || answer->list.driver_version[0] != '\0')
            answer->driver = &answer->list;
        if (status == DTI_OK)
            status = choose_gpus(answer, choice, reterr);
    }
    if (status == DTI_OK && answer->shows_cpu)
        status = dti_machine_read(&answer->machine, request->sysroot, reterr);
    if (status != DTI_OK || request->sysroot)
        return status;
    return choose_level(answer, reterr);
}

enum dti_status dti_devices_find(struct dti_devices_answer **ret,
                                 const struct dti_devices_request *request,
                                 struct dti_error *reterr)
{
    struct dti_device_choice choice;
    const char *const chosen = request->device ? request->device : request->sysroot ? "cpu" : "all";
    enum dti_status status = dti_device_choice_parse(&choice, chosen, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_devices_answer *const answer = dti_calloc(1, sizeof *answer);
    if (!answer)
        return dti_no_memory(reterr);
    answer->request = request;
    answer->choice = chosen;
    answer->recorded = request->sysroot;
    answer->level_limit = answer->recorded ? NULL : request->level_limit;
    status = gather(answer, &choice, reterr);
    if (status == DTI_OK)
        *ret = answer;
    else
        dti_devices_free(answer);
    return status;
}

void dti_devices_free(struct dti_devices_answer *answer)
{
    if (!answer)
        return;
    dti_gpu_list_free(&answer->list);
    dti_free(answer);
}

struct dti_devices_cell dti_devices_cpu_cell(const struct dti_machine *machine,
                                             enum dti_dtype dtype)
{
    struct dti_devices_cell cell = {.known = machine->isa == DTI_ISA_X86_64 ||
                                             machine->isa == DTI_ISA_AARCH64};
    cell.capability = dti_cpu_capability(machine, dtype, &cell.source);
    return cell;
}

struct dti_devices_cell dti_devices_gpu_cell(const struct dti_gpu_facts *gpu, enum dti_dtype dtype)
{
    struct dti_devices_cell cell = {
        .known = gpu->major != 0, .capability = DTI_CAPABLE_SOFTWARE, .source = ""};
    if (cell.known)
        cell.capability = dti_gpu_capability(gpu->major, gpu->minor, dtype, &cell.source);
    return cell;
}

/* An entry in the list of all devices: the CPU uses the answer, a CUDA device its facts. */
struct device_shown {
    const char *id, *kind, *why_not, *name;
    const struct dti_devices_answer *cpu;
    const struct gpu_shown *cuda;
};

struct gpu_shown {
    const struct dti_devices_answer *answer;
    const struct dti_gpu_facts *gpu;
};

/* Precomputed values for the rows in devices.def. */
struct cuda_facts {
    const struct dti_gpu_facts *gpu;
    const char *capability, *trouble, *uuid; /* or NULL */
    bool ecc_known, ecc, power_known;
    double power_limit; /* watts */
    char room[DTI_TEXT_SIZE];
};
struct cuda_driver {
    const struct dti_gpu_list *of;
    const char *cuda_version; /* or NULL */
    char room[DTI_TEXT_SIZE];
};
struct cell_shown {
    const char *device;
    const struct dti_format *format;
    struct dti_devices_cell cell;
    const char *capability; /* NULL: unknown */
};

static const char *text_or_null(const char *text)
{
    return text[0] != '\0' ? text : NULL;
}

static const char *cache_type(char type)
{
    return type == 'd' ? "data" : type == 'i' ? "instruction" : "unified";
}

static void fill_gpu(struct cuda_facts *ret, const struct gpu_shown *of)
{
    const struct dti_gpu_facts *const gpu = of->gpu;
    *ret = (struct cuda_facts){
        .gpu = gpu,
        .trouble = dti_devices_gpu_trouble(&of->answer->list, gpu),
        .uuid = of->answer->request->ids ? text_or_null(gpu->uuid) : NULL,
        .ecc_known = gpu->ecc != DTI_UNKNOWN,
        .ecc = gpu->ecc != 0,
        .power_known = gpu->power_limit_milliwatts != DTI_UNKNOWN,
        .power_limit = (double)gpu->power_limit_milliwatts / 1000,
    };
    (void)snprintf(ret->room, sizeof ret->room, "%u.%u", gpu->major, gpu->minor);
    ret->capability = gpu->major != 0 ? ret->room : NULL;
}

/* "12.4" of 12040. */
static void fill_driver(struct cuda_driver *ret, const struct dti_gpu_list *list)
{
    ret->of = list;
    (void)snprintf(ret->room, sizeof ret->room, "%u.%u", list->cuda_version / 1000,
                   list->cuda_version % 1000 / 10);
    ret->cuda_version = list->cuda_version > 0 ? ret->room : NULL;
}

static const char *capability_words(size_t index)
{
    return index <= DTI_CAPABLE_ARITHMETIC
               ? dti_capability_name((enum dti_capability)(DTI_CAPABLE_ARITHMETIC - index))
               : NULL;
}
DTI_WORDS(device_words, "cpu", "cuda", "mps")
DTI_WORDS(cache_words, "data", "instruction", "unified")

static void put_instructions(struct dti_json *json, const struct dti_machine *machine);
static void put_devices(struct dti_json *json, const struct dti_devices_answer *answer);
static void put_matrix(struct dti_json *json, const struct dti_devices_answer *answer);

#define DTI_ROWS "answers/devices/devices.def"
#include "answers/rows.h"

static void put_instructions(struct dti_json *json, const struct dti_machine *machine)
{
    for (unsigned i = 0; i < DTI_INSTRUCTION_COUNT; i++) {
        if (machine->has[i])
            dti_json_string(json, NULL, dti_instruction_name((enum dti_instruction)i));
    }
}

static void put_devices(struct dti_json *json, const struct dti_devices_answer *answer)
{
    if (answer->shows_cpu)
        dti_put_device_shown(
            json, NULL,
            &(struct device_shown){"cpu", "cpu", NULL, answer->machine.model, answer, NULL});
    for (size_t i = answer->first_gpu; i < answer->gpu_end; i++) {
        const struct dti_gpu_facts *const gpu = &answer->list.gpus[i];
        const struct gpu_shown shown = {answer, gpu};
        dti_put_device_shown(
            json, NULL, &(struct device_shown){gpu->id, "cuda", NULL, gpu->name, NULL, &shown});
    }
    if (answer->shows_cuda && answer->list.count == 0)
        dti_put_device_shown(
            json, NULL,
            &(struct device_shown){"cuda", "cuda", answer->list.why_not, "", NULL, NULL});
    if (answer->shows_mps)
        dti_put_device_shown(
            json, NULL,
            &(struct device_shown){"mps", "mps", dti_devices_no_metal(), "", NULL, NULL});
}

static void put_cell(struct dti_json *json, const char *device, enum dti_dtype dtype,
                     struct dti_devices_cell cell)
{
    dti_put_matrix_cell(
        json, NULL,
        &(struct cell_shown){device, dti_format_get(dtype), cell,
                             cell.known ? dti_capability_name(cell.capability) : NULL});
}

static void put_matrix(struct dti_json *json, const struct dti_devices_answer *answer)
{
    const enum dti_dtype *const dtypes = dti_capability_dtypes;
    for (size_t i = 0; i < dti_capability_dtype_count && answer->shows_cpu; i++)
        put_cell(json, "cpu", dtypes[i], dti_devices_cpu_cell(&answer->machine, dtypes[i]));
    for (size_t g = answer->first_gpu; g < answer->gpu_end; g++) {
        const struct dti_gpu_facts *const gpu = &answer->list.gpus[g];
        for (size_t i = 0; i < dti_capability_dtype_count; i++)
            put_cell(json, gpu->id, dtypes[i], dti_devices_gpu_cell(gpu, dtypes[i]));
    }
}
