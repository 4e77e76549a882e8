/* SPDX-License-Identifier: MIT
 *
 * GPTQ and AWQ: a matrix [N, K] is stored transposed, with groups along K.
 *
 *              qweight             qzeros            scales    g_idx
 *   GPTQ       [K bits / 32, N]    [G, N bits / 32]  [G, N]    [K], or missing: k / group size
 *   AWQ        [K, N / 8]          [G, N / 8]        [G, N]
 *
 * GPTQ packs codes down the columns and zero points along the rows, both without gaps. It stores
 * the zero point minus one unless the checkpoint's format is "gptq_v2". AWQ has 4 bits, in its own
 * order within a word, and stores zero points unchanged. A number is scale x (code - zero point).
 * Sources: GPTQModel 7.7 (utils/model_dequant.py, nn_modules/qlinear, utils/model.py), AutoAWQ
 * 0.2.9 (modules/linear/gemm.py); configurations as read by transformers 5.23 (GPTQConfig,
 * AwqConfig), GPTQModel (QuantizeConfig) and vLLM.
 *
 * g_idx: the group of each row of codes that was quantized in a custom order ("desc_act"). The rows
 * are stored in the order of the matrix. compressed-tensors up to 0.15 has the same for columns, as
 * weight_g_idx ("actorder": "group"); the value with all -1 only occurs in memory.
 *
 * Zero points are stored unchanged or minus one. The checkpoint's format decides, else a metadata
 * entry; else the words decide if the quantization is symmetric, since then all zero points are in
 * the middle of the codes. */
#include <stdio.h>
#include <string.h>

#include "files/config/quant_config_block.h"
#include "files/transcode/transcode_grouped.h"
#include "util/checked.h"
#include "util/little_endian.h"

struct shape {
    uint64_t rows, columns; /* K and N */
    uint64_t groups, group; /* G; rows per group: 0 if there are no groups */
    unsigned bits;
};

enum { AT_ONCE = 4096, FEW = 16384 }; /* bytes; FEW is enough for a quick check */

/* The fields of zero points: whether all equal `first`, and whether any has all bits set. */
struct zero_fields {
    bool equal, ones;
    unsigned first;
    uint64_t count;
};

static void look_at_field(struct zero_fields *fields, unsigned field, unsigned bits)
{
    if (fields->count++ == 0)
        fields->first = field;
    fields->equal = field == fields->first && (fields->equal || fields->count == 1);
    fields->ones = fields->ones || field == (1U << bits) - 1;
}

/* Examines zero points; each row ends on a whole word. */
static enum dti_status look_at_zeros(const struct dti_dequant_group *group, unsigned bits,
                                     uint64_t most, struct zero_fields *ret,
                                     struct dti_error *reterr)
{
    const struct dti_tensor *const zeros = dti_dequant_of(group, DTI_PART_ZERO_POINT);
    const uint64_t columns = dti_dequant_of(group, DTI_PART_SCALE)->shape[1];
    const uint64_t size = zeros->bytes < most ? zeros->bytes : most;
    struct zero_fields fields = {.count = 0};
    unsigned char raw[AT_ONCE];
    uint64_t window = 0, left = columns, words = zeros->shape[1];
    unsigned filled = 0;
    for (uint64_t done = 0; done < size; done += sizeof raw) {
        const size_t n = size - done < sizeof raw ? (size_t)(size - done) : sizeof raw;
        const enum dti_status status =
            dti_dequant_read_part(&group->part[DTI_PART_ZERO_POINT], raw, n, done, reterr);
        if (status != DTI_OK)
            return status;
        for (size_t i = 0; i + 4 <= n; i += 4) {
            window |= dti_little_get(raw + i, 4) << filled;
            for (filled += 32; filled >= bits && left > 0; filled -= bits, window >>= bits, left--)
                look_at_field(&fields, (unsigned)window & ((1U << bits) - 1), bits);
            if (--words == 0) { /* end of this row */
                window = filled = 0;
                left = columns;
                words = zeros->shape[1];
            }
        }
    }
    *ret = fields;
    return DTI_OK;
}

