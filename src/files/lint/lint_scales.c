/* SPDX-License-Identifier: MIT
 *
 * Checks scales, zero points and padding piece by piece, each tensor on one thread. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "files/lint/lint_parts.h"
#include "files/stored/tensor_choice.h"
#include "util/checked.h"
#include "util/little_endian.h"
#include "util/run/allocate.h"
#include "util/run/caller.h"

/* Per-thread memory. */
struct dti_lint_scratch {
    struct dti_window view; /* of scales */
    struct dti_dequant_window window;
    unsigned char raw[1 << 16];
};

/* How many values are bad, and the index of the first. */
struct lint_tally {
    uint64_t count, first;
};

static void count_one(struct lint_tally *tally, uint64_t at)
{
    if (tally->count++ == 0)
        tally->first = at;
}

/* "[1, 3] of 'X_scale'" */
static const char *put_place(char buffer[DTI_LINT_PLACE + DTI_QUOTE_SIZE + 8],
                             const struct dti_dequant_tensor *how,
                             const struct dti_dequant_part *part, uint64_t at)
{
    const struct dti_tensor *const tensor = dti_dequant_part_tensor(part);
    char place[DTI_LINT_PLACE], name[DTI_QUOTE_SIZE];
    if (how && how->is->tiled)
        (void)snprintf(place, sizeof place, "row %llu, column %llu",
                       (unsigned long long)(at / how->is->scale_columns),
                       (unsigned long long)(at % how->is->scale_columns));
    else
        (void)dti_lint_place(place, tensor, at);
    (void)snprintf(buffer, DTI_LINT_PLACE + DTI_QUOTE_SIZE + 8, "%s of %s", place,
                   dti_quote(name, tensor->name, tensor->name_length));
    return buffer;
}

static enum dti_status add_tally(struct dti_lint *lint, enum dti_lint_rule rule, size_t at,
                                 const struct dti_dequant_part *part, const char *parts,
                                 const char *what, const struct lint_tally *tally,
                                 struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &dti_lint_quantized(lint, at)->how;
    char place[DTI_LINT_PLACE + DTI_QUOTE_SIZE + 8];
    if (tally->count == 0)
        return DTI_OK;
    return dti_lint_add(
        lint, rule, &lint->view->tensors[at], reterr, "%llu of its %llu %s %s %s, the first at %s",
        (unsigned long long)tally->count, (unsigned long long)how->is->scale_count, parts,
        tally->count == 1 ? "is" : "are", what, put_place(place, how, part, tally->first));
}

/* Scales may be negative for q8_0 and q4_0, and with biases; nested scales are sums that may be
 * negative. */
static bool may_be_negative(const struct dti_dequant_tensor *how)
{
    return how->is->from.biases || how->nested ||
           (how->is->block &&
            (how->is->block->id == DTI_BLOCK_Q8_0 || how->is->block->id == DTI_BLOCK_Q4_0));
}

