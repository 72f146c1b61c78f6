"""Prints how feedparser reads the dates in the feeds below a folder and on standard input, as one JSON document per line."""

import calendar
import html
import itertools
import json
import os
import re
import sys

from feedparser.datetimes import _parse_date

ELEMENTS = re.compile(
    rb"<(?:\w+:)?(?:pubDate|date|published|updated|issued|modified|created|lastBuildDate|valid|edited)"
    rb"(?:\s[^<>]*)?>([^<]{4,80})<", re.I)
MEMBERS = re.compile(rb'"(?:date_\w+|published|updated)"\s*:\s*"([^"]{4,80})"')


def dates(folder):
    for root, _, files in os.walk(folder):
        for name in files:
            if not name.endswith((".xml", ".json")):
                continue
            with open(os.path.join(root, name), "rb") as file:
                data = file.read()
            for match in itertools.chain(ELEMENTS.finditer(data), MEMBERS.finditer(data)):
                try:
                    yield html.unescape(match.group(1).decode("utf-8"))
                except UnicodeDecodeError:
                    pass


for text in sorted({text.strip() for text in itertools.chain(dates(sys.argv[1]), sys.stdin)}):
    try:
        parsed = _parse_date(text)
        seconds = calendar.timegm(parsed) if parsed else None
    except (ValueError, OverflowError, TypeError):
        seconds = None
    print(json.dumps({"text": text, "seconds": seconds}))
