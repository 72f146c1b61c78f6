"""Prints what newsmlg2 reads from each file that standard input names, as one JSON document per line."""

import contextlib
import json
import os
import sys

import NewsMLG2


def text(parent, name):
    """The text of an optional element. The library's magic methods raise an error for a missing one."""
    try:
        value = str(getattr(parent, name)).strip()
    except AttributeError:
        return None
    return value if value and not value.startswith("<") else None


def attribute(parent, name):
    try:
        return getattr(parent, name) or None
    except AttributeError:
        return None


def read(path):
    item = NewsMLG2.NewsMLG2Document(path).get_item()
    meta, content = attribute(item, "itemmeta"), attribute(item, "contentmeta")
    status = attribute(attribute(meta, "pubstatus"), "qcode")
    return {
        "kind": type(item).__name__, "id": attribute(item, "guid"), "version": attribute(item, "version"),
        "status": status.split(":")[-1] if status else None, "embargoed": text(meta, "embargoed"),
        "headlines": [str(line) for line in attribute(content, "headline") or [] if not str(line).startswith("<")],
    }


for line in sys.stdin:
    path = line.rstrip("\n")
    result = {"path": path, "headlines": []}
    try:
        # The library prints messages about catalogs that it does not fetch.
        with open(os.devnull, "w") as quiet, contextlib.redirect_stdout(quiet):
            result.update(read(path))
    except Exception:
        pass
    print(json.dumps(result))
