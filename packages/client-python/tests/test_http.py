"""Requests, errors and retries, against a local server."""

from __future__ import annotations

import pickle
import unittest
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from typing import List, cast
from unittest.mock import patch

from try_on import (
    ApiConnectionError,
    ApiError,
    Job,
    JobError,
    TryOnClient,
    TryOnError,
    WaitTimeoutError,
    __version__,
)

from .fake_api import API_KEY, IMAGES, SUBMITTED, FakeApi, Reply, error, job

ACCOUNT = Reply(200, {"org_id": "org_1", "credits": 100, "plan": "new_plan", "new_field": 1})


class Sleepless(unittest.TestCase):
    """Records the pauses between attempts instead of sleeping."""

    def setUp(self) -> None:
        self.pauses: List[float] = []
        patcher = patch("try_on.http.time.sleep", side_effect=self.pauses.append)
        patcher.start()
        self.addCleanup(patcher.stop)


class ConfigurationTest(unittest.TestCase):
    def test_reads_key_and_address_from_the_environment(self) -> None:
        with FakeApi(ACCOUNT) as api:
            environment = {"TRY_ON_API_KEY": f"{API_KEY}\n", "TRY_ON_BASE_URL": f"{api.url}/"}
            with patch.dict("os.environ", environment):
                TryOnClient().account.get()
        self.assertEqual(api.requests[0].path, "/v1/account")
        self.assertEqual(api.requests[0].headers["authorization"], f"Bearer {API_KEY}")

    def test_requires_a_key_and_an_http_address(self) -> None:
        with patch.dict("os.environ", clear=True):
            with self.assertRaisesRegex(TryOnError, "TRY_ON_API_KEY"):
                TryOnClient(base_url="https://try-on.example")
            for base_url in (None, "try-on.example", "file:///etc"):
                with self.assertRaisesRegex(TryOnError, "TRY_ON_BASE_URL"):
                    TryOnClient(API_KEY, base_url)

    def test_rejects_a_key_that_a_header_cannot_have_without_repeating_it(self) -> None:
        for key in ("svc_test_sk_1\nX: 2", "svc_test_sk_é"):
            with self.assertRaises(TryOnError) as raised:
                TryOnClient(key, "https://try-on.example")
            self.assertEqual(str(raised.exception), "api_key has characters that no key has.")


class RequestTest(unittest.TestCase):
    def test_sends_json_with_an_idempotency_key(self) -> None:
        with FakeApi(SUBMITTED) as api:
            api.client().try_on.submit(**IMAGES, webhook_url="https://shop.example/hook")
            api.client().try_on.submit(**IMAGES, idempotency_key="order-1")
        first, second = api.requests
        self.assertEqual((first.method, first.path), ("POST", "/v1/tryon"))
        self.assertEqual(first.headers["content-type"], "application/json")
        self.assertEqual(first.headers["user-agent"], f"try-on-python/{__version__}")
        self.assertIn(b'"webhook_url": "https://shop.example/hook"', first.body)
        self.assertNotIn(b"workspace_id", first.body)
        self.assertGreater(len(first.headers["idempotency-key"]), 30)
        self.assertEqual(second.headers["idempotency-key"], "order-1")

    def test_returns_unknown_fields_and_values_unchanged(self) -> None:
        with FakeApi(ACCOUNT) as api:
            self.assertEqual(api.client().account.get(), ACCOUNT.body)

    def test_quotes_job_ids(self) -> None:
        with FakeApi(error(404, "job_not_found")) as api:
            with self.assertRaises(ApiError):
                api.client().jobs.get("a/../b?c")
        self.assertEqual(api.requests[0].path, "/v1/jobs/a%2F..%2Fb%3Fc")

    def test_uploads_bytes_and_files(self) -> None:
        with FakeApi(Reply(201, {"url": "https://try-on.example/u", "expires_at": ""})) as api:
            api.client().uploads.create(b"\xff\xd8\xff")
            api.client().uploads.create(__file__)
        self.assertEqual(api.requests[0].body, b"\xff\xd8\xff")
        self.assertEqual(api.requests[0].headers["content-type"], "application/octet-stream")
        self.assertIn(b"test_uploads_bytes_and_files", api.requests[1].body)

    def test_does_not_follow_redirects(self) -> None:
        with FakeApi(ACCOUNT) as other:
            redirect = Reply(302, b"", {"Location": f"{other.url}/v1/account"})
            with FakeApi(redirect) as api, self.assertRaises(ApiError) as raised:
                api.client().account.get()
        self.assertEqual(other.requests, [])
        self.assertEqual(raised.exception.status, 302)
        self.assertIn(other.url, raised.exception.message)


