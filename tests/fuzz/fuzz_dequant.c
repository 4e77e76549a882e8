/* SPDX-License-Identifier: MIT
 *
 * Arbitrary parts as a quantized tensor: a safetensors file whose names, dtypes and shapes come
 * from the input. The parts are either refused with a printable line, or form a tensor whose pieces
 * can all be read, in other layouts too. Each part takes six bytes: name, dtype, rank and three
 * dimensions; data follows '='. After '{' the input is JSON that describes some tensors. After '%'
 * it is a tensor of GGUF blocks: type, rows, blocks per row, byte order, scales. */
#include <string.h>

#include "files/dequant/logical_tensors.h"
#include "files/lint/lint.h"
#include "files/transcode/file_transcode.h"
#include "fuzz_file.h"
#include "fuzz_gguf_blocks.h"

const char *const dti_fuzz_words[] = {
    "bB2gfa", /* w_packed U8 [32, 16] */
    "cB2gba", /* w_scale U8 [32, 1] */
    "aA2gga", /* w I8 [32, 32] */
    "cE1baa", /* w_scale F32 [1] */
    "cE2gba", /* w_scale F32 [32, 1] */
    "cF2gba", /* w_scale F16 [32, 1] */
    "dA2gba", /* w_zero_point I8 [32, 1] */
    "bC2gda", /* w_packed I32 [32, 3] */
    "dC2eba", /* w_zero_point I32 [8, 1] */
    "eD1caa", /* w_shape I64 [2] */
    "aH2kka", /* w F8_E4M3 [128, 128] */
    "hE2bba", /* w_scale_inv F32 [1, 1] */
    "cH3ggb", /* w_scale F8_E4M3 [32, 32, 1] */
    "bB3ggi", /* w_packed U8 [32, 32, 64] */
    "fE1baa", /* w_global_scale F32 [1] */
    "gE0aaa", /* w_scale_2 F32 [] */
    "iH2kka", /* v.weight F8_E4M3 [128, 128] */
    "iA2gga", /* v.weight I8 [32, 32] */
    "jJ2bba", /* v.scale F8_E8M0 [1, 1] */
    "jJ2gca", /* v.scale F8_E8M0 [32, 2] */
    "oB1laa", /* w.quant_state.bitsandbytes__nf4 U8 [255] */
    "lE1faa", /* w.quant_map F32 [16] */
    "kE1daa", /* w.absmax F32 [3] */
    "kB1daa", /* w.absmax U8 [3] */
    "mE1baa", /* w.nested_absmax F32 [1] */
    "nE1maa", /* w.nested_quant_map F32 [256] */
    "aB2iba", /* w U8 [64, 1] */
    "sF2bga", /* w.scales F16 [1, 32] */
    "rC2bea", /* w.qzeros I32 [1, 8] */
    "qC2ega", /* w.qweight I32 [8, 32] */
    "tC1gaa", /* w.g_idx I32 [32] */
    "sF2cia", /* w.scales F16 [2, 64] */
    "rC2cea", /* w.qzeros I32 [2, 8] */
    "qC2gea", /* w.qweight I32 [32, 8] */
    "iM2gfa", /* v.weight U32 [32, 16] */
    "uG2gba", /* v.scales BF16 [32, 1] */
    "vG2gba", /* v.biases BF16 [32, 1] */
    "uB2gea", /* v.scales U8 [32, 8] */
    "wE0aaa", /* v.global_scale F32 [] */
    "xB4dgc", /* v_blocks U8 [3, 32, 2, 16] */
    "yB3dgc", /* v_scales U8 [3, 32, 2] */
    "zE1gaa", /* v.SCB F32 [32] */
    "AB0aaa", /* v.weight_format U8 [] */
    "BE0aaa", /* v.scale_weight F32 [] */
    "CE2gba", /* v.weight_scale F32 [32, 1] */
    "CH2kea", /* v.weight_scale F8_E4M3 [128, 8] */
    "DE0aaa", /* v.weight_scale_2 F32 [] */
    "iB2kia", /* v.weight U8 [128, 64] */
    "iB2fga", /* v.weight U8 [16, 32] */
    "EB2kia", /* x._weight_qdata U8 [128, 64] */
    "FH2kea", /* x._weight_scale F8_E4M3 [128, 8] */
    "GE0aaa", /* x._weight_per_tensor_scale F32 [] */
    "EA2gia", /* x._weight_qdata I8 [32, 64] */
    "FE2gca", /* x._weight_scale F32 [32, 2] */
    "HA2gca", /* x._weight_zero_point I8 [32, 2] */
    "{\"_type\":\"Int8Tensor\",\"_data\":{\"block_size\":[1,32]}}",
    "\"dtype\":{\"_type\":\"torch.dtype\",\"_data\":\"float32\"},",
    "\"elem_dtype\":{\"_data\":\"float4_e2m1fn_x2\"},",
    "\"is_swizzled_scales\":true,",
    "{\"format\":\"int8_tensorwise\",\"params\":{\"convrot\":false}}",
    "{\"format\":\"int8_tensorwise\",\"convrot\":true,\"convrot_groupsize\":16}",
    "{\"format\":\"convrot_w4a4\",\"convrot_groupsize\":4}",
    "{\"layers\":{\"v\":{\"format\":\"nvfp4\"}}}",
    "=?????????@@@@@", /* data */
    "%aaa..",
    "%iba..",
    "%kcb..",
    "%ybaB.",
    "%ybc.s",
    NULL,
};

