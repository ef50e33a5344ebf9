"""A local HTTP server that returns prepared responses and records the requests."""

from __future__ import annotations

import json
import os
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Dict, List, NamedTuple, Optional, Tuple, Union

from try_on import AsyncTryOnClient, TryOnClient

# A proxy of the environment would not reach the loopback interface.
os.environ["no_proxy"] = "127.0.0.1,localhost"

API_KEY = "svc_test_sk_unit"


class Reply(NamedTuple):
    """A response. Without a status, the connection is closed after the request."""

    status: Optional[int]
    body: Union[bytes, str, Dict[str, Any]] = b""
    headers: Dict[str, str] = {}
    delay_seconds: float = 0


class Request(NamedTuple):
    """A received request. Header names are in lower case."""

    method: str
    path: str
    headers: Dict[str, str]
    body: bytes


def error(status: int, code: str, headers: Optional[Dict[str, str]] = None) -> Reply:
    """An error of the API."""
    return Reply(status, {"error": {"code": code, "message": f"About {code}."}}, headers or {})


def job(**fields: Any) -> Dict[str, Any]:
    """A job as the API returns it."""
    return {
        "job_id": "job_1",
        "status": "pending",
        "workspace_id": "ws_1",
        "mode": "test",
        "output_url": None,
        "credits_consumed": None,
        "error_code": None,
        "created_at": "2026-11-21T08:49:55.902Z",
        "completed_at": None,
        "duration_ms": None,
        "webhook_url": None,
        "webhook_status": None,
        **fields,
    }


def page(name: str, items: List[Dict[str, Any]], cursor: Optional[str] = None) -> Reply:
    """A page of a list."""
    return Reply(200, {name: items, "next_cursor": cursor, "has_more": cursor is not None})


IMAGES: Dict[str, Any] = {
    "model_image_url": "https://shop.example/model.jpg",
    "garment_image_url": "https://shop.example/shirt.png",
}
SUBMITTED = Reply(202, {"job_id": "job_1", "status": "pending", "created_at": "", "mode": "test"})


class FakeApi:
    """Returns the replies one after the other, the last one repeatedly."""

    def __init__(self, *replies: Reply) -> None:
        self.requests: List[Request] = []
        self._replies = list(replies)
        fake = self

        class Handler(BaseHTTPRequestHandler):
            def handle_one(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                headers = {name.lower(): value for name, value in self.headers.items()}
                fake.requests.append(Request(self.command, self.path, headers, body))
                fake.respond(self)

            do_GET = do_POST = do_PATCH = do_DELETE = do_CONNECT = handle_one

            def log_message(self, format: str, *args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def respond(self, handler: BaseHTTPRequestHandler) -> None:
        """Sends the next reply."""
        reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
        if reply.delay_seconds:
            time.sleep(reply.delay_seconds)
        if reply.status is None:
            handler.close_connection = True
            return
        content = json.dumps(reply.body) if isinstance(reply.body, dict) else reply.body
        data = content.encode() if isinstance(content, str) else content
        try:
            handler.send_response(reply.status)
            for name, value in reply.headers.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        except OSError:
            pass  # The client timed out.

    @property
    def sent(self) -> List[Tuple[str, str]]:
        """The method and the path of each request."""
        return [(request.method, request.path) for request in self.requests]

    def client(self, **options: Any) -> TryOnClient:
        """A client of this server."""
        return TryOnClient(API_KEY, self.url, **options)

    def async_client(self, **options: Any) -> AsyncTryOnClient:
        """An asynchronous client of this server."""
        return AsyncTryOnClient(API_KEY, self.url, **options)

    def __enter__(self) -> FakeApi:
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
