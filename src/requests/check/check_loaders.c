/* SPDX-License-Identifier: MIT
 *
 * Assertions from options: how one is added; the bound on bits a weight, and the programs that load
 * a model. */
#include <string.h>

#include "requests/check/check_request.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

enum dti_status dti_check_add(struct check_job *job, enum dti_check_kind kind, const char *argument,
                              struct dti_check_assertion **ret, struct dti_error *reterr)
{
    struct dti_check_request *const request = &job->request;
    if (request->assertion_count == DTI_CHECK_ASSERTIONS)
        return dti_fail(reterr, DTI_USAGE, "more than %d assertions; use two commands",
                        (int)DTI_CHECK_ASSERTIONS);
    *ret = &request->assertions[request->assertion_count++];
    memset(*ret, 0, sizeof **ret);
    (*ret)->kind = kind;
    (*ret)->argument = argument;
    return DTI_OK;
}

const struct dti_choice dti_check_loaders[] = {
    {"vllm", 0, "vLLM"},
    {"transformers", 1,
     "Hugging Face transformers, with the packages that it loads quantized models by"},
    {"llama.cpp", 2, "llama.cpp; its release is the number of a build: llama.cpp=6451"},
    {"comfyui", 3, "ComfyUI, without extensions"},
    {"mlx", 4, "mlx-lm"},
    {NULL, 0, NULL},
};

/* A decimal of at most 18 digits. */
static bool read_decimal(const char *text, struct dti_check_bits *ret)
{
    unsigned count = 0;
    bool point = false;
    *ret = (struct dti_check_bits){.digits = 0};
    for (; *text != '\0'; text++) {
        if (*text == '.' && !point && count > 0 && dti_ascii_digit(text[1])) {
            point = true;
            continue;
        }
        if (!dti_ascii_digit(*text) || ++count > 18)
            return false;
        ret->digits = 10 * ret->digits + (uint64_t)(*text - '0');
        ret->places += point;
    }
    return count > 0;
}

enum dti_status dti_check_add_bits(struct check_job *job, enum dti_check_kind kind,
                                   const char *text, struct dti_error *reterr)
{
    struct dti_check_assertion *assertion = NULL;
    struct dti_check_bits bits;
    if (!read_decimal(text, &bits))
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                             "--max-bits-per-weight takes a decimal number, as in 4.6; got %s",
                             DTI_QUOTED(text, strlen(text)));
    const enum dti_status status = dti_check_add(job, kind, text, &assertion, reterr);
    if (status == DTI_OK)
        assertion->bits = bits;
    return status;
}

/* "vllm=0.28.0" */
static enum dti_status add_loader(struct check_job *job, enum dti_check_kind kind, const char *text,
                                  struct dti_error *reterr)
{
    struct dti_check_assertion *assertion = NULL;
    struct dti_loader_release release = {.given = false};
    const size_t name = strcspn(text, "=");
    const enum dti_loader loader = dti_loader_named(text, name);
    if (loader == DTI_LOADERS)
        return dti_fail_word(reterr, DTI_USAGE, text, name,
                             "--loader takes vllm, transformers, llama.cpp, comfyui or mlx; got %s",
                             DTI_QUOTED(text, name));
    if (text[name] == '=' &&
        !dti_loader_release_read(text + name + 1, strlen(text + name + 1), &release))
        return dti_fail_word(reterr, DTI_USAGE, text, strlen(text),
                             "--loader takes numbers of releases, as in %s=%s; got %s",
                             dti_loaders[loader].name, dti_loaders[loader].examined,
                             DTI_QUOTED(text, strlen(text)));
    const enum dti_status status = dti_check_add(job, kind, text, &assertion, reterr);
    if (status == DTI_OK) {
        assertion->loader = loader;
        assertion->release = release;
    }
    return status;
}

enum dti_status dti_check_add_loaders(struct check_job *job, enum dti_check_kind kind,
                                      const char *text, struct dti_error *reterr)
{
    const size_t size = strlen(text) + 1;
    enum dti_status status = DTI_OK;
    job->loaders = dti_malloc(size);
    if (!job->loaders)
        return dti_no_memory(reterr);
    memcpy(job->loaders, text, size);
    for (char *name = job->loaders, *end; name && status == DTI_OK; name = end) {
        end = strchr(name, ',');
        if (end)
            *end++ = '\0';
        status = add_loader(job, kind, name, reterr);
    }
    return status;
}
