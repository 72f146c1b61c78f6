"""Prints what feedparser reads from each file of some folders, as one JSON document per line.

Texts are plain, with white space collapsed. Addresses are resolved against http://corpus.example/feeds/."""

import calendar
import html.parser
import json
import pathlib
import sys

import feedparser

HIDDEN = {"script", "style", "iframe", "noscript", "template", "svg", "math"}
INLINE = set(
    "a abbr acronym b bdi bdo big cite code del dfn em font i img ins kbd label mark q s samp small span strike strong sub sup"
    " tt u var wbr".split())


class Text(html.parser.HTMLParser):
    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.parts, self.hidden = [], 0

    def handle_starttag(self, tag, attributes):
        if tag in HIDDEN:
            self.hidden += 1
        elif tag not in INLINE:
            self.parts.append(" ")

    def handle_endtag(self, tag):
        if tag in HIDDEN:
            self.hidden = max(self.hidden - 1, 0)
        elif tag not in INLINE:
            self.parts.append(" ")

    def handle_data(self, data):
        if not self.hidden:
            self.parts.append(data)


def plain(entry, field):
    value = dict.get(entry, field)
    if not isinstance(value, str):
        return None
    if entry.get(field + "_detail", {}).get("type") in ("text/html", "application/xhtml+xml"):
        text = Text()
        text.feed(value)
        text.close()
        value = "".join(text.parts)
    return " ".join(value.split()) or None


def seconds(entry, field):
    parsed = dict.get(entry, field + "_parsed")
    try:
        return calendar.timegm(parsed) if parsed else None
    except (ValueError, OverflowError):
        return None


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    feed = feedparser.parse(
        data, sanitize_html=False, resolve_relative_uris=True,
        response_headers={"content-location": "http://corpus.example/feeds/feed.xml"})
    return {
        "path": path, "version": feed.get("version", ""), "title": plain(feed.feed, "title"),
        "entries": [
            {
                "id": " ".join((dict.get(entry, "id") or "").split()) or None, "title": plain(entry, "title"),
                # A summary without details is a copy of the content.
                "summary": plain(entry, "summary") if "summary_detail" in entry else None, "link": dict.get(entry, "link"), "published": seconds(entry, "published"),
                "updated": seconds(entry, "updated"), "created": seconds(entry, "created"),
            } for entry in feed.entries
        ],
    }


for folder in sys.argv[1:]:
    for path in sorted(pathlib.Path(folder).rglob("*.xml")):
        try:
            result = read(str(path))
        except Exception as problem:
            result = {"path": str(path), "problem": repr(problem), "version": "", "entries": []}
        print(json.dumps(result))
