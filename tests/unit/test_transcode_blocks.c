/* SPDX-License-Identifier: MIT
 *
 * Blocks and fp8 in other layouts: parts read in pieces that begin and end anywhere equal those
 * read at once. mxfp4 converted to nvfp4 is decoded here in fp64 and must match the reported
 * result. Also opens a view of a file with parts of every kind. */
#include <math.h>

#include "files/transcode/file_transcode.h"
#include "files/transcode/transcode_bytes.h"
#include "util/little_endian.h"
#include "util/text/ascii.h"

#include "folder.h"
#include "unit.h"

enum { ROWS = 5, COLUMNS = 96, MOST = 1 << 16 };

static uint64_t state;

static unsigned next(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

static unsigned char file[MOST];
static size_t head_bytes, data_bytes;
static unsigned char data[MOST];

static void begin(void)
{
    head_bytes = data_bytes = 0;
}

/* Adds a tensor with random bytes and returns them, to be changed by the caller. */
static unsigned char *add(const char *name, const char *dtype, const char *shape, size_t bytes)
{
    unsigned char *const own = data + data_bytes;
    head_bytes += (size_t)snprintf((char *)file + 8 + head_bytes, 256,
                                   "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],"
                                   "\"data_offsets\":[%zu,%zu]}",
                                   head_bytes > 0 ? "," : "{", name, dtype, shape, data_bytes,
                                   data_bytes + bytes);
    data_bytes += bytes;
    for (size_t i = 0; i < bytes; i++)
        own[i] = (unsigned char)next(256);
    return own;
}

static void end(void)
{
    file[8 + head_bytes++] = '}';
    dti_little_put(file, 8, head_bytes);
    memcpy(file + 8 + head_bytes, data, data_bytes);
    file_make("x.safetensors", file, 8 + head_bytes + data_bytes);
}

struct opened {
    struct dti_container *container;
    struct dti_file_dequant *dequant;
    struct dti_file_transcode *transcode;
};

static bool open_view(struct opened *ret, const struct dti_file_transcode_request *request)
{
    const struct dti_file_dequant_request view = {.level = DTI_LEVEL_SCALAR};
    struct dti_error error;
    memset(ret, 0, sizeof *ret);
    if (dti_container_open(&ret->container, "x.safetensors", NULL, &error) == DTI_OK &&
        dti_file_dequant_new(&ret->dequant, ret->container, &view, &error) == DTI_OK &&
        dti_file_transcode_new(&ret->transcode, ret->dequant, request, &error) == DTI_OK)
        return true;
    unit_fail(__FILE__, __LINE__);
    printf("%s\n", error.text);
    return false;
}

static void close_view(struct opened *opened)
{
    dti_file_transcode_free(opened->transcode);
    dti_file_dequant_free(opened->dequant);
    dti_container_free(opened->container);
}

/* Reads all bytes of a tensor of the view, in pieces of this size. */
static size_t read_tensor(struct opened *opened, size_t at, size_t pieces, unsigned char *bytes)
{
    const struct dti_tensor *const tensor =
        dti_container_tensor(dti_file_transcode_container(opened->transcode), at);
    struct dti_batch_source source;
    const struct dti_input *input;
    struct dti_window window = {0};
    struct dti_error error;
    uint64_t offset;
    const size_t size = (size_t)tensor->bytes;
    if (!CHECK(size <= MOST) || !CHECK(dti_file_transcode_data(opened->transcode, at, &source,
                                                               &input, &offset, &error) == DTI_OK))
        return 0;
    if (!source.read) {
        CHECK(dti_input_read_at(input, bytes, size, offset, &error) == DTI_OK);
        return size;
    }
    unsigned char *const scratch = malloc(source.scratch_bytes + 1);
    for (size_t done = 0; done < size; done += pieces) {
        const size_t n = size - done < pieces ? size - done : pieces;
        CHECK(source.read(source.context, bytes + done, n, done, &window, scratch, &error) ==
              DTI_OK);
    }
    free(scratch);
    dti_window_free(&window);
    return size;
}

static const unsigned char *find(struct opened *opened, const char *name, size_t pieces)
{
    static unsigned char rooms[4][MOST];
    static size_t used;
    const struct dti_container *const view = dti_file_transcode_container(opened->transcode);
    unsigned char *const bytes = rooms[used++ % 4];
    for (size_t i = 0; i < view->tensor_count; i++) {
        if (strcmp(dti_container_tensor(view, i)->name, name) == 0) {
            read_tensor(opened, i, pieces, bytes);
            return bytes;
        }
    }
    unit_fail(__FILE__, __LINE__);
    printf("there is no %s\n", name);
    return bytes;
}

static void check_pieces(const struct dti_file_transcode_request *request)
{
    static const size_t pieces[] = {1, 3, 7, 64, 4097};
    static unsigned char whole[MOST], parts[MOST];
    struct opened opened;
    if (open_view(&opened, request)) {
        const size_t count = dti_file_transcode_container(opened.transcode)->tensor_count;
        for (size_t i = 0; i < count; i++) {
            const size_t size = read_tensor(&opened, i, MOST, whole);
            for (size_t k = 0; k < sizeof pieces / sizeof *pieces; k++) {
                read_tensor(&opened, i, pieces[k], parts);
                CHECK(memcmp(whole, parts, size) == 0);
            }
        }
    }
    close_view(&opened);
}

static double e4m3(unsigned code)
{
    return (code >> 3 & 15) > 0 ? ldexp(8 + (code & 7), (int)(code >> 3 & 15) - 10)
                                : ldexp(code & 7, -9);
}

static double e2m1(unsigned code)
{
    static const double numbers[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
    return code & 8 ? -numbers[code & 7] : numbers[code & 7];
}

static unsigned nibble(const unsigned char *codes, size_t at)
{
    return codes[at / 2] >> 4 * (at % 2) & 15;
}

/* mxfp4 with scales from a range of powers of two; some blocks are all zeros or have few distinct
 * magnitudes. */
static void fill_mx(unsigned low, unsigned spread)
{
    static const unsigned char sets[] = {0xff, 0x77, 0x44, 0x11, 0x00, 0x22, 0x66};
    begin();
    unsigned char *const codes = add("a.weight_packed", "U8", "5,48", ROWS * COLUMNS / 2);
    unsigned char *const scales = add("a.weight_scale", "U8", "5,3", ROWS * 3);
    for (size_t i = 0; i < ROWS * 3; i++) {
        const unsigned mask = sets[next(sizeof sets)] | 0x88U;
        scales[i] = (unsigned char)(low + next(spread + 1));
        for (size_t k = 0; k < 16; k++)
            codes[16 * i + k] &= (unsigned char)mask;
    }
    end();
}

/* Counts the blocks of 16 whose numbers are unchanged. */
static uint64_t count_same(struct opened *opened, bool divides, size_t pieces)
{
    static unsigned char codes[MOST];
    const unsigned char *const old = data, *const scales = data + ROWS * COLUMNS / 2;
    memcpy(codes, find(opened, divides ? "a.weight_packed" : "a.weight", pieces),
           ROWS * COLUMNS / 2);
    const unsigned char *const own = find(opened, "a.weight_scale", pieces);
    const uint32_t bits = (uint32_t)dti_little_get(
        find(opened, divides ? "a.weight_global_scale" : "a.weight_scale_2", pieces), 4);
    float factor;
    uint64_t same = 0;
    memcpy(&factor, &bits, sizeof factor);
    for (size_t i = 0; i < ROWS * COLUMNS / 16; i++) {
        const double scale = e4m3(own[i]) * (divides ? 1 / (double)factor : (double)factor);
        bool equal = true;
        for (size_t k = 16 * i; k < 16 * i + 16; k++) {
            const double number = e2m1(nibble(old, k)) * ldexp(1, scales[i / 2] - 127);
            const double other = e2m1(nibble(codes, k)) * scale;
            equal = equal && number == other && !signbit(number) == !signbit(other);
        }
        same += equal;
    }
    return same;
}

static void mxfp4_as_nvfp4_has_the_numbers_that_are_claimed(void)
{
    unsigned lossless = 0;
    folder_enter();
    for (unsigned round = 0; round < 120; round++) {
        const bool divides = round % 2 != 0;
        const struct dti_file_transcode_request request = {
            .layout = divides ? DTI_TRANSCODE_COMPRESSED_TENSORS : DTI_TRANSCODE_MODELOPT,
            .nvfp4 = true};
        struct opened opened;
        fill_mx(round % 3 == 0 ? 0 : 30 + next(180), round % 25);
        if (open_view(&opened, &request)) {
            const struct dti_transcode_verdict *const verdict =
                dti_file_transcode_verdict(opened.transcode, 0);
            CHECK_U64(verdict->blocks, ROWS * COLUMNS / 16);
            CHECK_U64(count_same(&opened, divides, MOST), verdict->lossless);
            CHECK_U64(count_same(&opened, divides, 13), verdict->lossless);
            CHECK((verdict->worst > 0) == (verdict->lossless < verdict->blocks));
            CHECK(round % 25 > 17 || verdict->lossless == verdict->blocks);
            lossless += verdict->lossless == verdict->blocks;
        }
        close_view(&opened);
    }
    CHECK(lossless > 80 && lossless < 120);
    folder_leave();
}

/* Must not keep many small blocks exact by clipping the numbers of one large block. */
static void large_numbers_do_not_become_smaller(void)
{
    struct opened opened;
    folder_enter();
    fill_mx(100, 0);
    for (size_t i = 0; i < ROWS * COLUMNS / 2; i++)
        data[i] = (unsigned char)(0x27 + i % 4 * 0x10);
    data[ROWS * COLUMNS / 2 + 7] = 122;
    memcpy(file + 8 + head_bytes, data, data_bytes);
    file_make("x.safetensors", file, 8 + head_bytes + data_bytes);
    if (open_view(&opened, &(const struct dti_file_transcode_request){
                               .layout = DTI_TRANSCODE_MODELOPT, .nvfp4 = true})) {
        CHECK_U64(dti_file_transcode_verdict(opened.transcode, 0)->lossless, 2);
        CHECK_U64(count_same(&opened, false, MOST), 2);
        CHECK_U64(find(&opened, "a.weight_scale", 1)[14], 0x78); /* 2^8 */
    }
    close_view(&opened);
    folder_leave();
}

static void put_number(unsigned char *to, float number)
{
    uint32_t code;
    memcpy(&code, &number, sizeof code);
    dti_little_put(to, sizeof code, code);
}

static void parts_in_pieces_are_those_read_at_once(void)
{
    static const char marker[] = "{\"format\": \"nvfp4\"}";
    folder_enter();
    begin();
    add("a.weight", "U8", "130,24", 130 * 24);
    unsigned char *const tiles = add("a.weight_scale", "F8_E4M3", "256,4", 1024);
    put_number(add("a.weight_scale_2", "F32", "", 4), 0.5f);
    memcpy(add("a.comfy_quant", "U8", "19", sizeof marker - 1), marker, sizeof marker - 1);
    for (size_t i = 0; i < 1024; i++)
        tiles[i] &= 0x7e;
    add("b.weight", "F8_E4M3", "131,131", 131 * 131);
    add("b.scale", "F8_E8M0", "2,2", 4);
    memcpy(add("c.weight", "F8_E4M3", "300,10", 3000), data, 3000);
    put_number(add("c.weight_scale", "F32", "", 4), 1 / 3.0f);
    add("norm", "BF16", "7", 14);
    end();
    const struct dti_file_transcode_request request = {.layout = DTI_TRANSCODE_COMPRESSED_TENSORS};
    check_pieces(&request);
    struct opened opened;
    if (open_view(&opened, &request)) {
        const unsigned char *const scales = find(&opened, "a.weight_scale", 5);
        for (size_t row = 0; row < 130; row++) {
            for (size_t column = 0; column < 3; column++)
                CHECK_U64(scales[3 * row + column],
                          tiles[row / 128 * 512 + row % 32 * 16 + row % 128 / 32 * 4 + column]);
        }
        const unsigned char *const codes = find(&opened, "a.weight_packed", 5);
        for (size_t i = 0; i < 130 * 48; i++)
            CHECK_U64(nibble(codes, i), nibble(data, i ^ 1));
    }
    close_view(&opened);
    fill_mx(100, 40);
    check_pieces(&(const struct dti_file_transcode_request){.layout = DTI_TRANSCODE_MODELOPT,
                                                            .nvfp4 = true});
    folder_leave();
}

static void one_scale_becomes_that_of_all_rectangles(void)
{
    unsigned char third[4];
    struct opened opened;
    folder_enter();
    begin();
    put_number(third, 1 / 3.0f);
    add("c.weight", "F8_E4M3", "300,10", 3000);
    memcpy(add("c.weight_scale", "F32", "", 4), third, sizeof third);
    end();
    const struct dti_file_transcode_request request = {.layout = DTI_TRANSCODE_DEEPSEEK};
    check_pieces(&request);
    if (open_view(&opened, &request)) {
        const struct dti_container *const view = dti_file_transcode_container(opened.transcode);
        const unsigned char *const scales = find(&opened, "c.weight_scale_inv", 4);
        CHECK_U64(view->tensor_count, 2);
        const struct dti_tensor *const second = dti_container_tensor(view, 1);
        CHECK(second->rank == 2 && second->shape[0] == 3 && second->shape[1] == 1);
        for (size_t i = 0; i < 3; i++)
            CHECK(memcmp(scales + 4 * i, third, sizeof third) == 0);
    }
    close_view(&opened);
    folder_leave();
}

/* Blocks whose numbers stay the same if a divisor becomes its reciprocal, rounded after each
 * operation, as loaders compute them. */
static uint64_t count_divided(const unsigned char *scales, size_t count, float divisor)
{
    const float factor = 1 / divisor;
    uint64_t same = 0;
    for (size_t i = 0; i < count; i++) {
        const float scale = (float)e4m3(scales[i]);
        bool equal = true;
        for (unsigned code = 1; code < 8 && (scales[i] & 0x7f) < 0x7f; code++) {
            const float before = scale / divisor, after = scale * factor;
            const volatile float old = before * (float)e2m1(code), new = after *(float)e2m1(code);
            equal = equal && old == new;
        }
        same += equal;
    }
    return same;
}

/* Tensor scales from subnormal to huge ones, some of which change numbers of few scales only. */
static void divisors_become_factors_as_is_claimed(void)
{
    const struct dti_file_transcode_request request = {.layout = DTI_TRANSCODE_MODELOPT};
    unsigned all = 0, some = 0;
    folder_enter();
    for (unsigned round = 0; round < 400; round++) {
        const int power = (int)next(250) - 125;
        const float divisor = ldexpf(1 + (float)next(round % 2 ? 8 : 1 << 23) / (1 << 23), power);
        struct opened opened;
        begin();
        add("a.weight_packed", "U8", "8,128", 1024);
        unsigned char *const scales = add("a.weight_scale", "F8_E4M3", "8,16", 128);
        for (unsigned i = 0; i < 128; i++)
            scales[i] = (unsigned char)i;
        put_number(add("a.weight_global_scale", "F32", "1", 4), divisor);
        end();
        if (open_view(&opened, &request)) {
            const struct dti_transcode_verdict *const verdict =
                dti_file_transcode_verdict(opened.transcode, 0);
            CHECK_U64(verdict->blocks, 128);
            CHECK_U64(verdict->lossless, count_divided(scales, 128, divisor));
            all += verdict->lossless == 128;
            some += verdict->lossless > 120 && verdict->lossless < 128;
        }
        close_view(&opened);
    }
    CHECK(all > 30 && some > 0);
    folder_leave();
}

/* A file that became short after it was opened: nothing that needs its data counts as read. Returns
 * how many tensors of the view are made of data. */
static size_t check_cut_file(const struct dti_file_transcode_request *request)
{
    static unsigned char bytes[MOST];
    struct opened opened;
    size_t made = 0;
    if (open_view(&opened, request)) {
        const struct dti_container *const view = dti_file_transcode_container(opened.transcode);
        CHECK(truncate("x.safetensors", (off_t)(8 + head_bytes)) == 0);
        for (size_t i = 0; i < view->tensor_count; i++) {
            const struct dti_tensor *const tensor = dti_container_tensor(view, i);
            const size_t size = (size_t)tensor->bytes;
            struct dti_batch_source source;
            const struct dti_input *input;
            struct dti_window window = {0};
            struct dti_error error;
            uint64_t offset;
            CHECK(dti_file_transcode_data(opened.transcode, i, &source, &input, &offset, &error) ==
                  DTI_OK);
            unsigned char *const scratch = malloc(source.read ? source.scratch_bytes + 1 : 1);
            if (source.read && size > 4 &&
                !dti_text_ends(tensor->name, tensor->name_length, "_quant")) {
                CHECK(source.read(source.context, bytes, size, 0, &window, scratch, &error) !=
                      DTI_OK);
                made++;
            }
            free(scratch);
            dti_window_free(&window);
        }
    }
    close_view(&opened);
    return made;
}

static void parts_of_a_cut_file_fail(void)
{
    folder_enter();
    fill_mx(100, 40);
    CHECK_U64(check_cut_file(&(const struct dti_file_transcode_request){
                  .layout = DTI_TRANSCODE_MODELOPT, .nvfp4 = true}),
              2);
    fill_mx(100, 4);
    CHECK_U64(check_cut_file(&(const struct dti_file_transcode_request){
                  .layout = DTI_TRANSCODE_COMFY, .nvfp4 = true}),
              2);
    folder_leave();
}

UNIT_MAIN(mxfp4_as_nvfp4_has_the_numbers_that_are_claimed, large_numbers_do_not_become_smaller,
          divisors_become_factors_as_is_claimed, parts_in_pieces_are_those_read_at_once,
          one_scale_becomes_that_of_all_rectangles, parts_of_a_cut_file_fail)
