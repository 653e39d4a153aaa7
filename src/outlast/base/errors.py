"""Every public error, as one tree. The second level answers the caller's only question: what now?

OutlastError
├── InvalidRequest      fix the request
├── PermissionNeeded    ask for permission
├── CreditsNeeded       buy credits
├── Gone                it is gone (or was never there for you)
├── Conflict            another user was faster, or the state has changed
├── TryLater            try again later; the only branch workers retry; carries retry_after_s
├── ProviderRefused     a model provider said no for good
├── StartRefused        the server will not start like this
└── InternalError       our bug

An error's code is its class's name in snake case, so to rename a class is to change the API.
Errors know nothing of HTTP; `kernel/http/problems.py` maps codes to status. Messages name settings, never an id or a
secret's value and never what a person wrote. Every error survives pickling and JSON.
"""

import re
from functools import partial
from typing import Any, ClassVar, TypeVar

T = TypeVar("T")


class OutlastError(Exception):
    """Base of all: a stable `code`, a message for people (what was refused, in which state), a hint (what to do), named
    fields (ids among them), and for `TryLater` the seconds to wait."""

    code: ClassVar[str] = "outlast_error"
    default_hint: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        if "code" not in vars(cls):
            cls.code = re.sub(r"\B(?=[A-Z])", "_", cls.__name__).lower()

    def __init__(
        self, message: str, *, hint: str | None = None, retry_after_s: float | None = None, **fields: Any
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint
        self.retry_after_s = retry_after_s
        self.fields = fields

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: code, message, hint, fields and, where known, retry_after_s."""
        body: dict[str, Any] = {"code": self.code, "message": self.message, "hint": self.hint, "fields": self.fields}
        if self.retry_after_s is not None:
            body["retry_after_s"] = self.retry_after_s
        return body

    def __reduce__(self) -> tuple[Any, ...]:
        again = partial(type(self), hint=self.hint, retry_after_s=self.retry_after_s, **self.fields)
        return again, (self.message,)


class InvalidRequest(OutlastError): ...


class PermissionNeeded(OutlastError): ...


class CreditsNeeded(OutlastError):
    default_hint = "Choose a cheaper model, wait for the monthly reset, or ask the operator for a larger plan."


class Gone(OutlastError): ...


class Conflict(OutlastError): ...


class TryLater(OutlastError): ...


class ProviderRefused(OutlastError): ...


class StartRefused(OutlastError): ...


class InternalError(OutlastError):
    default_hint = "This is a bug in Outlast. The server's log has the details under the request id."


class MalformedInput(InvalidRequest): ...


class InputTooLarge(InvalidRequest): ...


class BodyTooSlow(InvalidRequest):
    default_hint = "Send the request again, over a faster connection."


class EmptyMessage(InvalidRequest):
    default_hint = "Write some text or attach an image."


class UnknownModel(InvalidRequest):
    default_hint = "GET /v1/models lists the configured models."


class ActionNotOffered(InvalidRequest):
    default_hint = "Load the page again: it may have changed."


class VisionUnsupported(InvalidRequest):
    default_hint = "Choose a model marked with vision, or remove the images."


class UnknownProfile(InvalidRequest): ...


class CursorUnknown(InvalidRequest):
    default_hint = "Load the resource again and follow from the cursor it names."


class InvalidSetting(InvalidRequest): ...


class IdempotencyMismatch(InvalidRequest):
    default_hint = "Use a new Idempotency-Key for a different request."


class ArgumentsInvalid(InvalidRequest): ...


class PathRefused(InvalidRequest):
    default_hint = "Use a path relative to the workspace, without '..'."


class NotOffered(InvalidRequest):
    default_hint = "/docs/guides/e2b-sdk/ lists the calls that work."


class UnknownTheme(InvalidRequest):
    default_hint = "GET /v1/themes lists the themes; `custom` takes theme_tokens."


class NotSignedIn(PermissionNeeded):
    default_hint = "Send 'Authorization: Bearer <token>', or sign in. 'outlast tokens create' makes a token."


class Forbidden(PermissionNeeded):
    default_hint = "Ask an owner of the project for a role that allows this."


class OriginRefused(PermissionNeeded): ...


class PolicyDenied(PermissionNeeded): ...


class NotFound(Gone): ...


class StoredFileMissing(NotFound):
    default_hint = "Restore the blob folder from a backup."


class WorkspaceUnreadable(Gone):
    default_hint = (
        "Restore the blob folder from a backup, or start with an empty workspace: "
        "POST /v1/threads/{id}/workspace/reset."
    )


class RunCleanedUp(Gone):
    default_hint = "The run's records were removed after the retention time. Send a new message instead."


class ThreadBusy(Conflict):
    default_hint = "Wait for the active run, cancel it, or start with on_busy 'enqueue' or 'interrupt'."


class ThreadLocked(Conflict):
    default_hint = "Fork the thread, ask for a hand-over, or take over once the lock has expired."


class ThreadArchived(Conflict):
    default_hint = "Unarchive the thread first."


class NotDeletable(Conflict):
    default_hint = "Delete the source, file or sandbox itself; or try the item again."


class LockNotHeld(Conflict): ...


class RunFinished(Conflict):
    default_hint = "The run has ended. Retry it, continue it, or send a new message."


class RunNotContinuable(Conflict): ...


class ApprovalDecided(Conflict):
    default_hint = "The first decision stands."


class AlreadyMember(Conflict): ...


class LastOwner(Conflict):
    default_hint = "Make another member an owner first."


class LastAdministrator(Conflict):
    default_hint = "Make another user an administrator first: outlast users set-admin NAME."


class ThreadOfScreen(Conflict):
    default_hint = "Delete the screen instead (DELETE /v1/screens/{id}); its thread is deleted with it."


class TooManyScreens(Conflict): ...


class ThreadOfPage(Conflict):
    default_hint = "Delete the page instead (DELETE /v1/pages/{id}); its thread is deleted with it."


class TooManyPages(Conflict): ...


class ActionTaken(Conflict):
    default_hint = "Only a waiting action can be withdrawn. To stop one that is in a run, cancel the run."


class ActionsFull(Conflict):
    default_hint = "Wait for the active run to end, or withdraw some of the waiting actions."


class NothingToUndo(Conflict):
    default_hint = "GET /v1/pages/{id}/versions lists the versions of a page; each can be restored."


class SectionLocked(Conflict):
    default_hint = "Wait until the lock is released, ask for a hand-over, or take it over after it has expired."


class TextChanged(Conflict):
    default_hint = "Merge your text with the current one, then retry with `old` set to the text you merged against."


class EditDecided(Conflict):
    default_hint = "Load the proposal again: another person decided it first, or a newer proposal replaced it."


class TooManyDocuments(Conflict):
    default_hint = "Delete one that you no longer need, or ask the operator to raise the limit."


class DocumentFull(Conflict):
    default_hint = "Split the document, or ask the operator to raise the limit."


class ThreadOfDocument(Conflict):
    default_hint = "Delete the document instead (DELETE /v1/documents/{id}); its thread is deleted with it."


class TooManyArtifacts(Conflict):
    default_hint = "Delete a file that you no longer need, or ask the operator to raise the limit."


class BackupRefused(Conflict): ...


class BackupIncomplete(Conflict):
    default_hint = "The backup was interrupted and is incomplete. Use another one, or take a new one."


class FilesChanged(Conflict):
    default_hint = "Read the current files. You can also restore an earlier checkpoint as a whole."


class RateLimited(TryLater): ...


class StorageUnavailable(TryLater):
    default_hint = "The database does not answer. Nothing was changed; try again."


class DiskFull(TryLater):
    default_hint = "Free space on the disk that holds the data directory. Nothing was changed."


class DatabaseDamaged(TryLater):
    default_hint = (
        "Stop the server, keep a copy of the data directory, and restore the last backup: 'outlast restore'. "
        "'outlast verify' says what is damaged."
    )


class SandboxUnavailable(TryLater): ...


class SandboxLost(TryLater): ...


class DiskLimit(SandboxLost):
    default_hint = "Its files and its last checkpoint are kept. Remove what is not needed, or raise sandbox.disk_mb."


class ModelRateLimited(TryLater): ...


class ModelOverloaded(TryLater): ...


class ModelTimeout(TryLater): ...


class ModelUnreachable(TryLater): ...


class ModelCut(TryLater): ...


class ModelOutputInvalid(TryLater): ...


class ModelRejected(ProviderRefused): ...


class ModelPolicyRefused(ProviderRefused): ...


class ModelKeyRefused(ProviderRefused):
    default_hint = "Check the key that the provider's api_key_env names on the server."


class DataDirectoryInUse(StartRefused): ...


class DataDirectoryMissing(StartRefused):
    default_hint = "Pass --data-dir or --config."


class UnsafeBind(StartRefused): ...


class SchemaMismatch(StartRefused): ...


class DeploymentMismatch(StartRefused):
    default_hint = "Correct server.data_dir, database.url or blobs.url, or bring the missing part back from a backup."


class SandboxIsolationMissing(StartRefused): ...


class StoredFileDamaged(InternalError):
    default_hint = "Restore the blob folder from a backup."


class FenceLost(InternalError):
    """A worker no longer holds its run. Never shown to clients."""


def demand_found(thing: T | None, message: str, *, hint: str | None = None, **fields: Any) -> T:
    """The thing. Raises `NotFound` where there is none."""
    if thing is None:
        raise NotFound(message, hint=hint, **fields)
    return thing
