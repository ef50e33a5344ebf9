"""The asynchronous client: concurrency, cancellation and updates. Its requests are those of the other."""

from __future__ import annotations

import asyncio
import inspect
import threading
import unittest
from typing import Any, List

from try_on import ApiError, AsyncTryOnClient, JobError, TryOnClient

from .fake_api import IMAGES, SUBMITTED, FakeApi, Reply, error, job, page

PENDING = Reply(200, job())
COMPLETED = Reply(200, job(status="completed"))
UNAVAILABLE = error(503, "internal_error", {"Retry-After": "60"})


class AsyncTest(unittest.IsolatedAsyncioTestCase):
    async def test_runs_a_job_with_updates_in_the_event_loop(self) -> None:
        updates: List[Any] = []

        def on_update(found: Any) -> None:
            updates.append((found["status"], threading.current_thread()))

        with FakeApi(SUBMITTED, COMPLETED) as api:
            async with api.async_client() as client:
                found = await client.try_on.run(**IMAGES, on_update=on_update)
        self.assertEqual(found["status"], "completed")
        self.assertEqual(updates, [("completed", threading.current_thread())])

    async def test_raises_the_errors_of_the_client_and_of_an_update(self) -> None:
        with FakeApi(SUBMITTED, Reply(200, job(status="failed")), error(404, "not_found")) as api:
            async with api.async_client() as client:
                with self.assertRaises(JobError):
                    await client.try_on.run(**IMAGES)
                with self.assertRaises(ApiError):
                    await client.webhook_endpoints.get("we_1")

        def fail(_: object) -> None:
            raise ZeroDivisionError

        with FakeApi(PENDING) as api:
            async with api.async_client() as client:
                with self.assertRaises(ZeroDivisionError):
                    await client.jobs.wait("job_1", on_update=fail)
        self.assertEqual(len(api.requests), 1)

    async def test_sends_requests_at_the_same_time(self) -> None:
        arrived = threading.Barrier(3, timeout=20)

        class Together(FakeApi):
            def respond(self, handler: Any) -> None:
                arrived.wait()  # Until all requests have arrived.
                super().respond(handler)

        with Together(COMPLETED) as api:
            async with api.async_client() as client:
                found = await asyncio.gather(*(client.jobs.get(f"job_{n}") for n in range(3)))
        self.assertEqual([each["status"] for each in found], ["completed"] * 3)

    async def test_a_cancelled_wait_sends_no_further_request(self) -> None:
        with FakeApi(PENDING) as api:
            async with api.async_client() as client:
                read = asyncio.Event()
                waiting = asyncio.create_task(
                    client.jobs.wait("job_1", on_update=lambda _: read.set())
                )
                await read.wait()
                waiting.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await waiting
                await ended(client)
        self.assertEqual(len(api.requests), 1)

    async def test_a_cancelled_call_is_not_retried(self) -> None:
        received = threading.Event()

        class Failing(FakeApi):
            def respond(self, handler: Any) -> None:
                super().respond(handler)
                received.set()

        with Failing(UNAVAILABLE) as api:
            async with api.async_client() as client:
                call = asyncio.create_task(client.account.get())
                await asyncio.to_thread(received.wait)
                call.cancel()
                with self.assertRaises(asyncio.CancelledError):
                    await call
                await ended(client)
        self.assertEqual(len(api.requests), 1)

    async def test_a_time_limit_ends_a_request_that_is_delayed(self) -> None:
        release = threading.Event()

        class Delayed(FakeApi):
            def respond(self, handler: Any) -> None:
                release.wait()
                super().respond(handler)

        with Delayed(COMPLETED) as api:
            async with api.async_client() as client:
                with self.assertRaises(asyncio.TimeoutError):
                    await asyncio.wait_for(client.jobs.get("job_1"), 0.01)
                release.set()

    async def test_iterates_over_pages(self) -> None:
        first = page("jobs", [{"job_id": "job_3"}, {"job_id": "job_2"}], "a")
        with FakeApi(first, page("jobs", [{"job_id": "job_1"}])) as api:
            async with api.async_client() as client:
                found = [each["job_id"] async for each in client.jobs.list(limit=2)]
                last = await client.jobs.list().page()
        self.assertEqual(found, ["job_3", "job_2", "job_1"])
        self.assertFalse(last["has_more"])

    async def test_has_the_methods_and_arguments_of_the_client(self) -> None:
        asynchronous = AsyncTryOnClient("k", "http://localhost")
        for name, expected in vars(TryOnClient("k", "http://localhost")).items():
            actual = getattr(asynchronous, name)
            methods = [each for each in dir(expected) if not each.startswith("_")]
            self.assertEqual(methods, [each for each in dir(actual) if not each.startswith("_")])
            for method in methods:
                self.assertEqual(
                    list(inspect.signature(getattr(expected, method)).parameters.items()),
                    list(inspect.signature(getattr(actual, method)).parameters.items()),
                    f"{name}.{method}",
                )
        asynchronous.close()


async def ended(client: AsyncTryOnClient) -> None:
    """Waits until no thread runs a call."""
    executor = client._threads._executor
    await asyncio.to_thread(executor.shutdown)
