/* SPDX-License-Identifier: MIT
 *
 * Files through the public functions, for test_files.py: lists what is in them, reads ranges, and
 * writes new ones. Uses only what the shared library exports. */
#include <dtinfo.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct dti_error error;

static void require(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "files_probe: %s\n", what);
    exit(99);
}

static void *room(size_t size)
{
    void *const ret = malloc(size > 0 ? size : 1);
    require(ret != NULL, "out of memory");
    return ret;
}

static int refused(enum dti_status status)
{
    require(status == error.status, "the status is not that of the error");
    require(error.text[0] != '\0' && !strchr(error.text, '\n'), "the error is not one line");
    printf("error\t%s\t%s\n", dti_status_code(status), error.text);
    return 0;
}

static unsigned char *read_all(const char *path, size_t *ret_size)
{
    FILE *const file = fopen(path, "rb");
    require(file != NULL, path);
    require(fseek(file, 0, SEEK_END) == 0, path);
    *ret_size = (size_t)ftell(file);
    rewind(file);
    unsigned char *const bytes = room(*ret_size);
    require(fread(bytes, 1, *ret_size, file) == *ret_size, path);
    (void)fclose(file);
    return bytes;
}

/* A file, and the memory it is read from. */
struct opened {
    struct dti_file *file;
    unsigned char *bytes;
};

/* how: letters. p: by its path; f: by a descriptor; m: from memory. s: as stored; l: lenient. */
static enum dti_status open_file(struct opened *ret, struct dti_context *context, const char *path,
                                 const char *how, const char *assume, struct dti_error *reason)
{
    struct dti_file_options options = {.size = sizeof options};
    options.stored = strchr(how, 's') != NULL;
    options.lenient = strchr(how, 'l') != NULL;
    *ret = (struct opened){.file = NULL};
    if (assume) {
        const enum dti_status status =
            dti_format_find(context, assume, &options.assume, NULL, reason);
        if (status)
            return status;
    }
    if (strchr(how, 'm')) {
        size_t size;
        ret->bytes = read_all(path, &size);
        return dti_file_open_memory(&ret->file, context, ret->bytes, size, NULL, &options, reason);
    }
    if (strchr(how, 'f')) {
        const int fd = open(path, O_RDONLY);
        require(fd >= 0, path);
        require(lseek(fd, 3, SEEK_SET) == 3 || errno == ESPIPE, "lseek");
        const enum dti_status status =
            dti_file_open_fd(&ret->file, context, fd, "the file", &options, reason);
        require(lseek(fd, 0, SEEK_CUR) == 3 || errno == ESPIPE, "its position has moved");
        require(close(fd) == 0, "the descriptor was closed");
        return status;
    }
    return dti_file_open(&ret->file, context, path, &options, reason);
}

static void close_file(struct opened *opened)
{
    dti_file_close(opened->file);
    free(opened->bytes);
}

static void put_hex(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        printf("%02x", (unsigned char)text[i]);
}

static struct dti_tensor_info tensor_of(const struct dti_file *file, size_t index)
{
    struct dti_tensor_info info = {.size = sizeof info};
    dti_file_tensor(file, index, &info);
    return info;
}

static size_t item_of(const struct dti_format *format)
{
    struct dti_format_info info = {.size = sizeof info};
    dti_format_describe(format, &info);
    return info.container_bits / 8;
}

static void list_tensor(const struct dti_file *file, size_t index)
{
    const struct dti_tensor_info info = tensor_of(file, index);
    printf("tensor\t");
    put_hex(info.name, info.name_length);
    printf("\t%s\t%s\t", info.stored_as, info.format ? dti_format_name(info.format) : "-");
    for (size_t i = 0; i < info.rank; i++)
        printf("%s%" PRIu64, i > 0 ? "," : "", info.shape[i]);
    printf("\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\t%d\t%" PRIu64 "\t%s\t%s\n", info.elements,
           info.stored_bytes, info.quantized ? info.quantized : "-",
           info.layout ? info.layout : "-", (int)info.packing, info.offset,
           info.path ? info.path : "-", info.refusal ? info.refusal : "-");
}

