/* SPDX-License-Identifier: MIT
 *
 * Computes numbers from codes and scales, one piece of a tensor at a time. A piece is split at row
 * ends and into chunks; the codes of a chunk are read, its scales are cached or read, and kernels
 * do the rest.
 *
 * Also reads numbers from blocks along rows whose scales are in a separate array. */
#include "files/dequant/dequant_piece.h"
#include "files/dequant/dequant_stripes.h"
#include "util/little_endian.h"

/* Expands scales that are not stored as kernels need them: one for each block of the format. */
static enum dti_status spread_scales(const struct dti_dequant_tensor *tensor,
                                     const struct dti_dequant_segment *segment, size_t blocks,
                                     struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t length = tensor->is->block->length, column = segment->column;
    const uint64_t first = dti_dequant_scale_of(&tensor->is->map, segment->row, column);
    const uint64_t last =
        dti_dequant_scale_of(&tensor->is->map, segment->row, column + (blocks - 1) * length);
    struct dti_dequant_window *const window = &scratch->window;
    const enum dti_status status =
        dti_dequant_load(tensor, window, first, last - first + 1, reterr);
    for (size_t i = 0; i < blocks && status == DTI_OK; i++) {
        const uint64_t at =
            dti_dequant_scale_of(&tensor->is->map, segment->row, column + i * length);
        dti_little_put(scratch->scales + i * sizeof(float), sizeof(float),
                       dti_dequant_bits(window->scale[at - window->first]));
    }
    return status;
}

static enum dti_status read_scales(const struct dti_dequant_tensor *tensor,
                                   const struct dti_dequant_segment *segment, size_t blocks,
                                   struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const uint64_t first = dti_dequant_scale_of(&tensor->is->map, segment->row, segment->column);
    if (tensor->is->spread)
        return spread_scales(tensor, segment, blocks, scratch, reterr);
    return dti_dequant_raw_scales(tensor, DTI_PART_OF(tensor, scales), scratch->view,
                                  scratch->scales, first, blocks, reterr);
}

/* Tensors differ in it, so that it is not a part of their method. */
static struct dti_block_recipe recipe_of(const struct dti_dequant_tensor *tensor)
{
    return (struct dti_block_recipe){
        .format = tensor->is->block,
        .tensor_scale = dti_dequant_bits(tensor->tensor_scale),
        .tensor_divisor = tensor->is->reciprocal ? 0 : dti_dequant_bits(tensor->tensor_divisor)};
}

/* Whole blocks along rows, the last of which may be short. The segment starts on a block. */
static enum dti_status read_whole_blocks(const struct dti_dequant_tensor *tensor,
                                         const struct dti_dequant_segment *segment, float *numbers,
                                         size_t n, struct dti_dequant_scratch *scratch,
                                         struct dti_error *reterr)
{
    const unsigned length = tensor->is->block->length;
    const size_t blocks = (n + length - 1) / length;
    const unsigned bits = tensor->is->order == DTI_BLOCK_BYTES ? 8 : tensor->is->bits;
    const void *codes;
    enum dti_status status = read_scales(tensor, segment, blocks, scratch, reterr);
    if (status == DTI_OK)
        status = dti_dequant_look(DTI_PART_OF(tensor, codes), scratch->view, scratch->raw,
                                  (n * bits + 7) / 8,
                                  dti_dequant_row(tensor, segment->row) +
                                      segment->column / 8 * bits + segment->column % 8 * bits / 8,
                                  &codes, reterr);
    if (status != DTI_OK)
        return status;
    const struct dti_block_recipe recipe = recipe_of(tensor);
    struct dti_block_args args = tensor->method->block_args;
    args.recipe = &recipe;
    tensor->method->kernel->run.blocks_back(&args, numbers, codes, scratch->scales, n);
    return dti_window_done(scratch->view, DTI_OK, reterr);
}

/* Reads a segment of a row of blocks; *segment is consumed. */
static enum dti_status dequant_blocks(const struct dti_dequant_tensor *tensor,
                                      struct dti_dequant_segment *segment,
                                      struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const size_t skip = (size_t)(segment->column % tensor->is->block->length);
    if (skip > 0) { /* a block that began in the previous piece */
        const size_t left = tensor->is->block->length - skip;
        const size_t n = segment->n < left ? segment->n : left;
        segment->column -= skip;
        const enum dti_status status =
            read_whole_blocks(tensor, segment, scratch->head, skip + n, scratch, reterr);
        if (status != DTI_OK)
            return status;
        memcpy(segment->numbers, scratch->head + skip, n * sizeof *segment->numbers);
        segment->column += skip + n;
        segment->numbers += n;
        segment->n -= n;
        if (segment->n == 0)
            return DTI_OK;
    }
    return read_whole_blocks(tensor, segment, segment->numbers, segment->n, scratch, reterr);
}

