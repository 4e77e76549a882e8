/* SPDX-License-Identifier: MIT
 *
 * Grouped integers in other layouts: the parts of each target, read in pieces of any size and
 * position, through stripes of any size, by several threads, must equal those made by a loop over
 * bits. Also zero points that are refused. */
#include <pthread.h>

#include "files/transcode/transcode_grouped.h"

#include "word_layouts.h"

enum { THREADS = 3 };

static const struct dti_transcode_target *target_at(size_t layout)
{
    const struct dti_transcode_target *const targets[LAYOUTS] = {
        dti_layout_gptq.targets[0],   dti_layout_gptq.targets[1],   dti_layout_awq.targets[0],
        &dti_target_compressed_words, &dti_target_compressed_words, dti_layout_mlx.targets[0],
    };
    return targets[layout];
}

struct opened {
    struct dti_container *container;
    struct dti_file_dequant *dequant;
};

static bool open_file(struct opened *ret, enum dti_level level, size_t room)
{
    const struct dti_file_dequant_request request = {.level = level};
    struct dti_error error;
    memset(ret, 0, sizeof *ret);
    if (!CHECK(dti_container_open(&ret->container, "x.safetensors", NULL, &error) == DTI_OK))
        return false;
    if (!CHECK(dti_file_dequant_new(&ret->dequant, ret->container, &request, &error) == DTI_OK)) {
        fprintf(stderr, "    %s\n", error.text);
        return false;
    }
    ret->dequant->stripes.room = room;
    return CHECK(ret->dequant->found_count == 1);
}

static struct dti_dequant_found *found_in(const struct opened *opened)
{
    return dti_dequant_found_in(opened->dequant, 0);
}

static void close_file(struct opened *opened)
{
    dti_file_dequant_free(opened->dequant);
    dti_container_free(opened->container);
}

/* One thread's pieces of a part: every of-th piece, with cycling sizes. */
struct share {
    struct dti_batch_source source;
    unsigned char *bytes;
    size_t size, step, first, of;
    enum dti_status status;
};

static void *take(void *argument)
{
    struct share *const share = argument;
    struct dti_window window = {0};
    unsigned char *const scratch = malloc(share->source.scratch_bytes + 1);
    struct dti_error error;
    share->status = scratch ? DTI_OK : DTI_NO_MEMORY;
    for (size_t at = share->first * share->step; at < share->size && share->status == DTI_OK;
         at += share->of * share->step) {
        const size_t left = share->size - at, n = left < share->step ? left : share->step;
        share->status = share->source.read(share->source.context, share->bytes + at, n, at, &window,
                                           scratch, &error);
    }
    dti_window_free(&window);
    free(scratch);
    return NULL;
}

static bool read_part(const struct dti_transcode_part *part, unsigned char *bytes, size_t size,
                      size_t step, size_t threads)
{
    struct share shares[THREADS];
    pthread_t ids[THREADS];
    bool fine = true;
    for (size_t i = 0; i < threads; i++) {
        shares[i] = (struct share){part->source, bytes, size, step, i, threads, DTI_OK};
        if (pthread_create(&ids[i], NULL, take, &shares[i]) != 0)
            abort();
    }
    for (size_t i = 0; i < threads; i++) {
        pthread_join(ids[i], NULL);
        fine = fine && shares[i].status == DTI_OK;
    }
    return fine;
}

static size_t size_of(const struct dti_transcode_part *part)
{
    size_t size = dti_format_container(dti_format_get(part->dtype));
    for (unsigned i = 0; i < part->rank; i++)
        size *= (size_t)part->shape[i];
    return size;
}

/* Compares the plan's parts with those of the layout. */
static bool compare(const struct opened *opened, const struct dti_transcoded *plan,
                    const struct part *wanted, size_t count, size_t step, size_t threads)
{
    static unsigned char bytes[BYTES_MOST];
    bool fine = CHECK(plan->count == count);
    for (size_t i = 0; i < count && fine; i++) {
        const struct dti_transcode_part *const part = &plan->part[i];
        char name[64];
        snprintf(name, sizeof name, "%.*s%s", (int)plan->stem_length, found_in(opened)->shown->name,
                 part->suffix);
        fine = CHECK_STR(name, wanted[i].name) && CHECK(part->rank == wanted[i].rank) &&
               CHECK(size_of(part) == wanted[i].size);
        for (unsigned k = 0; k < part->rank && fine; k++)
            fine = CHECK(part->shape[k] == wanted[i].shape[k]);
        if (!fine)
            break;
        memset(bytes, 0xA5, wanted[i].size);
        fine = CHECK(read_part(part, bytes, wanted[i].size, step, threads)) &&
               CHECK(memcmp(bytes, wanted[i].bytes, wanted[i].size) == 0);
        if (!fine)
            fprintf(stderr, "    %s\n", name);
    }
    return fine;
}

static struct part from[PARTS], to[PARTS];

