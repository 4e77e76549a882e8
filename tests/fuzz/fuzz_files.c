/* SPDX-License-Identifier: MIT
 *
 * Runs whole commands on whole files and folders. The first byte of the input selects one of the
 * command lines below, or all of them. The rest is files: the byte 0xf5, a letter that selects the
 * file, and its content. For file formats with lengths or checksums, only the parts come from the
 * input, so that mutations get past the first check.
 *
 * For every input: a failure leaves no output and prints one line; a success leaves exactly the
 * requested output, which can be inspected. */
#include "fuzz_build.h"
#include "fuzz_command.h"

const char *const dti_fuzz_words[] = {
    "0",
    "3",
    "5",
    "?",
    "A",
    "\xf5"
    "A",
    "\xf5"
    "B",
    "\xf5"
    "D",
    "\xf5"
    "E",
    "\xf5"
    "F",
    "\xf5"
    "H",
    "\xf5"
    "J",
    "\xf5K",
    "\xf5L",
    "\xf5M",
    "\xf5O",
    "\xf6",
    "\xf7",
    "{\"a\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]}}\xf6",
    "{\"w\":{\"dtype\":\"I8\",\"shape\":[2,4],\"data_offsets\":[0,8]}",
    ",\"w_scale\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[8,16]}}\xf6",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\xf6",
    "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 2), }\xf6",
    "12345678",
    "\x7f\x80\xff\1",
    "{\"weight_map\":{\"a\":\"model-00001-of-00002.safetensors\"}}",
    NULL,
};

enum { FILE_MARK = 0xf5, PART_MARK = 0xf6, MEMBER_MARK = 0xf7 };
enum { INPUT_MAX = 8192, FILES_MAX = 6, LINE_WORDS_MAX = 4 * FUZZ_PATH };

enum form { RAW, SAFETENSORS, NPY, NPZ, TORCH, LINK };

static const struct {
    const char *name;
    enum form form;
} kinds[] = {
    {"model.safetensors", SAFETENSORS},
    {"model-00001-of-00002.safetensors", SAFETENSORS},
    {"model-00002-of-00002.safetensors", SAFETENSORS},
    {"model.safetensors.index.json", RAW},
    {"a.npy", NPY},
    {"a.npz", NPZ},
    {"a.gguf", RAW},
    {"a.bin", RAW},
    {"config.json", RAW},
    {"sub/b.safetensors", SAFETENSORS},
    {"link.safetensors", LINK},
    {"raw.safetensors", RAW},
    {"raw.npy", RAW},
    {"raw.npz", RAW},
    {"a_scale.npy", NPY},
    {"a_zero_point.npy", NPY},
    {"list.sha256", RAW},
    {"a.onnx", RAW},
    {"w.data", RAW},
    {"a.pt", TORCH},
    {"m-00001-of-00002.gguf", RAW},
    {"m-00002-of-00002.gguf", RAW},
    {"a.dduf", RAW},
};

/* @1, @2: the first and the second file (or the first again). @m: the folder if the files form a
 * checkpoint, else the first file. @o: the output. */
