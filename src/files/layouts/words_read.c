/* SPDX-License-Identifier: MIT
 *
 * GPTQ and AWQ: a matrix [N, K] is stored transposed, with groups along K.
 *
 *              qweight             qzeros            scales    g_idx
 *   GPTQ       [K bits / 32, N]    [G, N bits / 32]  [G, N]    [K], or none: k / group size
 *   AWQ        [K, N / 8]          [G, N / 8]        [G, N]
 *
 * GPTQ's codes run down the columns, its zero points along the rows, both without gaps, and what is
 * stored is the zero point minus one unless the checkpoint's format is "gptq_v2". AWQ has 4 bits,
 * in an order of its own within a word, and zero points as they are. A number is
 * scale x (code - zero point). Sources: GPTQModel 7.7 (utils/model_dequant.py,
 * nn_modules/qlinear), AutoAWQ 0.2.9 (modules/linear/gemm.py). */
#include "files/layouts/words.h"

#include <stdio.h>
#include <string.h>

#include "dtinfo/checked.h"
#include "files/config/quant_config_block.h"
#include "files/transcode/transcode.h"

static bool is_matrix(const struct dti_dequant_group *group, enum dti_quant_part part)
{
    return dti_dequant_has(group, part) && dti_dequant_of(group, part)->rank == 2;
}

static const char gptq_shapes[] = "GPTQ's qweight [K bits / 32, N], qzeros [groups, N bits / 32], "
                                  "scales [groups, N] and g_idx [K] or none",
                  awq_shapes[] = "AWQ's qweight [K, N / 8], qzeros [groups, N / 8] and scales "
                                 "[groups, N]";

static bool are_matrices(const struct dti_dequant_group *group)
{
    return is_matrix(group, DTI_PART_CODES) && is_matrix(group, DTI_PART_SCALE);
}

/* In AWQ, eight columns are one of words. */
static bool is_awq(const struct dti_dequant_group *group)
{
    return are_matrices(group) && dti_dequant_of(group, DTI_PART_CODES)->shape[1] > 0 &&
           dti_dequant_of(group, DTI_PART_SCALE)->shape[1] / 8 ==
               dti_dequant_of(group, DTI_PART_CODES)->shape[1] &&
           dti_dequant_of(group, DTI_PART_SCALE)->shape[1] % 8 == 0;
}

/* expected: shapes by name, in the words of the layout. */
static enum dti_status refuse_shapes(const struct dti_dequant_group *group,
                                     const struct dti_quant_config *config, const char *expected,
                                     struct dti_error *reterr)
{
    static const enum dti_quant_part parts[] = {DTI_PART_CODES, DTI_PART_ZERO_POINT, DTI_PART_SCALE,
                                                DTI_PART_ORDER};
    const bool said = strcmp(config->method, "gptq") == 0 || strcmp(config->method, "awq") == 0;
    char text[320] = "", shape[DTI_DEQUANT_SHAPE_TEXT];
    size_t used = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts && used < sizeof text; i++) {
        if (dti_dequant_has(group, parts[i]))
            used += (size_t)snprintf(
                text + used, sizeof text - used, "%s%s %s %s", used > 0 ? ", " : "",
                parts[i] == DTI_PART_CODES ? "qweight" : group->layout_read->suffix[parts[i]] + 1,
                dti_dequant_of(group, parts[i])->format->name,
                dti_dequant_shape_words(dti_dequant_of(group, parts[i]), shape));
    }
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "%s do not fit together; expected %s%s%s%s%s", text, expected,
                              said ? ": " : "", said ? config->file : "",
                              said ? " says quant_method " : "", said ? config->method : "");
}

/* Floats, and words in the order of all layouts. */
static enum dti_status check_dtypes(const struct dti_dequant_group *group, struct dti_error *reterr)
{
    static const enum dti_quant_part words[] = {DTI_PART_CODES, DTI_PART_ZERO_POINT};
    const struct dti_format *const scale = dti_dequant_of(group, DTI_PART_SCALE)->format;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (dti_dequant_has(group, words[i]) &&
            dti_is_big_endian(&dti_dequant_of(group, words[i])->layout))
            return dti_dequant_refuse(&group->part[words[i]], reterr, DTI_REMEDY_NONE,
                                      "it must be little-endian");
    }
    if (scale->id == DTI_FP16 || scale->id == DTI_BF16 || scale->id == DTI_FP32)
        return DTI_OK;
    return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_KEEP,
                              "it holds %s; scales are fp16, bf16 or fp32", scale->name);
}

/* The configuration must mean this layout: method, and one of two names of how words are laid out.
 * Others may fill the same shapes with codes in another order. */
