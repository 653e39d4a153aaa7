"""Every public error, as one tree. The second level answers the caller's only question, what now: `InvalidRequest` fix
the request; `PermissionNeeded` ask for permission; `CreditsNeeded` buy credits; `Gone` it is gone, or never was there
for you; `Conflict` another user was faster, or the state has changed; `TryLater` try again, as workers do with this
branch alone; `ProviderRefused` a model provider said no for good; `StartRefused` correct it; `InternalError` our bug.

Errors know nothing of HTTP; `kernel/http/problems.py` maps codes to status. Messages name settings, never an id or a
secret's value and never what a person wrote. Every error survives pickling and JSON.
"""

from functools import partial
from typing import Any, ClassVar


class OutlastError(Exception):
    """Base of all: a stable `code`, a message for people (what was refused, in which state), a hint (what to do), named
    fields (ids among them), and for `TryLater` the seconds to wait."""

    code: ClassVar[str] = "outlast_error"
    default_hint: ClassVar[str] = ""  # the usual one; any other is given where the error is raised

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
        return body if self.retry_after_s is None else {**body, "retry_after_s": self.retry_after_s}

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), hint=self.hint, retry_after_s=self.retry_after_s, **self.fields), (self.message,)


class InvalidRequest(OutlastError):
    """The request cannot be served as it is: fix it."""

    code = "invalid_request"


class PermissionNeeded(OutlastError):
    """The caller may not do this."""

    code = "permission_needed"


class CreditsNeeded(OutlastError):
    """The user has fewer credits than the run costs. Fields: `price`, `balance`."""

    code = "credits_needed"
    default_hint = "Choose a cheaper model, wait for the monthly reset, or ask the operator for a larger plan."


class Gone(OutlastError):
    """The thing was deleted, never existed, or is hidden from the caller."""

    code = "gone"


class Conflict(OutlastError):
    """The state does not allow this now."""

    code = "conflict"


class TryLater(OutlastError):
    """The same request may succeed later. `retry_after_s` says when to try."""

    code = "try_later"


class ProviderRefused(OutlastError):
    """A model provider refused the request for good."""

    code = "provider_refused"


class StartRefused(OutlastError):
    """The server or a command refuses to start."""

    code = "start_refused"


class InternalError(OutlastError):
    """A bug in Outlast."""

    code = "internal_error"
    default_hint = "This is a bug in Outlast. The server's log has the details under the request id."


class MalformedInput(InvalidRequest):
    """A value is missing, malformed or out of range. Fields: usually `field`, its name."""

    code = "malformed_input"


class InputTooLarge(InvalidRequest):
    """An input exceeds its limit. Fields: usually `limit_bytes` and `size_bytes`, or the count and its limit."""

    code = "input_too_large"


class BodyTooSlow(InvalidRequest):
    """The request's body arrives too slowly."""

    code = "body_too_slow"
    default_hint = "Send the request again, over a faster connection."


class EmptyMessage(InvalidRequest):
    """A message has neither text nor a file."""

    code = "empty_message"
    default_hint = "Write some text or attach a file."


class UnknownModel(InvalidRequest):
    """No model has this id. Fields: `model`, `known`."""

    code = "unknown_model"
    default_hint = "GET /v1/models lists the configured models."


class ActionNotOffered(InvalidRequest):
    """The page does not offer this action or form field. Fields: `name`, and `fields` for a form."""

    code = "action_not_offered"
    default_hint = "Load the page again: it may have changed."


class VisionUnsupported(InvalidRequest):
    """The message has an image and the model cannot read images. Fields: `model`."""

    code = "vision_unsupported"
    default_hint = "Choose a model marked with vision, or remove the images."


class UnknownProfile(InvalidRequest):
    """No agent has this profile. Fields: `field`."""

    code = "unknown_profile"


class CursorUnknown(InvalidRequest):
    """The cursor of a list or a stream is not one of this server."""

    code = "cursor_unknown"
    default_hint = "Load the resource again and follow from the cursor it names."


class InvalidSetting(InvalidRequest):
    """A setting has a wrong value. Fields: `setting`, and `expected` where there is a choice."""

    code = "invalid_setting"


class IdempotencyMismatch(InvalidRequest):
    """The same Idempotency-Key was used for another request."""

    code = "idempotency_mismatch"
    default_hint = "Use a new Idempotency-Key for a different request."