/* Sets up the kernel for blocks along rows. */
static void dequant_init_blocks(struct dti_dequant_method *ret,
                                const struct dti_dequant_tensor *tensor)
{
    const struct dti_block_recipe recipe = recipe_of(tensor);
    const unsigned bits = tensor->is->order == DTI_BLOCK_BYTES ? 8 : tensor->is->bits;
    ret->block_args = (struct dti_block_args){
        .recipe = &recipe, /* until the kernel is chosen, which depends on its format alone */
        .parts = tensor->is->parts,
        .order = tensor->is->order,
        .code_stride = tensor->is->block->length * bits / 8,
        .scale_stride = dti_format_container(dti_format_get(tensor->is->block->scale)),
    };
    ret->kernel = dti_quant_find_blocks(true, &ret->block_args, tensor->is->level);
    ret->block_args.recipe = NULL;
}

/* One scale per element, or per group of elements. */
static void run_affine(const struct dti_dequant_tensor *tensor,
                       const struct dti_dequant_segment *segment, const unsigned char *codes,
                       const float *scale, const int32_t *zero)
{
    const struct dti_scale_map *const map = &tensor->is->map;
    struct dti_affine_args args = tensor->method->affine_args;
    const size_t container = dti_dequant_code_bytes(tensor);
    if (map->of_column > 0 && map->group_columns == 1) {
        args.scales = args.inverses = scale; /* inverses are ignored */
        args.zero_points = zero;
        tensor->method->kernel->run.affine_back(&args, segment->numbers, codes, segment->n);
        return;
    }
    for (size_t done = 0; done < segment->n;) {
        size_t n = segment->n - done;
        if (map->of_column > 0) {
            const uint64_t left =
                map->group_columns - (segment->column + done) % map->group_columns;
            n = left < n ? (size_t)left : n;
        }
        args.scale = *scale++;
        if (zero)
            args.zero_point = *zero++;
        tensor->method->kernel->run.affine_back(&args, segment->numbers + done,
                                                codes + done * container, n);
        done += n;
    }
}

/* One scale and bias per group; the first group may have begun earlier. */
static void run_biased(const struct dti_dequant_tensor *tensor,
                       const struct dti_dequant_segment *segment, const unsigned char *codes,
                       const float *scale, const float *bias)
{
    const size_t group = (size_t)tensor->is->map.group_columns;
    const size_t skip = (size_t)(segment->column % group);
    const size_t head = skip == 0 ? 0 : segment->n < group - skip ? segment->n : group - skip;
    struct dti_biased_args args = {
        .number = tensor->is->number, .group = group, .scales = scale, .biases = bias};
    tensor->method->kernel->run.biased_back(&args, segment->numbers, codes, head);
    args.scales += skip > 0;
    args.biases += skip > 0;
    tensor->method->kernel->run.biased_back(&args, segment->numbers + head, codes + head,
                                            segment->n - head);
}

/* Blocks that do not run along rows, with a scale for each element; or whose length is not the
 * format's. */
static void run_table(const struct dti_dequant_tensor *tensor,
                      const struct dti_dequant_segment *segment, const unsigned char *codes,
                      const float *scale)
{
    const float *const numbers = tensor->is->parts->numbers;
    const uint64_t group = tensor->is->map.group_columns, skip = segment->column % group;
    for (size_t i = 0; i < segment->n; i++)
        segment->numbers[i] = numbers[codes[i]] * scale[group > 1 ? (skip + i) / group : i];
}

/* Codes of a row whose columns are assigned to groups in any order. */
static enum dti_status run_ordered(const struct dti_dequant_tensor *tensor,
                                   const struct dti_dequant_segment *segment,
                                   const unsigned char *codes, struct dti_dequant_window *window,
                                   struct dti_error *reterr)
{
    enum { AT_ONCE = 1024 };
    const uint64_t groups = tensor->is->scale_columns, first = segment->row * groups;
    const bool zeros = tensor->is->zero_form != DTI_ZERO_NONE;
    struct dti_affine_args args = tensor->method->affine_args;
    const enum dti_status status = dti_dequant_load(tensor, window, first, groups, reterr);
    if (status != DTI_OK)
        return status;
    const size_t at = (size_t)(first - window->first);
    for (size_t done = 0, n; done < segment->n; done += n) {
        const uint16_t *const order = tensor->is->map.column_of + segment->column + done;
        float scale[AT_ONCE];
        int32_t zero[AT_ONCE];
        n = segment->n - done < AT_ONCE ? segment->n - done : AT_ONCE;
        for (size_t i = 0; i < n; i++) {
            scale[i] = window->scale[at + order[i]];
            zero[i] = zeros ? window->zero[at + order[i]] : 0;
        }
        args.scales = args.inverses = scale; /* inverses are ignored */
        args.zero_points = zeros ? zero : NULL;
        tensor->method->kernel->run.affine_back(&args, segment->numbers + done,
                                                codes + done * dti_dequant_code_bytes(tensor), n);
    }
    return DTI_OK;
}

