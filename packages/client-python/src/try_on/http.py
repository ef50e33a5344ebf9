"""HTTP requests to the API: authentication, time-outs, retries and errors."""

from __future__ import annotations

import contextvars
import email.utils
import http.client
import json
import random
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from email.message import Message
from typing import Any, Dict, Mapping, Optional, Union

from .errors import ApiConnectionError, ApiError

__version__ = "0.4.0"

# A longer Retry-After is left to the caller.
MAX_RETRY_AFTER_SECONDS = 60.0
_FIRST_DELAY_SECONDS = 0.5
_MAX_DELAY_SECONDS = 8.0


# Set by the asynchronous client: stops a call that is no longer awaited.
cancelled: contextvars.ContextVar[Optional[threading.Event]] = contextvars.ContextVar(
    "try_on_cancelled", default=None
)


class CallStopped(Exception):
    """The task of the call was cancelled. Reaches no caller."""


def stop_if_cancelled() -> None:
    event = cancelled.get()
    if event is not None and event.is_set():
        raise CallStopped


def pause(seconds: float) -> None:
    """Sleeps, unless the call is cancelled."""
    event = cancelled.get()
    if event is None:
        time.sleep(seconds)
    elif event.wait(seconds):
        raise CallStopped


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Returns redirects as responses: urllib would send the API key to the other host."""

    def redirect_request(self, *args: Any, **kwargs: Any) -> None:
        return None


class HttpClient:
    """Sends requests. Can be shared between threads."""

    def __init__(
        self, *, api_key: str, base_url: str, max_retries: int, timeout_seconds: float
    ) -> None:
        self._base_url = base_url
        self._max_retries = max_retries
        self._timeout_seconds = timeout_seconds
        self._headers = {
            "Authorization": f"Bearer {api_key}",
            "Accept": "application/json",
            "User-Agent": f"try-on-python/{__version__}",
        }
        self._opener = urllib.request.build_opener(_NoRedirects)

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Mapping[str, Union[str, int, None]]] = None,
        body: Union[Mapping[str, Any], bytes, None] = None,
        headers: Optional[Mapping[str, str]] = None,
        wait_seconds: int = 0,
        repeatable: bool = True,
        max_retries: Optional[int] = None,
    ) -> Any:
        """Sends a request and returns the JSON of its response, None for 204.

        Args:
            wait_seconds: The time for which the API may delay the response.
            repeatable: Whether to retry a request that may have taken effect. A request that the
                rate limit rejected is always retried.
            max_retries: Default: the setting of the client.

        Raises:
            ApiError: The API rejected the request.
            ApiConnectionError: There was no response.
        """
        present = {name: value for name, value in (query or {}).items() if value is not None}
        url = f"{self._base_url}{path}" + (f"?{urllib.parse.urlencode(present)}" if present else "")
        data = None
        all_headers: Dict[str, str] = {**self._headers, **(headers or {})}
        if isinstance(body, bytes):
            data = body
            all_headers["Content-Type"] = "application/octet-stream"
        elif body is not None:
            data = json.dumps(body).encode()
            all_headers["Content-Type"] = "application/json"
        if wait_seconds > 0:
            all_headers["Prefer"] = f"wait={wait_seconds}"

        retries = self._max_retries if max_retries is None else max_retries
        attempt = 0
        while True:
            stop_if_cancelled()
            # A new object for each attempt: urllib changes it when there is a proxy, and would send
            # a second HTTPS request to the proxy without encryption.
            request = urllib.request.Request(url, data=data, headers=all_headers, method=method)
            try:
                return self._send(request, self._timeout_seconds + wait_seconds)
            except (ApiError, ApiConnectionError) as error:
                delay = retry_delay(error, attempt, repeatable=repeatable)
                if delay is None or attempt >= retries:
                    raise
            pause(delay)
            attempt += 1

    def _send(self, request: urllib.request.Request, timeout_seconds: float) -> Any:
        try:
            with self._opener.open(request, timeout=timeout_seconds) as response:
                status, headers, content = response.status, response.headers, response.read()
        except urllib.error.HTTPError as error:
            with error:
                status, headers, content = error.code, error.headers, _read_all(error)
        # OSError includes URLError and, since Python 3.10, all time-outs.
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", None) or error
            host = urllib.parse.urlsplit(request.full_url).netloc
            raise ApiConnectionError(
                f"No response from {host}: {type(reason).__name__}: {reason}"
            ) from error
        if 200 <= status < 300:
            if status == 204:
                return None
            try:
                return json.loads(content)
            except ValueError:
                pass
        raise self._api_error(status, headers, content)

    def _api_error(self, status: int, headers: Message, content: bytes) -> ApiError:
        docs_url = f"{self._base_url}/docs/errors"
        try:
            error = json.loads(content)["error"]
            code, message = str(error["code"]), str(error["message"])
            docs_url += f"#{code}"
        except (ValueError, KeyError, TypeError):
            code, message = "unexpected_response", "The response does not come from the API."
            if 300 <= status < 400:
                message = f"The server redirects to {headers.get('Location')}. Check base_url."
        return ApiError(
            status,
            code,
            message,
            headers.get("X-Request-Id"),
            _retry_after_seconds(headers.get("Retry-After")),
            docs_url,
        )


def _read_all(error: urllib.error.HTTPError) -> bytes:
    """The status matters more than a body that cannot be read."""
    try:
        return error.read()
    except (OSError, http.client.HTTPException):
        return b""


def _retry_after_seconds(value: Optional[str]) -> Optional[float]:
    """Parses a number of seconds or an HTTP date."""
    if value is None:
        return None
    # isdigit() is also true for digits that are not ASCII.
    if value.isascii() and value.strip().isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def retry_delay(
    error: Union[ApiError, ApiConnectionError],
    attempt: int,
    *,
    repeatable: bool = True,
    max_retry_after_seconds: float = MAX_RETRY_AFTER_SECONDS,
) -> Optional[float]:
    """Seconds until the retry: exponential or Retry-After, with jitter. None for no retry."""
    delay = min(_MAX_DELAY_SECONDS, _FIRST_DELAY_SECONDS * 2.0 ** min(attempt, 10))
    delay *= 0.5 + random.random() / 2
    if isinstance(error, ApiConnectionError):
        return delay if repeatable else None
    if error.status != 429 and not (repeatable and error.status >= 500):
        return None
    if error.retry_after_seconds is None:
        return delay
    if error.retry_after_seconds > max_retry_after_seconds:
        return None
    return max(delay, error.retry_after_seconds * (1 + random.random() / 4))
