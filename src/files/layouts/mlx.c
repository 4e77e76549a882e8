/* SPDX-License-Identifier: MIT
 *
 * MLX: codes in 32-bit words, contiguous along a row, with scales for groups of 16 to 128. Codes of
 * 1 to 8 bits also have biases: a number is code x scale + bias, and both operations round to the
 * dtype of scales and biases. The other modes are blocks with one-byte scales. The tensor scale of
 * nvfp4 is stored as its largest magnitude. Source: MLX 0.32.4 (mx.quantize, mx.dequantize and
 * nn.QuantizedLinear).
 *
 * Shapes only determine the product of width and group length. The caller specifies the two, else
 * the configuration, else a metadata entry, which dtinfo writes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "files/transcode/transcode_grouped.h"
#include "files/transcode/transcode_mlx.h"
#include "util/checked.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"

enum { BITS_MAX = 8 };
static const uint64_t group_lengths[] = {32, 64, 128};
enum { GROUP_LENGTHS = sizeof group_lengths / sizeof *group_lengths };

/* Settings for a tensor: from the caller, else from the configuration; zeros: none. */
struct mlx_scheme {
    unsigned bits;
    uint64_t group;
    const char *mode; /* NULL: not specified */
};

/* A tensor, and what its shapes determine. */
struct mlx_tensor {
    const struct dti_dequant_group *group;
    const struct dti_tensor *codes, *scales;
    uint64_t words, scales_in_row;
    uint64_t bits; /* bits of the codes that share a scale; 0: no codes */
    struct mlx_scheme stated;
    const struct dti_quant_config *config; /* where the scheme comes from; NULL: the caller */
};

static bool is_mlx(const struct dti_dequant_group *group)
{
    return dti_dequant_of(group, DTI_PART_CODES)->rank >= 2;
}

static bool is_width(unsigned bits)
{
    return bits >= 1 && bits <= BITS_MAX && bits != 7;
}

/* The scheme in the metadata, if it is a value that dtinfo writes. */
static struct mlx_scheme entry_of(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group)
{
    const struct dti_metadata *const entry = dti_dequant_entry(dequant, group);
    char text[DTI_MLX_ENTRY_SIZE];
    for (unsigned bits = 1; bits <= BITS_MAX && entry; bits++) {
        for (unsigned i = 0; i < GROUP_LENGTHS; i++) {
            dti_quant_biased_entry(bits, group_lengths[i], text, sizeof text);
            if (is_width(bits) && entry->value_length == strlen(text) &&
                memcmp(entry->value, text, entry->value_length) == 0)
                return (struct mlx_scheme){.bits = bits, .group = group_lengths[i]};
        }
    }
    return (struct mlx_scheme){.bits = 0};
}

/* MLX's defaults depend on the mode. */
static enum dti_status find_stated(struct dti_file_dequant *dequant,
                                   const struct dti_quant_config *config, struct mlx_tensor *tensor,
                                   struct dti_error *reterr)
{
    static const char weight[] = ".weight";
    struct mlx_scheme *const stated = &tensor->stated;
    *stated = (struct mlx_scheme){.bits = dequant->request.bits, .group = dequant->request.block};
    if (stated->bits > 0 || stated->group > 0)
        return DTI_OK;
    const struct mlx_scheme entry = entry_of(dequant, tensor->group);
    if (!config->mlx) {
        *stated = entry;
        return DTI_OK;
    }
    const struct dti_module_scheme *const own = dti_config_find_module(
        &config->own, tensor->codes->name, tensor->codes->name_length - (sizeof weight - 1));
    const struct dti_module_scheme *const scheme = own ? own : &config->all;
    tensor->config = config;
    if (scheme->plain) {
        dti_dequant_set_rule(tensor->group, DTI_LINT_IGNORED);
        return dti_dequant_refuse(&tensor->group->part[DTI_PART_CODES], reterr,
                                  DTI_REMEDY_OVERRIDE_CONFIG,
                                  "it is quantized, and %s says that it is not", config->file);
    }
    *stated = (struct mlx_scheme){.bits = scheme->bits,
                                  .group = scheme->group_size,
                                  .mode = scheme->mode[0] != '\0' ? scheme->mode : "affine"};
    unsigned bits = 4, length = 64;
    for (unsigned i = 0; i < DTI_MLX_MODES; i++) {
        if (strcmp(stated->mode, dti_mlx_modes[i].name) == 0) {
            bits = dti_mlx_modes[i].bits;
            length = dti_mlx_modes[i].group;
        }
    }
    stated->bits = stated->bits > 0 ? stated->bits : bits;
    stated->group = stated->group > 0 ? stated->group : length;
    if (entry.bits == 0 || (entry.bits == stated->bits && entry.group == stated->group))
        return DTI_OK;
    return dti_dequant_refuse(&tensor->group->part[DTI_PART_CODES], reterr,
                              DTI_REMEDY_OVERRIDE_CONFIG,
                              "%s says bits %u and group_size %llu, and the file's own metadata %u "
                              "and %llu",
                              config->file, stated->bits, (unsigned long long)stated->group,
                              entry.bits, (unsigned long long)entry.group);
}

