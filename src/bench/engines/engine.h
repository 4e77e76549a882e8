/* SPDX-License-Identifier: MIT
 *
 * Matrix products of other libraries, measured for comparison if installed. Each member of a
 * team calls them single-threaded for its own part: the comparison is per thread, and their
 * threads do not compete with our waiting ones. */
#ifndef BENCH_ENGINES_ENGINE_H
#define BENCH_ENGINES_ENGINE_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/measure/bench_table.h"
#include "util/run/library.h"

/* C = A B, row-major; strides in elements. All sizes fit in an int. */
struct dti_engine_product {
    void *c;
    const void *a, *b;
    int m, n, k, c_stride, a_stride, b_stride;
};

typedef void dti_engine_symbol(void);

enum { DTI_ENGINE_SYMBOLS = 8, DTI_ENGINE_DTYPES = 3 };

struct dti_engine {
    const char *name;   /* "openblas" */
    char title[24];     /* "openblas 0.3.21" */
    char processor[40]; /* the CPU type the library detects, if it reports one: "Haswell" */
    struct dti_library *library;
    dti_engine_symbol *symbols[DTI_ENGINE_SYMBOLS]; /* NULL if missing; see the engine's file */
    const struct dti_library_function *functions;   /* the table of those symbols */
    struct dti_engine_row {
        enum dti_dtype dtype;
        size_t symbol; /* index of the matrix product */
    } rows[DTI_ENGINE_DTYPES];
    /* Multiplies in a supported dtype. The result is fp64 for fp64, int32 for int8, else fp32.
     * False if the engine failed. */
    bool (*multiply)(const struct dti_engine *engine, enum dti_dtype dtype,
                     const struct dti_engine_product *product);
};

/* These fail with DTI_UNAVAILABLE if the library is missing. */
enum dti_status dti_engine_openblas(struct dti_engine *ret, struct dti_error *reterr);
enum dti_status dti_engine_onednn(struct dti_engine *ret, struct dti_error *reterr);
/* The name of the function that multiplies matrices of a dtype, "cblas_sgemm"; NULL if there is
 * none. */
const char *dti_engine_function(const struct dti_engine *engine, enum dti_dtype dtype);
void dti_engine_close(struct dti_engine *engine);

#define DTI_ENGINE_SYMBOL(index, name, required) \
    [index] = {name, (index) * sizeof(dti_engine_symbol *), required}

/* Opens the first library that exists and looks up its symbols. */
enum dti_status dti_engine_open(struct dti_engine *engine, const char *const *libraries,
                                size_t count, struct dti_error *reterr);
/* Copies a library's self-description, keeping only letters, digits and a few signs. */
void dti_engine_words(char *ret, size_t size, const char *text);

#endif
