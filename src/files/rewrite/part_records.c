/* SPDX-License-Identifier: MIT
 *
 * A part of a divided run writes ".SHARD.part" next to each of its shards: the digests of its input
 * and recipe, and the shard's checksum. The final run compares and removes these records. A record
 * is removed before its shard is replaced, and written after it, so it never describes another
 * shard. */
#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "containers/zip/crc32.h"
#include "files/rewrite/part_records.h"
#include "files/scan/file_digest.h"
#include "util/run/allocate.h"
#include "util/text/ascii.h"

static const char form[] =
    "dtinfo-part 1\ninput %s\nsample %s\nrecipe %s\nbytes %020llu\ncrc32 %08lx\n";
enum {
    RECORD =
        14 + 2 * (7 + DTI_DIGEST_DIGITS + 1) + 6 + 1 + 20 + 1 + 6 + 8 + 1 + DTI_DIGEST_DIGITS + 8,
    SAMPLES = 16,
    SAMPLE = 4096,
    PIECE = 1 << 20
};

struct dti_part_sum {
    struct dti_output_watch watch; /* must be first: pointers are cast between the two */
    uint64_t size;
    atomic_uint_fast32_t crc;
    char *path; /* of the record */
};

/* Checksums writes in any order, as in zip_write.c. */
static void take_written(struct dti_output_watch *watch, const void *bytes, size_t size,
                         uint64_t offset)
{
    struct dti_part_sum *const sum = (struct dti_part_sum *)watch;
    atomic_fetch_xor(&sum->crc,
                     dti_crc32_part(dti_crc32(0, bytes, size), sum->size - offset - size));
}

static char *path_of(const char *shard)
{
    const char *const slash = strrchr(shard, '/');
    const size_t folder = slash ? (size_t)(slash - shard) + 1 : 0, size = strlen(shard) + 7;
    char *const path = dti_malloc(size);
    if (path)
        (void)snprintf(path, size, "%.*s.%s.part", (int)folder, shard, shard + folder);
    return path;
}

/* The number of shards of this run, which are first in the list. */
static size_t own_shards(const struct dti_new_files *files)
{
    return files->shared ? files->count - files->companions - files->has_index : 0;
}

size_t dti_part_record_count(const struct dti_new_files *files)
{
    return own_shards(files);
}

const char *dti_part_record_path(const struct dti_new_files *files, size_t at)
{
    return files->sums[at].path;
}

enum dti_status dti_part_sums_begin(struct dti_new_files *files, struct dti_error *reterr)
{
    const size_t count = own_shards(files);
    files->sums = count > 0 ? dti_calloc(count, sizeof *files->sums) : NULL;
    if (count > 0 && !files->sums)
        return dti_no_memory(reterr);
    for (size_t i = 0; i < count; i++) {
        files->sums[i].watch.take = take_written;
        files->sums[i].size = files->list[i].size;
        files->sums[i].path = path_of(files->list[i].path);
        if (!files->sums[i].path)
            return dti_no_memory(reterr);
    }
    return DTI_OK;
}

void dti_part_sums_free(struct dti_new_files *files)
{
    for (size_t i = 0; files->sums && i < own_shards(files); i++)
        dti_free(files->sums[i].path);
    dti_free(files->sums);
    files->sums = NULL;
}

void dti_part_sums_watch(struct dti_new_files *files)
{
    for (size_t i = 0; i < own_shards(files); i++)
        dti_output_watch(files->list[i].output, &files->sums[i].watch);
}

static enum dti_status remove_records(const struct dti_new_files *files, size_t from, size_t count,
                                      const struct dti_output_removal *words,
                                      struct dti_error *reterr)
{
    char **const paths = dti_calloc(count + 1, sizeof *paths);
    bool fits = paths != NULL;
    for (size_t i = 0; i < count && fits; i++) {
        paths[i] = path_of(files->list[from + i].path);
        fits = paths[i] != NULL;
    }
    const enum dti_status status =
        fits ? dti_output_remove(files->path[0] != '\0' ? files->path : ".",
                                 (const char *const *)paths, count, 0, NULL, 0, words, reterr)
             : dti_output_fail_remove(files->list[from].path, ENOMEM, words, reterr);
    for (size_t i = 0; paths && i < count; i++)
        dti_free(paths[i]);
    dti_free(paths);
    return status;
}

enum dti_status dti_part_records_remove(const struct dti_new_files *files, bool of_others,
                                        struct dti_error *reterr)
{
    static const struct dti_output_removal before = {"the old record", "", DTI_REMEDY_NONE},
                                           after = {"the new files are written, but the record", "",
                                                    DTI_REMEDY_REPLACE_AGAIN};
    const size_t count = of_others ? files->others : own_shards(files);
    return count > 0 && files->shared ? remove_records(files, of_others ? files->count : 0, count,
                                                       of_others ? &after : &before, reterr)
                                      : DTI_OK;
}

