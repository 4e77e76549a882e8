/* SPDX-License-Identifier: MIT
 *
 * Valid and invalid spellings of addresses. */
#include "io/net/address.h"

#include "io/net/names.h"
#include "io/net/remote.h"
#include "tally.h"
#include "unit.h"
#include "util/run/allocate.h"

static const char letters[] = "the address contains characters that must be written as %XX",
                  percent[] = "the address contains a % that no two hexadecimal digits follow",
                  user[] = "the address contains a user name or a password",
                  no_host[] = "the address has no host",
                  bad_host[] = "the host contains characters that no host has",
                  bad_v4[] = "the host is not an IPv4 address of four numbers",
                  bad_v6[] = "the host in brackets is not an IPv6 address",
                  port[] = "the port is not a number from 1 to 65535",
                  plain[] = "http:// is not encrypted and is for this machine alone; use https://",
                  scheme[] = "only https:// and hf:// addresses are read; download the file first",
                  hash[] = "the address contains a #, which must be written as %23",
                  lowered[] = "the server redirects to an address that is not https://",
                  form[] = "expected hf://org/model/file or hf://org/model@revision/file",
                  name[] = "name a file of the model, as in hf://org/model/model.safetensors",
                  parts[] = "the path of the file contains an empty part, . or ..",
                  models[] = "only files of models are read from the hub";

/* url: the requested URL; why: the reason if the address is refused. */
struct row {
    const char *text, *url, *why;
};

static void check_row(const struct row *row, const char *why, struct dti_address *address)
{
    if (!CHECK_STR(why, row->why))
        printf("... of %s\n", row->text);
    if (why)
        return;
    if (!CHECK_STR(address->url, row->url))
        printf("... of %s\n", row->text);
    dti_address_free(address);
}

static void addresses_have_one_spelling(void)
{
    static const struct row rows[] = {
        {"https://host/a", "https://host/a", NULL},
        {"https://HOST.Example:443/A", "https://host.example/A", NULL},
        {"https://host:8443", "https://host:8443/", NULL},
        {"https://host?x=/a@b:c", "https://host/?x=/a@b:c", NULL},
        {"https://host./a", "https://host/a", NULL},
        {"https://[2001:DB8::1]:444/a", "https://[2001:db8::1]:444/a", NULL},
        {"https://10.1.2.3/a%20b", "https://10.1.2.3/a%20b", NULL},
        {"http://127.0.0.1:80/a", "http://127.0.0.1/a", NULL},
        {"http://127.255.255.254/a", "http://127.255.255.254/a", NULL},
        {"http://[::1]:8080/a", "http://[::1]:8080/a", NULL},
        {"http://localhost:1/a", "http://localhost:1/a", NULL},
        {"https://h/a@b:c", "https://h/a@b:c", NULL},
        {"https://h:/a", NULL, port},
        {"https://h:0/a", NULL, port},
        {"https://h:65536/a", NULL, port},
        {"https://h:123456/a", NULL, port},
        {"https://h:-1/a", NULL, port},
        {"https://h:80:80/a", NULL, port},
        {"https://user@h/a", NULL, user},
        {"https://user:password@h/a", NULL, user},
        {"https://@h/a", NULL, user},
        {"https://h%40x/a", NULL, bad_host},
        {"https:///a", NULL, no_host},
        {"https://", NULL, no_host},
        {"https://:80/a", NULL, no_host},
        {"https://h/a b", NULL, letters},
        {"https://h/a\nb", NULL, letters},
        {"https://h/\xc3\xa4", NULL, letters},
        {"https://h\\x/a", NULL, letters},
        {"https://h/a\"", NULL, letters},
        {"https://h/%", NULL, percent},
        {"https://h/%2", NULL, percent},
        {"https://h/%2g", NULL, percent},
        {"https://h/a#b", NULL, hash},
        {"https://127.1/a", NULL, bad_v4},
        {"https://2130706433/a", NULL, bad_v4},
        {"https://0x7f.0.0.1/a", NULL, bad_v4},
        {"https://0x7f000001/a", NULL, bad_v4},
        {"https://1.2.3.4.5/a", NULL, bad_v4},
        {"https://1.2.3.256/a", NULL, bad_v4},
        {"https://../a", NULL, bad_v4},
        {"https://[::1/a", NULL, bad_v6},
        {"https://[::1]x/a", NULL, bad_v6},
        {"https://[127.0.0.1]/a", NULL, bad_v6},
        {"https://[fe80::1%25eth0]/a", NULL, bad_host},
        {"https://[g::1]/a", NULL, bad_v6},
        {"https://[]/a", NULL, no_host},
        {"https://h$/a", NULL, bad_host},
        {"http://h/a", NULL, plain},
        {"http://128.0.0.1/a", NULL, plain},
        {"http://[::2]/a", NULL, plain},
        {"http://localhost.example/a", NULL, plain},
        {"http://notlocalhost/a", NULL, plain},
        {"http://127.0.0.1.example/a", NULL, plain},
        {"ftp://h/a", NULL, scheme},
        {"HTTPS://h/a", NULL, scheme},
        {"https:/h/a", NULL, scheme},
        {"", NULL, scheme},
    };
    struct dti_address address;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i], dti_address_parse(&address, rows[i].text), &address);
    char *const text = malloc(9000);
    memset(text, 'a', 8999);
    memcpy(text, "https://h/", 10);
    text[8999] = '\0';
    CHECK_STR(dti_address_parse(&address, text), "the address is too long");
    text[8000] = '\0';
    memset(text + 8, 'h', 300);
    CHECK_STR(dti_address_parse(&address, text), no_host);
    free(text);
}

