"""A scripted HTTP server on loopback: it answers with given bytes and keeps what it was sent."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


class Scripted:
    """What the server answers next, and what it has been sent."""

    def __init__(self) -> None:
        self.body = b""
        self.content_type = "text/event-stream"
        self.status = 200
        self.requests: list[dict[str, Any]] = []
        self.url = ""

    def streams(self, data: bytes) -> None:
        self.body, self.content_type, self.status = data, "text/event-stream", 200

    def answers(self, value: Any, status: int = 200) -> None:
        self.body, self.content_type, self.status = json.dumps(value).encode(), "application/json", status


@contextmanager
def scripted_server() -> Iterator[Scripted]:
    """Serve until the block ends."""
    script = Scripted()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            script.requests.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
            self.send_response(script.status)
            self.send_header("content-type", script.content_type)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            with suppress(ConnectionError):  # a client that has read enough may leave
                for at in range(0, len(script.body), 701):
                    piece = script.body[at : at + 701]
                    self.wfile.write(b"%x\r\n%s\r\n" % (len(piece), piece))
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, *_: object) -> None:
            pass

    class Server(ThreadingHTTPServer):
        def handle_error(self, *_: object) -> None:
            """Stay quiet about clients that leave in the middle; what they got is the tests' business."""

    server = Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    script.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
