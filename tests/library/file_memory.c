/* SPDX-License-Identifier: MIT
 *
 * Memory runs out at the n-th allocation of the context's allocator, for every n, alone and with
 * all that follow, while files are opened, read, written, asked about and converted: each call
 * succeeds with the right file or fails with DTI_NO_MEMORY, no block is left, and no part of a
 * file. Takes the name of a new folder to work in, which ends in XXXXXX. Of many allocations it
 * takes samples, fewer with DTI_TEST_QUICK. Linked with the shared library alone. */
#include <dirent.h>
#include <dtinfo.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 32, COLUMNS = 64, SAMPLES = 400, QUICK_SAMPLES = 40 };

static struct {
    atomic_size_t calls, live;
    size_t fail_at; /* 0: never */
    bool all;       /* that follow as well */
} heap;
static const char *at_work = "preparing";
static struct dti_error error;

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    (void)fprintf(stderr, "%s, allocation %zu%s: %s\n", at_work, heap.fail_at,
                  heap.all ? " and all after it" : "", what);
    exit(1);
}

static void *allocate(void *context, void *block, size_t size, size_t alignment)
{
    (void)context;
    if (size == 0) {
        heap.live -= block != NULL;
        free(block);
        return NULL;
    }
    const size_t call = ++heap.calls;
    if (heap.fail_at > 0 && (call == heap.fail_at || (heap.all && call > heap.fail_at)))
        return NULL;
    void *const result =
        alignment > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                      : realloc(block, size);
    heap.live += !block && result;
    return result;
}

static struct dti_context *new_context(void)
{
    const struct dti_context_options options = {
        .size = sizeof options, .threads = 2, .allocate = allocate};
    struct dti_context *context = NULL;
    return dti_context_new(&context, &options, &error) ? NULL : context;
}

static unsigned char *read_all(const char *path, size_t *ret_size)
{
    FILE *const file = fopen(path, "rb");
    require(file && fseek(file, 0, SEEK_END) == 0, path);
    *ret_size = (size_t)ftell(file);
    rewind(file);
    unsigned char *const bytes = malloc(*ret_size + 1);
    require(bytes && fread(bytes, 1, *ret_size, file) == *ret_size, path);
    (void)fclose(file);
    return bytes;
}

static size_t count_files(void)
{
    size_t count = 0;
    DIR *const folder = opendir(".");
    require(folder != NULL, "the folder");
    while (readdir(folder))
        count++;
    (void)closedir(folder);
    return count;
}

/* A piece of work: its output, or NULL, and its words. Input is what earlier ones have written. */
struct work {
    enum dti_status (*run)(struct dti_context *context, const struct work *work);
    const char *name, *output, *input, *what;
    struct dti_setting settings[4];
    const char *other;
};

static size_t setting_count(const struct work *work)
{
    size_t count = 0;
    while (count < 4 && work->settings[count].name)
        count++;
    return count;
}

static enum dti_status write_new(struct dti_context *context, const struct work *work)
{
    static const uint64_t shape[2] = {ROWS, COLUMNS};
    static float numbers[ROWS * COLUMNS];
    const struct dti_format *fp32 = NULL;
    struct dti_writer *writer = NULL;
    const size_t half = ROWS * COLUMNS / 2;
    for (size_t i = 0; i < ROWS * COLUMNS; i++)
        numbers[i] = ((float)(i * 7919 % 1000) - 500) / 64;
    enum dti_status status = dti_format_find(context, "fp32", &fp32, NULL, &error);
    if (!status)
        status = dti_writer_new(&writer, context, work->output, work->what, true, &error);
    for (size_t i = 0; i < 3 && !status; i++) {
        static const char *const names[] = {"layers.0.up.weight", "layers.1.up.weight",
                                            "norm.weight"};
        status = dti_writer_tensor(writer, names[i], strlen(names[i]), fp32, i < 2 ? 2 : 1,
                                   shape + (i == 2), &error);
    }
    if (!status && strcmp(work->what, "safetensors") == 0)
        status = dti_writer_metadata(writer, "made by", "a test", &error);
    for (size_t i = 0; i < 2 && !status; i++) {
        status = dti_writer_write(writer, i, 0, half, numbers, &error);
        if (!status)
            status = dti_writer_write(writer, i, half, half, numbers + half, &error);
    }
    if (!status)
        status = dti_writer_write(writer, 2, 0, COLUMNS, numbers, &error);
    if (!status)
        status = dti_writer_commit(writer, &error);
    dti_writer_free(writer);
    return status;
}

