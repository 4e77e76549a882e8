/* SPDX-License-Identifier: MIT
 *
 * A pretend CUDA driver for tests: its parts. One mutex guards all of it; a call of the driver's
 * functions begins with fake_enter() and ends with fake_leave(). */
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
    unsigned count;  /* 0: that of the devices */
    uint64_t memory; /* of each device, in bytes; 0: as much as such a device has */
    char report[512], trace[512];
};
const struct fake_script *fake_script(void);

/* Takes the mutex and counts the call; its result if the script has one for it, else
 * CUDA_SUCCESS. */
CUresult fake_enter(const char *function);
CUresult fake_leave(CUresult result);
/* Instead of fake_leave(): the call waits for a kernel that does not end. */
_Noreturn void fake_wait_for_ever(void);
/* The n-th time that something happens which is no call: "kernel" or "copy". */
CUresult fake_event_result(const char *what);
bool fake_event_hangs(const char *what);
/* Tells the tests' author of a mistake in the script or the program, and ends the process. */
_Noreturn void fake_mistake(const char *what, const char *which);

/* Numbers for the report, kept by all parts. */
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
    CUresult fault; /* what every call returns from now on */
};
extern struct fake_device fake_devices[FAKE_DEVICES_MAX];
/* The device whose context is current in this thread, or NULL. */
struct fake_device *fake_current(void);
/* CUDA_ERROR_INVALID_CONTEXT without a context, or the fault of the current one. */
CUresult fake_context_result(void);
/* From now on everything fails with this, if it is a fault of the kind that stays. */
CUresult fake_fault(struct fake_device *device, CUresult code);
bool fake_is_fault(CUresult code);

/* Memory. Addresses of the device mean nothing to the host. NULL: not `size` bytes there. */
unsigned char *fake_memory_at(const struct fake_device *device, CUdeviceptr address, size_t size);
/* The block's bytes from there on, whatever their number. */
unsigned char *fake_memory_from(const struct fake_device *device, CUdeviceptr address);
bool fake_is_pinned(const void *memory, size_t size);
bool fake_guards_are_whole(const struct fake_device *device);
void fake_memory_discard(struct fake_device *device); /* counts what was left */

/* Streams: work that is done when somebody asks for it. */
struct fake_kernel;
CUresult fake_launch_queue(CUstream stream, const struct fake_kernel *kernel, const void *args,
                           uint64_t threads);
void fake_streams_discard(struct fake_device *device);
void fake_streams_run_all(struct fake_device *device);

/* Kernels: rows of gpu_kernels.def. */
struct fake_kernel {
    const char *name;
    size_t args_size;
    size_t addresses[6]; /* offsets in the arguments + 1; 0 after the last */
};
CUresult fake_kernel_run(struct fake_device *device, const struct fake_kernel *kernel, void *args,
                         uint64_t threads);
void fake_modules_discard(struct fake_device *device);

#endif
