/* SPDX-License-Identifier: MIT
 *
 * Any parts as a quantized tensor: a safetensors file whose names, dtypes and shapes the input
 * chooses. Whatever they are, they are refused in a printable line, or make a tensor of which every
 * piece can be read. Six bytes a part: name, dtype, rank and three dimensions; data after '='. */
#include <string.h>

#include "dtinfo/file_dequant.h"
#include "fuzz_file.h"

const char *const dti_fuzz_words[] = {
    "bB2gfa",          /* w_packed U8 [32, 16] */
    "cB2gba",          /* w_scale U8 [32, 1] */
    "aA2gga",          /* w I8 [32, 32] */
    "cE1baa",          /* w_scale F32 [1] */
    "cE2gba",          /* w_scale F32 [32, 1] */
    "cF2gba",          /* w_scale F16 [32, 1] */
    "dA2gba",          /* w_zero_point I8 [32, 1] */
    "bC2gda",          /* w_packed I32 [32, 3] */
    "dC2eba",          /* w_zero_point I32 [8, 1] */
    "eD1caa",          /* w_shape I64 [2] */
    "aH2kka",          /* w F8_E4M3 [128, 128] */
    "hE2bba",          /* w_scale_inv F32 [1, 1] */
    "cH3ggb",          /* w_scale F8_E4M3 [32, 32, 1] */
    "bB3ggi",          /* w_packed U8 [32, 32, 64] */
    "fE1baa",          /* w_global_scale F32 [1] */
    "gE0aaa",          /* w_scale_2 F32 [] */
    "iH2kka",          /* v.weight F8_E4M3 [128, 128] */
    "iA2gga",          /* v.weight I8 [32, 32] */
    "jJ2bba",          /* v.scale F8_E8M0 [1, 1] */
    "jJ2gca",          /* v.scale F8_E8M0 [32, 2] */
    "oB1laa",          /* w.quant_state.bitsandbytes__nf4 U8 [255] */
    "lE1faa",          /* w.quant_map F32 [16] */
    "kE1daa",          /* w.absmax F32 [3] */
    "kB1daa",          /* w.absmax U8 [3] */
    "mE1baa",          /* w.nested_absmax F32 [1] */
    "nE1maa",          /* w.nested_quant_map F32 [256] */
    "aB2iba",          /* w U8 [64, 1] */
    "=?????????@@@@@", /* data */
    NULL,
};

enum { PART = 6, PIECE = 4096, DATA = 1 << 20, HEAD_MAX = 4096 };

static const char *const names[] = {"w",
                                    "w_packed",
                                    "w_scale",
                                    "w_zero_point",
                                    "w_shape",
                                    "w_global_scale",
                                    "w_scale_2",
                                    "w_scale_inv",
                                    "v.weight",
                                    "v.scale",
                                    "w.absmax",
                                    "w.quant_map",
                                    "w.nested_absmax",
                                    "w.nested_quant_map",
                                    "w.quant_state.bitsandbytes__nf4",
                                    "w.quant_state.bitsandbytes__fp4"};
