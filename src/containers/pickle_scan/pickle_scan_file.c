/* SPDX-License-Identifier: MIT
 *
 * Locates the pickles of a file: PyTorch files of both formats, pickle files, shards of these, and
 * object arrays of numpy. In a zip archive, members are chosen by name; torch also reads compressed
 * ones, so they are unpacked, up to a limit. A file of a known kind that holds no pickles is opened
 * as that kind, so that nothing else can pose as it. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "containers/containers.h"
#include "containers/pickle_scan/pickle_scan_parts.h"
#include "containers/sharded/sharded.h"
#include "containers/torch/torch.h"
#include "containers/zip/inflate.h"
#include "containers/zip/zip.h"
#include "io/scratch.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

enum { LEGACY_PICKLES = 5, PIECE = 1 << 16, UNPACKED_MAX = 64 << 20 };

/* Scans the pickles from `at` to the end, at most `most`. */
static bool scan_pickles(struct dti_scanning *scanning, uint64_t at, uint64_t end, size_t most)
{
    bool more = true;
    for (size_t i = 0; i < most && more && (i == 0 || at < end || most < SIZE_MAX); i++) {
        if (!dti_scan_pickle(scanning, &at, end, &more))
            return false;
    }
    return true;
}

static bool is_pickle(const struct dti_zip_member *member)
{
    static const char *const endings[] = {".pkl", ".pickle"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t length = strlen(endings[i]);
        if (member->name_length >= length &&
            dti_ascii_equal_start(member->name + member->name_length - length, endings[i], length))
            return true;
    }
    return false;
}

/* Unpacks a member to scratch. */
static enum dti_status unpack(struct dti_inflate *stream, unsigned char *piece,
                              const struct dti_zip_member *member, const struct dti_input *from,
                              const char *label, struct dti_input *scratch,
                              struct dti_error *reterr)
{
    size_t got = PIECE;
    enum dti_status status = DTI_OK;
    dti_inflate_start(stream, from, member->data, member->packed, label);
    while (status == DTI_OK && got == PIECE && scratch->size <= UNPACKED_MAX) {
        status = dti_inflate_read(stream, piece, PIECE, &got, reterr);
        if (status == DTI_OK && got > 0)
            status = dti_scratch_append(scratch, piece, got, reterr);
    }
    if (status == DTI_OK && scratch->size > UNPACKED_MAX)
        return dti_fail(reterr, DTI_BAD_INPUT, "%s unpacks to more than %d bytes", label,
                        (int)UNPACKED_MAX);
    return status;
}

static bool scan_unpacked(struct dti_scanning *scanning, const struct dti_zip_member *member,
                          const char *label)
{
    struct dti_opening *const opening = scanning->opening;
    struct dti_container_file *const archive = opening->file;
    struct dti_container_file file = {.path = archive->path};
    struct dti_inflate *const stream = dti_inflate_new();
    unsigned char *const piece = dti_malloc(PIECE);
    enum dti_status status = stream && piece ? DTI_OK : dti_no_memory(opening->error);
    if (status == DTI_OK)
        status = dti_scratch_open(&file.input, archive->input.name, 0, opening->error);
    if (status == DTI_OK) {
        status = unpack(stream, piece, member, &archive->input, label, &file.input, opening->error);
        if (status == DTI_BAD_INPUT && dti_scan_fault(scanning, opening->error->text))
            status = DTI_OK; /* what was unpacked so far is scanned */
        opening->file = &file;
        scanning->base = 0;
        if (status == DTI_OK && !scan_pickles(scanning, 0, file.input.size, SIZE_MAX))
            status = opening->status;
        opening->file = archive;
        dti_input_close(&file.input);
    }
    dti_free(piece);
    dti_inflate_free(stream);
    return dti_opening_goes_on(opening, status);
}

/* Why a member is not scanned; NULL: it is. */
static const char *refusal_of(const struct dti_zip_member *member)
{
    if (member->flags & (DTI_ZIP_ENCRYPTED | DTI_ZIP_PATCH))
        return " is encrypted or a patch: not looked at";
    if (member->method != DTI_ZIP_STORED && member->method != DTI_ZIP_DEFLATED)
        return " is compressed by an unknown method: not looked at";
    if (member->method == DTI_ZIP_STORED && member->packed != member->size)
        return " has two sizes: not looked at";
    return NULL;
}

static bool scan_member(struct dti_scanning *scanning, struct dti_zip *zip, size_t index)
{
    struct dti_opening *const opening = scanning->opening;
    const struct dti_zip_member *const member = &zip->members[index];
    const char *const archive = opening->label, *const refusal = refusal_of(member);
    char label[DTI_ZIP_LABEL_SIZE];
    opening->label = dti_zip_label(label, &opening->file->input, member);
    bool good = true;
    if (refusal || !dti_zip_locate(opening, zip, index)) {
        if (refusal)
            (void)dti_opening_refuse(opening, "%s", refusal);
        good = opening->status != DTI_NO_MEMORY && dti_scan_fault(scanning, opening->error->text);
    } else if (member->method == DTI_ZIP_DEFLATED) {
        good = scan_unpacked(scanning, member, label);
    } else {
        scanning->base = member->data;
        good = scan_pickles(scanning, member->data, member->data + member->size, SIZE_MAX);
    }
    opening->label = archive;
    return good;
}

