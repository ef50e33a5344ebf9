"""Webhook endpoints, deliveries and usage: the requests that the client sends."""

from __future__ import annotations

import json
import unittest
from datetime import date

from try_on import ApiConnectionError, ApiError

from .fake_api import FakeApi, Reply, error, page

CREATED = Reply(201, {"id": "we_1", "secret": "whsec_1"})


class EndpointsTest(unittest.TestCase):
    def test_creates_an_endpoint_with_the_given_settings(self) -> None:
        with FakeApi(CREATED) as api:
            endpoints = api.client().webhook_endpoints
            created = endpoints.create("https://shop.example/hook", events=("job.failed",))
            endpoints.create("https://shop.example/hook", mode="both", name="Orders")
        self.assertEqual(created["secret"], "whsec_1")
        self.assertEqual(
            [json.loads(request.body) for request in api.requests],
            [
                {"url": "https://shop.example/hook", "events": ["job.failed"]},
                {"url": "https://shop.example/hook", "name": "Orders", "mode": None},
            ],
        )

    def test_creates_at_most_one_endpoint(self) -> None:
        for reply in (Reply(None), error(500, "internal_error")):
            with FakeApi(reply) as api:
                with self.assertRaises((ApiConnectionError, ApiError)):
                    api.client().webhook_endpoints.create("https://shop.example/hook")
            self.assertEqual(len(api.requests), 1)

    def test_repeats_a_rejected_creation(self) -> None:
        limited = error(429, "rate_limit_exceeded", {"Retry-After": "0"})
        with FakeApi(limited, CREATED) as api:
            api.client().webhook_endpoints.create("https://shop.example/hook")
        self.assertEqual(len(api.requests), 2)

    def test_sends_changes_to_the_path_of_the_endpoint(self) -> None:
        with FakeApi(Reply(200, {"id": "we_1", "secret": "whsec_2"})) as api:
            endpoints = api.client().webhook_endpoints
            endpoints.get("we_1")
            endpoints.update("we_1", status="disabled")
            self.assertEqual(endpoints.rotate_secret("we_1"), "whsec_2")
            endpoints.send_test_event("we_1", "job.failed")
            endpoints.delete("a/b")
        self.assertEqual(
            [(request.method, request.path, request.body) for request in api.requests],
            [
                ("GET", "/v1/webhook-endpoints/we_1", b""),
                ("PATCH", "/v1/webhook-endpoints/we_1", b'{"status": "disabled"}'),
                ("POST", "/v1/webhook-endpoints/we_1/rotate-secret", b""),
                ("POST", "/v1/webhook-endpoints/we_1/test", b'{"type": "job.failed"}'),
                ("DELETE", "/v1/webhook-endpoints/a%2Fb", b""),
            ],
        )

    def test_lists_endpoints(self) -> None:
        with FakeApi(Reply(200, {"webhook_endpoints": [{"id": "we_1"}]})) as api:
            self.assertEqual(api.client().webhook_endpoints.list(), [{"id": "we_1"}])


class DeliveriesTest(unittest.TestCase):
    def test_iterates_over_pages_also_empty_ones(self) -> None:
        third, first = {"event_id": "evt_3"}, {"event_id": "evt_1"}
        name = "webhook_deliveries"
        with FakeApi(page(name, [third], "a"), page(name, [], "b"), page(name, [first])) as api:
            found = list(api.client().webhook_deliveries.list(status="failed"))
        self.assertEqual(found, [third, first])
        self.assertEqual(
            api.sent,
            [
                ("GET", "/v1/webhook-deliveries?status=failed"),
                ("GET", "/v1/webhook-deliveries?status=failed&cursor=a"),
                ("GET", "/v1/webhook-deliveries?status=failed&cursor=b"),
            ],
        )

    def test_reads_and_resends_a_delivery_once(self) -> None:
        with FakeApi(Reply(200, {"event_id": "evt_1"}), error(500, "internal_error")) as api:
            found = api.client().webhook_deliveries.get("evt_1")
            with self.assertRaises(ApiError):
                api.client().webhook_deliveries.resend(found["event_id"])
        self.assertEqual(
            api.sent,
            [
                ("GET", "/v1/webhook-deliveries/evt_1"),
                ("POST", "/v1/webhook-deliveries/evt_1/resend"),
            ],
        )


class UsageTest(unittest.TestCase):
    def test_sends_the_range_and_the_groups(self) -> None:
        with FakeApi(Reply(200, {"days": []})) as api:
            api.client().usage.get()
            api.client().usage.get(from_date=date(2026, 11, 1), to_date="2026-11-20")
            api.client().usage.get(group_by="api_key")
        self.assertEqual(
            api.sent,
            [
                ("GET", "/v1/usage"),
                ("GET", "/v1/usage?from=2026-11-01&to=2026-11-20"),
                ("GET", "/v1/usage?group_by=api_key"),
            ],
        )
