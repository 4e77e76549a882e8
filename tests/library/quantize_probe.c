/* SPDX-License-Identifier: MIT
 *
 * Quantizes arrays for test_quantize.py with the library's public functions. A request is a line of
 * words "key=value" (the members of struct dti_quantize_spec) that ends with "bytes=N", and N bytes
 * of numbers (op=run) or of parts (op=back). The answer is a line, and the bytes of the parts
 * or numbers in order.
 *
 * quantize_probe [THREADS [LEVEL [bad]]]: `bad` for a context whose allocator may fail and whose
 * calls may be cancelled; with one thread. */
#include <dtinfo.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LINE = 4096, WORDS = 64 };

struct request {
    char *keys[WORDS], *values[WORDS];
    size_t count;
};

static const char *get(const struct request *request, const char *key)
{
    for (size_t i = 0; i < request->count; i++)
        if (strcmp(request->keys[i], key) == 0)
            return request->values[i];
    return NULL;
}

static uint64_t number(const struct request *request, const char *key)
{
    const char *const text = get(request, key);
    return text ? strtoull(text, NULL, 10) : 0;
}

static void read_request(char *line, struct request *ret)
{
    ret->count = 0;
    for (char *word = strtok(line, " \n"); word && ret->count < WORDS; word = strtok(NULL, " \n")) {
        char *const sign = strchr(word, '=');
        if (!sign)
            continue;
        *sign = '\0';
        ret->keys[ret->count] = word;
        ret->values[ret->count++] = sign + 1;
    }
}

/* What a request with fail=N or cancel=1 does to the context. */
struct trouble {
    bool fails, cancels;
    uint64_t left; /* allocations before the one that fails */
    long blocks;   /* that were not freed */
};

static void *allocate_badly(void *context, void *block, size_t size, size_t alignment)
{
    struct trouble *const trouble = context;
    void *made = NULL;
    if (size == 0) {
        trouble->blocks -= block != NULL;
        free(block);
        return NULL;
    }
    if (trouble->fails && trouble->left-- == 0)
        return NULL;
    if (alignment == 0)
        made = realloc(block, size);
    else if (posix_memalign(&made, alignment, size) != 0)
        made = NULL;
    trouble->blocks += !block && made;
    return made;
}

static bool is_cancelled(void *context)
{
    const struct trouble *const trouble = context;
    return trouble->cancels;
}

/* Memory at an odd address if the request wants that. */
static unsigned char *memory(const struct request *request, size_t size)
{
    unsigned char *const all = malloc(size + 64);
    if (!all)
        exit(1);
    memset(all, 0xa5, size + 64);
    return all + number(request, "offset");
}

static void release(const struct request *request, void *at)
{
    free((unsigned char *)at - number(request, "offset"));
}

static void say_failure(const struct dti_error *error)
{
    printf("failed %d %s|%s", (int)error->status, dti_status_code(error->status), error->text);
    for (size_t i = 0; i < DTI_ERROR_SUGGESTIONS && error->suggestions[i][0] != '\0'; i++)
        printf("|%s", error->suggestions[i]);
    printf("\n");
}

static void read_spec(const struct request *request, uint64_t *shape, struct dti_quantize_spec *ret)
{
    const char *const axis = get(request, "axis");
    memset(ret, 0, sizeof *ret);
    ret->size = sizeof *ret;
    ret->format = get(request, "format");
    ret->gguf = number(request, "gguf") != 0;
    ret->shape = shape;
    for (const char *at = get(request, "shape"); at && *at; ret->rank++) {
        char *end;
        const uint64_t dimension = strtoull(at, &end, 10);
        if (ret->rank < 16)
            shape[ret->rank] = dimension;
        at = *end == ',' ? end + 1 : end;
    }
    ret->per = get(request, "per");
    ret->axis = axis ? atoi(axis) : 0;
    ret->axis_given = axis != NULL;
    ret->block = number(request, "block");
    ret->symmetric = number(request, "symmetric") != 0;
    ret->affine = number(request, "affine") != 0;
    ret->symmetry = get(request, "symmetry");
    ret->division = get(request, "division");
    ret->like = get(request, "like");
    ret->mx_scale = get(request, "mx_scale");
    ret->nv_scale = get(request, "nv_scale");
    ret->tensor_scale = get(request, "tensor_scale");
    ret->min = get(request, "min");
    ret->max = get(request, "max");
    ret->scale = get(request, "scale");
    ret->zero_point = get(request, "zero_point");
    ret->packing = get(request, "packing");
    ret->nested = number(request, "nested") != 0;
    ret->pad = number(request, "pad") != 0;
}

static void say_shape(const char *name, size_t rank, const uint64_t *shape)
{
    printf(" %s=", name);
    for (size_t i = 0; i < rank; i++)
        printf("%s%" PRIu64, i > 0 ? "," : "", shape[i]);
}

