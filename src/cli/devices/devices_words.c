/* SPDX-License-Identifier: MIT
 *
 * Figures of devices as people read them. */
#include <stdio.h>
#include <string.h>

#include "cli/devices/devices_page.h"
#include "cli/shared/human.h"
#include "dtinfo/escape.h"

void dti_devices_number(struct dti_buffer *text, uint64_t number)
{
    char digits[DTI_TEXT_SIZE];
    dti_buffer_append(text, digits, dti_spell_u64(digits, number));
}

void dti_devices_count(struct dti_buffer *text, uint64_t number, const char *one, const char *many)
{
    dti_devices_number(text, number);
    dti_buffer_puts(text, " ");
    dti_buffer_puts(text, number == 1 ? one : many);
}

void dti_devices_bytes(struct dti_buffer *text, uint64_t bytes)
{
    static const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    char words[DTI_TEXT_SIZE];
    for (size_t i = 4; i-- > 0;) {
        const unsigned shift = 10 * (unsigned)(i + 1);
        const uint64_t whole = bytes >> shift;
        if (whole > 0 && whole < 1024 && whole << shift == bytes) {
            dti_devices_number(text, whole);
            dti_buffer_puts(text, " ");
            dti_buffer_puts(text, units[i]);
            return;
        }
    }
    dti_buffer_puts(text, dti_human_bytes(words, bytes));
}

void dti_devices_hertz(struct dti_buffer *text, uint64_t hertz)
{
    const uint64_t giga = 1000000000, mega = 1000000;
    char words[DTI_TEXT_SIZE];
    if (hertz >= giga) {
        const uint64_t hundredths = hertz / (giga / 100) + (hertz % (giga / 100) >= giga / 200);
        (void)snprintf(words, sizeof words, "%llu.%02u GHz", (unsigned long long)(hundredths / 100),
                       (unsigned)(hundredths % 100));
    } else {
        (void)snprintf(words, sizeof words, "%llu MHz",
                       (unsigned long long)((hertz + mega / 2) / mega));
    }
    dti_buffer_puts(text, words);
}

void dti_devices_safe(struct dti_buffer *text, const char *foreign)
{
    dti_escape(text, foreign, strlen(foreign));
}

void dti_devices_model(struct dti_buffer *text, const struct dti_machine *machine)
{
    if (machine->model[0] != '\0')
        dti_devices_safe(text, machine->model);
    else if (machine->vendor[0] != '\0')
        dti_devices_safe(text, machine->vendor);
    else if (machine->architecture[0] != '\0')
        dti_devices_safe(text, machine->architecture);
    else
        dti_buffer_puts(text, "unknown processor");
}

void dti_devices_cache(struct dti_buffer *text, const struct dti_cache_facts *cache)
{
    const char type[] = {cache->type == 'u' ? '\0' : cache->type, '\0'};
    dti_buffer_puts(text, "L");
    dti_devices_number(text, cache->level);
    dti_buffer_puts(text, type);
}