enum { PART = 6, PIECE = 4096, DATA = 1 << 20, HEAD_MAX = 6144 };

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
                                    "w.quant_state.bitsandbytes__fp4",
                                    "w.qweight",
                                    "w.qzeros",
                                    "w.scales",
                                    "w.g_idx",
                                    "v.scales",
                                    "v.biases",
                                    "v.global_scale",
                                    "v_blocks",
                                    "v_scales",
                                    "v.SCB",
                                    "v.weight_format",
                                    "v.scale_weight",
                                    "v.weight_scale",
                                    "v.weight_scale_2",
                                    "x._weight_qdata",
                                    "x._weight_scale",
                                    "x._weight_per_tensor_scale",
                                    "x._weight_zero_point"};
enum { NAMES = sizeof names / sizeof *names };
static const char metadata[] = /* two variants of x, selected by the number of parts */
    "\"__metadata__\":{\"_quantization_metadata\":\"{\\\"layers\\\":{\\\"v\\\":{\\\"format\\\":"
    "\\\"nvfp4\\\"}}}\",\"x.weight\":\"{\\\"_type\\\":\\\"%s\\\",\\\"_data\\\":{%s}}\"}";
static const char *const dtypes[] = {"I8",      "U8",      "I32",     "I64", "F32", "F16", "BF16",
                                     "F8_E4M3", "F8_E5M2", "F8_E8M0", "F4",  "I16", "U32"};
static const unsigned bits[] = {8, 8, 32, 64, 32, 16, 16, 8, 8, 8, 4, 16, 32};
enum { DTYPES = sizeof bits / sizeof *bits };
static const unsigned lengths[] = {0, 1, 2, 3, 8, 16, 32, 33, 64, 96, 128, 255, 256};

static unsigned pick(uint8_t byte, unsigned first, unsigned count)
{
    return (byte - first) % count;
}

static unsigned pick_name(uint8_t byte)
{
    return pick(byte, byte >= 'a' ? 'a' : 'A' - 26, NAMES);
}