static enum dti_status look_at_scales(struct dti_lint *lint, size_t at,
                                      struct dti_lint_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &dti_lint_quantized(lint, at)->how;
    struct dti_dequant_window *const window = &scratch->window;
    struct lint_tally odd = {0, 0}, negative = {0, 0}, zero = {0, 0}, biases = {0, 0};
    enum dti_status status = DTI_OK;
    for (uint64_t done = 0; done < how->is->scale_count && status == DTI_OK;) {
        const uint64_t left = how->is->scale_count - done;
        const size_t n = left < DTI_DEQUANT_WINDOW ? (size_t)left : DTI_DEQUANT_WINDOW;
        status = dti_dequant_load_scales(how, window, &scratch->view, done, n, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            const float scale = window->scale[i];
            if (!(scale >= -3.4028235e38f && scale <= 3.4028235e38f))
                count_one(&odd, done + i);
            else if (!(scale > 0))
                count_one(scale < 0 ? &negative : &zero, done + i);
            if (how->is->from.biases &&
                !(window->bias[i] >= -3.4028235e38f && window->bias[i] <= 3.4028235e38f))
                count_one(&biases, done + i);
        }
        done += n;
    }
    lint->tensors[at].scales_bad = odd.count > 0 || biases.count > 0;
    lint->tensors[at].zero_scales = zero.count > 0;
    if (status == DTI_OK)
        status = add_tally(lint, DTI_LINT_SCALE_NOT_FINITE, at, DTI_PART_OF(how, scales), "scales",
                           "NaN or infinite", &odd, reterr);
    if (status == DTI_OK)
        status = add_tally(lint, DTI_LINT_SCALE_NOT_FINITE, at, DTI_PART_OF(how, biases), "biases",
                           "NaN or infinite", &biases, reterr);
    if (status == DTI_OK && !may_be_negative(how))
        status = add_tally(lint, DTI_LINT_SCALE_NEGATIVE, at, DTI_PART_OF(how, scales), "scales",
                           "negative", &negative, reterr);
    return status;
}

/* Packed zero points have the width of the codes; only those with a dtype of their own can be out
 * of range. */
static enum dti_status look_at_zeros(struct dti_lint *lint, size_t at,
                                     struct dti_lint_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &dti_lint_quantized(lint, at)->how;
    struct lint_tally outside = {0, 0};
    enum dti_status status = DTI_OK;
    if (how->is->zero_form != DTI_ZERO_PLAIN)
        return DTI_OK;
    const struct dti_tensor *const zeros = dti_dequant_part_tensor(DTI_PART_OF(how, zeros));
    const size_t size = dti_format_container(zeros->format);
    for (uint64_t done = 0; done < zeros->elements && status == DTI_OK;) {
        const uint64_t left = zeros->elements - done, most = sizeof scratch->raw / size;
        const size_t n = (size_t)(left < most ? left : most);
        status = dti_dequant_read_part(DTI_PART_OF(how, zeros), scratch->raw, n * size, done * size,
                                       reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            int64_t zero;
            if (!dti_dequant_zero_of(how, scratch->raw, i, &zero))
                count_one(&outside, done + i);
        }
        done += n;
    }
    lint->tensors[at].unreadable = outside.count > 0;
    return status == DTI_OK
               ? add_tally(lint, DTI_LINT_ZERO_POINT_RANGE, at, DTI_PART_OF(how, zeros),
                           "zero points", "none of the codes", &outside, reterr)
               : status;
}

/* The number of unused bits in a row's words after its last code; 0: none, or more than a word,
 * which belong to whole groups. */
static unsigned tail_of(const struct dti_dequant_tensor *how)
{
    uint64_t used, all, groups;
    if (how->is->arrangement != DTI_CODES_ALONG || how->is->block || how->is->bits > 8 ||
        how->is->order != (how->is->bits == 8 ? DTI_BLOCK_BYTES : DTI_BLOCK_LOW) ||
        how->is->slab != how->is->stored_slab || how->is->row_bytes % 4 != 0 ||
        !dti_mul_u64(how->is->columns, how->is->bits, &used) ||
        !dti_mul_u64(how->is->row_bytes, 8, &all) || all <= used || all - used >= 32)
        return 0;
    if (how->is->map.of_column > 0 &&
        (!dti_mul_u64(how->is->scale_columns, how->is->map.group_columns, &groups) ||
         groups > how->is->columns))
        return 0;
    return (unsigned)(all - used);
}

static enum dti_status add_padding(struct dti_lint *lint, size_t at, const struct lint_tally *rows,
                                   const char *what, struct dti_error *reterr)
{
    if (rows->count == 0)
        return DTI_OK;
    return dti_lint_add(lint, DTI_LINT_PADDING, &lint->view->tensors[at], reterr,
                        "behind the last code, %llu %s%s bits that are not 0, the first %s %llu",
                        (unsigned long long)rows->count, what, rows->count == 1 ? " has" : "s have",
                        what, (unsigned long long)rows->first);
}