/* Warns about zero points that are read as configured, but look as if another format was meant. */
static enum dti_status warn(struct dti_file_dequant *dequant, const struct dti_dequant_group *group,
                            const struct dti_quant_config *config, unsigned bits, int32_t offset,
                            const struct zero_fields *fields, struct dti_error *reterr)
{
    const struct dti_dequant_part *const part = &group->part[DTI_PART_ZERO_POINT];
    const unsigned middle = 1U << (bits - 1), other = offset > 0 ? middle : middle - 1;
    char buffer[DTI_TENSOR_PLACE];
    const char *const place = dti_tensor_place(part->container, part->tensor, buffer);
    if (fields->equal && fields->first == other)
        return dti_dequant_warn(
            dequant, group->at, DTI_LINT_ZERO_POINT_LABEL, "zero_points_label", reterr,
            "%s: all zero points are stored as %u, as in symmetric checkpoints of the format %s, "
            "but %s says %s, by which they are %u",
            place, fields->first, offset > 0 ? "gptq_v2" : "gptq", config->file,
            offset > 0 ? "gptq" : "gptq_v2", fields->first + (offset > 0 ? 1 : 0));
    if (offset > 0 && fields->ones)
        return dti_dequant_warn(
            dequant, group->at, DTI_LINT_ZERO_POINT_WRAP, "zero_points_wrapped", reterr,
            "%s: zero points minus one are stored as %u, which is read as zero point 0; programs "
            "differ here, some read %u",
            place, (1U << bits) - 1, 1U << bits);
    return DTI_OK;
}

/* The format in the metadata, as written by dtinfo: "gptq" or "gptq_v2"; NULL: none. */
static const char *entry_of(struct dti_file_dequant *dequant, const struct dti_dequant_group *group)
{
    static const char *const formats[] = {"gptq", "gptq_v2"};
    const struct dti_metadata *const entry = dti_dequant_entry(dequant, group);
    for (size_t i = 0; i < 2 && entry; i++) {
        if (entry->value_length == strlen(formats[i]) &&
            memcmp(entry->value, formats[i], entry->value_length) == 0)
            return formats[i];
    }
    return NULL;
}

/* What to add to stored zero points, modulo 2^bits: 0 or 1. Warns if the zero points look like the
 * other format. Fails with DTI_BAD_INPUT if nothing decides. */
static enum dti_status find_zero_offset(struct dti_file_dequant *dequant,
                                        const struct dti_dequant_group *group,
                                        const struct dti_quant_config *config, unsigned bits,
                                        int32_t *ret, struct dti_error *reterr)
{
    const unsigned middle = 1U << (bits - 1);
    const bool stated = strcmp(config->method, "gptq") == 0;
    const bool glance = stated && dequant->request.logical && !dequant->request.lint;
    const char *const format = !stated                                             ? ""
                               : strcmp(config->checkpoint_format, "gptq_v2") == 0 ? "gptq_v2"
                                                                                   : "gptq";
    const char *const entry = entry_of(dequant, group);
    struct zero_fields fields;
    if (stated && entry && strcmp(entry, format) != 0)
        return dti_dequant_refuse(&group->part[DTI_PART_ZERO_POINT], reterr, DTI_REMEDY_KEEP,
                                  "%s says checkpoint_format %s, and the file's own metadata %s",
                                  config->file, format, entry);
    const enum dti_status status =
        look_at_zeros(group, bits, glance ? FEW : UINT64_MAX, &fields, reterr);
    if (status != DTI_OK)
        return status;
    if (stated) {
        *ret = strcmp(format, "gptq_v2") == 0 ? 0 : 1;
        return warn(dequant, group, config, bits, *ret, &fields, reterr);
    }
    if (entry) {
        *ret = strcmp(entry, "gptq_v2") == 0 ? 0 : 1;
        return DTI_OK;
    }
    if (fields.equal && (fields.first == middle || fields.first == middle - 1)) {
        *ret = fields.first == middle ? 0 : 1;
        return DTI_OK;
    }
    dti_dequant_set_rule(group, DTI_LINT_AMBIGUOUS);
    return dti_dequant_refuse(
        &group->part[DTI_PART_ZERO_POINT], reterr, DTI_REMEDY_KEEP,
        "it holds zero points, or zero points minus one, and no configuration says which: give it "
        "a config.json whose quantization_config has quant_method gptq, and checkpoint_format gptq "
        "if they are minus one, gptq_v2 if not");
}

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

