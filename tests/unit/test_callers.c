/* SPDX-License-Identifier: MIT
 *
 * Files and arrays on behalf of callers: memory that runs out at each allocation, two callers in
 * two threads, calls that are cancelled, and pools of threads that the caller brings. */
#include <pthread.h>

#include "convert/quant_plan.h"
#include "files/rewrite/rewrite.h"
#include "files/scan/scan.h"
#include "folder.h"
#include "pools.h"
#include "tally.h"
#include "unit.h"
#include "util/run/clock.h"

enum { NUMBERS = 3 * DTI_TILE + 5, LARGE = 3000 * DTI_TILE + 21, WIDTH = 3 };

/* Two tensors of fp32. */
static void make_file(const char *name, size_t n)
{
    char text[512];
    const int length =
        snprintf(text + 8, sizeof text - 8,
                 "{\"a\":{\"dtype\":\"F32\",\"shape\":[%zu],\"data_offsets\":[0,%zu]},"
                 "\"b\":{\"dtype\":\"F32\",\"shape\":[7],\"data_offsets\":[%zu,%zu]}}",
                 n, 4 * n, 4 * n, 4 * n + 28);
    const size_t head = 8 + (size_t)length, size = head + 4 * n + 28;
    unsigned char *const file = calloc(size, 1);
    if (!CHECK(file != NULL))
        exit(1);
    memcpy(file, text, head);
    memset(file, 0, 8);
    file[0] = (unsigned char)length;
    for (size_t i = 0; i < n + 7; i++) {
        const float number = (float)(i % 1009) * 0.37f - 100;
        memcpy(file + head + 4 * i, &number, 4);
    }
    file_make(name, file, size);
    free(file);
}

/* What a caller does: each of these opens "in" and frees what it made. */
static enum dti_status do_open(const char *path, struct dti_team *team, struct dti_error *error)
{
    struct dti_container *container = NULL;
    (void)team;
    const enum dti_status status = dti_container_open(&container, path, NULL, error);
    if (status == DTI_OK)
        dti_container_free(container);
    return status;
}

static enum dti_status do_stats(const char *path, struct dti_team *team, struct dti_error *error)
{
    static _Thread_local struct dti_tensor_stats stats[2];
    const struct dti_scan_options options = {.team = team};
    struct dti_container *container = NULL;
    enum dti_status status = dti_container_open(&container, path, NULL, error);
    if (status != DTI_OK)
        return status;
    stats[0].tensor = 0;
    stats[1].tensor = 1;
    status = dti_scan_stats(container, stats, 2, &options, error);
    if (status == DTI_OK)
        CHECK(stats[0].stats.elements > 7 && stats[0].stats.nan == 0);
    dti_container_free(container);
    return status;
}

static enum dti_status cast_to(const char *path, const char *out, struct dti_team *team,
                               struct dti_error *error)
{
    struct dti_rewrite_request request = {.kind = DTI_CONTAINER_SAFETENSORS, .path = out};
    const struct dti_rewrite_options options = {.team = team, .max_memory = 1 << 20};
    struct dti_container *container = NULL;
    struct dti_rewrite *cast = NULL;
    request.cast.cast.dst = *dti_format_get(DTI_BF16);
    enum dti_status status = dti_container_open(&container, path, NULL, error);
    if (status != DTI_OK)
        return status;
    status = dti_rewrite_new(&cast, container, &request, error);
    if (status == DTI_OK)
        status = dti_rewrite_open(cast, true, error);
    if (status == DTI_OK)
        status = dti_rewrite_run(cast, &options, error);
    if (status == DTI_OK)
        status = dti_new_files_commit(&cast->files, error);
    dti_rewrite_free(cast);
    dti_container_free(container);
    return status;
}

static enum dti_status do_cast(const char *path, struct dti_team *team, struct dti_error *error)
{
    return cast_to(path, "out", team, error);
}

/* The same two tensors, by an index of shards. */
static enum dti_status do_open_shards(const char *path, struct dti_team *team,
                                      struct dti_error *error)
{
    (void)path;
    return do_open("in.index.json", team, error);
}

/* Files of a folder that are copied: all of them are in the list, or the call fails. */
static enum dti_status do_copies(const char *path, struct dti_team *team, struct dti_error *error)
{
    static const char *const names[] = {"config.json", "tokenizer.json", "merges.txt"};
    struct dti_new_files files;
    size_t count = 0;
    enum dti_status status = DTI_OK;
    (void)team;
    dti_new_files_init(&files, NULL, DTI_CONTAINER_SHARDED, "folder");
    for (; count < 3 && status == DTI_OK; count++)
        status = dti_new_files_add_copy(&files, names[count], path, error);
    if (status == DTI_OK)
        CHECK(files.count == count && files.companions == count);
    dti_new_files_free(&files);
    return status;
}

