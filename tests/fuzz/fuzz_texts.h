/* SPDX-License-Identifier: MIT
 *
 * Texts chosen by the fuzzer, placed as names, dtypes and metadata in files of each kind. */
#ifndef DTINFO_FUZZ_TEXTS_H
#define DTINFO_FUZZ_TEXTS_H

#include <string.h>

#include "containers/json_quoted.h"
#include "fuzz_build.h"
#include "fuzz_folder.h"

enum { TEXTS = 4, TEXT_SEPARATOR = 0x1e };

/* The parts of an input. */
struct texts {
    const char *text[TEXTS];
    size_t length[TEXTS];
    bool raw; /* texts are not quoted in files and can break their headers */
};

static inline struct texts split_texts(const char *at, size_t left, bool raw)
{
    struct texts texts = {.raw = raw};
    for (size_t i = 0; i < TEXTS; i++) {
        const char *const end = left > 0 ? memchr(at, TEXT_SEPARATOR, left) : NULL;
        texts.text[i] = at;
        texts.length[i] = end ? (size_t)(end - at) : left;
        left -= end ? texts.length[i] + 1 : left;
        at = end ? end + 1 : at + texts.length[i];
    }
    return texts;
}

/* A JSON string: the text escaped, or between quotes as it is if raw. */
static inline void put_quoted(struct dti_buffer *out, const struct texts *texts, unsigned number)
{
    if (!texts->raw) {
        (void)dti_json_quoted(out, texts->text[number], texts->length[number]);
        return;
    }
    dti_buffer_puts(out, "\"");
    dti_buffer_append(out, texts->text[number], texts->length[number]);
    dti_buffer_puts(out, "\"");
}

/* The same as a Python string literal. */
static inline void put_python(struct dti_buffer *out, const struct texts *texts, unsigned number)
{
    dti_buffer_puts(out, "'");
    for (size_t i = 0; i < texts->length[number]; i++) {
        const char c = texts->text[number][i];
        if (!texts->raw && (c == '\'' || c == '\\'))
            dti_buffer_puts(out, "\\");
        dti_buffer_append(out, &c, 1);
    }
    dti_buffer_puts(out, "'");
}

static const char eight[] = "\0\0\200?\0\0\200\277"; /* 1 and -1 in fp32 */

static inline void put_safetensors(struct dti_buffer *out, const struct texts *texts)
{
    struct dti_buffer header;
    dti_buffer_init(&header);
    dti_buffer_puts(&header, "{\"__metadata__\":{");
    put_quoted(&header, texts, 1);
    dti_buffer_puts(&header, ":");
    put_quoted(&header, texts, 2);
    dti_buffer_puts(&header, "},");
    put_quoted(&header, texts, 0);
    dti_buffer_puts(&header, ":{\"dtype\":\"F32\",\"shape\":[1,2],\"data_offsets\":[0,8]}");
    if (texts->length[3] > 0) {
        dti_buffer_puts(&header, ",\"other\":{\"dtype\":");
        put_quoted(&header, texts, 3);
        dti_buffer_puts(&header, ",\"shape\":[0],\"data_offsets\":[8,8]}");
    }
    dti_buffer_puts(&header, "}");
    build_safetensors(out, header.data, header.length, eight, 8);
    dti_buffer_free(&header);
}

/* A .npy whose descr is text 1 or, with `fields`, a list of one field named text 0. */
static inline void put_npy(struct dti_buffer *out, const struct texts *texts, bool fields)
{
    struct dti_buffer header;
    dti_buffer_init(&header);
    dti_buffer_puts(&header, fields ? "{'descr': [(" : "{'descr': ");
    put_python(&header, texts, fields ? 0 : 1);
    dti_buffer_puts(&header, fields ? ", '<f4')]" : "");
    dti_buffer_puts(&header, ", 'fortran_order': False, 'shape': (2,), }");
    build_npy(out, header.data, header.length, eight, 8);
    dti_buffer_free(&header);
}

