/* SPDX-License-Identifier: MIT
 *
 * Squared errors of tensors: see tensor_errors.h.
 *
 * Pieces come from several threads in any order. So that sums do not depend on it, numbers are
 * summed in segments that end with each row and with each tile of DTI_TILE elements: segment
 * `tile + row` is unique, since at each end one of the two grows. A segment is whole in one piece,
 * or in two whose sums commute. The sums of a row's segments, then of the rows, are added in order.
 */
#include "files/advise/tensor_errors.h"

#include <math.h>
#include <pthread.h>

#include "util/run/allocate.h"

enum { LANES = 8 };

struct error_sums {
    double squared, signal;
};

struct error_rows {
    uint64_t elements, columns;
    uint64_t seen;               /* elements that were added */
    struct error_sums *segments; /* NULL: none yet, or all */
    struct dti_tensor_error error;
};

struct dti_tensor_errors {
    pthread_mutex_t lock;
    bool failed; /* out of memory */
    size_t count;
    struct error_rows tensors[];
};

enum dti_status dti_tensor_errors_new(struct dti_tensor_errors **ret,
                                      const struct dti_container *container,
                                      struct dti_error *reterr)
{
    const size_t count = container->tensor_count;
    struct dti_tensor_errors *const errors =
        dti_calloc(1, sizeof *errors + count * sizeof(struct error_rows));
    if (!errors || pthread_mutex_init(&errors->lock, NULL) != 0) {
        dti_free(errors);
        return dti_no_memory(reterr);
    }
    errors->count = count;
    for (size_t i = 0; i < count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        errors->tensors[i].elements = tensor->elements;
        errors->tensors[i].columns = tensor->rank > 0 ? tensor->shape[tensor->rank - 1] : 1;
    }
    *ret = errors;
    return DTI_OK;
}

void dti_tensor_errors_free(struct dti_tensor_errors *errors)
{
    if (!errors)
        return;
    for (size_t i = 0; i < errors->count; i++)
        dti_free(errors->tensors[i].segments);
    pthread_mutex_destroy(&errors->lock);
    dti_free(errors);
}

static uint64_t segment_count(const struct error_rows *rows)
{
    return (rows->elements - 1) / DTI_TILE + (rows->elements - 1) / rows->columns + 1;
}

/* Sums of n pairs; not finite if a number or what it became is not. */
static struct error_sums sum_up(const float *numbers, const float *stored, size_t n)
{
    double squared[LANES] = {0}, signal[LANES] = {0};
    struct error_sums ret = {0, 0};
    for (size_t i = 0; i < n; i++) {
        const double x = (double)numbers[i], error = (double)stored[i] - x;
        squared[i % LANES] += error * error;
        signal[i % LANES] += x * x;
    }
    for (size_t lane = 0; lane < LANES; lane++) {
        ret.squared += squared[lane];
        ret.signal += signal[lane];
    }
    return ret;
}

/* Adds with the rounding error of the sum so far (Neumaier). */
static void add_exactly(double *sum, double *rest, double x)
{
    const double total = *sum + x;
    *rest += fabs(*sum) >= fabs(x) ? (*sum - total) + x : (x - total) + *sum;
    *sum = total;
}

static struct error_sums sum_row(const struct error_rows *rows, uint64_t row)
{
    const uint64_t first = row * rows->columns / DTI_TILE;
    const uint64_t last = ((row + 1) * rows->columns - 1) / DTI_TILE;
    struct error_sums ret = {0, 0}, rest = {0, 0};
    for (uint64_t tile = first; tile <= last; tile++) {
        add_exactly(&ret.squared, &rest.squared, rows->segments[tile + row].squared);
        add_exactly(&ret.signal, &rest.signal, rows->segments[tile + row].signal);
    }
    ret.squared += rest.squared;
    ret.signal += rest.signal;
    return ret;
}

/* Everything was added: the result, without the memory for it. */
static void finish(struct error_rows *rows)
{
    struct dti_tensor_error *const error = &rows->error;
    struct error_sums rest = {0, 0};
    for (uint64_t row = 0; row < rows->elements / rows->columns; row++) {
        const struct error_sums sums = sum_row(rows, row);
        const double share = sums.signal > 0 ? sums.squared / sums.signal : 0;
        add_exactly(&error->squared, &rest.squared, sums.squared);
        add_exactly(&error->signal, &rest.signal, sums.signal);
        if (share > error->worst) {
            error->worst = share;
            error->worst_row = row;
        }
    }
    error->squared += rest.squared;
    error->signal += rest.signal;
    error->there = isfinite(error->squared) && isfinite(error->signal);
    dti_free(rows->segments);
    rows->segments = NULL;
}

static bool begin(struct dti_tensor_errors *errors, struct error_rows *rows)
{
    const uint64_t count = segment_count(rows);
    pthread_mutex_lock(&errors->lock);
    if (!rows->segments && !errors->failed && count <= SIZE_MAX / sizeof *rows->segments)
        rows->segments = dti_calloc((size_t)count, sizeof *rows->segments);
    errors->failed = errors->failed || !rows->segments;
    const bool good = !errors->failed;
    pthread_mutex_unlock(&errors->lock);
    return good;
}

void dti_tensor_errors_add(void *context, size_t tensor, const float *numbers, const float *stored,
                           size_t n, uint64_t index)
{
    struct dti_tensor_errors *const errors = context;
    struct error_rows *const rows = &errors->tensors[tensor];
    if (n == 0 || !begin(errors, rows))
        return;
    for (size_t at = 0, part; at < n; at += part) {
        const uint64_t place = index + at;
        const uint64_t in_row = rows->columns - place % rows->columns;
        const uint64_t in_tile = DTI_TILE - place % DTI_TILE;
        part = n - at;
        part = part > in_row ? (size_t)in_row : part;
        part = part > in_tile ? (size_t)in_tile : part;
        const struct error_sums sums = sum_up(numbers + at, stored + at, part);
        struct error_sums *const segment =
            &rows->segments[place / DTI_TILE + place / rows->columns];
        pthread_mutex_lock(&errors->lock);
        segment->squared += sums.squared;
        segment->signal += sums.signal;
        pthread_mutex_unlock(&errors->lock);
    }
    pthread_mutex_lock(&errors->lock);
    rows->seen += n;
    if (rows->seen == rows->elements)
        finish(rows);
    pthread_mutex_unlock(&errors->lock);
}

enum dti_status dti_tensor_errors_end(const struct dti_tensor_errors *errors,
                                      struct dti_error *reterr)
{
    return errors->failed ? dti_no_memory(reterr) : DTI_OK;
}

const struct dti_tensor_error *dti_tensor_errors_of(const struct dti_tensor_errors *errors,
                                                    size_t tensor)
{
    return &errors->tensors[tensor].error;
}