/* In AWQ, eight columns are packed in one word. */
static bool is_awq(const struct dti_dequant_group *group)
{
    return are_matrices(group) && dti_dequant_of(group, DTI_PART_CODES)->shape[1] > 0 &&
           dti_dequant_of(group, DTI_PART_SCALE)->shape[1] / 8 ==
               dti_dequant_of(group, DTI_PART_CODES)->shape[1] &&
           dti_dequant_of(group, DTI_PART_SCALE)->shape[1] % 8 == 0;
}

/* expected: shapes by name, in the layout's terms. */
static enum dti_status refuse_shapes(const struct dti_dequant_group *group,
                                     const struct dti_quant_config *config, const char *expected,
                                     struct dti_error *reterr)
{
    static const enum dti_quant_part parts[] = {DTI_PART_CODES, DTI_PART_ZERO_POINT, DTI_PART_SCALE,
                                                DTI_PART_ORDER};
    const bool stated = strcmp(config->method, "gptq") == 0 || strcmp(config->method, "awq") == 0;
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
                              stated ? ": " : "", stated ? config->file : "",
                              stated ? " says quant_method " : "", stated ? config->method : "");
}

/* Scales must be floats, and words must be little-endian. */
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

/* The configuration must specify this layout: the method, and one of two names of the word packing.
 * Others may have the same shapes with codes in another order. */
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

