/* SPDX-License-Identifier: MIT
 *
 * What kind a file is, from its first bytes. The name decides only where the bytes do not: a broken
 * model.safetensors gets the verdict of the reader of safetensors. */
#include <string.h>

#include "containers/containers.h"
#include "containers/safetensors.h"

struct magic {
    const char *bytes;
    size_t length;
    struct dti_foreign foreign;
};
static const struct magic magics[] = {
#define FOREIGN(magic, what, advice) {magic, sizeof(magic) - 1, {.is = what, .remedy = advice}},
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

static bool begins(const unsigned char *head, size_t size, const char *magic, size_t length)
{
    return size >= length && memcmp(head, magic, length) == 0;
}

static bool ends(const char *name, const char *suffix)
{
    const size_t length = strlen(name), wanted = strlen(suffix);
    return length >= wanted && memcmp(name + length - wanted, suffix, wanted) == 0;
}

/* The first byte from `at` on that is not JSON white space: `size` when there is none. */
static size_t skip_space(const unsigned char *head, size_t size, size_t at)
{
    while (at < size &&
           (head[at] == ' ' || head[at] == '\t' || head[at] == '\n' || head[at] == '\r'))
        at++;
    return at;
}

/* A header of a length that may be, and JSON in it. Nothing else begins with such a length: the
 * other kinds have no four bytes of zero there. */
static bool is_safetensors(const unsigned char *head, size_t head_size, uint64_t size)
{
    uint64_t length = 0;
    if (head_size < 9)
        return false;
    for (unsigned i = 0; i < 8; i++)
        length |= (uint64_t)head[i] << (8 * i);
    if (length > DTI_SAFETENSORS_HEADER_MAX)
        return false;
    const size_t first = skip_space(head, head_size, 8);
    return first < head_size ? head[first] == '{' : size > head_size;
}

/* The first member of what torch.save() writes is the pickle, in a folder. */
static bool is_torch_zip(const unsigned char *head, size_t size)
{
    enum { HEADER = 30, NAME_LENGTH = 26 };
    static const char pickle[] = "/data.pkl";
    const size_t wanted = sizeof pickle - 1;
    if (size < HEADER)
        return false;
    const size_t length = (size_t)head[NAME_LENGTH] | (size_t)head[NAME_LENGTH + 1] << 8;
    if (length < wanted || length > size - HEADER)
        return false;
    return memcmp(head + HEADER + length - wanted, pickle, wanted) == 0;
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

static struct dti_content content(enum dti_container_kind kind)
{
    return (struct dti_content){.known = true, .kind = kind};
}

static struct dti_content foreign(const struct dti_foreign *foreign)
{
    return (struct dti_content){.foreign = foreign};
}

static struct dti_content by_name(const char *name)
{
    if (ends(name, ".index.json"))
        return content(DTI_CONTAINER_SHARDED);
    for (unsigned kind = 0; kind < DTI_CONTAINER_COUNT; kind++) {
        if (kind != DTI_CONTAINER_RAW && kind != DTI_CONTAINER_SHARDED &&
            ends(name, dti_container_extension((enum dti_container_kind)kind)))
            return content((enum dti_container_kind)kind);
    }
    return foreign(NULL);
}

struct dti_content dti_content_of(const char *name, const unsigned char *head, size_t head_size,
                                  uint64_t size)
{
    const struct dti_content named = by_name(name);
    if (is_safetensors(head, head_size, size))
        return content(DTI_CONTAINER_SAFETENSORS);
    if (begins(head, head_size, "\x93NUMPY", 6))
        return content(DTI_CONTAINER_NPY);
    if (begins(head, head_size, "GGUF", 4))
        return content(DTI_CONTAINER_GGUF);
    if (begins(head, head_size, "PK\x03\x04", 4) || begins(head, head_size, "PK\x05\x06", 4) ||
        begins(head, head_size, "PK\x06\x06", 4))
        return is_torch_zip(head, head_size) ? foreign(&torch_zip) : content(DTI_CONTAINER_NPZ);
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (begins(head, head_size, magics[i].bytes, magics[i].length))
            return foreign(&magics[i].foreign);
    }
    if (named.known)
        return named;
    if (head_size >= 9 && head[8] == '{' && head[0] != '{') /* whatever length it has */
        return content(DTI_CONTAINER_SAFETENSORS);
    const size_t first = skip_space(head, head_size, 0);
    if (first < head_size && head[first] == '{')
        return content(DTI_CONTAINER_SHARDED);
    if (is_onnx(name, head, head_size))
        return foreign(&onnx);
    return foreign(NULL);
}
