"""Verification of webhooks, which are signed according to Standard Webhooks 1.0."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import time
from typing import Iterable, Protocol, Tuple, Union, cast

from .errors import WebhookVerificationError
from .models import WebhookEvent

_PREFIX = "whsec_"


class Headers(Protocol):
    """The headers of a request: a dict, or those of http.server, Flask, Django or Starlette."""

    def items(self) -> Iterable[Tuple[str, str]]:
        """Returns names and values. Names are compared without regard to case."""


def verify(
    body: Union[bytes, str],
    headers: Headers,
    secret: str,
    tolerance_seconds: float = 300,
) -> WebhookEvent:
    """Verifies a webhook request and returns its event.

    Args:
        body: The body as received. A body that was parsed and serialised again does not verify.
        headers: The headers of the request.
        secret: The signing secret of the organisation, ``whsec_…``.
        tolerance_seconds: The largest accepted age of the request.

    Raises:
        WebhookVerificationError: The request is not signed with the secret, or it is too old.
        ValueError: The secret is not a signing secret.
    """
    key = _key_of(secret)
    content = body.encode() if isinstance(body, str) else body
    lower = {name.lower(): value for name, value in headers.items()}
    event_id, timestamp, signatures = (
        lower.get(f"webhook-{name}", "") for name in ("id", "timestamp", "signature")
    )
    if not event_id or not timestamp or not signatures:
        raise WebhookVerificationError("The request has no webhook signature.")
    # isdigit() is also true for digits that are not ASCII.
    if not (timestamp.isascii() and timestamp.isdigit()):
        raise WebhookVerificationError("The webhook-timestamp is not valid.")
    # Not `>`, which accepts every age when the tolerance is NaN.
    if not abs(time.time() - float(timestamp)) <= tolerance_seconds:
        raise WebhookVerificationError("The webhook-timestamp is outside the tolerance.")

    signed = f"{event_id}.{timestamp}.".encode("utf-8", "replace") + content
    digest = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())
    # During a rotation the header has one signature per secret.
    if not any(
        hmac.compare_digest(f"v1,{digest.decode()}".encode(), signature.encode("utf-8", "replace"))
        for signature in signatures.split(" ")
    ):
        raise WebhookVerificationError("No signature matches the secret.")
    try:
        return cast(WebhookEvent, json.loads(content))
    except ValueError as error:
        raise WebhookVerificationError("The body is not JSON.") from error


def _key_of(secret: str) -> bytes:
    """Decodes a secret. An empty key would accept requests that anyone can sign."""
    try:
        key = base64.b64decode(secret.strip()[len(_PREFIX) :], validate=True)
    except binascii.Error:
        key = b""
    if not secret.strip().startswith(_PREFIX) or not key:
        raise ValueError("The secret must be a signing secret, whsec_…")
    return key
