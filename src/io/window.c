/* SPDX-License-Identifier: MIT
 *
 * Windows of files, and what happens if a file is truncated under one: accessing a page that is
 * gone raises SIGBUS in the reading thread. The handler maps zeros there, so that kernels, which
 * may hold locks, run to completion, and dti_window_done() reports the error instead of their
 * result. Jumping out of them would leave the locks held.
 *
 * Map or copy: which is cheaper depends on the processor (cost of page faults and copies), the
 * kernel, and the file system (size of its page cache folios). Either can win by half, so both
 * are measured on the first pieces of a large file. */
#define _DEFAULT_SOURCE /* madvise(), MAP_ANONYMOUS */
#define _DEFAULT_SOURCE /* mincore(): Linux only */
#include "io/window.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/run/allocate.h"
#include "util/run/caller.h"
#include "util/run/clock.h"
#include "util/run/once.h"
#include "util/run/pages.h"
#include "util/run/process_environment.h"

enum {
    /* a smaller window costs system calls, a larger one memory; the extra 64 KiB are because a
     * power-of-two block may begin anywhere in its first page */
    WINDOW = (1 << 20) + (64 << 10),
    PIECE = 16 << 10,
    SMALL = 8 << 10, /* largest piece that is copied ahead */
    AHEAD = 64 << 10,
};

/* Of the process, and used only by its owner's threads: a caller of the library never maps. */
static size_t page = 4096;
static struct sigaction before; /* previous handler, for signals that our windows did not cause */
static _Thread_local struct dti_window *volatile looked_into;

