/* SPDX-License-Identifier: MIT
 *
 * Casts of arrays in any order: blocks of the result, each gathered into a buffer in the cache and
 * cast from there. Where the rows of the result are columns of the source, a block is many rows, so
 * that each cache line of the source is read once. Rows with a stride of one element need no
 * buffer, unless the places of the elements matter. */
#include <stdatomic.h>
#include <string.h>

#include "convert/plan_parts.h"
#include "kernels/streaming.h"
#include "library/casters.h"
#include "util/checked.h"
#include "util/run/allocate.h"

enum {
    LINE = 64,
    ON_STACK = 16 << 10,    /* bytes of a small array's buffer */
    BUFFER = 256 << 10,     /* bytes of a block: in the second-level cache, */
    BUFFER_MOST = 16 << 20, /* or more, if so many are lines of columns */
    COLUMN = 4 * LINE,      /* bytes of a column that are read at once: fewer pages a byte */
    DIRECT = 512,           /* elements of a row that is worth its own call */
    /* of source and result: with less, another thread begins too late */
    TEAM_BYTES = 512 << 10,
    TEAM_BYTES_DIRECT = 4 << 20,
};

struct strided {
    const struct dti_caster *caster;
    const struct dti_plan *plan;
    unsigned char *dst;
    const unsigned char *src;
    size_t rank; /* at least 1; dimensions that follow each other in memory are one */
    size_t shape[DTI_RANK_MAX];
    ptrdiff_t stride[DTI_RANK_MAX];
    size_t item, n;
    size_t block; /* elements that are gathered at once */
    bool direct, columns;
    enum dti_stores stores;
    bool counts;
    /* of the threads: */
    atomic_size_t next;   /* block */
    atomic_size_t failed; /* the lowest block that failed; SIZE_MAX: none */
    pthread_mutex_t lock; /* of what follows */
    struct dti_loss loss;
    enum dti_status status;
    struct dti_error error;
};

static inline size_t product_is(size_t a, size_t b, bool *fits)
{
    uint64_t product = 0;
    *fits = *fits && dti_mul_u64(a, b, &product) && product <= SIZE_MAX;
    return (size_t)product;
}

/* Copies n items that are `stride` bytes apart. Inlined for each size. */
static inline void gather(unsigned char *to, const unsigned char *from, size_t n, ptrdiff_t stride,
                          const size_t item)
{
    for (size_t i = 0; i < n; i++) {
        memcpy(to + i * item, from, item);
        from += stride;
    }
}

/* Copies rows of n items, whose items are `stride` bytes apart, by squares of whole cache lines.
 * Those of the next square are fetched meanwhile: they are too far apart for the hardware to guess,
 * and the loads of one square are more than it looks ahead. */
static inline void gather_rows(unsigned char *to, const unsigned char *from, size_t rows, size_t n,
                               ptrdiff_t row_stride, ptrdiff_t stride, const size_t item)
{
    enum { SIDE_MAX = 64 };
    unsigned char square[SIDE_MAX * SIDE_MAX];
    const size_t side = item < 16 ? LINE / item : 8;
    for (size_t at = 0; at < n; at += side) {
        const size_t wide = n - at < side ? n - at : side;
        for (size_t row = 0; row < rows; row += side) {
            const size_t high = rows - row < side ? rows - row : side;
            for (size_t j = 0; j < wide; j++) {
                const unsigned char *p =
                    from + (ptrdiff_t)row * row_stride + (ptrdiff_t)(at + j) * stride;
                dti_prefetch((const void *)((uintptr_t)p + (uintptr_t)((ptrdiff_t)side * stride)),
                             1);
                for (size_t i = 0; i < high; i++) {
                    memcpy(square + (i * side + j) * item, p, item);
                    p += row_stride;
                }
            }
            for (size_t i = 0; i < high; i++)
                memcpy(to + ((row + i) * n + at) * item, square + i * side * item, wide * item);
        }
    }
}

