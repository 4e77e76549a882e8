/* SPDX-License-Identifier: MIT
 *
 * Interprets a quantized tensor as a matrix of integers with groups, and examines all of its
 * groups.
 */
#include "files/transcode/transcode_grouped.h"

#include "util/little_endian.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/checked.h"
#include "util/run/allocate.h"

/* Codes must be integers, each with a single scale. */
static enum dti_status check_codes(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = grouped->how;
    const char *const dtype = grouped->found->form.is->dtype;
    const struct dti_tensor *scales;
    if (how->is->block || how->is->gguf || how->nested ||
        dti_format_is_float(&how->is->affine.code) || how->is->bits > 8)
        return dti_transcode_refuse(
            grouped->found, reterr,
            "it holds %s codes; %s has integers of up to 8 bits with scales", dtype,
            grouped->target);
    if (how->is->divisors || how->tensor_scale != 1)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its scales divide, and those of %s are factors",
                                    grouped->target);
    scales = dti_dequant_part_tensor(DTI_PART_OF(how, scales));
    if (scales->format->id != DTI_FP32 && scales->format->id != DTI_FP16 &&
        scales->format->id != DTI_BF16)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its scales are %s; those of %s are fp16, bf16 or fp32",
                                    scales->format->name, grouped->target);
    if (dti_is_big_endian(&scales->layout))
        return dti_transcode_refuse(grouped->found, reterr, "its scales are big-endian");
    return DTI_OK;
}

static uint64_t scale_at(const struct dti_grouped *grouped, uint64_t row, uint64_t group)
{
    const struct dti_dequant_tensor *const how = grouped->how;
    const uint64_t column = group * grouped->length;
    if (how->is->matrix > 0)
        return dti_dequant_scale_of(&how->is->map, column, row);
    const uint64_t element = row * grouped->columns + column;
    return dti_dequant_scale_of(&how->is->map, element / how->is->columns,
                                element % how->is->columns);
}

/* One scale, one for each row, or one for neighbours in rows, with constant strides between stored
 * scales. With a group order, strides are those of groups. */
static enum dti_status find_groups(struct dti_grouped *grouped, struct dti_error *reterr)
{
    const struct dti_dequant_form *const form = &grouped->found->form;
    const struct dti_dequant_tensor *const how = grouped->how;
    const struct dti_scale_map *const map = &how->is->map;
    const unsigned rank = grouped->found->shown->rank;
    bool fits = true;
    grouped->length = grouped->columns;
    grouped->groups = 1;
    grouped->one = form->is->per == DTI_PER_TENSOR && grouped->rows > 1;
    if (form->is->per == DTI_PER_CHANNEL)
        fits = form->is->axis == 0 && rank == 2;
    if (form->is->per == DTI_PER_GROUP) {
        fits = form->is->axis == rank - 1 && form->is->group[0] == 0 && !form->is->flat &&
               form->is->group[1] > 0;
        grouped->length = fits ? form->is->group[1] : 1;
        grouped->groups = dti_divide_up(grouped->columns, grouped->length);
    }
    if (how->is->matrix > 0 && how->is->rows != how->is->matrix)
        fits = false;
    if (!fits)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its scales are not those of a matrix, of its rows or of "
                                    "neighbours in rows, as %s has them",
                                    grouped->target);
    if (map->group_of) {
        grouped->groups = how->is->scale_rows;
        grouped->of_row = map->of_column;
        grouped->of_group = map->of_length;
        return DTI_OK;
    }
    if (map->column_of) {
        grouped->groups = how->is->scale_columns;
        grouped->of_row = map->of_outer;
        grouped->of_group = 1;
        return DTI_OK;
    }
    const uint64_t rows = grouped->rows - 1, groups = grouped->groups - 1;
    grouped->of_row = rows > 0 ? scale_at(grouped, 1, 0) - scale_at(grouped, 0, 0) : 0;
    grouped->of_group = groups > 0 ? scale_at(grouped, 0, 1) - scale_at(grouped, 0, 0) : 0;
    const bool runs =
        grouped->one || rows == 0 || grouped->of_row == 1 || (groups > 0 && grouped->of_group == 1);
    if (scale_at(grouped, 0, 0) != 0 || !runs ||
        scale_at(grouped, rows, groups) != rows * grouped->of_row + groups * grouped->of_group)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its scales are in no order that %s has", grouped->target);
    return DTI_OK;
}

/* Splits joined rows again, and makes each row a column of a stored matrix; false: out of memory.
 */