/* If the page is in one of the thread's windows, maps zeros from there to the window's end. */
static bool put_zeros(uintptr_t at)
{
    for (struct dti_window *window = looked_into; window; window = window->next) {
        const uintptr_t place = at - (uintptr_t)window->bytes;
        if (place >= window->size)
            continue;
        const size_t gone = place / page * page;
        if (mmap(window->bytes + gone, window->size - gone, PROT_READ,
                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
            return false;
        window->torn = 1;
        return true;
    }
    return false;
}

static void on_bus_error(int number, siginfo_t *info, void *context)
{
    const int error = errno;
    const bool is_fault = info->si_code > 0; /* not sent by a process */
    (void)context;
    if (is_fault && put_zeros((uintptr_t)info->si_addr)) {
        errno = error;
        return;
    }
    (void)sigaction(SIGBUS, &before, NULL);
    if (!is_fault) /* a fault recurs when the instruction restarts */
        (void)raise(number);
}

static void prepare(void)
{
    const long size = sysconf(_SC_PAGESIZE);
    if (size > 0)
        page = (size_t)size;
    struct sigaction action = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};
    sigemptyset(&action.sa_mask);
    (void)sigaction(SIGBUS, &action, &before);
}

static void unmap(struct dti_window *window)
{
    if (window->bytes)
        (void)munmap(window->bytes, window->size);
    window->bytes = NULL;
}

/* Maps the window from the page of `place` to at least `end`. */
static bool map(struct dti_window *window, const struct dti_input *input, uint64_t place,
                uint64_t end)
{
    static struct dti_once once;
    if (dti_once_begin(&once)) {
        prepare();
        dti_once_end(&once, true);
    }
    unmap(window);
    const uint64_t begin = place / page * page, all = input->start + input->size;
    uint64_t size = all - begin < WINDOW ? all - begin : WINDOW;
    if (end - begin > size)
        size = end - begin;
    size = (size + page - 1) / page * page;
    void *const bytes = mmap(NULL, (size_t)size, PROT_READ, MAP_SHARED, input->fd, (off_t)begin);
    if (bytes == MAP_FAILED)
        return false;
    (void)madvise(bytes, (size_t)size, MADV_SEQUENTIAL);
    window->fd = input->fd;
    window->bytes = bytes;
    window->size = (size_t)size;
    window->begin = begin;
    return true;
}

/* Whether the bytes are mapped in the window, after mapping them if possible. */
static bool reach(struct dti_window *window, const struct dti_input *input, void *buffer,
                  size_t size, uint64_t offset)
{
    if (!input->seekable || input->source || offset > input->size || size > input->size - offset ||
        size == 0 || size > SIZE_MAX / 2)
        return false;
    if (window->way == DTI_WINDOW_UNDECIDED)
        window->way = dti_window_choose(input, buffer, size, offset);
    if (window->way != DTI_WINDOW_MAP)
        return false;
    const uint64_t place = input->start + offset, end = place + size;
    if (window->bytes && window->fd == input->fd && place >= window->begin &&
        end - window->begin <= window->size)
        return true;
    if (map(window, input, place, end))
        return true;
    window->way = DTI_WINDOW_COPY; /* the file system cannot map, or there is no address space */
    return false;
}

/* Whether a small piece is in the copy-ahead buffer, after filling the buffer if such pieces
 * come in sequence. Errors are left to the separate read of the piece. */
static bool copy_ahead(struct dti_window *window, const struct dti_input *input, size_t size,
                       uint64_t offset)
{
    if (size > SMALL || !input->seekable || input->watch || offset > input->size ||
        size > input->size - offset)
        return false;
    const bool near =
        window->last_end > 0 && offset >= window->last_end && offset - window->last_end <= SMALL;
    window->last_end = offset + size;
    if (window->ahead_of == input && offset >= window->ahead_offset &&
        offset + size <= window->ahead_offset + window->ahead_size)
        return true;
    if (!near || (!window->ahead && !(window->ahead = dti_malloc(AHEAD))))
        return false;
    const uint64_t left = input->size - offset;
    window->ahead_of = NULL;
    window->ahead_offset = offset;
    window->ahead_size = left < AHEAD ? (size_t)left : AHEAD;
    struct dti_error ignored;
    if (dti_input_read_at(input, window->ahead, window->ahead_size, offset, &ignored) != DTI_OK)
        return false;
    window->ahead_of = input;
    return true;
}

enum dti_status dti_window_copy(struct dti_window *window, const struct dti_input *input,
                                void *buffer, size_t size, uint64_t offset,
                                struct dti_error *reterr)
{
    if (!window || !copy_ahead(window, input, size, offset))
        return dti_input_read_at(input, buffer, size, offset, reterr);
    memcpy(buffer, window->ahead + (offset - window->ahead_offset), size);
    return DTI_OK;
}

enum dti_status dti_window_look(struct dti_window *window, const struct dti_input *input,
                                void *buffer, size_t size, uint64_t offset, const void **ret_bytes,
                                struct dti_error *reterr)
{
    if (!reach(window, input, buffer, size, offset)) {
        if (copy_ahead(window, input, size, offset)) {
            *ret_bytes = window->ahead + (offset - window->ahead_offset);
            return DTI_OK;
        }
        const enum dti_status status = dti_input_read_at(input, buffer, size, offset, reterr);
        if (status == DTI_OK)
            *ret_bytes = buffer;
        return status;
    }
    window->input = input;
    window->offset = offset;
    window->end = input->start + offset + size;
    window->torn = 0;
    window->next = looked_into;
    atomic_signal_fence(memory_order_seq_cst);
    looked_into = window;
    const void *const bytes = window->bytes + (window->end - size - window->begin);
    struct dti_watch *const watch = input->watch;
    if (watch) {
        const enum dti_status status = watch->take(watch, bytes, size, offset, false, reterr);
        if (status != DTI_OK)
            return dti_window_done(window, status, reterr);
    }
    *ret_bytes = bytes;
    return DTI_OK;
}

/* Reads the bytes again to find out what is wrong with them. */
static enum dti_status find_error(const struct dti_input *input, uint64_t offset, uint64_t end,
                                  struct dti_error *reterr)
{
    struct dti_input plain = *input;
    unsigned char piece[PIECE];
    plain.watch = NULL;
    while (offset < end) {
        const size_t size = end - offset < PIECE ? (size_t)(end - offset) : PIECE;
        const enum dti_status status = dti_input_read_at(&plain, piece, size, offset, reterr);
        if (status != DTI_OK)
            return status;
        offset += size;
    }
    return dti_input_fail(input, EIO, reterr); /* readable again, but it was truncated meanwhile */
}

enum dti_status dti_window_done(struct dti_window *window, enum dti_status status,
                                struct dti_error *reterr)
{
    const struct dti_input *const input = window->input;
    if (!input)
        return status;
    atomic_signal_fence(memory_order_seq_cst);
    looked_into = window->next;
    window->input = NULL;
    struct stat st = {0};
    if (!window->torn && fstat(input->fd, &st) == 0 && (uint64_t)st.st_size >= window->end)
        return status;
    unmap(window);
    return find_error(input, window->offset, window->end - input->start, reterr);
}

void dti_window_free(struct dti_window *window)
{
    unmap(window);
    dti_free(window->ahead);
    window->ahead = NULL;
    window->ahead_of = NULL;
}

enum {
    LARGE = 128 << 20, /* a smaller input is read before the measurement pays off */
    SAMPLE = 256 << 10,
    ROUNDS = 4,
    SPAN = 2 * ROUNDS * SAMPLE, /* bytes read for the measurement */
    WHOLE = 64 << 10,           /* pages are at most this large */
    LINE = 64,
    DEVICES = 8, /* further devices are not measured */
};

/* Touches every cache line, as a reader does. */
static unsigned touch(const unsigned char *bytes)
{
    unsigned sum = 0;
    for (size_t i = 0; i < SAMPLE; i += LINE)
        sum += bytes[i];
    return sum;
}

/* The minimum time of a piece in nanoseconds, over several from offset on; UINT64_MAX if they
 * cannot be read that way. The minimum, because other load only makes a piece slower. The two
 * ways run one after the other, not alternating, to keep the buffer in the cache. */
static uint64_t time_pieces(enum dti_window_way way, const struct dti_input *input, void *buffer,
                            uint64_t offset)
{
    static atomic_uint result; /* keeps the sum from being optimized away */
    uint64_t best = UINT64_MAX;
    for (unsigned i = 0; i < ROUNDS; i++, offset += SAMPLE) {
        struct dti_window window = {.way = way};
        const void *bytes;
        const uint64_t start = dti_clock_now();
        if (dti_window_look(&window, input, buffer, SAMPLE, offset, &bytes, NULL) != DTI_OK)
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

/* Whether the pieces are in the page cache. Files on disk are copied: reads get better
 * read-ahead. */
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

/* Mapping must be clearly faster: times vary with the placement in memory, those of copies most. */
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

/* Results per device: files on one device are cached alike. */
static struct {
    atomic_int lock;
    size_t count;
    struct {
        uint64_t device;
        enum dti_window_way way;
    } device[DEVICES];
} known;

static enum dti_window_way measured(const struct dti_input *input, void *buffer, uint64_t offset)
{
    enum dti_window_way way = DTI_WINDOW_UNDECIDED;
    dti_process_lock(&known.lock);
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
    dti_process_unlock(&known.lock);
    return way;
}

static atomic_bool is_allowed;
static enum dti_window_way wanted;

void dti_window_allow(bool mapping)
{
    atomic_store(&is_allowed, mapping);
}

static void look_up_wanted(void)
{
    const char *const name = dti_environment("DTINFO_READ");
    if (name && strcmp(name, "map") == 0)
        wanted = DTI_WINDOW_MAP;
    if (name && strcmp(name, "copy") == 0)
        wanted = DTI_WINDOW_COPY;
}

enum dti_window_way dti_window_choose(const struct dti_input *input, void *buffer, size_t size,
                                      uint64_t offset)
{
    static struct dti_once once;
    if (!dti_caller_is_process() || !atomic_load(&is_allowed))
        return DTI_WINDOW_COPY;
    if (dti_once_begin(&once)) {
        look_up_wanted();
        dti_once_end(&once, true);
    }
    if (wanted != DTI_WINDOW_UNDECIDED || size < SAMPLE || input->size < LARGE ||
        offset > input->size - SPAN)
        return wanted;
    return measured(input, buffer, offset);
}
