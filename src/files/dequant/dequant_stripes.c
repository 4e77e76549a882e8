/* SPDX-License-Identifier: MIT
 *
 * Stripes of transposed matrices: see dequant_stripes.h.
 *
 * Produces numbers from the codes in a stripe, or the codes themselves, one per byte. */
#include "files/dequant/dequant_stripes.h"

#include <stdlib.h>
#include <string.h>

#include "util/checked.h"
#include "util/run/allocate.h"

void dti_stripes_init(struct dti_stripes *stripes)
{
    memset(stripes, 0, sizeof *stripes);
    stripes->room = DTI_STRIPE_ROOM;
    (void)pthread_mutex_init(&stripes->mutex, NULL);
    (void)pthread_cond_init(&stripes->changed, NULL);
}

static void forget(struct dti_stripe *stripe)
{
    dti_free(stripe->codes);
    dti_free(stripe->scales);
    dti_free(stripe->zeros);
    *stripe = (struct dti_stripe){.tensor = NULL};
}

/* Reuses the memory of the previous stripe: page faults on new memory cost as much as reading. */
static bool make_room(void *memory, size_t *room, size_t size)
{
    void **const at = memory;
    if (*at && *room >= size)
        return true;
    dti_free(*at);
    *at = dti_malloc(size);
    *room = *at ? size : 0;
    return *at != NULL;
}

void dti_stripes_free(struct dti_stripes *stripes)
{
    for (unsigned i = 0; i < DTI_STRIPES; i++)
        forget(&stripes->list[i]);
    (void)pthread_cond_destroy(&stripes->changed);
    (void)pthread_mutex_destroy(&stripes->mutex);
}

/* The group of a stored row, within its matrix. */
static uint64_t group_of(const struct dti_dequant_tensor *tensor, uint64_t row)
{
    const uint64_t place = row % tensor->is->matrix;
    return tensor->is->map.group_of ? tensor->is->map.group_of[place]
                                    : place / tensor->is->map.group_rows;
}

/* The most rows of eight columns that fit, with their scales; a multiple of 32, for whole words. */
static uint64_t tallest(const struct dti_stripes *stripes, const struct dti_scale_map *map,
                        unsigned bits, bool scales)
{
    const uint64_t codes = stripes->room / bits;
    const bool many = scales && !map->group_of && map->group_rows < 128 / bits;
    const uint64_t rows = many ? stripes->room / 128 * map->group_rows : codes;
    return rows > 32 ? rows / 32 * 32 : 32;
}

/* The stripe that contains an element. Its columns are a multiple of 64, for whole words and
 * blocks, or of 8 if fewer fit. */
static struct dti_stripe stripe_of(const struct dti_stripes *stripes,
                                   const struct dti_dequant_tensor *tensor, bool with_scales,
                                   uint64_t row, uint64_t column)
{
    const struct dti_scale_map *const map = &tensor->is->map;
    const unsigned bits = dti_dequant_word_bits(tensor);
    const uint64_t highest = tallest(stripes, map, bits, with_scales);
    const uint64_t tall = tensor->is->matrix < highest ? tensor->is->matrix : highest;
    const uint64_t groups = map->group_of ? tensor->is->scale_rows : tall / map->group_rows + 1;
    const uint64_t by_codes = stripes->room / 4 / dti_divide_up(tall * bits, 32);
    const uint64_t scales = groups > 0 ? stripes->room / 16 / groups : by_codes;
    const uint64_t by_scales =
        with_scales && scales < by_codes ? scales * map->group_columns : by_codes;
    uint64_t columns = by_codes < by_scales ? by_codes : by_scales;
    columns = columns > DTI_STRIPE_WIDEST ? DTI_STRIPE_WIDEST : columns;
    columns = columns >= 64 ? columns / 64 * 64 : columns >= 8 ? columns / 8 * 8 : 8;
    const uint64_t begin = row / tensor->is->matrix * tensor->is->matrix;
    struct dti_stripe stripe = {.tensor = tensor,
                                .row = begin + (row - begin) / tall * tall,
                                .column = column / columns * columns,
                                .bits = bits};
    const uint64_t down = begin + tensor->is->matrix - stripe.row;
    const uint64_t right = tensor->is->columns - stripe.column;
    stripe.rows = (size_t)(down < tall ? down : tall);
    stripe.columns = (size_t)(right < columns ? right : columns);
    stripe.words = (size_t)dti_divide_up((uint64_t)stripe.rows * bits, 32);
    if (!with_scales)
        return stripe;
    const uint64_t last = stripe.column + stripe.columns - 1;
    stripe.group = map->group_of ? 0 : group_of(tensor, stripe.row);
    stripe.groups =
        (size_t)(map->group_of ? groups
                               : group_of(tensor, stripe.row + stripe.rows - 1) - stripe.group + 1);
    stripe.scale_column = stripe.column / map->group_columns;
    stripe.scale_columns = (size_t)(last / map->group_columns - stripe.scale_column + 1);
    return stripe;
}

