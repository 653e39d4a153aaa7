# ruff: noqa: RUF009 - `setting` makes a dataclass field, which is what the rule asks for
"""Every setting with its type, unit, bounds, default and one sentence.

Help texts and docs/reference/configuration.md are generated from these tables. To add a setting, add one line here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Literal

from outlast.base.settings.fields import SecretUrl, setting
from outlast.base.settings.policy import SHIPPED_POLICY, PolicyRule


def _empty() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Where the server listens and keeps its data."""

    host: str = setting(
        "Address to listen on; any other than a loopback address needs a token in the database.",
        "127.0.0.1",
        env="OUTLAST_HOST",
    )
    port: int = setting("Port to listen on; 0 chooses a free one.", 8400, least=0, most=65535, env="OUTLAST_PORT")
    data_dir: str = setting(
        "Folder for the database file, stored files and workspaces; made when missing, used by one server.",
        "outlast-data",
        env="OUTLAST_DATA_DIR",
    )
    public_url: str = setting(
        "Address under which browsers reach the server, as https://outlast.example.org; empty: the listen address.",
        "",
        env="OUTLAST_PUBLIC_URL",
    )
    allowed_hosts: tuple[str, ...] = setting("More values accepted in the Host header.", ())
    stop_grace_s: float = setting(
        "How long a stopping server lets work finish before it hands it back.", 10.0, unit="seconds", least=0
    )


ProviderKind = Literal[
    "openai-compatible", "openrouter", "groq", "ollama", "vllm", "openai", "anthropic", "google", "demo"
]
SendReasoning = Literal["auto", "never"]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
Summary = Literal["auto", "concise", "detailed"]


@dataclass(frozen=True, slots=True)
class ProviderSettings:
    """One [providers.<name>] table: a service that serves models."""

    kind: ProviderKind = setting("What the service speaks.")
    base_url: str = setting("Address of the service; empty: the kind's own.", "")
    api_key_env: str = setting(
        "Name of the environment variable that holds the key; empty: the kind's own, or no key.", ""
    )
    connect_timeout_s: float = setting("Longest wait for a connection.", 10.0, unit="seconds", least=0.01, most=600)
    first_token_timeout_s: float = setting(
        "Longest wait for the first byte of an answer.", 120.0, unit="seconds", least=0.01, most=3600
    )
    token_timeout_s: float = setting(
        "Longest wait between two pieces of an answer.", 60.0, unit="seconds", least=0.01, most=3600
    )
    headers: Mapping[str, str] = setting("Headers sent along (openai-compatible kinds).", factory=_empty)
    extra_body: Mapping[str, Any] = setting(
        "Fields added to each request's JSON (openai-compatible kinds).", factory=_empty
    )
    max_tokens_field: str = setting("Name of the request field that bounds the answer.", "max_tokens")
    send_reasoning: SendReasoning = setting(
        "Hand models their earlier thinking back (auto: as the provider demands; never).", "auto"
    )
    delta_delay_s: float = setting("Pause between two words of the demo model.", 0.02, unit="seconds", least=0, most=60)


@dataclass(frozen=True, slots=True)
class ReasoningSettings:
    """How much a model thinks; what is not given is left to the provider."""

    effort: Effort | None = setting("How hard it thinks, where the model takes that.", None)
    summary: Summary | None = setting("Ask for its thoughts in short (kind openai).", None)
    budget_tokens: int | None = setting(
        "Most tokens of thinking (kinds anthropic, google, openrouter).", None, unit="tokens", least=1
    )


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """One [[models]] table: a model that people can choose."""

    id: str = setting("The id that people and programs choose it by.")
    provider: str = setting("Name of the [providers.<name>] table that serves it.")
    name: str = setting("What the provider calls it.")
    label: str = setting("Shown in the model selector; empty: the id.", "")
    vision: bool = setting("It understands images.", False)
    credits: int = setting("Price of one run.", 1, unit="credits", least=0)
    context_tokens: int = setting("How much it can read in one request.", 128_000, unit="tokens", least=1000)
    max_output_tokens: int = setting(
        "Longest answer of one step, thinking included; 0: the model's own where Outlast knows it, else 16,384.",
        0,
        unit="tokens",
        least=0,
    )
    reasoning: ReasoningSettings = setting("How much it thinks.", factory=ReasoningSettings)
    send_reasoning: SendReasoning | None = setting(
        "Hand this model its earlier thinking back; not given: as its provider says.", None
    )


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """The only truth: where everything is stored."""

    url: SecretUrl = setting(
        "sqlite:///FILE (relative to the data directory) or postgresql://USER:PASSWORD@HOST:PORT/NAME.",
        SecretUrl("sqlite:///outlast.db"),
    )