/* Numbers too long for the short ways; none of them is exact in 64 bits. */
static enum dti_status do_numbers(const char *path, struct dti_team *team, struct dti_error *error)
{
    static const char *const texts[] = {
        "3.1415926535897932384626433832795028841971693993751058209749445923e-4000",
        "27182818284590452353602874713526624977572470936999595749669676277e2000/3e-4000"};
    enum dti_status status = DTI_OK;
    (void)path;
    (void)team;
    for (size_t i = 0; i < 2 && status == DTI_OK; i++) {
        struct dti_number number;
        struct dti_value value = {.kind = DTI_CLASS_NAN}, same = {.kind = DTI_CLASS_INF};
        status = dti_number_parse_value(&number, &value, texts[i], strlen(texts[i]), error);
        if (status == DTI_OK && CHECK(value.kind == DTI_CLASS_FINITE))
            dti_number_free(&number);
        if (status == DTI_OK)
            status = dti_value_parse(&same, texts[i], strlen(texts[i]), error);
        if (status == DTI_OK)
            CHECK(same.kind == DTI_CLASS_FINITE && value.hi == same.hi && value.lo == same.lo &&
                  value.exponent == same.exponent);
    }
    return status;
}

typedef enum dti_status deed(const char *path, struct dti_team *team, struct dti_error *error);
/* The last ones do with less memory if they must: without reading ahead, or with smaller pieces. */
static deed *const deeds[] = {do_open, do_open_shards, do_numbers, do_copies, do_stats, do_cast};
enum { DEEDS = sizeof deeds / sizeof deeds[0], FRUGAL = 4 };

/* Fails at one allocation after another, until there are no more of them. */
static void memory_may_run_out_at_each_allocation(void)
{
    folder_enter();
    static const char map[] = "{\"weight_map\":{\"a\":\"in\",\"b\":\"in\"}}";
    make_file("in", NUMBERS);
    file_make("in.index.json", map, sizeof map - 1);
    for (size_t i = 0; i < DEEDS; i++) {
        enum dti_status status = DTI_NO_MEMORY;
        size_t failed = 0;
        for (size_t n = 1; status == DTI_NO_MEMORY && n < 10000; n++) {
            struct tally tally = {.fails_at = n};
            struct dti_caller caller = tally_caller(&tally);
            struct dti_call call;
            struct dti_team *team = NULL;
            struct dti_error error = {.text = ""};
            dti_call_begin(&call, &caller);
            status = dti_team_new_with(&team, pool_in_turn, NULL, 2, &error);
            if (status == DTI_OK)
                status = deeds[i]("in", team, &error);
            dti_team_free(team);
            dti_call_end(&call);
            failed += status != DTI_OK;
            const bool none = atomic_load(&tally.calls) < n; /* failed */
            if (!CHECK(status == DTI_OK ? none || i >= FRUGAL : status == DTI_NO_MEMORY) ||
                !tally_is_even(&caller, &tally) ||
                !CHECK(access("out", F_OK) == 0 ? status == DTI_OK : true)) {
                printf("  deed %zu, allocation %zu: %s\n", i, n, error.text);
                break;
            }
        }
        CHECK(status == DTI_OK && failed > 3);
    }
    CHECK_U64(folder_leave(), 3);
}

struct worker {
    struct tally tally;
    struct dti_caller caller;
    pthread_t thread;
    const char *path, *out;
    unsigned errors;
    bool disturbed; /* its input changes while it is read */
};

static void *work(void *context)
{
    struct worker *const worker = context;
    for (unsigned i = 0; i < 20; i++) {
        struct dti_call call;
        struct dti_team *team = NULL;
        struct dti_input input;
        struct dti_error error = {.text = ""};
        dti_call_begin(&call, &worker->caller);
        worker->errors += dti_team_new(&team, 2, DTI_WAIT_SLEEP, false, &error) != DTI_OK;
        worker->errors += do_stats(worker->path, team, &error) != DTI_OK;
        worker->errors += cast_to(worker->path, worker->out, team, &error) != DTI_OK;
        worker->errors += dti_inputs_unchanged(&error) != DTI_OK;
        dti_inputs_forget();
        if (worker->disturbed) {
            worker->errors += dti_input_open(&input, "changing", &error) != DTI_OK;
            make_file("changing", 101 + i); /* another size: its time may be the same */
            worker->errors += dti_inputs_unchanged(&error) != DTI_BAD_INPUT;
            dti_inputs_forget(); /* the next call looks again */
            worker->errors += dti_inputs_unchanged(&error) != DTI_OK;
            dti_inputs_resume();
            worker->errors += dti_inputs_unchanged(&error) != DTI_BAD_INPUT;
            dti_input_close(&input);
            dti_inputs_forget();
        }
        dti_team_free(team);
        dti_call_end(&call);
    }
    return NULL;
}

