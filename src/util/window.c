/* SPDX-License-Identifier: MIT
 *
 * Windows of files, and what happens when a file becomes shorter under one: a read of a page that
 * is gone raises SIGBUS in the reading thread. The handler puts zeros in the page's place, so that
 * kernels, which may hold locks, run to their end, and dti_window_done() reports the error instead
 * of their result. Jumping out of them would leave the locks held.
 */
#define _DEFAULT_SOURCE /* madvise(), MAP_ANONYMOUS */
#include "dtinfo/window.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    /* shorter ones cost system calls, longer ones memory; and a block of a power of two may begin
     * anywhere in its first page */
    WINDOW = (1 << 20) + (64 << 10),
    PIECE = 16 << 10,
    SMALL = 8 << 10, /* pieces that are copied ahead */
    AHEAD = 64 << 10,
};

static size_t page = 4096;
static struct sigaction before; /* of others, for signals that no window of ours raises */
static _Thread_local struct dti_window *volatile looked_into;

/* Where a page of one of the thread's windows is gone, and all after it with it. */
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
    if (!is_fault) /* else the instruction raises it again */
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

/* Makes the window begin at the page of `place` and reach `end` at least. */
static bool map(struct dti_window *window, const struct dti_input *input, uint64_t place,
                uint64_t end)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, prepare);
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

/* Whether the bytes are in the window now. */
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
    window->way = DTI_WINDOW_COPY; /* a file system that maps nothing, or there is no room */
    return false;
}

/* Whether a small piece is among what was copied ahead, or now is: where such pieces come one after
 * another. An error is left to those who ask for the piece alone. */
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
    if (!near || (!window->ahead && !(window->ahead = malloc(AHEAD))))
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

/* Reads the bytes again to learn what is wrong with them. */
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
    return dti_input_fail(input, EIO, reterr); /* it is whole again, but was not */
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
    free(window->ahead);
    window->ahead = NULL;
    window->ahead_of = NULL;
}
