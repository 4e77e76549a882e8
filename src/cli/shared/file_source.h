/* SPDX-License-Identifier: MIT
 *
 * Options of the commands that read files of tensors: what a file holds where it does not say so
 * itself, and with how many threads and how much memory its data is read. */
#ifndef DTINFO_CLI_FILE_SOURCE_H
#define DTINFO_CLI_FILE_SOURCE_H

#include "answers/amounts.h"
#include "answers/reading.h"
#include "cli/shared/choices.h"
#include "cli/shared/progress.h"
#include "cli/shell/command.h"
#include "dtinfo/container.h"

struct dti_file_args {
    const char *from, *shape, *assume, *threads, *max_memory;
    int endian, packing;
    bool endian_given, packing_given, lenient;
};

enum dti_endian { DTI_ENDIAN_LITTLE, DTI_ENDIAN_BIG };
extern const struct dti_choice dti_choice_endian[];

/* Rows for a command's options; args is its struct dti_file_args member. */
#define DTI_SOURCE_OPTIONS(type, args)                                                            \
    OPT_DTYPE(0, "from", type, args.from, "DTYPE", "the file holds raw codes of this dtype"),     \
        OPT_CHOICE(0, "endian", type, args.endian, args.endian_given, "ORDER", dti_choice_endian, \
                   "byte order of raw codes"),                                                    \
        OPT_CHOICE(0, "packing", type, args.packing, args.packing_given, "PACKING",               \
                   dti_choice_packing,                                                            \
                   "how codes of less than 8 bits lie: raw ones, those of safetensors"),          \
        OPT_DTYPE(0, "assume", type, args.assume, "DTYPE",                                        \
                  "what npy files hold whose type is V1, V2 or <f1"),                             \
        OPT_FLAG(0, "lenient", type, args.lenient, "accept bytes behind the data of safetensors")
#define DTI_SHAPE_OPTION(type, args) \
    OPT_TEXT(0, "shape", type, args.shape, "N,...", "shape of raw codes: 2,3 or 2x3")
#define DTI_SCAN_OPTIONS(type, args)                             \
    OPT_TEXT(0, "threads", type, args.threads, "N",              \
             "threads, or all: one on each CPU (the default)"),  \
        OPT_TEXT(0, "max-memory", type, args.max_memory, "SIZE", \
                 "memory for buffers of all threads, as in 64MiB; the default is 16MiB")

/* The options for dti_container_open(). Points into itself: must not be copied. */
struct dti_file_source {
    struct dti_container_options options;
    struct dti_raw raw;
    struct dti_format assume;
    uint64_t shape[DTI_RANK_MAX];
    const char *notes[2]; /* what the dtypes' names deserve to have said about them */
    size_t note_count;
};
enum dti_status dti_file_source_init(struct dti_file_source *ret, const struct dti_file_args *args,
                                     const struct dti_context *cx, struct dti_error *reterr);

/* How the options let data be read, with a bar that shows how far that is. bar must stay where it
 * is as long as it reads. */
struct dti_file_bar {
    struct dti_progress progress;
    FILE *out;
};
enum dti_status dti_file_reading_init(struct dti_reading *ret, struct dti_file_bar *bar,
                                      const struct dti_file_args *args,
                                      const struct dti_context *cx, struct dti_error *reterr);

#endif