/* One row if rows is 1. */
static void gather_sized(const struct strided *job, unsigned char *to, const unsigned char *from,
                         size_t rows, size_t n)
{
    const size_t last = job->rank - 1;
    const ptrdiff_t stride = job->stride[last], row_stride = last > 0 ? job->stride[last - 1] : 0;
    if (rows == 1 && stride == (ptrdiff_t)job->item) {
        memcpy(to, from, n * job->item);
        return;
    }
    switch (job->item) {
#define SIZE(bytes)                                                    \
    case bytes:                                                        \
        if (rows == 1)                                                 \
            gather(to, from, n, stride, bytes);                        \
        else                                                           \
            gather_rows(to, from, rows, n, row_stride, stride, bytes); \
        break;
        SIZE(1)
        SIZE(2)
        SIZE(4)
        SIZE(8)
        SIZE(16)
#undef SIZE
    default:
        break;
    }
}

/* An element of the array. */
struct spot {
    size_t at[DTI_RANK_MAX];
    const unsigned char *from;
};

static struct spot spot_of(const struct strided *job, size_t element)
{
    struct spot spot = {.from = job->src};
    for (size_t i = job->rank; i-- > 0;) {
        spot.at[i] = element % job->shape[i];
        element /= job->shape[i];
        spot.from += (ptrdiff_t)spot.at[i] * job->stride[i];
    }
    return spot;
}

/* Moves on by `count` steps of a dimension, which are at most those left in it. */
static void move(const struct strided *job, struct spot *spot, size_t dimension, size_t count)
{
    size_t i = dimension;
    spot->at[i] += count;
    spot->from += (ptrdiff_t)count * job->stride[i];
    while (spot->at[i] == job->shape[i] && i > 0) {
        spot->from -= (ptrdiff_t)job->shape[i] * job->stride[i];
        spot->at[i] = 0;
        i--;
        spot->at[i]++;
        spot->from += job->stride[i];
    }
}

static void gather_block(const struct strided *job, unsigned char *buffer, size_t begin,
                         size_t count)
{
    const size_t last = job->rank - 1, n = job->shape[last];
    struct spot spot = spot_of(job, begin);
    while (count > 0) {
        const size_t left = n - spot.at[last];
        size_t rows = 1, some = left < count ? left : count;
        if (job->columns && spot.at[last] == 0 && count >= 2 * n) {
            rows = job->shape[last - 1] - spot.at[last - 1];
            rows = rows < count / n ? rows : count / n;
        }
        gather_sized(job, buffer, spot.from, rows, some);
        if (rows > 1)
            move(job, &spot, last - 1, rows);
        else
            move(job, &spot, last, some);
        count -= rows * some;
        buffer += rows * some * job->item;
    }
}

static enum dti_status run_rows(const struct strided *job, size_t begin, size_t count,
                                struct dti_error *reterr)
{
    const size_t last = job->rank - 1, n = job->shape[last];
    const unsigned parts = job->caster->parts, bits = job->caster->dst_bits;
    struct spot spot = spot_of(job, begin);
    enum dti_status status = DTI_OK;
    for (size_t at = begin; at < begin + count && status == DTI_OK; at += n) {
        status = dti_plan_run(job->plan, job->dst + dti_array_bytes(at * parts, bits), spot.from,
                              n * parts, at * parts, job->stores, NULL, reterr);
        move(job, &spot, last, n);
    }
    return status;
}

static enum dti_status run_block(const struct strided *job, unsigned char *buffer, size_t begin,
                                 size_t count, struct dti_loss *loss, struct dti_error *reterr)
{
    const unsigned parts = job->caster->parts, bits = job->caster->dst_bits;
    if (job->direct)
        return run_rows(job, begin, count, reterr);
    gather_block(job, buffer, begin, count);
    return dti_plan_run(job->plan, job->dst + dti_array_bytes(begin * parts, bits), buffer,
                        count * parts, begin * parts, job->stores, loss, reterr);
}

