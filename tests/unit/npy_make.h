/* SPDX-License-Identifier: MIT
 *
 * Builds .npy files and zip archives of them, so that tests can corrupt them byte by byte. */
#ifndef DTINFO_TESTS_NPY_MAKE_H
#define DTINFO_TESTS_NPY_MAKE_H

#include "containers/container.h"
#include "containers/zip/crc32.h"
#include "folder.h"

struct bytes {
    unsigned char data[1 << 17];
    size_t length;
};

static inline void put(struct bytes *to, const void *data, size_t size)
{
    if (!CHECK(size <= sizeof to->data - to->length))
        return;
    if (size > 0)
        memcpy(to->data + to->length, data, size);
    to->length += size;
}

/* Appends a little-endian number or overwrites bytes with it. */
static inline void put_number(struct bytes *to, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        const unsigned char byte = (unsigned char)(i < 8 ? number >> (8 * i) : 0);
        put(to, &byte, 1);
    }
}
static inline void patch(struct bytes *to, size_t at, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        to->data[at + i] = (unsigned char)(number >> (8 * i));
}

/* A .npy with this header and `data_size` bytes of data: 1, 2, 3 ... */
static inline struct bytes npy_make(unsigned major, const char *header, size_t header_length,
                                    size_t data_size)
{
    static struct bytes npy;
    npy.length = 0;
    put(&npy, "\x93NUMPY", 6);
    put_number(&npy, major, 1);
    put_number(&npy, 0, 1);
    put_number(&npy, header_length, major == 1 ? 2 : 4);
    put(&npy, header, header_length);
    for (size_t i = 0; i < data_size; i++)
        put_number(&npy, i + 1, 1);
    return npy;
}

enum { ZIP_MEMBERS = 8 };
struct zip {
    struct bytes file;
    size_t count;
    struct zip_place {
        const char *name;
        size_t local, data, entry; /* where its headers and data begin */
        uint64_t packed, size;
        unsigned method;
        uint32_t crc;
    } members[ZIP_MEMBERS];
    size_t directory, end64, end; /* where they begin */
};

/* Adds bytes that are already compressed. */
static inline void zip_add_packed(struct zip *zip, const char *name, const struct bytes *plain,
                                  unsigned method, const struct bytes *packed)
{
    struct zip_place *const place = &zip->members[zip->count++];
    *place = (struct zip_place){.name = name,
                                .local = zip->file.length,
                                .packed = packed->length,
                                .size = plain->length,
                                .method = method,
                                .crc = dti_crc32(0, plain->data, plain->length)};
    put(&zip->file, "PK\3\4", 4);
    put_number(&zip->file, 20, 2);
    put_number(&zip->file, 0, 2);
    put_number(&zip->file, method, 2);
    put_number(&zip->file, 0, 4);
    put_number(&zip->file, place->crc, 4);
    put_number(&zip->file, place->packed, 4);
    put_number(&zip->file, place->size, 4);
    put_number(&zip->file, strlen(name), 2);
    put_number(&zip->file, 0, 2);
    put(&zip->file, name, strlen(name));
    place->data = zip->file.length;
    put(&zip->file, packed->data, packed->length);
}

static inline void zip_add(struct zip *zip, const char *name, const struct bytes *plain)
{
    zip_add_packed(zip, name, plain, 0, plain);
}

/* Writes the directory and the end records. wide: uses 64-bit fields where there is a choice. */
static inline void zip_finish(struct zip *zip, bool wide)
{
    zip->directory = zip->file.length;
    for (size_t i = 0; i < zip->count; i++) {
        struct zip_place *const place = &zip->members[i];
        place->entry = zip->file.length;
        put(&zip->file, "PK\1\2", 4);
        put_number(&zip->file, 20, 2);
        put_number(&zip->file, wide ? 45 : 20, 2);
        put_number(&zip->file, 0, 2);
        put_number(&zip->file, place->method, 2);
        put_number(&zip->file, 0, 4);
        put_number(&zip->file, place->crc, 4);
        put_number(&zip->file, wide ? UINT32_MAX : place->packed, 4);
        put_number(&zip->file, wide ? UINT32_MAX : place->size, 4);
        put_number(&zip->file, strlen(place->name), 2);
        put_number(&zip->file, wide ? 28 : 0, 2);
        put_number(&zip->file, 0, 2 + 2 + 2 + 4);
        put_number(&zip->file, wide ? UINT32_MAX : place->local, 4);
        put(&zip->file, place->name, strlen(place->name));
        if (wide) {
            put_number(&zip->file, 1, 2);
            put_number(&zip->file, 24, 2);
            put_number(&zip->file, place->size, 8);
            put_number(&zip->file, place->packed, 8);
            put_number(&zip->file, place->local, 8);
        }
    }
    const size_t size = zip->file.length - zip->directory;
    zip->end64 = zip->file.length;
    if (wide) {
        put(&zip->file, "PK\6\6", 4);
        put_number(&zip->file, 44, 8);
        put_number(&zip->file, 45, 2);
        put_number(&zip->file, 45, 2);
        put_number(&zip->file, 0, 4 + 4);
        put_number(&zip->file, zip->count, 8);
        put_number(&zip->file, zip->count, 8);
        put_number(&zip->file, size, 8);
        put_number(&zip->file, zip->directory, 8);
        put(&zip->file, "PK\6\7", 4);
        put_number(&zip->file, 0, 4);
        put_number(&zip->file, zip->end64, 8);
        put_number(&zip->file, 1, 4);
    }
    zip->end = zip->file.length;
    put(&zip->file, "PK\5\6", 4);
    put_number(&zip->file, 0, 4);
    put_number(&zip->file, wide ? UINT16_MAX : zip->count, 2);
    put_number(&zip->file, wide ? UINT16_MAX : zip->count, 2);
    put_number(&zip->file, wide ? UINT32_MAX : size, 4);
    put_number(&zip->file, wide ? UINT32_MAX : zip->directory, 4);
    put_number(&zip->file, 0, 2);
}

static struct dti_container *container;
static struct dti_error error;

static inline bool container_opens(const char *name, const struct dti_container_options *options)
{
    error.text[0] = '\0';
    const bool good = CHECK(dti_container_open(&container, name, options, &error) == DTI_OK);
    if (!good)
        printf("    %s\n", error.text);
    return good;
}

/* The file must be refused with DTI_BAD_INPUT and exactly this message. */
static inline void container_is_refused(const char *name, const char *want)
{
    error.text[0] = '\0';
    const enum dti_status status = dti_container_open(&container, name, NULL, &error);
    CHECK_U64(status, DTI_BAD_INPUT);
    CHECK_STR(error.text, want);
    if (status == DTI_OK)
        dti_container_free(container);
}

#endif