static enum dti_status run_segment(const struct dti_dequant_tensor *tensor,
                                   const struct dti_dequant_segment *segment,
                                   const unsigned char *codes, struct dti_dequant_window *window,
                                   struct dti_error *reterr)
{
    if (tensor->is->map.column_of)
        return run_ordered(tensor, segment, codes, window, reterr);
    const uint64_t first = dti_dequant_scale_of(&tensor->is->map, segment->row, segment->column);
    const uint64_t last =
        dti_dequant_scale_of(&tensor->is->map, segment->row, segment->column + segment->n - 1);
    const enum dti_status status =
        dti_dequant_load(tensor, window, first, last - first + 1, reterr);
    if (status != DTI_OK)
        return status;
    const size_t at = (size_t)(first - window->first);
    if (tensor->is->block)
        run_table(tensor, segment, codes, window->scale + at);
    else if (tensor->is->from.biases)
        run_biased(tensor, segment, codes, window->scale + at, window->bias + at);
    else
        run_affine(tensor, segment, codes, window->scale + at,
                   tensor->is->zero_form == DTI_ZERO_NONE ? NULL : window->zero + at);
    return DTI_OK;
}

static enum dti_status read_by_scales(const struct dti_dequant_tensor *tensor, uint64_t first,
                                      size_t n, float *numbers, struct dti_dequant_scratch *scratch,
                                      struct dti_error *reterr)
{
    const size_t container = dti_dequant_code_bytes(tensor);
    const unsigned char *codes = NULL;
    enum dti_status status = dti_dequant_codes(tensor, first, n, scratch, &codes, reterr);
    if (status != DTI_OK)
        return status;
    for (size_t done = 0; done < n && status == DTI_OK;) {
        struct dti_dequant_segment segment = {.row = (first + done) / tensor->is->columns,
                                              .column = (first + done) % tensor->is->columns,
                                              .n = n - done,
                                              .numbers = numbers + done};
        if (segment.n > tensor->is->columns - segment.column)
            segment.n = (size_t)(tensor->is->columns - segment.column);
        status = run_segment(tensor, &segment, codes + done * container, &scratch->window, reterr);
        done += segment.n;
    }
    return dti_window_done(scratch->view, status, reterr);
}

/* Normalizes NaNs: scales may contain any NaN, and the sign of 0 x inf depends on the machine. */
static void make_nans_alike(float *numbers, size_t n)
{
    static const uint32_t nan = UINT32_C(0x7fc00000);
    for (size_t i = 0; i < n; i++) {
        if (dti_dequant_bits(numbers[i]) << 1 > UINT32_C(0xFF000000))
            memcpy(&numbers[i], &nan, sizeof nan);
    }
}

/* Counts NaNs and infinities among the numbers, unless counts is NULL, and normalizes the NaNs. */
static void look_for_specials(const struct dti_dequant_tensor *tensor,
                              struct dti_dequant_counts *counts, float *numbers, size_t n)
{
    struct dti_range range;
    dti_range_init(&range);
    tensor->method->range->run.range(numbers, n, &range);
    if (range.nan > 0)
        make_nans_alike(numbers, n);
    if (counts && range.nan > 0)
        atomic_fetch_add_explicit(&counts->nan, range.nan, memory_order_relaxed);
    if (counts && range.inf > 0)
        atomic_fetch_add_explicit(&counts->inf, range.inf, memory_order_relaxed);
}

/* How many of n elements to read at once: up to the end of their row where rows matter. */
static size_t within_row(const struct dti_dequant_tensor *tensor, uint64_t first, size_t n)
{
    const uint64_t left = tensor->is->columns - first % tensor->is->columns;
    const bool rows =
        tensor->is->rotation > 0 ||
        (!tensor->is->gguf && (dti_dequant_along(tensor) || !dti_dequant_is_flat(tensor)));
    return rows && left < n ? (size_t)left : n;
}

