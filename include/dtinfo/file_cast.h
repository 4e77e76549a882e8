/* SPDX-License-Identifier: MIT
 *
 * The cast of a container into new files: which tensors are cast, kept or left out, how the new
 * files are laid out, the work itself, and the moment at which they take their names. Until then
 * nothing that anybody sees has changed. */
#ifndef DTINFO_FILE_CAST_H
#define DTINFO_FILE_CAST_H

#include "dtinfo/batch.h"
#include "dtinfo/container.h"
#include "dtinfo/loss_summary.h"
#include "dtinfo/new_files.h"
#include "dtinfo/parallel.h"
#include "dtinfo/plan.h"
#include "dtinfo/runner.h"

/* What becomes of a tensor that is written, and why it is not cast. */
enum dti_fate {
    DTI_FATE_CAST,
    DTI_FATE_SAME,    /* it is of the dtype already, and no policy changes a number */
    DTI_FATE_KEEP,    /* --keep names it */
    DTI_FATE_ONLY,    /* --only does not */
    DTI_FATE_INTEGER, /* integers and bool: without --ints */
    DTI_FATE_COMPLEX,
    DTI_FATE_COUNT
};

/* A container that is not one file as it is: tensors that are made of others while they are read.
 */
struct dti_file_view {
    void *context;
    /* Where the elements of a tensor come from: a source that lives as long as the view, or, with
     * *ret_source NULL, what dti_container_data() would tell. Not from several threads. */
    enum dti_status (*find)(void *context, size_t tensor,
                            const struct dti_batch_source **ret_source,
                            const struct dti_input **ret_input, uint64_t *ret_offset,
                            struct dti_error *reterr);
    /* Whether the tensor keeps its dtype whatever the request says, and why. */
    bool (*keeps)(void *context, size_t tensor, enum dti_fate *ret_fate);
    /* Whether a pattern fits a name that the tensors were made of. */
    bool (*fits)(void *context, const char *pattern, size_t length);
};

struct dti_file_cast_request {
    struct dti_cast cast;              /* destination (not complex), route, policies */
    const struct dti_stack_rule *rule; /* --like, else NULL */
    enum dti_level level;              /* the highest to use */
    struct dti_runner *runner;         /* where plans run; NULL: on the CPU. Lives longer */
    bool ints;                         /* integers and bool are cast too */
    const char *only, *keep, *select;  /* lists of patterns, or NULL */
    bool counted;                      /* losses are counted where nothing demands it */
    bool flags;                        /* as in struct dti_request */
    /* How codes of less than 8 bits lie, where the file's format does not say. */
    bool packing_given, from_packing_given;
    enum dti_packing packing, from_packing;
    const struct dti_file_view *view; /* of the container, or NULL; not for dti_file_cast_each() */
    enum dti_container_kind kind;     /* of the output */
    const char *path;                 /* of the output; DTI_CONTAINER_SHARDED: its folder */
    const char *index; /* DTI_CONTAINER_SHARDED: the name of the index in it, or NULL for none */
    dti_warn_fn *warn; /* of what is odd: a pattern that fits nothing; or NULL */
    void *warn_context;
};

struct dti_file_cast_tensor {
    size_t source; /* which of the container */
    size_t file;   /* of the output */
    enum dti_fate fate;
    const struct dti_plan *plan;     /* NULL: its bytes are copied */
    const struct dti_format *format; /* of what is written */
    uint64_t bytes, offset;          /* in its new file */
    struct dti_loss_summary loss;    /* DTI_FATE_CAST, once it has been done */
};

struct dti_file_cast {
    struct dti_file_cast_request request;
    struct dti_container *container;
    size_t tensor_count; /* in the order of their new files and of the data in them */
    struct dti_file_cast_tensor *tensors;
    struct dti_new_files files; /* shards that got tensors, or one file; then the index if any */
    size_t plan_count;
    struct dti_plan **plans; /* one for each pair of dtypes and layouts */
    const char *why_cpu;     /* the runner has no device for one of them: the reason, or NULL */
    uint64_t input_bytes, output_bytes; /* of data: what is read, what is written */
    size_t cast_count;                  /* tensors with DTI_FATE_CAST */
    bool counts;                        /* losses are: as wanted, or since a NaN may have no code */
    /* of the tensors that were cast */
    struct dti_loss loss;
    size_t max_tensor; /* which one has loss.max_absolute */
};

/* Decides all that can be known from headers: nothing is opened or made. The container must live
 * longer. Fails with DTI_USAGE (patterns, packing), DTI_WRONG_KIND (the output has no name for a
 * dtype), DTI_BAD_INPUT (tensors without values that can be read, names that the output cannot
 * hold), DTI_NO_MEMORY. */
enum dti_status dti_file_cast_new(struct dti_file_cast **ret, struct dti_container *container,
                                  const struct dti_file_cast_request *request,
                                  struct dti_error *reterr);

/* What dti_file_cast_open() would say, without making anything. */
enum dti_status dti_file_cast_check(const struct dti_file_cast *cast, bool force,
                                    struct dti_error *reterr);

/* Opens all new files under temporary names, in a new folder where that is asked for, and sets
 * their space aside. */
enum dti_status dti_file_cast_open(struct dti_file_cast *cast, bool force,
                                   struct dti_error *reterr);

struct dti_file_cast_options {
    struct dti_team *team;                          /* NULL: this thread alone */
    uint64_t max_memory;                            /* for buffers, 0 for the default */
    void (*progress)(void *context, uint64_t done); /* bytes of input_bytes; may be NULL */
    void *progress_context;
};
/* Reads, casts and writes everything, and fills the losses. Fails as dti_batch_run() does, and with
 * DTI_NOT_REPRESENTABLE for a NaN that the destination has no code for. */
enum dti_status dti_file_cast_run(struct dti_file_cast *cast,
                                  const struct dti_file_cast_options *options,
                                  struct dti_error *reterr);

/* Instead of opening, running and committing, where the one tensor of a DTI_CONTAINER_RAW output is
 * not complex: hands over its codes in order, a block at a time. */
typedef enum dti_status dti_file_cast_take(void *context, const struct dti_format *format,
                                           const struct dti_layout *layout, const void *codes,
                                           size_t n, struct dti_error *reterr);
enum dti_status dti_file_cast_each(struct dti_file_cast *cast,
                                   const struct dti_file_cast_options *options,
                                   dti_file_cast_take *take, void *context,
                                   struct dti_error *reterr);

/* All new files are synced; then each takes its name, the index last. A failure before the first of
 * them has it changes nothing. One between two of them, or a crash, leaves some shards old and some
 * new, each complete. */
enum dti_status dti_file_cast_commit(struct dti_file_cast *cast, struct dti_error *reterr);

/* Removes what was not committed; NULL is fine. */
void dti_file_cast_free(struct dti_file_cast *cast);

#endif