class ArgumentsInvalid(InvalidRequest):
    """A tool's arguments do not fit its schema. Fields: `tool`, `field`."""

    code = "arguments_invalid"


class PathRefused(InvalidRequest):
    """A path is absolute, leaves the workspace, or names no regular file. Fields: `path`."""

    code = "path_refused"
    default_hint = "Use a path relative to the workspace, without '..'."


class NotOffered(InvalidRequest):
    """Outlast does not offer this part of a protocol."""

    code = "not_offered"
    default_hint = "/docs/guides/e2b-sdk/ lists the calls that work."


class UnknownTheme(InvalidRequest):
    """No theme has this name. Fields: `field`."""

    code = "unknown_theme"
    default_hint = "GET /v1/themes lists the themes; `custom` takes theme_tokens."


class NotSignedIn(PermissionNeeded):
    """The request has no valid token or session."""

    code = "not_signed_in"
    default_hint = "Send 'Authorization: Bearer <token>', or sign in. 'outlast tokens create' makes a token."


class Forbidden(PermissionNeeded):
    """The user's role does not allow this. Fields: `needed` or `role`."""

    code = "forbidden"
    default_hint = "Ask an owner of the project for a role that allows this."


class OriginRefused(PermissionNeeded):
    """The Host or Origin header is not on the allow-list. Fields: `host` or `origin`."""

    code = "origin_refused"


class PolicyDenied(PermissionNeeded):
    """A policy forbids this tool call. Fields: `tool`."""

    code = "policy_denied"


class NotFound(Gone):
    """The thing does not exist, or the caller may not know that it does. Fields: its id."""

    code = "not_found"


class StoredFileMissing(NotFound):
    """A stored file is missing from the blob folder. Fields: `blob`."""

    code = "stored_file_missing"
    default_hint = "Restore the blob folder from a backup."


class WorkspaceUnreadable(Gone):
    """A stored file of the workspace is missing or damaged, so the workspace cannot be restored."""

    code = "workspace_unreadable"
    default_hint = "Restore the blob folder from a backup, or reset it: POST /v1/threads/{id}/workspace/reset."


class RunCleanedUp(Gone):
    """The run's records were removed after the retention time. Fields: `id`."""

    code = "run_cleaned_up"
    default_hint = "The run's records were removed after the retention time. Send a new message instead."


class ThreadBusy(Conflict):
    """A run of the thread or the workspace has not ended. Fields: `active_run_id`, or `active_runs` of a project."""

    code = "thread_busy"
    default_hint = "Wait for the active run, cancel it, or start with on_busy 'enqueue' or 'interrupt'."


class ThreadLocked(Conflict):
    """Another user drives the thread. Fields: `thread_id`, `holder_id`, `expires_at`."""

    code = "thread_locked"
    default_hint = "Fork the thread, ask for a hand-over, or take over once the lock has expired."


class ThreadArchived(Conflict):
    """The thread is archived and read-only. Fields: `thread_id`."""

    code = "thread_archived"
    default_hint = "Unarchive the thread first."


class NotDeletable(Conflict):
    """Items of this kind cannot be deleted here. Fields: `kind`."""

    code = "not_deletable"
    default_hint = "Delete the source, file or sandbox itself; or try the item again."


class LockNotHeld(Conflict):
    """There is no such lock to request or to hand over."""

    code = "lock_not_held"


class RunFinished(Conflict):
    """The run has ended, so it can be neither cancelled, resumed nor steered. Fields: `run_id`, `status`."""

    code = "run_finished"
    default_hint = "The run has ended. Retry it, continue it, or send a new message."


class RunNotContinuable(Conflict):
    """The run is in a state that allows neither a retry nor a continuation. Fields: `run_id`, `status`."""

    code = "run_not_continuable"


class ApprovalDecided(Conflict):
    """The approval or question was decided before. Fields: `id`, `first`, the first decision."""

    code = "approval_decided"
    default_hint = "The first decision stands."


class AlreadyMember(Conflict):
    """The user is a member of the project. Fields: `user_id`, `project_id`."""

    code = "already_member"
    default_hint = "An owner can change the role under the project's members."


