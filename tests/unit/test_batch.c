/* SPDX-License-Identifier: MIT
 *
 * Batches of casts and copies, compared with dti_reference_run(): the same bytes and losses for
 * every team, memory limit and kind of output. */
#include "convert/batch.h"

#include <pthread.h>

#include "folder.h"

enum { PARTS = 60, TEAMS = 3, MEMORIES = 3, KINDS = 9, LENGTHS = 9 };

/* 40 tiles take 320 KiB as fp32: more than one block if memory is limited. */
static const size_t lengths[LENGTHS] = {
    0, 1, 7, 100, 777, DTI_TILE - 1, DTI_TILE, 3 * DTI_TILE + 5, 40 * DTI_TILE + 3};
static const uint64_t memories[MEMORIES] = {0, 1, 200000};

static struct dti_error error;
static struct dti_team *teams[TEAMS]; /* the first is NULL: no team */

static struct {
    struct dti_plan *plan[KINDS]; /* the last is NULL: a copy */
    struct dti_batch_part parts[PARTS];
    size_t place[PARTS]; /* offset in the output without gaps */
    unsigned char *input, *output, *packed;
    size_t input_size, output_size, packed_size;
    uint64_t input_bytes; /* of all parts */
    struct dti_loss wanted[PARTS], got[PARTS];
} all;

static uint64_t random_state = 1;

static unsigned next_random(void)
{
    random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(random_state >> 33);
}

static struct dti_plan *plan_new(enum dti_dtype src, struct dti_layout from, enum dti_dtype dst,
                                 struct dti_layout to, enum dti_round round)
{
    struct dti_request request = {.src = *dti_format_get(src),
                                  .src_layout = from,
                                  .dst_layout = to,
                                  .cast = {.dst = *dti_format_get(dst)}};
    request.cast.policy.round = round;
    enum dti_level level = DTI_LEVEL_SCALAR;
    struct dti_plan *plan = NULL;
    CHECK(dti_level_choose(NULL, &level, &error) == DTI_OK);
    if (!CHECK(dti_plan_new(&plan, &request, level, &error) == DTI_OK))
        exit(1);
    return plan;
}

