/* SPDX-License-Identifier: MIT
 *
 * Memory runs out at the n-th allocation of the context's allocator, for every n: each call
 * succeeds with the right result or fails with DTI_NO_MEMORY, nothing leaks, and the objects that
 * exist can be used and freed. With the word "once", runs once with the C library's allocator: for
 * a malloc() that fails. Linked with the shared library alone. */
#include <dtinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBERS = 300000, ROWS = 600, COLUMNS = 500 };

static struct {
    size_t calls, fail_at, live;
} heap;
static float *numbers;
static unsigned char *bf16, *room;

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "at allocation %zu: %s\n", heap.fail_at, what);
    exit(1);
}

static void *allocate(void *context, void *block, size_t size, size_t alignment)
{
    (void)context;
    if (size == 0) {
        heap.live -= block != NULL;
        free(block);
        return NULL;
    }
    if (++heap.calls == heap.fail_at)
        return NULL;
    void *const result =
        alignment > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                      : realloc(block, size);
    heap.live += !block && result;
    return result;
}

/* Whether a call succeeded; the only failure is that memory ran out. */
static bool went(enum dti_status status, const struct dti_error *error)
{
    require(status == DTI_OK || status == DTI_NO_MEMORY, error->text);
    return status == DTI_OK;
}

static void use(struct dti_context *context, const struct dti_format *fp32,
                const struct dti_format *to)
{
    struct dti_error error;
    const struct dti_cast_spec spec = {.size = sizeof spec, .src = fp32, .dst = to};
    struct dti_caster *caster = NULL;
    if (!went(dti_caster_new(&caster, context, &spec, &error), &error))
        return;
    memset(room, 0xa5, 2 * NUMBERS);
    if (went(dti_caster_run(caster, room, numbers, NUMBERS, NULL, &error), &error))
        require(memcmp(room, bf16, 2 * NUMBERS) == 0, "cast");
    struct dti_cast_report report = {.size = sizeof report};
    memset(room, 0xa5, 2 * NUMBERS);
    if (went(dti_caster_run(caster, room, numbers, NUMBERS, &report, &error), &error))
        require(memcmp(room, bf16, 2 * NUMBERS) == 0 && report.elements == NUMBERS, "report");
    const size_t shape[2] = {COLUMNS, ROWS};
    const ptrdiff_t strides[2] = {sizeof(float), COLUMNS * sizeof(float)};
    if (went(dti_caster_run_strided(caster, room, numbers, 2, shape, strides, &report, &error),
             &error)) {
        for (size_t i = 0; i < COLUMNS; i++)
            for (size_t j = 0; j < ROWS; j += 7)
                require(memcmp(room + 2 * (i * ROWS + j), bf16 + 2 * (j * COLUMNS + i), 2) == 0,
                        "transposed");
    }
    struct dti_array_stats stats = {.size = sizeof stats};
    if (went(dti_array_stats(context, to, DTI_PACKING_LOW, bf16, NUMBERS, &stats, &error), &error))
        require(stats.elements == NUMBERS && stats.max.kind == DTI_CLASS_FINITE, "statistics");
    struct dti_array_difference difference = {.size = sizeof difference};
    if (went(dti_array_compare(context, fp32, numbers, to, bf16, NUMBERS, 0, 0.01, &difference,
                               &error),
             &error))
        require(difference.elements == NUMBERS && difference.exceeding == 0, "comparison");
    dti_caster_free(caster);
}

static void run(bool own_heap)
{
    struct dti_error error;
    const struct dti_context_options options = {
        .size = sizeof options, .threads = 2, .allocate = own_heap ? allocate : NULL};
    struct dti_context *context = NULL;
    const struct dti_format *fp32 = NULL, *to = NULL, *made = NULL;
    if (!went(dti_context_new(&context, &options, &error), &error))
        return;
    if (went(dti_format_find(context, "fp32", &fp32, NULL, &error), &error) &&
        went(dti_format_find(context, "bf16", &to, NULL, &error), &error))
        use(context, fp32, to);
    if (went(dti_format_find(context, "e8m7", &made, NULL, &error), &error)) /* bf16 by its parts */
        use(context, fp32, made);
    dti_context_free(context);
}

static void prepare(void)
{
    numbers = malloc(NUMBERS * sizeof *numbers);
    bf16 = malloc(2 * NUMBERS);
    room = malloc(2 * NUMBERS);
    if (!numbers || !bf16 || !room)
        exit(0); /* the test itself has no memory */
    for (size_t i = 0; i < NUMBERS; i++) {
        const uint16_t half = (uint16_t)(0x3f80 + i % 97); /* exact, so that nothing is rounded */
        const uint32_t whole = (uint32_t)half << 16;
        memcpy(numbers + i, &whole, sizeof whole);
        memcpy(bf16 + 2 * i, &half, sizeof half);
    }
}

int main(int argc, char **argv)
{
    prepare();
    if (argc > 1 && strcmp(argv[1], "once") == 0) {
        run(false);
    } else {
        run(true);
        const size_t calls = heap.calls;
        if (calls == 0)
            return 77; /* this library does not ask the context */
        for (size_t at = 1; at <= calls; at++) {
            heap.calls = 0;
            heap.fail_at = at;
            run(true);
            require(heap.live == 0, "a block was not freed");
        }
        (void)printf("%zu allocations, each failed once\n", calls);
    }
    free(numbers);
    free(bf16);
    free(room);
    return 0;
}