static enum dti_status read_chunk(const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                  float *numbers, struct dti_dequant_scratch *scratch,
                                  struct dti_error *reterr)
{
    struct dti_dequant_segment segment = {.row = first / tensor->is->columns,
                                          .column = first % tensor->is->columns,
                                          .n = n,
                                          .numbers = numbers};
    if (tensor->is->gguf)
        return dti_dequant_gguf_read(tensor, &segment, scratch, reterr);
    if (tensor->is->rotation > 0)
        return dti_dequant_rotated_read(tensor, &segment, scratch, reterr);
    if (dti_dequant_along(tensor))
        return dequant_blocks(tensor, &segment, scratch, reterr);
    return read_by_scales(tensor, first, n, numbers, scratch, reterr);
}

static void multiply(float *numbers, size_t n, float factor)
{
    for (size_t i = 0; i < n; i++)
        numbers[i] *= factor;
}

/* Rounds to a dtype and back to fp32. */
static enum dti_status round_numbers(const struct dti_dequant_tensor *tensor, float *numbers,
                                     size_t n, struct dti_error *reterr)
{
    uint16_t narrow[DTI_TILE]; /* fp16 or bf16 */
    enum dti_status status = DTI_OK;
    for (size_t done = 0; done < n && status == DTI_OK; done += DTI_TILE) {
        const size_t some = n - done < DTI_TILE ? n - done : DTI_TILE;
        status = dti_plan_run(tensor->is->narrow, narrow, numbers + done, some, 0,
                              DTI_STORES_CACHED, NULL, reterr);
        if (status == DTI_OK)
            status = dti_plan_run(tensor->is->widen, numbers + done, narrow, some, 0,
                                  DTI_STORES_CACHED, NULL, reterr);
    }
    return status;
}

static enum dti_status read_piece(const struct dti_dequant_tensor *tensor,
                                  struct dti_dequant_counts *counts, void *buffer, size_t size,
                                  uint64_t offset, struct dti_window *window,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    float *const numbers = buffer;
    const uint64_t first = offset / sizeof *numbers;
    const size_t n = size / sizeof *numbers;
    enum dti_status status = DTI_OK;
    scratch->view = window;
    scratch->window.count = 0;
    for (size_t done = 0; done < n && status == DTI_OK;) {
        const uint64_t at = first + done;
        const size_t some = n - done < DTI_DEQUANT_CHUNK ? n - done : DTI_DEQUANT_CHUNK;
        const size_t taken = tensor->is->matrix > 0 ? some : within_row(tensor, at, some);
        if (tensor->is->matrix > 0)
            status = dti_stripes_read(tensor->is->stripes, tensor, at, taken, numbers + done,
                                      scratch, reterr);
        else
            status = read_chunk(tensor, at, taken, numbers + done, scratch, reterr);
        if (status == DTI_OK && tensor->is->factor != 1)
            multiply(numbers + done, taken, tensor->is->factor);
        if (status == DTI_OK && tensor->is->narrow)
            status = round_numbers(tensor, numbers + done, taken, reterr);
        if (status == DTI_OK)
            look_for_specials(tensor, counts, numbers + done, taken);
        done += taken;
    }
    return status;
}

/* Callbacks for the batch. */
static enum dti_status read_numbers(void *context, void *buffer, size_t size, uint64_t offset,
                                    struct dti_window *window, void *scratch,
                                    struct dti_error *reterr)
{
    return read_piece(context, NULL, buffer, size, offset, window, scratch, reterr);
}

static enum dti_status read_counted(void *context, void *buffer, size_t size, uint64_t offset,
                                    struct dti_window *window, void *scratch,
                                    struct dti_error *reterr)
{
    struct dti_dequant_counts *const counts = context;
    return read_piece(counts->of, counts, buffer, size, offset, window, scratch, reterr);
}

/* Whether each element has its own scale in memory. */
static bool has_each(const struct dti_dequant_tensor *tensor)
{
    return tensor->is->matrix > 0
               ? dti_stripes_spread(&tensor->is->map)
               : tensor->is->map.of_column > 0 && tensor->is->map.group_columns == 1;
}

/* Whether codes are unpacked before their numbers are computed. */
static bool has_packed(const struct dti_dequant_tensor *tensor)
{
    return !dti_dequant_along(tensor) && tensor->is->bits < 8 &&
           (tensor->is->order != DTI_BLOCK_BYTES || tensor->is->arrangement != DTI_CODES_ALONG);
}

static bool has_biases(const struct dti_dequant_tensor *tensor)
{
    return tensor->is->from.biases != NULL;
}

/* Whether numbers of blocks are decoded one by one, each with its own scale: those of transposed
 * matrices. */
