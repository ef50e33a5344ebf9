"""AsyncTryOnClient: the client for asyncio.

It runs the methods of TryOnClient in threads of its own, so that both have the same requests, retries and
errors. A cancelled task continues at once. Its call then sends no further request: a request that has been
sent runs to its end in its thread, and its response is discarded.
"""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import date, datetime
from typing import (
    Any,
    AsyncIterator,
    Callable,
    Generic,
    List,
    Literal,
    Optional,
    Sequence,
    TypeVar,
    Union,
)

from .client import TryOnClient
from .http import cancelled
from .management import EndpointMode
from .models import (
    Account,
    Cancelled,
    CreatedWebhookEndpoint,
    Job,
    JobList,
    JobStatus,
    ListedJob,
    Submitted,
    TestEvent,
    Upload,
    Usage,
    WebhookDelivery,
    WebhookDeliveryList,
    WebhookDeliveryWithAttempts,
    WebhookEndpoint,
    WebhookEventType,
    WebhookStatus,
    Workspace,
)
from .pages import Item, Page, Pages

Result = TypeVar("Result")
OnUpdate = Optional[Callable[[Job], object]]


class _Threads:
    """Runs calls in threads."""

    def __init__(self, max_concurrency: int) -> None:
        self._executor = ThreadPoolExecutor(max_concurrency, thread_name_prefix="try-on")

    async def run(self, call: Callable[..., Result], *args: Any, **kwargs: Any) -> Result:
        stopped = threading.Event()
        context = contextvars.copy_context()
        context.run(cancelled.set, stopped)
        loop = asyncio.get_running_loop()
        try:
            return await loop.run_in_executor(
                self._executor, lambda: context.run(call, *args, **kwargs)
            )
        except asyncio.CancelledError:
            stopped.set()
            raise

    def close(self) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)


def _in_loop(on_update: OnUpdate) -> OnUpdate:
    """Calls ``on_update`` in the event loop and waits for it, so that its error ends the call."""
    if on_update is None:
        return None
    loop = asyncio.get_running_loop()

    def update(job: Job) -> None:
        stopped = cancelled.get()
        done: Future[None] = Future()

        def call() -> None:
            try:
                # A cancelled task gets no further update.
                if stopped is None or not stopped.is_set():
                    on_update(job)
                done.set_result(None)
            except Exception as error:
                done.set_exception(error)

        loop.call_soon_threadsafe(call)
        done.result()

    return update


class AsyncPages(Generic[Item, Page]):
    """The result of a list. Sends no request until it is used.

    ``async for`` reads page after page and yields each item; it raises ApiError or ApiConnectionError.
    """

    def __init__(self, threads: _Threads, pages: Pages[Item, Page]) -> None:
        self._threads = threads
        self._pages = pages

    async def page(self) -> Page:
        """Reads one page. Raises as the synchronous client does."""
        return await self._threads.run(self._pages.page)

    async def __aiter__(self) -> AsyncIterator[Item]:
        pages = self._pages._pages()
        while True:
            items: Optional[List[Item]] = await self._threads.run(next, pages, None)
            if items is None:
                return
            for item in items:
                yield item


class AsyncTryOnClient:
    """A client of the Virtual Try-On API for asyncio. Use it with ``async with``, or call ``close``.

    Its methods have the arguments and raise the exceptions of TryOnClient.

    Args:
        api_key: A live or test key. Default: the environment variable ``TRY_ON_API_KEY``.
        base_url: The address of the service, without ``/v1``. Default: ``TRY_ON_BASE_URL``.
        max_retries: Retries after a connection error, 429 or 5xx.
        timeout_seconds: The limit for connecting and for each read of a response.
        max_concurrency: The number of calls at a time, each in a thread. Further calls wait.

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
        max_concurrency: int = 32,
    ) -> None:
        client = TryOnClient(
            api_key, base_url, max_retries=max_retries, timeout_seconds=timeout_seconds
        )
        self._threads = _Threads(max_concurrency)
        self.try_on = AsyncTryOn(client, self._threads)
        self.jobs = AsyncJobs(client, self._threads)
        self.uploads = AsyncUploads(client, self._threads)
        self.workspaces = AsyncWorkspaces(client, self._threads)
        self.account = AsyncAccount(client, self._threads)
        self.usage = AsyncUsage(client, self._threads)
        self.webhook_endpoints = AsyncWebhookEndpoints(client, self._threads)
        self.webhook_deliveries = AsyncWebhookDeliveries(client, self._threads)

    async def __aenter__(self) -> AsyncTryOnClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends the threads once their requests have ended. Calls that wait for a thread are cancelled."""
        self._threads.close()


class _Resource:
    def __init__(self, client: TryOnClient, threads: _Threads) -> None:
        self._client = client
        self._run = threads.run
        self._threads = threads