static inline void put_plain_npy(struct dti_buffer *out)
{
    static const char header[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
    build_npy(out, header, sizeof header - 1, eight, 8);
}

/* An array named text 0; with `others` also one with a field of that name, and a member that is not
 * an array. */
static inline void put_npz(struct dti_buffer *out, const struct texts *texts, bool others)
{
    struct build_zip zip;
    struct dti_buffer name, array;
    dti_buffer_init(&name);
    dti_buffer_init(&array);
    put_plain_npy(&array);
    dti_buffer_append(&name, texts->text[0], texts->length[0]);
    dti_buffer_puts(&name, ".npy");
    build_zip_begin(&zip, out);
    build_zip_member(&zip, name.data, name.length, array.data, array.length);
    if (others) {
        dti_buffer_clear(&array);
        put_npy(&array, texts, true);
        build_zip_member(&zip, "b.npy", 5, array.data, array.length);
        build_zip_member(&zip, texts->text[1], texts->length[1], "x", 1);
    }
    build_zip_end(&zip);
    dti_buffer_free(&name);
    dti_buffer_free(&array);
}

static inline void put_gguf(struct dti_buffer *out, const struct texts *texts)
{
    dti_buffer_puts(out, "GGUF");
    build_uint(out, 3, 4);
    build_uint(out, 2, 8); /* tensors */
    build_uint(out, 1, 8); /* entries of metadata */
    build_gguf_text(out, texts->text[1], texts->length[1]);
    build_uint(out, 8, 4);
    build_gguf_text(out, texts->text[2], texts->length[2]);
    for (unsigned i = 0; i < 2; i++) {
        const size_t length = texts->length[0] < 63 ? texts->length[0] : 63;
        build_gguf_text(out, i == 0 ? texts->text[0] : "q", i == 0 ? length : 1);
        build_uint(out, 1, 4);
        build_uint(out, i == 0 ? 2 : 32, 8);
        build_uint(out, i == 0 ? 0 : 8, 4); /* F32, Q8_0 */
        build_uint(out, 32 * i, 8);
    }
    while (out->length % 32 != 0)
        build_uint(out, 0, 1);
    dti_buffer_append(out, eight, 8);
    build_uint(out, 0, 8);
    build_uint(out, 0, 8);
    build_uint(out, 0, 8);
    for (unsigned i = 0; i < 34; i++)
        build_uint(out, i, 1);
}

static inline void put_index(struct dti_buffer *out, const struct texts *texts)
{
    dti_buffer_puts(out, "{\"metadata\":{},\"weight_map\":{");
    put_quoted(out, texts, 0);
    dti_buffer_puts(out, ":");
    put_quoted(out, texts, 1);
    dti_buffer_puts(out, "}}");
}

/* Creates the file selected by a letter and returns its path. */
static inline const char *make_file(char letter, const struct texts *texts)
{
    static const char *const names[] = {"ss.safetensors",
                                        "pp.npy",
                                        "dd.npy",
                                        "zz.npz",
                                        "oo.npz",
                                        "gg.gguf",
                                        "imodel.safetensors.index.json",
                                        "nn",
                                        "xx"};
    struct dti_buffer data;
    char name[128];
    size_t at = 0;
    while (names[at][0] != letter)
        at++;
    (void)snprintf(name, sizeof name, "%s", names[at] + 1);
    dti_buffer_init(&data);
    switch (letter) {
    case 's':
        put_safetensors(&data, texts);
        break;
    case 'p':
    case 'd':
        put_npy(&data, texts, letter == 'p');
        break;
    case 'z':
    case 'o':
        put_npz(&data, texts, letter == 'o');
        break;
    case 'g':
        put_gguf(&data, texts);
        break;
    case 'i':
        put_index(&data, texts);
        break;
    case 'n':
        for (at = 0; at < texts->length[0] && at < sizeof name - 6; at++)
            name[at] = strchr("/", texts->text[0][at]) ? '_' : texts->text[0][at];
        (void)snprintf(name + at, sizeof name - at, "%s", ".npy");
        put_plain_npy(&data);
        break;
    default:
        return fuzz_path(name);
    }
    REQUIRE(!data.failed);
    fuzz_write(name, data.data, data.length);
    dti_buffer_free(&data);
    return fuzz_path(name);
}

#endif
