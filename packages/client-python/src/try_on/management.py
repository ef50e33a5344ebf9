"""Webhook endpoints, their deliveries, and usage."""

from __future__ import annotations

import urllib.parse
from datetime import date
from typing import Any, Dict, List, Literal, Optional, Sequence, Union, cast

from .http import HttpClient
from .models import (
    CreatedWebhookEndpoint,
    Mode,
    TestEvent,
    Usage,
    WebhookDelivery,
    WebhookDeliveryList,
    WebhookDeliveryWithAttempts,
    WebhookEndpoint,
    WebhookEndpointList,
    WebhookEventType,
    WebhookSecret,
    WebhookStatus,
)
from .pages import Pages

EndpointMode = Literal["live", "test", "both"]

DeliveryPages = Pages[WebhookDelivery, WebhookDeliveryList]

_ENDPOINTS = "/v1/webhook-endpoints"
_DELIVERIES = "/v1/webhook-deliveries"


class WebhookEndpoints:
    """Manages webhook endpoints. With a test key, those of test mode.

    Every method raises ApiError if the API rejects the request, with the code ``not_found`` for an
    unknown endpoint, and ApiConnectionError if there was no response.
    """

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def list(self) -> List[WebhookEndpoint]:
        """Returns the endpoints, oldest first."""
        found = cast(WebhookEndpointList, self._http.request("GET", _ENDPOINTS))
        return found["webhook_endpoints"]

    def create(
        self,
        url: str,
        *,
        events: Optional[Sequence[WebhookEventType]] = None,
        mode: Optional[EndpointMode] = None,
        name: Optional[str] = None,
    ) -> CreatedWebhookEndpoint:
        """Creates an endpoint and returns it with its ``secret``, which no other call returns.

        Retries only after 429: a repetition could create two.

        Args:
            url: Receives the events.
            events: Default: all types.
            mode: The mode of the jobs. Default: the mode of the key.
            name: Default: the host of the URL.
        """
        body = _settings(url=url, events=events, mode=mode, name=name)
        return cast(
            CreatedWebhookEndpoint,
            self._http.request("POST", _ENDPOINTS, body=body, repeatable=False),
        )

    def get(self, endpoint_id: str) -> WebhookEndpoint:
        """Returns an endpoint."""
        return cast(WebhookEndpoint, self._http.request("GET", _path(_ENDPOINTS, endpoint_id)))

    def update(
        self,
        endpoint_id: str,
        *,
        url: Optional[str] = None,
        events: Optional[Sequence[WebhookEventType]] = None,
        mode: Optional[EndpointMode] = None,
        name: Optional[str] = None,
        status: Optional[Literal["enabled", "disabled"]] = None,
    ) -> WebhookEndpoint:
        """Changes the given fields of an endpoint, and returns it."""
        body = _settings(url=url, events=events, mode=mode, name=name, status=status)
        path = _path(_ENDPOINTS, endpoint_id)
        return cast(WebhookEndpoint, self._http.request("PATCH", path, body=body))

    def delete(self, endpoint_id: str) -> None:
        """Deletes an endpoint. Its undelivered events fail."""
        self._http.request("DELETE", _path(_ENDPOINTS, endpoint_id))

    def rotate_secret(self, endpoint_id: str) -> str:
        """Creates a new secret and returns it. The previous one also signs for 24 hours.

        Retries only after 429.
        """
        path = f"{_path(_ENDPOINTS, endpoint_id)}/rotate-secret"
        return cast(WebhookSecret, self._http.request("POST", path, repeatable=False))["secret"]

    def send_test_event(
        self, endpoint_id: str, type: WebhookEventType = "job.completed"
    ) -> TestEvent:
        """Sends the event of a free test job to this endpoint only. Retries only after 429."""
        path = f"{_path(_ENDPOINTS, endpoint_id)}/test"
        body = {"type": type}
        return cast(TestEvent, self._http.request("POST", path, body=body, repeatable=False))


class WebhookDeliveries:
    """Reads and resends webhook deliveries. With a test key, those of test jobs.

    Every method raises ApiError if the API rejects the request, with the code ``not_found`` for an
    unknown delivery, and ApiConnectionError if there was no response.
    """

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def list(
        self,
        *,
        job_id: Optional[str] = None,
        endpoint_id: Optional[str] = None,
        status: Optional[WebhookStatus] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> DeliveryPages:
        """Lists the deliveries of the last 30 days, newest first.

        Iterate over the result, or call its ``page`` method. With filters, a page can be short or
        empty although another one follows.

        Args:
            job_id: Only deliveries of the events of this job.
            endpoint_id: Only deliveries to this endpoint. ``default``: to the default URL and the
                URLs of jobs.
            status: Only deliveries with this status.
            limit: Deliveries per page (1 to 100, default 20). It does not limit the iteration.
            cursor: The ``next_cursor`` of a page with the same filters.
        """
        return Pages(
            self._http,
            _DELIVERIES,
            "webhook_deliveries",
            {
                "job_id": job_id,
                "endpoint_id": endpoint_id,
                "status": status,
                "limit": limit,
                "cursor": cursor,
            },
        )

    def get(self, event_id: str) -> WebhookDeliveryWithAttempts:
        """Returns a delivery with its attempts."""
        path = _path(_DELIVERIES, event_id)
        return cast(WebhookDeliveryWithAttempts, self._http.request("GET", path))

    def resend(self, event_id: str) -> WebhookDeliveryWithAttempts:
        """Delivers an event again now. Retries only after 429.

        Raises:
            ApiError: ``delivery_in_progress``: an attempt is in progress; and others.
            ApiConnectionError: There was no response.
        """
        path = f"{_path(_DELIVERIES, event_id)}/resend"
        return cast(
            WebhookDeliveryWithAttempts, self._http.request("POST", path, repeatable=False)
        )


class UsageResource:
    """Reads the usage."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def get(
        self,
        *,
        from_date: Union[date, str, None] = None,
        to_date: Union[date, str, None] = None,
        group_by: Optional[Literal["api_key"]] = None,
    ) -> Usage:
        """Returns the jobs and credits of each day (UTC), in the mode of the key.

        Args:
            from_date: The first day, one of the latest 90. Default: 29 days before to_date.
            to_date: The last day. Default: today.
            group_by: "api_key" adds "api_keys", the usage by API key.

        Raises:
            ApiError: The API rejected the request.
            ApiConnectionError: There was no response.
        """
        query = {"from": _day(from_date), "to": _day(to_date), "group_by": group_by}
        return cast(Usage, self._http.request("GET", "/v1/usage", query=query))


def _settings(*, mode: Optional[EndpointMode], **fields: Any) -> Dict[str, Any]:
    body = {name: value for name, value in fields.items() if value is not None}
    if body.get("events") is not None:
        body["events"] = list(body["events"])
    value: Optional[Mode] = None if mode == "both" else mode
    return body if mode is None else {**body, "mode": value}


def _path(collection: str, item_id: str) -> str:
    return f"{collection}/{urllib.parse.quote(item_id, safe='')}"


def _day(value: Union[date, str, None]) -> Optional[str]:
    return value.isoformat()[:10] if isinstance(value, date) else value