static void note(struct strided *job, size_t block, enum dti_status status,
                 const struct dti_error *error)
{
    (void)pthread_mutex_lock(&job->lock);
    if (block < atomic_load(&job->failed)) {
        atomic_store(&job->failed, block);
        job->status = status;
        job->error = *error;
    }
    (void)pthread_mutex_unlock(&job->lock);
}

static void run_member(void *context, size_t member, size_t size)
{
    struct strided *const job = context;
    struct dti_loss loss;
    struct dti_error error;
    _Alignas(LINE) unsigned char small[ON_STACK];
    const size_t bytes = job->direct ? 0 : job->block * job->item;
    unsigned char *const buffer = bytes <= ON_STACK ? small : dti_malloc_aligned(LINE, bytes);
    (void)member, (void)size;
    if (!buffer) {
        note(job, 0, dti_no_memory(&error), &error);
        return;
    }
    dti_loss_init(&loss);
    for (;;) {
        const size_t block = atomic_fetch_add(&job->next, 1);
        if (block > (job->n - 1) / job->block || block > atomic_load(&job->failed))
            break;
        const size_t begin = block * job->block;
        const size_t count = job->n - begin < job->block ? job->n - begin : job->block;
        const enum dti_status status =
            dti_interrupted()
                ? dti_cancelled(&error)
                : run_block(job, buffer, begin, count, job->counts ? &loss : NULL, &error);
        if (status != DTI_OK)
            note(job, block, status, &error);
    }
    if (buffer != small)
        dti_free(buffer);
    if (job->counts) {
        (void)pthread_mutex_lock(&job->lock);
        dti_loss_merge(&job->loss, &loss);
        (void)pthread_mutex_unlock(&job->lock);
    }
}

/* Copies the dimensions, slowest first, without those of one element, and joins those that are one
 * in memory. */
static void join(struct strided *job, size_t rank, const size_t *shape, const ptrdiff_t *strides)
{
    job->rank = 0;
    for (size_t i = 0; i < rank; i++) {
        if (shape[i] == 1)
            continue;
        bool fits = strides[i] > 0;
        const size_t all = product_is(shape[i], fits ? (size_t)strides[i] : 0, &fits);
        const size_t before = job->rank - 1;
        if (fits && job->rank > 0 && job->stride[before] > 0 &&
            (size_t)job->stride[before] == all) {
            job->shape[before] *= shape[i];
            job->stride[before] = strides[i];
        } else {
            job->shape[job->rank] = shape[i];
            job->stride[job->rank++] = strides[i];
        }
    }
    if (job->rank == 0) {
        job->rank = 1;
        job->shape[0] = 1;
        job->stride[0] = (ptrdiff_t)job->item;
    }
}

static size_t distance(ptrdiff_t stride)
{
    return stride < 0 ? (size_t)0 - (size_t)stride : (size_t)stride;
}

/* Elements of a block. tiles: it has to begin at a tile. */
static size_t choose_block(const struct strided *job, bool tiles)
{
    const size_t n = job->shape[job->rank - 1];
    const size_t some = BUFFER / job->item / DTI_TILE * DTI_TILE;
    const size_t most = BUFFER_MOST / job->item / DTI_TILE * DTI_TILE;
    size_t rows = 1, block;
    if (job->n <= some && !job->direct)
        return job->n;
    if (!job->columns && !job->direct)
        return some;
    while (tiles && rows < DTI_TILE && rows * (n % DTI_TILE) % DTI_TILE != 0)
        rows *= 2;
    const size_t least = job->columns ? COLUMN / job->item : 1;
    while (rows < least || (n <= some && rows <= some / n / 2))
        rows *= 2;
    bool fits = true;
    block = product_is(rows, n, &fits);
    return job->direct || (fits && block <= most) ? block : most;
}

