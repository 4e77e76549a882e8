/* SPDX-License-Identifier: MIT
 *
 * The libcurl functions we call, loaded when the first address is opened. Types and constants
 * are libcurl's stable ABI (libcurl.so.4), so the build needs no curl headers. The test
 * curl_types compares them with curl.h if that is installed. */
#ifndef IO_NET_CURL_H
#define IO_NET_CURL_H

#include <stdbool.h>
#include <sys/socket.h>

#include "util/error.h"

/* clang-format off */
enum dti_curl_option {
#define CURL_OPTION(id, type, number) DTI_CURLOPT_##id = (type) + (number),
#define CURL_LONG 0
#define CURL_POINTER 10000
#define CURL_FUNCTION 20000
#include "io/net/curl_options.def"
#undef CURL_OPTION
    DTI_CURL_OPTIONS_END
};
/* clang-format on */

enum {
    DTI_CURLINFO_PRIMARY_IP = 0x100000 + 32,
    DTI_CURL_GLOBAL_DEFAULT = 3,
    DTI_CURL_HTTP_1_1 = 2,
    DTI_CURL_SOCKET_BAD = -1,
    DTI_CURL_ERROR_SIZE = 256,
};

/* Result codes that are handled specially. */
enum dti_curl_result {
    DTI_CURLE_OK = 0,
    DTI_CURLE_FAILED_INIT = 2,
    DTI_CURLE_COULDNT_RESOLVE_PROXY = 5,
    DTI_CURLE_COULDNT_RESOLVE_HOST = 6,
    DTI_CURLE_COULDNT_CONNECT = 7,
    DTI_CURLE_OUT_OF_MEMORY = 27,
    DTI_CURLE_OPERATION_TIMEDOUT = 28,
    DTI_CURLE_SSL_CERTPROBLEM = 58,
    DTI_CURLE_SSL_CIPHER = 59,
    DTI_CURLE_PEER_FAILED_VERIFICATION = 60,
    DTI_CURLE_SSL_CACERT_BADFILE = 77,
    DTI_CURLE_SSL_ISSUER_ERROR = 83,
    DTI_CURLE_SSL_INVALIDCERTSTATUS = 91,
};

struct dti_curl_sockaddr {
    int family;
    int socktype;
    int protocol;
    unsigned int addrlen;
    struct sockaddr addr;
};

struct dti_curl {
    int (*global_init)(long flags);
    void *(*easy_init)(void);
    int (*easy_setopt)(void *handle, int option, ...);
    int (*easy_perform)(void *handle);
    int (*easy_getinfo)(void *handle, int info, ...);
    void (*easy_cleanup)(void *handle);
    const char *(*easy_strerror)(int code);
    void *(*slist_append)(void *list, const char *text);
    void (*slist_free_all)(void *list);
};

/* Loads libcurl once. Fails with DTI_UNAVAILABLE and what to install. */
enum dti_status dti_curl_load(const struct dti_curl **ret, struct dti_error *reterr);

#endif
