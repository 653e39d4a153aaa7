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

Errors know nothing of HTTP; `kernel/http/problems.py` maps codes to status. Messages name settings, never an id or a
secret's value and never what a person wrote. Every error survives pickling and JSON.
"""

from typing import Any, ClassVar


class OutlastError(Exception):
    """Base of all: a stable `code`, a message for people (what was refused, in which state), a hint (what to do), named
    fields (ids among them), and for `TryLater` the seconds to wait."""

    code: ClassVar[str] = "outlast_error"
    default_hint: ClassVar[str] = ""

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
        return _rebuild, (type(self), self.message, self.hint, self.retry_after_s, self.fields)


def _rebuild(
    kind: type[OutlastError], message: str, hint: str, retry_after_s: float | None, fields: dict[str, Any]
) -> OutlastError:
    return kind(message, hint=hint, retry_after_s=retry_after_s, **fields)


class InvalidRequest(OutlastError):
    code = "invalid_request"


class PermissionNeeded(OutlastError):
    code = "permission_needed"


class CreditsNeeded(OutlastError):
    code = "credits_needed"
    default_hint = "Choose a cheaper model, wait for the monthly reset, or ask the operator for a larger plan."


class Gone(OutlastError):
    code = "gone"


class Conflict(OutlastError):
    code = "conflict"


class TryLater(OutlastError):
    code = "try_later"


class ProviderRefused(OutlastError):
    code = "provider_refused"


class StartRefused(OutlastError):
    code = "start_refused"


class InternalError(OutlastError):
    code = "internal_error"
    default_hint = "This is a bug in Outlast. The server's log has the details under the request id."


class MalformedInput(InvalidRequest):
    code = "malformed_input"


class InputTooLarge(InvalidRequest):
    code = "input_too_large"


class BodyTooSlow(InvalidRequest):
    code = "body_too_slow"
    default_hint = "Send the request again, over a faster connection."


class EmptyMessage(InvalidRequest):
    code = "empty_message"
    default_hint = "Write some text or attach an image."


class UnknownModel(InvalidRequest):
    code = "unknown_model"
    default_hint = "GET /v1/models lists the configured models."


class ActionNotOffered(InvalidRequest):
    code = "action_not_offered"
    default_hint = "Load the page again: it may have changed."


class VisionUnsupported(InvalidRequest):
    code = "vision_unsupported"
    default_hint = "Choose a model marked with vision, or remove the images."


class UnknownProfile(InvalidRequest):
    code = "unknown_profile"


class CursorUnknown(InvalidRequest):
    code = "cursor_unknown"
    default_hint = "Load the resource again and follow from the cursor it names."


class InvalidSetting(InvalidRequest):
    code = "invalid_setting"


class IdempotencyMismatch(InvalidRequest):
    code = "idempotency_mismatch"
    default_hint = "Use a new Idempotency-Key for a different request."


class ArgumentsInvalid(InvalidRequest):
    code = "arguments_invalid"


class PathRefused(InvalidRequest):
    code = "path_refused"
    default_hint = "Use a path relative to the workspace, without '..'."


class NotOffered(InvalidRequest):
    code = "not_offered"
    default_hint = "/docs/guides/e2b-sdk/ lists the calls that work."


class UnknownTheme(InvalidRequest):
    code = "unknown_theme"
    default_hint = "GET /v1/themes lists the themes; `custom` takes theme_tokens."


class NotSignedIn(PermissionNeeded):
    code = "not_signed_in"
    default_hint = "Send 'Authorization: Bearer <token>', or sign in. 'outlast tokens create' makes a token."


class Forbidden(PermissionNeeded):
    code = "forbidden"
    default_hint = "Ask an owner of the project for a role that allows this."


class OriginRefused(PermissionNeeded):
    code = "origin_refused"


class PolicyDenied(PermissionNeeded):
    code = "policy_denied"


class NotFound(Gone):
    code = "not_found"


class StoredFileMissing(NotFound):
    code = "stored_file_missing"
    default_hint = "Restore the blob folder from a backup."


class WorkspaceUnreadable(Gone):
    code = "workspace_unreadable"
    default_hint = (
        "Restore the blob folder from a backup, or start with an empty workspace: "
        "POST /v1/threads/{id}/workspace/reset."
    )


class RunCleanedUp(Gone):
    code = "run_cleaned_up"
    default_hint = "The run's records were removed after the retention time. Send a new message instead."


class ThreadBusy(Conflict):
    code = "thread_busy"
    default_hint = "Wait for the active run, cancel it, or start with on_busy 'enqueue' or 'interrupt'."


class ThreadLocked(Conflict):
    code = "thread_locked"
    default_hint = "Fork the thread, ask for a hand-over, or take over once the lock has expired."


class ThreadArchived(Conflict):
    code = "thread_archived"
    default_hint = "Unarchive the thread first."


class NotDeletable(Conflict):
    code = "not_deletable"
    default_hint = "Delete the source, file or sandbox itself; or try the item again."


class LockNotHeld(Conflict):
    code = "lock_not_held"


class RunFinished(Conflict):
    code = "run_finished"
    default_hint = "The run has ended. Retry it, continue it, or send a new message."


class RunNotContinuable(Conflict):
    code = "run_not_continuable"


class ApprovalDecided(Conflict):
    code = "approval_decided"
    default_hint = "The first decision stands."


class AlreadyMember(Conflict):
    code = "already_member"


class LastOwner(Conflict):
    code = "last_owner"
    default_hint = "Make another member an owner first."


class LastAdministrator(Conflict):
    code = "last_administrator"
    default_hint = "Make another user an administrator first: outlast users set-admin NAME."


class ThreadOfScreen(Conflict):
    code = "thread_of_screen"
    default_hint = "Delete the screen instead (DELETE /v1/screens/{id}); its thread is deleted with it."


class TooManyScreens(Conflict):
    code = "too_many_screens"


class ThreadOfPage(Conflict):
    code = "thread_of_page"
    default_hint = "Delete the page instead (DELETE /v1/pages/{id}); its thread is deleted with it."


class TooManyPages(Conflict):
    code = "too_many_pages"


class ActionTaken(Conflict):
    code = "action_taken"
    default_hint = "Only a waiting action can be withdrawn. To stop one that is in a run, cancel the run."


class ActionsFull(Conflict):
    code = "actions_full"
    default_hint = "Wait for the active run to end, or withdraw some of the waiting actions."


class NothingToUndo(Conflict):
    code = "nothing_to_undo"
    default_hint = "GET /v1/pages/{id}/versions lists the versions of a page; each can be restored."


class SectionLocked(Conflict):
    code = "section_locked"
    default_hint = "Wait until the lock is released, ask for a hand-over, or take it over after it has expired."


class TextChanged(Conflict):
    code = "text_changed"
    default_hint = "Merge your text with the current one, then retry with `old` set to the text you merged against."


class EditDecided(Conflict):
    code = "edit_decided"
    default_hint = "Load the proposal again: another person decided it first, or a newer proposal replaced it."


class TooManyDocuments(Conflict):
    code = "too_many_documents"
    default_hint = "Delete one that you no longer need, or ask the operator to raise the limit."


class DocumentFull(Conflict):
    code = "document_full"
    default_hint = "Split the document, or ask the operator to raise the limit."


class ThreadOfDocument(Conflict):
    code = "thread_of_document"
    default_hint = "Delete the document instead (DELETE /v1/documents/{id}); its thread is deleted with it."


class TooManyArtifacts(Conflict):
    code = "too_many_artifacts"
    default_hint = "Delete a file that you no longer need, or ask the operator to raise the limit."


class BackupRefused(Conflict):
    code = "backup_refused"


class BackupIncomplete(Conflict):
    code = "backup_incomplete"
    default_hint = "The backup was interrupted and is incomplete. Use another one, or take a new one."


class FilesChanged(Conflict):
    code = "files_changed"
    default_hint = "Read the current files. You can also restore an earlier checkpoint as a whole."


class RateLimited(TryLater):
    code = "rate_limited"


class StorageUnavailable(TryLater):
    code = "storage_unavailable"
    default_hint = "The database does not answer. Nothing was changed; try again."


class DiskFull(TryLater):
    code = "disk_full"
    default_hint = "Free space on the disk that holds the data directory. Nothing was changed."


class DatabaseDamaged(TryLater):
    code = "database_damaged"
    default_hint = (
        "Stop the server, keep a copy of the data directory, and restore the last backup: 'outlast restore'. "
        "'outlast verify' says what is damaged."
    )


class SandboxUnavailable(TryLater):
    code = "sandbox_unavailable"


class SandboxLost(TryLater):
    code = "sandbox_lost"


class DiskLimit(SandboxLost):
    code = "disk_limit"
    default_hint = "Its files and its last checkpoint are kept. Remove what is not needed, or raise sandbox.disk_mb."


class ModelRateLimited(TryLater):
    code = "model_rate_limited"


class ModelOverloaded(TryLater):
    code = "model_overloaded"


class ModelTimeout(TryLater):
    code = "model_timeout"


class ModelUnreachable(TryLater):
    code = "model_unreachable"


class ModelCut(TryLater):
    code = "model_cut"


class ModelOutputInvalid(TryLater):
    code = "model_output_invalid"


class ModelRejected(ProviderRefused):
    code = "model_rejected"


class ModelPolicyRefused(ProviderRefused):
    code = "model_policy_refused"


class ModelKeyRefused(ProviderRefused):
    code = "model_key_refused"
    default_hint = "Check the key that the provider's api_key_env names on the server."


class DataDirectoryInUse(StartRefused):
    code = "data_directory_in_use"


class DataDirectoryMissing(StartRefused):
    code = "data_directory_missing"
    default_hint = "Pass --data-dir or --config."


class UnsafeBind(StartRefused):
    code = "unsafe_bind"


class SchemaMismatch(StartRefused):
    code = "schema_mismatch"


class DeploymentMismatch(StartRefused):
    code = "deployment_mismatch"
    default_hint = "Correct server.data_dir, database.url or blobs.url, or bring the missing part back from a backup."


class SandboxIsolationMissing(StartRefused):
    code = "sandbox_isolation_missing"


class StoredFileDamaged(InternalError):
    code = "stored_file_damaged"
    default_hint = "Restore the blob folder from a backup."


class FenceLost(InternalError):
    """A worker no longer holds its run. Never shown to clients."""

    code = "fence_lost"
