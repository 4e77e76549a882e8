/* SPDX-License-Identifier: MIT
 *
 * Batches that fail, and their error messages. */
#include "convert/batch.h"
#include "folder.h"

enum { TEAMS = 3 };

static struct dti_error error;
static struct dti_team *teams[TEAMS]; /* the first is NULL: no team */
static struct dti_plan *to_bf16;

static void make_teams(void)
{
    const struct dti_request request = {.src = *dti_format_get(DTI_FP32),
                                        .cast = {.dst = *dti_format_get(DTI_BF16)}};
    CHECK(dti_plan_new(&to_bf16, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    CHECK(dti_team_new(&teams[1], 2, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
    CHECK(dti_team_new(&teams[2], 7, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
}

static void free_teams(void)
{
    dti_plan_free(to_bf16);
    for (size_t i = 0; i < TEAMS; i++)
        dti_team_free(teams[i]);
}

/* Two adjacent parts. */
static enum dti_status run_two(const struct dti_input *input, struct dti_output_file *output,
                               const struct dti_plan *plan, uint64_t n, size_t team)
{
    uint64_t src = n, dst = n;
    if (plan)
        CHECK(dti_plan_src_bytes(plan, n, &src) && dti_plan_dst_bytes(plan, n, &dst));
    const struct dti_batch_part parts[] = {
        {.plan = plan, .input = input, .elements = n, .output = output},
        {.plan = plan,
         .input = input,
         .elements = n,
         .output = output,
         .input_offset = src,
         .output_offset = dst},
    };
    return dti_batch_run(parts, 2, teams[team], NULL, &error);
}

static void what_cannot_be_is_said_before_anything_is_written(void)
{
    struct dti_input input;
    struct dti_output_file *output = NULL;
    folder_enter();
    file_make("in", "01234567", 8);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
    CHECK(run_two(&input, output, to_bf16, 1, 0) == DTI_OK);
    CHECK(run_two(&input, output, to_bf16, 2, 0) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "'in': 0 bytes are too few for 2 fp32");
    CHECK(run_two(&input, output, NULL, 5, 0) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "'in': 3 bytes are too few for 5 bytes");
    struct dti_batch_part part = {
        .plan = to_bf16, .input = &input, .output = output, .input_offset = UINT64_MAX};
    CHECK(dti_batch_run(&part, 1, NULL, NULL, &error) == DTI_OK); /* an empty part is not read */
    part.elements = 1;
    CHECK(dti_batch_run(&part, 1, NULL, NULL, &error) == DTI_BAD_INPUT);
    part.input_offset = 0;
    part.elements = UINT64_MAX / 2;
    CHECK(dti_batch_run(&part, 1, NULL, NULL, &error) == DTI_BAD_INPUT);
    part.elements = 2;
    part.output_offset = INT64_MAX - 3;
    CHECK(dti_batch_run(&part, 1, NULL, NULL, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, "'in': 2 fp32 are too many for a file");
    CHECK(dti_batch_run(NULL, 0, NULL, NULL, &error) == DTI_OK);
    dti_output_discard(output);
    dti_input_close(&input);
    CHECK_U64(folder_leave(), 1);
}

static void the_input_is_not_written_over(void)
{
    struct dti_input input;
    struct dti_output_file *output = NULL;
    folder_enter();
    file_make("in", "01234567", 8);
    const int before = dup(STDOUT_FILENO), fd = open("in", O_WRONLY);
    (void)fflush(stdout);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    if (CHECK(before >= 0 && dup2(fd, STDOUT_FILENO) == STDOUT_FILENO)) {
        const enum dti_status opened = dti_output_open(&output, "-", false, 0, &error);
        const enum dti_status status =
            opened == DTI_OK ? run_two(&input, output, NULL, 4, 0) : DTI_BUG;
        dti_output_discard(output);
        CHECK(dup2(before, STDOUT_FILENO) == STDOUT_FILENO);
        CHECK(status == DTI_USAGE);
        CHECK_STR(error.text, "'in' is also the output; name another file");
    }
    close(before);
    close(fd);
    dti_input_close(&input);
    CHECK(file_is("in", "01234567", 8));
    folder_leave();
}

static void a_file_that_becomes_shorter_is_an_error(void)
{
    static const uint64_t many[] = {100, 100000}; /* one block for both parts, or several blocks */
    folder_enter();
    for (size_t way = 0; way < 2 * TEAMS; way++) {
        const uint64_t n = many[way / TEAMS];
        struct dti_input input;
        struct dti_output_file *output = NULL;
        unsigned char *const zeros = calloc((size_t)n, 8);
        char wanted[128];
        file_make("in", zeros, (size_t)n * 8);
        CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
        CHECK(truncate("in", (off_t)(4 * n + 10)) == 0);
        CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
        CHECK(run_two(&input, output, to_bf16, n, way % TEAMS) == DTI_BAD_INPUT);
        snprintf(wanted, sizeof wanted,
                 "'in' shrank while being read: it ends at byte %llu of %llu",
                 (unsigned long long)(4 * n + 10), (unsigned long long)(8 * n));
        CHECK_STR(error.text, wanted);
        dti_output_discard(output);
        dti_input_close(&input);
        free(zeros);
    }
    CHECK_U64(folder_leave(), 1);
}

/* Both parts are in one block, and the second cannot be read. */
static void the_error_of_the_first_part_comes_first(void)
{
    struct dti_request request = {.src = *dti_format_get(DTI_FP32),
                                  .cast = {.dst = *dti_format_get(DTI_INT8)}};
    struct dti_plan *plan = NULL;
    struct dti_input input;
    struct dti_output_file *output = NULL;
    const float numbers[4] = {1, 300, 1, 1};
    request.rule = dti_stack_find(DTI_STACK_NUMPY, &request.cast.dst);
    CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    folder_enter();
    file_make("in", numbers, sizeof numbers);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    CHECK(truncate("in", 9) == 0);
    CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
    CHECK(run_two(&input, output, plan, 2, 0) == DTI_NOT_REPRESENTABLE);
    CHECK(strncmp(error.text, "element 1, 300: ", 16) == 0);
    dti_output_discard(output);
    dti_input_close(&input);
    folder_leave();
    dti_plan_free(plan);
}

UNIT_MAIN(make_teams, what_cannot_be_is_said_before_anything_is_written,
          the_input_is_not_written_over, a_file_that_becomes_shorter_is_an_error,
          the_error_of_the_first_part_comes_first, free_teams)