/* Writes the header of the parts. Their data is the rest of the input, then zeros. */
static size_t make_header(const uint8_t *data, size_t size, char head[HEAD_MAX], size_t *ret_used)
{
    size_t length = 0, at = 0, used = 0;
    uint64_t taken = 0;
    for (; used + PART <= size && data[used] != '=' && length < HEAD_MAX - 600; used += PART) {
        const unsigned name = pick_name(data[used]);
        const unsigned dtype = pick(data[used + 1], 'A', DTYPES);
        const unsigned rank = pick(data[used + 2], '0', 5); /* 4: the last dimension is 16 */
        uint64_t total = bits[dtype];
        if (taken >> name & 1)
            continue;
        taken |= UINT64_C(1) << name;
        length += (size_t)snprintf(head + length, HEAD_MAX - length,
                                   "%s\"%s\":{\"dtype\":\"%s\",\"shape\":[", length ? "," : "{",
                                   names[name], dtypes[dtype]);
        for (unsigned i = 0; i < rank; i++) {
            const unsigned n = i < 3 ? lengths[pick(data[used + 3 + i], 'a', 13)] : 16;
            total *= n;
            length += (size_t)snprintf(head + length, HEAD_MAX - length, "%s%u", i ? "," : "", n);
        }
        length += (size_t)snprintf(head + length, HEAD_MAX - length,
                                   "],\"data_offsets\":[%zu,%zu]}", at, at + (size_t)(total / 8));
        at += (size_t)(total / 8);
    }
    if (size % 2 == 0) {
        const bool blocks = size / 2 % 2 == 0;
        length += (size_t)snprintf(head + length, HEAD_MAX - length, length ? "," : "{");
        length += (size_t)snprintf(head + length, HEAD_MAX - length, metadata,
                                   blocks ? "NVFP4Tensor" : "Int8Tensor",
                                   blocks ? "\\\"block_size\\\":16,\\\"is_swizzled_scales\\\":true"
                                          : "\\\"block_size\\\":[1,32]");
    }
    length += (size_t)snprintf(head + length, HEAD_MAX - length, "%s}", length ? "" : "{");
    *ret_used = used;
    return length;
}

/* Writes a header with the JSON of one torchao tensor and two ComfyUI layers, all of fixed shape.
 * The JSON of the second layer is stored as tensor data. */
static size_t make_described(const uint8_t *data, size_t size, char head[HEAD_MAX])
{
    static const char tensors[] =
        ",\"x._weight_qdata\":{\"dtype\":\"I8\",\"shape\":[2,32],\"data_offsets\":[0,64]},"
        "\"x._weight_scale\":{\"dtype\":\"F32\",\"shape\":[2,1],\"data_offsets\":[64,72]},"
        "\"v.weight\":{\"dtype\":\"I8\",\"shape\":[2,32],\"data_offsets\":[72,136]},"
        "\"v.weight_scale\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[136,140]},"
        "\"y.weight\":{\"dtype\":\"I8\",\"shape\":[2,32],\"data_offsets\":[140,204]},"
        "\"y.weight_scale\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[204,208]},"
        "\"y.comfy_quant\":{\"dtype\":\"U8\",\"shape\":[%zu],\"data_offsets\":[208,%zu]}}";
    size_t length = 0;
    for (unsigned i = 0; i < 2; i++) {
        length += (size_t)snprintf(head + length, HEAD_MAX - length, "%s",
                                   i ? ",\"_quantization_metadata\":\""
                                     : "{\"__metadata__\":{\"x.weight\":\"");
        for (size_t k = 0; k < size && length < (i + 1) * 1400; k++) {
            if (data[k] >= ' ' && data[k] < 0x7f)
                length +=
                    (size_t)snprintf(head + length, HEAD_MAX - length,
                                     data[k] == '"' || data[k] == '\\' ? "\\%c" : "%c", data[k]);
        }
        length += (size_t)snprintf(head + length, HEAD_MAX - length, "\"%s", i ? "}" : "");
    }
    return length + (size_t)snprintf(head + length, HEAD_MAX - length, tensors, size, 208 + size);
}

/* False if the piece is past the end or cannot be read. */
static bool read_piece(const struct dti_batch_source *source, uint64_t first, uint64_t n,
                       uint64_t elements, float numbers[PIECE])
{
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
        return false;
    n = elements - first < n ? elements - first : n;
    struct dti_window window = {.way = n % 2 ? DTI_WINDOW_MAP : DTI_WINDOW_COPY};
    const enum dti_status status =
        source->read(source->context, numbers, (size_t)n * 4, first * 4, &window, scratch, &error);
    dti_window_free(&window);
    REQUIRE(status == DTI_OK || status == DTI_BAD_INPUT);
    return status == DTI_OK;
}