static bool turn(struct dti_grouped *grouped, struct dti_pool *pool)
{
    struct dti_dequant_tensor *const turned = &grouped->turned;
    struct dti_dequant_traits *const is = dti_pool_alloc(pool, sizeof *is);
    if (!is)
        return false;
    *is = *grouped->how->is;
    *turned = *grouped->how;
    turned->is = is;
    if (is->columns != grouped->columns) {
        const bool bytes = is->bits == 8 || is->order == DTI_BLOCK_BYTES;
        is->columns = grouped->columns;
        is->rows = grouped->rows;
        is->row_bytes = grouped->columns * (bytes ? 8 : is->bits) / 8;
        is->slab = is->stored_slab = 1;
    }
    is->matrix = grouped->rows;
    return true;
}

enum dti_status dti_grouped_facts(struct dti_grouped *ret, const struct dti_dequant_found *found,
                                  const char *target, struct dti_error *reterr)
{
    const struct dti_tensor *const shown = found->shown;
    const struct dti_dequant_tensor *const how = &found->how;
    memset(ret, 0, sizeof *ret);
    ret->target = target;
    ret->found = found;
    ret->how = how;
    const enum dti_status status = check_codes(ret, reterr);
    if (status != DTI_OK)
        return status;
    if (shown->rank < 2 || shown->elements == 0)
        return dti_transcode_refuse(ret->found, reterr, "it %s; %s has matrices",
                                    shown->rank < 2 ? "is no matrix" : "has no elements", target);
    ret->columns = shown->shape[shown->rank - 1];
    ret->rows = shown->elements / ret->columns;
    ret->height = shown->shape[shown->rank - 2];
    ret->bits = how->is->bits;
    ret->sign = how->is->affine.code.kind == DTI_KIND_INT;
    ret->flip = (unsigned char)(ret->sign ? 1U << (how->is->bits - 1) : 0);
    ret->biased = how->is->from.biases != NULL;
    ret->symmetric = found->form.symmetric;
    ret->scale = dti_dequant_part_tensor(DTI_PART_OF(how, scales))->format->id;
    ret->narrows = found->form.narrow != DTI_NONE && ret->scale == DTI_FP32 && !ret->biased;
    if (ret->narrows)
        ret->scale = found->form.narrow;
    return find_groups(ret, reterr);
}

enum dti_status dti_grouped_new(struct dti_grouped **ret, struct dti_pool *pool,
                                struct dti_dequant_found *found, const char *target,
                                struct dti_error *reterr)
{
    struct dti_grouped *const grouped = dti_pool_alloc(pool, sizeof *grouped);
    if (!grouped)
        return dti_no_memory(reterr);
    enum dti_status status = dti_grouped_facts(grouped, found, target, reterr);
    if (status == DTI_OK)
        status = dti_dequant_open(&found->how, reterr);
    if (status == DTI_OK && found->how.is->matrix == 0 && !turn(grouped, pool))
        status = dti_no_memory(reterr);
    *ret = grouped;
    return status;
}

/* The state of dti_grouped_look(). */
struct grouped_look {
    struct dti_grouped *grouped;
    const struct dti_grouped_wants *wants;
    bool off_middle;
    uint64_t lossless;
    double worst;
    struct dti_grouped_memory memory;
};

/* Describes the position of a scale, for messages. */
static const char *place_of(const struct dti_grouped *grouped, uint64_t index, char text[80])
{
    const uint64_t outer =
        grouped->of_row > grouped->of_group ? grouped->of_row : grouped->of_group;
    const uint64_t major = outer > 0 ? index / outer : 0, minor = outer > 0 ? index % outer : 0;
    const bool rows_first = outer == grouped->of_row;
    (void)snprintf(text, 80, "group %llu of row %llu",
                   (unsigned long long)(rows_first ? minor : major),
                   (unsigned long long)(rows_first ? major : minor));
    return text;
}

/* Checks a scale that is rounded. */
static enum dti_status look_at_scale(struct grouped_look *look, uint64_t index, float scale,
                                     unsigned zero, bool *ret_same, struct dti_error *reterr)
{
    struct dti_grouped *const grouped = look->grouped;
    const float old = scale * grouped->how->is->factor, rounded = dti_grouped_scale(grouped, scale);
    char place[80];
    *ret_same = old == rounded || (old != old && rounded != rounded);
    if (*ret_same)
        return DTI_OK;
    if (rounded == 0 || rounded - rounded != 0)
        return dti_transcode_refuse(
            grouped->found, reterr, "the scale of %s is %s in %s", place_of(grouped, index, place),
            rounded == 0 ? "0" : "infinite", dti_format_get(grouped->scale)->name);
    for (unsigned code = 0; code < 1U << grouped->bits; code++) {
        const float steps = (float)((int)code - (int)zero);
        const float number = steps * old, new = steps *rounded;
        const double error =
            number == new ? 0 : fabs(((double)new - (double)number) / (double)number);
        look->worst = error > look->worst ? error : look->worst;
    }
    return DTI_OK;
}

