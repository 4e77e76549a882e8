/* SPDX-License-Identifier: MIT
 *
 * Windows or copies: which costs less depends on the processor (how fast it handles page faults,
 * and copies), on the kernel, and on the file system (how large the pieces are that it keeps files
 * in). Either can be the faster one by half, so both are measured, with the first pieces of a large
 * file. */
#define _DEFAULT_SOURCE /* mincore(): Linux only */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "dtinfo/clock.h"
#include "dtinfo/window.h"
#include "util/pages.h"

enum {
    LARGE = 128 << 20, /* a smaller input is read before the choice has paid */
    PIECE = 256 << 10,
    ROUNDS = 4,
    SPAN = 2 * ROUNDS * PIECE, /* what is read twice */
    WHOLE = 64 << 10,          /* no pages are larger */
    LINE = 64,
    DEVICES = 8, /* more than these are not measured */
};

/* As a reader does: every line of the bytes comes into a cache. */
static unsigned touch(const unsigned char *bytes)
{
    unsigned sum = 0;
    for (size_t i = 0; i < PIECE; i += LINE)
        sum += bytes[i];
    return sum;
}

/* The least nanoseconds that a piece takes, of some from offset on; UINT64_MAX where they could not
 * be read that way. Other work on the machine makes a piece slower, never faster. One way after the
 * other, not in turn: the buffer would not stay in the cache. */
static uint64_t time_pieces(enum dti_window_way way, const struct dti_input *input, void *buffer,
                            uint64_t offset)
{
    static atomic_uint result; /* so that the sum is needed */
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < ROUNDS; i++, offset += PIECE) {
        struct dti_window window = {.way = way};
        const void *bytes;
        const uint64_t start = dti_clock_now();
        if (dti_window_look(&window, input, buffer, PIECE, offset, &bytes, NULL) != DTI_OK)
            return UINT64_MAX;
        atomic_store_explicit(&result, touch(bytes), memory_order_relaxed);
        const enum dti_status status = dti_window_done(&window, DTI_OK, NULL);
        dti_window_free(&window);
        const uint64_t taken = dti_clock_now() - start;
        if (status != DTI_OK || window.way != way)
            return UINT64_MAX;
        best = taken < best ? taken : best;
    }
    return best;
}

/* Whether the pieces are in memory. What comes from a disk is copied: it is read ahead better. */
static bool is_cached(const struct dti_input *input, uint64_t offset)
{
#ifdef __linux__
    unsigned char there[SPAN / DTI_PAGE]; /* enough for larger pages too */
    const uint64_t begin = (input->start + offset) / WHOLE * WHOLE;
    void *const pieces = mmap(NULL, SPAN, PROT_READ, MAP_SHARED, input->fd, (off_t)begin);
    if (pieces == MAP_FAILED)
        return false;
    memset(there, 1, sizeof there);
    const bool known = mincore(pieces, SPAN, there) == 0;
    (void)munmap(pieces, SPAN);
    return known && !memchr(there, 0, sizeof there);
#else
    (void)input;
    (void)offset;
    return true;
#endif
}

/* A window has to be clearly faster: what the pieces of a file cost varies with their place in
 * memory, that of copies most. */
static enum dti_window_way measure(const struct dti_input *input, void *buffer, uint64_t offset)
{
    struct dti_input plain = *input;
    plain.watch = NULL;
    if (!is_cached(input, offset))
        return DTI_WINDOW_COPY;
    const uint64_t copy = time_pieces(DTI_WINDOW_COPY, &plain, buffer, offset);
    const uint64_t map = time_pieces(DTI_WINDOW_MAP, &plain, buffer, offset + SPAN / 2);
    return map < copy - copy / 8 ? DTI_WINDOW_MAP : DTI_WINDOW_COPY;
}

/* What was measured, for each device: files of one are kept alike. */
static struct {
    pthread_mutex_t lock;
    size_t count;
    struct {
        uint64_t device;
        enum dti_window_way way;
    } device[DEVICES];
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

static enum dti_window_way measured(const struct dti_input *input, void *buffer, uint64_t offset)
{
    enum dti_window_way way = DTI_WINDOW_UNDECIDED;
    pthread_mutex_lock(&known.lock);
    for (size_t i = 0; i < known.count; i++) {
        if (known.device[i].device == input->device)
            way = known.device[i].way;
    }
    if (way == DTI_WINDOW_UNDECIDED && known.count == DEVICES)
        way = DTI_WINDOW_COPY;
    if (way == DTI_WINDOW_UNDECIDED) {
        way = measure(input, buffer, offset);
        known.device[known.count].device = input->device;
        known.device[known.count++].way = way;
    }
    pthread_mutex_unlock(&known.lock);
    return way;
}

static enum dti_window_way wanted;

static void look_up_wanted(void)
{
    const char *const name = getenv("DTINFO_READ");
    if (name && strcmp(name, "map") == 0)
        wanted = DTI_WINDOW_MAP;
    if (name && strcmp(name, "copy") == 0)
        wanted = DTI_WINDOW_COPY;
}

enum dti_window_way dti_window_choose(const struct dti_input *input, void *buffer, size_t size,
                                      uint64_t offset)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, look_up_wanted);
    if (wanted != DTI_WINDOW_UNDECIDED || size < PIECE || input->size < LARGE ||
        offset > input->size - SPAN)
        return wanted;
    return measured(input, buffer, offset);
}
