/* SPDX-License-Identifier: MIT
 *
 * Data structures of the fake driver's streams and events. */
#ifndef DTINFO_TESTS_FAKE_WORK_H
#define DTINFO_TESTS_FAKE_WORK_H

#include "fake_cuda.h"

enum work_kind {
    WORK_UPLOAD,
    WORK_DOWNLOAD,
    WORK_COPY,
    WORK_FILL,
    WORK_KERNEL,
    WORK_RECORD,
    WORK_WAIT
};

struct work {
    struct work *next;
    enum work_kind kind;
    uint64_t number; /* sequence number: the order of queueing in the whole process */
    CUdeviceptr dst, src;
    const void *host_src;
    void *host_dst;
    size_t size;
    unsigned char byte;
    CUevent event;
    uint64_t awaited; /* number of the event's record */
    const struct fake_kernel *kernel;
    uint64_t threads;
    bool hangs;
    max_align_t held[]; /* a copy of the source, or the kernel's arguments */
};

struct CUstream_st {
    struct CUstream_st *next;
    struct fake_device *device;
    struct work *first, *last;
};

struct CUevent_st {
    struct CUevent_st *next;
    struct fake_device *device;
    CUstream stream;         /* stream of the last record */
    uint64_t queued, passed; /* record numbers; 0: none */
    uint64_t nanoseconds;    /* time at which it passed */
};

/* Lists of all streams and events. */
extern struct CUstream_st *fake_streams;
extern struct CUevent_st *fake_events;

/* Creates a work item with a copy of `held`, to be queued at the end of a stream. */
struct work *fake_work_new(enum work_kind kind, const void *held, size_t held_size);
void fake_work_queue(CUstream stream, struct work *work);
void fake_work_drop(CUstream stream);
/* Runs the first item of a stream; false if it cannot run because a kernel hangs. */
bool fake_work_run(CUstream stream);
bool fake_work_run_all(CUstream stream);

/* Checks that the stream exists, belongs to the current context, and that the context has no fault.
 */
CUresult fake_stream_result(CUstream stream);

#endif