/* Fails because the settings do not fit the shapes. */
static enum dti_status refuse_stated(const struct mlx_tensor *tensor, struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &tensor->group->part[DTI_PART_CODES];
    const unsigned long long bits = tensor->bits, length = tensor->stated.group;
    char mode[DTI_QUOTE_SIZE], width[32] = "", groups[48] = "";
    if (tensor->config)
        return dti_dequant_refuse(
            part, reterr, DTI_REMEDY_OVERRIDE_CONFIG,
            "%s says mode %s, bits %u and group_size %llu, which does not fit its scales, of %s "
            "and one for %llu bits of codes",
            tensor->config->file, dti_quote(mode, tensor->stated.mode, strlen(tensor->stated.mode)),
            tensor->stated.bits, length, tensor->scales->format->name, bits);
    if (tensor->stated.bits > 0)
        (void)snprintf(width, sizeof width, " of %u bits", tensor->stated.bits);
    if (length > 0)
        (void)snprintf(groups, sizeof groups, " in groups of %llu", length);
    return dti_dequant_refuse(
        part, reterr, DTI_REMEDY_NONE,
        "codes%s%s do not fit its scales, of %s and one for %llu bits of codes", width, groups,
        tensor->scales->format->name, bits);
}

/* Several widths and lengths may have the same product. */
static enum dti_status choose(const struct mlx_tensor *tensor, struct mlx_scheme *ret,
                              struct dti_error *reterr)
{
    char text[128] = "";
    size_t used = 0, count = 0;
    for (unsigned bits = 1; bits <= BITS_MAX; bits++) {
        for (unsigned i = 0; i < GROUP_LENGTHS; i++) {
            const uint64_t length = group_lengths[i];
            if (!is_width(bits) || (tensor->stated.bits > 0 && tensor->stated.bits != bits) ||
                (tensor->stated.group > 0 && tensor->stated.group != length) ||
                (tensor->bits > 0 && tensor->bits != bits * length))
                continue;
            if (count++ == 0)
                *ret = (struct mlx_scheme){.bits = bits, .group = length};
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%u bits in groups of %u",
                                     used > 0 ? ", or of " : "", bits, (unsigned)length);
            used = used < sizeof text ? used : sizeof text - 1;
        }
    }
    if (count == 1 || (count > 0 && tensor->bits == 0)) /* no elements */
        return DTI_OK;
    if (count > 1)
        return dti_dequant_refuse(&tensor->group->part[DTI_PART_CODES], reterr,
                                  DTI_REMEDY_SAY_BITS_OR_BLOCK, "its codes may be of %s", text);
    if (tensor->stated.bits > 0 || tensor->stated.group > 0)
        return refuse_stated(tensor, reterr);
    return dti_dequant_refuse(&tensor->group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "a scale for %llu bits of codes fits no codes of MLX, of 1 to 6 or 8 "
                              "bits in groups of 32, 64 "
                              "or 128",
                              (unsigned long long)tensor->bits);
}