static void spell(char record[RECORD], const struct dti_part_digests *made, uint64_t bytes,
                  uint32_t crc)
{
    (void)snprintf(record, RECORD, form, made->input, made->sample, made->recipe,
                   (unsigned long long)bytes, (unsigned long)crc);
}

enum dti_status dti_part_records_write(const struct dti_new_files *files, struct dti_error *reterr)
{
    enum dti_status status = DTI_OK;
    for (size_t i = 0; i < own_shards(files) && status == DTI_OK; i++) {
        char record[RECORD];
        spell(record, &files->digests, files->sums[i].size,
              (uint32_t)atomic_load(&files->sums[i].crc));
        status = dti_output_write_at(dti_output_group_file(files->group, files->count + i), record,
                                     strlen(record), 0, reterr);
    }
    return status;
}

/* The CRC of a whole file. */
static enum dti_status sum(const char *path, uint32_t *ret, struct dti_error *reterr)
{
    struct dti_input input;
    enum dti_status status = dti_input_open_file(&input, path, reterr);
    if (status != DTI_OK)
        return status;
    unsigned char *const piece = dti_malloc(PIECE);
    if (!piece)
        status = dti_no_memory(reterr);
    *ret = 0;
    for (uint64_t at = 0; at < input.size && status == DTI_OK; at += PIECE) {
        const size_t size = input.size - at < PIECE ? (size_t)(input.size - at) : PIECE;
        status = dti_input_read_at(&input, piece, size, at, reterr);
        if (status == DTI_OK)
            *ret = dti_crc32(*ret, piece, size);
    }
    dti_free(piece);
    dti_input_close(&input);
    return status;
}

/* Classifies two records by the offset of their first difference; samples are compared only if both
 * runs could take one. */
static enum dti_part_state compare(const char *is, const struct dti_part_digests *made,
                                   const struct dti_new_file *file)
{
    char wanted[RECORD];
    spell(wanted, made, file->size, 0);
    const size_t input = strlen("dtinfo-part 1\ninput "),
                 sample = input + DTI_DIGEST_DIGITS + strlen("\nsample "),
                 recipe = sample + DTI_DIGEST_DIGITS + strlen("\nrecipe "),
                 crc = strlen(wanted) - strlen("00000000\n");
    if (strlen(is) != strlen(wanted) || strncmp(is, wanted, input) != 0)
        return DTI_PART_UNRECORDED;
    if (strncmp(is + input, wanted + input, DTI_DIGEST_DIGITS) != 0 ||
        (is[sample] != '-' && wanted[sample] != '-' &&
         strncmp(is + sample, wanted + sample, DTI_DIGEST_DIGITS) != 0))
        return DTI_PART_OTHER_INPUT;
    if (strncmp(is + recipe, wanted + recipe, DTI_DIGEST_DIGITS) != 0)
        return DTI_PART_OTHER_RECIPE;
    return strncmp(is + recipe + DTI_DIGEST_DIGITS, wanted + recipe + DTI_DIGEST_DIGITS,
                   crc - recipe - DTI_DIGEST_DIGITS) == 0
               ? DTI_PART_SAME
               : DTI_PART_UNRECORDED;
}

enum dti_status dti_part_record_look(const struct dti_new_files *files,
                                     const struct dti_new_file *file, bool data,
                                     enum dti_part_state *ret, struct dti_error *reterr)
{
    struct dti_input input;
    char record[RECORD] = "", *const path = path_of(file->path);
    enum dti_status status = path ? DTI_OK : dti_no_memory(reterr);
    *ret = DTI_PART_UNRECORDED;
    if (status == DTI_OK && dti_input_there(path) != ENOENT) {
        status = dti_input_open_file(&input, path, reterr);
        if (status == DTI_OK) {
            const size_t size = input.seekable && input.size < RECORD ? (size_t)input.size : 0;
            status = dti_input_read_at(&input, record, size, 0, reterr);
            record[size] = '\0';
            dti_input_close(&input);
        }
        if (status == DTI_OK)
            *ret = compare(record, &files->digests, file);
    }
    dti_free(path);
    uint32_t is;
    if (status == DTI_OK && data && *ret == DTI_PART_SAME) {
        const unsigned long was = strtoul(record + strlen(record) - 9, NULL, 16);
        status = sum(file->path, &is, reterr);
        if (status == DTI_OK && is != was)
            *ret = DTI_PART_OTHER_DATA;
    }
    return status;
}