static void two_callers_do_not_disturb_each_other(void)
{
    static struct worker workers[2];
    folder_enter();
    make_file("in", 40 * NUMBERS);
    make_file("changing", 100);
    for (size_t i = 0; i < 2; i++) {
        workers[i] =
            (struct worker){.path = "in", .out = i == 0 ? "out0" : "out1", .disturbed = i == 0};
        workers[i].caller = tally_caller(&workers[i].tally);
        CHECK(pthread_create(&workers[i].thread, NULL, work, &workers[i]) == 0);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK_U64(workers[i].errors, 0);
        CHECK(atomic_load(&workers[i].tally.calls) > 100);
        tally_is_even(&workers[i].caller, &workers[i].tally);
    }
    CHECK_U64(folder_leave(), 4);
}

static bool at_once(void *context)
{
    ++*(unsigned *)context;
    return true;
}

static size_t length = LARGE; /* of what is long */

/* Runs until it is cancelled, which may take some calls: one that is short asks no one. On a fast
 * machine all of them may be: then there is more to do. */
static bool check_cancelled(deed *act, struct dti_team *team)
{
    struct tally tally = {0};
    unsigned asked;
    struct dti_caller caller = tally_caller(&tally);
    struct dti_error error = {.text = ""};
    enum dti_status status = DTI_OK;
    caller.interrupted = at_once;
    caller.interrupted_context = &asked;
    for (unsigned i = 0; i < 9 && status == DTI_OK; i++) {
        struct dti_call call;
        if (i > 0 && i % 3 == 0 && length < 4 * LARGE)
            make_file("in", 4 * (length *= 2));
        asked = 0;
        dti_call_begin(&call, &caller);
        status = act("in", team, &error);
        dti_call_end(&call);
    }
    if (!tally_is_even(&caller, &tally) || !CHECK(status == DTI_CANCELLED))
        return false;
    CHECK(error.status == DTI_CANCELLED);
    CHECK_STR(error.text, "cancelled");
    CHECK_U64(asked, 1);
    CHECK_I64(dti_status_exit(status), 130);
    CHECK_STR(dti_status_code(status), "cancelled");
    return true;
}

static enum dti_status do_array(const char *path, struct dti_team *team, struct dti_error *error)
{
    struct dti_request request = {.src = *dti_format_get(DTI_FP32)};
    struct dti_plan *plan = NULL;
    const size_t n = 16 * LARGE;
    float *const from = calloc(n, sizeof *from);
    unsigned char *const to = malloc(n);
    (void)path;
    request.cast.dst = *dti_format_get(DTI_FP8_E5M2);
    if (!from || !to)
        exit(1);
    enum dti_status status = dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, error);
    if (status == DTI_OK)
        status = dti_plan_run_team(plan, team, to, from, n, 0, DTI_STORES_CACHED, NULL, error);
    dti_plan_free(plan);
    free(from);
    free(to);
    return status;
}

static enum dti_status quantize(struct dti_team *team, size_t n, const float *from,
                                unsigned char *to, float *scale, struct dti_error *error)
{
    struct dti_quant_request request = {
        .number = *dti_format_get(DTI_FP32), .outer = 1, .length = n, .inner = 1};
    struct dti_quantized_array array = {.codes = to, .scales = scale};
    struct dti_quant_report report;
    struct dti_quant_plan *plan = NULL;
    dti_affine_recipe_init(&request.scheme.affine, dti_format_get(DTI_INT8), DTI_SYMMETRY_FULL);
    request.scheme.affine.symmetry = DTI_SYMMETRY_FULL;
    dti_quant_report_init(&report);
    enum dti_status status = dti_quant_plan_new(&plan, &request, DTI_LEVEL_SCALAR, error);
    if (status == DTI_OK)
        status = dti_quant_array(plan, team, from, &array, DTI_STORES_CACHED, &report, error);
    dti_quant_plan_free(plan);
    return status;
}

static enum dti_status do_quant(const char *path, struct dti_team *team, struct dti_error *error)
{
    float *const from = calloc(length, sizeof *from);
    unsigned char *const to = malloc(length);
    float scale[1];
    (void)path;
    if (!from || !to)
        exit(1);
    const enum dti_status status = quantize(team, length, from, to, scale, error);
    free(from);
    free(to);
    return status;
}