static bool is_same(const struct dti_stripe *a, const struct dti_stripe *b)
{
    return a->tensor == b->tensor && a->row == b->row && a->column == b->column &&
           (a->groups > 0) == (b->groups > 0);
}

/* The stripe itself, or the least recently used one without users; NULL: all others are in use. */
static struct dti_stripe *find(struct dti_stripes *stripes, const struct dti_stripe *wanted)
{
    struct dti_stripe *oldest = NULL;
    for (unsigned i = 0; i < DTI_STRIPES; i++) {
        struct dti_stripe *const stripe = &stripes->list[i];
        if (!stripe->failed && is_same(stripe, wanted))
            return stripe;
        if (stripe->users == 0 && (!oldest || stripe->used < oldest->used))
            oldest = stripe;
    }
    return oldest;
}

/* Replaces a stripe with another. */
static bool occupy(struct dti_stripe *stripe, const struct dti_stripe *wanted)
{
    const size_t scales = wanted->groups * wanted->scale_columns; /* at most as many as codes, or
                                                                   * few */
    const bool zeros = wanted->tensor->is->zero_form != DTI_ZERO_NONE;
    struct dti_stripe old = *stripe;
    *stripe = *wanted;
    stripe->codes = old.codes;
    stripe->codes_room = old.codes_room;
    stripe->scales = old.scales;
    stripe->scales_room = old.scales_room;
    stripe->zeros = old.zeros;
    stripe->zeros_room = old.zeros_room;
    return make_room(&stripe->codes, &stripe->codes_room, stripe->columns * stripe->words * 4) &&
           (scales == 0 ||
            make_room(&stripe->scales, &stripe->scales_room, scales * sizeof *stripe->scales)) &&
           (scales == 0 || !zeros ||
            make_room(&stripe->zeros, &stripe->zeros_room, scales * sizeof *stripe->zeros));
}

/* Call with the mutex held. */
static enum dti_status enter(struct dti_stripes *stripes, const struct dti_stripe *wanted,
                             struct dti_stripe **ret, struct dti_error *reterr)
{
    struct dti_stripe *stripe;
    while (!(stripe = find(stripes, wanted)))
        (void)pthread_cond_wait(&stripes->changed, &stripes->mutex);
    if (stripe->failed || !is_same(stripe, wanted)) {
        if (!occupy(stripe, wanted)) {
            forget(stripe);
            return dti_no_memory(reterr);
        }
    }
    stripe->users++;
    stripe->used = ++stripes->clock;
    *ret = stripe;
    return DTI_OK;
}

/* Transposes rows of n words into columns, in squares, so that whole cache lines go in and out; a
 * copy of constant length compiles to a few moves. */
static void turn(const struct dti_stripe *stripe, size_t first, size_t n,
                 const unsigned char *words)
{
    enum { SIDE = 16 };
    unsigned char square[SIDE][4 * DTI_STRIPE_WORDS];
    for (size_t column = 0; column < stripe->columns; column += SIDE) {
        const size_t left = stripe->columns - column, width = left < SIDE ? left : SIDE;
        for (size_t i = 0; i < n; i++) {
            for (size_t j = 0; j < width; j++)
                memcpy(square[j] + 4 * i, words + (i * stripe->columns + column + j) * 4, 4);
        }
        for (size_t j = 0; j < width; j++) {
            unsigned char *const to = stripe->codes + ((column + j) * stripe->words + first) * 4;
            if (n == DTI_STRIPE_WORDS)
                memcpy(to, square[j], sizeof square[j]);
            else
                memcpy(to, square[j], 4 * n);
        }
    }
}