static void put_digest(struct dti_buffer *text, const void *bytes, size_t size)
{
    struct dti_digest digest;
    char spelled[DTI_DIGEST_TEXT];
    dti_digest_bytes(bytes, size, &digest);
    dti_buffer_puts(text, dti_digest_spell(spelled, &digest) + DTI_DIGEST_NAME);
    dti_buffer_puts(text, "\n");
}

static enum dti_status read_into(struct dti_buffer *buffer, const struct dti_input *input,
                                 uint64_t size, uint64_t at, struct dti_error *reterr)
{
    if (size > SIZE_MAX || !dti_buffer_reserve(buffer, (size_t)size))
        return dti_no_memory(reterr);
    const enum dti_status status =
        dti_input_read_at(input, buffer->data + buffer->length, (size_t)size, at, reterr);
    buffer->length += status == DTI_OK ? (size_t)size : 0;
    return status;
}

/* Adds a file's complete header, and samples at offsets that depend only on its size. */
static enum dti_status add_file(const struct dti_container_file *file, struct dti_buffer *heads,
                                struct dti_buffer *samples, struct dti_error *reterr)
{
    const struct dti_input *const input = &file->input;
    const uint64_t step = input->size / SAMPLES;
    const bool remote = input->fd < 0;
    struct dti_buffer bytes;
    dti_buffer_init(&bytes);
    enum dti_status status = read_into(&bytes, input, file->header_bytes, 0, reterr);
    char size[32];
    (void)snprintf(size, sizeof size, "\n%llu\n", (unsigned long long)input->size);
    dti_buffer_puts(heads, dti_path_base(file->path));
    dti_buffer_puts(heads, size);
    put_digest(heads, bytes.data, bytes.length);
    dti_buffer_clear(&bytes);
    for (uint64_t i = 0; i < SAMPLES && !remote && status == DTI_OK; i++) {
        const uint64_t left = input->size - i * step;
        status = read_into(&bytes, input, left < SAMPLE ? left : SAMPLE, i * step, reterr);
    }
    if (!remote)
        put_digest(samples, bytes.data, bytes.length);
    dti_buffer_free(&bytes);
    return status;
}

/* Adds the config.json next to the files, which describes how quantized tensors are read. */
static enum dti_status add_config(const char *anchor, struct dti_buffer *heads,
                                  struct dti_error *reterr)
{
    enum { MOST = 64 << 20 };
    const char *const slash = strrchr(anchor, '/');
    const size_t folder = slash ? (size_t)(slash - anchor) + 1 : 0, size = folder + 12;
    char *const path = dti_malloc(size);
    struct dti_input input;
    struct dti_buffer text;
    if (!path)
        return dti_no_memory(reterr);
    (void)snprintf(path, size, "%.*sconfig.json", (int)folder, anchor);
    enum dti_status status = DTI_OK;
    dti_buffer_init(&text);
    if (dti_input_may_be_there(path)) {
        status = dti_input_open_file(&input, path, reterr);
        if (status == DTI_OK) {
            status = dti_input_read_all(&input, MOST, "a configuration", &text, reterr);
            dti_input_close(&input);
        }
        if (status == DTI_OK)
            put_digest(heads, text.data, text.length);
    }
    dti_buffer_free(&text);
    dti_free(path);
    return status;
}

enum dti_status dti_part_digests_of(const struct dti_container *container, const char *recipe,
                                    struct dti_part_digests *ret, struct dti_error *reterr)
{
    struct dti_buffer heads, samples, all;
    enum dti_status status = DTI_OK;
    dti_buffer_init(&heads);
    dti_buffer_init(&samples);
    dti_buffer_init(&all);
    for (size_t i = 0; i < container->file_count && status == DTI_OK; i++)
        status = add_file(&container->files[i], &heads, &samples, reterr);
    if (status == DTI_OK && container->file_count > 0)
        status = add_config(container->files[0].path, &heads, reterr);
    put_digest(&all, heads.data, heads.length);
    put_digest(&all, samples.data, samples.length);
    put_digest(&all, recipe, strlen(recipe));
    if (status == DTI_OK && (heads.failed || samples.failed || all.failed))
        status = dti_no_memory(reterr);
    if (status == DTI_OK) {
        const size_t line = DTI_DIGEST_DIGITS + 1;
        memcpy(ret->input, all.data, DTI_DIGEST_DIGITS);
        memcpy(ret->sample, all.data + line, DTI_DIGEST_DIGITS);
        memcpy(ret->recipe, all.data + 2 * line, DTI_DIGEST_DIGITS);
        if (samples.length == 0)
            memset(ret->sample, '-', DTI_DIGEST_DIGITS);
    }
    dti_buffer_free(&heads);
    dti_buffer_free(&samples);
    dti_buffer_free(&all);
    return status;
}
