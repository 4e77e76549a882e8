/* SPDX-License-Identifier: MIT
 *
 * The quantization of a container: its beginning and its end. */
#include "dtinfo/file_quant.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "files/file_quant_parts.h"

static enum dti_status decide(struct dti_file_quant *quant, struct dti_error *reterr)
{
    enum dti_status status = dti_file_quant_choose(quant, reterr);
    if (status == DTI_OK)
        status = dti_file_quant_plan(quant, reterr);
    if (status == DTI_OK)
        status = dti_file_quant_layout(quant, reterr);
    return status;
}

/* Signed codes around zero have no zero point, nor have floats. */
static bool has_zero_points(const struct dti_quant_scheme *scheme)
{
    if (scheme->block)
        return false;
    const struct dti_affine_recipe *const recipe = &scheme->affine;
    const enum dti_kind kind = recipe->affine.code.kind;
    return kind == DTI_KIND_UINT || (kind == DTI_KIND_INT && recipe->symmetry == DTI_SYMMETRY_NONE);
}

static enum dti_status find_row(struct dti_file_quant *quant, struct dti_error *reterr)
{
    const struct dti_file_quant_request *const request = &quant->request;
    const char *const layout = dti_quant_layout_name(request->layout);
    quant->row = dti_quant_row_find(request->layout, request->dtype);
    if (quant->row) {
        if (!quant->zero_points || dti_quant_suffix(quant->row, DTI_PART_ZERO_POINT))
            return DTI_OK;
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_LAYOUT_WITH_ZEROS,
                               "%s has no place for zero points", layout);
    }
    if (dti_quant_row_find(DTI_LAYOUT_COMPRESSED_TENSORS, request->dtype))
        return dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_LAYOUT_WITH_NAMES,
                               "%s does not know %s", layout, request->dtype);
    return dti_fail(reterr, DTI_WRONG_KIND,
                    "no layout of files has a place for %s with scales; say an fp8 dtype, an "
                    "integer of 2 to 16 bits or a block format",
                    request->dtype);
}

/* npy files have no metadata. */
static enum dti_status check_groups(const struct dti_file_quant *quant, struct dti_error *reterr)
{
    for (size_t i = 0; i < quant->tensor_count && quant->request.kind == DTI_CONTAINER_NPY; i++) {
        struct dti_quant_stored stored;
        dti_file_quant_stored(quant, i, &stored);
        if (quant->tensors[i].fate == DTI_QUANT_FATE_QUANTIZED && dti_quant_hides_groups(&stored))
            return dti_fail(reterr, DTI_USAGE,
                            "npy files cannot tell how long the groups of %s are whose rows are "
                            "filled up; write safetensors",
                            quant->request.dtype);
    }
    return DTI_OK;
}

enum dti_status dti_file_quant_new(struct dti_file_quant **ret, struct dti_container *container,
                                   const struct dti_file_quant_request *request,
                                   struct dti_error *reterr)
{
    struct dti_file_quant *const quant = calloc(1, sizeof *quant);
    if (!quant)
        return dti_file_quant_no_memory(reterr);
    quant->request = *request;
    quant->container = container;
    quant->zero_points = has_zero_points(&request->scheme);
    dti_loss_init(&quant->loss);
    dti_new_files_init(&quant->files, container, request->kind, request->path);
    enum dti_status status = find_row(quant, reterr);
    if (status == DTI_OK)
        status = decide(quant, reterr);
    if (status == DTI_OK)
        status = check_groups(quant, reterr);
    if (status == DTI_OK)
        *ret = quant;
    else
        dti_file_quant_free(quant);
    return status;
}