static void redirects_stay_encrypted(void)
{
    static const struct row rows[] = {
        {"https://other/x", "https://other/x", NULL},
        {"HTTPS://Other/x", "https://other/x", NULL},
        {"//other:44/x?y", "https://other:44/x?y", NULL},
        {"/x", "https://h:1/x", NULL},
        {"/x#fragment", "https://h:1/x", NULL},
        {"x", "https://h:1/a/x", NULL},
        {"x:y", NULL, lowered},
        {"h2:y", NULL, lowered},
        {"git+x.y-z:y", NULL, lowered},
        {"2h:y", "https://h:1/a/2h:y", NULL},
        {"./x:y", "https://h:1/a/./x:y", NULL},
        {"../x", "https://h:1/a/../x", NULL},
        {"?z", "https://h:1/a/b?z", NULL},
        {"", "https://h:1/a/", NULL},
        {"http://other/x", NULL, lowered},
        {"http://127.0.0.1/x", NULL, lowered},
        {"file:///etc/passwd", NULL, lowered},
        {"https://u:p@h/x", NULL, user},
        {"https:x", NULL, scheme},
        {"/a b", NULL, letters},
        {"/a\r\nHost: x", NULL, letters},
    };
    struct dti_address from, to;
    if (!CHECK(!dti_address_parse(&from, "https://h:1/a/b?q=/c")))
        return;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i], dti_address_redirected(&to, &from, rows[i].text), &to);
    dti_address_free(&from);
}

