/* SPDX-License-Identifier: MIT
 *
 * Finds the points next to each combination: see gguf_near.h. Distances are sums of squares of
 * differences of digits. Points at the same distance are in the order of the grid. */
#include "kernels/gguf/gguf_near.h"

#include <string.h>

#include "kernels/gguf/gguf_grids.h"
#include "util/run/allocate.h"
#include "util/run/once.h"

enum {
    POINTS_MAX = 2048,
    DIGITS_MAX = 8,
    BASE_MAX = 8,
    EIGHT = 6561, /* combinations of 8 digits in base 3 */
    FOUR = 4096,  /* of 4 in base 8 */
    FAR = 255,    /* more than any distance */
    ROOM = DTI_GGUF_NEAR_LANES - 1
};

/* A grid: its points, the digits of each, their base, bits of a digit in a point, and how many
 * distances count as near. */
static const struct near_grid {
    const uint16_t *points;
    unsigned count, digits, base, bits, nearest;
} grids[DTI_GGUF_GRID_COUNT] = {
    [DTI_GGUF_GRID_IQ2_XXS] = {dti_gguf_grid_iq2_xxs, 256, 8, 3, 2, 2},
    [DTI_GGUF_GRID_IQ2_XS] = {dti_gguf_grid_iq2_xs, 512, 8, 3, 2, 2},
    [DTI_GGUF_GRID_IQ2_S] = {dti_gguf_grid_iq2_s, 1024, 8, 3, 2, 1},
    [DTI_GGUF_GRID_IQ1] = {dti_gguf_grid_iq1_s, 2048, 8, 3, 2, 3},
    [DTI_GGUF_GRID_IQ3_XXS] = {dti_gguf_grid_iq3_xxs, 256, 4, 8, 3, 2},
    [DTI_GGUF_GRID_IQ3_S] = {dti_gguf_grid_iq3_s, 512, 4, 8, 3, 3},
};

/* What is needed while a grid is made. Distances of a combination to all points are sums over its
 * digits; the sums from each digit on are kept, because the first digits change most often. */
struct near_work {
    const struct near_grid *grid;
    uint8_t square[DIGITS_MAX][BASE_MAX][POINTS_MAX]; /* for each digit, by its value */
    uint8_t sums[DIGITS_MAX + 1][POINTS_MAX];         /* from this digit on */
    uint16_t found[POINTS_MAX + ROOM];                /* the list of a combination */
    uint16_t *lists;
    size_t size, room; /* of lists */
};

static unsigned combination_of(const struct near_grid *grid, unsigned point)
{
    unsigned combination = 0;
    for (unsigned i = grid->digits; i-- > 0;)
        combination =
            combination * grid->base + (point >> (grid->bits * i) & ((1u << grid->bits) - 1));
    return combination;
}

static void make_squares(struct near_work *work)
{
    const struct near_grid *const grid = work->grid;
    for (unsigned i = 0; i < grid->digits; i++)
        for (unsigned value = 0; value < grid->base; value++)
            for (unsigned k = 0; k < grid->count; k++) {
                const unsigned digit =
                    grid->points[k] >> (grid->bits * i) & ((1u << grid->bits) - 1);
                const unsigned apart = digit > value ? digit - value : value - digit;
                work->square[i][value][k] = (uint8_t)(apart * apart);
            }
}

/* The distances of the combination after the last one, or of the first. */
static void measure(struct near_work *work, unsigned combination)
{
    const struct near_grid *const grid = work->grid;
    unsigned values[DIGITS_MAX], changed = 0;
    for (unsigned i = 0, rest = combination; i < grid->digits; i++, rest /= grid->base) {
        values[i] = rest % grid->base;
        changed = i == changed && values[i] == 0 ? i + 1 : changed;
    }
    for (unsigned i = changed < grid->digits ? changed + 1 : changed; i-- > 0;) {
        const uint8_t *const square = work->square[i][values[i]], *const more = work->sums[i + 1];
        for (unsigned k = 0; k < POINTS_MAX; k++)
            work->sums[i][k] = (uint8_t)(square[k] + more[k]);
    }
}

