/* SPDX-License-Identifier: MIT
 *
 * Plans over raw arrays at a chosen level, for the oracle tests.
 *
 *   array_probe levels                      the names of the levels that are present
 *   array_probe order                       "<" or ">": little- or big-endian
 *   array_probe cast LEVEL SRC DST ROUND OVERFLOW NAN SEED INDEX [VIA...]
 *       an array from stdin to stdout; formats of less than 8 bits stand one in a byte
 *   array_probe sweep LEVEL SRC FIRST LAST DST ROUND OVERFLOW
 *       FIRST LAST CODE for each run of source codes that are stored as the same code
 *
 * SEED, FIRST, LAST and CODE are hexadecimal; INDEX is decimal and a multiple of the tile size. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "convert/plan.h"
#include "request.h"

enum { BLOCK = 1 << 16 }; /* elements per sweep block */

static const struct dti_layout bytes_layout = {.packing = DTI_PACKING_BYTES};

static enum dti_level level_word(struct request *rq, size_t i)
{
    enum dti_level level = DTI_LEVEL_SCALAR;
    if (dti_level_lookup(word(rq, i), &level, NULL) != DTI_OK)
        refuse(rq, "unknown level");
    else if (!dti_level_present(level))
        refuse(rq, "the level is not present");
    return level;
}

static struct dti_plan *plan_of(struct request *rq, const struct dti_request *request,
                                enum dti_level level)
{
    struct dti_plan *plan = NULL;
    if (!rq->error && dti_plan_new(&plan, request, level, NULL) != DTI_OK)
        refuse(rq, "no plan");
    return plan;
}

static char *read_all(size_t *ret_size)
{
    size_t size = 0, capacity = 1 << 16;
    char *data = malloc(capacity);
    while (data) {
        const size_t more = fread(data + size, 1, capacity - size, stdin);
        size += more;
        if (more == 0)
            break;
        if (size == capacity) {
            char *larger = realloc(data, capacity *= 2);
            if (!larger)
                free(data);
            data = larger;
        }
    }
    *ret_size = size;
    return data;
}

static void do_cast(struct request *rq)
{
    struct dti_request request = {.src_layout = bytes_layout, .dst_layout = bytes_layout};
    const enum dti_level level = level_word(rq, 1);
    request.src = *format_word(rq, 2);
    request.cast.dst = *format_word(rq, 3);
    request.cast.policy = policy_words(rq, 4);
    request.cast.round_given = true;
    const uint64_t index = number_word(rq, 8, 10);
    for (size_t i = 9; i < rq->count && i < 9 + DTI_VIA_MAX; i++)
        request.cast.via[request.cast.via_count++] = *format_word(rq, i);
    struct dti_plan *plan = plan_of(rq, &request, level);
    if (!plan)
        return;
    size_t size;
    uint64_t bytes = 0;
    char *source = read_all(&size);
    const size_t n = size / dti_format_container(&request.src);
    (void)dti_plan_dst_bytes(plan, n, &bytes);
    char *result = malloc((size_t)bytes + 1);
    if (!source || !result)
        refuse(rq, "out of memory");
    else if (dti_plan_run(plan, result, source, n, index, DTI_STORES_AUTO, NULL, NULL) != DTI_OK)
        refuse(rq, "the plan failed");
    else
        fwrite(result, 1, (size_t)bytes, stdout);
    free(source);
    free(result);
    dti_plan_free(plan);
}

static uint64_t code_at(const uint8_t *array, size_t bytes, size_t at)
{
    uint16_t code2;
    uint32_t code4;
    uint64_t code8;
    array += at * bytes;
    if (bytes == 1)
        return *array;
    if (bytes == 2)
        return memcpy(&code2, array, sizeof code2), code2;
    if (bytes == 4)
        return memcpy(&code4, array, sizeof code4), code4;
    return memcpy(&code8, array, sizeof code8), code8;
}

