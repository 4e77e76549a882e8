/* SPDX-License-Identifier: MIT
 *
 * The base of all workloads: a workload lays out its memory and adds its candidates; this code
 * runs them in turn, on the CPU or on a device. */
#ifndef BENCH_MEASURE_FRAME_H
#define BENCH_MEASURE_FRAME_H

#include <stdatomic.h>

#include "bench/measure/bench_table.h"
#include "devices/machine/machine.h"
#include "kernels/cast/copy.h"
#include "kernels/math/matmul.h"

/* The part of n items assigned to a member, in multiples of `grain`. */
struct dti_share {
    size_t first, count;
};
struct dti_share dti_share_of(size_t n, size_t grain, size_t member, size_t size);
/* Runs a job in the team, or in the calling thread if there is none. */
void dti_in_team(struct dti_team *team, void (*job)(void *context, size_t member, size_t size),
                 void *context);
/* Fills memory with copies of a pool. */
void dti_bench_repeat(unsigned char *to, size_t bytes, const unsigned char *pool,
                      size_t pool_bytes);

enum { DTI_BENCH_OPERANDS_MAX = 4 };

/* The layout of arrays: next to each other, each aligned to 4096 bytes, in consecutive sets.
 * With a cold cache there are enough sets to exceed the last-level cache, else one. */
struct dti_bench_shape {
    size_t operands;
    uint64_t bytes[DTI_BENCH_OPERANDS_MAX];
    uint64_t counted; /* bytes of a set that count for the number of sets; 0: all */
    enum dti_bench_cache cache;
};
/* A layout of operands of equal size. */
struct dti_bench_shape dti_bench_alike(size_t operands, uint64_t bytes, enum dti_bench_cache cache);

/* The number of sets of a given size used in turn. */
size_t dti_bench_sets(enum dti_bench_cache cache, uint64_t bytes);

struct dti_bench_memory {
    unsigned char *data; /* aligned to 2 MiB; NULL: not allocated */
    void *mapping;
    size_t size, sets, set_size, at[DTI_BENCH_OPERANDS_MAX];
    bool in_cache; /* one set fits in the last-level cache */
    uint64_t huge_page_bytes;
};
/* Fails with DTI_UNAVAILABLE if there is not enough memory; the message has the available
 * amount. */
enum dti_status dti_host_has_memory(uint64_t bytes, struct dti_error *reterr);
enum dti_status dti_bench_memory_check(struct dti_bench_shape shape, struct dti_error *reterr);
/* Allocates. Fails as above or with DTI_NO_MEMORY. Each team member touches its own part first. */
enum dti_status dti_bench_memory_new(struct dti_bench_memory *ret, struct dti_bench_shape shape,
                                     struct dti_team *team, struct dti_error *reterr);
void dti_bench_memory_free(struct dti_bench_memory *memory); /* a zeroed struct is fine */
static inline void *dti_bench_memory_at(const struct dti_bench_memory *memory, size_t set,
                                        size_t operand)
{
    return memory->data + set * memory->set_size + memory->at[operand];
}
/* Fills the first bytes of an operand with copies of a pool, in all sets. */
void dti_bench_memory_fill(const struct dti_bench_memory *memory, size_t operand, uint64_t bytes,
                           const void *pool, size_t pool_bytes, struct dti_team *team);
/* Adds this memory to the table's sets, memory, huge_page_bytes and in_cache. */
void dti_bench_memory_describe(const struct dti_bench_memory *memory,
                               struct dti_bench_table *table);

/* One pass over a set: queued on the device, or run by the calling thread. */
typedef enum dti_status dti_bench_pass_fn(void *context, size_t set, struct dti_error *reterr);

/* A candidate to be added. Texts may be NULL. The work is done by either `run`, in all members
 * of the team, or `pass`. */
struct dti_bench_entry {
    const char *role, *dtype, *engine, *kernel, *arithmetic;
    uint64_t bytes_read, bytes_written;
    double operations;
    bool limit;
    dti_bench_fn *run;
    dti_bench_pass_fn *pass;
    bool by_events; /* passes are timed by the device's events, otherwise by the host's clock */
    void *context;
    size_t sets;
};

struct dti_frame;
struct dti_bench_workload;

/* The contexts of some kinds of candidates. */
union dti_bench_context {
    struct dti_bench_work {
        struct dti_frame *frame;
        dti_bench_pass_fn *pass;
        void *context;
        size_t sets;
        bool by_events;
    } work;
    struct dti_bench_moving {
        const struct dti_copy *copy;
        const struct dti_bench_memory *memory;
        size_t operand, reads, n;
    } moving;
    struct dti_bench_peak {
        const struct dti_matmul_kernel *kernel;
        uint64_t count;
        _Atomic double sink; /* keeps the compiler from removing the computation */
    } peak;
};

struct dti_frame {
    const struct dti_bench_workload *workload;
    const struct dti_bench_request *request;
    struct dti_bench_table *table;
    struct dti_team *team; /* NULL: this thread alone */
    size_t threads;
    struct dti_gpu *gpu;               /* NULL: the CPU */
    struct dti_gpu_stream *streams[2]; /* the first one runs the passes */
    struct dti_gpu_event *begin, *end; /* for timing, in the first stream */
    bool lent;                         /* the first stream is borrowed */
    struct dti_error error;            /* error of a pass */
    atomic_bool failed;                /* a member of the team failed */
    struct dti_bench_candidate candidates[DTI_BENCH_ITEMS_MAX];
    union dti_bench_context contexts[DTI_BENCH_ITEMS_MAX];
};