static enum dti_status look_at(struct grouped_look *look, uint64_t index, float scale, float bias,
                               unsigned zero, struct dti_error *reterr)
{
    struct dti_grouped *const grouped = look->grouped;
    const unsigned middle = dti_grouped_middle(grouped);
    char place[80];
    bool same = true;
    enum dti_status status = DTI_OK;
    if (grouped->how->is->factor != 1 && !dti_grouped_has_factor(grouped, scale))
        return dti_transcode_refuse(
            grouped->found, reterr,
            "in %s, (code x scale) x 1 / 127, each product rounded, differs from code x (scale / "
            "127), as %s has it",
            place_of(grouped, index, place), grouped->target);
    if (grouped->biased) {
        if (look->wants->biases)
            return DTI_OK; /* nothing changes */
        if (!dti_grouped_zero(grouped, scale, bias, &zero))
            return dti_transcode_refuse(
                grouped->found, reterr,
                "the bias of %s is not -scale x zero point for any zero point from 0 to %u, as %s "
                "has them",
                place_of(grouped, index, place), (1U << grouped->bits) - 1, grouped->target);
        same = dti_grouped_same(grouped, &look->memory, scale, zero, bias, &look->worst);
    } else if (look->wants->biases) {
        const float wanted = dti_grouped_bias(grouped, scale, zero);
        if (scale - scale == 0 && wanted - wanted != 0)
            return dti_transcode_refuse(
                grouped->found, reterr,
                "scale times zero point of %s exceeds the %s that %s has biases in",
                place_of(grouped, index, place), dti_format_get(grouped->scale)->name,
                grouped->target);
        same = dti_grouped_same(grouped, &look->memory, scale, zero, wanted, &look->worst);
    }
    if (status == DTI_OK && grouped->narrows)
        status = look_at_scale(look, index, scale, zero, &same, reterr);
    if (status != DTI_OK)
        return status;
    look->off_middle = look->off_middle || zero != middle;
    look->lossless += same;
    if (look->wants->no_zero_point && zero == 0)
        return dti_transcode_refuse_for(
            grouped->found, reterr,
            grouped->bits == 3 ? DTI_REMEDY_ZEROS_AS_THEY_ARE : DTI_REMEDY_ZEROS_OR_COMPRESSED,
            "the zero point of %s is 0; %s stores zero points minus one, and "
            "programs differ on what is stored for 0",
            place_of(grouped, index, place), grouped->target);
    return DTI_OK;
}

enum dti_status dti_grouped_look(struct dti_dequant_found *found, struct dti_grouped *grouped,
                                 const struct dti_grouped_wants *wants, struct dti_transcoded *ret,
                                 struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = grouped->how;
    const unsigned middle = dti_grouped_middle(grouped), shift = grouped->sign ? middle : 0;
    const uint64_t count = how->is->scale_count;
    struct grouped_look look = {.grouped = grouped, .wants = wants};
    struct dti_dequant_window *const window = dti_malloc(sizeof *window);
    enum dti_status status = window ? DTI_OK : dti_no_memory(reterr);
    if (window)
        window->count = 0;
    for (uint64_t first = 0; first < count && status == DTI_OK; first += DTI_DEQUANT_WINDOW) {
        const uint64_t left = count - first;
        const uint64_t n = left < DTI_DEQUANT_WINDOW ? left : DTI_DEQUANT_WINDOW;
        status = dti_dequant_load(how, window, first, n, reterr);
        const uint64_t at = first - window->first;
        for (uint64_t i = at; i < at + n && status == DTI_OK; i++) {
            const int32_t stored = grouped->biased || how->is->zero_form == DTI_ZERO_NONE
                                       ? how->is->zero_offset
                                       : window->zero[i];
            status =
                look_at(&look, first + i - at, window->scale[i],
                        grouped->biased ? window->bias[i] : 0, (unsigned)stored + shift, reterr);
        }
    }
    dti_free(window);
    dti_free(look.memory.errors);
    if (status != DTI_OK)
        return status;
    grouped->symmetric = found->form.symmetric = !look.off_middle;
    ret->blocks = count;
    ret->lossless = grouped->biased && wants->biases ? count : look.lossless;
    ret->worst = look.worst;
    return DTI_OK;
}