class LastOwner(Conflict):
    """A project must keep an owner. Fields: `user_id`, `project_id`."""

    code = "last_owner"
    default_hint = "Make another member an owner first."


class LastAdministrator(Conflict):
    """The server must keep an administrator. Fields: `user_id`."""

    code = "last_administrator"
    default_hint = "Make another user an administrator first: outlast users set-admin NAME."


class ThreadOfScreen(Conflict):
    """The thread belongs to a screen and is managed through it."""

    code = "thread_of_screen"
    default_hint = "Delete the screen instead (DELETE /v1/screens/{id}); its thread is deleted with it."


class TooManyScreens(Conflict):
    """The project has as many screens as it may."""

    code = "too_many_screens"
    default_hint = "Delete one that you no longer need, or ask the operator to raise screens.most_per_project."


class ThreadOfPage(Conflict):
    """The thread belongs to a page and is managed through it."""

    code = "thread_of_page"
    default_hint = "Delete the page instead (DELETE /v1/pages/{id}); its thread is deleted with it."


class TooManyPages(Conflict):
    """The project has as many pages as it may."""

    code = "too_many_pages"
    default_hint = "Delete one that you no longer need, or ask the operator to raise pages.most_per_project."


class ActionTaken(Conflict):
    """A page's action is no longer waiting. Fields: `id`, `state`, `run_id`."""

    code = "action_taken"
    default_hint = "Only a waiting action can be withdrawn. To stop one that is in a run, cancel the run."


class ActionsFull(Conflict):
    """No more actions of a page fit into the next run's message. Fields: the limit and its use."""

    code = "actions_full"
    default_hint = "Wait for the active run to end, or withdraw some of the waiting actions."


class NothingToUndo(Conflict):
    """The page has no earlier version to return to. Fields: `page_id`."""

    code = "nothing_to_undo"
    default_hint = "GET /v1/pages/{id}/versions lists the versions of a page; each can be restored."


class SectionLocked(Conflict):
    """Another user holds the section. Fields: `section_id`, `holder_id`, `expires_at`."""

    code = "section_locked"
    default_hint = "Wait until the lock is released, ask for a hand-over, or take it over after it has expired."


class TextChanged(Conflict):
    """Another user changed the same text. Fields: `id`, `noun`, `current`; of a merge `base`, `wanted`, `hunks`."""

    code = "text_changed"
    default_hint = "Merge your text with the current one, then retry with `old` set to the text you merged against."


class EditDecided(Conflict):
    """The proposed edit was decided before, or superseded. Fields: `edit_id`, `state`, who decided it and when."""

    code = "edit_decided"
    default_hint = "Load the proposal again: another person decided it first, or a newer proposal replaced it."


class TooManyDocuments(Conflict):
    """The project has as many documents as it may."""

    code = "too_many_documents"
    default_hint = "Delete one that you no longer need, or ask the operator to raise documents.most_per_project."


class DocumentFull(Conflict):
    """The document would exceed its limit of sections and blocks. Fields: `document_id`, `blocks`, `limit`."""

    code = "document_full"
    default_hint = "Split the document, or ask the operator to raise the limit."


class ThreadOfDocument(Conflict):
    """The thread belongs to a document and is managed through it."""

    code = "thread_of_document"
    default_hint = "Delete the document instead (DELETE /v1/documents/{id}); its thread is deleted with it."


class TooManyArtifacts(Conflict):
    """The project has as many files as it may. Fields: `project_id`."""

    code = "too_many_artifacts"
    default_hint = "Delete a file that you no longer need, or ask the operator to raise the limit."


class BackupRefused(Conflict):
    """A backup cannot be made or restored like this."""

    code = "backup_refused"


class BackupIncomplete(Conflict):
    """The folder holds no complete backup."""

    code = "backup_incomplete"
    default_hint = "The backup was interrupted and is incomplete. Use another one, or take a new one."


class FilesChanged(Conflict):
    """Files changed since they were read or since an edit was saved. Fields: `path`, or `files` of a workspace."""

    code = "files_changed"
    default_hint = "Read the current files. You can also restore an earlier checkpoint as a whole."


class RateLimited(TryLater):
    """Too many of these in the last minute. Fields: `limit`, `per`."""

    code = "rate_limited"
    default_hint = "Wait a moment, or ask the operator to raise the limit in [limits]."


