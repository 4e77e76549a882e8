/* SPDX-License-Identifier: MIT
 *
 * Stripes of transposed matrices: see dequant_stripes.h. */
#include "files/dequant_stripes.h"

#include <stdlib.h>

enum { SCALES_MAX = DTI_STRIPE_CODES / 16 }; /* in a stripe, where columns can be fewer */

void dti_stripes_init(struct dti_stripes *stripes)
{
    memset(stripes, 0, sizeof *stripes);
    (void)pthread_mutex_init(&stripes->mutex, NULL);
    (void)pthread_cond_init(&stripes->changed, NULL);
}

static void forget(struct dti_stripe *stripe)
{
    free(stripe->codes);
    free(stripe->scales);
    free(stripe->zeros);
    *stripe = (struct dti_stripe){.tensor = NULL};
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
    const uint64_t place = row % tensor->matrix;
    return tensor->map.group_of ? tensor->map.group_of[place] : place / tensor->map.group_rows;
}

/* The stripe with an element. Columns are whole words and whole blocks, where there are enough. */
static struct dti_stripe stripe_of(const struct dti_dequant_tensor *tensor, uint64_t row,
                                   uint64_t column)
{
    const uint64_t tall = tensor->matrix < DTI_STRIPE_CODES ? tensor->matrix : DTI_STRIPE_CODES;
    const uint64_t groups = tensor->scale_rows;
    uint64_t columns = DTI_STRIPE_CODES / tall;
    if (groups > 0 && columns > SCALES_MAX / groups)
        columns = SCALES_MAX / groups > 0 ? SCALES_MAX / groups : 1;
    columns = columns > DTI_STRIPE_WIDEST ? DTI_STRIPE_WIDEST : columns;
    columns = columns > 64 ? columns / 64 * 64 : columns;
    const uint64_t begin = row / tensor->matrix * tensor->matrix;
    struct dti_stripe stripe = {.tensor = tensor,
                                .row = begin + (row - begin) / tall * tall,
                                .column = column / columns * columns};
    const uint64_t down = begin + tensor->matrix - stripe.row;
    const uint64_t right = tensor->columns - stripe.column;
    stripe.rows = (size_t)(down < tall ? down : tall);
    stripe.columns = (size_t)(right < columns ? right : columns);
    const struct dti_scale_map *const map = &tensor->map;
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
    return a->tensor == b->tensor && a->row == b->row && a->column == b->column;
}

/* The stripe itself, or the one that nobody uses and that was wanted least lately; NULL: all others
 * are in use. */
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

static bool allocate(struct dti_stripe *stripe)
{
    const size_t scales = stripe->groups * stripe->scale_columns; /* no more than codes, or few */
    stripe->codes = malloc(stripe->rows * stripe->columns);
    stripe->scales = malloc(scales * sizeof *stripe->scales);
    stripe->zeros = malloc(scales * sizeof *stripe->zeros);
    return stripe->codes && stripe->scales && stripe->zeros;
}

/* With the mutex. */
static enum dti_status enter(struct dti_stripes *stripes, const struct dti_stripe *wanted,
                             struct dti_stripe **ret, struct dti_error *reterr)
{
    struct dti_stripe *stripe;
    while (!(stripe = find(stripes, wanted)))
        (void)pthread_cond_wait(&stripes->changed, &stripes->mutex);
    if (stripe->failed || !is_same(stripe, wanted)) {
        forget(stripe);
        *stripe = *wanted;
        if (!allocate(stripe)) {
            forget(stripe);
            return dti_no_memory(reterr);
        }
    }
    stripe->users++;
    stripe->used = ++stripes->clock;
    *ret = stripe;
    return DTI_OK;
}

/* Rows of codes, into the stripe's columns. */
static enum dti_status load_codes(const struct dti_stripe *stripe, size_t first, size_t count,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    unsigned char *const rows = (unsigned char *)(scratch + 1);
    for (size_t i = 0; i < count; i++) {
        const uint64_t at = (stripe->row + first + i) * tensor->columns + stripe->column;
        const unsigned char *codes = NULL;
        const enum dti_status status =
            dti_dequant_codes(tensor, at, stripe->columns, scratch, &codes, reterr);
        if (status != DTI_OK)
            return status;
        memcpy(rows + i * stripe->columns, codes, stripe->columns);
    }
    for (size_t column = 0; column < stripe->columns; column++) {
        unsigned char *const to = stripe->codes + column * stripe->rows + first;
        for (size_t i = 0; i < count; i++)
            to[i] = rows[i * stripe->columns + column];
    }
    return DTI_OK;
}

static enum dti_status load_scales(const struct dti_stripe *stripe, size_t first, size_t count,
                                   struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    const struct dti_scale_map *const map = &tensor->map;
    struct dti_dequant_window *const window = &scratch->window;
    const uint64_t outer = stripe->row / tensor->matrix * map->of_outer;
    const size_t n = stripe->scale_columns;
    for (size_t i = first; i < first + count; i++) {
        const uint64_t from =
            outer + (stripe->group + i) * map->of_length + stripe->scale_column * map->of_column;
        const enum dti_status status = dti_dequant_load(tensor, window, from, n, reterr);
        if (status != DTI_OK)
            return status;
        const size_t at = (size_t)(from - window->first);
        memcpy(stripe->scales + i * n, window->scale + at, n * sizeof *stripe->scales);
        memcpy(stripe->zeros + i * n, window->zero + at, n * sizeof *stripe->zeros);
    }
    return DTI_OK;
}