/* Reads whole rows if they are short, else only their last words. */
static enum dti_status look_at_row_ends(struct dti_lint *lint, size_t at, unsigned tail,
                                        struct dti_lint_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &dti_lint_quantized(lint, at)->how;
    const uint64_t stride = how->is->row_bytes <= 1024 ? how->is->row_bytes : 4;
    const uint64_t at_once = stride < how->is->row_bytes ? 1 : sizeof scratch->raw / stride;
    const uint32_t mask = ~(uint32_t)0 << (32 - tail);
    struct lint_tally rows = {0, 0};
    enum dti_status status = DTI_OK;
    for (uint64_t done = 0; done < how->is->rows && status == DTI_OK;) {
        const uint64_t left = how->is->rows - done;
        const size_t n = (size_t)(left < at_once ? left : at_once);
        status = dti_dequant_read_part(DTI_PART_OF(how, codes), scratch->raw, n * (size_t)stride,
                                       (done + 1) * how->is->row_bytes - stride, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            const unsigned char *const end = scratch->raw + (i + 1) * stride - 4;
            if (((uint32_t)dti_little_get(end, 4) & mask) != 0)
                count_one(&rows, done + i);
        }
        done += n;
    }
    return status == DTI_OK ? add_padding(lint, at, &rows, "row", reterr) : status;
}

/* For words packed down the columns: checks the last row of words. */
static enum dti_status look_at_column_ends(struct dti_lint *lint, size_t at,
                                           struct dti_lint_scratch *scratch,
                                           struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &dti_lint_quantized(lint, at)->how;
    const unsigned rest = (unsigned)(how->is->rows % 32 * how->is->bits % 32);
    const uint64_t words =
        dti_divide_up(how->is->rows % 32 * how->is->bits, 32) + how->is->rows / 32 * how->is->bits;
    struct lint_tally columns = {0, 0};
    enum dti_status status = DTI_OK;
    for (uint64_t done = 0; done < how->is->columns && rest > 0 && status == DTI_OK;) {
        const uint64_t left = how->is->columns - done, most = sizeof scratch->raw / 4;
        const size_t n = (size_t)(left < most ? left : most);
        status = dti_dequant_read_part(DTI_PART_OF(how, codes), scratch->raw, 4 * n,
                                       ((words - 1) * how->is->columns + done) * 4, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            if ((uint32_t)dti_little_get(scratch->raw + 4 * i, 4) >> rest != 0)
                count_one(&columns, done + i);
        }
        done += n;
    }
    return status == DTI_OK ? add_padding(lint, at, &columns, "column", reterr) : status;
}

/* Unused bits after the last zero point in words, which run down columns of scales or along rows.
 */
static unsigned zeros_tail(const struct dti_dequant_tensor *how)
{
    if (how->is->zero_form == DTI_ZERO_WORDS && how->is->scale_rows % (32 / how->is->bits) != 0)
        return 32 - (unsigned)(how->is->scale_rows % (32 / how->is->bits)) * how->is->bits;
    if (how->is->zero_form == DTI_ZERO_ALONG && 32 % how->is->bits == 0 &&
        how->is->scale_columns % 32 * how->is->bits % 32 != 0)
        return 32 - (unsigned)(how->is->scale_columns % 32 * how->is->bits % 32);
    return 0;
}

/* Padding may also have had 1 subtracted: from each field, or from whole words, where fields
 * borrow. */
static bool is_zero_end(const struct dti_dequant_tensor *how, uint32_t end, unsigned tail)
{
    const uint32_t mask = ~(uint32_t)0 >> (32 - tail);
    uint32_t ones = 0;
    for (unsigned i = 0; i < tail; i += how->is->bits)
        ones |= (uint32_t)1 << i;
    return end == 0 ||
           (how->is->zero_form == DTI_ZERO_ALONG &&
            (end == mask || end == ((0 - ones) & mask) || end == ((0 - ones - 1) & mask)));
}

