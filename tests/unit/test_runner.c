/* SPDX-License-Identifier: MIT
 *
 * Runners: the choice of the device, blocks of any size from any number of threads, memory,
 * transfers and batches through a device. */
#include "convert/batch.h"
#include "convert/convert.h"
#include "convert/runner_parts.h"
#include "device_plans.h"
#include "devices/gpu/gpu.h"
#include "folder.h"
#include "tally.h"

static void the_cpu_is_no_runner(void)
{
    const struct dti_device_choice choice = {.kind = DTI_DEVICE_CPU};
    struct dti_runner *runner = runner_new(DTI_DEVICE_CUDA, 0);
    dti_runner_close(runner);
    CHECK(dti_runner_open(&runner, &choice, &error) == DTI_OK);
    CHECK(runner == NULL);
    CHECK_STR(dti_runner_device(NULL), "cpu");
    CHECK_STR(dti_runner_reason(NULL), "");
    CHECK_SIZE(dti_runner_threads(NULL, 5), 5);
    void *const memory = dti_runner_alloc(NULL, 12345);
    CHECK(memory != NULL);
    dti_runner_free(NULL, memory);
    dti_runner_close(NULL);
}

static void all_devices_are_too_many_for_a_cast(void)
{
    const struct dti_device_choice choice = {.kind = DTI_DEVICE_ALL};
    struct dti_runner *runner;
    CHECK(dti_runner_open(&runner, &choice, &error) == DTI_USAGE);
}

static void a_device_that_is_not_there_is_refused(void)
{
    const struct dti_device_choice choice = {.kind = DTI_DEVICE_CUDA, .number = 7};
    struct dti_runner *runner;
    CHECK(dti_runner_open(&runner, &choice, &error) == DTI_UNAVAILABLE);
    CHECK_STR(error.text, "cuda:7 does not exist; there are 2 devices, cuda:0 to cuda:1");
}

static void devices_are_told_apart(void)
{
    struct dti_runner *const first = runner_new(DTI_DEVICE_AUTO, 0);
    struct dti_runner *const second = runner_new(DTI_DEVICE_CUDA, 1);
    const struct dti_request request = request_of(DTI_FP32, DTI_BF16);
    CHECK_STR(dti_runner_device(first), "cuda:0");
    CHECK_STR(dti_runner_device(second), "cuda:1");
    CHECK(dti_runner_threads(first, 2) == 3);
    check_on_device(&request, first, NULL, 12345, 0);
    check_on_device(&request, second, NULL, 12345, 0);
    CHECK_STR(dti_runner_device(first), "cuda:0");
    CHECK_STR(dti_runner_reason(first), "");
    dti_runner_close(second);
    dti_runner_close(first);
}

