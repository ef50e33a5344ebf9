"""Waiting for jobs and listing them, against a local server."""

from __future__ import annotations

import pickle
import unittest
from datetime import datetime, timedelta, timezone
from typing import List
from unittest.mock import patch
from urllib.parse import parse_qs, urlsplit

from try_on import ApiConnectionError, ApiError, JobError, WaitTimeoutError

from .fake_api import IMAGES, SUBMITTED, FakeApi, Reply, error, job, page


class WaitTest(unittest.TestCase):
    def setUp(self) -> None:
        # The pauses pass without sleeping.
        self.now = 0.0
        for name, replacement in (("sleep", self.sleep), ("monotonic", lambda: self.now)):
            patcher = patch(f"try_on.jobs.time.{name}", side_effect=replacement)
            patcher.start()
            self.addCleanup(patcher.stop)

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def test_waits_until_the_job_has_ended(self) -> None:
        completed = job(status="completed", output_url="https://try-on.example/o.png")
        with FakeApi(Reply(200, job()), Reply(200, completed)) as api:
            self.assertEqual(api.client().jobs.wait("job_1"), completed)
        self.assertEqual([r.headers["prefer"] for r in api.requests], ["wait=30", "wait=30"])
        # The API did not wait, so the client pauses for a second.
        self.assertEqual(self.now, 1)

    def test_returns_jobs_with_any_end(self) -> None:
        for status in ("failed", "cancelled", "refunded"):
            with self.subTest(status), FakeApi(Reply(200, job(status=status))) as api:
                self.assertEqual(api.client().jobs.wait("job_1")["status"], status)

    def test_reports_updates(self) -> None:
        statuses = ["pending", "a_new_status", "completed"]
        seen: List[str] = []
        with FakeApi(*(Reply(200, job(status=status)) for status in statuses)) as api:
            api.client().jobs.wait("job_1", on_update=lambda update: seen.append(update["status"]))
        self.assertEqual(seen, statuses)
        self.assertEqual(api.requests[0].headers["prefer"], "wait=5")

    def test_raises_when_the_time_is_over(self) -> None:
        with FakeApi(Reply(200, job(status="processing"))) as api:
            with self.assertRaises(WaitTimeoutError) as raised:
                api.client().jobs.wait("job_1", timeout_seconds=2.5)
        self.assertEqual(raised.exception.job["job_id"], "job_1")
        self.assertIn("processing after 2.5 seconds", str(raised.exception))
        self.assertEqual(
            [request.headers.get("prefer") for request in api.requests],
            ["wait=3", "wait=2", "wait=1", None],
        )

    def test_continues_after_temporary_errors(self) -> None:
        limited = error(429, "rate_limit_exceeded", {"Retry-After": "90"})
        completed = job(status="completed")
        replies = (limited, error(503, "internal_error"), Reply(None), Reply(200, completed))
        with FakeApi(*replies) as api:
            self.assertEqual(api.client(max_retries=0).jobs.wait("job_1"), completed)
        self.assertGreaterEqual(self.now, 90)

    def test_errors_end_the_wait_when_the_time_is_over(self) -> None:
        with FakeApi(error(503, "internal_error", {"Retry-After": "0"})) as api:
            with self.assertRaises(ApiError) as raised:
                api.client().jobs.wait("job_1", timeout_seconds=10)
        self.assertEqual((raised.exception.status, raised.exception.job_id), (503, "job_1"))
        self.assertLess(len(api.requests), 10)
        with FakeApi(Reply(200, job()), Reply(None)) as api:
            with self.assertRaises(WaitTimeoutError) as timed_out:
                api.client().jobs.wait("job_1", timeout_seconds=10)
        self.assertEqual((timed_out.exception.job_id, self.now), ("job_1", 20))
        self.assertIsInstance(timed_out.exception.__cause__, ApiConnectionError)

    def test_errors_of_run_have_the_id_of_the_accepted_job(self) -> None:
        with FakeApi(SUBMITTED, error(401, "api_key_revoked")) as api:
            with self.assertRaises(ApiError) as raised:
                api.client().try_on.run(**IMAGES)
        self.assertEqual(raised.exception.job_id, "job_1")
        self.assertEqual(pickle.loads(pickle.dumps(raised.exception)).job_id, "job_1")
        with FakeApi(error(402, "insufficient_credits")) as api:
            with self.assertRaises(ApiError) as rejected:
                api.client().try_on.run(**IMAGES)
        self.assertIsNone(rejected.exception.job_id)

    def test_run_returns_the_completed_job(self) -> None:
        completed = job(status="completed", output_url="https://try-on.example/o.png")
        with FakeApi(SUBMITTED, Reply(200, completed)) as api:
            self.assertEqual(api.client().try_on.run(**IMAGES), completed)

    def test_run_raises_for_a_job_without_a_picture(self) -> None:
        failed = job(status="failed", error_code="person_not_found")
        for ended, code in ((failed, "person_not_found"), (job(status="cancelled"), None)):
            with self.subTest(code), FakeApi(SUBMITTED, Reply(200, ended)) as api:
                with self.assertRaisesRegex(JobError, f"job_1 is {ended['status']}") as raised:
                    api.client().try_on.run(**IMAGES)
                self.assertEqual((raised.exception.job, raised.exception.code), (ended, code))


class ListTest(unittest.TestCase):
    def test_iterates_over_all_pages_with_the_filters(self) -> None:
        pages = (
            page("jobs", [job(job_id="job_3"), job(job_id="job_2")], "c+1"),
            page("jobs", [], "c2"),
            page("jobs", [job(job_id="job_1")]),
        )
        after = datetime(2026, 11, 1, 12, tzinfo=timezone(timedelta(hours=2)))
        with FakeApi(*pages) as api:
            listed = api.client().jobs.list(status="failed", created_after=after, limit=2)
            self.assertEqual(api.requests, [])
            ids = [listed_job["job_id"] for listed_job in listed]
        self.assertEqual(ids, ["job_3", "job_2", "job_1"])
        filters = {
            "status": ["failed"],
            "created_after": ["2026-11-01T10:00:00.000Z"],
            "limit": ["2"],
        }
        queries = [parse_qs(urlsplit(request.path).query) for request in api.requests]
        self.assertEqual(
            queries, [filters, {**filters, "cursor": ["c+1"]}, {**filters, "cursor": ["c2"]}]
        )

    def test_reads_one_page(self) -> None:
        reply = page("jobs", [job()], "c1")
        with FakeApi(reply) as api:
            self.assertEqual(api.client().jobs.list(cursor="c0").page(), reply.body)
        self.assertEqual(api.requests[0].path, "/v1/jobs?cursor=c0")

    def test_rejects_a_datetime_without_a_time_zone(self) -> None:
        with FakeApi(Reply(200)) as api:
            with self.assertRaisesRegex(ValueError, "time zone"):
                api.client().jobs.list(created_before=datetime(2026, 11, 1))
