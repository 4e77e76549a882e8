/* SPDX-License-Identifier: MIT
 *
 * Compressed members of .npz: unpacked in pieces, up to the announced size, with the checksum
 * verified; streams that are too short, too long, damaged or decompression bombs. */
#include "npy_make.h"
#include "tally.h"

#define HEADER "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"

static struct zip zip;
static struct bytes packed;

/* Deflate without compression: stored blocks of up to 1,000 bytes. */
static const struct bytes *deflate_stored(const struct bytes *plain)
{
    packed.length = 0;
    for (size_t at = 0; at < plain->length || at == 0;) {
        const size_t left = plain->length - at, part = left < 1000 ? left : 1000;
        put_number(&packed, left == part, 1);
        put_number(&packed, part, 2);
        put_number(&packed, ~part, 2);
        put(&packed, plain->data + at, part);
        at += part > 0 ? part : 1;
    }
    return &packed;
}

static void make(const struct bytes *plain, const struct bytes *deflated)
{
    zip.count = zip.file.length = 0;
    zip_add_packed(&zip, "a.npy", plain, 8, deflated);
    zip_add_packed(&zip, "b.npy", plain, 8, deflated);
    zip_finish(&zip, false);
    file_make("x.npz", zip.file.data, zip.file.length);
}

static void unpacking_is_refused(size_t tensor, const char *want)
{
    const struct dti_input *input;
    uint64_t offset;
    error.text[0] = '\0';
    if (!container_opens("x.npz", NULL))
        return;
    CHECK(dti_container_data(container, tensor, &input, &offset, &error) == DTI_BAD_INPUT);
    CHECK_STR(error.text, want);
    dti_container_free(container);
}

static void arrays_are_unpacked_once_and_where_they_are_wanted(void)
{
    const struct bytes a = npy_make(1, HEADER, strlen(HEADER), 24);
    folder_enter();
    make(&a, deflate_stored(&a));
    if (container_opens("x.npz", NULL)) {
        CHECK_U64(container->tensor_count, 2);
        for (size_t i = 0; i < 4; i++) {
            const size_t tensor = (i + 1) % 2;
            const struct dti_input *input = NULL;
            uint64_t offset = 0;
            unsigned char data[24];
            CHECK(container->tensors[tensor].compressed);
            CHECK(container->tensors[tensor].bytes == 24);
            if (!CHECK(dti_container_data(container, tensor, &input, &offset, &error) == DTI_OK))
                break;
            CHECK(input->seekable && offset + 24 <= input->size);
            CHECK(dti_input_read_at(input, data, 24, offset, &error) == DTI_OK);
            CHECK(memcmp(data, a.data + a.length - 24, 24) == 0);
        }
        dti_container_free(container);
    }
    CHECK_U64(folder_leave(), 1); /* the temporary file has no name */
}

static void large_arrays_are_unpacked_in_pieces(void)
{
    static const char header[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (100000,), }";
    const struct bytes a = npy_make(1, header, strlen(header), 100000);
    folder_enter();
    zip.count = zip.file.length = 0;
    zip_add_packed(&zip, "a.npy", &a, 8, deflate_stored(&a));
    zip_finish(&zip, false);
    file_make("x.npz", zip.file.data, zip.file.length);
    if (container_opens("x.npz", NULL)) {
        const struct dti_input *input = NULL;
        uint64_t offset = 0;
        static unsigned char data[100000];
        CHECK(dti_container_data(container, 0, &input, &offset, &error) == DTI_OK);
        CHECK(dti_input_read_at(input, data, sizeof data, offset, &error) == DTI_OK);
        CHECK(memcmp(data, a.data + a.length - sizeof data, sizeof data) == 0);
        dti_container_free(container);
    }
    folder_leave();
}

/* The file is read in pieces, the first of 1,024 bytes. The header may end anywhere in a piece. */
static void headers_may_end_anywhere_in_a_piece(void)
{
    char header[1100];
    folder_enter();
    for (size_t length = 980; length < 1060; length++) {
        memset(header, ' ', length);
        memcpy(header, HEADER, strlen(HEADER));
        const struct bytes a = npy_make(1, header, length, 24);
        const struct dti_input *input = NULL;
        uint64_t offset = 0;
        unsigned char data[24];
        make(&a, deflate_stored(&a));
        if (!container_opens("x.npz", NULL))
            break;
        const bool good =
            CHECK(dti_container_data(container, 1, &input, &offset, &error) == DTI_OK) &&
            CHECK(dti_input_read_at(input, data, 24, offset, &error) == DTI_OK) &&
            CHECK(memcmp(data, a.data + a.length - 24, 24) == 0);
        dti_container_free(container);
        if (!good)
            break;
    }
    folder_leave();
}

static void streams_must_hold_what_was_announced(void)
{
    const struct bytes a = npy_make(1, HEADER, strlen(HEADER), 24);
    struct bytes other = a;
    folder_enter();
    other.length -= 1; /* unpacks to less */
    make(&a, deflate_stored(&other));
    unpacking_is_refused(
        0, "'x.npz': member 'a.npy': damaged: it unpacks to 92 bytes, but the directory says 93");
    other.length += 2; /* unpacks to more */
    make(&a, deflate_stored(&other));
    unpacking_is_refused(1, "'x.npz': member 'b.npy': damaged: it unpacks to more than the 93 "
                            "bytes that the directory says");
    deflate_stored(&a);
    put(&packed, "x", 1);
    make(&a, &packed);
    unpacking_is_refused(0, "'x.npz': member 'a.npy': damaged: 1 bytes follow its compressed "
                            "data");
    deflate_stored(&a);
    packed.data[packed.length - 1] ^= 1;
    make(&a, &packed);
    unpacking_is_refused(0, "'x.npz': member 'a.npy': damaged: its CRC-32 is 73956711, but the "
                            "directory says 04925787");
    deflate_stored(&a);
    packed.length -= 1;
    make(&a, &packed);
    unpacking_is_refused(0,
                         "'x.npz': member 'a.npy': truncated: its compressed data end too early");
    folder_leave();
}