static const char *const lines[] = {
    "inspect @m --stats --histogram --each --threads 1",
    "inspect @1 @2 -v --metadata",
    "inspect @m --tree",
    "inspect @m --stats --bits 4 --block 32 --threads 1",
    "inspect @m --raw",
    "inspect @1 --from int4 --packing high --stats --threads 1",
    "inspect @1 --from fp16 --shape 3,8 --stats --threads 1",
    "mem @m bf16,mxfp4 -v",
    "check @m --valid --no-nan --no-inf --fits bf16 --threads 1",
    "check @1 @2 --dtype fp32 --max-abs 3 --lenient --threads 1",
    "compare @1 @2 -v --threads 1",
    "compare @m @1 --bitwise --ignore-missing --threads 1",
    "compare @1 @2 --from fp16 --max-ulp 2 --threads 1",
    "explain @1 @2 -v --threads 1",
    "explain @1 @m --json --threads 1",
    "cast @m bf16 -q -o @o.safetensors --threads 1",
    "cast @m fp8_e4m3fn -o @o/ --ints --threads 1",
    "cast @1 fp16 -q -o @o.npy --select a --threads 1",
    "cast @1 int8 -o @o.safetensors --lenient --assume bf16 --threads 1",
    "cast @m fp32 -q --as raw -o @o.bin --threads 1",
    "cast @1 fp32 --as text -o @o.txt",
    "cast @m fp4_e2m1 --packing low -q -o @o.safetensors --threads 1",
    "cast @m int8 --like torch -q -o @o.safetensors --threads 1",
    "cast @m e6m9 -q -o @o.safetensors --threads 1",
    "cast @m bf16 --dry-run -o @o.safetensors",
    "cast @1 bf16 -q --from fp16 -o @o.bin --threads 1",
    "cast @1 fp8_e5m2 --from fp6_e3m2 --packing low -o @o.npy --threads 1",
    "cast @1 fp16 -q --from text -o @o.bin --threads 1",
    "quant @m int8 -q -o @o.safetensors --threads 1",
    "quant @m mxfp4 -o @o/ --pad --threads 1",
    "quant @1 int4 -q -o @o.safetensors --per channel --affine --threads 1",
    "quant @1 nvfp4 -o @o.safetensors --pad --layout modelopt --threads 1",
    "quant @1 fp8_e4m3fn -q -o @o.safetensors --block 2 --layout modelopt --threads 1",
    "quant @1 uint8 -o @o.npy --threads 1",
    "quant @1 q8_0 -q -o @o.safetensors --pad --threads 1",
    "quant @1 nf4 -q -o @o.safetensors --nibble high --pad --threads 1",
    "quant @1 mxfp6_e3m2 -o @o.safetensors --pad --threads 1",
    "quant @1 uint2 -q -o @o.safetensors --block 5 --pad --threads 1",
    "quant @1 uint2 -q -o @o.safetensors --threads 1",
    "quant @m int8 --dry-run -o @o.safetensors",
    "quant @m bf16 --dequant -q -o @o.safetensors --threads 1",
    "quant @m fp16 --dequant -q -o @o.safetensors --keep w_scale,b --threads 1",
    "quant @m fp32 --dequant -o @o/ --threads 1",
    "quant @1 fp32 --dequant -q -o @o.npy --threads 1",
    "quant @1 fp16 --dequant --layout modelopt --lenient -o @o.safetensors --threads 1",
    "quant @m fp16 --dequant --bits 4 -q -o @o.safetensors --threads 1",
    "quant @m fp32 --dequant --block 32 -q -o @o.safetensors --threads 1",
    "inspect @m @2 --digest",
    "check @m --digest @2",
    "check @1 --digest @2 --lenient",
    "check @m --quantized -v --threads 1",
    "quant @m nvfp4 -q --only *k_proj* --allow-unmatched --pad -o @o.safetensors --threads 1",
    "cast @m bf16 -q -o @o.npz --threads 1",
    "cast @1 fp16 --ints -q -o @o.npz --assume bf16 --threads 1",
    "cast @1 bf16 -q -o @o.gguf --threads 1",
    "quant @1 int8 -q -o @o.npz --pad --threads 1",
    "quant @1 q8_0 -q -o @o.gguf --type *=q8_0 --threads 1",
    "quant @1 q8_0 -q -o @o.gguf --template @2 --type *.w*=q8_0 --allow-unmatched --threads 1",
    "cast @1 fp16 -q -o @o.gguf --template @2 --threads 1",
    "cast @m fp16 -q -o @o.gguf --max-shard-size 400 --threads 1",
    "cast @1 bf16 -q -o @o.dduf --threads 1",
    "quant @1 q4_0 -q -o @o.gguf --imatrix @2 --type *=q4_0 --threads 1",
};

enum { LINES = sizeof lines / sizeof *lines };

