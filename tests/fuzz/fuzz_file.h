/* SPDX-License-Identifier: MIT
 *
 * The fuzzer's bytes as a file: an unnamed one that is rewritten for each input. */
#ifndef DTINFO_FUZZ_FILE_H
#define DTINFO_FUZZ_FILE_H

#include <unistd.h>

#include "fuzz.h"
#include "io/scratch.h"

static struct dti_input fuzz_file_input;

/* An input that holds exactly these bytes, valid until the next call. The caller must not close it.
 */
static inline struct dti_input fuzz_file(const uint8_t *data, size_t size)
{
    static bool is_open;
    if (!is_open && access("/dev/shm", W_OK) == 0) /* several times faster than a disk */
        REQUIRE(setenv("TMPDIR", "/dev/shm", 0) == 0);
    if (!is_open)
        REQUIRE(dti_scratch_open(&fuzz_file_input, "input", 0, NULL) == DTI_OK);
    is_open = true;
    REQUIRE(ftruncate(fuzz_file_input.fd, 0) == 0);
    fuzz_file_input.size = 0;
    REQUIRE(dti_scratch_append(&fuzz_file_input, data, size, NULL) == DTI_OK);
    return fuzz_file_input;
}

#endif