class ErrorTest(Sleepless):
    def test_raises_an_api_error_with_code_and_request_id(self) -> None:
        headers = {"X-Request-Id": "req_1"}
        with FakeApi(error(402, "insufficient_credits", headers)) as api:
            with self.assertRaises(ApiError) as raised:
                api.client().try_on.submit(**IMAGES)
        caught = raised.exception
        self.assertEqual((caught.status, caught.code), (402, "insufficient_credits"))
        self.assertEqual(caught.message, "About insufficient_credits.")
        self.assertEqual((caught.request_id, caught.retry_after_seconds), ("req_1", None))
        self.assertEqual(caught.docs_url, f"{api.url}/docs/errors#insufficient_credits")
        self.assertIn("req_1", str(caught))
        self.assertEqual(len(api.requests), 1)

    def test_raises_an_api_error_for_responses_of_another_form(self) -> None:
        for reply in (
            Reply(404, "<html>Not found</html>"),
            Reply(403, '{"error": "denied"}'),
            Reply(401, "[]"),
            Reply(200, "<html>Sign in to the network</html>"),
            Reply(200, b"\xff\xfe\x00"),
        ):
            with self.subTest(reply), FakeApi(reply) as api:
                with self.assertRaises(ApiError) as raised:
                    api.client().account.get()
                self.assertEqual(raised.exception.status, reply.status)
                self.assertEqual(raised.exception.code, "unexpected_response")

    def test_raises_a_connection_error_without_a_response(self) -> None:
        with FakeApi(ACCOUNT) as api:
            client = api.client(max_retries=0)
        with self.assertRaisesRegex(ApiConnectionError, "127.0.0.1"):
            client.account.get()

    def test_errors_do_not_contain_the_key(self) -> None:
        for reply in (Reply(None), error(401, "invalid_api_key"), Reply(500, "broken")):
            with self.subTest(reply), FakeApi(reply) as api:
                with self.assertRaises(TryOnError) as raised:
                    api.client().account.get()
                self.assertNotIn(API_KEY, str(raised.exception))

    def test_errors_can_be_pickled(self) -> None:
        headers = {"X-Request-Id": "req_1", "Retry-After": "90"}
        with FakeApi(error(429, "rate_limit_exceeded", headers)) as api:
            with self.assertRaises(ApiError) as raised:
                api.client().account.get()
        failed = job(status="failed", error_code="person_not_found")
        for caught in (
            raised.exception,
            JobError(cast(Job, failed)),
            WaitTimeoutError(cast(Job, job()), 5),
        ):
            copy = pickle.loads(pickle.dumps(caught))
            self.assertEqual((str(copy), vars(copy)), (str(caught), vars(caught)))


