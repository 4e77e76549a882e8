/* SPDX-License-Identifier: MIT
 *
 * Transposed matrices, read through stripes of any size, by one or several threads: the numbers
 * must equal those of a loop over bits. Also truncated files. */
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "files/dequant/dequant_parts.h"
#include "util/little_endian.h"

#include "folder.h"
#include "unit.h"

enum { MOST = 1 << 17, FILE_MAX = 1 << 20, THREADS = 3 };

static uint64_t state;

static unsigned next(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33);
}

/* A GPTQ or AWQ matrix, its file, and its numbers in the order of the view. */
struct matrix {
    bool awq, act;
    unsigned bits;
    size_t rows, columns, length;
};
static unsigned char file[FILE_MAX];
static float wanted[MOST];

static size_t groups_of(const struct matrix *matrix)
{
    return (matrix->rows + matrix->length - 1) / matrix->length;
}

/* Field i of a row of words; AWQ interleaves its fields. */
static unsigned field(const unsigned char *words, size_t i, unsigned bits, bool awq)
{
    static const unsigned char place[8] = {0, 4, 1, 5, 2, 6, 3, 7};
    size_t bit = (awq ? i / 8 * 8 + place[i % 8] : i) * bits;
    unsigned found = 0;
    for (unsigned k = 0; k < bits; k++, bit++)
        found |= ((unsigned)words[bit / 8] >> bit % 8 & 1U) << k;
    return found;
}

static size_t row_words(size_t fields, unsigned bits)
{
    return (fields * bits + 31) / 32;
}

/* Writes random parts and computes their numbers. Scales are powers of two. */
static size_t make(const char *path, const struct matrix *matrix)
{
    const size_t groups = groups_of(matrix), columns = matrix->columns, rows = matrix->rows;
    const size_t down = row_words(rows, matrix->bits), along = row_words(columns, matrix->bits);
    const size_t codes = (matrix->awq ? rows * along : down * columns) * 4;
    const size_t zeros = groups * along * 4, scales = groups * columns * 4, order = rows * 4;
    const size_t all = codes + zeros + scales + (matrix->awq ? 0 : order);
    char *const head = (char *)file + 8;
    int length =
        snprintf(head, 1024,
                 "{\"a.qweight\":{\"dtype\":\"I32\",\"shape\":[%zu,%zu],\"data_offsets\":[0,%zu]},"
                 "\"a.qzeros\":{\"dtype\":\"I32\",\"shape\":[%zu,%zu],\"data_offsets\":[%zu,%zu]},"
                 "\"a.scales\":{\"dtype\":\"F32\",\"shape\":[%zu,%zu],\"data_offsets\":[%zu,%zu]}",
                 matrix->awq ? rows : down, matrix->awq ? along : columns, codes, groups, along,
                 codes, codes + zeros, groups, columns, codes + zeros, codes + zeros + scales);
    if (!matrix->awq)
        length +=
            snprintf(head + length, 1024,
                     ",\"a.g_idx\":{\"dtype\":\"I32\",\"shape\":[%zu],\"data_offsets\":[%zu,%zu]}",
                     rows, codes + zeros + scales, all);
    head[length++] = '}';
    dti_little_put(file, 8, (uint64_t)length);
    unsigned char *const data = file + 8 + length;
    for (size_t i = 0; i < all; i++)
        data[i] = (unsigned char)next();
    for (size_t i = 0; i < groups * columns; i++)
        dti_little_put(data + codes + zeros + 4 * i, 4, (uint64_t)(0x3c + next() % 8) << 24);
    unsigned char *const index = data + codes + zeros + scales;
    for (size_t k = 0; k < rows; k++) {
        const size_t group = matrix->act ? next() % groups : k / matrix->length;
        if (!matrix->awq)
            dti_little_put(index + 4 * k, 4, group);
        for (size_t n = 0; n < columns; n++) {
            unsigned code = 0;
            if (matrix->awq)
                code = field(data + k * along * 4, n, 4, true);
            for (unsigned b = 0; b < matrix->bits && !matrix->awq; b++) {
                const size_t bit = k * matrix->bits + b;
                code |=
                    (unsigned)(dti_little_get(data + (bit / 32 * columns + n) * 4, 4) >> bit % 32 &
                               1)
                    << b;
            }
            const unsigned stored =
                field(data + codes + group * along * 4, n, matrix->bits, matrix->awq);
            const unsigned zero = (stored + (matrix->awq ? 0 : 1)) & ((1U << matrix->bits) - 1);
            const uint32_t bits =
                (uint32_t)dti_little_get(data + codes + zeros + (group * columns + n) * 4, 4);
            float scale;
            memcpy(&scale, &bits, sizeof scale);
            wanted[n * rows + k] = scale * (float)((int)code - (int)zero);
        }
    }
    file_make(path, file, 8 + (size_t)length + all);
    const char *const config =
        matrix->awq ? "{\"quant_method\":\"awq\",\"bits\":4," : "{\"quant_method\":\"gptq\",";
    char text[256];
    const int size = snprintf(text, sizeof text, "{\"quantization_config\":%s\"group_size\":%zu}}",
                              config, matrix->length);
    file_make("config.json", text, (size_t)size);
    return 8 + (size_t)length + all;
}