void dti_file_quant_stored(const struct dti_file_quant *quant, size_t tensor,
                           struct dti_quant_stored *ret)
{
    const struct dti_file_quant_request *const request = &quant->request;
    const struct dti_quant_scheme *const scheme = &request->scheme;
    const struct dti_tensor *const source = dti_file_quant_source(quant, tensor);
    *ret = (struct dti_quant_stored){
        .row = quant->row,
        .per = scheme->block ? DTI_PER_GROUP : scheme->per,
        .group = scheme->block ? scheme->block->length : scheme->group,
        .zero_points = quant->zero_points,
        .pad = request->pad,
        .high = request->high,
        .tensor_scale = scheme->block && scheme->block->family == DTI_BLOCKS_NV,
        .rank = source->rank,
        .axis = quant->tensors[tensor].axis,
        .shape = source->shape,
    };
}

/* Whether a file stands where a part of OUT.npy would, and is not going to be replaced. */
static enum dti_status check_beside(const struct dti_file_quant *quant, const char *suffix,
                                    struct dti_error *reterr)
{
    static const char extension[] = ".npy";
    const char *const path = quant->files.path;
    const size_t end = sizeof extension - 1, length = strlen(path), more = strlen(suffix);
    char label[DTI_QUOTE_SIZE];
    if (length <= end || strcmp(path + length - end, extension) != 0)
        return DTI_OK;
    char *const name = malloc(length + more + 1);
    if (!name)
        return dti_file_quant_no_memory(reterr);
    memcpy(name, path, length - end);
    memcpy(name + length - end, suffix, more);
    memcpy(name + length - end + more, extension, end + 1);
    const int there = dti_input_there(name);
    bool replaced = there == ENOENT;
    for (size_t i = 0; i < quant->files.count && !replaced; i++)
        replaced = strcmp(quant->files.list[i].path, name) == 0;
    enum dti_status status = DTI_OK;
    if (!replaced && there != 0)
        status = dti_input_fail(&(struct dti_input){.name = name}, there, reterr);
    else if (!replaced)
        status = dti_fail_remedy(reterr, DTI_USAGE, DTI_REMEDY_REMOVE_FILE,
                                 "%s exists and would be taken for a part of the output",
                                 dti_quote(label, name, strlen(name)));
    free(name);
    return status;
}

/* Parts of an npy file are known by their names alone: those of an older one must not stay. */
static enum dti_status check_all_beside(const struct dti_file_quant *quant,
                                        struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    if (quant->request.kind != DTI_CONTAINER_NPY || quant->quantized_count == 0)
        return DTI_OK;
    for (size_t layout = 0; layout < DTI_LAYOUT_COUNT; layout++) {
        const struct dti_quant_row *const row =
            dti_quant_row_find((enum dti_quant_layout)layout, "int8");
        for (int part = DTI_PART_SCALE; part < DTI_PART_COUNT && status == DTI_OK; part++) {
            const char *const suffix = dti_quant_suffix(row, (enum dti_quant_part)part);
            if (suffix)
                status = check_beside(quant, suffix, reterr);
        }
    }
    return status;
}

enum dti_status dti_file_quant_open(struct dti_file_quant *quant, bool force,
                                    struct dti_error *reterr)
{
    enum dti_status status = check_all_beside(quant, reterr);
    if (status == DTI_OK)
        status = dti_new_files_open(&quant->files, force, reterr);
    for (size_t i = 0; i < quant->files.count && status == DTI_OK; i++) {
        const struct dti_new_file *const file = &quant->files.list[i];
        char label[DTI_QUOTE_SIZE];
        if (!dti_output_seekable(file->output))
            return dti_fail_remedy(
                reterr, DTI_USAGE, DTI_REMEDY_OUTPUT_FILE,
                "%s is no regular file, and codes and scales are written side by side",
                dti_quote(label, file->path, strlen(file->path)));
    }
    return status;
}

void dti_file_quant_free(struct dti_file_quant *quant)
{
    if (!quant)
        return;
    dti_new_files_free(&quant->files);
    for (size_t i = 0; i < quant->plan_count; i++)
        dti_quant_plan_free(quant->plans[i]);
    for (size_t i = 0; i < quant->copy_count; i++)
        dti_plan_free(quant->copies[i]);
    free(quant->plans);
    free(quant->copies);
    free(quant->tensors);
    free(quant);
}
