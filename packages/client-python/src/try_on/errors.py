"""The exceptions of the client. All of them are subclasses of TryOnError.

Each passes its arguments to Exception, so that task queues and process pools can pickle it.
"""

from __future__ import annotations

from typing import Optional

from .models import Job


class TryOnError(Exception):
    """The base class of all exceptions of this package.

    Attributes:
        job_id: The job of ``run`` or ``jobs.wait``. Unless the error is a JobError, the job
            continues: wait for it with ``jobs.wait`` instead of submitting it again. None when the
            submission itself failed, and for other calls.
    """

    job_id: Optional[str] = None


class ApiError(TryOnError):
    """The API rejected a request, or its response was not valid.

    Attributes:
        status: The HTTP status.
        code: The code of the error, for example ``validation_error``. It is
            ``unexpected_response`` when the response does not have the form of this API, for
            example the error page of a proxy.
        message: A description for developers.
        request_id: The ``X-Request-Id`` of the response. Quote it to support.
        retry_after_seconds: The ``Retry-After`` of the response, in seconds.
        docs_url: The page that explains the code.
    """

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        request_id: Optional[str],
        retry_after_seconds: Optional[float],
        docs_url: str,
    ) -> None:
        super().__init__(status, code, message, request_id, retry_after_seconds, docs_url)
        self.status = status
        self.code = code
        self.message = message
        self.request_id = request_id
        self.retry_after_seconds = retry_after_seconds
        self.docs_url = docs_url

    def __str__(self) -> str:
        request = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.status} {self.code}: {self.message}{request}"


class ApiConnectionError(TryOnError):
    """The API could not be reached, or it did not respond in time."""


class JobError(TryOnError):
    """The job of ``run`` ended without a picture. It costs no credit.

    Attributes:
        job: The job.
        code: The ``error_code`` of a failed job; None for a cancelled job.
    """

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.job = job
        self.job_id = job["job_id"]
        self.code = job["error_code"]

    def __str__(self) -> str:
        reason = f": {self.code}" if self.code else ""
        return f"Job {self.job['job_id']} is {self.job['status']}{reason}"


class WaitTimeoutError(TryOnError):
    """The job did not end within the time of ``wait`` or ``run``. It continues.

    Attributes:
        job: The job as last read. Pass its ``job_id`` to ``jobs.wait`` to continue waiting.
    """

    def __init__(self, job: Job, timeout_seconds: float) -> None:
        super().__init__(job, timeout_seconds)
        self.job = job
        self.job_id = job["job_id"]
        self._timeout_seconds = timeout_seconds

    def __str__(self) -> str:
        seconds = f"{self._timeout_seconds:g} seconds"
        return f"Job {self.job['job_id']} is {self.job['status']} after {seconds}"


class WebhookVerificationError(TryOnError):
    """A webhook request is not signed with the secret, or it is too old. Respond with 400."""