/* The callbacks of a workload on the CPU or on a device. */
struct dti_bench_workload {
    const void *own; /* data of one kind, if several kinds share the callbacks */
    size_t size;     /* size of its state, which starts with a struct dti_frame and is zeroed */
    enum dti_status (*check)(const struct dti_bench_request *request, struct dti_error *reterr);
    /* Adds the candidates; they are measured if there are any. */
    enum dti_status (*prepare)(struct dti_frame *frame, struct dti_error *reterr);
    /* After measuring: verifies the results and sets what items are compared with. */
    enum dti_status (*verify)(struct dti_frame *frame, struct dti_error *reterr);
    void (*end)(struct dti_frame *frame); /* always called; may be NULL */
};

#define DTI_WORKLOAD(own_, state, check_, prepare_, verify_, end_)                      \
    {                                                                                   \
        .own = (own_), .size = sizeof(state), .check = (check_), .prepare = (prepare_), \
        .verify = (verify_), .end = (end_)                                              \
    }

/* Returns NULL if there is no more room. */
struct dti_bench_item *dti_frame_add(struct dti_frame *frame, const struct dti_bench_entry *entry);
/* Runs one pass of a candidate over the first set, with the whole team. */
void dti_frame_again(struct dti_frame *frame, size_t at);

/* bench_limits.c: adds a kernel without arithmetic as a candidate. It reads n elements of each
 * of `reads` operands, starting at `operand`, or writes to the operand that follows the first. */
struct dti_bench_item *dti_frame_add_moving(struct dti_frame *frame, const struct dti_copy *copy,
                                            const char *role, bool limit,
                                            const struct dti_bench_memory *memory, size_t operand,
                                            size_t reads, size_t n);
/* Adds the peak arithmetic rate of a kernel in registers; `words` follow the name of its
 * instruction. */
struct dti_bench_item *dti_frame_add_peak(struct dti_frame *frame,
                                          const struct dti_matmul_kernel *kernel, const char *dtype,
                                          const char *words, uint64_t count);
enum { DTI_BENCH_LIMITS_MAX = 3 + DTI_STREAMING_COUNT };
/* Adds the CPU's memory limits, at most as many as there is room for: every way to read operands
 * 0 to operands - 1, or to copy operand 0 to 1; all have this dtype, if it is not NULL. After
 * measuring, dti_bench_best_limit() finds the best of a role. */
void dti_frame_add_limits(struct dti_frame *frame, const struct dti_bench_memory *memory,
                          size_t operands, uint64_t bytes, bool copy, const char *dtype);
/* Whether a kernel takes part as a limit: portable ones, and those of the highest allowed level
 * that has a kernel of this sort. All ways of storing take part, regardless of cache sizes. */
bool dti_copy_competes(const struct dti_copy *copy, enum dti_level allowed);

/* bench_warnings.c: notes for a table whose figures fall short of what this CPU can do. */

/* The fastest unit among `has` for products of a dtype, if it is faster than that of the
 * instruction in use ("vdpbf16ps zmm"; NULL: none); else NULL. */
const char *dti_unit_unused(const bool has[DTI_INSTRUCTION_COUNT], enum dti_dtype dtype,
                            const char *instruction);
/* Adds a note if this CPU has such a unit; kernel: the one in use, or NULL. */
void dti_bench_warn_unit(struct dti_bench_table *table, const struct dti_bench_request *request,
                         enum dti_dtype dtype, const struct dti_matmul_kernel *kernel);
/* Adds notes about our own computations that take clearly longer than with a wider dtype. */
void dti_bench_warn_narrow(struct dti_bench_table *table);

/* Opens streams and events; an existing stream is borrowed. The frame closes them after the run. */
enum dti_status dti_frame_open(struct dti_frame *frame, size_t streams, struct dti_error *reterr);

/* Pairs of operands on a device: enough of them, used in turn, to exceed its cache. */
struct dti_device_pairs {
    dti_gpu_address memory;
    uint64_t stride; /* distance from one operand to the next */
    size_t sets;
};
/* Sets everything but the memory; false if the size exceeds the address space. */
bool dti_device_pairs_lay_out(struct dti_device_pairs *ret, const struct dti_bench_request *request,
                              uint64_t bytes, uint64_t *ret_size);
static inline dti_gpu_address dti_device_pairs_at(const struct dti_device_pairs *pairs, size_t set,
                                                  size_t operand)
{
    return pairs->memory + (set * 2 + operand) * pairs->stride;
}
/* The size of the device's L2 cache in bytes, or a guess. */
uint64_t dti_device_cache_bytes(struct dti_gpu *gpu);
/* Fails with DTI_UNAVAILABLE if a device does not have enough free memory. */
enum dti_status dti_device_has_memory(struct dti_gpu *gpu, uint64_t bytes,
                                      struct dti_error *reterr);

#endif