/* gpt-oss experts: whole blocks of 32 MXFP4 codes along the rows. */
struct experts {
    size_t count, rows, blocks;
};
static void make_experts(const char *path, const struct experts *experts)
{
    static const float sizes[8] = {0, 0.5F, 1, 1.5F, 2, 3, 4, 6};
    static const char config[] = "{\"quantization_config\":{\"quant_method\":\"mxfp4\"}}";
    const size_t rows = experts->rows, columns = experts->blocks * 32;
    const size_t scales = experts->count * rows * experts->blocks, codes = scales * 16;
    char *const head = (char *)file + 8;
    const int length = snprintf(head, 1024,
                                "{\"a_blocks\":{\"dtype\":\"U8\",\"shape\":[%zu,%zu,%zu,16],"
                                "\"data_offsets\":[0,%zu]},\"a_scales\":{\"dtype\":\"U8\","
                                "\"shape\":[%zu,%zu,%zu],\"data_offsets\":[%zu,%zu]}}",
                                experts->count, rows, experts->blocks, codes, experts->count, rows,
                                experts->blocks, codes, codes + scales);
    dti_little_put(file, 8, (uint64_t)length);
    unsigned char *const data = file + 8 + length;
    for (size_t i = 0; i < codes; i++)
        data[i] = (unsigned char)next();
    for (size_t i = codes; i < codes + scales; i++)
        data[i] = (unsigned char)(120 + next() % 16);
    for (size_t i = 0; i < 2 * codes; i++) {
        const size_t row = i / columns, column = i % columns;
        const unsigned code = data[i / 2] >> i % 2 * 4 & 15;
        const unsigned exponent = data[codes + i / 32];
        const float scale =
            exponent < 127 ? 1 / (float)(1U << (127 - exponent)) : (float)(1U << (exponent - 127));
        wanted[(row / rows * columns + column) * rows + row % rows] =
            (code & 8 ? -1.0F : 1.0F) * sizes[code & 7] * scale;
    }
    file_make(path, file, 8 + (size_t)length + codes + scales);
    file_make("config.json", config, sizeof config - 1);
}

struct opened {
    struct dti_container *container;
    struct dti_file_dequant *dequant;
    struct dti_batch_source source;
};

static bool open_matrix(struct opened *ret, const char *path, enum dti_level level, size_t room)
{
    const struct dti_file_dequant_request request = {.level = level};
    const struct dti_input *input = NULL;
    uint64_t offset = 0;
    struct dti_error error;
    memset(ret, 0, sizeof *ret);
    if (!CHECK(dti_container_open(&ret->container, path, NULL, &error) == DTI_OK))
        return false;
    if (!CHECK(dti_file_dequant_new(&ret->dequant, ret->container, &request, &error) == DTI_OK)) {
        fprintf(stderr, "    %s\n", error.text);
        return false;
    }
    ret->dequant->stripes.room = room;
    return CHECK(dti_file_dequant_data(ret->dequant, 0, &ret->source, &input, &offset, &error) ==
                 DTI_OK);
}

static void close_matrix(struct opened *opened)
{
    dti_file_dequant_free(opened->dequant);
    dti_container_free(opened->container);
}

/* One thread's share: every of-th piece of `step` numbers. */
struct share {
    pthread_t thread;
    struct dti_batch_source source;
    float *numbers;
    size_t elements, step, from, of;
    enum dti_status status;
    struct dti_error error;
};

static void *read_share(void *context)
{
    struct share *const share = context;
    struct dti_window window = {.way = DTI_WINDOW_UNDECIDED};
    void *const scratch = malloc(share->source.scratch_bytes);
    share->status = scratch ? DTI_OK : DTI_NO_MEMORY;
    for (size_t at = share->from * share->step; at < share->elements && share->status == DTI_OK;
         at += share->of * share->step) {
        const size_t left = share->elements - at, n = left < share->step ? left : share->step;
        share->status = share->source.read(share->source.context, share->numbers + at, 4 * n,
                                           4 * (uint64_t)at, &window, scratch, &share->error);
    }
    dti_window_free(&window);
    free(scratch);
    return NULL;
}

