/* SPDX-License-Identifier: MIT
 *
 * Hashes files; the only user of nettle. */
#include "files/scan/file_digest.h"

#include <fcntl.h>
#include <nettle/sha2.h>
#include <stdlib.h>

#include "io/window.h"
#include "util/run/allocate.h"

enum { PIECE = 1 << 20 };

struct digest_reading {
    unsigned char *piece;
    struct dti_window window;
    uint64_t done; /* bytes of all files */
    void (*progress)(void *context, uint64_t done_bytes);
    void *context;
};

void dti_digest_bytes(const void *bytes, size_t size, struct dti_digest *ret)
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, size, bytes);
    sha256_digest(&sha, sizeof ret->bytes, ret->bytes);
}

uint64_t dti_digest_input_bytes(const struct dti_container *container)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < dti_digest_count(container); i++)
        bytes += dti_digest_file(container, i)->input.size; /* no overflow: sizes of real files */
    return bytes;
}

static enum dti_status hash(struct digest_reading *reading, const struct dti_input *input,
                            struct dti_digest *ret, struct dti_error *reterr)
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    (void)posix_fadvise(input->fd, (off_t)input->start, (off_t)input->size, POSIX_FADV_SEQUENTIAL);
    for (uint64_t at = 0; at < input->size;) {
        const uint64_t left = input->size - at;
        const size_t size = left < PIECE ? (size_t)left : PIECE;
        const void *bytes;
        enum dti_status status =
            dti_window_look(&reading->window, input, reading->piece, size, at, &bytes, reterr);
        if (status == DTI_OK) {
            sha256_update(&sha, size, bytes);
            status = dti_window_done(&reading->window, DTI_OK, reterr);
        }
        if (status != DTI_OK)
            return status;
        at += size;
        reading->done += size;
        if (reading->progress)
            reading->progress(reading->context, reading->done);
    }
    sha256_digest(&sha, sizeof ret->bytes, ret->bytes);
    return DTI_OK;
}

enum dti_status dti_digest_files(const struct dti_container *container, struct dti_digest *ret,
                                 void (*progress)(void *context, uint64_t done_bytes),
                                 void *context, struct dti_error *reterr)
{
    struct digest_reading reading = {
        .piece = dti_malloc(PIECE), .progress = progress, .context = context};
    if (!reading.piece)
        return dti_no_memory(reterr);
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < dti_digest_count(container) && status == DTI_OK; i++)
        status = hash(&reading, &dti_digest_file(container, i)->input, &ret[i], reterr);
    dti_window_free(&reading.window);
    dti_free(reading.piece);
    return status;
}