static enum dti_status look_at_zero_ends(struct dti_lint *lint, size_t at,
                                         struct dti_lint_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &dti_lint_quantized(lint, at)->how;
    const unsigned tail = zeros_tail(how);
    const bool down = how->is->zero_form == DTI_ZERO_WORDS;
    uint64_t bad = 0;
    enum dti_status status = DTI_OK;
    if (tail == 0)
        return status;
    const struct dti_tensor *const zeros = dti_dequant_part_tensor(DTI_PART_OF(how, zeros));
    const uint64_t row = zeros->shape[zeros->rank - 1],
                   rows = zeros->rank > 1 ? zeros->shape[zeros->rank - 2] : 1;
    for (uint64_t word = 0; word < zeros->elements && status == DTI_OK;) {
        const uint64_t left = zeros->elements - word, most = sizeof scratch->raw / 4;
        const size_t n = (size_t)(left < most ? left : most);
        status =
            dti_dequant_read_part(DTI_PART_OF(how, zeros), scratch->raw, 4 * n, word * 4, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            const uint64_t place = word + i;
            const uint32_t end = (uint32_t)dti_little_get(scratch->raw + 4 * i, 4) >> (32 - tail);
            const bool last = down ? place / row % rows == rows - 1 : place % row == row - 1;
            bad += last && !is_zero_end(how, end, tail);
        }
        word += n;
    }
    if (status != DTI_OK || bad == 0)
        return status;
    return dti_lint_add(lint, DTI_LINT_PADDING, &lint->view->tensors[at], reterr,
                        "bits behind the last zero point are not 0, in %llu %ss",
                        (unsigned long long)bad, down ? "column" : "row");
}

static enum dti_status look_at_tensor(struct dti_lint *lint, size_t at,
                                      struct dti_lint_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const how = &dti_lint_quantized(lint, at)->how;
    enum dti_status status = DTI_OK;
    if (how->is->from.scales && how->is->elements > 0)
        status = look_at_scales(lint, at, scratch, reterr);
    if (status == DTI_OK)
        status = look_at_zeros(lint, at, scratch, reterr);
    if (status == DTI_OK)
        status = look_at_zero_ends(lint, at, scratch, reterr);
    if (status == DTI_OK && how->is->arrangement == DTI_CODES_DOWN &&
        how->is->matrix == how->is->rows)
        return look_at_column_ends(lint, at, scratch, reterr);
    const unsigned tail = tail_of(how);
    return status == DTI_OK && tail > 0 ? look_at_row_ends(lint, at, tail, scratch, reterr)
                                        : status;
}

static enum dti_status look_at_activations(struct dti_lint *lint, size_t at,
                                           struct dti_error *reterr)
{
    enum { AT_ONCE = 1024 };
    struct dti_file_dequant *const dequant = lint->dequant;
    const size_t stored = dequant->view.stored_at[at];
    const struct dti_tensor *const tensor = &dequant->container->tensors[stored];
    const struct dti_dequant_part part = {.container = dequant->container, .tensor = stored};
    unsigned char raw[8 * AT_ONCE];
    float numbers[AT_ONCE];
    struct lint_tally odd = {0, 0};
    if (dequant->states[stored] != DTI_DEQUANT_KEPT || !tensor->format ||
        dti_tensor_refusal(tensor) ||
        (tensor->format->id != DTI_FP32 && tensor->format->id != DTI_FP16 &&
         tensor->format->id != DTI_BF16))
        return DTI_OK;
    const struct dti_plan *const plan =
        dti_dequant_scale_plan(dequant, tensor->format, &tensor->layout);
    const size_t size = dti_format_container(tensor->format);
    enum dti_status status = plan ? DTI_OK : dti_no_memory(reterr);
    for (uint64_t done = 0; done < tensor->elements && status == DTI_OK; done += AT_ONCE) {
        const uint64_t left = tensor->elements - done;
        const size_t n = left < AT_ONCE ? (size_t)left : AT_ONCE;
        status = dti_dequant_read_part(&part, raw, n * size, done * size, reterr);
        if (status == DTI_OK)
            status = dti_plan_run(plan, numbers, raw, n, 0, DTI_STORES_CACHED, NULL, reterr);
        for (size_t i = 0; i < n && status == DTI_OK; i++) {
            if (!(numbers[i] > 0 && numbers[i] <= 3.4028235e38f))
                count_one(&odd, done + i);
        }
    }
    if (status != DTI_OK || odd.count == 0)
        return status;
    return dti_lint_add(lint, DTI_LINT_TENSOR_SCALE, tensor, reterr,
                        "it scales activations, and must be a finite number above 0");
}