class RetryTest(Sleepless):
    def test_retries_with_the_same_idempotency_key(self) -> None:
        with FakeApi(Reply(None), error(500, "internal_error"), SUBMITTED) as api:
            submitted = api.client().try_on.submit(**IMAGES)
        self.assertEqual(submitted["job_id"], "job_1")
        keys = {request.headers["idempotency-key"] for request in api.requests}
        self.assertEqual((len(api.requests), len(keys)), (3, 1))
        # The second pause is longer: 0.25 to 0.5, then 0.5 to 1 second.
        self.assertTrue(0.25 <= self.pauses[0] <= 0.5 <= self.pauses[1] <= 1, self.pauses)

    def test_stops_after_max_retries(self) -> None:
        for retries in (0, 3):
            with self.subTest(retries), FakeApi(Reply(503, "busy")) as api:
                with self.assertRaises(ApiError):
                    api.client(max_retries=retries).account.get()
                self.assertEqual(len(api.requests), retries + 1)

    def test_waits_for_the_time_of_retry_after(self) -> None:
        at = datetime.now(timezone.utc) + timedelta(seconds=30)
        limited = [
            error(429, "rate_limit_exceeded", {"Retry-After": value})
            for value in ("7", format_datetime(at, usegmt=True), "soon")
        ]
        with FakeApi(*limited, ACCOUNT) as api, patch("random.random", return_value=0.8):
            api.client(max_retries=3).account.get()
        # A random part of up to a quarter is added.
        self.assertEqual(self.pauses[0], 7 * 1.2)
        self.assertTrue(20 < self.pauses[1] <= 30 * 1.2, self.pauses)
        self.assertTrue(self.pauses[2] <= 2, self.pauses)

    def test_raises_when_retry_after_is_long(self) -> None:
        limited = error(429, "rate_limit_exceeded", {"Retry-After": "3600"})
        with FakeApi(limited) as api:
            with self.assertRaises(ApiError) as raised:
                api.client().account.get()
        self.assertEqual(raised.exception.retry_after_seconds, 3600)
        self.assertEqual(len(api.requests), 1)

    def test_retries_after_a_time_out(self) -> None:
        target = "try_on.http.urllib.request.OpenerDirector.open"
        with patch(target, side_effect=TimeoutError("timed out")) as opened:
            client = TryOnClient(API_KEY, "http://127.0.0.1:1", timeout_seconds=5)
            with self.assertRaisesRegex(ApiConnectionError, "timed out"):
                client.jobs.get("job_1", wait_seconds=20)
        # The limit includes the time for which the API waits.
        self.assertEqual([call.kwargs["timeout"] for call in opened.call_args_list], [25, 25, 25])

    def test_retries_through_a_proxy_are_encrypted(self) -> None:
        with FakeApi(Reply(503)) as proxy:
            environment = {"https_proxy": proxy.url, "no_proxy": ""}
            with patch.dict("os.environ", environment), self.assertRaises(ApiConnectionError):
                TryOnClient(API_KEY, "https://try-on.example").account.get()
        self.assertEqual(proxy.sent, [("CONNECT", "try-on.example:443")] * 3)

    def test_a_cancellation_is_retried_after_429_only(self) -> None:
        limited = error(429, "rate_limit_exceeded", {"Retry-After": "1"})
        cancelled = {"job_id": "job_1", "status": "refunded", "refunded_credits": 0}
        with FakeApi(limited, Reply(200, cancelled)) as api:
            self.assertEqual(api.client().jobs.cancel("job_1"), cancelled)
        for reply, expected in ((Reply(None), ApiConnectionError), (Reply(502), ApiError)):
            with self.subTest(reply), FakeApi(reply, Reply(200, cancelled)) as api:
                with self.assertRaises(expected):
                    api.client().jobs.cancel("job_1")
                self.assertEqual(len(api.requests), 1)

    def test_retries_the_deletion_of_an_output(self) -> None:
        with FakeApi(Reply(None), Reply(204)) as api:
            api.client().jobs.delete_output("job_1")
        self.assertEqual(len(api.requests), 2)
        self.assertEqual(api.requests[1].path, "/v1/jobs/job_1/output")


class TimeoutTest(unittest.TestCase):
    def test_limits_the_time_of_a_request(self) -> None:
        with FakeApi(Reply(200, job(), delay_seconds=1)) as api:
            client = api.client(timeout_seconds=0.05, max_retries=0)
            with self.assertRaises(ApiConnectionError):
                client.jobs.get("job_1")