static void say_sizes(const struct dti_quantized_sizes *sizes)
{
    printf("done elements=%" PRIu64 " codes=%zu scales=%zu zero_points=%zu nested_scales=%zu "
           "nested_map=%zu code_format=%s scale_format=%s has_tensor_scale=%d",
           sizes->elements, sizes->codes, sizes->scales, sizes->zero_points, sizes->nested_scales,
           sizes->nested_map, sizes->code_format ? dti_format_name(sizes->code_format) : "",
           sizes->scale_format ? dti_format_name(sizes->scale_format) : "",
           sizes->has_tensor_scale);
    say_shape("code_shape", sizes->code_rank, sizes->code_shape);
    say_shape("scale_shape", sizes->scale_rank, sizes->scale_shape);
}

static void say_report(const struct dti_quantize_report *report)
{
    printf(" report_elements=%" PRIu64 " inexact=%" PRIu64 " clipped=%" PRIu64 " special=%" PRIu64
           " compared=%" PRIu64 " max_absolute=%a max_index=%" PRIu64
           " max_relative=%a mean_absolute=%a root_mean_square=%a sqnr_db=%a",
           report->elements, report->inexact, report->clipped, report->special, report->compared,
           report->max_absolute, report->max_index, report->max_relative, report->mean_absolute,
           report->root_mean_square, report->sqnr_db);
}

