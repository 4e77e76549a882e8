/* SPDX-License-Identifier: MIT
 *
 * What kind a file is, from its first bytes. The name decides only where the bytes do not: a broken
 * model.safetensors gets the verdict of the reader of safetensors. */
#include <string.h>

#include "containers/containers.h"

static const struct {
    const char *magic; /* no NUL in it */
    struct dti_foreign foreign;
} magics[] = {
#define FOREIGN(bytes, what, advice) {bytes, {.is = what, .remedy = advice}},
#include "containers/foreign.def"
#undef FOREIGN
};

static const struct dti_foreign torch_zip = {
    .is = "is a PyTorch file, whose pickle could run code and is never read",
    .remedy = "load it with torch.load(weights_only=True) and save it with Python's safetensors",
};
static const struct dti_foreign onnx = {
    .is = "looks like an ONNX model, which dtinfo does not read",
    .remedy = "write its initializers as .npy or safetensors, with the onnx package for example",
};

bool dti_begins(const unsigned char *head, size_t head_size, const char *magic)
{
    const size_t length = strlen(magic);
    return head_size >= length && memcmp(head, magic, length) == 0;
}

static bool ends(const char *name, const char *suffix)
{
    const size_t length = strlen(name), wanted = strlen(suffix);
    return length >= wanted && memcmp(name + length - wanted, suffix, wanted) == 0;
}

size_t dti_skip_space(const unsigned char *head, size_t size, size_t at)
{
    while (at < size &&
           (head[at] == ' ' || head[at] == '\t' || head[at] == '\n' || head[at] == '\r'))
        at++;
    return at;
}

bool dti_is_zip(const unsigned char *head, size_t size, bool of_torch)
{
    enum { HEADER = 30, NAME_LENGTH = 26 };
    static const char pickle[] = "/data.pkl";
    const size_t wanted = sizeof pickle - 1;
    if (!dti_begins(head, size, "PK\x03\x04") && !dti_begins(head, size, "PK\x05\x06") &&
        !dti_begins(head, size, "PK\x06\x06"))
        return false;
    const size_t length =
        size < HEADER ? 0 : (size_t)head[NAME_LENGTH] | (size_t)head[NAME_LENGTH + 1] << 8;
    return of_torch == (length >= wanted && length <= size - HEADER &&
                        memcmp(head + HEADER + length - wanted, pickle, wanted) == 0);
}

/* A protocol buffer whose field 1 is a small version and whose next field is one that exporters
 * write there: producer name, producer version, graph or opset. */
static bool is_onnx(const char *name, const unsigned char *head, size_t size)
{
    if (size < 3 || head[0] != 0x08 || head[1] == 0 || head[1] > 15)
        return false;
    return ends(name, ".onnx") ||
           (head[2] == 0x12 && size > 4 && (head[4] == 'p' || head[4] == 't' || head[4] == 's'));
}

/* Kinds that have other names than their extension, or none. */
static enum dti_container_kind kind_of_name(const char *name)
{
    const enum dti_container_kind kind = dti_container_named(name);
    return ends(name, ".index.json")   ? DTI_CONTAINER_SHARDED
           : kind == DTI_CONTAINER_RAW ? DTI_CONTAINER_COUNT
                                       : kind;
}

/* What the bytes say for certain, then the name, then what the bytes may be. */
static enum dti_container_kind find_kind(const char *name, const unsigned char *head,
                                         size_t head_size, uint64_t size,
                                         const struct dti_foreign **ret_foreign)
{
    for (unsigned kind = 0; kind < DTI_CONTAINER_COUNT; kind++) {
        const struct dti_container_ops *const ops =
            dti_container_ops((enum dti_container_kind)kind);
        if (ops->detect && ops->detect(head, head_size, size))
            return (enum dti_container_kind)kind;
    }
    *ret_foreign = dti_is_zip(head, head_size, true) ? &torch_zip : NULL;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (dti_begins(head, head_size, magics[i].magic))
            *ret_foreign = &magics[i].foreign;
    }
    const enum dti_container_kind named = kind_of_name(name);
    if (*ret_foreign || named != DTI_CONTAINER_COUNT)
        return *ret_foreign ? DTI_CONTAINER_COUNT : named;
    if (head_size >= 9 && head[8] == '{' && head[0] != '{') /* whatever length it has */
        return DTI_CONTAINER_SAFETENSORS;
    const size_t first = dti_skip_space(head, head_size, 0);
    if (first < head_size && head[first] == '{')
        return DTI_CONTAINER_SHARDED;
    *ret_foreign = is_onnx(name, head, head_size) ? &onnx : NULL;
    return DTI_CONTAINER_COUNT;
}

struct dti_content dti_content_of(const char *name, const unsigned char *head, size_t head_size,
                                  uint64_t size)
{
    const struct dti_foreign *foreign = NULL;
    const enum dti_container_kind kind = find_kind(name, head, head_size, size, &foreign);
    return (struct dti_content){
        .known = kind != DTI_CONTAINER_COUNT, .kind = kind, .foreign = foreign};
}