@dataclass(frozen=True, slots=True)
class LiveSettings:
    """How live text reaches other servers."""

    redis_url: SecretUrl = setting(
        "Reserved: it has no effect yet. Servers share live text through PostgreSQL.", SecretUrl("")
    )


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How long and how far a run goes; [profiles.<name>] overrides the first two."""

    max_steps: int = setting("Model turns in one run; then it ends.", 50, unit="steps", least=1, most=10_000)
    context_messages: int = setting("Earlier messages the model is shown.", 20, unit="messages", least=1, most=10_000)
    context_tokens: int = setting(
        "Most tokens of a request spent on earlier messages.", 100_000, unit="tokens", least=1000
    )
    abandoned_after_s: float = setting(
        "A run working this long with nobody following is cancelled.", 1800, unit="seconds", least=1
    )
    approval_pause_after_s: float = setting(
        "After waiting this long for a person the sandbox is paused.", 300, unit="seconds", least=0
    )
    paused_kill_after_s: float = setting(
        "After being paused this long the sandbox is removed; its files stay.", 86_400, unit="seconds", least=1
    )
    lease_s: float = setting(
        "A worker that has not been heard of for this long loses its run to another.",
        15.0,
        unit="seconds",
        least=0.5,
        most=3600,
    )
    heartbeat_s: float = setting("How often a worker renews its lease.", 5.0, unit="seconds", least=0.1, most=1800)
    max_concurrent: int = setting("Runs that one server works on at a time.", 200, unit="runs", least=1)
    cancel_force_s: float = setting(
        "A cancelled run whose model or tool does not let go is ended after this.",
        1.5,
        unit="seconds",
        least=0.05,
        most=1.9,
    )


@dataclass(frozen=True, slots=True)
class ProfileSettings:
    """One [profiles.<name>] table: what differs from [runs] for one agent profile."""

    max_steps: int | None = setting("Instead of runs.max_steps.", None, unit="steps", least=1, most=10_000)
    context_messages: int | None = setting(
        "Instead of runs.context_messages.", None, unit="messages", least=1, most=10_000
    )


SHIPPED_PROFILES: Mapping[str, ProfileSettings] = MappingProxyType(
    {"screen": ProfileSettings(max_steps=15, context_messages=10)}
)
SHIPPED_PLANS: Mapping[str, int | None] = MappingProxyType({"starter": 25, "pro": 50, "unlimited": None})


@dataclass(frozen=True, slots=True)
class CreditSettings:
    """What runs cost and who may spend how much."""

    default_plan: str = setting("Plan of a new user.", "unlimited")
    plans: Mapping[str, int | None] = setting(
        'Credits a month by plan name ("unlimited" for no limit); adds to starter 25, pro 50 and unlimited.',
        factory=lambda: SHIPPED_PLANS,
        unit="credits a month",
        least=0,
    )
    low_at: int = setting("A balance at or below this warns.", 5, unit="credits", least=0)


@dataclass(frozen=True, slots=True)
class LimitSettings:
    """How much and how fast; 0 turns a rate limit off."""

    runs_per_minute_per_user: int = setting("Runs one user may start.", 60, unit="a minute", least=0)
    runs_per_minute_per_project: int = setting("Runs one project may start.", 120, unit="a minute", least=0)
    pages_per_minute_per_user: int = setting("Pages one user may make.", 30, unit="a minute", least=0)
    documents_per_minute_per_user: int = setting("Documents one user may make.", 30, unit="a minute", least=0)
    actions_per_minute_per_user: int = setting("Actions one user may send from pages.", 120, unit="a minute", least=0)
    screens_per_minute_per_user: int = setting("Screens one user may make or duplicate.", 30, unit="a minute", least=0)
    decisions_per_minute_per_user: int = setting(
        "Times that one user may decide about proposed edits.", 120, unit="a minute", least=0
    )
    changes_per_minute_per_user: int = setting(
        "Versions of documents one user may write.", 300, unit="a minute", least=0
    )
    comments_per_minute_per_user: int = setting("Comments one user may write.", 60, unit="a minute", least=0)
    files_per_minute_per_user: int = setting("Files one user may put into projects.", 120, unit="a minute", least=0)
    messages_per_minute_per_user: int = setting("Messages one user may write.", 120, unit="a minute", least=0)
    threads_per_minute_per_user: int = setting("Threads one user may make.", 120, unit="a minute", least=0)
    attachments_per_minute_per_user: int = setting("Images one user may attach.", 120, unit="a minute", least=0)
    projects_per_minute_per_user: int = setting("Projects one user may make.", 30, unit="a minute", least=0)
    tokens_per_minute_per_user: int = setting("API tokens one user may make.", 30, unit="a minute", least=0)
    invitations_per_minute_per_user: int = setting("Invitations one user may make.", 60, unit="a minute", least=0)
    wrong_sign_ins_per_minute_per_address: int = setting(
        "Sign-ins and invitations with a wrong secret from one address; further ones are not looked at.",
        30,
        unit="a minute",
        least=0,
    )
    streams_per_user: int = setting(
        "Streams one user may follow at once; in previews, through E2B's protocol and, by address, on pages by link as "
        "many again.",
        200,
        unit="streams",
        least=0,
    )
    message_bytes: int = setting("Longest message text.", 200_000, unit="bytes", least=1, most=50_000_000)
    title_chars: int = setting("Longest title of a thread or project.", 200, unit="characters", least=1, most=10_000)
    image_bytes: int = setting("Largest attached image.", 8_000_000, unit="bytes", least=1, most=500_000_000)
    images_per_message: int = setting("Images in one message.", 8, unit="images", least=0, most=1000)
    request_bytes: int = setting("Largest body of a request that carries no file.", 1_000_000, unit="bytes", least=1000)


@dataclass(frozen=True, slots=True)
class DependencySettings:
    """One [[sandbox.dependencies]] table: a package that sandboxes have installed, or a service that they may reach."""

    package: str = setting(
        "npm:NAME@VERSION, pypi:NAME==VERSION, or a bare npm name; empty: nothing is installed for it.", ""
    )
    name: str = setting(
        "What its documentation is filed under in searches; empty: the package, else its first host.", ""
    )
    docs: tuple[str, ...] = setting(
        "Its documentation: addresses or files of Markdown, llms.txt or a sitemap, a folder, or `package` for what "
        "the installed package brings along.",
        (),
    )
    secret_env: str = setting(
        "Environment variable whose value only the egress proxy knows; sandboxes have a placeholder in it.", ""
    )
    hosts: tuple[str, ...] = setting(
        "Hosts that sandboxes may reach for it (HOST, *.HOST, with an optional :PORT), and that its secret is sent to.",
        (),
    )
    allow_private: tuple[str, ...] = setting(
        "Private addresses (HOST:PORT) that sandboxes may reach for it, where its secret may go without TLS.", ()
    )


@dataclass(frozen=True, slots=True)
class SandboxSettings:
    """The isolated machines that agents work in. A file without this section, or provider = "none", offers no sandbox
    tools; without a file there are local ones."""

    provider: str = setting(
        "local, docker, e2b, deno (unproven: never run against the real service), none, or the name of an installed"
        " provider.",
        "local",
    )
    mode: Literal["lazy", "warm"] = setting("Made at the first tool call, or with the thread.", "lazy")
    region: str = setting("Region of a hosted provider.", "")
    volume_ttl_minutes: float = setting(
        "A workspace's fast copy is given up this long after its last use.", 30, unit="minutes", least=0
    )
    idle_pause_s: float = setting("Frozen after being idle this long.", 900, unit="seconds", least=0)
    stop_after_s: float = setting("Stopped (memory freed) after being idle this long.", 1800, unit="seconds", least=0)
    kill_after_s: float = setting("Removed after being idle this long; files stay.", 86_400, unit="seconds", least=1)
    max_awake: int = setting("Most sandboxes awake at a time; 0: as memory allows.", 0, unit="sandboxes", least=0)
    orphan_minutes: float = setting(
        "Ended this long after its server went and did not come back; its files stay (providers local and docker).",
        60,
        unit="minutes",
        least=0,
    )
    max_hosted_per_project: int = setting(
        "Most sandboxes that programs of one project run at a time; 0: three quarters of max_awake.",
        0,
        unit="sandboxes",
        least=0,
    )
    memory_mb: int = setting("Memory of one sandbox.", 1024, unit="MiB", least=64)
    cpus: float = setting("Processor cores of one sandbox.", 1.0, unit="cores", least=0.05)
    processes: int = setting("Processes and threads in one sandbox.", 256, unit="processes", least=16)
    disk_mb: int = setting("Disk space of one workspace.", 2048, unit="MiB", least=16)
    output_bytes: int = setting("Output of one command that is kept.", 200_000, unit="bytes", least=1000)
    command_timeout_s: float = setting("Longest one command may run.", 600, unit="seconds", least=1)
    preview_base_domain: str = setting("Domain under which previews are served; empty: preview.localhost.", "")
    setup: tuple[str, ...] = setting("Shell commands run once while the snapshot is built.", ())
    template: str = setting("Folder whose files lie in the home folder of every sandbox; empty: none.", "")
    snapshot_days: float = setting(
        "A snapshot that no sandbox was started from for this long is removed.", 14, unit="days", least=0
    )
    allow_hosts: tuple[str, ...] = setting(
        "Hosts that every sandbox may reach, without secrets: HOST, *.HOST or *, each with an optional :PORT (else 80 "
        "and 443).",
        (),
    )
    secret_lookup: str = setting(
        "Where the values of secrets come from: the name of an installed look-up, which gives each user their own; "
        "empty: the server's environment variables, the same for everybody.",
        "",
    )
    options: Mapping[str, Any] = setting("Handed to the provider as they are.", factory=_empty)
    dependencies: tuple[DependencySettings, ...] = setting("Packages that sandboxes have installed.", ())


@dataclass(frozen=True, slots=True)
class ScreenSettings:
    """Apps on the canvas."""

    template: Literal["next", "vite"] = setting("What a new screen begins as, unless chosen.", "next")
    memory_mb: int = setting("Memory of a screen's sandbox, at least.", 2048, unit="MiB", least=512)
    cpus: float = setting("Processor cores of a screen's sandbox, at least.", 2.0, unit="cores", least=0.25)
    check_timeout_s: float = setting(
        "Longest that the type check at the end of a run may take.", 120, unit="seconds", least=5
    )
    pictures: bool = setting("Photograph a finished screen, where Chromium is installed.", True)
    browser: str = setting("Chromium's program file; empty: looked for.", "")
    image_hosts: tuple[str, ...] = setting(
        "Hosts whose pictures every screen and preview may load: HOST, *.HOST or *, each with an optional :PORT. "
        "Pictures of others load in a screen once a member has allowed the host there.",
        (),
    )
    most_per_project: int = setting("Screens in one project; 0: no limit.", 200, unit="screens", least=0)


@dataclass(frozen=True, slots=True)
class PageSettings:
    """Live pages."""

    dormant_after_s: float = setting(
        "A page that nobody used for this long gives up its code sessions and what is in memory; nothing is lost.",
        300,
        unit="seconds",
        least=1,
    )
    most_per_project: int = setting("Pages in one project; 0: no limit.", 500, unit="pages", least=0)
    html_bytes: int = setting("Largest page.", 1_000_000, unit="bytes", least=1000)
    actions_waiting: int = setting(
        "Actions that may wait on one page for the next request.", 50, unit="actions", least=1
    )
    recalled: int = setting("Past requests that a new one is reminded of.", 3, unit="summaries", least=0, most=50)
    versions: int = setting("Versions of a page that are kept, newest first.", 1000, unit="versions", least=10)


@dataclass(frozen=True, slots=True)
class KnowledgeSettings:
    """Documentation that is fetched, indexed and searched."""

    refresh_hours: float = setting(
        "How often a source is asked for news; 0: only at the start and by hand.", 24, unit="hours", least=0
    )
    source_bytes: int = setting("Largest text of one source.", 20_000_000, unit="bytes", least=1000)
    pages_per_source: int = setting("Pages of one sitemap or list.", 300, unit="pages", least=1)
    timeout_s: float = setting("Longest wait for one address.", 30, unit="seconds", least=1)
    passage_chars: int = setting(
        "Length that a passage is cut at, where its code allows.", 1600, unit="characters", least=200
    )
    results: int = setting("Hits of a search, unless asked for otherwise.", 5, unit="hits", least=1, most=50)
    allow_private: tuple[str, ...] = setting(
        "Private addresses (HOST:PORT) that documentation may be fetched from.", ()
    )


@dataclass(frozen=True, slots=True)
class EmbeddingSettings:
    """An embedder for search; without one, search goes by words."""

    url: str = setting("Address of an OpenAI-compatible /embeddings service; empty: none.", "")
    model: str = setting("Name of the embedding model.", "")
    api_key_env: str = setting("Environment variable that holds its key; empty: no key.", "")
    dimensions: int = setting("Length asked of its vectors; 0: as the model gives them.", 0, unit="numbers", least=0)
    batch: int = setting("Texts in one request.", 64, unit="texts", least=1, most=2048)
    timeout_s: float = setting("Longest wait for one request.", 30, unit="seconds", least=0.1)


@dataclass(frozen=True, slots=True)
class RerankSettings:
    """A re-ranker that puts the best hits of a search first; without one, their fused score does."""

    url: str = setting("Address of a /rerank service (query and documents in, scores out); empty: none.", "")
    model: str = setting("Name of the model.", "")
    api_key_env: str = setting("Environment variable that holds its key; empty: no key.", "")
    candidates: int = setting("Hits that are put in order.", 20, unit="hits", least=1, most=200)
    timeout_s: float = setting("Longest wait; later, the order stays as it was.", 3, unit="seconds", least=0.1)


@dataclass(frozen=True, slots=True)
class DemoSettings:
    """What a server without a model and without dependencies of its own brings along, to be tried out."""

    tracker: bool = setting(
        "A small issues tracker on a loopback port, with documentation and a secret of its own, for pages to work "
        "with; there only where every model is the demo's, on SQLite, and no dependency is configured.",
        True,
    )
    reset: bool = setting("Its issues begin anew at each start.", False)


@dataclass(frozen=True, slots=True)
class DocumentSettings:
    """Documents and the files of projects."""

    most_per_project: int = setting("Documents in one project; 0: no limit.", 1000, unit="documents", least=0)
    most_blocks: int = setting("Blocks in one document.", 10_000, unit="blocks", least=10)
    text_chars: int = setting("Longest Markdown text that is put in at once.", 2_000_000, unit="characters", least=1000)
    block_chars: int = setting("Longest block.", 50_000, unit="characters", least=100)
    comment_chars: int = setting("Longest comment.", 10_000, unit="characters", least=100)
    edits_per_proposal: int = setting("Edits that an agent may propose at once.", 200, unit="edits", least=1)
    artifacts_per_project: int = setting("Files in one project; 0: no limit.", 1000, unit="files", least=0)
    artifact_bytes: int = setting("Largest file.", 25_000_000, unit="bytes", least=1000)
    artifact_read_s: float = setting("Longest time that reading a file's text may take.", 60, unit="seconds", least=1)


@dataclass(frozen=True, slots=True)
class LockSettings:
    """The right to drive a thread."""

    ttl_s: float = setting("Life of a lock; each run renews it.", 3600, unit="seconds", least=3600, most=7200)


@dataclass(frozen=True, slots=True)
class RetentionSettings:
    """How long raw records of ended runs are kept; messages stay."""

    completed_days: float = setting("After a completed or cancelled run.", 7, unit="days", least=0)
    error_days: float = setting("After a failed run.", 30, unit="days", least=0)


@dataclass(frozen=True, slots=True)
class RetrySettings:
    """What happens when a model cannot answer just now."""

    attempts: int = setting("Further attempts after a passing failure.", 2, unit="attempts", least=0, most=20)
    base_s: float = setting("Wait before the first; doubles each time, with jitter.", 1.0, unit="seconds", least=0)
    max_wait_s: float = setting("Longest wait, also when the provider asks for more.", 60, unit="seconds", least=0)


@dataclass(frozen=True, slots=True)
class BlobSettings:
    """Where attached files lie."""

    url: SecretUrl = setting("A folder; relative to the data directory.", SecretUrl("blobs"))


@dataclass(frozen=True, slots=True)
class AuthSettings:
    """Signing in."""

    session_days: float = setting("How long a browser stays signed in.", 30, unit="days", least=0.001)


@dataclass(frozen=True, slots=True)
class StreamSettings:
    """How events reach those who follow."""

    save_interval_s: float = setting(
        "How far saved text may lag behind shown text.", 1.0, unit="seconds", least=0.01, most=2
    )
    heartbeat_s: float = setting("A comment is sent on a silent stream this often.", 15.0, unit="seconds", least=0.05)
    slow_reader_s: float = setting(
        "A reader whose connection takes nothing for this long is closed; it resumes from its cursor.",
        30.0,
        unit="seconds",
        least=0.05,
    )
    recheck_s: float = setting(
        "How often an open stream checks that its reader still may read.", 10.0, unit="seconds", least=0.05
    )


@dataclass(frozen=True, slots=True)
class LogSettings:
    """What the server writes about itself."""

    level: Literal["debug", "info", "warning", "error"] = setting("Least important line written.", "info")
    format: Literal["text", "json"] = setting("For people or for programs.", "text")
    file_mb: int = setting("Size at which the log file starts again. 0: no file.", 10, unit="MB", least=0)


DEMO_PROVIDERS: Mapping[str, ProviderSettings] = MappingProxyType({"demo": ProviderSettings(kind="demo")})
DEMO_MODELS: tuple[ModelSettings, ...] = (
    ModelSettings(
        id="demo",
        provider="demo",
        name="demo",
        label="Demo (recorded answers, real tools)",
        credits=0,
        context_tokens=32_000,
        max_output_tokens=4096,
    ),
)


@dataclass(frozen=True, slots=True)
class Settings:
    """Everything, frozen. Made by `load_settings`; `Settings()` is what an empty configuration gives."""

    default_model: str = setting("Model used where none is chosen; empty: the first.", "")
    server: ServerSettings = setting("", factory=ServerSettings)
    providers: Mapping[str, ProviderSettings] = setting("", factory=lambda: DEMO_PROVIDERS)
    models: tuple[ModelSettings, ...] = setting("", DEMO_MODELS)
    database: DatabaseSettings = setting("", factory=DatabaseSettings)
    live: LiveSettings = setting("", factory=LiveSettings)
    runs: RunSettings = setting("", factory=RunSettings)
    profiles: Mapping[str, ProfileSettings] = setting("", factory=lambda: SHIPPED_PROFILES)
    credits: CreditSettings = setting("", factory=CreditSettings)
    limits: LimitSettings = setting("", factory=LimitSettings)
    sandbox: SandboxSettings | None = setting("", factory=SandboxSettings)
    screens: ScreenSettings = setting("", factory=ScreenSettings)
    pages: PageSettings = setting("", factory=PageSettings)
    documents: DocumentSettings = setting("", factory=DocumentSettings)
    knowledge: KnowledgeSettings = setting("", factory=KnowledgeSettings)
    embeddings: EmbeddingSettings = setting("", factory=EmbeddingSettings)
    rerank: RerankSettings = setting("", factory=RerankSettings)
    demo: DemoSettings = setting("", factory=DemoSettings)
    policy: tuple[PolicyRule, ...] = setting("", SHIPPED_POLICY)
    locks: LockSettings = setting("", factory=LockSettings)
    retention: RetentionSettings = setting("", factory=RetentionSettings)
    retry: RetrySettings = setting("", factory=RetrySettings)
    blobs: BlobSettings = setting("", factory=BlobSettings)
    auth: AuthSettings = setting("", factory=AuthSettings)
    streams: StreamSettings = setting("", factory=StreamSettings)
    logs: LogSettings = setting("", factory=LogSettings)