static void damaged_streams_are_refused_when_they_are_met(void)
{
    const struct bytes a = npy_make(1, HEADER, strlen(HEADER), 24);
    folder_enter();
    deflate_stored(&a);
    packed.data[0] = 7; /* invalid block type */
    make(&a, &packed);
    container_is_refused("x.npz", "'x.npz': member 'a.npy': its compressed data are damaged");
    packed.length = 0;
    make(&a, &packed);
    container_is_refused("x.npz",
                         "'x.npz': member 'a.npy': truncated: its compressed data end too early");
    struct bytes few = a;
    few.length = 40;
    make(&a, deflate_stored(&few));
    container_is_refused(
        "x.npz",
        "'x.npz': member 'a.npy': damaged: it unpacks to 40 bytes, but the directory says 93");
    folder_leave();
}

static void the_size_must_be_that_of_the_header(void)
{
    const struct bytes a = npy_make(1, HEADER, strlen(HEADER), 24);
    folder_enter();
    make(&a, deflate_stored(&a));
    for (size_t i = 0; i < 2; i++) { /* both headers announce almost 4 GB */
        patch(&zip.file, zip.members[i].local + 22, UINT32_MAX - 1, 4);
        patch(&zip.file, zip.members[i].entry + 24, UINT32_MAX - 1, 4);
    }
    file_make("x.npz", zip.file.data, zip.file.length);
    container_is_refused("x.npz", "'x.npz': member 'a.npy': 6 elements of type <f4 need 24 bytes, "
                                  "but the member has 4294967225");
    folder_leave();
}

/* Expands 1032 to 1: the longest possible match, repeated, in fixed Huffman codes. */
static void a_header_that_lies_unpacks_to_no_more_than_it_says(void)
{
    static const char bomb[] = "{'descr': '|u1', 'fortran_order': False, 'shape': (50000,), }";
    struct bytes a = npy_make(1, bomb, strlen(bomb), 0), zeros;
    const size_t start = a.length;
    folder_enter();
    /* the header in a stored block, then a block with fixed codes: one zero, then matches of 258
     * bytes at distance 1, whose codes are 11000101 and 00000: 13 bits each, most significant bit
     * first */
    packed.length = 0;
    put_number(&packed, 0, 1);
    put_number(&packed, start, 2);
    put_number(&packed, ~start, 2);
    put(&packed, a.data, start);
    uint64_t bits = 3; /* last block, fixed codes */
    unsigned used = 3;
    bits |= UINT64_C(0x0C) << used; /* literal 0 is 00110000 */
    used += 8;
    for (unsigned i = 0; i < 40000; i++) {
        bits |= UINT64_C(0xA3) << used; /* 11000101 from its highest bit on, then 00000 */
        used += 13;
        while (used >= 8) {
            put_number(&packed, bits & 0xFF, 1);
            bits >>= 8;
            used -= 8;
        }
    }
    put_number(&packed, bits & 0xFF, 1);
    put_number(&packed, 0, 2); /* end of block is 0000000 */
    zeros = a;
    memset(zeros.data + start, 0, 50000);
    zeros.length = start + 50000;
    make(&zeros, &packed);
    if (container_opens("x.npz", NULL)) {
        const struct dti_input *input;
        uint64_t offset;
        CHECK(dti_container_data(container, 0, &input, &offset, &error) == DTI_BAD_INPUT);
        CHECK(strstr(error.text, "unpacks to more than the 50071 bytes") != NULL);
        dti_container_free(container);
    }
    folder_leave();
}

static void a_full_or_missing_folder_is_an_error_of_writing(void)
{
    const struct bytes a = npy_make(1, HEADER, strlen(HEADER), 24);
    folder_enter();
    make(&a, deflate_stored(&a));
    const char *const before = getenv("TMPDIR");
    char kept[512];
    snprintf(kept, sizeof kept, "%s", before ? before : "");
    if (container_opens("x.npz", NULL)) {
        const struct dti_input *input;
        uint64_t offset;
        CHECK(setenv("TMPDIR", "none", 1) == 0);
        CHECK(dti_container_data(container, 0, &input, &offset, &error) == DTI_WRITE_FAILED);
        CHECK(before ? setenv("TMPDIR", kept, 1) == 0 : unsetenv("TMPDIR") == 0);
        dti_container_free(container);
    }
    folder_leave();
}

static enum dti_status verify(struct dti_error *reterr)
{
    struct dti_container *opened;
    enum dti_status status = dti_container_open(&opened, "x.npz", NULL, reterr);
    if (status != DTI_OK)
        return status;
    status = dti_container_verify(opened, NULL, NULL, reterr);
    dti_container_free(opened);
    return status;
}

static void memory_that_runs_out_is_told(void)
{
    const struct bytes a = npy_make(1, HEADER, strlen(HEADER), 24);
    folder_enter();
    make(&a, deflate_stored(&a));
    tally_fail_each(verify);
    folder_leave();
}

UNIT_MAIN(arrays_are_unpacked_once_and_where_they_are_wanted, large_arrays_are_unpacked_in_pieces,
          headers_may_end_anywhere_in_a_piece, streams_must_hold_what_was_announced,
          damaged_streams_are_refused_when_they_are_met, the_size_must_be_that_of_the_header,
          a_header_that_lies_unpacks_to_no_more_than_it_says,
          a_full_or_missing_folder_is_an_error_of_writing, memory_that_runs_out_is_told)
