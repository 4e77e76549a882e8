/* SPDX-License-Identifier: MIT
 *
 * A fake CUDA driver for tests: shared declarations of its parts. One mutex guards all state. Each
 * driver function begins with fake_enter() and ends with fake_leave(). */
#ifndef DTINFO_TESTS_FAKE_CUDA_H
#define DTINFO_TESTS_FAKE_CUDA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "devices/gpu/cuda_types.h"

#define CUDA_SYMBOL(need, name, parameters) CUresult name parameters;
#include "devices/gpu/cuda_symbols.def"
#undef CUDA_SYMBOL

enum { FAKE_DEVICES_MAX = 8 };

/* The script: FAKE_CUDA=word,word,... in the environment (tests/fake/README.md). */
struct fake_script {
    unsigned devices, version;
    unsigned count;  /* 0: the number of devices */
    uint64_t memory; /* of each device, in bytes; 0: the device's default */
    char report[512], trace[512];
};
const struct fake_script *fake_script(void);

/* Locks the mutex and counts the call. Returns the result that the script gives for this call, else
 * CUDA_SUCCESS. */
CUresult fake_enter(const char *function);
CUresult fake_leave(CUresult result);
/* Replaces fake_leave() when the call waits for a kernel that never ends. */
_Noreturn void fake_wait_for_ever(void);
/* The scripted result for the n-th "kernel" or "copy": events that are not calls. */
CUresult fake_event_result(const char *what);
bool fake_event_hangs(const char *what);
/* Reports a mistake in the script or in the program under test, and ends the process. */
_Noreturn void fake_mistake(const char *what, const char *which);

/* Counters for the report, updated by all parts. */
struct fake_totals {
    uint64_t calls;
    uint64_t leaked_blocks, leaked_bytes, leaked_pinned, leaked_streams, leaked_events;
    uint64_t leaked_modules, leaked_contexts, overruns;
    uint64_t peak_bytes, peak_pinned_bytes, most_busy_streams, kernels, copied_bytes;
};
extern struct fake_totals fake_totals;

struct fake_device {
    const char *name;
    unsigned major, minor, multiprocessors;
    uint64_t memory_bytes, used_bytes;
    unsigned retained;
    CUresult fault; /* every later call returns this */
};
extern struct fake_device fake_devices[FAKE_DEVICES_MAX];
/* The device whose context is current in this thread, or NULL. */
struct fake_device *fake_current(void);
/* CUDA_ERROR_INVALID_CONTEXT without a context, else the fault of the current context. */
CUresult fake_context_result(void);
/* Makes every later call fail with this code, if it is a sticky fault. */
CUresult fake_fault(struct fake_device *device, CUresult code);
bool fake_is_fault(CUresult code);

/* Memory. Device addresses are not valid on the host. NULL: fewer than `size` bytes at this
 * address. */
unsigned char *fake_memory_at(const struct fake_device *device, CUdeviceptr address, size_t size);
/* The block's memory from this address on, of any size. */
unsigned char *fake_memory_from(const struct fake_device *device, CUdeviceptr address);
bool fake_is_pinned(const void *memory, size_t size);
bool fake_guards_are_whole(const struct fake_device *device);
void fake_memory_discard(struct fake_device *device); /* counts leaks */

/* Streams: queued work runs only when a caller queries or waits for its stream. */
struct fake_kernel;
CUresult fake_launch_queue(CUstream stream, const struct fake_kernel *kernel, const void *args,
                           uint64_t threads);
void fake_streams_discard(struct fake_device *device);
void fake_streams_run_all(struct fake_device *device);

/* Kernels: one row of gpu_kernels.def each. */
struct fake_kernel {
    const char *name;
    size_t args_size;
    size_t addresses[6]; /* offsets of pointers in the arguments + 1; 0 ends the list */
};
CUresult fake_kernel_run(struct fake_device *device, const struct fake_kernel *kernel, void *args,
                         uint64_t threads);
void fake_modules_discard(struct fake_device *device);

#endif
