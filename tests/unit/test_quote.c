/* SPDX-License-Identifier: MIT
 *
 * Quoting untrusted text, and the UTF-8 decoder underneath. */
#include "unit.h"
#include "util/error.h"
#include "util/text/utf8.h"

static const char *quoted(const char *text)
{
    static char buffer[DTI_QUOTE_SIZE];
    return dti_quote(buffer, text, strlen(text));
}

static void leaves_readable_text_alone(void)
{
    CHECK_STR(quoted(""), "''");
    CHECK_STR(quoted("bf61"), "'bf61'");
    CHECK_STR(quoted("caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80"),
              "'caf\xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80'");
}

static void escapes_what_a_terminal_would_obey(void)
{
    char buffer[DTI_QUOTE_SIZE];
    CHECK_STR(quoted("\x1b[31mred\n\x7f"), "'\\x1b[31mred\\x0a\\x7f'");
    CHECK_STR(dti_quote(buffer, "a\0b", 3), "'a\\x00b'");
    CHECK_STR(quoted("\xC2\x9B"
                     "31m"),
              "'\\u{9b}31m'"); /* C1: a one-character CSI */
    CHECK_STR(quoted("a\xE2\x80\xAE"
                     "b"),
              "'a\\u{202e}b'");                            /* right-to-left override */
    CHECK_STR(quoted("\xE2\x81\xA6"), "'\\u{2066}'");      /* isolate */
    CHECK_STR(quoted("\xEF\xBB\xBF"), "'\\u{feff}'");      /* byte order mark */
    CHECK_STR(quoted("\xF3\xA0\x81\x81"), "'\\u{e0041}'"); /* tag */
}

static void shows_the_bytes_of_what_is_not_utf8(void)
{
    CHECK_STR(quoted("\xFF\xFE"), "'\\xff\\xfe'");
    CHECK_STR(quoted("\xC0\x80"), "'\\xc0\\x80'");                   /* overlong NUL */
    CHECK_STR(quoted("\xED\xA0\x80"), "'\\xed\\xa0\\x80'");          /* surrogate */
    CHECK_STR(quoted("\xE2\x82"), "'\\xe2\\x82'");                   /* cut off */
    CHECK_STR(quoted("\xF4\x90\x80\x80"), "'\\xf4\\x90\\x80\\x80'"); /* above U+10FFFF */
}

static void cuts_after_sixty_characters(void)
{
    char text[200], want[220];
    memset(text, 'a', sizeof text);
    text[60] = '\0';
    snprintf(want, sizeof want, "'%s'", text);
    CHECK_STR(quoted(text), want);
    text[60] = 'a';
    text[61] = '\0';
    snprintf(want, sizeof want, "'%.60s...'", text);
    CHECK_STR(quoted(text), want);
}

static void never_overflows_the_buffer(void)
{
    /* each character takes nine, the longest escape: the buffer fills up before sixty of them */
    char text[4 * 60 + 1] = "", guarded[DTI_QUOTE_SIZE + 1];
    for (int i = 0; i < 60; i++)
        strcat(text, "\xF3\xA0\x81\x81");
    guarded[DTI_QUOTE_SIZE] = '#';
    dti_quote(guarded, text, strlen(text));
    CHECK(guarded[DTI_QUOTE_SIZE] == '#');
    CHECK(strlen(guarded) < DTI_QUOTE_SIZE);
    CHECK_STR(guarded + strlen(guarded) - 4, "...'");
}

/* Encodes according to the table in RFC 3629, as input for the decoder. */
static size_t encode(char out[4], uint32_t point)
{
    if (point < 0x80) {
        out[0] = (char)point;
        return 1;
    }
    const size_t size = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = size - 1; i > 0; i--) {
        out[i] = (char)(unsigned char)(0x80 | (point & 0x3F));
        point >>= 6;
    }
    out[0] = (char)(unsigned char)(lead[size] | point);
    return size;
}

static void decodes_every_code_point_and_refuses_surrogates(void)
{
    for (uint32_t point = 0; point <= 0x110FFF; point++) {
        char bytes[4];
        uint32_t got = 0;
        const size_t size = encode(bytes, point);
        const bool valid = point <= 0x10FFFF && !(point >= 0xD800 && point <= 0xDFFF);
        if (!CHECK_SIZE(dti_utf8_decode(bytes, size, &got), valid ? size : 0))
            return;
        if (valid && !CHECK_U64(got, point))
            return;
        if (size > 1 && !CHECK_SIZE(dti_utf8_decode(bytes, size - 1, &got), 0))
            return;
    }
}

static void refuses_overlong_forms(void)
{
    static const char *const overlong[] = {
        "\xC0\xAF",         "\xC1\xBF",         "\xE0\x80\xAF",        "\xE0\x9F\xBF",
        "\xF0\x80\x80\xAF", "\xF0\x8F\xBF\xBF", "\xF8\x88\x80\x80\x80"};
    for (size_t i = 0; i < sizeof overlong / sizeof overlong[0]; i++) {
        uint32_t point;
        CHECK_SIZE(dti_utf8_decode(overlong[i], strlen(overlong[i]), &point), 0);
    }
}

UNIT_MAIN(leaves_readable_text_alone, escapes_what_a_terminal_would_obey,
          shows_the_bytes_of_what_is_not_utf8, cuts_after_sixty_characters,
          never_overflows_the_buffer, decodes_every_code_point_and_refuses_surrogates,
          refuses_overlong_forms)