class StorageUnavailable(TryLater):
    """The database does not answer at the moment."""

    code = "storage_unavailable"
    default_hint = "The database does not answer. Nothing was changed; try again."


class DiskFull(TryLater):
    """The disk of the server or of the database is full."""

    code = "disk_full"
    default_hint = "Free space on the disk that holds the data directory. Nothing was changed."


class DatabaseDamaged(TryLater):
    """The database file is damaged."""

    code = "database_damaged"
    default_hint = "Stop the server, copy the data directory, and run 'outlast restore'. See 'outlast verify' first."


class SandboxUnavailable(TryLater):
    """A sandbox cannot be started or reached at the moment, or none is configured."""

    code = "sandbox_unavailable"


class SandboxLost(TryLater):
    """The sandbox ended while it was in use. Its files are kept."""

    code = "sandbox_lost"
    default_hint = "The next use creates a new one over the same files."


class DiskLimit(SandboxLost):
    """A sandbox exceeded its disk limit and was ended. Fields: `sandbox_id`, `limit_mb`."""

    code = "disk_limit"
    default_hint = "Its files and its last checkpoint are kept. Remove what is not needed, or raise sandbox.disk_mb."


class ModelRateLimited(TryLater):
    """The provider limits the rate of requests."""

    code = "model_rate_limited"
    default_hint = "The provider limits the rate of requests. Wait, or choose another model."


class ModelOverloaded(TryLater):
    """The provider is overloaded or fails."""

    code = "model_overloaded"
    default_hint = "This is usually temporary. Try again later, or choose another model."


class ModelTimeout(TryLater):
    """The provider sent nothing in time. Fields: `waiting_for`, `timeout_s`."""

    code = "model_timeout"
    default_hint = "Try again, choose another model, or raise the provider's time-out setting."


class ModelUnreachable(TryLater):
    """No connection to the provider."""

    code = "model_unreachable"
    default_hint = "Check the network and the provider's base_url, and that the service is running."


class ModelCut(TryLater):
    """The provider ended its answer early."""

    code = "model_cut"
    default_hint = "Try again."


class ModelOutputInvalid(TryLater):
    """The provider sent something that is not of its own format."""

    code = "model_output_invalid"
    default_hint = "Try again; if it persists, check that base_url speaks this provider's format."


class ModelRejected(ProviderRefused):
    """The provider rejected the request."""

    code = "model_rejected"


class ModelPolicyRefused(ProviderRefused):
    """The provider refused under its content policy, or the model declined to answer."""

    code = "model_policy_refused"
    default_hint = "Rephrase the message, or choose another model."


class ModelKeyRefused(ProviderRefused):
    """The provider's key is missing or wrong. Fields: `provider` or `model`, `api_key_env`."""

    code = "model_key_refused"
    default_hint = "Check the key that the provider's api_key_env names on the server."


class DataDirectoryInUse(StartRefused):
    """Another Outlast process uses the data directory. Fields: `data_dir`, `pid`."""

    code = "data_directory_in_use"
    default_hint = "Stop that process, or choose another folder with --data-dir."


class DataDirectoryMissing(StartRefused):
    """The data directory or its database does not exist. Fields: `data_dir` or `database`."""

    code = "data_directory_missing"
    default_hint = "Pass --data-dir or --config."


class UnsafeBind(StartRefused):
    """Other machines can reach the address, and no API token exists. Fields: `host`."""

    code = "unsafe_bind"


class SchemaMismatch(StartRefused):
    """The database is of a revision that this version does not know, or its tables are not. Fields: `revision`."""

    code = "schema_mismatch"


class DeploymentMismatch(StartRefused):
    """Data directory, database and blob folder belong to different deployments."""

    code = "deployment_mismatch"
    default_hint = "Correct server.data_dir, database.url or blobs.url, or bring the missing part back from a backup."


class SandboxIsolationMissing(StartRefused):
    """This machine cannot isolate sandboxes."""

    code = "sandbox_isolation_missing"


class StoredFileDamaged(InternalError):
    """The content of a stored file is not what was stored."""

    code = "stored_file_damaged"
    default_hint = "Restore the blob folder from a backup."


class FenceLost(InternalError):
    """A worker no longer holds its run. Never shown to clients."""

    code = "fence_lost"