static enum dti_status open_any(struct dti_file **ret, struct dti_context *context,
                                const struct work *work, const unsigned char *bytes, size_t size)
{
    if (strcmp(work->what, "path") == 0)
        return dti_file_open(ret, context, work->input, NULL, &error);
    if (strcmp(work->what, "memory") == 0)
        return dti_file_open_memory(ret, context, bytes, size, "bytes", NULL, &error);
    const int fd = open(work->input, O_RDONLY);
    const enum dti_status status = dti_file_open_fd(ret, context, fd, NULL, NULL, &error);
    (void)close(fd);
    return status;
}

static enum dti_status read_tensors(struct dti_context *context, const struct work *work)
{
    static float room[ROWS * COLUMNS];
    size_t size;
    struct dti_file *file = NULL;
    struct dti_file_info info = {.size = sizeof info};
    unsigned char *const bytes = read_all(work->input, &size);
    enum dti_status status = open_any(&file, context, work, bytes, size);
    if (!status)
        dti_file_describe(file, &info);
    for (size_t i = 0; i < info.tensor_count && !status; i++) {
        struct dti_tensor_info tensor = {.size = sizeof tensor};
        dti_file_tensor(file, i, &tensor);
        require(tensor.elements <= ROWS * COLUMNS, "a tensor's size");
        require(dti_file_find(file, tensor.name, tensor.name_length) == i, "a tensor's name");
        status = dti_file_read(file, i, 0, tensor.elements, room, &error);
    }
    dti_file_close(file);
    free(bytes);
    return status;
}

static enum dti_status convert(struct dti_context *context, const struct work *work)
{
    char *report = NULL;
    const enum dti_status status =
        dti_file_convert(context, work->name, work->input, work->what, work->output, work->settings,
                         setting_count(work), &report, &error);
    require((status == DTI_OK) == (report != NULL), "a report");
    dti_text_free(context, report);
    return status;
}

static enum dti_status ask(struct dti_context *context, const struct work *work)
{
    const char *const paths[] = {work->input, work->other};
    char *document = NULL;
    enum dti_status status = dti_file_ask(context, work->name, paths, work->other ? 2 : 1,
                                          work->settings, setting_count(work), &document, &error);
    require((status == DTI_OK || status == DTI_ANSWER_NO) == (document != NULL), "a document");
    dti_text_free(context, document);
    return status == DTI_ANSWER_NO ? DTI_OK : status;
}