static void check_matrix(const struct matrix *matrix, enum dti_level level)
{
    static const size_t rooms[] = {DTI_STRIPE_ROOM, 512, 4096}, steps[] = {BYTES_MOST, 1000, 7, 64};
    for (unsigned source = 0; source < LAYOUTS; source++) {
        if (!has(source, matrix))
            continue;
        fill(matrix);
        write_file(from, lay_out(source, matrix, from));
        write_config(source, matrix);
        for (unsigned target = 0; target < LAYOUTS; target++) {
            /* int8 stays int8, and packed words stay packed words */
            if (!has(target, matrix) ||
                (target == INT8) != (target >= PACKED && target < MLX && source == INT8))
                continue;
            const size_t count = lay_out(target, matrix, to);
            for (size_t i = (source + target) % unit_each(3); i < 4; i += unit_each(3)) {
                const size_t threads = i == 0 ? 1 : THREADS;
                struct opened opened;
                struct dti_transcoded plan;
                struct dti_error error;
                bool fine = open_file(&opened, level, rooms[i % 3]);
                fine = fine &&
                       CHECK(target_at(target)->plan(target_at(target), &opened.dequant->pool,
                                                     found_in(&opened), &plan, &error) == DTI_OK);
                fine = fine && CHECK(plan.blocks == matrix->rows * groups_of(matrix)) &&
                       CHECK(plan.lossless == plan.blocks) &&
                       CHECK(found_in(&opened)->form.symmetric == matrix->symmetric ||
                             source == MLX) &&
                       compare(&opened, &plan, to, count, steps[i], threads);
                if (!fine)
                    fprintf(stderr,
                            "    %zu x %zu, %u bits, groups of %zu: layout %u to %u, step %zu\n",
                            matrix->rows, matrix->columns, matrix->bits, matrix->length, source,
                            target, steps[i]);
                close_file(&opened);
                if (!fine)
                    return;
            }
        }
    }
}

static void parts_are_those_of_a_loop_over_bits(void)
{
    static const struct matrix matrices[] = {
        {32, 64, 32, 4, false},  {96, 160, 32, 4, true},   {64, 256, 128, 4, false},
        {256, 96, 96, 4, false}, {40, 128, 64, 4, false},  {32, 64, 64, 2, false},
        {64, 96, 32, 3, false},  {96, 192, 64, 3, true},   {33, 64, 32, 8, false},
        {36, 128, 64, 8, false}, {64, 32, 16, 8, true},    {17, 48, 16, 4, false},
        {25, 36, 12, 2, false},  {160, 224, 32, 5, false}, {24, 64, 32, 6, false},
        {64, 80, 32, 4, false},  {1, 64, 64, 8, true},     {8, 32, 32, 4, false},
        {512, 64, 32, 4, false}, {264, 128, 32, 2, false},
    };
    enum dti_level best = DTI_LEVEL_SCALAR;
    CHECK(dti_level_choose(NULL, &best, NULL) == DTI_OK);
    folder_enter();
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        check_matrix(&matrices[i], i % 3 == 0 ? DTI_LEVEL_SCALAR : best);
    (void)folder_leave();
}

static enum dti_status plan_of(enum layout source, const struct matrix *matrix, enum layout target,
                               struct dti_transcoded *ret, struct dti_error *error)
{
    struct opened opened;
    enum dti_status status = DTI_BUG;
    write_file(from, lay_out(source, matrix, from));
    write_config(source, matrix);
    if (open_file(&opened, DTI_LEVEL_SCALAR, DTI_STRIPE_ROOM))
        status = target_at(target)->plan(target_at(target), &opened.dequant->pool,
                                         found_in(&opened), ret, error);
    close_file(&opened);
    return status;
}

static void zero_point_0_has_no_minus_one(void)
{
    static const struct matrix matrix = {32, 64, 32, 4, false};
    struct dti_transcoded plan;
    struct dti_error error;
    folder_enter();
    fill(&matrix);
    zeros[5 * 2 + 1] = 0;
    CHECK(plan_of(AWQ, &matrix, GPTQ, &plan, &error) == DTI_WRONG_KIND);
    CHECK(strstr(error.text, "zero point of group 1 of row 5 is 0") != NULL);
    CHECK(plan_of(PACKED, &matrix, GPTQ, &plan, &error) == DTI_WRONG_KIND);
    CHECK(strstr(error.text, "zero point of group 1 of row 5 is 0") != NULL);
    CHECK(plan_of(GPTQ, &matrix, GPTQ, &plan, &error) == DTI_WRONG_KIND); /* it would wrap */
    CHECK(plan_of(GPTQ, &matrix, GPTQ_V2, &plan, &error) == DTI_OK);
    CHECK(plan_of(AWQ, &matrix, GPTQ_V2, &plan, &error) == DTI_OK);
    CHECK(plan_of(AWQ, &matrix, MLX, &plan, &error) == DTI_OK && plan.lossless == 64);
    (void)folder_leave();
}

UNIT_MAIN(parts_are_those_of_a_loop_over_bits, zero_point_0_has_no_minus_one)
