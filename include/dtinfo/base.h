/* SPDX-License-Identifier: MIT
 *
 * Version, errors, and contexts. */
#ifndef DTINFO_BASE_H
#define DTINFO_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the shared library exports. */
#if defined(__GNUC__)
#define DTI_PUBLIC __attribute__((visibility("default")))
#else
#define DTI_PUBLIC
#endif

/* The version of these headers; dti_version() is that of the library. */
#define DTI_VERSION_MAJOR 0
#define DTI_VERSION_MINOR 1
#define DTI_VERSION_PATCH 0

/* The library's version: "0.1.0". */
DTI_PUBLIC const char *dti_version(void);

enum dti_status {
    DTI_OK = 0,                 /* done */
    DTI_ANSWER_NO = 1,          /* the answer is no */
    DTI_USAGE = 2,              /* arguments that do not fit together */
    DTI_UNKNOWN_COMMAND = 3,    /* the command line only */
    DTI_UNKNOWN_OPTION = 4,     /* a word is not one of those that an option has */
    DTI_UNKNOWN_DTYPE = 5,      /* no dtype of that name */
    DTI_AMBIGUOUS_DTYPE = 6,    /* several dtypes have that name */
    DTI_WRONG_KIND = 7,         /* the function does not take dtypes of that kind */
    DTI_BAD_VALUE = 8,          /* the text is not a number, or not an expression */
    DTI_BAD_PATTERN = 9,        /* the text is not a bit pattern of that width */
    DTI_BAD_ENVIRONMENT = 10,   /* the command line only */
    DTI_BAD_INPUT = 11,         /* invalid input data */
    DTI_UNRECOGNIZED = 12,      /* the file format is not recognized */
    DTI_NOT_REPRESENTABLE = 13, /* the dtype has no code for the value */
    DTI_WRITE_FAILED = 14,      /* the output cannot be written */
    DTI_UNAVAILABLE = 15,       /* not available here, or not built in */
    DTI_NO_MEMORY = 16,         /* out of memory */
    DTI_DEVICE_FAILED = 17,     /* a device failed */
    DTI_BUG = 18,               /* a bug in the library */
    DTI_CANCELLED = 19,         /* the caller's `interrupted` function returned true */
};

/* "bad_input": the word for a program, which never changes; "?" for a number without one. */
DTI_PUBLIC const char *dti_status_code(enum dti_status status);

enum { DTI_ERROR_TEXT = 512, DTI_ERROR_SUGGESTIONS = 4 };

/* Why a function failed. This struct never changes, so it has no size; it needs no initialization.
 * It is filled on failure only. */
struct dti_error {
    enum dti_status status;
    uint32_t remedy;           /* what would help: dti_remedy_word(); 0: nothing is known */
    char text[DTI_ERROR_TEXT]; /* one line; safe for a terminal */
    char argument[128];        /* the text that was wrong, raw, cut to fit; "" if there is none */
    char suggestions[DTI_ERROR_SUGGESTIONS][32]; /* nearest valid spellings, "" after the last */
};

/* "keep": the word for a remedy, which never changes, so that a caller can name its own argument
 * or button for it. And the advice in words, "keep the tensor as it is". */
DTI_PUBLIC const char *dti_remedy_word(uint32_t remedy);
DTI_PUBLIC const char *dti_remedy_advice(uint32_t remedy);

/* Allocates (block NULL), resizes, or frees (size 0) a block, like realloc(): NULL if memory ran
 * out, and then the old block is unchanged. alignment: 0 for that of malloc(), or a power of two
 * for a block that is never resized. Called from any thread that works for the context. */
typedef void *dti_allocate_fn(void *context, void *block, size_t size, size_t alignment);

/* Runs task(argument, i) for each i below count, in any threads and any order, also one after the
 * other, and returns when all have returned. The threads need 1 MiB of stack. If none of the tasks
 * runs in the thread that called, the call can be cancelled only between two runs. */
typedef void dti_task_fn(void *argument, size_t index);
typedef void dti_run_tasks_fn(void *context, dti_task_fn *task, void *argument, size_t count);

struct dti_context;

struct dti_context_options {
    size_t size;               /* sizeof(struct dti_context_options) */
    dti_allocate_fn *allocate; /* NULL: the C library's allocator */
    void *allocate_context;
    dti_run_tasks_fn *run_tasks; /* NULL: threads of the context's own */
    void *run_tasks_context;
    size_t threads; /* at most so many work on a call; 0: one for each CPU. 1: the calling thread
                       alone. Own threads are started when a call first has enough work */
    /* Whether to give up. Called by the thread that called the library, at most every 20
     * milliseconds; the call then fails with DTI_CANCELLED and leaves no files behind. NULL: never.
     */
    bool (*interrupted)(void *context);
    void *interrupted_context;
    const char *cpu_level; /* the highest instruction set level to use: "none", "avx2", "avx512"
                              ...; NULL: what the CPU has */
    const char *device; /* "cpu", "cuda", "cuda:1", "auto", as for `dtinfo --device`; NULL: "cpu" */
};

/* Makes a context; options may be NULL. Fails with DTI_UNKNOWN_OPTION (a level or a device of that
 * name does not exist), DTI_UNAVAILABLE (not on this machine), DTI_NO_MEMORY. */
DTI_PUBLIC enum dti_status dti_context_new(struct dti_context **ret,
                                           const struct dti_context_options *options,
                                           struct dti_error *reterr);
/* Ends its threads. NULL is fine. */
DTI_PUBLIC void dti_context_free(struct dti_context *context);

/* The instruction set level in use, "avx512"; the device in use, "cpu" or "cuda:0"; and how many
 * threads work on a call. */
DTI_PUBLIC const char *dti_context_cpu_level(const struct dti_context *context);
DTI_PUBLIC const char *dti_context_device(const struct dti_context *context);
DTI_PUBLIC size_t dti_context_threads(const struct dti_context *context);

/* A text that the library made for the caller: free it with the context that made it. */
DTI_PUBLIC void dti_text_free(struct dti_context *context, char *text);

#ifdef __cplusplus
}
#endif
#endif