/* How to go about it. */
static void choose(struct strided *job)
{
    const struct dti_caster *const caster = job->caster;
    const struct dti_request *const request = &caster->request;
    const size_t last = job->rank - 1, n = job->shape[last];
    const bool tiles =
        job->counts || caster->dst_bits < 8 || request->cast.policy.round == DTI_ROUND_STOCHASTIC;
    job->direct =
        !tiles && job->stride[last] == (ptrdiff_t)job->item && (n >= DIRECT || job->rank == 1);
    job->columns = !job->direct && last > 0 &&
                   distance(job->stride[last - 1]) < distance(job->stride[last]) &&
                   distance(job->stride[last]) > job->item;
    job->block = choose_block(job, tiles);
    const unsigned bits = caster->src_bits + caster->dst_bits;
    job->stores = dti_stores_stream(DTI_STORES_AUTO, dti_tile_bytes(job->n * caster->parts, bits))
                      ? DTI_STORES_STREAMED
                      : DTI_STORES_CACHED;
}

static void run(struct strided *job)
{
    struct dti_context *const context = job->caster->context;
    const unsigned bits = job->caster->src_bits + job->caster->dst_bits;
    const size_t least = job->direct ? TEAM_BYTES_DIRECT : TEAM_BYTES;
    const bool large = dti_tile_bytes(job->n * job->caster->parts, bits) >= least;
    struct dti_team *const team =
        large && job->n > job->block ? dti_context_borrow_team(context) : NULL;
    if (team)
        dti_team_run(team, run_member, job);
    else
        run_member(job, 0, 1);
    dti_context_return_team(context, team);
}

static enum dti_status cast_strided(struct strided *job, struct dti_cast_report *ret_report,
                                    struct dti_error *reterr)
{
    struct dti_call call;
    enum dti_status status = DTI_OK;
    dti_call_begin(&call, &job->caster->context->caller);
    job->counts = ret_report != NULL;
    job->plan = job->caster->plan;
    if (ret_report)
        status = dti_caster_counting(job->caster, &job->plan, reterr);
    if (status == DTI_OK) {
        dti_loss_init(&job->loss);
        atomic_init(&job->next, 0);
        atomic_init(&job->failed, SIZE_MAX);
        (void)pthread_mutex_init(&job->lock, NULL);
        choose(job);
        run(job);
        (void)pthread_mutex_destroy(&job->lock);
        status = job->status;
        if (status != DTI_OK && reterr)
            *reterr = job->error;
        if (status == DTI_OK && ret_report)
            dti_caster_report(&job->loss, ret_report);
    }
    dti_call_end(&call);
    return status;
}

enum dti_status dti_caster_run_strided(const struct dti_caster *caster, void *dst, const void *src,
                                       size_t rank, const size_t *shape, const ptrdiff_t *strides,
                                       struct dti_cast_report *ret_report, struct dti_error *reterr)
{
    const struct dti_request *const request = &caster->request;
    bool fits = true, empty = false;
    size_t n = 1;
    if (rank > DTI_RANK_MAX)
        return dti_fail(reterr, DTI_USAGE, "an array has at most %d dimensions, not %zu",
                        DTI_RANK_MAX, rank);
    if (dti_layout_packs(&request->src, &request->src_layout))
        return dti_fail(reterr, DTI_WRONG_KIND,
                        "elements of packed %s have no strides; use DTI_PACKING_BYTES",
                        request->src.name);
    for (size_t i = 0; i < rank; i++)
        empty = empty || shape[i] == 0;
    for (size_t i = 0; i < rank && !empty; i++)
        n = product_is(n, shape[i], &fits);
    if (!fits || n > caster->most)
        return dti_fail(reterr, DTI_USAGE, "the array has more bytes than memory");
    struct strided job = {.caster = caster,
                          .dst = dst,
                          .src = src,
                          .item = (size_t)(caster->src_bits / 8) * caster->parts,
                          .n = n,
                          .status = DTI_OK};
    if (!empty)
        join(&job, rank, shape, strides);
    if (empty || (job.rank == 1 && job.stride[0] == (ptrdiff_t)job.item))
        return dti_caster_run(caster, dst, src, empty ? 0 : n, ret_report, reterr);
    return cast_strided(&job, ret_report, reterr);
}
