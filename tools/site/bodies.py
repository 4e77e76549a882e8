# SPDX-License-Identifier: MIT
"""Pages of the site from Markdown and from man pages."""

import html
import re
import shlex
import subprocess
import urllib.parse

try:
    from markdown_it import MarkdownIt
except ImportError:
    MarkdownIt = None

# Commands that the page that computes has, and words by which an example is none for it.
RUNS = {"list", "info", "finfo", "iinfo", "cast", "calc", "bits"}
NO_RUN = re.compile(r"[|;<>@`&]|--from|--device|-o |\$\(|\.(safetensors|npy|npz|gguf|bin|pt)\b| - ")


def can_markdown():
    """Whether the library is here."""
    return MarkdownIt is not None


def plain(text):
    """HTML without its elements."""
    return re.sub(r"<[^>]+>", "", text)


def first_words(body):
    """The first sentences of a page, enough to say what it is about."""
    text = re.sub(r"\s+", " ", plain(re.search(r"<p>(.*?)</p>", body, re.DOTALL).group(1)))
    shown = ""
    for sentence in re.split(r"(?<=[.:]) ", text):
        if len(shown) > 60 or len(shown) + len(sentence) > 240:
            break
        shown += f" {sentence}"
    return shown.strip().rstrip(".:") + "."


def slug(title, used):
    """The anchor of a heading, as repositories on the web have it."""
    name = re.sub(r"[^\w\- ]", "", html.unescape(plain(title)).strip().lower()).replace(" ", "-")
    count = used.get(name, 0)
    used[name] = count + 1
    return f"{name}-{count}" if count else name


def with_anchors(body):
    """Gives each heading an anchor."""
    used = {}

    def mark(found):
        level, title = found.groups()
        return f'<h{level} id="{slug(title, used)}">{title}</h{level}>'
    return re.sub(r"<h([1-6])>(.*?)</h\1>", mark, body, flags=re.DOTALL)


def contents(body):
    """A list of the page's sections, if there are several."""
    found = re.findall(r'<h2(?: class="Sh")? id="([^"]+)">(.*?)</h2>', body)
    if len(found) < 5:
        return body
    rows = "\n".join(f'<li><a href="#{name}">{re.sub(r"</?a[^>]*>", "", title)}</a></li>' for name, title in found)
    return re.sub(r"(</h1>)", rf"\1\n<details class=\"contents\"><summary>Contents</summary>\n<ul>\n{rows}\n</ul></details>".replace(
        "\\\"", "\""), body, count=1)


def relinked(body, target):
    """A body with target(link) in place of each link outside code."""
    def one(found):
        return f'{found.group(1)}="{html.escape(target(html.unescape(found.group(2))))}"'
    return re.sub(r'(?<=[ \n])(href|src|srcset)="([^"]*)"', one, body)


def marked(body, markers):
    """A body with what the markers in it stand for."""
    return re.sub(r"<!-- site: (\w+) -->", lambda found: markers[found.group(1)](), body)


def markdown(text, markers, target):
    """The title and the body of a Markdown file; <!-- site: NAME --> becomes what markers[NAME]() returns, a link what
    target(link) returns."""
    body = MarkdownIt("commonmark", {"html": True}).enable("table").render(text)
    body = body.replace("<table>", '<div class="scroll"><table>').replace("</table>", "</table></div>")
    body = relinked(body, target)
    body = contents(with_anchors(re.sub(r"<!--.*?-->\n?", "", marked(body, markers), flags=re.DOTALL)))
    return html.unescape(plain(re.search(r"<h1[^>]*>(.*?)</h1>", body, re.DOTALL).group(1))), body


def manual(path, names):
    """The title, the summary and the body of a man page that the build made; names: all pages."""
    done = subprocess.run(["mandoc", "-T", "html", "-O", "fragment", str(path)], stdout=subprocess.PIPE, encoding="utf-8",
                          check=True)
    body = done.stdout[done.stdout.index('<div class="manual-text">'):]
    body = re.sub(r'<table class="foot">.*', "", body, flags=re.DOTALL)
    summary = re.sub(r"\s+", " ", plain(re.search(r'id="NAME".*?<p class="Pp">(.*?)</p>', body, re.DOTALL).group(1)))
    name, _, section = path.name.rpartition(".")
    body = re.sub(r"<h2 class=\"Ss\"(.*?)</h2>", r'<h3 class="Ss"\1</h3>', body, flags=re.DOTALL)
    body = re.sub(r"<h1 class=\"Sh\"(.*?)</h1>", r'<h2 class="Sh"\1</h2>', body, flags=re.DOTALL)
    body = re.sub(r"<table", '<div class="scroll"><table', body).replace("</table>", "</table></div>")

    def link(found):
        page = f"{found.group(1)}.{found.group(2)}"
        return f'<a href="{page}.html">{found.group(0)}</a>' if page in names and page != path.name else found.group(0)
    body = re.sub(r"<b>(dtinfo[a-z-]*)</b>\((\d)\)", link, body)
    body = re.sub(r"\bdocs/([a-z-]+)\.md\b", r'<a href="../\1.html">\1</a>', body)
    title = f"{name}({section})"
    return title, html.unescape(summary).split(" - ", 1)[-1], contents(f"<h1>{title}</h1>\n{body}")


def run_link(line, page):
    """The link of an example to the page that computes, if that can run it."""
    found = re.match(r"\$ dtinfo (\w+)(?: .*)?$", line)
    if not page or not found or found.group(1) not in RUNS or NO_RUN.search(line[2:]):
        return ""
    try:
        words = shlex.split(line)[2:]
    except ValueError:
        return ""
    return f' <a class="run" href="{page}#{urllib.parse.quote(shlex.join(words))}">run</a>'


def with_commands(body, page):
    """A body whose examples show which lines are commands, with links to the page that computes; page: None without it."""
    def one(found):
        line = html.unescape(plain(found.group(2)))
        return f'{found.group(1)}<b class="command">{found.group(2)}</b>{run_link(line, page)}'
    return re.sub(r"(?m)^(<pre>|<pre><code[^>]*>|)(\$ .+)$", one, body)