static void a_cancelled_call_ends_and_leaves_nothing(void)
{
    static deed *const long_ones[] = {do_stats, do_cast, do_array, do_quant};
    struct dti_team *teams[3] = {NULL};
    bool cancelled = true;
    folder_enter();
    make_file("in", 4 * length);
    CHECK(dti_team_new(&teams[1], WIDTH, DTI_WAIT_SLEEP, false, NULL) == DTI_OK);
    CHECK(dti_team_new_with(&teams[2], pool_backwards, NULL, WIDTH, NULL) == DTI_OK);
    for (size_t i = 0; i < sizeof long_ones / sizeof long_ones[0]; i++) {
        for (size_t k = 0; k < 3 && cancelled; k++)
            cancelled = check_cancelled(long_ones[i], teams[k]);
    }
    dti_team_free(teams[1]);
    dti_team_free(teams[2]);
    (void)unlink("out"); /* of casts that were too short to be cancelled */
    CHECK_U64(folder_leave(), 1);
}

/* The same bytes in any pool, written to a file at any place, and to a pipe in order. */
static void results_do_not_depend_on_the_pool(void)
{
    enum { N = 40 * NUMBERS };
    static float numbers[N];
    static unsigned char casts[2][2 * N], codes[2][N];
    float scale[2][1];
    struct dti_error error;
    struct dti_request request = {.src = *dti_format_get(DTI_FP32)};
    struct dti_loss losses[2];
    struct dti_plan *plan = NULL;
    request.cast.dst = *dti_format_get(DTI_FP16);
    request.cast.policy.round = DTI_ROUND_STOCHASTIC;
    for (size_t i = 0; i < N; i++)
        numbers[i] = (float)i * 0.001f - 30;
    folder_enter();
    make_file("in", N);
    CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK);
    CHECK(cast_to("in", "alone", NULL, &error) == DTI_OK);
    for (size_t i = 0; i <= POOLS; i++) {
        const size_t at = i > 0;
        struct dti_team *team = NULL;
        if (i > 0)
            CHECK(dti_team_new_with(&team, pools[i - 1], NULL, WIDTH, &error) == DTI_OK);
        dti_loss_init(&losses[at]);
        CHECK(dti_plan_run_team(plan, team, casts[at], numbers, N, 0, DTI_STORES_CACHED,
                                &losses[at], &error) == DTI_OK);
        CHECK(quantize(team, N, numbers, codes[at], scale[at], &error) == DTI_OK);
        if (i == 0)
            continue;
        CHECK(memcmp(casts[1], casts[0], sizeof casts[0]) == 0);
        CHECK(losses[1].inexact == losses[0].inexact && losses[1].elements == N);
        CHECK(memcmp(codes[1], codes[0], sizeof codes[0]) == 0 && scale[1][0] == scale[0][0]);
        CHECK(cast_to("in", "other", team, &error) == DTI_OK);
        CHECK(system("cmp alone other") == 0);
        dti_team_free(team);
    }
    dti_plan_free(plan);
    CHECK_U64(folder_leave(), 3);
}

static void values_that_no_enum_has_are_refused(void)
{
    struct dti_request request = {.src = *dti_format_get(DTI_FP32)};
    struct dti_quant_request quant = {
        .number = *dti_format_get(DTI_FP32), .outer = 1, .length = 64, .inner = 1};
    struct dti_plan *plan = NULL;
    struct dti_quant_plan *quant_plan = NULL;
    struct dti_error error;
    request.cast.dst = *dti_format_get(DTI_BF16);
    request.cast.policy.round = (enum dti_round)99;
    CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_USAGE);
    request.cast.policy.round = DTI_ROUND_NEAREST_EVEN;
    request.src_layout.packing = (enum dti_packing)3;
    CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_USAGE);
    request.src_layout.packing = DTI_PACKING_LOW;
    request.cast.via_count = DTI_VIA_MAX + 1;
    CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_USAGE);
    dti_affine_recipe_init(&quant.scheme.affine, dti_format_get(DTI_INT8), DTI_SYMMETRY_NONE);
    quant.scheme.affine.zero = (enum dti_quant_zero)7;
    CHECK(dti_quant_plan_new(&quant_plan, &quant, DTI_LEVEL_SCALAR, &error) == DTI_USAGE);
    quant.scheme.affine.zero = DTI_ZERO_ONNX;
    quant.scheme.per = (enum dti_quant_per) - 1;
    CHECK(dti_quant_plan_new(&quant_plan, &quant, DTI_LEVEL_SCALAR, &error) == DTI_USAGE);
    CHECK(!plan && !quant_plan);
}

UNIT_MAIN(memory_may_run_out_at_each_allocation, two_callers_do_not_disturb_each_other,
          a_cancelled_call_ends_and_leaves_nothing, results_do_not_depend_on_the_pool,
          values_that_no_enum_has_are_refused)