static bool scan_zip(struct dti_scanning *scanning)
{
    struct dti_opening *const opening = scanning->opening;
    struct dti_zip zip;
    if (!dti_zip_open(opening, &zip))
        return opening->status != DTI_NO_MEMORY && dti_scan_fault(scanning, opening->error->text);
    for (size_t i = 0; i < zip.count; i++) {
        if (is_pickle(&zip.members[i]) && !scan_member(scanning, &zip, i))
            return false;
    }
    return true;
}

static bool scan_all(struct dti_scanning *scanning, size_t most)
{
    scanning->base = 0;
    return scan_pickles(scanning, 0, scanning->opening->file->input.size, most);
}

/* Extensions reserved for pickle files. */
static bool is_named(const char *name)
{
    static const char *const endings[] = {".pkl", ".pickle", ".pt", ".pth", ".ckpt", ".bin"};
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        if (dti_text_ends(name, strlen(name), endings[i]))
            return true;
    }
    return false;
}

/* Reports a reader's failure as a fault; false: out of memory. */
static bool take_failure(struct dti_scanning *scanning, enum dti_status status)
{
    return dti_opening_goes_on(scanning->opening, status) ||
           (status != DTI_NO_MEMORY && dti_scan_fault(scanning, scanning->opening->error->text));
}

/* Scans object arrays of numpy, if any. pickles: how many the file already had; if there are some,
 * a file that cannot be opened is not a fault. */
static bool scan_arrays(struct dti_scanning *scanning, const char *path, size_t pickles)
{
    struct dti_opening *const opening = scanning->opening;
    struct dti_container *container;
    const enum dti_status status = dti_container_open(&container, path, NULL, opening->error);
    if (status != DTI_OK)
        return pickles > 0 ? status != DTI_NO_MEMORY : take_failure(scanning, status);
    bool good = true, more;
    scanning->base = 0;
    for (size_t i = 0; good && i < container->tensor_count; i++) {
        const struct dti_tensor *const tensor = &container->tensors[i];
        const struct dti_subject subject = {"array", tensor->name, tensor->name_length, false};
        uint64_t at = tensor->offset;
        if (tensor->pickled && tensor->compressed) {
            (void)dti_opening_refuse_of(opening, subject, " is a compressed pickle: not looked at");
            good = dti_scan_fault(scanning, opening->error->text);
        } else if (tensor->pickled) {
            good = dti_scan_pickle(scanning, &at, opening->file->input.size, &more);
        }
    }
    dti_container_free(container);
    return good;
}

/* Scans the opening's file, which is open and not an index. */
static bool scan_content(struct dti_scanning *scanning, enum dti_container_kind kind,
                         const unsigned char *head, size_t size)
{
    struct dti_opening *const opening = scanning->opening;
    const size_t before = scanning->scan->pickle_count;
    if (dti_begins(head, size, "PK"))
        return scan_zip(scanning) &&
               (kind != DTI_CONTAINER_NPZ ||
                scan_arrays(scanning, opening->file->path, scanning->scan->pickle_count - before));
    if (dti_torch_detect(head, size))
        return scan_all(scanning, LEGACY_PICKLES);
    if (kind == DTI_CONTAINER_COUNT || kind == DTI_CONTAINER_PYTORCH ||
        is_named(opening->file->path))
        return scan_all(scanning, SIZE_MAX);
    return scan_arrays(scanning, opening->file->path, 0);
}

/* Reads the beginning of the opening's file and detects its kind. */
static bool look(struct dti_opening *opening, unsigned char *head, size_t *ret_size,
                 enum dti_container_kind *ret)
{
    const struct dti_input *const input = &opening->file->input;
    const struct dti_foreign *foreign;
    *ret_size = input->size < DTI_HEAD_SIZE ? (size_t)input->size : DTI_HEAD_SIZE;
    if (!input->seekable)
        return dti_opening_refuse(opening, " is not seekable; copy it to a regular file first");
    if (input->size == 0)
        return dti_opening_refuse(opening, " is empty");
    if (!dti_opening_read(opening, head, *ret_size, 0))
        return false;
    *ret = dti_content_of(input->name, head, *ret_size, input->size, &foreign);
    if (*ret == DTI_CONTAINER_COUNT && foreign && head[0] != 0x80)
        return dti_opening_refuse(opening, " %s; %s", foreign->is, foreign->remedy);
    return true;
}

/* Scans an open file. */
static bool scan_open(struct dti_scanning *scanning, struct dti_container_file *file,
                      enum dti_container_kind *ret_kind)
{
    unsigned char head[DTI_HEAD_SIZE];
    size_t size;
    dti_opening_turn_to(scanning->opening, file);
    scanning->scan->file_count++;
    return look(scanning->opening, head, &size, ret_kind) &&
           scan_content(scanning, *ret_kind, head, size);
}