static void the_hub_has_addresses_of_its_own(void)
{
    static const struct row rows[] = {
        {"hf://org/model/f.x", "https://hub/org/model/resolve/main/f.x", NULL},
        {"hf://o.r-g/m_1/a/b.x", "https://hub/o.r-g/m_1/resolve/main/a/b.x", NULL},
        {"hf://o/m@v1.0/f", "https://hub/o/m/resolve/v1.0/f", NULL},
        {"hf://o/m/a@b", "https://hub/o/m/resolve/main/a%40b", NULL},
        {"hf://o/m/a b?c#d%/\xc3\xa4", "https://hub/o/m/resolve/main/a%20b%3Fc%23d%25/%C3%A4",
         NULL},
        {"hf://o/m/...", "https://hub/o/m/resolve/main/...", NULL},
        {"hf://o/m", NULL, name},
        {"hf://o/m/", NULL, name},
        {"hf://o/m@v", NULL, name},
        {"hf://o", NULL, name},
        {"hf://", NULL, form},
        {"hf:///m/f", NULL, form},
        {"hf://o//f", NULL, form},
        {"hf://../m/f", NULL, form},
        {"hf://o/../f", NULL, form},
        {"hf://o/m@/f", NULL, form},
        {"hf://o/m@../f", NULL, form},
        {"hf://o/m@a@b/f", NULL, form},
        {"hf://o/m?x/f", NULL, form},
        {"hf://o%2f/m/f", NULL, form},
        {"hf://o/m/a/../f", NULL, parts},
        {"hf://o/m/./f", NULL, parts},
        {"hf://o/m/..", NULL, parts},
        {"hf://o/m/a//f", NULL, parts},
        {"hf://o/m/a/", NULL, name},
        {"hf://datasets/o/m/f", NULL, models},
        {"hf://spaces/o/m/f", NULL, models},
    };
    struct dti_address address;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i], dti_address_of_hf(&address, rows[i].text, "https://hub//", NULL),
                  &address);
    CHECK_STR(dti_address_of_hf(&address, "hf://o/m/f", "http://hub", NULL), plain);
    static const struct row pinned[] = {
        {"hf://o/m/a b", "https://hub/o/m/resolve/123abc/a%20b", NULL},
        {"hf://o/m@v1/f", "https://hub/o/m/resolve/123abc/f", NULL},
        {"hf://o/m@../f", NULL, form},
    };
    for (size_t i = 0; i < sizeof pinned / sizeof *pinned; i++)
        check_row(&pinned[i], dti_address_of_hf(&address, pinned[i].text, "https://hub", "123abc"),
                  &address);
}