static void check_view(struct dti_file_dequant *dequant)
{
    static float numbers[PIECE], again[PIECE];
    const struct dti_container *const view = dti_file_dequant_container(dequant);
    for (size_t i = 0; i < view->tensor_count; i++) {
        const struct dti_tensor *const tensor = dti_container_tensor(view, i);
        struct dti_batch_source source;
        const struct dti_input *input;
        uint64_t offset;
        REQUIRE(dti_file_dequant_data(dequant, i, &source, &input, &offset, NULL) == DTI_OK);
        REQUIRE((source.read != NULL) == (dti_file_dequant_form(dequant, i)->is->dtype != NULL));
        if (!source.read)
            continue;
        REQUIRE(tensor->bytes == tensor->elements * 4);
        const uint64_t n = tensor->elements, third = n / 3;
        const bool whole = read_piece(&source, 0, PIECE, n, numbers);
        if (read_piece(&source, third, 77, n, again) && whole && third + 77 <= n &&
            third + 77 <= PIECE)
            REQUIRE(memcmp(numbers + third, again, 77 * sizeof *again) == 0);
        read_piece(&source, n - (n > PIECE ? PIECE : 1), PIECE, n, again);
    }
}

static void require_printable(const char *text)
{
    REQUIRE(text[0] != '\0');
    for (const char *c = text; *c; c++)
        REQUIRE((unsigned char)*c >= ' ' && *c != 0x7f);
}

/* Statistics of a tensor, as input for lint. */
static bool scan(struct dti_container *view, size_t tensor, struct dti_tensor_stats *ret)
{
    const struct dti_scan_options options = {.level = DTI_LEVEL_SCALAR};
    struct dti_error error;
    *ret = (struct dti_tensor_stats){.tensor = tensor};
    const enum dti_status status = dti_scan_stats(view, ret, 1, &options, &error);
    REQUIRE(status == DTI_OK || status == DTI_BAD_INPUT);
    return status == DTI_OK;
}

/* All lint findings must be printable lines. */
static void check_lint(const char *path, const struct dti_container_options *open, unsigned width,
                       uint64_t group)
{
    const struct dti_logical_options options = {.open = open,
                                                .bits = width,
                                                .block = group,
                                                .stated_by = "the caller",
                                                .level = DTI_LEVEL_SCALAR,
                                                .lint = true};
    const struct dti_scan_options alone = {.level = DTI_LEVEL_SCALAR};
    struct dti_container *view;
    struct dti_tensor_stats stats;
    struct dti_error error;
    struct dti_lint *lint;
    size_t tensors[DTI_LINT_PROBES], count;
    REQUIRE(dti_logical_open(&view, path, &options, &error) == DTI_OK && view->stored);
    REQUIRE(dti_lint_new(&lint, view, NULL, NULL, &error) == DTI_OK);
    const enum dti_status status = dti_lint_scales(lint, &alone, &error);
    REQUIRE(status == DTI_OK || status == DTI_BAD_INPUT); /* the file may be truncated */
    for (size_t i = 0; i < view->tensor_count && status == DTI_OK; i++) {
        if (dti_lint_wants(lint, i) && scan(view, i, &stats))
            REQUIRE(dti_lint_numbers(lint, &stats, &error) == DTI_OK);
    }
    while (status == DTI_OK && (count = dti_lint_probe(lint, tensors)) > 0) {
        for (size_t i = 0; i < count; i++)
            if (scan(view, tensors[i], &stats))
                REQUIRE(dti_lint_probed(lint, &stats, &error) == DTI_OK);
    }
    const struct dti_lint_finding *const findings = dti_lint_findings(lint, &count);
    for (size_t i = 0; i < count; i++) {
        REQUIRE(findings[i].rule < DTI_LINT_RULES);
        require_printable(findings[i].text);
    }
    dti_lint_free(lint);
    dti_logical_close(view);
}

