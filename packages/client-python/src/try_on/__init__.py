"""Client of the Virtual Try-On API: two image URLs in, one picture out."""

from . import webhooks
from .client import TryOnClient
from .errors import (
    ApiConnectionError,
    ApiError,
    JobError,
    TryOnError,
    WaitTimeoutError,
    WebhookVerificationError,
)
from .http import __version__
from .models import (
    Account,
    Cancelled,
    Job,
    JobErrorCode,
    JobList,
    JobStatus,
    ListedJob,
    Mode,
    Submitted,
    Upload,
    WebhookEvent,
    WebhookEventType,
    WebhookStatus,
    Workspace,
)

__all__ = [
    "Account",
    "ApiConnectionError",
    "ApiError",
    "Cancelled",
    "Job",
    "JobError",
    "JobErrorCode",
    "JobList",
    "JobStatus",
    "ListedJob",
    "Mode",
    "Submitted",
    "TryOnClient",
    "TryOnError",
    "Upload",
    "WaitTimeoutError",
    "WebhookEvent",
    "WebhookEventType",
    "WebhookStatus",
    "WebhookVerificationError",
    "Workspace",
    "__version__",
    "webhooks",
]