static void make_plans(void)
{
    const struct dti_layout low = {.packing = DTI_PACKING_LOW}, bytes = {DTI_PACKING_BYTES, false},
                            high = {.packing = DTI_PACKING_HIGH}, swapped = {.swapped = true};
    const enum dti_round even = DTI_ROUND_NEAREST_EVEN;
    all.plan[0] = plan_new(DTI_FP32, low, DTI_BF16, low, even);
    all.plan[1] = plan_new(DTI_BF16, swapped, DTI_FP64, low, even);
    all.plan[2] = plan_new(DTI_FP32, swapped, DTI_FP16, swapped, even);
    all.plan[3] = plan_new(DTI_FP32, low, DTI_FP8_E4M3FN, low, DTI_ROUND_STOCHASTIC);
    all.plan[4] = plan_new(DTI_FP4_E2M1, low, DTI_FP4_E2M1, bytes, even);
    all.plan[5] = plan_new(DTI_FP16, low, DTI_FP6_E3M2, high, even);
    all.plan[6] = plan_new(DTI_FP6_E3M2, high, DTI_BF16, low, even);
    all.plan[7] = plan_new(DTI_INT64, low, DTI_FP32, low, even);
    CHECK(dti_team_new(&teams[1], 2, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
    CHECK(dti_team_new(&teams[2], 7, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
}

static size_t src_bytes(const struct dti_batch_part *part)
{
    uint64_t bytes = part->elements;
    if (part->plan)
        CHECK(dti_plan_src_bytes(part->plan, part->elements, &bytes));
    return (size_t)bytes;
}

static size_t dst_bytes(const struct dti_batch_part *part)
{
    uint64_t bytes = part->elements;
    if (part->plan)
        CHECK(dti_plan_dst_bytes(part->plan, part->elements, &bytes));
    return (size_t)bytes;
}

/* Most parts directly follow the previous one in input and output; some do not. */
static void place_parts(void)
{
    size_t in = 8, out = 16;
    for (size_t i = 0; i < PARTS; i++) {
        struct dti_batch_part *const part = &all.parts[i];
        part->plan = all.plan[i % 7 < 4 ? 0 : next_random() % KINDS];
        part->elements = lengths[next_random() % LENGTHS];
        in += next_random() % 8 == 0 ? next_random() % 40 : 0;
        out += next_random() % 8 == 0 ? next_random() % 40 : 0;
        part->input_offset = in;
        part->output_offset = out;
        all.place[i] = all.packed_size;
        in += src_bytes(part);
        out += dst_bytes(part);
        all.packed_size += dst_bytes(part);
        all.input_bytes += src_bytes(part);
    }
    all.input_size = in + 5;
    all.output_size = out;
}

static void make_what_is_wanted(void)
{
    place_parts();
    all.input = malloc(all.input_size);
    all.output = calloc(1, all.output_size);
    all.packed = calloc(1, all.packed_size);
    if (!all.input || !all.output || !all.packed)
        exit(1);
    for (size_t i = 0; i < all.input_size; i++)
        all.input[i] = (unsigned char)next_random();
    for (size_t i = 0; i < PARTS; i++) {
        const struct dti_batch_part *const part = &all.parts[i];
        const unsigned char *const from = all.input + part->input_offset;
        unsigned char *const to = all.packed + all.place[i];
        dti_loss_init(&all.wanted[i]);
        if (part->plan)
            CHECK(dti_reference_run(dti_plan_request(part->plan), to, from, (size_t)part->elements,
                                    0, &all.wanted[i], &error) == DTI_OK);
        else
            memcpy(to, from, (size_t)part->elements);
        memcpy(all.output + part->output_offset, to, dst_bytes(part));
    }
}

static bool same_sum(const struct dti_exact_sum *a, const struct dti_exact_sum *b)
{
    return memcmp(a->word, b->word, sizeof a->word) == 0 && a->infinite == b->infinite;
}

static bool same_loss(const struct dti_loss *a, const struct dti_loss *b)
{
    return a->elements == b->elements && a->inexact == b->inexact &&
           a->overflowed == b->overflowed && a->to_zero == b->to_zero &&
           a->to_subnormal == b->to_subnormal && a->nan_in == b->nan_in && a->inf_in == b->inf_in &&
           a->no_code == b->no_code && a->stray == b->stray && a->compared == b->compared &&
           a->max_index == b->max_index && a->first_no_code == b->first_no_code &&
           memcmp(&a->max_absolute, &b->max_absolute, sizeof a->max_absolute) == 0 &&
           memcmp(&a->max_relative, &b->max_relative, sizeof a->max_relative) == 0 &&
           same_sum(&a->sum_absolute, &b->sum_absolute) &&
           same_sum(&a->sum_squared, &b->sum_squared) &&
           same_sum(&a->sum_source_squared, &b->sum_source_squared);
}

static uint64_t last_progress;

static void see_progress(void *context, uint64_t done)
{
    CHECK(done > last_progress && done <= *(const uint64_t *)context);
    last_progress = done;
}

/* The order in which parts are passed: any order if the output is seekable. */
static size_t part_at(size_t i, bool mixed)
{
    return mixed ? i * 7 % PARTS : i;
}

static enum dti_status run(const struct dti_input *input, struct dti_output_file *output,
                           size_t team, uint64_t memory, bool mixed)
{
    struct dti_batch_part parts[PARTS];
    for (size_t i = 0; i < PARTS; i++) {
        const size_t at = part_at(i, mixed);
        parts[i] = all.parts[at];
        parts[i].input = input;
        parts[i].output = output;
        parts[i].loss = at % 3 < 2 && parts[i].plan ? &all.got[at] : NULL;
        dti_loss_init(&all.got[at]);
    }
    const struct dti_batch_options options = {
        .max_memory = memory, .progress = see_progress, .progress_context = &all.input_bytes};
    last_progress = 0;
    return dti_batch_run(parts, PARTS, teams[team], &options, &error);
}

static void check_losses(void)
{
    CHECK_U64(last_progress, all.input_bytes);
    for (size_t i = 0; i < PARTS; i++)
        if (i % 3 < 2 && all.parts[i].plan && !CHECK(same_loss(&all.got[i], &all.wanted[i])))
            return;
}

static void files_get_the_same_bytes_whatever_the_team_and_the_memory(void)
{
    folder_enter();
    file_make("in", all.input, all.input_size);
    for (size_t way = 0; way < 2 * TEAMS * MEMORIES; way++) {
        struct dti_input input;
        struct dti_output_file *output = NULL;
        CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
        CHECK(dti_output_open(&output, "out", true, all.output_size, &error) == DTI_OK);
        /* bytes between the parts must not change */
        CHECK(dti_output_write_at(output, all.output, 16, 0, &error) == DTI_OK);
        CHECK(run(&input, output, way / 2 % TEAMS, memories[way / 2 / TEAMS], way % 2 == 1) ==
              DTI_OK);
        CHECK(dti_output_commit(output, &error) == DTI_OK);
        CHECK(file_is("out", all.output, all.output_size));
        check_losses();
        dti_input_close(&input);
    }
    folder_leave();
}

static unsigned char *collected;
static size_t collected_size;

static void *collect(void *context)
{
    const int fd = open("pipe", O_RDONLY);
    (void)context;
    collected_size = 0;
    for (ssize_t got; (got = read(fd, collected + collected_size, 10000)) > 0;)
        collected_size += (size_t)got;
    close(fd);
    return NULL;
}

static void pipes_get_the_parts_one_after_another(void)
{
    folder_enter();
    file_make("in", all.input, all.input_size);
    CHECK(mkfifo("pipe", 0600) == 0);
    collected = malloc(all.packed_size + 10000);
    for (size_t way = 0; way < TEAMS * MEMORIES && collected; way++) {
        struct dti_input input;
        struct dti_output_file *output = NULL;
        pthread_t reader;
        CHECK(pthread_create(&reader, NULL, collect, NULL) == 0);
        CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
        CHECK(dti_output_open(&output, "pipe", true, 0, &error) == DTI_OK);
        CHECK(run(&input, output, way % TEAMS, memories[way / TEAMS], false) == DTI_OK);
        CHECK(dti_output_commit(output, &error) == DTI_OK);
        pthread_join(reader, NULL);
        CHECK(collected_size == all.packed_size &&
              memcmp(collected, all.packed, all.packed_size) == 0);
        check_losses();
        dti_input_close(&input);
    }
    free(collected);
    folder_leave();
}

static void standard_input_counts_from_where_it_stood(void)
{
    struct dti_input input;
    struct dti_output_file *output = NULL;
    folder_enter();
    file_make("in", "0123456789", 10);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    input.start = 3; /* as dti_input_open() sets it */
    input.size = 7;
    CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
    const struct dti_batch_part part = {
        .input = &input, .input_offset = 2, .elements = 5, .output = output};
    CHECK(dti_batch_run(&part, 1, NULL, NULL, &error) == DTI_OK);
    CHECK(dti_output_commit(output, &error) == DTI_OK);
    CHECK(file_is("out", "56789", 5));
    dti_input_close(&input);
    folder_leave();
}

/* Parts with consecutive offsets but in different files. */
static void parts_of_several_files_do_not_mix(void)
{
    struct dti_input inputs[2];
    struct dti_output_file *outputs[3] = {NULL};
    pthread_t reader;
    folder_enter();
    file_make("in0", "0123456789", 10);
    file_make("in1", "abcdefghij", 10);
    CHECK(mkfifo("pipe", 0600) == 0);
    collected = malloc(10001);
    CHECK(pthread_create(&reader, NULL, collect, NULL) == 0);
    CHECK(dti_input_open(&inputs[0], "in0", &error) == DTI_OK);
    CHECK(dti_input_open(&inputs[1], "in1", &error) == DTI_OK);
    CHECK(dti_output_open(&outputs[0], "out0", true, 0, &error) == DTI_OK);
    CHECK(dti_output_open(&outputs[1], "out1", true, 0, &error) == DTI_OK);
    CHECK(dti_output_open(&outputs[2], "pipe", true, 0, &error) == DTI_OK);
    const struct dti_batch_part parts[] = {
        {NULL, &inputs[0], 0, 3, outputs[0], 0, NULL, {NULL, NULL, 0}},
        {NULL, &inputs[1], 3, 2, outputs[0], 3, NULL, {NULL, NULL, 0}}, /* another input */
        {NULL, &inputs[1], 5, 2, outputs[1], 5, NULL, {NULL, NULL, 0}}, /* another output */
        {NULL, &inputs[1], 7, 2, outputs[1], 0, NULL, {NULL, NULL, 0}},
        {NULL, &inputs[0], 0, 2, outputs[2], 0, NULL, {NULL, NULL, 0}},
        {NULL, &inputs[0], 2, 2, outputs[1], 2, NULL, {NULL, NULL, 0}},
        {NULL, &inputs[0], 4, 1, outputs[2], 2, NULL, {NULL, NULL, 0}},
        {NULL, &inputs[0], 6, 1, outputs[1], 4, NULL, {NULL, NULL, 0}},
    };
    CHECK(dti_batch_run(parts, 8, teams[1], NULL, &error) == DTI_OK);
    for (size_t i = 0; i < 3; i++)
        CHECK(dti_output_commit(outputs[i], &error) == DTI_OK);
    pthread_join(reader, NULL);
    CHECK(file_is("out0", "012de", 5));
    CHECK(file_is("out1", "hi236fg", 7));
    CHECK(collected_size == 3 && memcmp(collected, "014", 3) == 0);
    dti_input_close(&inputs[0]);
    dti_input_close(&inputs[1]);
    free(collected);
    folder_leave();
}

static void see_steps(void *context, uint64_t done)
{
    uint64_t *const longest = context;
    if (done - last_progress > *longest)
        *longest = done - last_progress;
    last_progress = done;
}

static void no_block_is_larger_than_the_memory(void)
{
    enum { MANY = 500, SIZE = 3000, LARGE = 3000000 };
    struct dti_batch_part parts[MANY + 1];
    struct dti_input input;
    unsigned char *const bytes = calloc(1, MANY * SIZE + LARGE);
    folder_enter();
    file_make("in", bytes, MANY * SIZE + LARGE);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    for (size_t i = 0; i < MANY + 1; i++)
        parts[i] = (struct dti_batch_part){.input = &input,
                                           .input_offset = i * SIZE,
                                           .elements = i < MANY ? SIZE : LARGE,
                                           .output_offset = i * SIZE};
    for (uint64_t memory = 50000; memory < 1000000; memory *= 2) {
        uint64_t longest = 0;
        struct dti_output_file *output = NULL;
        const struct dti_batch_options options = {
            .max_memory = memory, .progress = see_steps, .progress_context = &longest};
        CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
        for (size_t i = 0; i < MANY + 1; i++)
            parts[i].output = output;
        last_progress = 0;
        CHECK(dti_batch_run(parts, MANY + 1, NULL, &options, &error) == DTI_OK);
        CHECK(longest > memory / 4 && longest < memory);
        dti_output_discard(output);
    }
    dti_input_close(&input);
    folder_leave();
    free(bytes);
}

static void free_all(void)
{
    for (size_t i = 0; i < KINDS; i++)
        dti_plan_free(all.plan[i]);
    for (size_t i = 0; i < TEAMS; i++)
        dti_team_free(teams[i]);
    free(all.input);
    free(all.output);
    free(all.packed);
}

UNIT_MAIN(make_plans, make_what_is_wanted,
          files_get_the_same_bytes_whatever_the_team_and_the_memory,
          pipes_get_the_parts_one_after_another, standard_input_counts_from_where_it_stood,
          parts_of_several_files_do_not_mix, no_block_is_larger_than_the_memory, free_all)