static const struct work works[] = {
    {write_new, "write", "a.safetensors", NULL, "safetensors", {{NULL, NULL}}, NULL},
    {write_new, "write", "a.npz", NULL, "npz", {{NULL, NULL}}, NULL},
    {read_tensors, "read", NULL, "a.safetensors", "path", {{NULL, NULL}}, NULL},
    {read_tensors, "read", NULL, "a.npz", "memory", {{NULL, NULL}}, NULL},
    {read_tensors, "read", NULL, "a.safetensors", "descriptor", {{NULL, NULL}}, NULL},
    {convert, "cast", "b.safetensors", "a.safetensors", "bf16", {{"keep", "*norm*"}}, NULL},
    {convert, "cast", "b.npz", "a.npz", "fp8_e4m3fn", {{"overflow", "saturate"}}, NULL},
    {convert,
     "quant",
     "q.safetensors",
     "a.safetensors",
     "nvfp4",
     {{"layout", "modelopt"}, {"keep", "*norm*"}},
     NULL},
    {convert, "quant", "i.safetensors", "a.safetensors", "int8", {{"keep", "*norm*"}}, NULL},
    {read_tensors, "read", NULL, "q.safetensors", "path", {{NULL, NULL}}, NULL},
    {convert, "dequant", "d.safetensors", "q.safetensors", "fp32", {{NULL, NULL}}, NULL},
    {convert,
     "transcode",
     "t.safetensors",
     "q.safetensors",
     "compressed-tensors",
     {{NULL, NULL}},
     NULL},
    {ask,
     "inspect",
     NULL,
     "a.safetensors",
     NULL,
     {{"stats", ""}, {"as", "fp16"}, {"digest", ""}},
     NULL},
    {ask, "inspect", NULL, "i.safetensors", NULL, {{NULL, NULL}}, NULL},
    {ask, "check", NULL, "q.safetensors", NULL, {{"quantized", ""}, {"no-nan", ""}}, NULL},
    {ask, "check", NULL, "a.npz", NULL, {{"fits", "fp16"}}, NULL},
    {ask, "compare", NULL, "a.safetensors", NULL, {{"rtol", "0.01"}}, "b.safetensors"},
    {ask, "explain", NULL, "a.safetensors", NULL, {{NULL, NULL}}, "q.safetensors"},
};

/* Does the work once, in a context of its own. */
static enum dti_status once(const struct work *work)
{
    struct dti_context *const context = new_context();
    enum dti_status status = error.status;
    if (context)
        status = work->run(context, work);
    dti_context_free(context);
    require(status == DTI_OK || status == DTI_NO_MEMORY, error.text);
    require(heap.live == 0, "a block was not freed");
    return status;
}

static bool is_same_file(const char *path, const unsigned char *wanted, size_t wanted_size)
{
    size_t size;
    unsigned char *const bytes = read_all(path, &size);
    const bool same = size == wanted_size && memcmp(bytes, wanted, size) == 0;
    free(bytes);
    return same;
}

/* Fails one allocation after the other; returns how often the work failed. */
static size_t fail_each(const struct work *work, size_t calls, size_t step)
{
    unsigned char *wanted = NULL;
    size_t wanted_size = 0, failures = 0;
    if (work->output) {
        wanted = read_all(work->output, &wanted_size);
        (void)unlink(work->output);
    }
    const size_t files = count_files();
    for (size_t at = 1; at <= calls; at += step) {
        heap.calls = 0;
        heap.fail_at = at;
        const enum dti_status status = once(work);
        failures += status != DTI_OK;
        const bool there = work->output && access(work->output, F_OK) == 0;
        require(there == (status == DTI_OK && work->output) || work->run == convert,
                "a file, or none");
        if (there) { /* a report can fail when its file is complete */
            require(is_same_file(work->output, wanted, wanted_size), "other bytes");
            (void)unlink(work->output);
        }
        require(count_files() == files, "a file was left");
    }
    heap.fail_at = 0;
    if (work->output)
        require(once(work) == DTI_OK, "the last time");
    free(wanted);
    return failures;
}

int main(int argc, char **argv)
{
    const bool quick = getenv("DTI_TEST_QUICK") != NULL;
    if (argc != 2 || !mkdtemp(argv[1]) || chdir(argv[1]) != 0)
        return 99;
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        const struct work *const work = &works[i];
        at_work = work->name;
        heap.calls = 0;
        require(once(work) == DTI_OK, "without a failure");
        const size_t calls = heap.calls;
        const size_t step = calls / (quick ? QUICK_SAMPLES : SAMPLES) + 1;
        size_t failures = 0;
        for (int all = 0; all < 2; all++) {
            heap.all = all != 0;
            failures += fail_each(work, calls, step);
        }
        require(failures > 0, "no allocation mattered");
        (void)printf("%-9s %-13s %5zu allocations, %zu failures\n", work->name,
                     work->input ? work->input : work->output, calls, failures);
    }
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++)
        if (works[i].output)
            (void)unlink(works[i].output);
    return chdir("..") != 0 || rmdir(argv[1]) != 0;
}