/* Rows of whole groups are contiguous, and are read as one. */
static enum dti_status show(struct dti_file_dequant *dequant, const struct mlx_tensor *tensor,
                            unsigned bits, uint64_t length, struct dti_dequant_found *ret,
                            struct dti_error *reterr)
{
    struct dti_dequant_tensor *const how = &ret->how;
    const struct dti_tensor *const codes = tensor->codes;
    uint64_t shape[DTI_QUANT_RANK_MAX];
    for (unsigned i = 0; i < codes->rank; i++)
        shape[i] = codes->shape[i];
    shape[codes->rank - 1] = tensor->scales_in_row * length;
    if (!dti_mul_u64(tensor->scales->elements, length, &how->is->elements))
        return dti_dequant_refuse(&tensor->group->part[DTI_PART_CODES], reterr, DTI_REMEDY_NONE,
                                  "its dimensions are too large");
    how->is->rows = 1;
    how->is->columns = how->is->elements > 0 ? how->is->elements : 1;
    how->is->row_bytes = codes->bytes;
    how->is->order = bits < 8 ? DTI_BLOCK_LOW : DTI_BLOCK_BYTES;
    how->is->map = (struct dti_scale_map){
        .length = 1, .mid = 1, .group_rows = 1, .group_columns = length, .of_column = 1};
    ret->form.is->layout = "mlx";
    ret->form.is->per = DTI_PER_GROUP;
    ret->form.is->axis = codes->rank - 1;
    ret->form.is->group[1] = length;
    return dti_dequant_show(dequant, tensor->group, codes->rank, shape, ret, reterr);
}

static enum dti_status match_biased(struct dti_file_dequant *dequant,
                                    const struct mlx_tensor *tensor, struct dti_dequant_found *ret,
                                    struct dti_error *reterr)
{
    static const char *const dtypes[] = {
        [1] = "uint1", [2] = "uint2", [3] = "uint3", [4] = "uint4",
        [5] = "uint5", [6] = "uint6", [8] = "uint8",
    };
    struct mlx_scheme scheme = {.bits = 0};
    if (tensor->stated.mode && strcmp(tensor->stated.mode, "affine") != 0)
        return refuse_stated(tensor, reterr);
    enum dti_status status = dti_dequant_need(tensor->group, DTI_PART_BIAS, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_tensor *const biases = dti_dequant_of(tensor->group, DTI_PART_BIAS);
    if (biases->format->id != tensor->scales->format->id ||
        !dti_dequant_same_rows(biases, tensor->scales) ||
        biases->shape[biases->rank - 1] != tensor->scales_in_row)
        return dti_dequant_refuse(&tensor->group->part[DTI_PART_BIAS], reterr, DTI_REMEDY_KEEP,
                                  "expected biases of the scales' dtype and shape");
    status = choose(tensor, &scheme, reterr);
    if (status == DTI_OK)
        status = dti_dequant_set_unsigned(dequant, tensor->group, scheme.bits, ret, reterr);
    if (status != DTI_OK)
        return status;
    DTI_SET_PART(&ret->how, biases, tensor->group->part[DTI_PART_BIAS]);
    ret->how.is->number = biases->format->id;
    ret->form.is->number = biases->format;
    ret->form.is->dtype = dtypes[scheme.bits];
    return show(dequant, tensor, scheme.bits, scheme.group, ret, reterr);
}

enum { EXPERTS_MAX = 65536 };

/* The scale of a stack, if all its matrices have the same; those of mlx-lm may differ. */
static enum dti_status read_stack(const struct dti_dequant_group *group, float *ret,
                                  struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_TENSOR_SCALE];
    const struct dti_tensor *const scales = dti_dequant_part_tensor(part);
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    uint64_t matrices = 1;
    for (unsigned i = 0; i + 2 < codes->rank; i++)
        matrices *= codes->shape[i]; /* at most codes->elements, or 0 */
    if (scales->format->id != DTI_FP32 || scales->elements != matrices ||
        scales->elements > EXPERTS_MAX)
        return dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                  "expected one scale of F32 for the tensor, or for each matrix");
    unsigned char *const raw = dti_malloc((size_t)scales->bytes);
    if (!raw)
        return dti_no_memory(reterr);
    enum dti_status status = dti_dequant_read_all(part, raw, (size_t)scales->bytes, reterr);
    for (uint64_t i = 1; i < matrices && status == DTI_OK; i++) {
        if (memcmp(raw, raw + 4 * i, 4) != 0)
            status = dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                        "a scale of its own for each expert is not supported");
    }
    const uint32_t bits = status == DTI_OK ? (uint32_t)dti_little_get(raw, 4) : 0;
    memcpy(ret, &bits, sizeof *ret);
    dti_free(raw);
    if (status == DTI_OK && !(*ret > 0 && isfinite(*ret)))
        status = dti_dequant_refuse(part, reterr, DTI_REMEDY_KEEP,
                                    "a tensor's scale must be a finite number above 0");
    return status;
}