static int list(struct dti_file *file)
{
    struct dti_file_info info = {.size = sizeof info};
    dti_file_describe(file, &info);
    printf("file\t%s\t%s\t%zu\t%zu\t%zu\t%zu\n", info.container, info.version ? info.version : "-",
           info.file_count, info.tensor_count, info.metadata_count, info.note_count);
    for (size_t i = 0; i < info.tensor_count; i++)
        list_tensor(file, i);
    for (size_t i = 0; i < info.metadata_count; i++) {
        struct dti_pair pair;
        dti_file_metadata(file, i, &pair);
        printf("pair\t");
        put_hex(pair.key, pair.key_length);
        printf("\t");
        put_hex(pair.value, pair.value_length);
        printf("\t%d\n", pair.kind);
    }
    for (size_t i = 0; i < info.note_count; i++)
        printf("note\t%s\n", dti_file_note(file, i));
    return 0;
}

/* Lines "HEXNAME FIRST COUNT" become lines "codes BYTES" and so many bytes, or errors. */
static int read_ranges(struct dti_file *file)
{
    static char line[1 << 16], name[1 << 15];
    while (fgets(line, sizeof line, stdin)) {
        char *rest;
        size_t length = 0;
        for (rest = line; *rest != ' '; rest += 2) {
            unsigned byte;
            require(sscanf(rest, "%2x", &byte) == 1, "a name that is not hexadecimal");
            name[length++] = (char)byte;
        }
        const uint64_t first = strtoull(rest, &rest, 10), count = strtoull(rest, &rest, 10);
        const size_t at = dti_file_find(file, name, length);
        require(at != SIZE_MAX, "there is no such tensor");
        const struct dti_tensor_info info = tensor_of(file, at);
        const bool fits = info.format && first <= info.elements && count <= info.elements - first;
        const size_t size = fits ? (size_t)count * item_of(info.format) : 0;
        unsigned char *const codes = room(size + 1);
        codes[size] = 0xA5;
        const enum dti_status status = dti_file_read(file, at, first, count, codes, &error);
        require(codes[size] == 0xA5, "it wrote beyond the buffer");
        if (status) {
            refused(status);
        } else {
            require(fits, "it read beyond the end");
            printf("codes\t%zu\n", size);
            fwrite(codes, 1, size, stdout);
        }
        free(codes);
        fflush(stdout);
    }
    return 0;
}

/* Reads everything in several ways, for hostile files: nothing may crash. */
static void exercise(struct dti_context *context, const char *path, const char *how)
{
    enum { MOST = 1 << 16 };
    struct opened opened;
    struct dti_file_info info = {.size = sizeof info};
    if (open_file(&opened, context, path, how, NULL, &error) != DTI_OK) {
        require(!strchr(error.text, '\n') && error.text[0] != '\0', "the error is not one line");
        close_file(&opened);
        return;
    }
    dti_file_describe(opened.file, &info);
    for (size_t i = 0; i < info.tensor_count && i < 64; i++) {
        const struct dti_tensor_info tensor = tensor_of(opened.file, i);
        require((tensor.format == NULL) == (tensor.refusal != NULL), "no format without a reason");
        const size_t there = dti_file_find(opened.file, tensor.name, tensor.name_length);
        require(there <= i, "a name is not found");
        const uint64_t count = tensor.elements < MOST ? tensor.elements : MOST;
        unsigned char *const codes = room((size_t)count * 16);
        const uint64_t last = tensor.elements - count;
        for (uint64_t first = 0; first <= 3 && first <= last; first++)
            (void)dti_file_read(opened.file, i, first, count, codes, &error);
        (void)dti_file_read(opened.file, i, last, count, codes, &error);
        require(dti_file_read(opened.file, i, tensor.elements, 1, codes, &error) != DTI_OK,
                "it reads beyond the end");
        free(codes);
    }
    for (size_t i = 0; i < info.metadata_count; i++) {
        struct dti_pair pair;
        dti_file_metadata(opened.file, i, &pair);
        require(pair.key && pair.value, "a pair without a text");
    }
    for (size_t i = 0; i < info.note_count; i++)
        require(dti_file_note(opened.file, i) != NULL, "a note without a text");
    close_file(&opened);
}

/* What a thread reads: the files of the arguments from `first` on, in turn. */
struct visit {
    struct dti_context *context;
    const char *how;
    char **paths;
    size_t count, first;
    uint64_t sum; /* of all codes that were read */
};

static uint64_t sum_of(struct dti_context *context, const char *path, const char *how)
{
    enum { MOST = 1 << 22 };
    struct dti_file_info info = {.size = sizeof info};
    struct dti_error reason;
    struct opened opened;
    uint64_t sum = 1469598103934665603u;
    if (open_file(&opened, context, path, how, NULL, &reason) == DTI_OK) {
        dti_file_describe(opened.file, &info);
        for (size_t i = 0; i < info.tensor_count; i++) {
            const struct dti_tensor_info tensor = tensor_of(opened.file, i);
            if (!tensor.format || tensor.elements > MOST)
                continue;
            const size_t size = (size_t)tensor.elements * item_of(tensor.format);
            unsigned char *const codes = room(size);
            if (dti_file_read(opened.file, i, 0, tensor.elements, codes, &reason) == DTI_OK)
                for (size_t at = 0; at < size; at++)
                    sum = (sum ^ codes[at]) * 1099511628211u;
            free(codes);
        }
    }
    close_file(&opened);
    return sum;
}