/* Work shared by a team of threads. */
struct lint_work {
    struct dti_lint *lint;
    const struct dti_scan_options *options;
    atomic_size_t next;
    atomic_uint_least64_t bytes;
    atomic_bool failed;
    enum dti_status status; /* of the first failure, as is the error */
    struct dti_error error;
};

static uint64_t bytes_of(const struct dti_lint *lint, size_t at)
{
    const struct dti_dequant_form *const form = &dti_lint_quantized(lint, at)->form;
    return form->is->stored_bytes - dti_form_part(form, DTI_PART_CODES)->bytes;
}

uint64_t dti_lint_scale_bytes(const struct dti_lint *lint)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < lint->view->tensor_count; i++)
        bytes += dti_lint_wants(lint, i) ? bytes_of(lint, i) : 0;
    return bytes;
}

static void work(void *context, size_t member, size_t size)
{
    (void)size;
    struct lint_work *const mine = context;
    struct dti_lint *const lint = mine->lint;
    struct dti_lint_scratch *const scratch = dti_malloc(sizeof *scratch);
    struct dti_error error;
    enum dti_status status = scratch ? DTI_OK : dti_no_memory(&error);
    if (scratch)
        scratch->view = (struct dti_window){.way = DTI_WINDOW_COPY};
    while (status == DTI_OK && !atomic_load(&mine->failed)) {
        const size_t at = atomic_fetch_add(&mine->next, 1);
        if (at >= lint->view->tensor_count)
            break;
        if (!dti_lint_wants(lint, at))
            continue;
        status = dti_interrupted() ? dti_cancelled(&error) : DTI_OK;
        if (status != DTI_OK)
            break;
        status = look_at_tensor(lint, at, scratch, &error);
        const uint64_t done = atomic_fetch_add(&mine->bytes, bytes_of(lint, at));
        if (member == 0 && mine->options->progress)
            mine->options->progress(mine->options->progress_context, done);
    }
    if (scratch)
        dti_window_free(&scratch->view);
    dti_free(scratch);
    if (status != DTI_OK && !atomic_exchange(&mine->failed, true)) {
        mine->status = status;
        mine->error = error;
    }
}

enum dti_status dti_lint_scales(struct dti_lint *lint, const struct dti_scan_options *options,
                                struct dti_error *reterr)
{
    struct lint_work mine = {.lint = lint, .options = options, .status = DTI_OK};
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < lint->view->tensor_count && status == DTI_OK; i++)
        status = dti_lint_found(lint, i) ? dti_dequant_open(&dti_lint_found(lint, i)->how, reterr)
                                         : look_at_activations(lint, i, reterr);
    if (status != DTI_OK)
        return status;
    atomic_init(&mine.next, 0);
    atomic_init(&mine.bytes, 0);
    atomic_init(&mine.failed, false);
    if (options->team)
        dti_team_run(options->team, work, &mine);
    else
        work(&mine, 0, 1);
    if (mine.status != DTI_OK)
        *reterr = mine.error;
    return mine.status;
}