/* Rows share groups of equal length, from the caller, the configuration or the shapes. */
static enum dti_status find_group(const struct dti_file_dequant *dequant,
                                  const struct dti_dequant_group *group,
                                  const struct dti_quant_config *config, struct shape *shape,
                                  struct dti_error *reterr)
{
    const uint64_t asked = dequant->request.block;
    const uint64_t stated = asked > 0 ? asked : config->group_size;
    shape->group =
        stated > 0 ? stated : dti_divide_up(shape->rows, shape->groups ? shape->groups : 1);
    const uint64_t count = shape->group > 0 ? dti_divide_up(shape->rows, shape->group) : 0;
    if (count == shape->groups && (stated > 0 || shape->rows == shape->groups * shape->group))
        return DTI_OK;
    if (asked > 0)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_NONE,
                                  "it has %llu groups; %llu rows in groups of %llu are %llu",
                                  (unsigned long long)shape->groups,
                                  (unsigned long long)shape->rows, (unsigned long long)asked,
                                  (unsigned long long)count);
    if (stated > 0)
        return dti_dequant_refuse(&group->part[DTI_PART_SCALE], reterr, DTI_REMEDY_OVERRIDE_CONFIG,
                                  "it has %llu groups; by group_size %llu of %s, %llu rows have "
                                  "%llu",
                                  (unsigned long long)shape->groups, (unsigned long long)stated,
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

/* The number of rows of codes with this width; false: the shapes do not fit it. The last words of
 * columns of codes and of rows of zero points may be partly filled: then the order gives the count.
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
                                 const struct dti_quant_config *config, struct shape *shape,
                                 struct dti_error *reterr)
{
    static const unsigned char widths[] = {2, 3, 4, 8};
    const unsigned asked = dequant->request.bits, stated = asked > 0 ? asked : config->bits;
    unsigned fit = 0;
    for (size_t i = 0; i < sizeof widths; i++) {
        uint64_t rows;
        if (rows_of(group, widths[i], &rows) && (fit == 0 || widths[i] == stated)) {
            shape->bits = widths[i];
            shape->rows = rows;
        }
        fit += rows_of(group, widths[i], &rows);
    }
    if (fit == 0)
        return refuse_shapes(group, config, gptq_shapes, reterr);
    if (fit > 1 && shape->bits != stated)
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_SAY_BITS,
                                  "it is so small that codes of several widths fit its shapes");
    return check_bits(dequant, group, config, shape->bits, reterr);
}

static enum dti_status set(struct dti_file_dequant *dequant, const struct dti_dequant_group *group,
                           const struct shape *shape, struct dti_dequant_found *ret,
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
    if (!dti_mul_u64(shape->rows, shape->columns, &how->is->elements))
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_NONE,
                                  "its dimensions are too large");
    how->is->rows = how->is->matrix = shape->rows;
    how->is->columns = shape->columns;
    how->is->stripes = &dequant->stripes;
    how->is->map.length = shape->rows;
    how->is->map.mid = 1;
    how->is->map.group_rows = shape->group > 0 ? shape->group : 1;
    how->is->map.group_columns = how->is->map.of_column = 1;
    how->is->map.of_length = shape->columns;
    ret->form.is->dtype = dtypes[shape->bits];
    ret->form.is->per = DTI_PER_GROUP;
    ret->form.is->axis = 1;
    ret->form.is->group[1] = shape->group;
    ret->form.is->zero_points = how->is->from.zeros != NULL;
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
    struct shape shape = {.columns = codes->shape[1], .groups = scales->shape[0]};
    status = find_bits(dequant, group, config, &shape, reterr);
    if (status == DTI_OK)
        status = find_group(dequant, group, config, &shape, reterr);
    if (status == DTI_OK)
        status = set(dequant, group, &shape, ret, reterr);
    if (status == DTI_OK && config->own_order && shape.groups > 1 &&
        !dti_dequant_has(group, DTI_PART_ORDER)) {
        dti_dequant_set_rule(group, DTI_LINT_PART_MISSING);
        return dti_dequant_refuse(&group->part[DTI_PART_CODES], reterr, DTI_REMEDY_KEEP,
                                  "it needs a tensor '...g_idx', because %s says desc_act: groups "
                                  "have an order of their own",
                                  config->file);
    }
    if (status == DTI_OK && dti_dequant_has(group, DTI_PART_ORDER))
        status = dti_dequant_order_of(
            dequant, group, &(struct dti_order_shape){shape.rows, shape.groups, shape.group},
            &ret->how.is->map, reterr);
    ret->how.is->arrangement = DTI_CODES_DOWN;
    ret->how.is->zero_form = DTI_ZERO_ALONG;
    if (status == DTI_OK)
        status =
            find_zero_offset(dequant, group, config, shape.bits, &ret->how.is->zero_offset, reterr);
    ret->form.is->layout =
        ret->how.is->zero_offset == 0 ? group->layout_read->variant : group->layout_read->name;
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
    struct shape shape = {.rows = codes->shape[0],
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
    ret->how.is->arrangement = DTI_CODES_LANES;
    ret->how.is->row_bytes = codes->shape[1] * 4;
    ret->how.is->zero_form = zeros ? DTI_ZERO_LANES : DTI_ZERO_NONE;
    ret->how.is->zero_offset = zeros ? 0 : 8;
    ret->form.is->layout = "awq";
    return status;
}

static bool is_gptq(const struct dti_dequant_group *group)
{
    return !is_awq(group);
}

/* 16-bit words are AutoAWQ's packing for other kernels. */
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

/* Checks for writing. */
static enum dti_status check_matrix(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    if (grouped->found->shown->rank != 2)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "it is a stack of matrices; %s has single ones",
                                    grouped->target);
    if (grouped->one)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "it has one scale; %s has scales for each row, or for groups",
                                    grouped->target);
    if (grouped->scale == DTI_FP32)
        return dti_transcode_refuse_for(
            grouped->found, reterr, DTI_REMEDY_SCALES_OF_16_BITS,
            "its scales are fp32; programs that read %s hold them in fp16 or "
            "bf16",
            grouped->target);
    return DTI_OK;
}

static enum dti_status check_gptq(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    const unsigned bits = grouped->bits;
    const enum dti_status status = check_matrix(grouped, reterr);
    if (status != DTI_OK)
        return status;
    if (bits != 2 && bits != 3 && bits != 4 && bits != 8)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its codes have %u bits; %s has 2, 3, 4 and 8", bits,
                                    grouped->target);
    if (grouped->columns * bits % 32 != 0 || grouped->rows * bits % 32 != 0)
        return dti_transcode_refuse(
            grouped->found, reterr,
            "it is [%llu, %llu]; %u bits of each of them must fill words of "
            "32 bits, as %s has them",
            (unsigned long long)grouped->rows, (unsigned long long)grouped->columns, bits,
            grouped->target);
    return DTI_OK;
}