static const char *const dtypes[] = {"I8",   "U8",      "I32",     "I64",     "F32", "F16",
                                     "BF16", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F4",  "I16"};
static const unsigned bits[] = {8, 8, 32, 64, 32, 16, 16, 8, 8, 8, 4, 16};
static const unsigned lengths[] = {0, 1, 2, 3, 8, 16, 32, 33, 64, 96, 128, 255, 256};

static unsigned pick(uint8_t byte, unsigned first, unsigned count)
{
    return (byte - first) % count;
}

/* The header of the parts; their data are zeros but for what is left of the input. */
static size_t make_header(const uint8_t *data, size_t size, char head[HEAD_MAX], size_t *ret_used)
{
    size_t length = 0, at = 0, used = 0;
    unsigned taken = 0;
    for (; used + PART <= size && data[used] != '=' && length < HEAD_MAX - 200; used += PART) {
        const unsigned name = pick(data[used], 'a', 16), dtype = pick(data[used + 1], 'A', 12);
        const unsigned rank = pick(data[used + 2], '0', 4);
        uint64_t total = bits[dtype];
        if (taken >> name & 1)
            continue;
        taken |= 1U << name;
        length += (size_t)snprintf(head + length, HEAD_MAX - length,
                                   "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", length ? "," : "{",
                                   names[name], dtypes[dtype]);
        for (unsigned i = 0; i < rank; i++) {
            const unsigned n = lengths[pick(data[used + 3 + i], 'a', 13)];
            total *= n;
            length += (size_t)snprintf(head + length, HEAD_MAX - length, "%s%u", i ? "," : "", n);
        }
        length += (size_t)snprintf(head + length, HEAD_MAX - length,
                                   "],\"data_offsets\":[%zu,%zu]}", at, at + (size_t)(total / 8));
        at += (size_t)(total / 8);
    }
    length += (size_t)snprintf(head + length, HEAD_MAX - length, "%s}", length ? "" : "{");
    *ret_used = used;
    return length;
}

static void read_piece(const struct dti_batch_source *source, uint64_t first, uint64_t n,
                       uint64_t elements)
{
    static float numbers[PIECE];
    static void *scratch;
    static size_t scratch_bytes;
    struct dti_error error;
    if (scratch_bytes < source->scratch_bytes) {
        free(scratch);
        scratch_bytes = source->scratch_bytes;
        scratch = malloc(scratch_bytes);
        REQUIRE(scratch);
    }
    if (first >= elements)
        return;
    n = elements - first < n ? elements - first : n;
    struct dti_window window = {.way = n % 2 ? DTI_WINDOW_MAP : DTI_WINDOW_COPY};
    const enum dti_status status =
        source->read(source->context, numbers, (size_t)n * 4, first * 4, &window, scratch, &error);
    dti_window_free(&window);
    REQUIRE(status == DTI_OK || status == DTI_BAD_INPUT);
}

static void check_view(struct dti_file_dequant *dequant)
{
    const struct dti_container *const view = dti_file_dequant_container(dequant);
    for (size_t i = 0; i < view->tensor_count; i++) {
        const struct dti_tensor *const tensor = &view->tensors[i];
        const struct dti_batch_source *source;
        const struct dti_input *input;
        uint64_t offset;
        REQUIRE(dti_file_dequant_data(dequant, i, &source, &input, &offset, NULL) == DTI_OK);
        REQUIRE((source != NULL) == (dti_file_dequant_form(dequant, i)->dtype != NULL));
        if (!source)
            continue;
        REQUIRE(tensor->bytes == tensor->elements * 4);
        read_piece(source, 0, PIECE, tensor->elements);
        read_piece(source, tensor->elements / 3, 77, tensor->elements);
        read_piece(source, tensor->elements - (tensor->elements > PIECE ? PIECE : 1), PIECE,
                   tensor->elements);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char file[8 + HEAD_MAX];
    const struct dti_container_options options = {.lenient = true};
    static const unsigned widths[] = {0, 0, 4, 8, 0};
    static const uint64_t groups[] = {0, 0, 0, 32, 128};
    const struct dti_file_dequant_request request = {.level = DTI_LEVEL_SCALAR,
                                                     .bits = widths[size % 5],
                                                     .block = groups[size % 5],
                                                     .open = options};
    struct dti_container *container;
    struct dti_file_dequant *dequant;
    struct dti_error error;
    char path[64];
    size_t used;
    const size_t length = make_header(data, size, file + 8, &used);
    for (unsigned i = 0; i < 8; i++)
        file[i] = (char)(length >> (8 * i));
    const struct dti_input input = fuzz_file((const uint8_t *)file, 8 + length);
    REQUIRE(dti_scratch_append(&fuzz_file_input, data + used, size - used, NULL) == DTI_OK);
    REQUIRE(ftruncate(input.fd, DATA) == 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", input.fd);
    if (dti_container_open(&container, path, &options, &error) != DTI_OK)
        return 0;
    const enum dti_status status = dti_file_dequant_new(&dequant, container, &request, &error);
    REQUIRE(status == DTI_OK || (status == DTI_BAD_INPUT && error.text[0] != '\0'));
    for (const char *c = status == DTI_OK ? "" : error.text; *c; c++)
        REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
    if (status == DTI_OK) {
        check_view(dequant);
        dti_file_dequant_free(dequant);
    }
    dti_container_free(container);
    return 0;
}