static double now(void)
{
    struct timespec time;
    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The best of `repeat` runs and ways back, in nanoseconds an element. */
static enum dti_status measure(const struct request *request, const struct dti_quantizer *quantizer,
                               const void *numbers, struct dti_quantized *parts, void *back,
                               uint64_t elements, struct dti_error *error)
{
    double best[2] = {1e9, 1e9};
    for (uint64_t i = 0; i < 2 * number(request, "repeat"); i++) {
        const bool forth = i < number(request, "repeat");
        const double start = now();
        const enum dti_status status =
            forth ? dti_quantizer_run(quantizer, numbers, parts, NULL, error)
                  : dti_quantizer_back(quantizer, parts, back, error);
        const double time = now() - start;
        if (status != DTI_OK)
            return status;
        best[!forth] = time < best[!forth] ? time : best[!forth];
    }
    if (number(request, "repeat") > 0)
        fprintf(stderr, "%.4f ns to codes, %.4f ns back\n", 1e9 * best[0] / (double)elements,
                1e9 * best[1] / (double)elements);
    return DTI_OK;
}

struct buffers {
    struct dti_quantized parts;
    size_t sizes[5];
    void *list[5];
    unsigned char *numbers, *back;
    size_t number_bytes;
};

static void allocate(const struct request *request, const struct dti_quantized_sizes *sizes,
                     size_t number_size, struct buffers *ret)
{
    const size_t list[5] = {sizes->codes, sizes->scales, sizes->zero_points, sizes->nested_scales,
                            sizes->nested_map};
    for (size_t i = 0; i < 5; i++) {
        ret->sizes[i] = list[i];
        ret->list[i] = memory(request, list[i]);
    }
    ret->parts = (struct dti_quantized){.size = sizeof ret->parts,
                                        .codes = ret->list[0],
                                        .scales = ret->list[1],
                                        .nested_scales = ret->list[3],
                                        .nested_map = ret->list[4]};
    memcpy((void *)&ret->parts.zero_points, &ret->list[2], sizeof ret->list[2]);
    if (number(request, "missing"))
        ret->parts.codes = NULL;
    ret->number_bytes = (size_t)sizes->elements * number_size;
    ret->numbers = memory(request, ret->number_bytes);
    ret->back = memory(request, ret->number_bytes);
}

static void free_buffers(const struct request *request, struct buffers *buffers)
{
    for (size_t i = 0; i < 5; i++)
        release(request, buffers->list[i]);
    release(request, buffers->numbers);
    release(request, buffers->back);
}

/* Whether the bytes around a buffer are untouched. */
static bool is_clean(const struct request *request, const void *at, size_t size)
{
    const unsigned char *const bytes = at;
    for (uint64_t i = 1; i <= number(request, "offset"); i++)
        if (bytes[-(ptrdiff_t)i] != 0xa5)
            return false;
    for (uint64_t i = 0; i < 64 - number(request, "offset"); i++)
        if (bytes[size + i] != 0xa5)
            return false;
    return true;
}

static void run(const struct request *request, const struct dti_quantizer *quantizer,
                size_t number_size, size_t given, bool *ret_read)
{
    struct dti_quantized_sizes sizes = {.size = sizeof sizes};
    struct dti_quantize_report report = {.size = sizeof report};
    struct dti_error error;
    struct buffers buffers;
    const bool back = strcmp(get(request, "op"), "back") == 0;
    dti_quantizer_sizes(quantizer, &sizes);
    allocate(request, &sizes, number_size, &buffers);
    enum dti_status status = DTI_OK;
    size_t wanted = 0;
    for (size_t i = 0; i < 5; i++)
        wanted += buffers.sizes[i];
    wanted = back ? wanted : buffers.number_bytes;
    *ret_read = wanted == given;
    if (!*ret_read) {
        printf("failed 0 size|wants %zu bytes\n", wanted);
        free_buffers(request, &buffers);
        return;
    }
    if (back) {
        const char *const scale = get(request, "whole");
        for (size_t i = 0; i < 5; i++)
            if (fread(buffers.list[i], 1, buffers.sizes[i], stdin) != buffers.sizes[i])
                exit(1);
        buffers.parts.tensor_scale = scale ? strtof(scale, NULL) : 0;
    } else {
        if (fread(buffers.numbers, 1, given, stdin) != given)
            exit(1);
        status = dti_quantizer_run(quantizer, buffers.numbers, &buffers.parts,
                                   number(request, "report") ? &report : NULL, &error);
        if (status == DTI_OK)
            status = measure(request, quantizer, buffers.numbers, &buffers.parts, buffers.back,
                             sizes.elements, &error);
    }
    if (status == DTI_OK && number(request, "back") != 0)
        status = dti_quantizer_back(quantizer, &buffers.parts, buffers.back, &error);
    if (status != DTI_OK) {
        say_failure(&error);
        free_buffers(request, &buffers);
        return;
    }
    bool clean = is_clean(request, buffers.back, buffers.number_bytes);
    for (size_t i = 0; i < 5; i++)
        clean = clean && is_clean(request, buffers.list[i], buffers.sizes[i]);
    say_sizes(&sizes);
    printf(" tensor_scale=%a clean=%d", (double)buffers.parts.tensor_scale, clean);
    if (number(request, "report"))
        say_report(&report);
    printf("\n");
    for (size_t i = 0; i < 5; i++)
        (void)fwrite(buffers.list[i], 1, buffers.sizes[i], stdout);
    if (number(request, "back"))
        (void)fwrite(buffers.back, 1, buffers.number_bytes, stdout);
    free_buffers(request, &buffers);
}

static void skip(size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (getchar() == EOF)
            exit(1);
}

static void list_blocks(void)
{
    struct dti_block_info info = {.size = sizeof info};
    for (size_t i = 0; dti_block_at(i, &info); i++)
        printf("%s %u %u %d %d %s %s\n", info.name, info.length, info.bytes, info.gguf,
               info.encodes, info.code ? dti_format_name(info.code) : "-",
               info.scale ? dti_format_name(info.scale) : "-");
}

static void answer(struct dti_context *context, struct trouble *trouble,
                   const struct request *request)
{
    uint64_t shape[16];
    struct dti_quantize_spec spec;
    struct dti_quantizer *quantizer = NULL;
    struct dti_error error;
    struct dti_format_info format = {.size = sizeof format};
    const char *const name = get(request, "number");
    const size_t given = (size_t)number(request, "bytes");
    bool read = false;
    read_spec(request, shape, &spec);
    enum dti_status status =
        dti_format_find(context, name ? name : "fp32", &spec.number, NULL, &error);
    const long blocks = trouble->blocks;
    if (status == DTI_OK) {
        dti_format_describe(spec.number, &format);
        if (!name)
            spec.number = NULL;
        trouble->fails = get(request, "fail") != NULL;
        trouble->left = number(request, "fail");
        trouble->cancels = number(request, "cancel") != 0;
        status = dti_quantizer_new(&quantizer, context, &spec, &error);
    }
    if (status == DTI_OK)
        run(request, quantizer, format.container_bits / 8u, given, &read);
    else
        say_failure(&error);
    if (!read)
        skip(given);
    dti_quantizer_free(quantizer);
    trouble->fails = trouble->cancels = false;
    if (get(request, "fail") && trouble->blocks != blocks) {
        fprintf(stderr, "%ld blocks were not freed\n", trouble->blocks - blocks);
        exit(1);
    }
}

int main(int count, char **arguments)
{
    char line[LINE];
    struct dti_error error;
    struct dti_context *context = NULL;
    struct trouble trouble = {.fails = false};
    const bool bad = count > 3;
    const struct dti_context_options options = {
        .size = sizeof options,
        .allocate = bad ? allocate_badly : NULL,
        .allocate_context = &trouble,
        .interrupted = bad ? is_cancelled : NULL,
        .interrupted_context = &trouble,
        .threads = count > 1 ? (size_t)strtoul(arguments[1], NULL, 10) : 0,
        .cpu_level = count > 2 && arguments[2][0] != '\0' ? arguments[2] : NULL};
    if (dti_context_new(&context, &options, &error) != DTI_OK) {
        fprintf(stderr, "%s\n", error.text);
        return error.status == DTI_UNAVAILABLE ? 77 : 1;
    }
    while (fgets(line, sizeof line, stdin)) {
        struct request request;
        read_request(line, &request);
        const char *const op = get(&request, "op");
        if (!op)
            break;
        if (strcmp(op, "list") == 0)
            list_blocks();
        else
            answer(context, &trouble, &request);
        (void)fflush(stdout);
    }
    dti_context_free(context);
    return 0;
}