static enum dti_status check_awq(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    enum dti_status status = check_matrix(grouped, reterr);
    if (status == DTI_OK)
        status = dti_grouped_check_rows(grouped, reterr);
    if (status != DTI_OK)
        return status;
    if (grouped->bits != 4)
        return dti_transcode_refuse(grouped->found, reterr, "its codes have %u bits; awq has 4",
                                    grouped->bits);
    if (grouped->rows % 8 != 0)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "it has %llu rows; awq packs eight in a word",
                                    (unsigned long long)grouped->rows);
    return DTI_OK;
}

static enum dti_status plan_transposed(const struct dti_transcode_target *target,
                                       struct dti_pool *pool, struct dti_dequant_found *found,
                                       struct dti_transcoded *ret, struct dti_error *reterr)
{
    const bool awq = target->lanes;
    const struct dti_grouped_wants wants = {.no_zero_point = target->less > 0};
    struct dti_grouped *grouped = NULL;
    enum dti_status status = dti_grouped_begin(
        pool, found, target->name, awq ? check_awq : check_gptq, &wants, ret, &grouped, reterr);
    if (status != DTI_OK)
        return status;
    const uint64_t rows = grouped->rows, columns = grouped->columns, groups = grouped->groups;
    const uint64_t row_words = rows * grouped->bits / 32;
    struct dti_transcode_part *part =
        dti_grouped_add(ret, grouped, ".qweight", DTI_INT32,
                        awq ? columns : columns * grouped->bits / 32, awq ? row_words : rows);
    status = dti_grouped_codes(pool, grouped, awq ? DTI_ORDER_LANES : DTI_ORDER_DOWN, false, part,
                               reterr);
    if (status != DTI_OK)
        return status;
    part = dti_grouped_add(ret, grouped, ".qzeros", DTI_INT32, groups, row_words);
    status = dti_grouped_values(pool, grouped, awq ? DTI_GROUP_ZEROS_LANES : DTI_GROUP_ZEROS_ALONG,
                                true, target->less, part, reterr);
    if (status != DTI_OK)
        return status;
    part = dti_grouped_add(ret, grouped, ".scales", grouped->scale, groups, rows);
    if (!awq) {
        (void)snprintf(ret->entry, sizeof ret->entry, "%s", target->name);
        dti_grouped_add_order(ret, grouped, ".g_idx");
    }
    return dti_grouped_values(pool, grouped, DTI_GROUP_SCALES, true, 0, part, reterr);
}

/* Settings that apply to all tensors. */
struct words_scheme {
    unsigned bits;
    long long length; /* -1: one scale per row */
    bool symmetric, ordered, head;
};

static struct words_scheme scheme_of(const struct dti_dequant_found *found)
{
    static const char head[] = "lm_head.weight";
    struct dti_grouped grouped;
    (void)dti_grouped_facts(&grouped, found, "", NULL); /* cannot fail: it was planned */
    return (struct words_scheme){
        .bits = grouped.bits,
        .length = grouped.length == grouped.columns ? -1 : (long long)grouped.length,
        .symmetric = found->form.symmetric,
        .ordered = dti_dequant_order(&found->how) != NULL,
        .head = dti_quant_name_ends(found->shown->name, found->shown->name_length, head),
    };
}

/* Returns false if tensors differ, with the reason in *ret_why. */
static bool find_scheme(const struct dti_dequant_found *const *all, size_t count,
                        struct words_scheme *ret, const char **ret_why)
{
    *ret = scheme_of(all[0]);
    for (size_t i = 1; i < count; i++) {
        const struct words_scheme other = scheme_of(all[i]);
        if (other.bits != ret->bits || other.length != ret->length) {
            *ret_why = "its loaders have one code width and one length of groups for all tensors";
            return false;
        }
        ret->symmetric = ret->symmetric && other.symmetric;
        ret->ordered = ret->ordered || other.ordered;
        ret->head = ret->head || other.head;
    }
    return true;
}

