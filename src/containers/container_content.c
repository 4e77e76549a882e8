/* SPDX-License-Identifier: MIT
 *
 * Detects the format of a file from its first bytes. The name decides only where the bytes do not:
 * a damaged model.safetensors gets the error of the safetensors reader. */
#include <string.h>

#include "containers/containers.h"
#include "dtinfo/ascii.h"

static const struct {
    const char *magic; /* no NUL in it */
    struct dti_foreign foreign;
} magics[] = {
#define FOREIGN(bytes, what, advice) {bytes, {.is = what, .remedy = advice}},
#include "containers/foreign.def"
#undef FOREIGN
};

static const struct dti_foreign tar = {
    .is = "is a tar archive, as PyTorch wrote before 0.1.10, which dtinfo does not read",
    .remedy = "unpack it, or load it with that PyTorch and save it again",
};

bool dti_begins(const unsigned char *head, size_t head_size, const char *magic)
{
    const size_t length = strlen(magic);
    return head_size >= length && memcmp(head, magic, length) == 0;
}

size_t dti_skip_space(const unsigned char *head, size_t size, size_t at)
{
    while (at < size &&
           (head[at] == ' ' || head[at] == '\t' || head[at] == '\n' || head[at] == '\r'))
        at++;
    return at;
}

bool dti_is_zip(const unsigned char *head, size_t size, const char *first)
{
    enum { HEADER = 30, NAME_LENGTH = 26 };
    if (!dti_begins(head, size, "PK\x03\x04") && !dti_begins(head, size, "PK\x05\x06") &&
        !dti_begins(head, size, "PK\x06\x06"))
        return false;
    const size_t length =
        size < HEADER ? 0 : (size_t)head[NAME_LENGTH] | (size_t)head[NAME_LENGTH + 1] << 8;
    return length == 0 || length > size - HEADER
               ? first[0] == '\0'
               : dti_text_ends((const char *)head + HEADER, length, first);
}

/* Whether a name says so. Of what has no mark at all any name may be. */
static bool is_named(const char *name, enum dti_container_kind kind)
{
    const struct dti_container_ops *const ops = dti_container_ops(kind);
    const size_t length = strlen(name);
    return (ops->detect || ops->resembles) &&
           (dti_text_ends(name, length, dti_container_extension(kind)) ||
            (ops->other_extension && dti_text_ends(name, length, ops->other_extension)));
}

/* What the bytes say for certain, then the name, then what the bytes may be. */
enum dti_container_kind dti_content_of(const char *name, const unsigned char *head, size_t size,
                                       uint64_t file_size, const struct dti_foreign **ret_foreign)
{
    enum { TAR_AT = 257 };
    static const char tar_magic[] = "ustar";
    enum dti_container_kind kind;
    *ret_foreign = NULL;
    for (kind = 0; kind < DTI_CONTAINER_COUNT; kind++) {
        const struct dti_container_ops *const ops = dti_container_ops(kind);
        if (ops->detect && ops->detect(head, size, file_size))
            return kind;
    }
    if (size >= TAR_AT + strlen(tar_magic) &&
        memcmp(head + TAR_AT, tar_magic, strlen(tar_magic)) == 0)
        *ret_foreign = &tar;
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (dti_begins(head, size, magics[i].magic))
            *ret_foreign = &magics[i].foreign;
    }
    if (*ret_foreign)
        return DTI_CONTAINER_COUNT;
    for (kind = 0; kind < DTI_CONTAINER_COUNT; kind++) {
        if (is_named(name, kind))
            return kind;
    }
    for (kind = 0; kind < DTI_CONTAINER_COUNT; kind++) {
        const struct dti_container_ops *const ops = dti_container_ops(kind);
        if (ops->resembles && ops->resembles(head, size))
            return kind;
    }
    return DTI_CONTAINER_COUNT;
}
