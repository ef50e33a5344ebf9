"""The resources of the API, with the names of its JSON fields.

The client returns the JSON of the API unchanged. These types describe it and do not validate it.
The API may add fields, codes and event types, so handle unknown values in a default branch.
"""

from __future__ import annotations

from typing import List, Literal, Optional, TypedDict

JobStatus = Literal["pending", "processing", "completed", "failed", "cancelled", "refunded"]

Mode = Literal["live", "test"]

JobErrorCode = Literal[
    "model_image_unreachable",
    "garment_image_unreachable",
    "model_image_too_large",
    "garment_image_too_large",
    "model_image_unsupported_format",
    "garment_image_unsupported_format",
    "model_image_corrupt",
    "garment_image_corrupt",
    "generation_rejected",
    "person_not_found",
    "garment_not_found",
    "generation_failed",
    "generation_timeout",
    "engine_unavailable",
    "internal_error",
]

WebhookStatus = Literal["pending", "retrying", "delivered", "failed"]

WebhookEventType = Literal["job.completed", "job.failed", "job.refunded", "job.cancelled"]


class Submitted(TypedDict):
    """The response to a submission."""

    job_id: str
    status: Literal["pending"]
    created_at: str
    mode: Mode


class ListedJob(TypedDict):
    """A job as in lists and webhooks."""

    job_id: str
    status: JobStatus
    workspace_id: str
    mode: Mode
    output_url: Optional[str]
    """A signed URL of the picture, valid for 1 hour; None unless the job is completed."""
    credits_consumed: Optional[float]
    """1 in live mode and 0 in test mode; None unless the job is completed."""
    error_code: Optional[JobErrorCode]
    """Why the job failed; None unless it failed."""
    created_at: str
    completed_at: Optional[str]
    """When the job completed; None for any other end."""
    duration_ms: Optional[int]
    """Milliseconds from the start of processing to its end."""


class Job(ListedJob):
    """A job."""

    webhook_url: Optional[str]
    webhook_status: Optional[WebhookStatus]


class JobList(TypedDict):
    """A page of jobs, newest first."""

    jobs: List[ListedJob]
    next_cursor: Optional[str]
    """The cursor of the next page; None on the last page."""
    has_more: bool


class Cancelled(TypedDict):
    """The response to a cancellation."""

    job_id: str
    status: Literal["refunded"]
    refunded_credits: float


class Upload(TypedDict):
    """An uploaded image."""

    url: str
    """Use it as an image URL in jobs of the same organisation."""
    expires_at: str


class Workspace(TypedDict):
    """A workspace, to which jobs belong."""

    id: str
    name: str
    status: Literal["active", "archived"]
    created_at: str


class WorkspaceList(TypedDict):
    """The active workspaces."""

    workspaces: List[Workspace]


class Account(TypedDict):
    """The organisation of the API key."""

    org_id: str
    name: str
    plan: Literal["starter", "growth", "scale", "enterprise"]
    region_code: Literal["IN", "US", "EU", "GLOBAL"]
    currency_code: Literal["INR", "USD", "EUR"]
    credits: float
    """The credit balance."""
    auto_reload_enabled: bool


class WebhookEvent(TypedDict):
    """The body of a webhook."""

    type: WebhookEventType
    timestamp: str
    """When the job ended."""
    data: ListedJob


class WebhookEndpoint(TypedDict):
    """An endpoint that receives events."""

    id: str
    name: str
    url: str
    events: List[WebhookEventType]
    mode: Optional[Mode]
    """The mode of the jobs whose events it receives; None for both."""
    status: Literal["enabled", "disabled"]
    failing_since: Optional[str]
    created_at: str


class CreatedWebhookEndpoint(WebhookEndpoint):
    """A new endpoint with its signing secret."""

    secret: str


class WebhookEndpointList(TypedDict):
    """The webhook endpoints, oldest first."""

    webhook_endpoints: List[WebhookEndpoint]


class WebhookSecret(TypedDict):
    """A new signing secret."""

    secret: str


class TestEvent(TypedDict):
    """The test job whose event is sent."""

    job_id: str
    type: WebhookEventType


class WebhookDelivery(TypedDict):
    """The delivery of an event to one receiver."""

    event_id: str
    type: WebhookEventType
    status: WebhookStatus
    job_id: str
    endpoint_id: Optional[str]
    """None for the default URL and the URL of a job."""
    url: str
    attempt_count: int
    response_status: Optional[int]
    error: Optional[str]
    next_attempt_at: Optional[str]
    """None once it is delivered or has failed."""
    created_at: str


class WebhookAttempt(TypedDict):
    """An attempt at a delivery."""

    number: int
    attempted_at: str
    duration_ms: int
    response_status: Optional[int]
    response_body: Optional[str]
    error: Optional[str]


class WebhookDeliveryWithAttempts(WebhookDelivery):
    """A delivery with its attempts, the latest first."""

    attempts: List[WebhookAttempt]


class WebhookDeliveryList(TypedDict):
    """A page of deliveries, newest first."""

    webhook_deliveries: List[WebhookDelivery]
    next_cursor: Optional[str]
    """The cursor of the next page; None on the last page."""
    has_more: bool


class UsageTotal(TypedDict):
    """The sum of all days."""

    completed: int
    failed: int
    other: int
    """Cancelled and refunded jobs, and of today also unfinished ones."""
    credits_consumed: int


class UsageDay(UsageTotal):
    """The jobs that were submitted on one day, UTC."""

    date: str


# `from` is a keyword, so the field needs this form.
_UsageRange = TypedDict("_UsageRange", {"from": str, "to": str})


class UsageByKey(TypedDict):
    """The jobs and credits of one API key."""

    api_key_id: Optional[str]
    """`console` for jobs of the console; None for jobs whose key is not known."""
    name: Optional[str]
    days: List[UsageDay]
    """The days with jobs of the key."""
    total: UsageTotal


class _UsageGroups(TypedDict, total=False):
    api_keys: List[UsageByKey]
    """Only with group_by."""


class Usage(_UsageRange, _UsageGroups):
    """The jobs and credits of a range of days."""

    mode: Mode
    days: List[UsageDay]
    total: UsageTotal
    is_complete: bool
