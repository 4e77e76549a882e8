/* SPDX-License-Identifier: MIT
 *
 * Transfers for tests: from bytes in memory through files or pipes to a file. The casts are chosen
 * so that the expected bytes are known: numbers that are exact in bf16, and unpacked codes. */
#ifndef DTINFO_TESTS_TRANSFER_ENDS_H
#define DTINFO_TESTS_TRANSFER_ENDS_H

#include <pthread.h>

#include "convert/convert.h"
#include "folder.h"

enum { MANY = 11 * DTI_TILE + 77, TEAMS = 3 };

static struct dti_error error;
static struct dti_team *teams[TEAMS]; /* the first is NULL: no team */

struct array {
    unsigned char *bytes;
    size_t size;
};

static struct array array_new(size_t size)
{
    struct array array = {.bytes = malloc(size + 1), .size = size};
    if (!array.bytes)
        exit(1);
    return array;
}

/* Upper halves of fp32, without NaNs, infinities and subnormals. */
static uint16_t bf16_code(size_t i)
{
    const uint32_t mixed = (uint32_t)i * 2654435761U >> 11;
    return (uint16_t)((mixed & 0x807FU) | (1 + mixed / 256 % 254) << 7);
}

/* fp32 and bf16 arrays in host byte order. */
static void make_arrays(size_t n, struct array *ret_fp32, struct array *ret_bf16)
{
    *ret_fp32 = array_new(4 * n);
    *ret_bf16 = array_new(2 * n);
    for (size_t i = 0; i < n; i++) {
        const uint16_t code = bf16_code(i);
        const uint32_t wide = (uint32_t)code << 16;
        memcpy(ret_fp32->bytes + 4 * i, &wide, sizeof wide);
        memcpy(ret_bf16->bytes + 2 * i, &code, sizeof code);
    }
}

static struct dti_plan *plan_new(const char *src, enum dti_packing src_packing, const char *dst,
                                 enum dti_packing dst_packing)
{
    struct dti_request request = {.src_layout = {.packing = src_packing},
                                  .dst_layout = {.packing = dst_packing}};
    struct dti_plan *plan = NULL;
    CHECK(dti_format_lookup(src, &request.src, NULL, &error) == DTI_OK);
    CHECK(dti_format_lookup(dst, &request.cast.dst, NULL, &error) == DTI_OK);
    if (!CHECK(dti_plan_new(&plan, &request, DTI_LEVEL_SCALAR, &error) == DTI_OK))
        exit(1);
    return plan;
}

/* The other end of a pipe, in its own thread. */
struct end {
    pthread_t thread;
    int fd;
    size_t step;
    struct array array;
};

static void *feed(void *context)
{
    const struct end *const end = context;
    for (size_t at = 0; at < end->array.size; at += end->step) {
        const size_t left = end->array.size - at;
        const size_t size = left < end->step ? left : end->step;
        if (write(end->fd, end->array.bytes + at, size) != (ssize_t)size)
            break;
    }
    close(end->fd);
    return NULL;
}

static void *collect(void *context)
{
    struct end *const end = context;
    size_t size = 0;
    end->fd = open("pipe", O_RDONLY);
    for (ssize_t got; (got = read(end->fd, end->array.bytes + size, 4096)) > 0;)
        size += (size_t)got;
    end->array.size = size;
    close(end->fd);
    return NULL;
}

struct how {
    bool pipe_in, pipe_out;
    size_t step; /* bytes that arrive at a time */
    size_t team;
    uint64_t block_bytes, elements;
};

static uint64_t transferred;

/* Transfers from `source`, directly or through "pipe", to the file "out". */
static enum dti_status transfer(const struct dti_plan *plan, const struct array *source,
                                const struct how *how, struct dti_loss *loss)
{
    struct dti_input input = {.name = "in", .fd = -1};
    struct end feeder, collector;
    if (how->pipe_in) {
        int ends[2];
        CHECK(pipe(ends) == 0);
        input.fd = ends[0];
        feeder = (struct end){.fd = ends[1], .step = how->step, .array = *source};
        CHECK(pthread_create(&feeder.thread, NULL, feed, &feeder) == 0);
    } else {
        file_make("in", source->bytes, source->size);
        CHECK(dti_input_open(&input, "in", &error) == DTI_OK);
    }
    if (how->pipe_out) {
        collector = (struct end){.array = array_new(64 * MANY)};
        CHECK(mkfifo("pipe", 0600) == 0);
        CHECK(pthread_create(&collector.thread, NULL, collect, &collector) == 0);
    }
    struct dti_output_file *output = NULL;
    CHECK(dti_output_open(&output, how->pipe_out ? "pipe" : "out", true, 0, &error) == DTI_OK);
    const struct dti_transfer_options options = {.block_bytes = how->block_bytes};
    const struct dti_transfer request = {
        .input = &input, .elements = how->elements, .output = output};
    transferred = UINT64_MAX;
    const enum dti_status status =
        dti_transfer_run(plan, teams[how->team], &request, &options, loss, &transferred, &error);
    if (status == DTI_OK)
        CHECK(dti_output_commit(output, &error) == DTI_OK);
    else
        dti_output_discard(output);
    dti_input_close(&input);
    if (how->pipe_in)
        pthread_join(feeder.thread, NULL);
    if (how->pipe_out) {
        pthread_join(collector.thread, NULL);
        file_make("out", collector.array.bytes, collector.array.size);
        free(collector.array.bytes);
        CHECK(unlink("pipe") == 0);
    }
    return status;
}

static void make_teams(void)
{
    CHECK(dti_team_new(&teams[1], 2, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
    CHECK(dti_team_new(&teams[2], 7, DTI_WAIT_SLEEP, false, &error) == DTI_OK);
}

static void free_teams(void)
{
    for (size_t i = 0; i < TEAMS; i++)
        dti_team_free(teams[i]);
}

#endif