/* The files of an input, in order. */
struct files {
    const char *names[FILES_MAX];
    size_t count;
    size_t entries; /* entries of the folder */
    bool is_checkpoint;
};

/* Returns the text up to a mark, or to the end, and skips the mark. */
static const char *take(const char **at, const char *end, int mark, size_t *ret_length)
{
    const char *const start = *at;
    const char *const found = start < end ? memchr(start, mark, (size_t)(end - start)) : NULL;
    *ret_length = (size_t)((found ? found : end) - start);
    *at = found ? found + 1 : end;
    return start;
}

/* Builds a file from its part: header, mark, data. */
static void build(struct dti_buffer *out, enum form form, const char *at, const char *end)
{
    size_t length;
    if (form == RAW) {
        dti_buffer_append(out, at, (size_t)(end - at));
    } else if (form == NPZ) {
        struct build_zip zip;
        struct dti_buffer array;
        build_zip_begin(&zip, out);
        dti_buffer_init(&array);
        while (at < end) {
            size_t part_length;
            const char *part = take(&at, end, MEMBER_MARK, &part_length);
            const char *const part_end = part + part_length;
            const char *const name = take(&part, part_end, PART_MARK, &length);
            dti_buffer_clear(&array);
            build(&array, NPY, part, part_end);
            build_zip_member(&zip, name, length, array.data, array.length);
        }
        build_zip_end(&zip);
        dti_buffer_free(&array);
    } else if (form == TORCH) {
        struct build_zip zip;
        build_zip_begin(&zip, out);
        const char *const pickle = take(&at, end, PART_MARK, &length);
        build_zip_member(&zip, "a/data.pkl", 10, pickle, length);
        build_zip_member(&zip, "a/data/0", 8, at, (size_t)(end - at));
        build_zip_end(&zip);
    } else {
        const char *const header = take(&at, end, PART_MARK, &length);
        (form == NPY ? build_npy : build_safetensors)(out, header, length, at, (size_t)(end - at));
    }
}

static bool is_there(const struct files *files, const char *name)
{
    for (size_t i = 0; i < files->count; i++) {
        if (strcmp(files->names[i], name) == 0)
            return true;
    }
    return false;
}

static void make_file(struct files *files, const char *at, const char *end)
{
    const size_t kind = (uint8_t)(*at++ - 'A') % (sizeof kinds / sizeof *kinds);
    const char *const name = kinds[kind].name;
    char path[FUZZ_PATH / 4];
    struct dti_buffer data;
    if (is_there(files, name))
        return;
    files->is_checkpoint |=
        kind == 1 || kind == 2 || kind == 3 || kind == 9 || kind == 10 || kind >= 20;
    files->names[files->count++] = name;
    files->entries++;
    (void)snprintf(path, sizeof path, "in/%s", name);
    if (kinds[kind].form == LINK) {
        REQUIRE(symlink("nowhere", fuzz_path(path)) == 0);
        return;
    }
    if (strchr(name, '/'))
        REQUIRE(mkdir(fuzz_path("in/sub"), 0700) == 0);
    dti_buffer_init(&data);
    build(&data, kinds[kind].form, at, end);
    REQUIRE(!data.failed);
    fuzz_write(path, data.data, data.length);
    dti_buffer_free(&data);
}

static struct files make_files(const char *at, const char *end)
{
    struct files files = {.count = 0};
    REQUIRE(mkdir(fuzz_path("in"), 0700) == 0);
    while (at < end && files.count < FILES_MAX) {
        size_t length;
        const char *const file = take(&at, end, FILE_MARK, &length);
        if (length > 0)
            make_file(&files, file, file + length);
    }
    return files;
}

static const char *operand(char letter, const struct files *files)
{
    char name[FUZZ_PATH / 4];
    if (letter == 'o')
        return fuzz_path("o");
    if (letter == 'm' && files->is_checkpoint)
        return fuzz_path("in");
    const size_t at = letter == '2' && files->count > 1 ? 1 : 0;
    (void)snprintf(name, sizeof name, "in/%s", files->names[at]);
    return fuzz_path(name);
}