/* Reads with several threads. Returns how many failed, all with the expected status. */
static unsigned read_all(const struct opened *opened, float *numbers, size_t elements, size_t step,
                         unsigned threads, enum dti_status expected)
{
    struct share shares[THREADS];
    unsigned failed = 0;
    for (unsigned i = 0; i < threads; i++) {
        shares[i] = (struct share){.source = opened->source,
                                   .numbers = numbers,
                                   .elements = elements,
                                   .step = step,
                                   .from = i,
                                   .of = threads};
        CHECK(pthread_create(&shares[i].thread, NULL, read_share, &shares[i]) == 0);
    }
    for (unsigned i = 0; i < threads; i++) {
        CHECK(pthread_join(shares[i].thread, NULL) == 0);
        CHECK(shares[i].status == DTI_OK || shares[i].status == expected);
        failed += shares[i].status != DTI_OK;
    }
    return failed;
}

static const struct matrix matrices[] = {
    {false, false, 4, 256, 104, 32},  {false, true, 4, 264, 96, 17},
    {false, false, 3, 160, 64, 160},  {false, true, 3, 352, 32, 8},
    {false, false, 2, 1040, 48, 1},   {false, true, 8, 100, 64, 100},
    {false, false, 8, 4, 4096, 2},    {false, false, 4, 15, 41, 4},
    {true, false, 4, 256, 104, 32},   {true, false, 4, 67, 32, 16},
    {true, false, 4, 1001, 64, 1001}, {true, false, 4, 3, 4104, 1},
    {false, false, 4, 4096, 8, 128},  {false, true, 2, 1600, 32, 33},
};

static const struct experts experts[] = {
    {2, 8, 3}, {3, 33, 2}, {1, 300, 5}, {2, 129, 9}, {1, 1000, 4}, {1, 3, 130}, {2, 1, 1},
};

/* Checks the numbers of file "m" with stripes of several sizes. */
static void check_all(size_t at, size_t elements, enum dti_level best)
{
    static const size_t rooms[] = {512, 2000, 20000, DTI_STRIPE_ROOM};
    static const size_t steps[] = {16384, 61, 4000};
    static float numbers[MOST];
    for (size_t k = 0; k < sizeof rooms / sizeof *rooms; k++) {
        const unsigned threads = 1 + (unsigned)(at + k) % THREADS;
        const size_t step = steps[k % (sizeof steps / sizeof *steps)];
        struct opened opened;
        if (!open_matrix(&opened, "m", k % 2 == 0 ? best : DTI_LEVEL_SCALAR, rooms[k]))
            continue;
        memset(numbers, 0xAA, sizeof numbers);
        CHECK_SIZE(read_all(&opened, numbers, elements, step, threads, DTI_OK), 0);
        if (!CHECK(memcmp(numbers, wanted, 4 * elements) == 0))
            fprintf(stderr, "    matrix %zu, %zu bytes a stripe, %u threads\n", at, rooms[k],
                    threads);
        close_matrix(&opened);
    }
}

static void numbers_are_those_of_the_bits(void)
{
    enum dti_level best = DTI_LEVEL_SCALAR;
    state = 20261123;
    CHECK(dti_level_choose(NULL, &best, NULL) == DTI_OK);
    folder_enter();
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++) {
        (void)make("m", &matrices[i]);
        check_all(i, matrices[i].rows * matrices[i].columns, best);
    }
    for (size_t i = 0; i < sizeof experts / sizeof *experts; i++) {
        make_experts("m", &experts[i]);
        check_all(i, experts[i].count * experts[i].rows * experts[i].blocks * 32, best);
    }
    (void)folder_leave();
}

/* A file that is truncated while it is read: every thread that needs the missing data gets the
 * error, including those that wait for another thread, and none waits forever. */
static void a_shorter_file_is_an_error_for_all(void)
{
    static const struct matrix matrix = {false, false, 4, 256, 104, 32};
    static float numbers[MOST];
    const size_t elements = matrix.rows * matrix.columns;
    state = 20261124;
    folder_enter();
    for (unsigned threads = 1; threads <= THREADS; threads++) {
        struct opened opened;
        const size_t size = make("m", &matrix);
        if (!open_matrix(&opened, "m", DTI_LEVEL_SCALAR, 2000))
            continue;
        CHECK_SIZE(read_all(&opened, numbers, 16, 16, 1, DTI_OK), 0);
        CHECK(truncate("m", (off_t)(size - size / 3)) == 0);
        CHECK_SIZE(read_all(&opened, numbers, elements, 64, threads, DTI_BAD_INPUT), threads);
        file_make("m", file, size); /* the failure leaves no trace */
        CHECK_SIZE(read_all(&opened, numbers, elements, 64, threads, DTI_OK), 0);
        CHECK(memcmp(numbers, wanted, 4 * elements) == 0);
        close_matrix(&opened);
    }
    (void)folder_leave();
}

