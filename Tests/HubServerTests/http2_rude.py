"""An HTTP/2 client that breaks the rules. Prints the server's answers until the server ends the request or the connection."""
import socket
import ssl
import sys

from h2 import config, connection, events, settings

port, certificate, what = int(sys.argv[1]), sys.argv[2], sys.argv[3]
context = ssl.create_default_context(cafile=certificate)
context.set_alpn_protocols(["h2"])
stream = socket.create_connection(("127.0.0.1", port))
if what != "handshake":
    stream = context.wrap_socket(stream, server_hostname="127.0.0.1")
http = connection.H2Connection(config.H2Configuration(header_encoding="utf-8"))
http.initiate_connection()


def request(method, path, end=True, stream=1):
    authority = f"127.0.0.1:{port}"
    http.send_headers(
        stream, [(":method", method), (":path", path), (":scheme", "https"), (":authority", authority)], end_stream=end)


if what == "body":
    request("POST", "/hub/messages", end=False)
elif what == "reader":
    # The server may send at most this many bytes of the answer.
    http.update_settings({settings.SettingCodes.INITIAL_WINDOW_SIZE: 10})
    request("GET", "/")
elif what == "flood":
    # The server may not send any part of an answer until all requests have one.
    http.update_settings({settings.SettingCodes.INITIAL_WINDOW_SIZE: 0})
    for number in range(1, 100, 2):
        request("GET", "/", stream=number)
elif what == "calm":
    request("GET", "/")
elif what == "silence":
    # The answer to this request has no body.
    request("HEAD", "/")
elif what == "events":
    for number in (1, 3, 5, 7):
        request("GET", "/_emulator/stream?handle=a", stream=number)
if what != "handshake":
    stream.sendall(http.data_to_send())

answers = []
first, last = {}, {}


def flood(event):
    """Prints how many requests were answered, and how many answers could finally be read to their end."""
    if isinstance(event, events.ResponseReceived):
        first.setdefault(event.stream_id, dict(event.headers)[":status"])
    elif isinstance(event, events.DataReceived):
        http.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
    elif isinstance(event, events.StreamReset):
        first.setdefault(event.stream_id, "reset")
        last[event.stream_id] = "reset"
    elif isinstance(event, events.StreamEnded):
        last[event.stream_id] = first[event.stream_id]
    if len(first) == 50 and not flood.is_open:
        flood.is_open = True
        http.update_settings({settings.SettingCodes.INITIAL_WINDOW_SIZE: 65535})
    elif len(last) == 50:
        print(len([status for status in first.values() if status == "200"]))
        print(len([status for status in last.values() if status == "200"]))
        sys.exit()


flood.is_open = False
is_leaving = False
while True:
    try:
        data = stream.recv(65536)
    except OSError:
        data = b""
    if not data:
        print("closed")
        break
    # The library accepts no PING after GOAWAY.
    http.state_machine.state = connection.ConnectionState.CLIENT_OPEN
    for event in http.receive_data(data):
        if what == "flood":
            flood(event)
        elif isinstance(event, events.ResponseReceived):
            answers.append(dict(event.headers)[":status"])
            if what == "calm":
                print(answers[-1])
                sys.exit()
            if what != "events":
                print(answers[-1])
            elif len(answers) == 4:
                print(*sorted(answers), sep="\n")
                sys.exit()
        elif isinstance(event, events.DataReceived) and event.data and what != "events":
            print("data", len(event.data))
        elif isinstance(event, events.StreamReset):
            print("reset")
            sys.exit()
        elif isinstance(event, events.ConnectionTerminated) and not is_leaving:
            is_leaving = True
            print("goaway")
    stream.sendall(http.data_to_send())