static const char *boolean(bool value)
{
    return value ? "true" : "false";
}

static void config_gptq(const struct dti_transcode_target *target,
                        const struct dti_dequant_found *const *all, size_t count, const char *kept,
                        struct dti_config_texts *texts, const char **ret_why)
{
    struct dti_buffer *const ret = &texts->value;
    struct words_scheme scheme;
    (void)kept; /* modules without qweight are not quantized */
    if (!find_scheme(all, count, &scheme, ret_why))
        return;
    dti_buffer_print(ret,
                     "{\n  \"quant_method\": \"gptq\",\n  \"bits\": %u,\n  \"group_size\": %lld,\n"
                     "  \"desc_act\": %s,\n  \"sym\": %s,\n  \"lm_head\": %s,\n"
                     "  \"checkpoint_format\": \"%s\"\n}",
                     scheme.bits, scheme.length, boolean(scheme.ordered), boolean(scheme.symmetric),
                     boolean(scheme.head), target->name);
}

static void config_awq(const struct dti_transcode_target *target,
                       const struct dti_dequant_found *const *all, size_t count, const char *kept,
                       struct dti_config_texts *texts, const char **ret_why)
{
    struct dti_buffer *const ret = &texts->value;
    (void)target;
    struct words_scheme scheme;
    if (!find_scheme(all, count, &scheme, ret_why))
        return;
    dti_buffer_print(
        ret,
        "{\n  \"quant_method\": \"awq\",\n  \"bits\": 4,\n  \"group_size\": %lld,\n"
        "  \"zero_point\": true,\n  \"version\": \"gemm\",\n  \"modules_to_not_convert\": ",
        scheme.length);
    dti_buffer_puts(ret, kept ? kept : "[]");
    dti_buffer_puts(ret, "\n}");
}

#define INTEGERS(name_) .name = name_, .takes = DTI_TAKES_INTEGERS
static const struct dti_transcode_target to_gptq = {INTEGERS("gptq"), .less = 1,
                                                    .plan = plan_transposed, .config = config_gptq};
/* Zero points unchanged, as loaders need if one of them is 0. */
static const struct dti_transcode_target to_gptq_v2 = {INTEGERS("gptq_v2"), .plan = plan_transposed,
                                                       .config = config_gptq};
static const struct dti_transcode_target to_awq = {INTEGERS("awq"), .lanes = true,
                                                   .plan = plan_transposed, .config = config_awq};

#define PARTS(bits)                                                                          \
    .codes = ".qweight", .numbers = ".weight", .dtype = DTI_INT##bits, .sure = (bits) == 32, \
    .suffix = {[DTI_PART_SCALE] = ".scales",                                                 \
               [DTI_PART_ZERO_POINT] = ".qzeros",                                            \
               [DTI_PART_ORDER] = ".g_idx"}

const struct dti_layout_ops dti_layout_gptq = {
    .name = "gptq",
    .variant = "gptq_v2", /* zero points unchanged */
    PARTS(32),
    .fits = is_gptq,
    .match = match_gptq,
    .methods = {"gptq", "gptq_marlin"},
    .config_file = "quantize_config.json", /* AutoGPTQ's */
    .packings = {{"auto_round:auto_gptq", "gptq"},
                 {"auto_round:gptqmodel", "gptq_v2"}, /* zero points unchanged */
                 {"auto_round", "gptq_v2"}},
    .grouped = true,
    .one_scheme = 1,
    .targets = {&to_gptq, &to_gptq_v2},
};
const struct dti_layout_ops dti_layout_awq = {
    .name = "awq",
    PARTS(32),
    .fits = is_awq,
    .match = match_awq,
    .methods = {"awq", "awq_marlin"},
    .config_file = "quant_config.json", /* from old versions of AutoAWQ */
    .packings = {{"auto_round:auto_awq", "gemm"}},
    .grouped = true,
    .one_scheme = 1,
    .ignored = {DTI_LIST_NOT_CONVERTED},
    .ignored_as = DTI_MODULE_PART | DTI_MODULE_END,
    .targets = {&to_awq},
};
const struct dti_layout_ops dti_layout_awq_fast = {.name = "awq", PARTS(16), .match = refuse_fast};