/* Reads the tensor scale, stored as the largest magnitude: divides it by 6 x 448. */
static enum dti_status read_largest(struct dti_file_dequant *dequant,
                                    const struct mlx_tensor *tensor, struct dti_dequant_found *ret,
                                    struct dti_error *reterr)
{
    const bool stack = dti_dequant_of(tensor->group, DTI_PART_TENSOR_SCALE)->elements > 1;
    float *const scale = &ret->how.tensor_scale;
    const enum dti_status status =
        stack ? read_stack(tensor->group, scale, reterr)
              : dti_dequant_tensor_scale(dequant, tensor->group, scale, reterr);
    if (status == DTI_OK) {
        *scale /= DTI_MLX_LARGEST;
        ret->form.is->tensor_scale = true;
    }
    return status;
}

static enum dti_status match_blocks(struct dti_file_dequant *dequant,
                                    const struct mlx_tensor *tensor, struct dti_dequant_found *ret,
                                    struct dti_error *reterr)
{
    const struct mlx_scheme *const stated = &tensor->stated;
    const struct dti_mlx_mode *mode = NULL;
    if (dti_dequant_has(tensor->group, DTI_PART_BIAS))
        return dti_dequant_refuse(&tensor->group->part[DTI_PART_BIAS], reterr, DTI_REMEDY_KEEP,
                                  "codes with scales of a byte have no biases");
    for (const struct dti_mlx_mode *one = dti_mlx_modes; one < dti_mlx_modes + DTI_MLX_MODES;
         one++) {
        if ((tensor->bits == 0 || tensor->bits == (uint64_t)one->bits * one->group) &&
            (stated->bits == 0 || stated->bits == one->bits) &&
            (stated->group == 0 || stated->group == one->group) &&
            (!stated->mode || strcmp(stated->mode, one->name) == 0) && !mode)
            mode = one;
    }
    if (!mode && (stated->bits > 0 || stated->group > 0))
        return refuse_stated(tensor, reterr);
    if (!mode)
        return dti_dequant_refuse(&tensor->group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                  "a scale of a byte for %llu bits of codes is not one of mxfp4 "
                                  "(128), mxfp8 (256) and nvfp4 (64)",
                                  (unsigned long long)tensor->bits);
    const struct dti_block_format *const block = &dti_block_formats[mode->block];
    const bool largest = dti_dequant_has(tensor->group, DTI_PART_TENSOR_SCALE);
    if (largest && block->family != DTI_BLOCKS_NV)
        return dti_dequant_refuse(&tensor->group->part[DTI_PART_TENSOR_SCALE], reterr,
                                  DTI_REMEDY_KEEP, "%s has no scale of the whole tensor",
                                  mode->name);
    enum dti_status status = dti_dequant_set_blocks(dequant, tensor->group, block, ret, reterr);
    if (status == DTI_OK && largest)
        status = read_largest(dequant, tensor, ret, reterr);
    if (status != DTI_OK)
        return status;
    ret->form.is->dtype = block->name;
    return show(dequant, tensor, mode->bits, mode->group, ret, reterr);
}

