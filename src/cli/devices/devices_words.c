/* SPDX-License-Identifier: MIT
 *
 * Figures of devices as people read them. */
#include <stdio.h>
#include <string.h>

#include "cli/devices/devices_page.h"
#include "cli/shared/human.h"
#include "dtinfo/escape.h"

/* Where the next fact begins. */
static void begin(struct dti_buffer *text, const char *before)
{
    if (text->length > 0 && text->data[text->length - 1] != '(')
        dti_buffer_puts(text, ", ");
    dti_buffer_puts(text, before);
}

void dti_devices_count(struct dti_buffer *text, const char *before, uint64_t number,
                       const char *one, const char *many)
{
    char digits[DTI_TEXT_SIZE];
    const char *const what = number == 1 ? one : many;
    if (number == DTI_UNKNOWN)
        return;
    begin(text, before);
    dti_buffer_append(text, digits, dti_spell_u64(digits, number));
    dti_buffer_puts(text, what[0] != '\0' ? " " : "");
    dti_buffer_puts(text, what);
}

const char *dti_devices_size(char buffer[DTI_TEXT_SIZE], uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    for (size_t i = 4; i-- > 0;) {
        const unsigned shift = 10 * (unsigned)(i + 1);
        const uint64_t whole = bytes >> shift;
        if (whole > 0 && whole < 1024 && whole << shift == bytes) {
            (void)snprintf(buffer, DTI_TEXT_SIZE, "%u %s", (unsigned)whole, units[i]);
            return buffer;
        }
    }
    return dti_human_bytes(buffer, bytes);
}

void dti_devices_bytes(struct dti_buffer *text, const char *before, uint64_t bytes,
                       const char *after)
{
    char words[DTI_TEXT_SIZE];
    if (bytes == DTI_UNKNOWN)
        return;
    begin(text, before);
    dti_buffer_puts(text, dti_devices_size(words, bytes));
    dti_buffer_puts(text, after);
}

void dti_devices_hertz(struct dti_buffer *text, const char *before, uint64_t hertz)
{
    const uint64_t giga = 1000000000, mega = 1000000;
    char words[DTI_TEXT_SIZE];
    if (hertz == DTI_UNKNOWN)
        return;
    if (hertz >= giga) {
        const uint64_t hundredths = hertz / (giga / 100) + (hertz % (giga / 100) >= giga / 200);
        (void)snprintf(words, sizeof words, "%llu.%02u GHz", (unsigned long long)(hundredths / 100),
                       (unsigned)(hundredths % 100));
    } else {
        (void)snprintf(words, sizeof words, "%llu MHz",
                       (unsigned long long)((hertz + mega / 2) / mega));
    }
    begin(text, before);
    dti_buffer_puts(text, words);
}

void dti_devices_words(struct dti_buffer *text, const char *before, const char *foreign)
{
    if (foreign[0] == '\0')
        return;
    begin(text, before);
    dti_escape(text, foreign, strlen(foreign));
}

const char *dti_devices_cache(char buffer[DEVICES_CACHE_SIZE], const struct dti_cache_facts *cache)
{
    const char type[] = {cache->type == 'u' ? '\0' : cache->type, '\0'};
    (void)snprintf(buffer, DEVICES_CACHE_SIZE, "L%u%s", (unsigned)cache->level, type);
    return buffer;
}