struct dti_transcode_part *dti_grouped_add(struct dti_transcoded *ret,
                                           const struct dti_grouped *grouped, const char *suffix,
                                           enum dti_dtype dtype, uint64_t rows, uint64_t columns)
{
    const struct dti_tensor *const shown = grouped->found->shown;
    struct dti_transcode_part *const part = &ret->part[ret->count++];
    memset(part, 0, sizeof *part);
    part->suffix = suffix;
    part->dtype = dtype;
    part->rank = shown->rank;
    for (unsigned i = 0; i + 2 < shown->rank; i++)
        part->shape[i] = shown->shape[i];
    part->shape[part->rank - 2] = rows;
    part->shape[part->rank - 1] = columns;
    return part;
}

enum dti_status dti_grouped_check_rows(const struct dti_grouped *grouped, struct dti_error *reterr)
{
    if (dti_dequant_order(grouped->how))
        return dti_transcode_refuse_for(
            grouped->found, reterr, DTI_REMEDY_LAYOUT_WITH_ORDER,
            "its groups have an order of their own (desc_act, g_idx), which %s "
            "does not have",
            grouped->target);
    return dti_grouped_check_groups(grouped, reterr);
}

enum dti_status dti_grouped_check_groups(const struct dti_grouped *grouped,
                                         struct dti_error *reterr)
{
    if (grouped->columns % grouped->length != 0)
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its rows of %llu are no whole groups of %llu, as %s has them",
                                    (unsigned long long)grouped->columns,
                                    (unsigned long long)grouped->length, grouped->target);
    return DTI_OK;
}

/* Sets the stem to the module's name, before ".weight". */
static enum dti_status set_module(const struct dti_grouped *grouped, struct dti_transcoded *ret,
                                  struct dti_error *reterr)
{
    static const char weight[] = ".weight";
    const struct dti_tensor *const shown = grouped->found->shown;
    if (!dti_quant_name_ends(shown->name, shown->name_length, weight))
        return dti_transcode_refuse(grouped->found, reterr,
                                    "its name does not end in '%s', for which %s has other endings",
                                    weight, grouped->target);
    ret->stem_length = shown->name_length - (sizeof weight - 1);
    return DTI_OK;
}

enum dti_status dti_grouped_begin(struct dti_pool *pool, struct dti_dequant_found *found,
                                  const char *target, dti_grouped_check *check,
                                  const struct dti_grouped_wants *wants, struct dti_transcoded *ret,
                                  struct dti_grouped **ret_grouped, struct dti_error *reterr)
{
    dti_transcode_begin(found, ret);
    enum dti_status status = dti_grouped_new(ret_grouped, pool, found, target, reterr);
    if (status == DTI_OK)
        status = check(*ret_grouped, reterr);
    if (status == DTI_OK)
        status = set_module(*ret_grouped, ret, reterr);
    return status == DTI_OK ? dti_grouped_look(found, *ret_grouped, wants, ret, reterr) : status;
}

/* Reads the group of each column of the matrix. */
static enum dti_status read_order(void *context, void *buffer, size_t size, uint64_t offset,
                                  struct dti_window *window, void *scratch,
                                  struct dti_error *reterr)
{
    const struct dti_grouped *const grouped = context;
    const uint16_t *const group_of = dti_dequant_order(grouped->how);
    unsigned char *const to = buffer;
    (void)window;
    (void)scratch;
    (void)reterr;
    for (uint64_t at = offset / 4 * 4; at < offset + size; at += 4) {
        const uint64_t column = at / 4;
        unsigned char bytes[4];
        dti_little_put(bytes, 4, group_of ? group_of[column] : column / grouped->length);
        for (size_t i = 0; i < 4; i++) {
            if (at + i >= offset && at + i < offset + size)
                to[at + i - offset] = bytes[i];
        }
    }
    return DTI_OK;
}

void dti_grouped_add_order(struct dti_transcoded *ret, struct dti_grouped *grouped,
                           const char *suffix)
{
    struct dti_transcode_part *const part = dti_grouped_add(ret, grouped, suffix, DTI_INT32, 0, 0);
    part->rank = 1;
    part->shape[0] = grouped->columns;
    part->source = (struct dti_batch_source){.read = read_order, .context = grouped};
}
