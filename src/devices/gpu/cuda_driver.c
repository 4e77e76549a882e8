/* SPDX-License-Identifier: MIT
 *
 * Loads the CUDA driver, and explains why that failed. */
#include "devices/gpu/cuda_driver.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/run/library.h"
#include "util/run/once.h"
#include "util/run/process_environment.h"

enum { DEVICES_MAX = 1024 }; /* a larger count is a driver error */

static const struct dti_library_function functions[] = {
#define REQUIRED                             true
#define OPTIONAL                             false
#define CUDA_SYMBOL(need, field, parameters) {#field, offsetof(struct dti_cuda, field), need},
#include "devices/gpu/cuda_symbols.def"
#undef CUDA_SYMBOL
#undef REQUIRED
#undef OPTIONAL
};

/* The driver's "CUDA_ERROR_ILLEGAL_ADDRESS" as "illegal address". */
static void name_error(const struct dti_cuda *cuda, CUresult code, char ret[48])
{
    static const char prefix[] = "CUDA_ERROR_";
    const char *text = NULL;
    ret[0] = '\0';
    if (!cuda->cuGetErrorName || cuda->cuGetErrorName(code, &text) != CUDA_SUCCESS || !text ||
        strncmp(text, prefix, sizeof prefix - 1) != 0)
        return;
    text += sizeof prefix - 1;
    size_t i = 0;
    for (; text[i] != '\0' && i < 47; i++) {
        const char c = text[i];
        if (c >= 'A' && c <= 'Z')
            ret[i] = (char)(c - 'A' + 'a');
        else if (c >= '0' && c <= '9')
            ret[i] = c;
        else
            ret[i] = ' ';
    }
    ret[i] = '\0';
}

bool dti_cuda_failed(const struct dti_cuda *cuda, struct dti_cuda_failure *failure,
                     const char *function, CUresult code)
{
    if (code == CUDA_SUCCESS)
        return false;
    if (failure->code == CUDA_SUCCESS) {
        failure->code = code;
        failure->function = function;
        name_error(cuda, code, failure->name);
    }
    return true;
}

bool dti_cuda_ends_context(CUresult code)
{
    switch (code) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
    case CUDA_ERROR_INVALID_CONTEXT:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_CONTAINED:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_LAUNCH_FAILED:
    case CUDA_ERROR_UNKNOWN:
        return true;
    default: /* including errors of a kernel */
        return code >= CUDA_ERROR_HARDWARE_STACK_ERROR && code <= CUDA_ERROR_INVALID_PC;
    }
}

/* "CUDA error 700 (illegal address)" */
static const char *error_words(char buffer[DTI_CUDA_WORDS_SIZE],
                               const struct dti_cuda_failure *failure)
{
    if (failure->name[0] != '\0')
        snprintf(buffer, DTI_CUDA_WORDS_SIZE, "CUDA error %d (%s)", failure->code, failure->name);
    else
        snprintf(buffer, DTI_CUDA_WORDS_SIZE, "CUDA error %d", failure->code);
    return buffer;
}

const char *dti_cuda_words(char buffer[DTI_CUDA_WORDS_SIZE], const struct dti_cuda_failure *failure)
{
    char words[DTI_CUDA_WORDS_SIZE];
    snprintf(buffer, DTI_CUDA_WORDS_SIZE, "%.40s: %.80s", failure->function,
             error_words(words, failure));
    return buffer;
}

/* "CUDA 13.2", or "an unknown CUDA" */
static const char *version_words(char buffer[32], unsigned version)
{
    if (version == 0)
        snprintf(buffer, 32, "an unknown CUDA");
    else
        snprintf(buffer, 32, "CUDA %u.%u", version / 1000, version % 1000 / 10);
    return buffer;
}

static enum dti_status no_device(const struct dti_cuda *cuda, const char *words,
                                 struct dti_error *reterr)
{
    char quoted[DTI_QUOTE_SIZE];
    const char *const visible = dti_environment("CUDA_VISIBLE_DEVICES");
    if (visible)
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "%s: no CUDA device%s%s; CUDA_VISIBLE_DEVICES is %s, which may hide some",
                        cuda->library, words ? ": " : "", words ? words : "",
                        dti_quote(quoted, visible, strlen(visible)));
    return dti_fail(reterr, DTI_UNAVAILABLE, "%s: no CUDA device%s%s", cuda->library,
                    words ? ": " : "", words ? words : "");
}