static enum dti_status check_words(const struct dti_dequant_group *group,
                                   const struct dti_quant_config *config, const char *member,
                                   const char *word, const char *expected, const char *other,
                                   struct dti_error *reterr)
{
    static const struct {
        const char *word, *why;
    } known[] = {
        {"marlin", ", codes permuted for the kernel of that name"},
        {"bitblas", ", codes permuted for the kernels of that name"},
        {"gptq_p", ", the bits of codes in separate planes"},
        {"gemv", ", codes along the rows of the weight"},
        {"gemv_fast", ", codes interleaved for kernels"},
        {"llm-awq", ", codes interleaved for kernels"},
    };
    const char *why = "";
    char name[DTI_QUOTE_SIZE];
    if (word[0] == '\0' || strcmp(word, expected) == 0 || (other && strcmp(word, other) == 0))
        return DTI_OK;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        why = strcmp(word, known[i].word) == 0 ? known[i].why : why;
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "%s says that its %s is %s%s; only %s%s%s is read", config->file,
                              member, dti_quote(name, word, strlen(word)), why, expected,
                              other ? " or " : "", other ? other : "");
}

/* Rows share groups of equal length, as the caller, the configuration or the shapes say. */
static enum dti_status find_group(const struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config,
                                  struct dti_gptq_shape *shape, struct dti_error *reterr)
{
    const uint64_t asked = dequant->request.block;
    const uint64_t said = asked > 0 ? asked : config->group_size;
    shape->group = said > 0 ? said : dti_divide_up(shape->rows, shape->groups ? shape->groups : 1);
    const uint64_t count = shape->group > 0 ? dti_divide_up(shape->rows, shape->group) : 0;
    if (count == shape->groups && (said > 0 || shape->rows == shape->groups * shape->group))
        return DTI_OK;
    if (asked > 0)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_NONE,
                                  "it has %llu groups; %llu rows in groups of %llu are %llu",
                                  (unsigned long long)shape->groups,
                                  (unsigned long long)shape->rows, (unsigned long long)asked,
                                  (unsigned long long)count);
    if (said > 0)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_OVERRIDE_CONFIG,
                                  "it has %llu groups; by group_size %llu of %s, %llu rows have "
                                  "%llu",
                                  (unsigned long long)shape->groups, (unsigned long long)said,
                                  config->file, (unsigned long long)shape->rows,
                                  (unsigned long long)count);
    return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_SAY_BLOCK,
                              "its %llu groups do not divide %llu rows",
                              (unsigned long long)shape->groups, (unsigned long long)shape->rows);
}

static enum dti_status check_bits(const struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config, unsigned bits,
                                  struct dti_error *reterr)
{
    const unsigned asked = dequant->request.bits;
    if (asked > 0 && asked != bits)
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_NONE,
                                  "by the shapes of its parts it has codes of %u bits, not %u",
                                  bits, asked);
    if (asked == 0 && config->bits > 0 && config->bits != bits)
        return dti_dequant_refuse_config(group, config, "bits", config->bits, bits, reterr);
    return DTI_OK;
}

/* Rows of codes of so many bits; false: the shapes do not fit them. Words at the ends of columns of
 * codes and of rows of zero points may be filled in part: then the order tells how many there are.
 */
static bool rows_of(const struct dti_dequant_group *group, unsigned bits, uint64_t *ret)
{
    const uint64_t words = dti_dequant_of(group, DTI_PART_CODES)->shape[0];
    const uint64_t columns = dti_dequant_of(group, DTI_PART_CODES)->shape[1];
    if (columns > UINT64_MAX / 32 || words > UINT64_MAX / 32 ||
        dti_divide_up(columns * bits, 32) != dti_dequant_of(group, DTI_PART_ZERO_POINT)->shape[1])
        return false;
    *ret = words * 32 / bits;
    if (!dti_dequant_has(group, DTI_PART_ORDER))
        return words * 32 % bits == 0;
    *ret = dti_dequant_of(group, DTI_PART_ORDER)->elements;
    return *ret <= UINT64_MAX / 32 && dti_divide_up(*ret * bits, 32) == words;
}

static enum dti_status find_bits(const struct dti_file_dequant *dequant,
                                 const struct dti_dequant_group *group,
                                 const struct dti_quant_config *config,
                                 struct dti_gptq_shape *shape, struct dti_error *reterr)
{
    static const unsigned char widths[] = {2, 3, 4, 8};
    const unsigned asked = dequant->request.bits, said = asked > 0 ? asked : config->bits;
    unsigned fit = 0;
    for (size_t i = 0; i < sizeof widths; i++) {
        uint64_t rows;
        if (rows_of(group, widths[i], &rows) && (fit == 0 || widths[i] == said)) {
            shape->bits = widths[i];
            shape->rows = rows;
        }
        fit += rows_of(group, widths[i], &rows);
    }
    if (fit == 0)
        return refuse_shapes(group, config, gptq_shapes, reterr);
    if (fit > 1 && shape->bits != said)
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_SAY_BITS,
                                  "it is so small that codes of several widths fit its shapes");
    return check_bits(dequant, group, config, shape->bits, reterr);
}