static void *visit_files(void *argument)
{
    struct visit *const visit = argument;
    for (size_t i = 0; i < visit->count; i++)
        visit->sum +=
            sum_of(visit->context, visit->paths[(visit->first + i) % visit->count], visit->how);
    return NULL;
}

/* All files in several threads at once, with one context for all and with one each: the same codes
 * as in one thread. */
static void visit_at_once(struct dti_context *context, const char *how, char **paths, size_t count)
{
    enum { THREADS = 4 };
    struct visit alone = {.context = context, .how = how, .paths = paths, .count = count};
    (void)visit_files(&alone);
    for (int own = 0; own < 2; own++) {
        struct visit visits[THREADS];
        pthread_t threads[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
            visits[i] = (struct visit){context, how, paths, count, i * count / THREADS, 0};
            require(!own || !dti_context_new(&visits[i].context, NULL, &error), "no context");
            require(!pthread_create(&threads[i], NULL, visit_files, &visits[i]), "no thread");
        }
        for (size_t i = 0; i < THREADS; i++) {
            (void)pthread_join(threads[i], NULL);
            require(visits[i].sum == alone.sum, "a thread read other codes");
            if (own)
                dti_context_free(visits[i].context);
        }
    }
}

/* An allocator whose call number `fail` fails, and all after it if `on` is set. */
struct scarce {
    uint64_t calls, fail;
    bool on;
};

static void *allocate_scarcely(void *context, void *block, size_t size, size_t alignment)
{
    struct scarce *const scarce = context;
    if (size == 0) {
        free(block);
        return NULL;
    }
    const uint64_t call = ++scarce->calls;
    if (call == scarce->fail || (scarce->on && call > scarce->fail))
        return NULL;
    return alignment > 0 ? aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment)
                         : realloc(block, size);
}

/* Opens a file, finds and reads each tensor, and writes them to a new one. */
static enum dti_status copy_file(struct dti_context *context, const char *path, const char *how,
                                 const char *output)
{
    struct dti_file_info info = {.size = sizeof info};
    struct dti_writer *writer = NULL;
    struct opened opened;
    enum dti_status status = open_file(&opened, context, path, how, NULL, &error);
    if (!status)
        dti_file_describe(opened.file, &info);
    if (!status)
        status = dti_writer_new(&writer, context, output, "npz", true, &error);
    for (size_t i = 0; i < info.tensor_count && !status; i++) {
        const struct dti_tensor_info tensor = tensor_of(opened.file, i);
        require(dti_file_find(opened.file, tensor.name, tensor.name_length) == i, "not found");
        if (tensor.format)
            status = dti_writer_tensor(writer, tensor.name, tensor.name_length, tensor.format,
                                       tensor.rank, tensor.shape, &error);
    }
    for (size_t i = 0, at = 0; i < info.tensor_count && !status; i++) {
        const struct dti_tensor_info tensor = tensor_of(opened.file, i);
        if (!tensor.format)
            continue;
        unsigned char *const codes = room((size_t)tensor.elements * item_of(tensor.format));
        status = dti_file_read(opened.file, i, 0, tensor.elements, codes, &error);
        if (!status)
            status = dti_writer_write(writer, at++, 0, tensor.elements, codes, &error);
        free(codes);
    }
    if (!status)
        status = dti_writer_commit(writer, &error);
    dti_writer_free(writer);
    close_file(&opened);
    return status;
}

/* Copies a file with each allocation failing in turn: the copy fails with that reason and leaves
 * nothing, or is not needed. */
