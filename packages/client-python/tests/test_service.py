"""The client against a running service.

TRY_ON_TEST_URL is its address, TRY_ON_TEST_KEY a test key, TRY_ON_TEST_REVOKED_KEY a revoked key.
TRY_ON_TEST_IMAGE is the path of a JPEG file.
"""

from __future__ import annotations

import asyncio
import json
import os
import unittest
import urllib.request
from datetime import datetime, timedelta, timezone
from typing import Any, Dict, List, get_args

from try_on import ApiError, AsyncTryOnClient, Job, JobError, TryOnClient, WaitTimeoutError, models

from .fake_api import IMAGES

URL = os.environ.get("TRY_ON_TEST_URL")
SCENARIOS = "https://test.invalid"


def images(scenario: str) -> Dict[str, Any]:
    return {**IMAGES, "model_image_url": f"{SCENARIOS}/{scenario}"}


@unittest.skipUnless(URL, "TRY_ON_TEST_URL is not set")
class ServiceTest(unittest.TestCase):
    def setUp(self) -> None:
        self.client = TryOnClient(os.environ["TRY_ON_TEST_KEY"], URL)

    def test_runs_a_job_and_reads_its_picture(self) -> None:
        updates: List[Job] = []
        job = self.client.try_on.run(**IMAGES, on_update=updates.append)
        self.assertEqual(
            (job["status"], job["mode"], job["credits_consumed"]), ("completed", "test", 0)
        )
        self.assertEqual(updates[-1], job)
        assert job["output_url"] is not None
        with urllib.request.urlopen(job["output_url"]) as response:
            self.assertEqual(response.read(8), b"\x89PNG\r\n\x1a\n")
        self.client.jobs.delete_output(job["job_id"])
        self.assertIsNone(self.client.jobs.get(job["job_id"])["output_url"])

    def test_raises_the_error_code_of_a_failed_job(self) -> None:
        with self.assertRaises(JobError) as raised:
            self.client.try_on.run(**images("fail/person_not_found"))
        self.assertEqual(raised.exception.code, "person_not_found")
        self.assertEqual(raised.exception.job["status"], "failed")

    def test_stops_waiting_for_a_slow_job(self) -> None:
        submitted = self.client.try_on.submit(**images("delay/3"))
        with self.assertRaises(WaitTimeoutError):
            self.client.jobs.wait(submitted["job_id"], timeout_seconds=0)
        job = self.client.jobs.wait(submitted["job_id"], timeout_seconds=60)
        self.assertEqual(job["status"], "completed")

    def test_the_same_idempotency_key_returns_the_same_job(self) -> None:
        first, second = (
            self.client.try_on.submit(**IMAGES, idempotency_key="order-1") for _ in range(2)
        )
        self.assertEqual(first, second)
        with self.assertRaisesRegex(ApiError, "^422 idempotency_key_reused:"):
            self.client.try_on.submit(**images("delay/0"), idempotency_key="order-1")

    def test_cancels_a_pending_job(self) -> None:
        submitted = self.client.try_on.submit(**images("pending/60"))
        cancelled = self.client.jobs.cancel(submitted["job_id"])
        self.assertEqual(
            cancelled,
            {"job_id": submitted["job_id"], "status": "refunded", "refunded_credits": 0},
        )
        with self.assertRaisesRegex(ApiError, "^409 job_not_cancellable:"):
            self.client.jobs.cancel(submitted["job_id"])

    def test_lists_jobs_page_by_page(self) -> None:
        workspace = self.client.workspaces.list()[0]
        since = datetime.now(timezone.utc) - timedelta(minutes=10)
        ids = [self.client.try_on.submit(**IMAGES)["job_id"] for _ in range(5)]
        jobs = self.client.jobs.list(workspace_id=workspace["id"], created_after=since, limit=2)
        self.assertEqual([job["job_id"] for job in jobs][:5], ids[::-1])
        page = jobs.page()
        self.assertEqual((len(page["jobs"]), page["has_more"]), (2, True))
        self.assertEqual(list(self.client.jobs.list(created_before=since)), [])

    def test_uploads_an_image_for_a_job(self) -> None:
        path = os.environ["TRY_ON_TEST_IMAGE"]
        upload = self.client.uploads.create(path)
        self.assertGreater(upload["expires_at"], datetime.now(timezone.utc).isoformat())
        job = self.client.try_on.run(
            model_image_url=upload["url"], garment_image_url=IMAGES["garment_image_url"]
        )
        self.assertEqual(job["status"], "completed")
        with self.assertRaisesRegex(ApiError, "^422 validation_error:"):
            self.client.uploads.create(b"not an image")

    def test_reads_the_account(self) -> None:
        account = self.client.account.get()
        self.assertEqual((account["plan"], account["credits"]), ("starter", 100))

    def test_manages_webhooks_and_reads_usage(self) -> None:
        endpoints = self.client.webhook_endpoints
        created = endpoints.create(f"{URL}/nowhere", events=["job.failed"], name="Orders")
        self.assertEqual((created["mode"], created["events"]), ("test", ["job.failed"]))
        self.assertNotEqual(endpoints.rotate_secret(created["id"]), created["secret"])
        sent = endpoints.send_test_event(created["id"], "job.failed")
        self.client.jobs.wait(sent["job_id"])
        [delivery] = self.client.webhook_deliveries.list(job_id=sent["job_id"])
        found = self.client.webhook_deliveries.get(delivery["event_id"])
        self.assertEqual(found["endpoint_id"], created["id"])
        # Its first retry is due in seconds, or was just made.
        try:
            resent = self.client.webhook_deliveries.resend(delivery["event_id"])
            self.assertEqual(resent["status"], "retrying")
        except ApiError as error:
            self.assertEqual(error.code, "delivery_in_progress")
        self.assertEqual(endpoints.update(created["id"], status="disabled")["status"], "disabled")
        endpoints.delete(created["id"])
        self.assertNotIn(created["id"], [each["id"] for each in endpoints.list()])
        usage = self.client.usage.get()
        self.assertEqual((usage["mode"], len(usage["days"])), ("test", 30))
        self.assertNotIn("api_keys", usage)
        by_key = self.client.usage.get(group_by="api_key")
        self.assertEqual(by_key["api_keys"][0]["total"], by_key["total"])

    def test_runs_a_job_with_asyncio(self) -> None:
        async def run() -> Job:
            async with AsyncTryOnClient(os.environ["TRY_ON_TEST_KEY"], URL) as client:
                return await client.try_on.run(**IMAGES)

        self.assertEqual(asyncio.run(run())["status"], "completed")

    def test_the_types_match_the_openapi_document(self) -> None:
        with urllib.request.urlopen(f"{URL}/openapi.json") as response:
            schemas = json.load(response)["components"]["schemas"]
        for name in (
            *("Account", "Cancelled", "Job", "JobList", "ListedJob", "Submitted", "Upload"),
            *("Workspace", "WorkspaceList", "WebhookEndpoint", "WebhookEndpointList"),
            *("CreatedWebhookEndpoint", "TestEvent", "WebhookAttempt", "WebhookDelivery"),
            *("WebhookDeliveryList", "WebhookDeliveryWithAttempts", "WebhookSecret"),
            *("Usage", "UsageDay", "UsageTotal"),
        ):
            fields = set(getattr(models, name).__annotations__)
            self.assertEqual(fields, set(schemas[name]["properties"]), name)
        event = set(models.WebhookEvent.__annotations__)
        self.assertEqual(event, set(schemas["WebhookBody"]["properties"]))
        for name in ("JobErrorCode", "JobStatus", "Mode", "WebhookEventType", "WebhookStatus"):
            values = get_args(getattr(models, name))
            self.assertEqual(set(values), set(schemas[name]["enum"]), name)

    def test_raises_errors_of_the_api(self) -> None:
        with self.assertRaisesRegex(ApiError, "^422 validation_error:.*model_image_url") as raised:
            self.client.try_on.submit(model_image_url="shirt.png", garment_image_url="")
        self.assertTrue(raised.exception.request_id)

        with self.assertRaisesRegex(ApiError, "^402 insufficient_credits:"):
            self.client.try_on.submit(**images("refuse/insufficient_credits"))

        with self.assertRaisesRegex(ApiError, "^401 api_key_revoked:"):
            TryOnClient(os.environ["TRY_ON_TEST_REVOKED_KEY"], URL).account.get()

    def test_reports_the_time_to_wait_after_too_many_requests(self) -> None:
        client = TryOnClient(os.environ["TRY_ON_TEST_KEY"], URL, max_retries=0)
        with self.assertRaises(ApiError) as raised:
            client.try_on.submit(**images("refuse/rate_limit_exceeded"))
        self.assertEqual(raised.exception.status, 429)
        assert raised.exception.retry_after_seconds is not None
        self.assertGreaterEqual(raised.exception.retry_after_seconds, 1)