/* Prints the runs that end within the block; the code of the last run, which continues, is kept. */
static void tell_runs(const uint8_t *result, size_t bytes, unsigned shift, size_t n, uint64_t first,
                      uint64_t *start, uint64_t *running, bool fresh)
{
    size_t at = 0;
    if (fresh)
        *running = code_at(result, bytes, 0);
    while (at < n) {
        const uint64_t code = code_at(result, bytes, at);
        if (code != *running) {
            printf("%" PRIx64 " %" PRIx64 " %" PRIx64 "\n", *start, first + at - 1,
                   *running >> shift);
            *start = first + at;
            *running = code;
        }
        size_t same = 1; /* elements from `at` on known to be equal; runs are long */
        while (same < n - at) {
            const size_t more = same <= n - at - same ? same : n - at - same;
            if (memcmp(result + at * bytes, result + (at + same) * bytes, more * bytes) != 0)
                break;
            same += more;
        }
        at += same;
    }
}

static void do_sweep(struct request *rq)
{
    static uint32_t source[BLOCK];
    static uint8_t result[BLOCK * 8];
    struct dti_request request = {.src_layout = bytes_layout, .dst_layout = bytes_layout};
    const enum dti_level level = level_word(rq, 1);
    request.src = *format_word(rq, 2);
    const uint64_t begin = number_word(rq, 3, 16), last = number_word(rq, 4, 16);
    request.cast.dst = *format_word(rq, 5);
    request.cast.policy.round = round_word(rq, 6);
    request.cast.policy.overflow = overflow_word(rq, 7);
    request.cast.round_given = true;
    if (!rq->error && (request.src.width != 32 || last > UINT32_MAX || begin > last))
        refuse(rq, "only for sources of 32 bits");
    struct dti_plan *plan = plan_of(rq, &request, level);
    if (!plan)
        return;
    const size_t bytes = dti_format_container(&request.cast.dst);
    const unsigned shift = dti_format_code_shift(&request.cast.dst);
    uint64_t start = begin, running = 0;
    for (uint64_t first = begin; first <= last && !rq->error; first += BLOCK) {
        const size_t n = last - first < BLOCK ? (size_t)(last - first) + 1 : BLOCK;
        for (size_t i = 0; i < n; i++)
            source[i] = (uint32_t)(first + i);
        if (dti_plan_run(plan, result, source, n, 0, DTI_STORES_CACHED, NULL, NULL) != DTI_OK)
            refuse(rq, "the plan failed");
        else
            tell_runs(result, bytes, shift, n, first, &start, &running, first == begin);
    }
    printf("%" PRIx64 " %" PRIx64 " %" PRIx64 "\n", start, last, running >> shift);
    dti_plan_free(plan);
}

static void do_levels(void)
{
    for (unsigned level = 0; level < DTI_LEVEL_COUNT; level++)
        if (dti_level_present((enum dti_level)level))
            puts(dti_level_name((enum dti_level)level));
}

/* An emulated machine may have another byte order than its caller. */
static void do_order(void)
{
    const uint16_t one = 1;
    puts(*(const uint8_t *)&one == 1 ? "<" : ">");
}

int main(int argc, char **argv)
{
    struct request rq = {.error = NULL};
    for (int i = 1; i < argc && rq.count < WORDS_MAX; i++)
        rq.words[rq.count++] = argv[i];
    const char *verb = word(&rq, 0);
    if (strcmp(verb, "levels") == 0)
        do_levels();
    else if (strcmp(verb, "order") == 0)
        do_order();
    else if (strcmp(verb, "cast") == 0)
        do_cast(&rq);
    else if (strcmp(verb, "sweep") == 0)
        do_sweep(&rq);
    else
        refuse(&rq, "unknown request");
    if (rq.error)
        fprintf(stderr, "error %s\n", rq.error);
    return !rq.error && fflush(stdout) == 0 && !ferror(stdout) ? 0 : 1;
}
