/* SPDX-License-Identifier: MIT
 *
 * Verification of the CRC of stored arrays while they are read: in pieces in any order, from
 * several threads, twice, or only partly. The archive is valid except for one changed byte. */
#include <pthread.h>

#include "npy_make.h"

#define HEADER "{'descr': '<i1', 'fortran_order': False, 'shape': (20000,), }"

enum { SIZE = 20000, ROUNDS = 60, THREADS = 4 };

static struct zip zip;
static const struct dti_input *input;
static uint64_t offset;

/* Opens an archive in which byte `damaged` of array "b" is changed, unless it is SIZE. */
static bool open_archive(size_t damaged)
{
    static struct bytes array;
    array = npy_make(1, HEADER, strlen(HEADER), SIZE);
    zip.count = zip.file.length = 0;
    zip_add(&zip, "a.npy", &array);
    zip_add(&zip, "b.npy", &array);
    zip_finish(&zip, false);
    if (damaged < SIZE)
        zip.file.data[zip.members[1].data + array.length - SIZE + damaged] ^= 0x10;
    file_make("x.npz", zip.file.data, zip.file.length);
    return container_opens("x.npz", NULL) &&
           CHECK(dti_container_data(container, 1, &input, &offset, &error) == DTI_OK);
}

static enum dti_status read_piece(size_t begin, size_t end)
{
    static _Thread_local unsigned char buffer[SIZE + 100];
    return dti_input_read_at(input, buffer, end - begin, offset + begin, NULL);
}

static void the_last_piece_tells(void)
{
    folder_enter();
    for (size_t damaged = 0; damaged <= SIZE; damaged += SIZE / 2) {
        const enum dti_status want = damaged < SIZE ? DTI_BAD_INPUT : DTI_OK;
        if (!open_archive(damaged))
            continue;
        CHECK_U64(read_piece(5000, SIZE), DTI_OK);
        CHECK_U64(read_piece(0, 4000), DTI_OK);
        CHECK_U64(read_piece(0, 4999), DTI_OK);
        CHECK_U64(read_piece(4999, 5000), want);
        dti_container_free(container);
    }
    folder_leave();
}

static void what_is_read_in_part_is_not_judged(void)
{
    folder_enter();
    if (open_archive(10)) {
        for (unsigned i = 0; i < 3; i++)
            CHECK_U64(read_piece(0, SIZE - 1), DTI_OK);
        CHECK_U64(dti_container_verify(container, NULL, NULL, &error), DTI_BAD_INPUT);
        CHECK(strstr(error.text, "'x.npz': member 'b.npy': damaged: its CRC-32 is ") != NULL);
        dti_container_free(container);
    }
    folder_leave();
}

/* Random overlapping pieces: the read that completes the coverage of all bytes is the one that
 * fails. */
static void any_pieces_will_do(void)
{
    static bool seen[SIZE];
    uint32_t state = 1;
    folder_enter();
    for (unsigned round = 0; round < ROUNDS; round += unit_quick() ? 5 : 1) {
        const size_t damaged = round % 2 == 0 ? SIZE : round * 331 % SIZE;
        size_t left = SIZE;
        memset(seen, 0, sizeof seen);
        if (!open_archive(damaged))
            continue;
        while (left > 0) {
            state = state * 1664525 + 1013904223;
            const size_t begin = state / 7 % SIZE, most = round < 20 ? 100 : 3000;
            state = state * 1664525 + 1013904223;
            size_t end = begin + 1 + state / 7 % most;
            if (end > SIZE)
                end = SIZE;
            const size_t before = left;
            for (size_t i = begin; i < end; i++) {
                left -= !seen[i];
                seen[i] = true;
            }
            const bool last = left == 0 && before > 0;
            CHECK_U64(read_piece(begin, end), last && damaged < SIZE ? DTI_BAD_INPUT : DTI_OK);
        }
        if (damaged == SIZE) /* a second read, which is not verified */
            CHECK_U64(read_piece(0, SIZE), DTI_OK);
        dti_container_free(container);
    }
    folder_leave();
}

static void each_byte_once_needs_no_order(void)
{
    unsigned char byte;
    folder_enter();
    for (size_t damaged = 7; damaged <= SIZE; damaged += SIZE - 7) {
        if (!open_archive(damaged))
            continue;
        enum dti_status status = DTI_OK;
        for (size_t i = 0; i < SIZE; i++) {
            CHECK_U64(status, DTI_OK);
            status = dti_input_read_once_at(input, &byte, 1, offset + i * 7919 % SIZE, &error);
        }
        CHECK_U64(status, damaged < SIZE ? DTI_BAD_INPUT : DTI_OK);
        dti_container_free(container);
    }
    folder_leave();
}

static void *read_every(void *number)
{
    const size_t first = *(const size_t *)number;
    enum dti_status status = DTI_OK;
    for (size_t i = first; i < SIZE / 50 && status == DTI_OK; i += THREADS)
        status = read_piece(50 * i, 50 * i + 75 < SIZE ? 50 * i + 75 : SIZE);
    return status == DTI_OK ? NULL : number;
}

static void threads_share_the_work(void)
{
    folder_enter();
    for (size_t damaged = 333; damaged <= SIZE; damaged += SIZE - 333) {
        pthread_t threads[THREADS];
        size_t numbers[THREADS], failed = 0;
        if (!open_archive(damaged))
            continue;
        for (size_t i = 0; i < THREADS; i++) {
            numbers[i] = i;
            CHECK(pthread_create(&threads[i], NULL, read_every, &numbers[i]) == 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            void *result = NULL;
            CHECK(pthread_join(threads[i], &result) == 0);
            failed += result != NULL;
        }
        CHECK_U64(failed, damaged < SIZE ? 1 : 0);
        dti_container_free(container);
    }
    folder_leave();
}

/* The catalogue of CRC algorithms gives 0xCBF43926 for the digits. */
static void sums_add_up(void)
{
    static const char digits[] = "123456789";
    CHECK_U64(dti_crc32(0, digits, 9), 0xCBF43926);
    for (size_t i = 0; i <= 9; i++) {
        const uint32_t head = dti_crc32(0, digits, i), tail = dti_crc32(0, digits + i, 9 - i);
        CHECK_U64(dti_crc32_part(head, 9 - i) ^ dti_crc32_part(tail, 0), 0xCBF43926);
        CHECK_U64(dti_crc32(head, digits + i, 9 - i), 0xCBF43926);
    }
}

UNIT_MAIN(sums_add_up, the_last_piece_tells, what_is_read_in_part_is_not_judged, any_pieces_will_do,
          each_byte_once_needs_no_order, threads_share_the_work)