static void arrays_of_any_size_go_in_pieces(void)
{
    static const size_t sizes[] = {
        0, 1, DTI_TILE, DTI_TILE + 1, (1 << 18) - 1, (1 << 20) + 3, (5 << 20) + 777};
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    const struct dti_request request = request_of(DTI_FP32, DTI_FP8_E4M3FN);
    struct dti_team *team;
    CHECK(dti_team_new(&team, 3, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if ((i + 1) % unit_each(2) == 0)
            check_on_device(&request, runner, NULL, sizes[i], (uint64_t)i * 7 * DTI_TILE);
        check_on_device(&request, runner, team, sizes[i], 0);
    }
    dti_team_free(team);
    dti_runner_close(runner);
}

/* Many threads with their own blocks, some of them in pinned memory. */
struct crowd {
    struct dti_runner *runner;
    const struct dti_plan *plan, *plain;
    bool ok[16];
};

static void cast_blocks(void *context, size_t member, size_t size)
{
    struct crowd *const crowd = context;
    const size_t n = 40 * DTI_TILE + member * 17;
    struct dti_error mine;
    bool ok = true;
    (void)size;
    for (unsigned round = 0; round < 6 / unit_each(3) && ok; round++) {
        const bool pinned = round % 2 != 0;
        float *const src = pinned ? dti_runner_alloc(crowd->runner, 4 * n) : malloc(4 * n);
        uint16_t *const dst = pinned ? dti_runner_alloc(crowd->runner, 2 * n) : malloc(2 * n);
        uint16_t *const want = malloc(2 * n);
        struct dti_loss loss, want_loss;
        if (!src || !dst || !want)
            exit(1);
        for (size_t i = 0; i < n; i++)
            src[i] = (float)((i * 7919 + member * 13 + round) % 100003) / 7;
        dti_loss_init(&loss);
        dti_loss_init(&want_loss);
        ok = dti_plan_run(crowd->plan, dst, src, n, 0, DTI_STORES_CACHED, &loss, &mine) == DTI_OK &&
             dti_plan_run(crowd->plain, want, src, n, 0, DTI_STORES_CACHED, &want_loss, &mine) ==
                 DTI_OK &&
             memcmp(dst, want, 2 * n) == 0 && same_loss(&loss, &want_loss);
        if (pinned) {
            dti_runner_free(crowd->runner, src);
            dti_runner_free(crowd->runner, dst);
        } else {
            free(src);
            free(dst);
        }
        free(want);
    }
    crowd->ok[member] = ok;
}

static void many_threads_share_a_device(void)
{
    struct crowd crowd = {.runner = runner_new(DTI_DEVICE_CUDA, 0)};
    const struct dti_request request = request_of(DTI_FP32, DTI_BF16);
    struct dti_plan *plan, *plain;
    struct dti_team *team;
    const char *why;
    CHECK(dti_plan_new(&plain, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    CHECK(dti_plan_set_runner(plan, crowd.runner, &why, &error) == DTI_OK);
    CHECK(dti_team_new(&team, 16, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
    crowd.plan = plan;
    crowd.plain = plain;
    dti_team_run(team, cast_blocks, &crowd);
    for (size_t i = 0; i < 16; i++)
        CHECK(crowd.ok[i]);
    CHECK_STR(dti_runner_device(crowd.runner), "cuda:0");
    dti_team_free(team);
    dti_plan_free(plan);
    dti_plan_free(plain);
    dti_runner_close(crowd.runner);
}

/* One plan after another in the same runner; each has its own tables. */
static void a_thousand_casts_leave_no_memory_behind(void)
{
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    struct dti_gpu *gpu = NULL;
    uint64_t before = 0, after = 1;
    if (!CHECK(dti_gpu_open(&gpu, 0, &error) == DTI_OK))
        return;
    for (unsigned i = 0; i <= 1000; i++) {
        const struct dti_request request =
            request_of(i % 2 ? DTI_FP32 : DTI_FP8_E5M2, i % 3 ? DTI_BF16 : DTI_FP8_E4M3FN);
        if (!check_on_device(&request, runner, NULL, i % 7 == 0 ? 3 * DTI_TILE + 77 : i, 0))
            break;
        if (i == 50)
            CHECK(dti_gpu_free_bytes(gpu, &before, &error) == DTI_OK);
    }
    CHECK(dti_gpu_free_bytes(gpu, &after, &error) == DTI_OK);
    CHECK_U64(after, before);
    dti_runner_close(runner);
    CHECK(dti_gpu_free_bytes(gpu, &after, &error) == DTI_OK);
    CHECK(after > before);
    dti_gpu_close(gpu);
}

/* fp32 numbers and the bf16 codes of their upper halves. */
static void make_source(size_t n, float **ret_src, uint16_t **ret_want)
{
    *ret_src = malloc(4 * n + 1);
    *ret_want = malloc(2 * n + 1);
    if (!*ret_src || !*ret_want)
        exit(1);
    for (size_t i = 0; i < n; i++) {
        const uint16_t code = (uint16_t)((i * 40503) % 0x7f00 + 0x80);
        const uint32_t wide = (uint32_t)code << 16;
        memcpy(*ret_src + i, &wide, sizeof wide);
        (*ret_want)[i] = code;
    }
}

static struct dti_plan *plan_new(struct dti_runner *runner, enum dti_dtype src, enum dti_dtype dst)
{
    const struct dti_request request = request_of(src, dst);
    struct dti_plan *plan = NULL;
    const char *why;
    if (!CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK) ||
        !CHECK(dti_plan_set_runner(plan, runner, &why, &error) == DTI_OK))
        exit(1);
    return plan;
}

static void transfers_go_through_the_device(void)
{
    enum { MANY = 700000 };
    folder_enter();
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    struct dti_plan *const plan = plan_new(runner, DTI_FP32, DTI_BF16);
    struct dti_team *team;
    float *src;
    uint16_t *want;
    make_source(MANY, &src, &want);
    file_make("in", src, 4 * MANY);
    CHECK(dti_team_new(&team, 3, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
    for (int way = 0; way < 4; way++) {
        const struct dti_transfer_options options = {.block_bytes = way % 2 ? 100000 : 0};
        struct dti_input input;
        struct dti_output_file *output = NULL;
        struct dti_loss loss;
        uint64_t elements = 0;
        dti_loss_init(&loss);
        CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
        CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
        const struct dti_transfer transfer = {
            .input = &input, .elements = DTI_UNTIL_END, .output = output};
        CHECK(dti_transfer_run(plan, way < 2 ? NULL : team, &transfer, &options, &loss, &elements,
                               &error) == DTI_OK);
        CHECK(dti_output_commit(output, &error) == DTI_OK);
        dti_input_close(&input);
        CHECK_U64(elements, MANY);
        CHECK_U64(loss.elements, MANY);
        CHECK_U64(loss.inexact, 0);
        CHECK(file_is("out", want, 2 * MANY));
    }
    dti_team_free(team);
    dti_plan_free(plan);
    dti_runner_close(runner);
    free(src);
    free(want);
    folder_leave();
}

static void batches_go_through_the_device(void)
{
    enum { MANY = 700000 };
    folder_enter();
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    struct dti_plan *const plan = plan_new(runner, DTI_FP32, DTI_BF16);
    struct dti_input input;
    struct dti_output_file *output = NULL;
    float *src;
    uint16_t *want;
    make_source(MANY, &src, &want);
    file_make("in", src, 4 * MANY);
    CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    CHECK(dti_output_open(&output, "out", true, 0, &error) == DTI_OK);
    struct dti_batch_part parts[50];
    uint64_t first = 0;
    for (size_t i = 0; i < 50; i++) {
        const uint64_t n = i == 49 ? MANY - first : i == 20 ? 500000 : i * 2;
        parts[i] = (struct dti_batch_part){.plan = plan,
                                           .input = &input,
                                           .input_offset = 4 * first,
                                           .elements = n,
                                           .output = output,
                                           .output_offset = 2 * first};
        first += n;
    }
    CHECK(dti_batch_run(parts, 50, NULL, NULL, &error) == DTI_OK);
    CHECK(dti_output_commit(output, &error) == DTI_OK);
    dti_input_close(&input);
    CHECK(file_is("out", want, 2 * MANY));
    dti_plan_free(plan);
    dti_runner_close(runner);
    free(src);
    free(want);
    folder_leave();
}

static void a_lane_without_memory_is_none_until_there_is_some(void)
{
    struct tally tally = {0};
    struct dti_caller caller = tally_caller(&tally);
    struct dti_lane *lane = NULL;
    struct dti_call call;
    dti_call_begin(&call, &caller);
    struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
    tally.fails_at = 1;
    CHECK(dti_lane_take(runner, &lane, &error) == DTI_NO_MEMORY);
    CHECK(!lane);
    tally.fails_at = 0;
    CHECK(dti_lane_take(runner, &lane, &error) == DTI_OK);
    dti_lane_give(runner, lane);
    dti_runner_close(runner);
    dti_call_end(&call);
    CHECK(tally_is_even(&caller, &tally));
}

static void *allocate_failing_once(void *context, void *block, size_t size, size_t alignment)
{
    struct tally *const tally = context;
    void *const made = tally_allocate(tally, block, size, alignment);
    if (size > 0 && !made)
        tally->fails_at = 0;
    return made;
}

/* The plan has a table, which goes to the device first. */
static void a_plan_whose_table_memory_runs_out_for_is_refused(void)
{
    const struct dti_request request = request_of(DTI_POSIT8, DTI_FP32);
    struct tally tally = {0};
    struct dti_caller caller = {.allocate = allocate_failing_once, .allocate_context = &tally};
    struct dti_call call;
    dti_call_begin(&call, &caller);
    bool failed = true;
    size_t at = 0;
    while (failed && at < 100) {
        struct dti_runner *const runner = runner_new(DTI_DEVICE_CUDA, 0);
        struct dti_plan *plan = NULL;
        const char *why = NULL;
        CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK);
        tally.calls = 0;
        tally.fails_at = ++at;
        const enum dti_status status = dti_plan_set_runner(plan, runner, &why, &error);
        failed = tally.fails_at == 0;
        tally.fails_at = 0;
        if (!CHECK(status == (failed ? DTI_NO_MEMORY : DTI_OK)))
            printf("  allocation %zu\n", at);
        dti_plan_free(plan);
        dti_runner_close(runner);
    }
    CHECK(at > 2 && at < 100);
    dti_call_end(&call);
    CHECK(tally_is_even(&caller, &tally));
}

UNIT_MAIN(the_cpu_is_no_runner, all_devices_are_too_many_for_a_cast,
          a_device_that_is_not_there_is_refused, devices_are_told_apart,
          arrays_of_any_size_go_in_pieces, many_threads_share_a_device,
          a_thousand_casts_leave_no_memory_behind, transfers_go_through_the_device,
          batches_go_through_the_device, a_lane_without_memory_is_none_until_there_is_some,
          a_plan_whose_table_memory_runs_out_for_is_refused)