static bool has_floats(const struct dti_dequant_tensor *tensor)
{
    return tensor->is->block && tensor->is->matrix > 0 &&
           dti_format_is_float(dti_format_get(tensor->is->block->code));
}

static bool is_same_affine(const struct dti_affine *one, const struct dti_affine *other)
{
    return strcmp(one->code.name, other->code.name) == 0 && one->low == other->low &&
           one->high == other->high && one->division == other->division &&
           one->specials == other->specials;
}

bool dti_dequant_is_alike(const struct dti_dequant_tensor *one,
                          const struct dti_dequant_tensor *other)
{
    return one->is->block == other->is->block && one->is->gguf == other->is->gguf &&
           one->is->parts == other->is->parts && one->is->bits == other->is->bits &&
           one->is->order == other->is->order && one->is->zero_offset == other->is->zero_offset &&
           one->is->level == other->is->level && has_each(one) == has_each(other) &&
           dti_dequant_along(one) == dti_dequant_along(other) &&
           has_packed(one) == has_packed(other) && has_biases(one) == has_biases(other) &&
           has_floats(one) == has_floats(other) &&
           is_same_affine(&one->is->affine, &other->is->affine);
}

static void init_affine(struct dti_dequant_method *ret, const struct dti_dequant_tensor *tensor)
{
    static const float some = 1;
    ret->affine = tensor->is->affine;
    if (tensor->is->block)
        ret->affine.code = *dti_format_get(tensor->is->block->code);
    dti_decoder_init(&ret->decoder, &ret->affine.code);
    ret->affine_args = (struct dti_affine_args){
        .affine = &ret->affine,
        .decoder = dti_format_is_float(&ret->affine.code) ? &ret->decoder : NULL,
        .scale = 1,
        .inverse = 1,
        .zero_point = tensor->is->zero_offset,
        .scales = has_each(tensor) ? &some : NULL,
    };
    ret->kernel = dti_quant_find_affine(true, &ret->affine_args, tensor->is->level);
}

void dti_dequant_method_init(struct dti_dequant_method *ret,
                             const struct dti_dequant_tensor *tensor)
{
    memset(ret, 0, sizeof *ret);
    ret->range = dti_quant_find_range(false, tensor->is->level);
    ret->rotate = dti_quant_find_rotate(true, tensor->is->level);
    if (tensor->is->gguf)
        ret->decode = dti_gguf_find(tensor->is->gguf->blocks, tensor->is->level);
    else if (dti_dequant_along(tensor))
        dequant_init_blocks(ret, tensor);
    else if (has_biases(tensor))
        ret->kernel = dti_quant_find_biased(true, tensor->is->level);
    else if (!tensor->is->block || has_floats(tensor))
        init_affine(ret, tensor);
    if (has_packed(tensor)) {
        ret->unpack_args = (struct dti_kernel_args){
            .bits = tensor->is->bits, .high_first = tensor->is->order == DTI_BLOCK_HIGH};
        ret->unpack = dti_kernel_find(DTI_OP_UNPACK, &ret->unpack_args, tensor->is->level);
    }
}

struct dti_batch_source dti_dequant_counted(const struct dti_dequant_tensor *tensor,
                                            struct dti_dequant_counts *counts)
{
    struct dti_batch_source source = dti_dequant_source(tensor);
    counts->of = tensor;
    source.read = read_counted;
    source.context = counts;
    return source;
}

struct dti_batch_source dti_dequant_source(const struct dti_dequant_tensor *tensor)
{
    return (struct dti_batch_source){
        .read = read_numbers,
        .context = (void *)(uintptr_t)tensor,
        .scratch_bytes = sizeof(struct dti_dequant_scratch) +
                         (tensor->is->matrix > 0 ? (size_t)DTI_STRIPE_SCRATCH : 0),
    };
}

static enum dti_status open_part(const struct dti_dequant_part *part, struct dti_error *reterr)
{
    const struct dti_input *input;
    uint64_t offset;
    if (!part->container)
        return DTI_OK;
    return dti_container_data(part->container, part->tensor, &input, &offset, reterr);
}

enum dti_status dti_dequant_open(struct dti_dequant_tensor *tensor, struct dti_error *reterr)
{
    enum dti_status status = open_part(DTI_PART_OF(tensor, codes), reterr);
    if (status == DTI_OK)
        status = open_part(DTI_PART_OF(tensor, scales), reterr);
    if (status == DTI_OK)
        status = open_part(DTI_PART_OF(tensor, biases), reterr);
    if (status == DTI_OK && tensor->nested)
        status = open_part(&tensor->nested->scales, reterr);
    return status == DTI_OK ? open_part(DTI_PART_OF(tensor, zeros), reterr) : status;
}