static enum dti_status match_mlx(struct dti_file_dequant *dequant,
                                 const struct dti_dequant_group *group,
                                 const struct dti_quant_config *config,
                                 struct dti_dequant_found *ret, struct dti_error *reterr)
{
    struct mlx_tensor tensor = {.group = group,
                                .codes = dti_dequant_of(group, DTI_PART_CODES),
                                .scales = dti_dequant_of(group, DTI_PART_SCALE)};
    const enum dti_dtype id = tensor.scales->format->id;
    const struct dti_dequant_part *const codes = &group->part[DTI_PART_CODES];
    uint64_t bits;
    if (dti_is_big_endian(&tensor.codes->layout))
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_NONE,
                                  "codes packed in words must be little-endian");
    if (!dti_dequant_same_rows(tensor.codes, tensor.scales))
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                                  "expected scales for the rows of '...weight', of the same shape "
                                  "but for the last dimension");
    tensor.words = tensor.codes->shape[tensor.codes->rank - 1];
    tensor.scales_in_row = tensor.scales->shape[tensor.scales->rank - 1];
    if (!dti_mul_u64(tensor.words, 32, &bits))
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_NONE, "its dimensions are too large");
    if ((tensor.words == 0) != (tensor.scales_in_row == 0) ||
        (tensor.scales_in_row > 0 && bits % tensor.scales_in_row != 0))
        return dti_dequant_refuse(codes, reterr, DTI_REMEDY_KEEP,
                                  "its %llu words in a row are not divided by %llu scales",
                                  (unsigned long long)tensor.words,
                                  (unsigned long long)tensor.scales_in_row);
    tensor.bits = tensor.scales_in_row > 0 ? bits / tensor.scales_in_row : 0;
    const enum dti_status status = find_stated(dequant, config, &tensor, reterr);
    if (status != DTI_OK)
        return status;
    if (id == DTI_UINT8)
        return match_blocks(dequant, &tensor, ret, reterr);
    if (id == DTI_FP32 || id == DTI_FP16 || id == DTI_BF16)
        return match_biased(dequant, &tensor, ret, reterr);
    return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                              "it has the dtype %s; scales of MLX are F32, F16, BF16 or U8",
                              tensor.scales->format->name);
}

/* Checks for writing: weight [N, K bits / 32], scales [N, G], biases [N, G]. */
static enum dti_status check_mlx(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    const unsigned bits = grouped->bits;
    const uint64_t length = grouped->length;
    const enum dti_status status = dti_grouped_check_rows(grouped, reterr);
    if (status != DTI_OK)
        return status;
    if (bits == 1 || bits == 7)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its codes have %u bits; mlx has 2, 3, 4, 5, 6 and 8", bits);
    if (grouped->one || (length != 32 && length != 64 && length != 128))
        return dti_transcode_refuse(
            grouped->found, reterr,
            "a scale is for %llu elements; mlx has groups of 32, 64 and 128",
            (unsigned long long)(grouped->one ? grouped->rows * length : length));
    return DTI_OK;
}

static enum dti_status plan_mlx(const struct dti_transcode_target *target, struct dti_pool *pool,
                                struct dti_dequant_found *found, struct dti_transcoded *ret,
                                struct dti_error *reterr)
{
    static const struct dti_grouped_wants wants = {.biases = true};
    struct dti_grouped *grouped = NULL;
    enum dti_status status =
        dti_grouped_begin(pool, found, target->name, check_mlx, &wants, ret, &grouped, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t rows = grouped->height, groups = grouped->groups;
    dti_quant_biased_entry(grouped->bits, grouped->length, ret->entry, sizeof ret->entry);
    struct dti_transcode_part *part = dti_grouped_add(ret, grouped, ".weight", DTI_UINT32, rows,
                                                      grouped->columns / 32 * grouped->bits);
    status = dti_grouped_codes(pool, grouped, DTI_ORDER_ALONG, false, part, reterr);
    if (status != DTI_OK)
        return status;
    part = dti_grouped_add(ret, grouped, ".scales", grouped->scale, rows, groups);
    status = dti_grouped_values(pool, grouped, DTI_GROUP_SCALES, false, 0, part, reterr);
    if (status != DTI_OK)
        return status;
    part = dti_grouped_add(ret, grouped, ".biases", grouped->scale, rows, groups);
    return dti_grouped_values(pool, grouped, DTI_GROUP_BIASES, false, 0, part, reterr);
}

static const struct dti_transcode_target to_mlx = {
    .name = "mlx", .takes = DTI_TAKES_INTEGERS, .plan = plan_mlx, .config = dti_mlx_config};

const struct dti_layout_ops dti_layout_mlx = {
    .name = "mlx",
    .codes = ".weight",
    .numbers = ".weight",
    .dtype = DTI_UINT32,
    .sure = true,
    .suffix = {[DTI_PART_SCALE] = ".scales",
               [DTI_PART_BIAS] = ".biases",
               [DTI_PART_TENSOR_SCALE] = ".global_scale"},
    .fits = is_mlx,
    .match = match_mlx,
    .targets = {&to_mlx, &dti_target_mlx_blocks, &dti_target_mlx_nvfp4},
};