static enum dti_status load_codes(const struct dti_stripe *stripe, size_t first, size_t count,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    unsigned char *const words = (unsigned char *)(scratch + 1);
    const struct dti_word_rows rows = {.row = stripe->row,
                                       .column = stripe->column,
                                       .rows = stripe->rows,
                                       .columns = stripe->columns,
                                       .first = first,
                                       .n = count};
    const enum dti_status status = dti_dequant_words(stripe->tensor, &rows, words, scratch, reterr);
    if (status == DTI_OK)
        turn(stripe, first, count, words);
    return status;
}

/* Transposes rows of scales into columns. */
static void put_scales(const struct dti_stripe *stripe, const float *scale, const int32_t *zero,
                       size_t first, size_t rows)
{
    const size_t step = (size_t)stripe->tensor->is->map.of_length;
    const bool zeros = stripe->tensor->is->zero_form != DTI_ZERO_NONE;
    for (size_t k = 0; k < stripe->scale_columns; k++) {
        const size_t to = k * stripe->groups + first;
        for (size_t i = 0; i < rows; i++)
            stripe->scales[to + i] = scale[i * step + k];
        for (size_t i = 0; i < rows && zeros; i++)
            stripe->zeros[to + i] = zero[i * step + k];
    }
}

static enum dti_status load_scales(const struct dti_stripe *stripe, size_t first, size_t count,
                                   struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    const struct dti_scale_map *const map = &tensor->is->map;
    struct dti_dequant_window *const window = &scratch->window;
    const uint64_t outer = stripe->row / tensor->is->matrix * map->of_outer;
    const size_t n = stripe->scale_columns;
    /* rows to read at once, including the gaps between them */
    const uint64_t fit = n <= map->of_length && map->of_length <= 2 * n && map->of_column == 1
                             ? DTI_DEQUANT_WINDOW / map->of_length
                             : 1;
    for (size_t done = 0; done < count;) {
        const size_t rows = count - done < fit ? count - done : fit > 1 ? (size_t)fit : 1;
        const uint64_t from = outer + (stripe->group + first + done) * map->of_length +
                              stripe->scale_column * map->of_column;
        const enum dti_status status =
            dti_dequant_load(tensor, window, from, (rows - 1) * map->of_length + n, reterr);
        if (status != DTI_OK)
            return status;
        const size_t at = (size_t)(from - window->first), to = first + done;
        put_scales(stripe, window->scale + at, window->zero + at, to, rows);
        done += rows;
    }
    return DTI_OK;
}

static size_t pieces_of(size_t rows)
{
    return (rows + DTI_STRIPE_WORDS - 1) / DTI_STRIPE_WORDS;
}

/* Loads a work item: some rows of words or of scales. */
static enum dti_status load_piece(const struct dti_stripe *stripe, size_t piece,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const size_t of_codes = pieces_of(stripe->words);
    const bool codes = piece < of_codes;
    const size_t first = (codes ? piece : piece - of_codes) * DTI_STRIPE_WORDS;
    const size_t left = (codes ? stripe->words : stripe->groups) - first;
    const size_t count = left < DTI_STRIPE_WORDS ? left : DTI_STRIPE_WORDS;
    return codes ? load_codes(stripe, first, count, scratch, reterr)
                 : load_scales(stripe, first, count, scratch, reterr);
}

/* Loads pieces as long as there are any, then waits for those that other threads load. Call with
 * the mutex held; it is released in between. */
static enum dti_status load(struct dti_stripes *stripes, struct dti_stripe *stripe,
                            struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const size_t pieces = pieces_of(stripe->words) + pieces_of(stripe->groups);
    enum dti_status status = DTI_OK;
    while (!stripe->failed && stripe->next < pieces) {
        const size_t piece = stripe->next++;
        (void)pthread_mutex_unlock(&stripes->mutex);
        status = load_piece(stripe, piece, scratch, reterr);
        (void)pthread_mutex_lock(&stripes->mutex);
        stripe->loaded++;
        if (status != DTI_OK)
            stripe->failed = true;
        if (stripe->failed || stripe->loaded == pieces)
            (void)pthread_cond_broadcast(&stripes->changed);
    }
    while (!stripe->failed && stripe->loaded < pieces)
        (void)pthread_cond_wait(&stripes->changed, &stripes->mutex);
    return status;
}

