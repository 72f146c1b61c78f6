"""Makes the calls that it reads, over HTTP/2 or not at all, and prints the version and the status of each answer.

A call is a line: method, address, headers (`name:value`, separated by `|`) and body in base64, separated by tabs.
"""
import base64
import ssl
import sys

import httpx

context = ssl.create_default_context(cafile=sys.argv[1])
with httpx.Client(http1=False, http2=True, verify=context, timeout=60) as client:
    for line in sys.stdin:
        method, address, headers, body = line.rstrip("\n").split("\t")
        fields = [tuple(header.split(":", 1)) for header in headers.split("|")]
        answer = client.request(method, address, headers=fields, content=base64.b64decode(body))
        print(answer.http_version, answer.status_code)