static enum dti_status explain(const struct dti_cuda *cuda, const struct dti_cuda_failure *failure,
                               struct dti_error *reterr)
{
    char words[DTI_CUDA_WORDS_SIZE], version[32];
    error_words(words, failure);
    version_words(version, cuda->version);
    switch (failure->code) {
    case CUDA_ERROR_STUB_LIBRARY:
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "%s: the stub library of the CUDA toolkit, not a driver: %s; install "
                        "NVIDIA's driver, or set DTINFO_LIBCUDA to its library",
                        cuda->library, words);
    case CUDA_ERROR_NO_DEVICE:
        return no_device(cuda, words, reterr);
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "%s: the library is for %s and does not match the kernel's driver: %s; "
                        "reboot, or reinstall both",
                        cuda->library, version, words);
    default:
        return dti_fail(reterr, DTI_UNAVAILABLE, "%s (%s): %s: %s", cuda->library, version,
                        failure->function, words);
    }
}

static enum dti_status find_symbols(struct dti_cuda *cuda, const struct dti_library *library,
                                    struct dti_error *reterr)
{
    const char *const missing =
        dti_library_find(library, functions, sizeof functions / sizeof *functions, cuda);
    int version = 0;
    if (cuda->cuDriverGetVersion && cuda->cuDriverGetVersion(&version) == CUDA_SUCCESS &&
        version > 0)
        cuda->version = (unsigned)version;
    if (!missing)
        return DTI_OK;
    char words[32];
    return dti_fail(reterr, DTI_UNAVAILABLE,
                    "%s (%s): has no function %s; CUDA 10.0 or newer is required", cuda->library,
                    version_words(words, cuda->version), missing);
}

static enum dti_status load(struct dti_cuda *cuda, struct dti_error *reterr)
{
    static const char *const names[] = {"libcuda.so.1", NULL};
    struct dti_library *library;
#if UINTPTR_MAX != UINT64_MAX
    return dti_fail(reterr, DTI_UNAVAILABLE, "%s: CUDA needs a 64-bit program", names[0]);
#endif
    enum dti_status status = dti_library_open(&library, names, "DTINFO_LIBCUDA", reterr);
    if (status != DTI_OK)
        return status;
    const char *const name = dti_library_name(library);
    if (strchr(name, '/'))
        dti_quote(cuda->library, name, strlen(name));
    else
        snprintf(cuda->library, sizeof cuda->library, "%s", name);
    status = find_symbols(cuda, library, reterr);
    if (status == DTI_OK) {
        struct dti_cuda_failure failure = {.code = CUDA_SUCCESS};
        int count = 0;
        if (DTI_CUDA_FAILED(cuda, &failure, cuInit, 0) ||
            DTI_CUDA_FAILED(cuda, &failure, cuDeviceGetCount, &count))
            status = explain(cuda, &failure, reterr);
        else if (count <= 0)
            status = no_device(cuda, NULL, reterr);
        else
            cuda->devices = count < DEVICES_MAX ? (unsigned)count : DEVICES_MAX;
    }
    dti_library_close(library); /* the driver stays loaded */
    return status;
}

enum dti_status dti_cuda_load(const struct dti_cuda **ret, unsigned *ret_version,
                              struct dti_error *reterr)
{
    static struct dti_once once;
    static struct dti_cuda driver; /* constant once it is loaded */
    static atomic_int owner;       /* the process that loaded it */
    enum dti_status status = DTI_OK;
    *ret_version = 0;
    if (dti_once_begin(&once)) {
        struct dti_cuda found;
        memset(&found, 0, sizeof found);
        status = load(&found, reterr);
        *ret_version = found.version;
        if (status == DTI_OK) {
            driver = found;
            atomic_store(&owner, (int)getpid());
        }
        dti_once_end(&once, status == DTI_OK);
    }
    if (status == DTI_OK && atomic_load(&owner) != (int)getpid())
        return dti_fail(reterr, DTI_UNAVAILABLE,
                        "CUDA cannot be used after fork(): the parent process uses it");
    if (status == DTI_OK) {
        *ret = &driver;
        *ret_version = driver.version;
    }
    return status;
}