static bool scan_shard(struct dti_scanning *scanning, const char *path)
{
    struct dti_opening *const opening = scanning->opening;
    struct dti_container_file file = {.path = path};
    enum dti_container_kind kind = DTI_CONTAINER_COUNT;
    if (!path ||
        !dti_opening_goes_on(opening, dti_input_open_file(&file.input, path, opening->error)))
        return false;
    const bool good = scan_open(scanning, &file, &kind);
    if (kind == DTI_CONTAINER_PYTORCH)
        scanning->scan->kind = DTI_CONTAINER_SHARDED_PT;
    dti_input_close(&file.input);
    return good;
}

static bool scan_shards(struct dti_scanning *scanning, const struct dti_shards *shards,
                        const char *path, bool path_is_folder)
{
    struct dti_opening *const opening = scanning->opening;
    scanning->scan->kind = DTI_CONTAINER_SHARDED;
    for (size_t i = 0; i < shards->count; i++) {
        if (!scan_shard(scanning, dti_shard_path(opening, path, path_is_folder, shards->names[i])))
            return false;
    }
    return true;
}

static bool scan_file(struct dti_scanning *scanning, struct dti_container_file *file)
{
    struct dti_opening *const opening = scanning->opening;
    unsigned char head[DTI_HEAD_SIZE];
    struct dti_shards shards = {.count = 0};
    size_t size;
    dti_opening_turn_to(opening, file);
    if (!look(opening, head, &size, &scanning->scan->kind))
        return false;
    if (scanning->scan->kind == DTI_CONTAINER_SHARDED && !is_named(file->path))
        return dti_index_read(opening, &shards) &&
               scan_shards(scanning, &shards, file->path, false);
    scanning->scan->file_count = 1;
    return scan_content(scanning, scanning->scan->kind, head, size);
}

static bool open_and_scan(struct dti_scanning *scanning, struct dti_container_file *file);

static bool scan_folder(struct dti_scanning *scanning)
{
    struct dti_opening *const opening = scanning->opening;
    const char *const path = opening->container->path;
    struct dti_shards shards = {.count = 0};
    struct dti_container_file file = {.path = NULL};
    char label[DTI_QUOTE_SIZE];
    const char *index;
    opening->label = dti_quote(label, path, strlen(path));
    if (!dti_folder_read(opening, &index, &shards))
        return false;
    if (shards.part) /* a split GGUF: no part holds pickles */
        index = shards.part;
    if (!index)
        return scan_shards(scanning, &shards, path, true);
    file.path = dti_shard_path(opening, path, true, index);
    return file.path && open_and_scan(scanning, &file);
}

static bool open_and_scan(struct dti_scanning *scanning, struct dti_container_file *file)
{
    struct dti_opening *const opening = scanning->opening;
    struct stat st = {0};
    if (!dti_opening_goes_on(opening,
                             dti_input_open_file(&file->input, file->path, opening->error)))
        return file->path == opening->container->path && opening->status != DTI_NO_MEMORY &&
               stat(file->path, &st) == 0 && S_ISDIR(st.st_mode) && scan_folder(scanning);
    const bool good = scan_file(scanning, file);
    dti_input_close(&file->input);
    return good;
}

/* Scans one open file that is not an index or, if !open, any path. */
static enum dti_status scan(struct dti_pickle_scan *ret, struct dti_container_file *file, bool open,
                            struct dti_error *reterr)
{
    struct dti_error error = {.status = DTI_OK};
    struct dti_container container = {.path = file->path};
    struct dti_opening opening = {.container = &container, .pool = &ret->pool, .error = &error};
    struct dti_scanning scanning = {.opening = &opening, .scan = ret};
    *ret = (struct dti_pickle_scan){.kind = DTI_CONTAINER_COUNT};
    scanning.slots = dti_calloc(DTI_SCAN_SLOTS, sizeof *scanning.slots);
    if (!scanning.slots)
        return dti_no_memory(reterr);
    const bool good =
        open ? scan_open(&scanning, file, &ret->kind) : open_and_scan(&scanning, file);
    dti_free(scanning.slots);
    if (good && dti_scan_finish(&scanning))
        return DTI_OK;
    if (reterr)
        *reterr = error;
    return error.status;
}

enum dti_status dti_pickle_scan(struct dti_pickle_scan *ret, const char *path,
                                struct dti_error *reterr)
{
    struct dti_container_file file = {.path = path};
    return scan(ret, &file, false, reterr);
}

enum dti_status dti_pickle_scan_open(struct dti_pickle_scan *ret, struct dti_container_file *file,
                                     struct dti_error *reterr)
{
    return scan(ret, file, true, reterr);
}

void dti_pickle_scan_free(struct dti_pickle_scan *scan)
{
    dti_pool_free(&scan->pool);
    *scan = (struct dti_pickle_scan){.kind = DTI_CONTAINER_COUNT};
}
