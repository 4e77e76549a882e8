# SPDX-License-Identifier: MIT
"""Local servers for tests of URLs: HTTPS with their own certificate, or HTTP. They answer range requests from bytes or
a file, record every request, and misbehave as the test asks. Also the check counter that these tests use."""
import http.server
import os
import re
import shutil
import socket
import socketserver
import ssl
import subprocess
import threading
import time

checks = failures = 0


def check(good, *words):
    global checks, failures
    checks += 1
    if not good:
        failures += 1
        print("FAILED:", *words)


def end():
    """Returns the exit status."""
    print("%d checks, %d failures" % (checks, failures))
    return 1 if failures else 0


def environment(certificate):
    """The environment without variables that could send the program to other servers."""
    left_out = ("HF_TOKEN", "HF_ENDPOINT", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")
    kept = {k: v for k, v in os.environ.items() if "proxy" not in k.lower() and k not in left_out}
    return {**kept, "SSL_CERT_FILE": str(certificate)} if certificate else kept


class Resource:
    """The answer for a path. `hooks` are called in turn with (handler, first, last, resource) before an answer; a hook
    that returns True has sent the answer itself."""

    def __init__(self, content, tag='"one"', hooks=()):
        self.content, self.tag, self.hooks = content, tag, list(hooks)
        self.headers = {}

    def size(self):
        if isinstance(self.content, bytes):
            return len(self.content)
        self.content.seek(0, 2)
        return self.content.tell()

    def read(self, first, last):
        if isinstance(self.content, bytes):
            return self.content[first:last + 1]
        self.content.seek(first)
        return self.content.read(last - first + 1)


class Request:
    def __init__(self, path, first, last, headers):
        self.path, self.first, self.last, self.headers = path, first, last, headers
        self.sent = 0

    def token(self):
        return self.headers.get("Authorization")


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self):
        if self.server.context:
            self.request.settimeout(60)
            self.request = self.server.context.wrap_socket(self.request, server_side=True)
        super().setup()

    def finish(self):
        try:
            super().finish()
        except (OSError, ValueError):
            pass

    def log_message(self, *_):
        pass

    def begin(self, status, headers):
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, str(value))
        self.end_headers()

    def answer(self, status, headers=None, body=b""):
        self.begin(status, {"Content-Length": len(body), **(headers or {})})
        self.wfile.write(body)

    def cut(self):
        """Drops the connection in mid-answer."""
        self.wfile.flush()
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.close_connection = True

    def range_headers(self, resource, first, last):
        headers = {"Content-Range": "bytes %d-%d/%d" % (first, last, resource.size()),
                   "Content-Length": last - first + 1, "Accept-Ranges": "bytes"}
        if resource.tag:
            headers["ETag"] = resource.tag
        headers.update(resource.headers)
        return headers

    def do_GET(self):
        match = re.fullmatch(r"bytes=(\d+)-(\d+)", self.headers.get("Range", ""))
        first, last = (int(match[1]), int(match[2])) if match else (0, None)
        with self.server.lock:
            self.record = Request(self.path, first, last, dict(self.headers))
            self.server.requests.append(self.record)
        resource = self.server.resources.get(self.path)
        try:
            self.serve(resource, first, last)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def serve(self, resource, first, last):
        if resource is None:
            self.answer(404, body=b"no such file")
            return
        if callable(resource):
            resource(self)
            return
        for hook in resource.hooks:
            if hook(self, first, last, resource):
                return
        size = resource.size()
        if first >= size:
            self.answer(416, {"Content-Range": "bytes */%d" % size})
            return
        last = min(last, size - 1)
        self.begin(206, self.range_headers(resource, first, last))
        for at in range(first, last + 1, 1 << 20):
            with self.server.lock:
                piece = resource.read(at, min(at + (1 << 20) - 1, last))
            self.record.sent += len(piece)  # before the client can have seen it
            self.wfile.write(piece)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64  # of many clients at a time none waits for a second to be heard

    def __init__(self, context=None):
        super().__init__(("127.0.0.1", 0), Handler)
        self.context, self.resources, self.requests, self.lock = context, {}, [], threading.Lock()
        threading.Thread(target=self.serve_forever, args=(0.05,), daemon=True).start()

    def handle_error(self, *_):
        pass

    def get_request(self):
        connection, address = super().get_request()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection, address

    def base(self, host="127.0.0.1"):
        return "%s://%s:%d" % ("https" if self.context else "http", host, self.server_address[1])

    def take(self):
        """The requests since the last call."""
        with self.lock:
            taken, self.requests = self.requests, []
        return taken