static char *expand(char *to, char sign, char letter, const void *context)
{
    (void)sign;
    return to + snprintf(to, FUZZ_PATH, "%s", operand(letter, context));
}

/* Checks what is in the folder next to the input: every name must begin with the name of the
 * output. Finds the output's own entry; false if there is none. */
static bool find_output(char name[FUZZ_PATH / 2])
{
    bool found = false;
    DIR *const listing = opendir(fuzz_folder());
    REQUIRE(listing);
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            strcmp(entry->d_name, "in") == 0)
            continue;
        REQUIRE(entry->d_name[0] == 'o' && strchr("._-", entry->d_name[1]));
        found = true;
        if (entry->d_name[1] != '_')
            (void)snprintf(name, FUZZ_PATH / 2, "%s", entry->d_name);
    }
    (void)closedir(listing);
    return found;
}

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *const listing = opendir(path);
    REQUIRE(listing);
    while (readdir(listing))
        count++;
    (void)closedir(listing);
    return count - 2;
}

/* The program must be able to read its own output. */
static void inspect_output(const char *name)
{
    static char command[] = "inspect", quiet[] = "-q";
    char path[FUZZ_PATH];
    char *words[] = {command, quiet, path};
    struct fuzz_answer answer;
    const char *const dot = strchr(name, '.');
    if (dot && (strcmp(dot, ".bin") == 0 || strcmp(dot, ".txt") == 0))
        return;
    (void)snprintf(path, sizeof path, "%s", fuzz_path(name));
    fuzz_command(words, 3, &answer);
    REQUIRE(answer.code == 0);
    fuzz_answer_free(&answer);
}

/* Removes the parts of a split GGUF. */
static void remove_parts(void)
{
    DIR *const listing = opendir(fuzz_folder());
    REQUIRE(listing);
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (entry->d_name[0] == 'o' && entry->d_name[1] == '-')
            REQUIRE(unlink(fuzz_path(entry->d_name)) == 0);
    }
    (void)closedir(listing);
}

static void remove_outputs(const char *name)
{
    if (name[1] == '-') {
        remove_parts();
        return;
    }
    static const char *const others[] = {"o_scale.npy", "o_zero_point.npy", "o_packed.npy",
                                         "o_global_scale.npy", "o_shape.npy"};
    if (unlink(fuzz_path(name)) != 0) {
        (void)fuzz_empty(fuzz_path(name));
        REQUIRE(rmdir(fuzz_path(name)) == 0);
    }
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        (void)unlink(fuzz_path(others[i]));
}

static void run_line(const char *line, const struct files *files)
{
    static char text[LINE_WORDS_MAX];
    char *words[FUZZ_WORDS], name[FUZZ_PATH / 2];
    struct fuzz_answer answer;
    const bool makes = strstr(line, "@o") && !strstr(line, "--dry-run");
    const int count = fuzz_words(line, expand, files, text, words);
    fuzz_command(words, count, &answer);
    fuzz_check_text(answer.out, answer.out_length);
    const bool found = find_output(name);
    REQUIRE(found == (makes && answer.code == 0));
    REQUIRE(count_entries(fuzz_path("in")) == files->entries);
    if (makes && answer.code != 0) {
        REQUIRE(answer.out_length == 0 && answer.code > 1);
        REQUIRE(!strstr(line, "-q") || !strchr(answer.err, '\n')[1]);
    }
    if (found) {
        inspect_output(name);
        remove_outputs(name);
    }
    fuzz_answer_free(&answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 3 || size > INPUT_MAX)
        return 0;
    const char *const text = (const char *)data;
    (void)fuzz_empty(fuzz_folder());
    const struct files files = make_files(text + 1, text + size);
    for (size_t i = 0; i < LINES && files.count > 0; i++) {
        if (data[0] == FUZZ_ALL || (uint8_t)(data[0] - '0') % LINES == i)
            run_line(lines[i], &files);
    }
    return 0;
}
