/* SPDX-License-Identifier: MIT
 *
 * Windows of files, and what happens if a file is truncated under one: accessing a page that is
 * gone raises SIGBUS in the reading thread. The handler maps zeros there, so that kernels, which
 * may hold locks, run to completion, and dti_window_done() reports the error instead of their
 * result. Jumping out of them would leave the locks held.
 *
 * Map or copy: which is cheaper depends on the processor (cost of page faults and copies), the
 * kernel, the file system (size of its page cache folios) and the reader (what it computes while
 * mapped bytes arrive). Either can win by half, so the reader's own first pieces of a large file
 * are read in both ways, in turn, and their processor time is compared. */
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
    /* A window begins at a multiple of its size: then one page fault maps a whole folio of the page
     * cache, which is at most as large. Smaller windows cost a quarter more, larger ones memory. */
    WINDOW = 2 << 20,
    PIECE = 16 << 10,
    SMALL = 8 << 10, /* largest piece that is copied ahead */
    AHEAD = 64 << 10,
};

/* Of the process, and used only by its owner's threads: a caller of the library never maps. */
static size_t page = 4096;
static struct sigaction before; /* previous handler, for signals that our windows did not cause */
static _Thread_local struct dti_window *volatile looked_into;
static _Thread_local struct dti_window *timed; /* the outermost of the looks that are timed */

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