static enum dti_status set(struct dti_file_dequant *dequant, const struct dti_dequant_group *group,
                           const struct dti_gptq_shape *shape, struct dti_dequant_found *ret,
                           struct dti_error *reterr)
{
    static const char *const dtypes[] = {
        [2] = "uint2", [3] = "uint3", [4] = "uint4", [8] = "uint8"};
    struct dti_dequant_tensor *const how = &ret->how;
    const uint64_t numbers[] = {shape->columns, shape->rows};
    const enum dti_status status =
        dti_dequant_set_unsigned(dequant, group, shape->bits, ret, reterr);
    if (status != DTI_OK)
        return status;
    if (!dti_mul_u64(shape->rows, shape->columns, &how->elements))
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_NONE,
                                  "its dimensions are too large");
    how->rows = how->matrix = shape->rows;
    how->columns = shape->columns;
    how->stripes = &dequant->stripes;
    how->map.length = shape->rows;
    how->map.mid = 1;
    how->map.group_rows = shape->group > 0 ? shape->group : 1;
    how->map.group_columns = how->map.of_column = 1;
    how->map.of_length = shape->columns;
    ret->form.dtype = dtypes[shape->bits];
    ret->form.per = DTI_PER_GROUP;
    ret->form.axis = 1;
    ret->form.group[1] = shape->group;
    ret->form.zero_points = how->zeros.container != NULL;
    return dti_dequant_show(dequant, group, 2, numbers, ret, reterr);
}

static enum dti_status match_gptq(struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config,
                                  struct dti_dequant_found *ret, struct dti_error *reterr)
{
    enum dti_status status =
        strcmp(config->method, "awq") == 0
            ? check_words(group, config, "version", config->version, "gemm", NULL, reterr)
            : DTI_OK;
    if (status == DTI_OK && strcmp(config->method, "awq") == 0)
        return refuse_shapes(group, config, awq_shapes, reterr);
    if (status == DTI_OK && strcmp(config->method, "gptq") == 0)
        status = check_words(group, config, "checkpoint_format", config->checkpoint_format, "gptq",
                             "gptq_v2", reterr);
    if (status == DTI_OK)
        status = dti_dequant_need(group, DTI_PART_ZERO_POINT, reterr);
    if (status == DTI_OK)
        status = check_dtypes(group, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const struct dti_tensor *const zeros = dti_dequant_of(group, DTI_PART_ZERO_POINT);
    if (!are_matrices(group) || zeros->rank != 2 || zeros->format->id != DTI_INT32 ||
        scales->shape[1] != codes->shape[1] || zeros->shape[0] != scales->shape[0])
        return refuse_shapes(group, config, gptq_shapes, reterr);
    struct dti_gptq_shape shape = {.columns = codes->shape[1], .groups = scales->shape[0]};
    status = find_bits(dequant, group, config, &shape, reterr);
    if (status == DTI_OK)
        status = find_group(dequant, group, config, &shape, reterr);
    if (status == DTI_OK)
        status = set(dequant, group, &shape, ret, reterr);
    if (status == DTI_OK && config->own_order && shape.groups > 1 &&
        !dti_dequant_has(group, DTI_PART_ORDER)) {
        dti_dequant_blame(group, DTI_LINT_PART_MISSING);
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                  "it needs a tensor '...g_idx', because %s says desc_act: groups "
                                  "have an order of their own",
                                  config->file);
    }
    if (status == DTI_OK && dti_dequant_has(group, DTI_PART_ORDER))
        status = dti_gptq_order(dequant, group, &shape, &ret->how.map, reterr);
    ret->how.arrangement = DTI_CODES_DOWN;
    ret->how.zero_form = DTI_ZERO_ALONG;
    if (status == DTI_OK)
        status =
            dti_gptq_zero_offset(dequant, group, config, shape.bits, &ret->how.zero_offset, reterr);
    ret->form.layout = ret->how.zero_offset == 0 ? "gptq_v2" : "gptq";
    return status;
}