/* Processes the codes within a stripe. If another thread failed to load it, this thread retries and
 * gets the error itself. */
static enum dti_status read_run(struct dti_stripes *stripes, const struct dti_stripe *wanted,
                                const struct dti_stripe_use *use, uint64_t row, uint64_t column,
                                size_t n, void *to, struct dti_dequant_scratch *scratch,
                                struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    bool there = false;
    (void)pthread_mutex_lock(&stripes->mutex);
    while (status == DTI_OK && !there) {
        struct dti_stripe *stripe = NULL;
        status = enter(stripes, wanted, &stripe, reterr);
        if (status != DTI_OK)
            break;
        status = load(stripes, stripe, scratch, reterr);
        there = status == DTI_OK && !stripe->failed;
        if (there) {
            (void)pthread_mutex_unlock(&stripes->mutex);
            use->make(stripe, (size_t)(row - stripe->row), (size_t)(column - stripe->column), n, to,
                      scratch);
            (void)pthread_mutex_lock(&stripes->mutex);
        }
        if (--stripe->users == 0)
            (void)pthread_cond_broadcast(&stripes->changed);
    }
    (void)pthread_mutex_unlock(&stripes->mutex);
    return status;
}

/* Processes n codes of a tensor with how.matrix > 0, from `first` on, in the order in which it is
 * shown; n <= DTI_DEQUANT_CHUNK. Thread-safe; each thread needs its own scratch, followed by
 * DTI_STRIPE_SCRATCH bytes. */
static enum dti_status stripes_walk(struct dti_stripes *stripes,
                                    const struct dti_dequant_tensor *tensor,
                                    const struct dti_stripe_use *use, uint64_t first, size_t n,
                                    void *to, struct dti_dequant_scratch *scratch,
                                    struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t done = 0; done < n && status == DTI_OK;) {
        const uint64_t at = first + done, column = at / tensor->is->matrix % tensor->is->columns;
        const uint64_t row = at / tensor->is->matrix / tensor->is->columns * tensor->is->matrix +
                             at % tensor->is->matrix;
        const struct dti_stripe wanted = stripe_of(stripes, tensor, use->scales, row, column);
        uint64_t left = wanted.row + wanted.rows - row;
        if (wanted.rows == tensor->is->matrix) /* its columns are contiguous */
            left += (wanted.column + wanted.columns - 1 - column) * wanted.rows;
        const size_t some = n - done < left ? n - done : (size_t)left;
        status = read_run(stripes, &wanted, use, row, column, some,
                          (unsigned char *)to + done * use->size, scratch, reterr);
        done += some;
    }
    return status;
}

/* n codes of a column, from a row of the stripe on, one per byte. */
static const unsigned char *codes_of(const struct dti_stripe *stripe, size_t row, size_t column,
                                     size_t n, struct dti_dequant_scratch *scratch)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    const unsigned char *const words = stripe->codes + column * stripe->words * 4;
    const size_t skip = row % 8;
    if (stripe->bits == 8)
        return words + row;
    tensor->method->unpack->run(&tensor->method->unpack_args, scratch->codes,
                                words + row / 8 * stripe->bits, skip + n);
    dti_dequant_flip(tensor, scratch->codes + skip, n);
    return scratch->codes + skip;
}

/* Expands the scales and zero points of a column's groups to one per row, for n rows. zeros: NULL
 * if there are none. */
static void spread(const struct dti_stripe *stripe, uint64_t place, const float *restrict scales,
                   const int32_t *restrict zeros, size_t n, float *restrict scale,
                   int32_t *restrict zero)
{
    const struct dti_scale_map *const map = &stripe->tensor->is->map;
    for (size_t i = 0; i < n; i++) {
        const size_t group = map->group_of
                                 ? map->group_of[place + i]
                                 : (size_t)((place + i) / map->group_rows - stripe->group);
        scale[i] = scales[group];
        if (zeros)
            zero[i] = zeros[group];
    }
}

