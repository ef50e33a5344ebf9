"""Verification of webhooks. The vector was signed with the npm package standardwebhooks."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
import unittest
from email.message import Message
from typing import Dict, Optional
from unittest.mock import patch

from try_on import WebhookVerificationError, webhooks

SECRET = "whsec_" + base64.b64encode(b"a secret of twenty-four!").decode()
BODY = json.dumps({"type": "job.completed", "data": {"job_id": "job_1", "name": "é"}}).encode()


def signed(secret: str = SECRET, body: bytes = BODY, at: Optional[float] = None) -> Dict[str, str]:
    """The headers of a signed request."""
    timestamp = str(int(time.time() if at is None else at))
    key = base64.b64decode(secret[6:])
    digest = hmac.new(key, f"evt_1.{timestamp}.".encode() + body, hashlib.sha256).digest()
    return {
        "webhook-id": "evt_1",
        "webhook-timestamp": timestamp,
        "webhook-signature": f"v1,{base64.b64encode(digest).decode()}",
    }


class VerifyTest(unittest.TestCase):
    def rejects(self, pattern: str, body: bytes, headers: Dict[str, str]) -> None:
        with self.assertRaisesRegex(WebhookVerificationError, pattern):
            webhooks.verify(body, headers, SECRET)

    def test_verifies_a_delivery_of_the_service(self) -> None:
        body = '{"type":"job.completed","timestamp":"2026-11-22T12:00:00.000Z","data":{}}'
        headers = {
            "webhook-id": "evt_1",
            "webhook-timestamp": "1795348800",
            "webhook-signature": "v1,XDdYyTGDGFk5/rv+ooUsxLnsfS4wqjefueCDTbb/Rmo=",
        }
        with patch("try_on.webhooks.time.time", return_value=1795348800):
            event = webhooks.verify(body, headers, SECRET)
        self.assertEqual(event["type"], "job.completed")

    def test_accepts_str_bytes_and_any_case_of_names(self) -> None:
        event = json.loads(BODY)
        self.assertEqual(webhooks.verify(BODY, signed(), SECRET), event)
        self.assertEqual(webhooks.verify(BODY.decode(), signed(), SECRET), event)
        message = Message()
        for name, value in signed().items():
            message[name.title()] = value
        self.assertEqual(webhooks.verify(BODY, message, SECRET), event)

    def test_accepts_either_secret_during_a_rotation(self) -> None:
        new = "whsec_" + base64.b64encode(b"another secret of 24 by.").decode()
        headers = signed()
        signature = signed(new)["webhook-signature"]
        headers["webhook-signature"] = f"{signature} {headers['webhook-signature']}"
        for secret in (SECRET, new):
            self.assertEqual(webhooks.verify(BODY, headers, secret)["type"], "job.completed")

    def test_rejects_a_changed_request(self) -> None:
        headers = signed()
        self.rejects("No signature", BODY.replace(b"job_1", b"job_2"), headers)
        self.rejects("No signature", BODY, {**headers, "webhook-id": "evt_2"})
        later = str(int(headers["webhook-timestamp"]) + 1)
        self.rejects("No signature", BODY, {**headers, "webhook-timestamp": later})
        for signature in ("v1,", "v1,é", headers["webhook-signature"].replace("v1,", "v2,")):
            self.rejects("No signature", BODY, {**headers, "webhook-signature": signature})

    def test_rejects_requests_outside_the_tolerance(self) -> None:
        for offset in (-301, 302):
            self.rejects("tolerance", BODY, signed(at=time.time() + offset))
        with self.assertRaisesRegex(WebhookVerificationError, "tolerance"):
            webhooks.verify(BODY, signed(), SECRET, tolerance_seconds=float("nan"))
        old = signed(at=time.time() - 400)
        self.assertTrue(webhooks.verify(BODY, old, SECRET, tolerance_seconds=500))

    def test_rejects_missing_and_malformed_headers(self) -> None:
        for name in signed():
            headers = signed()
            del headers[name]
            self.rejects("no webhook signature", BODY, headers)
        for timestamp in ("now", "-1", "1e9", "٣", "nan"):
            headers = {**signed(), "webhook-timestamp": timestamp}
            self.rejects("timestamp is not valid", BODY, headers)
        self.rejects("tolerance", BODY, {**signed(), "webhook-timestamp": "9" * 400})

    def test_rejects_a_body_that_is_not_json(self) -> None:
        self.rejects("not JSON", b"{", signed(body=b"{"))

    def test_requires_a_signing_secret(self) -> None:
        for secret in ("", "whsec_", "whsec_not base64", "svc_test_sk_1"):
            with self.assertRaisesRegex(ValueError, "whsec_"):
                webhooks.verify(BODY, signed(), secret)