/* Converts to another layout. A piece that starts anywhere must hold the same bytes as the whole.
 */
static void check_translated(struct dti_file_dequant *dequant, unsigned which)
{
    static unsigned char bytes[PIECE], again[PIECE];
    const struct dti_file_transcode_request request = {
        .layout = (enum dti_transcode_layout)(which / 2 % DTI_TRANSCODE_COUNT),
        .nvfp4 = which % 2 != 0 && dti_transcode_layout_has_nvfp4((enum dti_transcode_layout)(
                                       which / 2 % DTI_TRANSCODE_COUNT))};
    struct dti_file_transcode *transcode;
    struct dti_error error;
    const enum dti_status status = dti_file_transcode_new(&transcode, dequant, &request, &error);
    REQUIRE(status == DTI_OK || status == DTI_WRONG_KIND || status == DTI_BAD_INPUT);
    if (status != DTI_OK) {
        require_printable(error.text);
        return;
    }
    const struct dti_container *const view = dti_file_transcode_container(transcode);
    for (size_t i = 0; i < view->tensor_count; i++) {
        const uint64_t size = dti_container_tensor(view, i)->bytes;
        struct dti_batch_source source;
        const struct dti_input *input;
        struct dti_window window = {.way = DTI_WINDOW_COPY};
        uint64_t offset;
        REQUIRE(dti_file_transcode_data(transcode, i, &source, &input, &offset, NULL) == DTI_OK);
        const uint64_t first = size / 3, n = size - first < PIECE ? size - first : PIECE;
        if (!source.read || n < 2)
            continue;
        void *const scratch = malloc(source.scratch_bytes + 1);
        REQUIRE(scratch);
        const enum dti_status one =
            source.read(source.context, bytes, (size_t)n, first, &window, scratch, &error);
        const enum dti_status two =
            source.read(source.context, again, (size_t)n - 1, first + 1, &window, scratch, &error);
        REQUIRE((one == DTI_OK || one == DTI_BAD_INPUT) && (two == DTI_OK || two == DTI_BAD_INPUT));
        if (one == DTI_OK && two == DTI_OK)
            REQUIRE(memcmp(bytes + 1, again, (size_t)n - 1) == 0);
        dti_window_free(&window);
        free(scratch);
    }
    dti_file_transcode_free(transcode);
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
    const bool described = size > 0 && data[0] == '{', gguf = size >= PART && data[0] == '%';
    const size_t length = gguf        ? fuzz_gguf_blocks(data, file) - 8
                          : described ? make_described(data, size, file + 8)
                                      : make_header(data, size, file + 8, &used);
    const size_t before = described ? 208 : 0; /* leading zero bytes of data */
    used = gguf ? PART : described ? 0 : used;
    for (unsigned i = 0; i < 8 && !gguf; i++)
        file[i] = (char)(length >> (8 * i));
    const struct dti_input input = fuzz_file((const uint8_t *)file, 8 + length);
    static const uint8_t zeros[208];
    REQUIRE(dti_scratch_append(&fuzz_file_input, zeros, before, NULL) == DTI_OK);
    REQUIRE(dti_scratch_append(&fuzz_file_input, data + used, size - used, NULL) == DTI_OK);
    REQUIRE(ftruncate(input.fd, DATA) == 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", input.fd);
    if (dti_container_open(&container, path, &options, &error) != DTI_OK)
        return 0;
    const enum dti_status status = dti_file_dequant_new(&dequant, container, &request, &error);
    REQUIRE(status == DTI_OK || status == DTI_BAD_INPUT);
    if (status != DTI_OK)
        require_printable(error.text);
    if (status == DTI_OK) {
        check_view(dequant);
        for (unsigned which = 0; which < 2 * DTI_TRANSCODE_COUNT; which++)
            check_translated(dequant, which);
        dti_file_dequant_free(dequant);
    }
    dti_container_free(container);
    check_lint(path, &options, request.bits, request.block);
    return 0;
}
