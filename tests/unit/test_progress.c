/* SPDX-License-Identifier: MIT
 *
 * The text of a progress bar, and how much of the work it is told about. */
#include <string.h>

#include "answers/compare/compare.h"
#include "cli/shared/progress.h"
#include "gguf_make.h"
#include "util/text/utf8.h"

static const char *name(void *context, uint64_t done, size_t *ret_length)
{
    const char *const text = context;
    *ret_length = strlen(text);
    return done > 0 ? text : NULL;
}

static void a_bar_has_rate_rest_and_name(void)
{
    enum { MIB = 1 << 20 };
    static const struct {
        uint64_t total, done;
        int64_t ms;
        size_t columns;
        const char *units, *name, *want;
    } cases[] = {
        {100, 0, 500, 79, "bytes", NULL, "  [..........]   0 %"},
        {100 * MIB, 50 * MIB, 2000, 79, "bytes", NULL,
         "  [#####.....]  50 %  25.00 MiB/s  0:03 left"},
        {100 * MIB, 50 * MIB, 2000, 79, "bytes", "wte", /* and the current item */
         "  [#####.....]  50 %  25.00 MiB/s  0:03 left  wte"},
        {UINT64_MAX, 1 << 30, 1000, 79, "bytes", NULL, "  [..........]   0 %  1.00 GiB/s"},
        {100, 100, 1000, 79, "elements", NULL, "  [##########] 100 %  100 elements/s"},
        {0, 5000, 1000, 79, "elements", NULL, "  5000 elements  5000 elements/s"},
        {100, 50, 1000, 20, "bytes", "wte", "  [#####.....]  50 %"},
        {100, 50, 1000, 50, "bytes", "model.layers.0.weight",
         "  [#####.....]  50 %  50 bytes/s  0:02 left"},
        {100, 50, 1000, 59, "bytes", "model.layers.0.weight",
         "  [#####.....]  50 %  50 bytes/s  0:02 left  model.layer..."},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[DTI_PROGRESS_SIZE], context[64];
        struct dti_progress progress = {
            .total = cases[i].total, .units = cases[i].units, .columns = cases[i].columns};
        if (cases[i].name) {
            (void)snprintf(context, sizeof context, "%s", cases[i].name);
            progress.name = name;
            progress.name_context = context;
        }
        dti_progress_words(text, &progress, cases[i].done, cases[i].ms);
        CHECK_STR(text, cases[i].want);
        CHECK(dti_utf8_columns(text, strlen(text)) <= cases[i].columns);
    }
}

/* Bytes of a reading, as its callbacks tell them. */
struct told {
    uint64_t all, most;
};

static void begin(void *context, uint64_t bytes)
{
    *(struct told *)context = (struct told){.all = bytes};
}

static void show(void *context, uint64_t done)
{
    struct told *const told = context;
    told->most = done > told->most ? done : told->most;
}

/* Blocks of GGUF files of the other byte order, which are compared as bytes; then numbers. */
static void a_comparison_counts_what_it_compares_as_bytes(void)
{
    enum { Q4_K = 12, F32 = 0, BLOCK = 144, NUMBERS = 256 * 4 };
    static const uint64_t length = 256;
    const struct dti_logical_options options = {.open = NULL};
    struct dti_error error;
    struct told told = {0, 0};
    struct dti_compare compare = {
        .reading = {.threads = 1, .begin = begin, .show = show, .context = &told}};
    folder_enter();
    made_big_endian = true;
    start(3, 2, 0);
    put_tensor("blocks", 1, &length, Q4_K, 0);
    put_tensor("numbers", 1, &length, F32, 160);
    put_data(160 + NUMBERS, 32);
    made_big_endian = false;
    file_make("x.gguf", made, made_length);
    if (CHECK(dti_logical_open(&compare.a, "x.gguf", &options, &error) == DTI_OK) &&
        CHECK(dti_logical_open(&compare.b, "x.gguf", &options, &error) == DTI_OK) &&
        CHECK(dti_compare_pair(&compare, &error) == DTI_OK) &&
        CHECK(dti_compare_run(&compare, &error) == DTI_OK)) {
        CHECK_U64(compare.ways[DTI_COMPARE_BYTES], 1);
        CHECK_U64(compare.ways[DTI_COMPARE_NUMBERS], 1);
        CHECK_U64(told.all, 2 * (BLOCK + NUMBERS));
        CHECK_U64(told.most, told.all);
    }
    dti_compare_free(&compare);
    (void)folder_leave();
}

UNIT_MAIN(a_bar_has_rate_rest_and_name, a_comparison_counts_what_it_compares_as_bytes)
