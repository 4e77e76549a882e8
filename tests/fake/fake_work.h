/* SPDX-License-Identifier: MIT
 *
 * What the pretend driver's streams and events are made of. */
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
    uint64_t number; /* all work of the process in the order of queueing */
    CUdeviceptr dst, src;
    const void *host_src;
    void *host_dst;
    size_t size;
    unsigned char byte;
    CUevent event;
    uint64_t awaited; /* the event's record */
    const struct fake_kernel *kernel;
    uint64_t threads;
    bool hangs;
    max_align_t held[]; /* a copy of the source, or a kernel's arguments */
};

struct CUstream_st {
    struct CUstream_st *next;
    struct fake_device *device;
    struct work *first, *last;
};

struct CUevent_st {
    struct CUevent_st *next;
    struct fake_device *device;
    CUstream stream;         /* of the last record */
    uint64_t queued, passed; /* numbers of records; 0: none */
    uint64_t nanoseconds;    /* when it passed */
};

/* All there are. */
extern struct CUstream_st *fake_streams;
extern struct CUevent_st *fake_events;

/* Work with a copy of something, for the end of a stream. */
struct work *fake_work_new(enum work_kind kind, const void *held, size_t held_size);
void fake_work_queue(CUstream stream, struct work *work);
void fake_work_drop(CUstream stream);
/* Does the first piece of work of a stream; false when that is not possible: a kernel hangs. */
bool fake_work_run(CUstream stream);
bool fake_work_run_all(CUstream stream);

/* Whether a stream is one, of the current context, which has no fault. */
CUresult fake_stream_result(CUstream stream);

#endif