/* Maps the window that `place` is in, to at least `end`. */
static bool map(struct dti_window *window, const struct dti_input *input, uint64_t place,
                uint64_t end)
{
    static struct dti_once once;
    if (dti_once_begin(&once)) {
        prepare();
        dti_once_end(&once, true);
    }
    unmap(window);
    const uint64_t begin = place / WINDOW * WINDOW, all = input->start + input->size;
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

/* Chooses how to read a piece; see the end of the file. */
static enum dti_window_way choose(struct dti_window *window, const struct dti_input *input,
                                  size_t size, uint64_t offset);
static void end_trial(struct dti_window *window);

/* Whether the bytes are mapped in the window, after mapping them if possible. */
static bool reach(struct dti_window *window, const struct dti_input *input, size_t size,
                  uint64_t offset)
{
    if (!input->seekable || input->source || offset > input->size || size > input->size - offset ||
        size == 0 || size > SIZE_MAX / 2)
        return false;
    const enum dti_window_way way =
        window->way == DTI_WINDOW_UNDECIDED ? choose(window, input, size, offset) : window->way;
    if (way != DTI_WINDOW_MAP)
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
    if (!reach(window, input, size, offset)) {
        if (copy_ahead(window, input, size, offset)) {
            *ret_bytes = window->ahead + (offset - window->ahead_offset);
            return DTI_OK;
        }
        const enum dti_status status = dti_input_read_at(input, buffer, size, offset, reterr);
        if (status == DTI_OK)
            *ret_bytes = buffer;
        else if (timed == window)
            timed = NULL;
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
    if (timed == window)
        end_trial(window);
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
    LARGE = 128 << 20,    /* a smaller input is read before the trial pays off */
    SMALLEST = 256 << 10, /* smaller pieces are copied and not timed */
    IN_A_ROW = 4,         /* samples of a window's bytes */
    SAMPLES = 6,          /* in each way */
    AT_ONCE = 1 << 20,    /* bytes that must be in the page cache when a trial begins */
    WHOLE = 64 << 10,     /* pages are at most this large */
    DEVICES = 8,          /* further devices are not tried */
};

/* Results per device: files on one device are cached alike. */
static struct {
    atomic_int lock;
    size_t count;
    struct dti_window_device {
        uint64_t device;
        enum dti_window_way way;
        unsigned samples[DTI_WINDOW_MAP + 1];
        uint64_t best[DTI_WINDOW_MAP + 1]; /* the shortest time of a sample */
    } device[DEVICES];
} known;

/* Whether what follows offset is in the page cache. Files on disk are copied: reads get better
 * read-ahead. */
static bool is_cached(const struct dti_input *input, uint64_t offset)
{
#ifdef __linux__
    unsigned char there[AT_ONCE / DTI_PAGE]; /* enough for larger pages too */
    const uint64_t begin = (input->start + offset) / WHOLE * WHOLE;
    void *const pieces = mmap(NULL, AT_ONCE, PROT_READ, MAP_SHARED, input->fd, (off_t)begin);
    if (pieces == MAP_FAILED)
        return false;
    memset(there, 1, sizeof there);
    const bool found = mincore(pieces, AT_ONCE, there) == 0;
    (void)munmap(pieces, AT_ONCE);
    return found && !memchr(there, 0, sizeof there);
#else
    (void)input;
    (void)offset;
    return true;
#endif
}

/* The device of an input, or NULL if there are too many. Called with the lock. */
static struct dti_window_device *find_device(const struct dti_input *input, uint64_t offset)
{
    for (size_t i = 0; i < known.count; i++) {
        if (known.device[i].device == input->device)
            return &known.device[i];
    }
    if (known.count == DEVICES)
        return NULL;
    struct dti_window_device *const found = &known.device[known.count++];
    *found = (struct dti_window_device){.device = input->device};
    if (!is_cached(input, offset))
        found->way = DTI_WINDOW_COPY;
    return found;
}

/* Tries the other way after a few windows' bytes; not in turn, to keep the buffer in the cache. A
 * look inside another one goes the same way, and is timed as a part of it. */
static enum dti_window_way try_piece(struct dti_window *window, const struct dti_input *input,
                                     size_t size, uint64_t offset)
{
    if (timed)
        return timed->trial.way;
    dti_process_lock(&known.lock);
    struct dti_window_device *const device = find_device(input, offset);
    window->way = device ? device->way : DTI_WINDOW_COPY;
    dti_process_unlock(&known.lock);
    if (window->way != DTI_WINDOW_UNDECIDED)
        return window->way;
    timed = window;
    struct dti_window_trial *const trial = &window->trial;
    if (trial->device != device)
        *trial = (struct dti_window_trial){.device = device, .way = DTI_WINDOW_COPY};
    if (trial->samples == IN_A_ROW) {
        trial->way = trial->way == DTI_WINDOW_COPY ? DTI_WINDOW_MAP : DTI_WINDOW_COPY;
        trial->samples = 0;
    }
    trial->size += size;
    trial->start = dti_clock_thread();
    return trial->way;
}

/* Takes the shortest times: other load only makes a sample slower. Mapping must be clearly faster,
 * because a copy cannot be torn, and because each window that ends interrupts all other threads. */
static void end_trial(struct dti_window *window)
{
    struct dti_window_trial *const trial = &window->trial;
    struct dti_window_device *const device = trial->device;
    timed = NULL;
    trial->time += dti_clock_thread() - trial->start;
    if (trial->size < WINDOW)
        return;
    const uint64_t time = trial->time * WINDOW / trial->size;
    trial->time = trial->size = 0;
    trial->samples++;
    dti_process_lock(&known.lock);
    if (device->samples[trial->way]++ == 0 || time < device->best[trial->way])
        device->best[trial->way] = time;
    if (device->way == DTI_WINDOW_UNDECIDED && device->samples[DTI_WINDOW_COPY] >= SAMPLES &&
        device->samples[DTI_WINDOW_MAP] >= SAMPLES) {
        const uint64_t copy = device->best[DTI_WINDOW_COPY], map = device->best[DTI_WINDOW_MAP];
        device->way = map < copy - copy / 8 ? DTI_WINDOW_MAP : DTI_WINDOW_COPY;
    }
    dti_process_unlock(&known.lock);
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

static enum dti_window_way choose(struct dti_window *window, const struct dti_input *input,
                                  size_t size, uint64_t offset)
{
    static struct dti_once once;
    if (!dti_caller_is_process() || !atomic_load(&is_allowed))
        return window->way = DTI_WINDOW_COPY;
    if (dti_once_begin(&once)) {
        look_up_wanted();
        dti_once_end(&once, true);
    }
    if (wanted != DTI_WINDOW_UNDECIDED)
        return window->way = wanted;
    if (size < SMALLEST || input->size < LARGE || input->size - offset < AT_ONCE + WHOLE)
        return DTI_WINDOW_COPY;
    return try_piece(window, input, size, offset);
}