/* A piece of work: some rows of codes, or of scales. */
static enum dti_status load_piece(const struct dti_stripe *stripe, size_t piece,
                                  struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const size_t of_codes = (stripe->rows + DTI_STRIPE_ROWS - 1) / DTI_STRIPE_ROWS;
    const bool codes = piece < of_codes;
    const size_t first = (codes ? piece : piece - of_codes) * DTI_STRIPE_ROWS;
    const size_t left = (codes ? stripe->rows : stripe->groups) - first;
    const size_t count = left < DTI_STRIPE_ROWS ? left : DTI_STRIPE_ROWS;
    return codes ? load_codes(stripe, first, count, scratch, reterr)
                 : load_scales(stripe, first, count, scratch, reterr);
}

/* Takes pieces to load as long as there are any, then waits for those that others load. With the
 * mutex, which is free in between. */
static enum dti_status load(struct dti_stripes *stripes, struct dti_stripe *stripe,
                            struct dti_dequant_scratch *scratch, struct dti_error *reterr)
{
    const size_t pieces = (stripe->rows + DTI_STRIPE_ROWS - 1) / DTI_STRIPE_ROWS +
                          (stripe->groups + DTI_STRIPE_ROWS - 1) / DTI_STRIPE_ROWS;
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

/* The scale and zero point of each of n rows. */
static void spread(const struct dti_stripe *stripe, uint64_t row, uint64_t column, size_t n,
                   float *scale, int32_t *zero)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    const struct dti_scale_map *const map = &tensor->map;
    const size_t at = (size_t)(column / map->group_columns - stripe->scale_column);
    for (size_t done = 0; done < n;) {
        const uint64_t place = (row + done) % tensor->matrix;
        const size_t left = n - done;
        const uint64_t same = map->group_of ? 1 : map->group_rows - place % map->group_rows;
        const size_t run = same < left ? (size_t)same : left;
        const size_t from =
            (size_t)(group_of(tensor, row + done) - stripe->group) * stripe->scale_columns + at;
        for (size_t i = done; i < done + run; i++) {
            scale[i] = stripe->scales[from];
            zero[i] = stripe->zeros[from];
        }
        done += run;
    }
}

/* n numbers of one column, which are in the stripe. */
static void compute(const struct dti_stripe *stripe, uint64_t row, uint64_t column, size_t n,
                    float *numbers, struct dti_dequant_scratch *scratch)
{
    const struct dti_dequant_tensor *const tensor = stripe->tensor;
    struct dti_dequant_window *const window = &scratch->window;
    const unsigned char *const codes =
        stripe->codes + (size_t)(column - stripe->column) * stripe->rows + (row - stripe->row);
    window->count = 0; /* its memory has another use */
    spread(stripe, row, column, n, window->scale, window->zero);
    if (tensor->block) {
        for (size_t i = 0; i < n; i++)
            numbers[i] = tensor->parts->numbers[codes[i]] * window->scale[i];
        return;
    }
    struct dti_affine_args args = tensor->method->affine_args;
    args.scales = args.inverses = window->scale; /* the latter are not looked at */
    args.zero_points = tensor->zero_form == DTI_ZERO_NONE ? NULL : window->zero;
    tensor->method->kernel->run.affine_back(&args, numbers, codes, n);
}

/* Numbers of one column, within a stripe. Where another thread failed to load it, this one tries
 * itself, and has the error. */
static enum dti_status read_run(struct dti_stripes *stripes, const struct dti_stripe *wanted,
                                uint64_t row, uint64_t column, size_t n, float *numbers,
                                struct dti_dequant_scratch *scratch, struct dti_error *reterr)
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
            compute(stripe, row, column, n, numbers, scratch);
            (void)pthread_mutex_lock(&stripes->mutex);
        }
        if (--stripe->users == 0)
            (void)pthread_cond_broadcast(&stripes->changed);
    }
    (void)pthread_mutex_unlock(&stripes->mutex);
    return status;
}

enum dti_status dti_stripes_read(struct dti_stripes *stripes,
                                 const struct dti_dequant_tensor *tensor, uint64_t first, size_t n,
                                 float *numbers, struct dti_dequant_scratch *scratch,
                                 struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t done = 0; done < n && status == DTI_OK;) {
        const uint64_t at = first + done, column = at / tensor->matrix % tensor->columns;
        const uint64_t row =
            at / tensor->matrix / tensor->columns * tensor->matrix + at % tensor->matrix;
        const struct dti_stripe wanted = stripe_of(tensor, row, column);
        const uint64_t left = wanted.row + wanted.rows - row;
        const size_t some = n - done < left ? n - done : (size_t)left;
        status = read_run(stripes, &wanted, row, column, some, numbers + done, scratch, reterr);
        done += some;
    }
    return status;
}
