"""Jobs: reading, waiting, cancelling and listing."""

from __future__ import annotations

import math
import time
import urllib.parse
from datetime import datetime, timezone
from typing import Callable, Optional, Union, cast

from .errors import ApiConnectionError, ApiError, WaitTimeoutError
from .http import HttpClient, pause, retry_delay
from .models import Cancelled, Job, JobList, JobStatus, ListedJob
from .pages import Pages

# The API waits at most 30 seconds.
_MAX_WAIT_SECONDS = 30
# The wait of each read when on_update is given.
_UPDATE_SECONDS = 5
# The time between reads when the API does not wait.
_POLL_SECONDS = 1.0
_ENDED = ("completed", "failed", "cancelled", "refunded")

class Jobs:
    """Reads, lists and cancels jobs."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def get(self, job_id: str, *, wait_seconds: int = 0) -> Job:
        """Returns a job.

        Args:
            wait_seconds: The API responds when the job has ended, after at most this time (0 to
                30).

        Raises:
            ApiError: ``job_not_found``, ``forbidden`` and others.
            ApiConnectionError: There was no response.
        """
        return self._read(job_id, wait_seconds)

    def _read(self, job_id: str, wait_seconds: int, max_retries: Optional[int] = None) -> Job:
        path = _path_of(job_id)
        return cast(
            Job,
            self._http.request("GET", path, wait_seconds=wait_seconds, max_retries=max_retries),
        )

    def wait(
        self,
        job_id: str,
        *,
        timeout_seconds: float = 300,
        on_update: Optional[Callable[[Job], object]] = None,
    ) -> Job:
        """Waits until a job has ended and returns it, in any final status.

        A connection error, 429 or 5xx does not end the wait.

        Args:
            timeout_seconds: The limit for the wait.
            on_update: Called with the job after each read, about every 5 seconds.

        Raises:
            WaitTimeoutError: The job did not end in time. It continues.
            ApiError: The API rejected a request, or no request succeeded in time.
            ApiConnectionError: There was no response in time.
        """
        ends_at = time.monotonic() + timeout_seconds
        longest = _MAX_WAIT_SECONDS if on_update is None else _UPDATE_SECONDS
        last_read: Optional[Job] = None
        failures = 0
        while True:
            read_at = time.monotonic()
            wait_seconds = max(0, min(longest, math.ceil(ends_at - read_at)))
            try:
                job = self._read(job_id, wait_seconds, max_retries=0)
            except (ApiError, ApiConnectionError) as error:
                error.job_id = job_id
                delay = retry_delay(error, failures, max_retry_after_seconds=math.inf)
                if delay is None:
                    raise
                now = time.monotonic()
                if now >= ends_at:
                    if last_read is None:
                        raise
                    raise WaitTimeoutError(last_read, timeout_seconds) from error
                failures += 1
                pause(min(delay, ends_at - now))
                continue
            last_read, failures = job, 0
            if on_update is not None:
                on_update(job)
            if job["status"] in _ENDED:
                return job
            now = time.monotonic()
            if now >= ends_at:
                raise WaitTimeoutError(job, timeout_seconds)
            pause(max(0.0, min(read_at + _POLL_SECONDS, ends_at) - now))

    def cancel(self, job_id: str) -> Cancelled:
        """Cancels a pending job and refunds its credit.

        Retries only after 429: the API would reject a second cancellation.

        Raises:
            ApiError: ``job_not_cancellable``: the job is no longer pending; and others.
            ApiConnectionError: There was no response. Read the job to see whether it is refunded.
        """
        return cast(Cancelled, self._http.request("DELETE", _path_of(job_id), repeatable=False))

    def delete_output(self, job_id: str) -> None:
        """Deletes the pictures of a job that has ended. The job itself is not deleted.

        Also deletes the uploads that the job used: other jobs can no longer use them.

        Raises:
            ApiError: ``job_not_finished``: the job has not ended; and others.
            ApiConnectionError: There was no response.
        """
        self._http.request("DELETE", f"{_path_of(job_id)}/output")

    def list(
        self,
        *,
        workspace_id: Optional[str] = None,
        status: Optional[JobStatus] = None,
        created_after: Union[datetime, str, None] = None,
        created_before: Union[datetime, str, None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> JobPages:
        """Lists jobs, newest first. Iterate over the result, or call its ``page`` method.

        Args:
            workspace_id: Only jobs of this workspace.
            status: Only jobs with this status.
            created_after: Only jobs created at this instant or later: a datetime with a time zone
                or ISO 8601.
            created_before: Only jobs created before this instant.
            limit: Jobs per page (1 to 100, default 20). It does not limit the iteration.
            cursor: The ``next_cursor`` of a page with the same filters.

        Raises:
            ValueError: A datetime has no time zone.
        """
        return Pages(
            self._http,
            "/v1/jobs",
            "jobs",
            {
                "workspace_id": workspace_id,
                "status": status,
                "created_after": _instant(created_after),
                "created_before": _instant(created_before),
                "limit": limit,
                "cursor": cursor,
            },
        )


JobPages = Pages[ListedJob, JobList]


def _path_of(job_id: str) -> str:
    return f"/v1/jobs/{urllib.parse.quote(job_id, safe='')}"


def _instant(value: Union[datetime, str, None]) -> Optional[str]:
    """Formats an instant. A datetime without a time zone is ambiguous."""
    if not isinstance(value, datetime):
        return value
    if value.tzinfo is None:
        raise ValueError(
            "The datetime has no time zone. Use for example datetime.now(timezone.utc)."
        )
    return value.astimezone(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