/* A failed stripe that others still use is not touched; its data is read into another stripe. */
static void a_failed_stripe_in_use_is_left_alone(void)
{
    static const struct matrix matrix = {false, true, 3, 160, 64, 160};
    static float numbers[MOST];
    struct opened opened;
    state = 20261125;
    folder_enter();
    (void)make("m", &matrix);
    if (open_matrix(&opened, "m", DTI_LEVEL_SCALAR, DTI_STRIPE_ROOM)) {
        struct dti_stripe *const first = &opened.dequant->stripes.list[0];
        CHECK_SIZE(read_all(&opened, numbers, 64, 64, 1, DTI_OK), 0);
        CHECK(first->tensor != NULL && first->users == 0);
        first->failed = true;
        first->users = 1;
        const unsigned char *const codes = first->codes;
        CHECK_SIZE(read_all(&opened, numbers, matrix.rows * matrix.columns, 64, 2, DTI_OK), 0);
        CHECK(memcmp(numbers, wanted, 4 * matrix.rows * matrix.columns) == 0);
        CHECK(first->failed && first->users == 1 && first->codes == codes);
        first->users = 0;
        close_matrix(&opened);
    }
    (void)folder_leave();
}

/* If all stripes are in use, a reader waits for one. */
static void a_reader_waits_for_a_free_stripe(void)
{
    static const struct matrix matrix = {true, false, 4, 256, 104, 32};
    static float numbers[MOST];
    struct opened opened;
    state = 20261126;
    folder_enter();
    (void)make("m", &matrix);
    if (open_matrix(&opened, "m", DTI_LEVEL_SCALAR, DTI_STRIPE_ROOM)) {
        struct dti_stripes *const stripes = &opened.dequant->stripes;
        struct share share = {.source = opened.source,
                              .numbers = numbers,
                              .elements = matrix.rows * matrix.columns,
                              .step = 4096,
                              .of = 1};
        for (unsigned i = 0; i < DTI_STRIPES; i++)
            stripes->list[i].users = 1;
        CHECK(pthread_create(&share.thread, NULL, read_share, &share) == 0);
        const struct timespec moment = {.tv_nsec = 20000000};
        (void)nanosleep(&moment, NULL);
        (void)pthread_mutex_lock(&stripes->mutex);
        for (unsigned i = 0; i < DTI_STRIPES; i++)
            CHECK(stripes->list[i].tensor == NULL);
        stripes->list[1].users = 0;
        (void)pthread_cond_broadcast(&stripes->changed);
        (void)pthread_mutex_unlock(&stripes->mutex);
        CHECK(pthread_join(share.thread, NULL) == 0);
        CHECK(share.status == DTI_OK && stripes->list[1].tensor != NULL);
        CHECK(memcmp(numbers, wanted, 4 * share.elements) == 0);
        close_matrix(&opened);
    }
    (void)folder_leave();
}

/* Tensors share a method only if it is correct for all of them. */
static void methods_are_of_tensors_alike(void)
{
    static struct dti_container container;
    struct dti_dequant_traits first = {.bits = 4,
                                       .order = DTI_BLOCK_BYTES,
                                       .columns = 64,
                                       .rows = 64,
                                       .map = {.group_rows = 64, .group_columns = 32}};
    struct dti_dequant_traits second = first;
    const struct dti_dequant_tensor one = {.is = &first};
    struct dti_dequant_tensor other = {.is = &second};
    CHECK(dti_dequant_is_alike(&one, &other));
    second.from.biases = &container;
    CHECK(!dti_dequant_is_alike(&one, &other));
    second.from.biases = NULL;
    other.is->arrangement = DTI_CODES_LANES; /* a layout that is unpacked first */
    CHECK(!dti_dequant_is_alike(&one, &other));
    second = first;
    other.is->bits = 3;
    CHECK(!dti_dequant_is_alike(&one, &other));
    second = first;
    other.is->matrix = 64;
    CHECK(dti_dequant_is_alike(&one, &other));
    other.is->map.group_rows = 2; /* one scale per number */
    CHECK(!dti_dequant_is_alike(&one, &other));
}

UNIT_MAIN(numbers_are_those_of_the_bits, a_shorter_file_is_an_error_for_all,
          a_failed_stripe_in_use_is_left_alone, a_reader_waits_for_a_free_stripe,
          methods_are_of_tensors_alike)
