# SPDX-License-Identifier: MIT
"""Formats the members of JSON documents, from their schemas, as lines of a man page."""

import json
import re


def scd(text):
    """Escapes scdoc markup and backslashes. An underscore inside a word is not markup."""
    return re.sub(r"[\\*`#~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])", r"\\\g<0>", text)


def bold(text):
    return "*" + scd(text) + "*"


SHARED = {"number": "a number", "neighbour": "a neighbour", "fields": "fields", "name": "a name", "names": "names",
          "warning": "a warning"}


class Schemas:
    """The members of the documents, from the JSON Schema files."""

    def __init__(self, folder):
        self.files = {path.name: json.loads(path.read_text(encoding="utf-8"))
                      for path in folder.glob("*.json") if not path.name.startswith("check-")}

    def resolve(self, node, home):
        """Follows references. Returns the node, its common name if it is a shared one, and its file."""
        while "$ref" in node:
            where, _, pointer = node["$ref"].partition("#")
            home = where or home
            target = self.files[home]
            for part in pointer.strip("/").split("/"):
                target = target[part]
            name = pointer.rsplit("/", 1)[-1]
            if home == "common.schema.json" and name in SHARED:
                return target, SHARED[name], home
            node = {**target, **{key: node[key] for key in node if key != "$ref"}}
        return node, None, home

    def describe(self, node, home):
        """Returns the type in words, the node whose members follow, if any, and its file."""
        node, shared, home = self.resolve(node, home)
        if shared:
            return shared, None, home
        if "anyOf" in node and "type" not in node:
            words, inner = [], None
            for choice in node["anyOf"]:
                word, nested, nested_home = self.describe(choice, home)
                words.append(word)
                if nested:
                    inner, home = nested, nested_home
            return " or ".join(words), inner, home
        if "enum" in node:
            return " or ".join("null" if v is None else scd(v) for v in node["enum"]), None, home
        if "const" in node:
            return scd(f"\"{node['const']}\""), None, home
        kinds = node["type"] if isinstance(node["type"], list) else [node["type"]]
        if "array" in kinds:
            word, inner, home = self.describe(node["items"], home)
            many = word.removeprefix("a ") + "s"
            return f"array of {many}", {"items": inner} if inner else None, home
        return " or ".join(kinds), node if "properties" in node else None, home

    def members(self, node, home, prefix=""):
        for key, member in node["properties"].items():
            word, inner, inner_home = self.describe(member, home)
            text = self.resolve(member, home)[0].get("description") or ""
            if word in SHARED.values() and "description" not in member:
                text = ""
            twin = next((sister for sister, other in node["properties"].items()
                         if "$ref" in member and other == member and inner), key)
            if twin != key:
                yield prefix + key, word, f"the same members as {twin}"
                continue
            yield prefix + key, word, text
            if inner and "items" in inner:
                yield from self.members(inner["items"], inner_home, f"{prefix}{key}[].")
            elif inner:
                yield from self.members(inner, inner_home, f"{prefix}{key}.")

    def lines(self, node, home):
        out = []
        for path, word, text in self.members(node, home):
            if path in ("schema", "dtinfo"):
                continue
            out.append(f"{bold(path).replace('[', chr(92) + '[')} ({word})")
            out += ["\t" + scd(text), ""] if text else [""]
        return out[:-1]