class AsyncTryOn(_Resource):
    """Submits jobs."""

    async def submit(
        self,
        *,
        model_image_url: str,
        garment_image_url: str,
        workspace_id: Optional[str] = None,
        webhook_url: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Submitted:
        """Submits a job and returns without waiting for its end."""
        return await self._run(
            self._client.try_on.submit,
            model_image_url=model_image_url,
            garment_image_url=garment_image_url,
            workspace_id=workspace_id,
            webhook_url=webhook_url,
            idempotency_key=idempotency_key,
        )

    async def run(
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

        When the task is cancelled, a job that was submitted continues.
        """
        return await self._run(
            self._client.try_on.run,
            model_image_url=model_image_url,
            garment_image_url=garment_image_url,
            workspace_id=workspace_id,
            webhook_url=webhook_url,
            idempotency_key=idempotency_key,
            timeout_seconds=timeout_seconds,
            on_update=_in_loop(on_update),
        )


class AsyncJobs(_Resource):
    """Reads, lists and cancels jobs."""

    async def get(self, job_id: str, *, wait_seconds: int = 0) -> Job:
        """Returns a job."""
        return await self._run(self._client.jobs.get, job_id, wait_seconds=wait_seconds)

    async def wait(
        self,
        job_id: str,
        *,
        timeout_seconds: float = 300,
        on_update: Optional[Callable[[Job], object]] = None,
    ) -> Job:
        """Waits until a job has ended and returns it, in any final status."""
        return await self._run(
            self._client.jobs.wait,
            job_id,
            timeout_seconds=timeout_seconds,
            on_update=_in_loop(on_update),
        )

    async def cancel(self, job_id: str) -> Cancelled:
        """Cancels a pending job and refunds its credit."""
        return await self._run(self._client.jobs.cancel, job_id)

    async def delete_output(self, job_id: str) -> None:
        """Deletes the pictures of a job that has ended."""
        await self._run(self._client.jobs.delete_output, job_id)

    def list(
        self,
        *,
        workspace_id: Optional[str] = None,
        status: Optional[JobStatus] = None,
        created_after: Union[datetime, str, None] = None,
        created_before: Union[datetime, str, None] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncPages[ListedJob, JobList]:
        """Lists jobs, newest first. Use ``async for``, or await its ``page`` method."""
        pages = self._client.jobs.list(
            workspace_id=workspace_id,
            status=status,
            created_after=created_after,
            created_before=created_before,
            limit=limit,
            cursor=cursor,
        )
        return AsyncPages(self._threads, pages)


class AsyncUploads(_Resource):
    """Uploads images."""

    async def create(self, image: Union[bytes, bytearray, str, os.PathLike[str]]) -> Upload:
        """Uploads an image and returns a URL for jobs of the same organisation."""
        return await self._run(self._client.uploads.create, image)


class AsyncWorkspaces(_Resource):
    """Lists workspaces."""

    async def list(self) -> List[Workspace]:
        """Returns the active workspaces."""
        return await self._run(self._client.workspaces.list)


class AsyncAccount(_Resource):
    """Reads the account."""

    async def get(self) -> Account:
        """Returns the organisation of the API key, with its credit balance."""
        return await self._run(self._client.account.get)


class AsyncUsage(_Resource):
    """Reads the usage."""

    async def get(
        self,
        *,
        from_date: Union[date, str, None] = None,
        to_date: Union[date, str, None] = None,
        group_by: Optional[Literal["api_key"]] = None,
    ) -> Usage:
        """Returns the jobs and credits of each day (UTC), in the mode of the key."""
        return await self._run(
            self._client.usage.get, from_date=from_date, to_date=to_date, group_by=group_by
        )


class AsyncWebhookEndpoints(_Resource):
    """Manages webhook endpoints."""

    async def list(self) -> List[WebhookEndpoint]:
        """Returns the endpoints, oldest first."""
        return await self._run(self._client.webhook_endpoints.list)

    async def create(
        self,
        url: str,
        *,
        events: Optional[Sequence[WebhookEventType]] = None,
        mode: Optional[EndpointMode] = None,
        name: Optional[str] = None,
    ) -> CreatedWebhookEndpoint:
        """Creates an endpoint and returns it with its ``secret``, which no other call returns."""
        create = self._client.webhook_endpoints.create
        return await self._run(create, url, events=events, mode=mode, name=name)

    async def get(self, endpoint_id: str) -> WebhookEndpoint:
        """Returns an endpoint."""
        return await self._run(self._client.webhook_endpoints.get, endpoint_id)

    async def update(
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
        return await self._run(
            self._client.webhook_endpoints.update,
            endpoint_id,
            url=url,
            events=events,
            mode=mode,
            name=name,
            status=status,
        )

    async def delete(self, endpoint_id: str) -> None:
        """Deletes an endpoint."""
        await self._run(self._client.webhook_endpoints.delete, endpoint_id)

    async def rotate_secret(self, endpoint_id: str) -> str:
        """Creates a new secret and returns it."""
        return await self._run(self._client.webhook_endpoints.rotate_secret, endpoint_id)

    async def send_test_event(
        self, endpoint_id: str, type: WebhookEventType = "job.completed"
    ) -> TestEvent:
        """Sends the event of a free test job to this endpoint only."""
        return await self._run(self._client.webhook_endpoints.send_test_event, endpoint_id, type)


class AsyncWebhookDeliveries(_Resource):
    """Reads and resends webhook deliveries."""

    def list(
        self,
        *,
        job_id: Optional[str] = None,
        endpoint_id: Optional[str] = None,
        status: Optional[WebhookStatus] = None,
        limit: Optional[int] = None,
        cursor: Optional[str] = None,
    ) -> AsyncPages[WebhookDelivery, WebhookDeliveryList]:
        """Lists deliveries, newest first. Use ``async for``, or await its ``page`` method."""
        pages = self._client.webhook_deliveries.list(
            job_id=job_id, endpoint_id=endpoint_id, status=status, limit=limit, cursor=cursor
        )
        return AsyncPages(self._threads, pages)

    async def get(self, event_id: str) -> WebhookDeliveryWithAttempts:
        """Returns a delivery with its attempts."""
        return await self._run(self._client.webhook_deliveries.get, event_id)

    async def resend(self, event_id: str) -> WebhookDeliveryWithAttempts:
        """Delivers an event again now."""
        return await self._run(self._client.webhook_deliveries.resend, event_id)
