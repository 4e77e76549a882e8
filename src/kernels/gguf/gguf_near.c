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
    EIGHT = 6561, /* combinations of 8 digits in base 3 */
    FOUR = 4096,  /* of 4 in base 8 */
    FAR = 1000,   /* more than any distance */
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

/* What is needed while a grid is made. */
struct near_work {
    const struct near_grid *grid;
    int16_t digits[DIGITS_MAX][POINTS_MAX];
    int16_t distance[POINTS_MAX];
    uint16_t found[POINTS_MAX + ROOM]; /* the list of a combination */
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

static void spread_digits(struct near_work *work)
{
    const struct near_grid *const grid = work->grid;
    for (unsigned i = 0; i < grid->digits; i++)
        for (unsigned k = 0; k < grid->count; k++)
            work->digits[i][k] =
                (int16_t)(grid->points[k] >> (grid->bits * i) & ((1u << grid->bits) - 1));
}

static void measure(struct near_work *work, unsigned combination)
{
    const struct near_grid *const grid = work->grid;
    memset(work->distance, 0, sizeof work->distance);
    for (unsigned i = 0; i < grid->digits; i++, combination /= grid->base) {
        const int16_t digit = (int16_t)(combination % grid->base);
        for (unsigned k = 0; k < grid->count; k++) {
            const int16_t apart = (int16_t)(work->digits[i][k] - digit);
            work->distance[k] = (int16_t)(work->distance[k] + apart * apart);
        }
    }
}

/* The smallest distance that is larger than `than`. */
static int16_t next_distance(const struct near_work *work, int16_t than)
{
    int16_t least = FAR;
    for (unsigned k = 0; k < work->grid->count; k++) {
        const int16_t distance = work->distance[k] > than ? work->distance[k] : FAR;
        least = distance < least ? distance : least;
    }
    return least;
}

/* The points next to a combination; returns their number, filled up. */
static unsigned find(struct near_work *work, unsigned combination)
{
    unsigned count = 0;
    int16_t distance = -1;
    measure(work, combination);
    for (unsigned i = 0; i < work->grid->nearest; i++) {
        distance = next_distance(work, distance);
        for (unsigned k = 0; k < work->grid->count; k++)
            if (work->distance[k] == distance)
                work->found[count++] = work->grid->points[k];
    }
    for (; count % DTI_GGUF_NEAR_LANES != 0; count++)
        work->found[count] = work->found[count - 1];
    return count;
}

static bool add_list(struct near_work *work, unsigned count)
{
    if (work->room - work->size <= count) {
        const size_t room = 2 * work->room + 2 * POINTS_MAX;
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
        if (places[i] < grid->count)
            continue;
        places[i] = DTI_GGUF_NEAR_LIST | (uint32_t)work->size;
        done = add_list(work, find(work, i));
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
        spread_digits(work);
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