def make_certificate(folder, name="test"):
    """(context, certificate path) for 127.0.0.1 and localhost, or None without openssl(1)."""
    openssl = shutil.which("openssl")
    if not openssl:
        return None
    key, certificate = folder / (name + ".key"), folder / (name + ".pem")
    made = subprocess.run(
        [openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", key,
         "-out", certificate, "-days", "2", "-subj", "/CN=" + name, "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    if made.returncode != 0:
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context, certificate


# Hooks: ways to misbehave.
def redirect(location, status=302, **headers):
    def hook(handler):
        handler.answer(status, {"Location": location, **{k.replace("_", "-"): v for k, v in headers.items()}})
    return hook


def times(count, hook):
    """Applies the hook to the first `count` requests only."""
    left = [count]

    def limited(*arguments):
        if left[0] == 0:
            return False
        left[0] -= 1
        return hook(*arguments)
    return limited


def after(count, hook):
    """Applies the hook to all requests except the first `count`."""
    seen = [0]

    def late(*arguments):
        seen[0] += 1
        return seen[0] > count and hook(*arguments)
    return late


def status(code, **headers):
    def hook(handler, *_):
        handler.answer(code, {k.replace("_", "-"): v for k, v in headers.items()}, b"words of an error")
        return True
    return hook


def cut_after(bytes_sent):
    """Sends the head and some bytes, then drops the connection."""
    def hook(handler, first, last, resource):
        last = min(last, resource.size() - 1)
        if last - first + 1 <= bytes_sent:
            return False
        handler.begin(206, handler.range_headers(resource, first, last))
        handler.wfile.write(resource.read(first, first + bytes_sent - 1))
        handler.record.sent += bytes_sent
        handler.cut()
        return True
    return hook


def slowly(pause, pieces):
    def hook(handler, first, last, resource):
        last = min(last, resource.size() - 1)
        body = resource.read(first, last)
        handler.begin(206, handler.range_headers(resource, first, last))
        step = max(1, len(body) // pieces)
        for at in range(0, len(body), step):
            handler.wfile.write(body[at:at + step])
            handler.wfile.flush()
            time.sleep(pause)
        return True
    return hook


def trickle(count):
    """Sends the head and some bytes, then nothing more while the client waits."""
    def hook(handler, first, last, resource):
        last = min(last, resource.size() - 1)
        handler.begin(206, handler.range_headers(resource, first, last))
        handler.wfile.write(resource.read(first, first + count - 1))
        handler.wfile.flush()
        time.sleep(40)
        handler.cut()
        return True
    return hook


def drops(count):
    """Sends the head, then this many bytes each second as long as the client waits."""
    def hook(handler, first, last, resource):
        last = min(last, resource.size() - 1)
        handler.begin(206, handler.range_headers(resource, first, last))
        for at in range(first, last + 1, count):
            handler.wfile.write(resource.read(at, min(at + count - 1, last)))
            handler.wfile.flush()
            time.sleep(1)
        return True
    return hook


def silence(seconds):
    def hook(handler, *_):
        time.sleep(seconds)
        handler.cut()
        return True
    return hook


def lie(change, body=None):
    """Replaces the headers with `change(headers, first, last, size)`."""
    def hook(handler, first, last, resource):
        last = min(last, resource.size() - 1)
        headers = handler.range_headers(resource, first, last)
        code = change(headers, first, last, resource.size()) or 206
        handler.begin(code, headers)
        handler.wfile.write(resource.read(first, last) if body is None else body)
        handler.cut()
        return True
    return hook
