"""Makes the calls that it reads, over one version of HTTP (1 or 2), and prints the version and the status of each answer.

A call is a line: method, address, headers (`name:value`, separated by `|`) and body in base64, separated by tabs.
"""
import base64
import ssl
import sys

import httpx

context = ssl.create_default_context(cafile=sys.argv[1])
version = sys.argv[2]
with httpx.Client(http1=version == "1", http2=version == "2", verify=context, timeout=60) as client:
    for line in sys.stdin:
        method, address, headers, body = line.rstrip("\n").split("\t")
        fields = [header.split(":", 1) for header in headers.split("|")]
        answer = client.request(method, address, headers=fields, content=base64.b64decode(body))
        print(answer.http_version, answer.status_code)