static void copy_scarcely(const char *path, const char *how, const char *output)
{
    for (int on = 0; on < 2; on++) {
        uint64_t failed = 0;
        for (uint64_t fail = 1;; fail++) {
            struct scarce scarce = {.fail = UINT64_MAX, .on = on != 0};
            const struct dti_context_options options = {.size = sizeof options,
                                                        .allocate = allocate_scarcely,
                                                        .allocate_context = &scarce,
                                                        .threads = 2};
            struct dti_context *context = NULL;
            require(!dti_context_new(&context, &options, &error), "no context");
            const uint64_t before = scarce.calls;
            scarce.fail = before + fail;
            const enum dti_status status = copy_file(context, path, how, output);
            const bool reached = scarce.calls >= scarce.fail;
            scarce.on = false;
            scarce.fail = UINT64_MAX;
            dti_context_free(context);
            require(!status || status == DTI_NO_MEMORY, error.text);
            require((access(output, F_OK) == 0) == !status, "a failure left a file");
            failed += status != DTI_OK;
            (void)unlink(output);
            if (!reached)
                break;
        }
        printf("failed %" PRIu64 "\n", failed);
    }
}

/* Lines of a new file: "tensor NAME FORMAT SHAPE" (1x2x3, or - for none), "pair KEY VALUE",
 * "write TENSOR FIRST COUNT OFFSET" (of the codes in a file), "commit". */
static int write_file(struct dti_context *context, const char *path, const char *container,
                      bool replace, const char *codes_path)
{
    static char line[1 << 16];
    char words[5][1024];
    size_t size;
    struct dti_writer *writer = NULL;
    unsigned char *const codes = read_all(codes_path, &size);
    enum dti_status status = dti_writer_new(
        &writer, context, path, container[0] != '-' ? container : NULL, replace, &error);
    while (!status && fgets(line, sizeof line, stdin)) {
        const int n = sscanf(line, "%1023s %1023s %1023s %1023s %1023s", words[0], words[1],
                             words[2], words[3], words[4]);
        if (strcmp(words[0], "tensor") == 0 && n == 4) {
            const struct dti_format *format = NULL;
            uint64_t shape[16];
            size_t rank = 0;
            for (char *at = words[3]; *at >= '0' && *at <= '9' && rank < 16; at += *at == 'x')
                shape[rank++] = strtoull(at, &at, 10);
            status = dti_format_find(context, words[2], &format, NULL, &error);
            if (!status)
                status = dti_writer_tensor(writer, words[1], strlen(words[1]), format, rank, shape,
                                           &error);
        } else if (strcmp(words[0], "pair") == 0 && n == 3) {
            status = dti_writer_metadata(writer, words[1], words[2], &error);
        } else if (strcmp(words[0], "write") == 0 && n == 5) {
            status = dti_writer_write(writer, strtoull(words[1], NULL, 10),
                                      strtoull(words[2], NULL, 10), strtoull(words[3], NULL, 10),
                                      codes + strtoull(words[4], NULL, 10), &error);
        } else if (strcmp(words[0], "commit") == 0) {
            status = dti_writer_commit(writer, &error);
        } else if (strcmp(words[0], "wait") == 0) {
            printf("waiting\n");
            fflush(stdout);
            (void)getchar();
        } else {
            require(false, "an unknown line");
        }
    }
    dti_writer_free(writer);
    free(codes);
    return status ? refused(status) : (printf("done\n"), 0);
}

int main(int argc, char **argv)
{
    struct dti_context_options options = {.size = sizeof options};
    struct dti_context *context = NULL;
    struct opened opened = {.file = NULL};
    int ret = 0;
    require(argc >= 4,
            "usage: files_probe list|read PATH HOW [ASSUME] | exercise|visit HOW PATHS... | "
            "scarce PATH HOW OUTPUT | "
            "write PATH CONTAINER REPLACE CODES");
    const char *const threads = getenv("PROBE_THREADS");
    options.threads = threads ? strtoul(threads, NULL, 10) : 0;
    require(!dti_context_new(&context, &options, &error), "no context");
    if (strcmp(argv[1], "exercise") == 0) {
        for (int i = 3; i < argc; i++)
            exercise(context, argv[i], argv[2]);
    } else if (strcmp(argv[1], "visit") == 0) {
        visit_at_once(context, argv[2], argv + 3, (size_t)argc - 3);
    } else if (strcmp(argv[1], "scarce") == 0 && argc == 5) {
        copy_scarcely(argv[2], argv[3], argv[4]);
    } else if (strcmp(argv[1], "write") == 0 && argc == 6) {
        ret = write_file(context, argv[2], argv[3], argv[4][0] == '1', argv[5]);
    } else {
        const enum dti_status status =
            open_file(&opened, context, argv[2], argv[3], argc > 4 ? argv[4] : NULL, &error);
        if (status)
            ret = refused(status);
        else
            ret = strcmp(argv[1], "list") == 0 ? list(opened.file) : read_ranges(opened.file);
        close_file(&opened);
    }
    dti_context_free(context);
    return ret;
}
