/* SPDX-License-Identifier: MIT
 *
 * Inputs from memory and from descriptors: see input_memory.h. */
#include "io/input_memory.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/descriptor.h"
#include "util/run/allocate.h"

static enum dti_status read_bytes(const struct dti_input *input, void *buffer, size_t size,
                                  uint64_t offset, struct dti_error *reterr)
{
    char label[DTI_QUOTE_SIZE];
    if (offset > input->size || size > input->size - offset)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s ends at byte %llu, before byte %llu",
                        dti_input_label(input, label), (unsigned long long)input->size,
                        (unsigned long long)offset);
    if (size > 0)
        memcpy(buffer, (const char *)input->remote + offset, size);
    return DTI_OK;
}

static void close_bytes(struct dti_input *input)
{
    *input = (struct dti_input){.fd = -1};
}

static void free_bytes(struct dti_input *input)
{
    dti_free(input->remote);
    close_bytes(input);
}

void dti_input_of_bytes(struct dti_input *ret, const void *bytes, uint64_t size, const char *name,
                        bool copied)
{
    static const struct dti_input_source borrowed = {.read_at = read_bytes, .close = close_bytes};
    static const struct dti_input_source owned = {.read_at = read_bytes, .close = free_bytes};
    *ret = (struct dti_input){.name = name,
                              .fd = -1,
                              .seekable = true,
                              .size = size,
                              .source = copied ? &owned : &borrowed};
    memcpy(&ret->remote, &bytes, sizeof bytes); /* never written */
}

enum dti_status dti_input_duplicate(struct dti_input *ret, int fd, const char *name,
                                    struct dti_error *reterr)
{
    const struct dti_input named = {.name = name};
    struct stat st = {0};
    char label[DTI_QUOTE_SIZE];
    int mine;
    if (fstat(fd, &st) != 0)
        return dti_input_fail(&named, errno, reterr);
    if (!S_ISREG(st.st_mode))
        return dti_fail(reterr, DTI_BAD_INPUT,
                        "%s is not a regular file, which reading tensors requires",
                        dti_input_label(&named, label));
    DTI_AGAIN(mine = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    const enum dti_status status = dti_input_take(ret, mine, name, reterr);
    if (status != DTI_OK)
        return status;
    ret->start = 0; /* the duplicate has the position of the original */
    ret->size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    return DTI_OK;
}

void dti_input_state(const struct dti_input *input, struct dti_input_state *ret)
{
    struct stat st = {0};
    *ret = (struct dti_input_state){.known = false};
    if (input->source || input->fd < 0 || fstat(input->fd, &st) != 0 || !S_ISREG(st.st_mode))
        return;
    *ret = (struct dti_input_state){.known = true,
                                    .size = (int64_t)st.st_size,
                                    .seconds = (int64_t)st.st_mtim.tv_sec,
                                    .nanoseconds = (int64_t)st.st_mtim.tv_nsec};
}

enum dti_status dti_input_same(const struct dti_input *input, const struct dti_input_state *then,
                               struct dti_error *reterr)
{
    struct dti_input_state now;
    char label[DTI_QUOTE_SIZE];
    if (!then->known)
        return DTI_OK;
    dti_input_state(input, &now);
    if (now.known && now.size == then->size && now.seconds == then->seconds &&
        now.nanoseconds == then->nanoseconds)
        return DTI_OK;
    dti_fail(reterr, DTI_BAD_INPUT, "%s changed after it was opened (%s); open it again",
             dti_input_label(input, label),
             now.known && now.size != then->size ? "its size" : "its modification time");
    dti_error_argument(reterr, input->name, strlen(input->name));
    return DTI_BAD_INPUT;
}
