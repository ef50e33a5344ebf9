"""TryOnClient: the operations of the API, grouped by resource."""

from __future__ import annotations

import os
import re
import urllib.parse
import uuid
from pathlib import Path
from typing import Callable, List, Optional, Union, cast

from .errors import JobError, TryOnError
from .http import HttpClient
from .jobs import Jobs
from .management import UsageResource, WebhookDeliveries, WebhookEndpoints
from .models import Account, Job, Submitted, Upload, Workspace, WorkspaceList


class TryOnClient:
    """A client of the Virtual Try-On API. Can be shared between threads.

    Args:
        api_key: A live or test key. Default: the environment variable ``TRY_ON_API_KEY``.
        base_url: The address of the service, without ``/v1``. Default: ``TRY_ON_BASE_URL``.
        max_retries: Retries after a connection error, 429 or 5xx.
        timeout_seconds: The limit for connecting and for each read of a response. The time for
            which the API waits for the end of a job comes in addition.

    Attributes:
        try_on: Submits jobs.
        jobs: Reads, lists and cancels jobs.
        uploads: Uploads images.
        workspaces: Lists workspaces.
        account: Reads the account.
        usage: Reads the jobs and credits of each day.
        webhook_endpoints: Manages webhook endpoints.
        webhook_deliveries: Reads and resends webhook deliveries.

    Raises:
        TryOnError: There is no key or no address, or the key has characters that no key has.
    """

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        max_retries: int = 2,
        timeout_seconds: float = 60,
    ) -> None:
        key = (api_key or os.environ.get("TRY_ON_API_KEY", "")).strip()
        if not key:
            raise TryOnError("Pass api_key or set TRY_ON_API_KEY.")
        # http.client would raise an error that contains the header, and so the key.
        if not re.fullmatch(r"[\x21-\x7e]+", key):
            raise TryOnError("api_key has characters that no key has.")
        url = (base_url or os.environ.get("TRY_ON_BASE_URL", "")).strip().rstrip("/")
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise TryOnError(
                "Pass base_url or set TRY_ON_BASE_URL, for example https://try-on.example."
            )
        http = HttpClient(
            api_key=key, base_url=url, max_retries=max_retries, timeout_seconds=timeout_seconds
        )
        self.jobs = Jobs(http)
        self.try_on = TryOn(http, self.jobs)
        self.uploads = Uploads(http)
        self.workspaces = Workspaces(http)
        self.account = AccountResource(http)
        self.usage = UsageResource(http)
        self.webhook_endpoints = WebhookEndpoints(http)
        self.webhook_deliveries = WebhookDeliveries(http)


class TryOn:
    """Submits jobs."""

    def __init__(self, http: HttpClient, jobs: Jobs) -> None:
        self._http = http
        self._jobs = jobs

    def submit(
        self,
        *,
        model_image_url: str,
        garment_image_url: str,
        workspace_id: Optional[str] = None,
        webhook_url: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Submitted:
        """Submits a job and returns without waiting for its end.

        Args:
            model_image_url: A photo of a person: JPEG, PNG or WebP, at most 10 MB.
            garment_image_url: A photo of a garment: JPEG, PNG or WebP, at most 10 MB.
            workspace_id: Default: the first active workspace.
            webhook_url: Receives the result. Default: the URL that is set in the console.
            idempotency_key: The same key and arguments return the same job for 24 hours. Default:
                a new key, so that a retry of this call never creates a second job.

        Raises:
            ApiError: The API rejected the job.
            ApiConnectionError: There was no response. The job may exist: repeat the call with the
                same idempotency_key.
        """
        body = {
            "model_image_url": model_image_url,
            "garment_image_url": garment_image_url,
            "workspace_id": workspace_id,
            "webhook_url": webhook_url,
        }
        return cast(
            Submitted,
            self._http.request(
                "POST",
                "/v1/tryon",
                body={name: value for name, value in body.items() if value is not None},
                headers={"Idempotency-Key": idempotency_key or str(uuid.uuid4())},
            ),
        )

    def run(
        self,
        *,
        model_image_url: str,
        garment_image_url: str,
        workspace_id: Optional[str] = None,
        webhook_url: Optional[str] = None,
        idempotency_key: Optional[str] = None,
        timeout_seconds: float = 300,
        on_update: Optional[Callable[[Job], object]] = None,
    ) -> Job:
        """Submits a job, waits for its end and returns the completed job.

        Takes the arguments of ``submit`` and ``jobs.wait``.

        Raises:
            JobError: The job ended without a picture.
            WaitTimeoutError: The job did not end in time. It continues.
            ApiError: The API rejected a request. If ``job_id`` is set, the job continues.
            ApiConnectionError: There was no response. If ``job_id`` is set, the job continues.
        """
        submitted = self.submit(
            model_image_url=model_image_url,
            garment_image_url=garment_image_url,
            workspace_id=workspace_id,
            webhook_url=webhook_url,
            idempotency_key=idempotency_key,
        )
        job = self._jobs.wait(
            submitted["job_id"], timeout_seconds=timeout_seconds, on_update=on_update
        )
        if job["status"] != "completed":
            raise JobError(job)
        return job


class Uploads:
    """Uploads images."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def create(self, image: Union[bytes, bytearray, str, os.PathLike[str]]) -> Upload:
        """Uploads an image and returns a URL for jobs of the same organisation.

        Args:
            image: The bytes or the path of a JPEG, PNG or WebP file of at most 10 MB.

        Raises:
            OSError: The file cannot be read.
            ApiError: The API rejected the image.
            ApiConnectionError: There was no response.
        """
        content = (
            bytes(image) if isinstance(image, (bytes, bytearray)) else Path(image).read_bytes()
        )
        return cast(Upload, self._http.request("POST", "/v1/uploads", body=content))


class Workspaces:
    """Lists workspaces."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def list(self) -> List[Workspace]:
        """Returns the active workspaces.

        Raises:
            ApiError: The API rejected the request.
            ApiConnectionError: There was no response.
        """
        return cast(WorkspaceList, self._http.request("GET", "/v1/workspaces"))["workspaces"]


class AccountResource:
    """Reads the account."""

    def __init__(self, http: HttpClient) -> None:
        self._http = http

    def get(self) -> Account:
        """Returns the organisation of the API key, with its credit balance.

        Raises:
            ApiError: The API rejected the request.
            ApiConnectionError: There was no response.
        """
        return cast(Account, self._http.request("GET", "/v1/account"))