/* Computes n numbers of a column with a scale each. scales, zeros: those of the column. */
static void compute_each(const struct dti_stripe *stripe, uint64_t place, const float *scales,
                         const int32_t *zeros, const unsigned char *codes, size_t n, float *numbers,
                         struct dti_dequant_scratch *scratch)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    const struct dti_scale_map *const map = &tensor->is->map;
    struct dti_dequant_window *const window = &scratch->window;
    const float *scale = window->scale;
    if (!map->group_of && map->group_rows == 1 && !zeros) {
        scale = scales + (place - stripe->group);
    } else {
        window->count = 0; /* its memory is reused */
        spread(stripe, place, scales, zeros, n, window->scale, window->zero);
    }
    if (!tensor->method->kernel) { /* codes from a table */
        for (size_t i = 0; i < n; i++)
            numbers[i] = tensor->is->parts->numbers[codes[i]] * scale[i];
        return;
    }
    struct dti_affine_args args = tensor->method->affine_args;
    args.scales = args.inverses = scale; /* inverses are ignored */
    args.zero_points = zeros ? window->zero : NULL;
    tensor->method->kernel->run.affine_back(&args, numbers, codes, n);
}

/* Same, group by group. */
static void compute_groups(const struct dti_stripe *stripe, uint64_t place, const float *scales,
                           const int32_t *zeros, const unsigned char *codes, size_t n,
                           float *numbers)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    const uint64_t length = tensor->is->map.group_rows;
    struct dti_affine_args args = tensor->method->affine_args;
    for (size_t done = 0; done < n;) {
        const uint64_t left = length - (place + done) % length;
        const size_t run = n - done < left ? n - done : (size_t)left;
        const size_t group = (size_t)((place + done) / length - stripe->group);
        args.scale = args.inverse = scales[group];
        args.zero_point = zeros ? zeros[group] : tensor->is->zero_offset;
        if (!tensor->method->kernel) {
            for (size_t i = done; i < done + run; i++)
                numbers[i] = tensor->is->parts->numbers[codes[i]] * args.scale;
        } else {
            tensor->method->kernel->run.affine_back(&args, numbers + done, codes + done, run);
        }
        done += run;
    }
}

static void make_numbers(const struct dti_stripe *stripe, size_t row, size_t column, size_t n,
                         void *to, struct dti_dequant_scratch *scratch)
{
    float *const numbers = to;
    const struct dti_scale_map *const map = &stripe->tensor->is->map;
    const bool each = dti_stripes_spread(map);
    const bool has_zeros = stripe->tensor->is->zero_form != DTI_ZERO_NONE;
    for (size_t done = 0; done < n; row = 0, column++) {
        const size_t left = stripe->rows - row, some = n - done < left ? n - done : left;
        const size_t at =
            (size_t)((stripe->column + column) / map->group_columns - stripe->scale_column) *
            stripe->groups;
        const uint64_t place = (stripe->row + row) % stripe->tensor->is->matrix;
        const unsigned char *const codes = codes_of(stripe, row, column, some, scratch);
        const int32_t *const zeros = has_zeros ? stripe->zeros + at : NULL;
        if (each)
            compute_each(stripe, place, stripe->scales + at, zeros, codes, some, numbers + done,
                         scratch);
        else
            compute_groups(stripe, place, stripe->scales + at, zeros, codes, some, numbers + done);
        done += some;
    }
}

enum dti_status dti_stripes_read(struct dti_stripes *stripes,
                                 const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                 float *numbers, struct dti_dequant_scratch *scratch,
                                 struct dti_error *reterr)
{
    static const struct dti_stripe_use use = {
        .scales = true, .size = sizeof *numbers, .make = make_numbers};
    return stripes_walk(stripes, tensor, &use, first, n, numbers, scratch, reterr);
}

static void make_codes(const struct dti_stripe *stripe, size_t row, size_t column, size_t n,
                       void *to, struct dti_dequant_scratch *scratch)
{
    unsigned char *const codes = to;
    for (size_t done = 0; done < n; row = 0, column++) {
        const size_t left = stripe->rows - row, some = n - done < left ? n - done : left;
        memcpy(codes + done, codes_of(stripe, row, column, some, scratch), some);
        done += some;
    }
}

enum dti_status dti_stripes_codes(struct dti_stripes *stripes,
                                  const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                  unsigned char *codes, struct dti_dequant_scratch *scratch,
                                  struct dti_error *reterr)
{
    static const struct dti_stripe_use use = {.size = 1, .make = make_codes};
    return stripes_walk(stripes, tensor, &use, first, n, codes, scratch, reterr);
}