static enum dti_status match_awq(struct dti_file_dequant *dequant,
                                 const struct dti_dequant_group *group,
                                 const struct dti_quant_config *config,
                                 struct dti_dequant_found *ret, struct dti_error *reterr)
{
    const struct dti_tensor *const codes = dti_dequant_of(group, DTI_PART_CODES);
    const struct dti_tensor *const scales = dti_dequant_of(group, DTI_PART_SCALE);
    const bool zeros = dti_dequant_has(group, DTI_PART_ZERO_POINT);
    enum dti_status status = DTI_OK;
    if (strcmp(config->method, "gptq") == 0)
        return refuse_shapes(group, config, gptq_shapes, reterr);
    if (strcmp(config->method, "awq") == 0)
        status = check_words(group, config, "version", config->version, "gemm", NULL, reterr);
    if (status == DTI_OK)
        status = check_dtypes(group, reterr);
    if (status != DTI_OK)
        return status;
    struct dti_gptq_shape shape = {.rows = codes->shape[0],
                                   .columns = scales->shape[1],
                                   .groups = scales->shape[0],
                                   .bits = 4};
    if (dti_dequant_has(group, DTI_PART_ORDER))
        return dti_dequant_refuse(&group->part[DTI_PART_ORDER], reterr, DTI_REMEDY_KEEP,
                                  "AWQ has no order of groups, and there is no telling what it "
                                  "means here");
    if (zeros) {
        const struct dti_tensor *const packed = dti_dequant_of(group, DTI_PART_ZERO_POINT);
        if (packed->rank != 2 || packed->format->id != DTI_INT32 ||
            packed->shape[0] != shape.groups || packed->shape[1] != codes->shape[1])
            return refuse_shapes(group, config, awq_shapes, reterr);
    }
    status = check_bits(dequant, group, config, shape.bits, reterr);
    if (status == DTI_OK)
        status = find_group(dequant, group, config, &shape, reterr);
    if (status == DTI_OK)
        status = set(dequant, group, &shape, ret, reterr);
    ret->how.arrangement = DTI_CODES_LANES;
    ret->how.row_bytes = codes->shape[1] * 4;
    ret->how.zero_form = zeros ? DTI_ZERO_LANES : DTI_ZERO_NONE;
    ret->how.zero_offset = zeros ? 0 : 8;
    ret->form.layout = "awq";
    return status;
}

static bool is_gptq(const struct dti_dequant_group *group)
{
    return !is_awq(group);
}

/* Words of 16 bits: AutoAWQ's for other kernels. */
static enum dti_status refuse_fast(struct dti_file_dequant *dequant,
                                   const struct dti_dequant_group *group,
                                   const struct dti_quant_config *config,
                                   struct dti_dequant_found *ret, struct dti_error *reterr)
{
    (void)dequant;
    (void)ret;
    const enum dti_status status =
        check_words(group, config, "version", config->version, "gemm", NULL, reterr);
    if (status != DTI_OK)
        return status;
    return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                              "it has words of 16 bits, as AWQ's versions gemv_fast and llm-awq; "
                              "only gemm is read");
}

#define PARTS(bits)                                                                          \
    .codes = ".qweight", .numbers = ".weight", .dtype = DTI_INT##bits, .sure = (bits) == 32, \
    .suffix = {[DTI_PART_SCALE] = ".scales",                                                 \
               [DTI_PART_ZERO_POINT] = ".qzeros",                                            \
               [DTI_PART_ORDER] = ".g_idx"}
const struct dti_layout_ops dti_layout_gptq = {
    .name = "gptq",
    PARTS(32),
    .fits = is_gptq,
    .match = match_gptq,
    .methods = {"gptq", "gptq_marlin"},
    .config_file = "quantize_config.json", /* AutoGPTQ's */
    .packings = {{"auto_round:auto_gptq", "gptq"},
                 {"auto_round:gptqmodel", "gptq_v2"}, /* zero points as they are */
                 {"auto_round", "gptq_v2"}},
    .grouped = true,
    .one_scheme = 1,
    .targets = {&dti_target_gptq, &dti_target_gptq_v2},
};
const struct dti_layout_ops dti_layout_awq = {
    .name = "awq",
    PARTS(32),
    .fits = is_awq,
    .match = match_awq,
    .methods = {"awq", "awq_marlin"},
    .config_file = "quant_config.json", /* that of old versions of AutoAWQ */
    .packings = {{"auto_round:auto_awq", "gemm"}},
    .grouped = true,
    .one_scheme = 1,
    .ignored = {DTI_LIST_NOT_CONVERTED},
    .ignored_as = DTI_MODULE_PART | DTI_MODULE_END,
    .targets = {&dti_target_awq},
};
const struct dti_layout_ops dti_layout_awq_fast = {.name = "awq", PARTS(16), .match = refuse_fast};