static void models_of_the_hub_are_described(void)
{
    static const char description[] = "https://hub/x/api/models/o/m/revision/main";
    static const struct row rows[] = {
        {"hf://o/m", description, NULL},
        {"hf://o/m@v1", "https://hub/x/api/models/o/m/revision/v1", NULL},
        {"hf://o/..", NULL, form},
        {"hf://o/m@..", NULL, form},
        {"hf://o/m@a@b", NULL, form},
        {"hf://datasets/o", NULL, models},
    };
    static const char *const without_file[] = {"hf://o/m", "hf://o/m/", "hf://o/m@v"},
                             *const others[] = {"hf://o",      "hf://o/",     "hf://o/m/f",
                                                "hf://o//",    "hf://",       "hf://o/m//",
                                                "https://o/m", "hf://o/m@v/f"};
    struct dti_address address;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i], dti_address_of_hub(&address, rows[i].text, "https://hub/x/"), &address);
    for (size_t i = 0; i < sizeof without_file / sizeof *without_file; i++)
        CHECK(dti_is_hub_model(without_file[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        CHECK(!dti_is_hub_model(others[i]));
}

static void places_of_hosts_are_known(void)
{
    static const struct {
        const char *text;
        enum dti_host_place place;
    } rows[] = {
        {"8.8.8.8", DTI_HOST_PUBLIC},
        {"9.255.255.255", DTI_HOST_PUBLIC},
        {"10.0.0.0", DTI_HOST_PRIVATE},
        {"10.255.255.255", DTI_HOST_PRIVATE},
        {"11.0.0.0", DTI_HOST_PUBLIC},
        {"0.0.0.0", DTI_HOST_PRIVATE},
        {"100.63.255.255", DTI_HOST_PUBLIC},
        {"100.64.0.1", DTI_HOST_PRIVATE},
        {"100.127.255.255", DTI_HOST_PRIVATE},
        {"100.128.0.0", DTI_HOST_PUBLIC},
        {"126.255.255.255", DTI_HOST_PUBLIC},
        {"127.0.0.1", DTI_HOST_LOOPBACK},
        {"169.253.255.255", DTI_HOST_PUBLIC},
        {"169.254.169.254", DTI_HOST_LINK},
        {"172.15.255.255", DTI_HOST_PUBLIC},
        {"172.16.0.0", DTI_HOST_PRIVATE},
        {"172.31.255.255", DTI_HOST_PRIVATE},
        {"172.32.0.0", DTI_HOST_PUBLIC},
        {"192.0.0.1", DTI_HOST_PRIVATE},
        {"192.168.1.1", DTI_HOST_PRIVATE},
        {"192.169.0.0", DTI_HOST_PUBLIC},
        {"198.19.0.1", DTI_HOST_PRIVATE},
        {"223.255.255.255", DTI_HOST_PUBLIC},
        {"224.0.0.1", DTI_HOST_PRIVATE},
        {"255.255.255.255", DTI_HOST_PRIVATE},
        {"::1", DTI_HOST_LOOPBACK},
        {"::", DTI_HOST_PRIVATE},
        {"::ffff:127.0.0.1", DTI_HOST_LOOPBACK},
        {"::ffff:8.8.8.8", DTI_HOST_PUBLIC},
        {"::127.0.0.1", DTI_HOST_LOOPBACK},
        {"64:ff9b::10.0.0.1", DTI_HOST_PRIVATE},
        {"2002:a00:1::1", DTI_HOST_PRIVATE},
        {"2002:808:808::1", DTI_HOST_PUBLIC},
        {"2606:4700::1", DTI_HOST_PUBLIC},
        {"fe80::1", DTI_HOST_LINK},
        {"febf::1", DTI_HOST_LINK},
        {"fc00::1", DTI_HOST_PRIVATE},
        {"fdff::1", DTI_HOST_PRIVATE},
        {"ff02::1", DTI_HOST_PRIVATE},
        {"host", DTI_HOST_NAMED},
        {"1.2.3", DTI_HOST_NAMED},
        {"", DTI_HOST_NAMED},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!CHECK_U64((uint64_t)dti_host_place_of(rows[i].text), (uint64_t)rows[i].place))
            printf("... of %s\n", rows[i].text);
    }
    CHECK(dti_host_may_lead(DTI_HOST_LOOPBACK, DTI_HOST_LOOPBACK));
    CHECK(!dti_host_may_lead(DTI_HOST_LOOPBACK, DTI_HOST_LINK));
    CHECK(!dti_host_may_lead(DTI_HOST_PUBLIC, DTI_HOST_LOOPBACK));
    CHECK(dti_host_may_lead(DTI_HOST_PRIVATE, DTI_HOST_PUBLIC));
}

static void tokens_go_to_one_host(void)
{
    static const char *const others[] = {"https://h:444/x", "https://g/x", "https://h.g/x"};
    struct dti_address a, b;
    if (!CHECK(!dti_address_parse(&a, "https://h/a") && !dti_address_parse(&b, "https://H:443/b")))
        return;
    CHECK(dti_address_same_host(&a, &b));
    dti_address_free(&b);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (CHECK(!dti_address_parse(&b, others[i])))
            CHECK(!dti_address_same_host(&a, &b));
        dti_address_free(&b);
    }
    dti_address_free(&a);
}

/* The most addresses with a query that a caller keeps, and one more. Each is freed once. */
static void queries_are_kept_for_a_caller(void)
{
    enum { MOST = 64 };
    struct tally tally = {0};
    struct dti_caller caller = tally_caller(&tally);
    struct dti_call call;
    char shown[24], whole[24];
    dti_call_begin(&call, &caller);
    for (unsigned i = 0; i <= MOST; i++) {
        (void)snprintf(shown, sizeof shown, "https://h/%u", i);
        (void)snprintf(whole, sizeof whole, "https://h/%u?key", i);
        CHECK_U64(dti_remote_keep_query(shown, dti_strdup(whole), NULL),
                  i < MOST ? DTI_OK : DTI_USAGE);
    }
    CHECK_STR(dti_remote_whole("https://h/63"), "https://h/63?key");
    CHECK_STR(dti_remote_whole("https://h/64"), "https://h/64");
    dti_call_end(&call);
    tally_is_even(&caller, &tally);
}

UNIT_MAIN(queries_are_kept_for_a_caller, addresses_have_one_spelling, redirects_stay_encrypted,
          the_hub_has_addresses_of_its_own, models_of_the_hub_are_described,
          places_of_hosts_are_known, tokens_go_to_one_host)