/* The smallest distance that is larger than `than`, or not smaller than it at first. */
static uint8_t next_distance(const struct near_work *work, uint8_t than, bool first)
{
    const uint8_t *const distance = work->sums[0];
    uint8_t least = FAR;
    for (unsigned k = 0; k < work->grid->count; k++) {
        const uint8_t candidate = first || distance[k] > than ? distance[k] : FAR;
        least = candidate < least ? candidate : least;
    }
    return least;
}

/* Adds the points at a distance; most groups of eight have none. */
static unsigned add_points(struct near_work *work, uint8_t distance, unsigned count)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    for (unsigned k = 0; k < work->grid->count; k += 8) {
        uint64_t eight;
        memcpy(&eight, &work->sums[0][k], sizeof eight);
        eight ^= ones * distance;
        if (((eight - ones) & ~eight & 0x80 * ones) == 0)
            continue;
        for (unsigned i = k; i < k + 8; i++)
            if (work->sums[0][i] == distance)
                work->found[count++] = work->grid->points[i];
    }
    return count;
}

/* The points next to a combination; returns their number, filled up. */
static unsigned find(struct near_work *work)
{
    unsigned count = 0;
    uint8_t distance = 0;
    for (unsigned i = 0; i < work->grid->nearest; i++) {
        distance = next_distance(work, distance, i == 0);
        count = add_points(work, distance, count);
    }
    for (; count % DTI_GGUF_NEAR_LANES != 0; count++)
        work->found[count] = work->found[count - 1];
    return count;
}

static bool add_list(struct near_work *work, unsigned count)
{
    if (work->room - work->size <= count) {
        const size_t room = 2 * (work->room + POINTS_MAX);
        uint16_t *const lists = dti_process_realloc(work->lists, room * sizeof *lists);
        if (!lists)
            return false;
        work->lists = lists;
        work->room = room;
    }
    work->lists[work->size++] = (uint16_t)count;
    memcpy(work->lists + work->size, work->found, count * sizeof *work->lists);
    work->size += count;
    return true;
}

static bool fill(struct near_work *work, uint32_t *places, unsigned combinations)
{
    const struct near_grid *const grid = work->grid;
    bool done = true;
    memset(places, 0xff, combinations * sizeof *places);
    for (unsigned k = 0; k < grid->count; k++)
        places[combination_of(grid, grid->points[k])] = k;
    for (unsigned i = 0; i < combinations && done; i++) {
        measure(work, i);
        if (places[i] < grid->count)
            continue;
        places[i] = DTI_GGUF_NEAR_LIST | (uint32_t)work->size;
        done = add_list(work, find(work));
    }
    return done;
}

static bool make(struct dti_gguf_near *ret, const struct near_grid *grid)
{
    const unsigned combinations = grid->base == 3 ? EIGHT : FOUR;
    struct near_work *const work = dti_process_calloc(1, sizeof *work);
    uint32_t *const places = dti_process_calloc(combinations, sizeof *places);
    bool done = work && places;
    if (done) {
        work->grid = grid;
        make_squares(work);
        done = fill(work, places, combinations);
        *ret = (struct dti_gguf_near){grid->points, places, work->lists};
        if (!done)
            dti_process_free(work->lists);
    }
    dti_process_free(work);
    if (!done)
        dti_process_free(places);
    return done;
}

const struct dti_gguf_near *dti_gguf_near(enum dti_gguf_grid grid)
{
    static struct {
        struct dti_once once;
        struct dti_gguf_near near;
    } made[DTI_GGUF_GRID_COUNT];
    if (dti_once_begin(&made[grid].once)) {
        const bool done = make(&made[grid].near, &grids[grid]);
        dti_once_end(&made[grid].once, done);
        if (!done)
            return NULL;
    }
    return &made[grid].near;
}
