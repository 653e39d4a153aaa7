-- revision 0001
CREATE TABLE log (
    stream_id VARCHAR(40) NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    folded BOOLEAN DEFAULT false NOT NULL,
    body BYTEA NOT NULL,
    saved_at BIGINT NOT NULL,
    CONSTRAINT pk_log PRIMARY KEY (stream_id, first_seq)
);
COMMENT ON COLUMN log.stream_id IS 'a run''s, thread''s or project''s id';
COMMENT ON COLUMN log.first_seq IS 'number of the block''s first event';
COMMENT ON COLUMN log.last_seq IS 'number of its last';
COMMENT ON COLUMN log.folded IS 'deltas were folded into part.snapshot';
COMMENT ON COLUMN log.body IS 'events as JSON lines, in order';
COMMENT ON COLUMN log.saved_at IS 'when';
CREATE TABLE meta (
    key VARCHAR(40) NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT pk_meta PRIMARY KEY (key)
);
COMMENT ON COLUMN meta.key IS 'name';
COMMENT ON COLUMN meta.value IS 'value';
CREATE TABLE timers (
    kind VARCHAR(30) NOT NULL,
    subject_id VARCHAR(40) NOT NULL,
    due_at BIGINT NOT NULL,
    CONSTRAINT pk_timers PRIMARY KEY (kind, subject_id)
);
COMMENT ON COLUMN timers.kind IS 'approval_pause | paused_kill | abandon | cancel_force | fold | clean_up';
COMMENT ON COLUMN timers.subject_id IS 'the run, thread or workspace';
COMMENT ON COLUMN timers.due_at IS 'handled then, or as soon as a server runs';
CREATE INDEX ix_timers_due_at ON timers (due_at);
CREATE TABLE users (
    id VARCHAR(40) NOT NULL,
    name TEXT NOT NULL,
    plan VARCHAR(80) NOT NULL,
    is_local BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_users PRIMARY KEY (id)
);
COMMENT ON COLUMN users.id IS 'prefixed id';
COMMENT ON COLUMN users.name IS 'shown to other members';
COMMENT ON COLUMN users.plan IS 'starter | pro | unlimited | an operator''s own';
COMMENT ON COLUMN users.is_local IS 'the owner that local mode signs in by itself';
COMMENT ON COLUMN users.created_at IS 'when';
CREATE TABLE idempotency (
    user_id VARCHAR(40) NOT NULL,
    key VARCHAR(255) NOT NULL,
    request_hash VARCHAR(64) NOT NULL,
    response TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_idempotency PRIMARY KEY (user_id, key),
    CONSTRAINT fk_idempotency_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
COMMENT ON COLUMN idempotency.user_id IS 'whose key';
COMMENT ON COLUMN idempotency.key IS 'the Idempotency-Key header';
COMMENT ON COLUMN idempotency.request_hash IS 'SHA-256 of the request: another request under the same key is refused';
COMMENT ON COLUMN idempotency.response IS 'the first answer';
COMMENT ON COLUMN idempotency.created_at IS 'when; kept 24 hours';
CREATE INDEX ix_idempotency_created_at ON idempotency (created_at);
CREATE TABLE ledger (
    id VARCHAR(40) NOT NULL,
    user_id VARCHAR(40) NOT NULL,
    kind VARCHAR(10) NOT NULL,
    credits INTEGER NOT NULL,
    run_id VARCHAR(40),
    period VARCHAR(7),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_ledger PRIMARY KEY (id),
    CONSTRAINT fk_ledger_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_ledger_run_id UNIQUE (run_id, kind),
    CONSTRAINT uq_ledger_user_id UNIQUE (user_id, kind, period)
);
COMMENT ON COLUMN ledger.id IS 'prefixed id';
COMMENT ON COLUMN ledger.user_id IS 'whose';
COMMENT ON COLUMN ledger.kind IS 'grant | expire | reserve | release | settle (0, closes a reserve)';
COMMENT ON COLUMN ledger.credits IS 'signed; the balance is the sum';
COMMENT ON COLUMN ledger.run_id IS 'what for; null: grant or expire';
COMMENT ON COLUMN ledger.period IS 'YYYY-MM of a grant or expire';
COMMENT ON COLUMN ledger.created_at IS 'when';
CREATE INDEX ix_ledger_user ON ledger (user_id, created_at);
CREATE TABLE projects (
    id VARCHAR(40) NOT NULL,
    name TEXT NOT NULL,
    default_for VARCHAR(40),
    log_seq BIGINT DEFAULT '0' NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT pk_projects PRIMARY KEY (id),
    CONSTRAINT fk_projects_default_for FOREIGN KEY(default_for) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_projects_default_for UNIQUE (default_for)
);
COMMENT ON COLUMN projects.id IS 'prefixed id';
COMMENT ON COLUMN projects.name IS 'shown';
COMMENT ON COLUMN projects.default_for IS 'whose default project this is; null: nobody''s';
COMMENT ON COLUMN projects.log_seq IS 'last number given in the project''s log';
COMMENT ON COLUMN projects.created_at IS 'when';
COMMENT ON COLUMN projects.updated_at IS 'last change of the project''s own fields';
CREATE TABLE tokens (
    id VARCHAR(40) NOT NULL,
    user_id VARCHAR(40) NOT NULL,
    name TEXT NOT NULL,
    hash VARCHAR(64) NOT NULL,
    prefix VARCHAR(16) NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT,
    expires_at BIGINT,
    revoked_at BIGINT,
    CONSTRAINT pk_tokens PRIMARY KEY (id),
    CONSTRAINT fk_tokens_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT uq_tokens_hash UNIQUE (hash)
);
COMMENT ON COLUMN tokens.id IS 'prefixed id';
COMMENT ON COLUMN tokens.user_id IS 'whose';
COMMENT ON COLUMN tokens.name IS 'what its owner calls it';
COMMENT ON COLUMN tokens.hash IS 'SHA-256 of the token; the token is never stored';
COMMENT ON COLUMN tokens.prefix IS 'its first characters, to recognise it by';
COMMENT ON COLUMN tokens.created_at IS 'when';
COMMENT ON COLUMN tokens.last_used_at IS 'within a minute; null: never';
COMMENT ON COLUMN tokens.expires_at IS 'null: never';
COMMENT ON COLUMN tokens.revoked_at IS 'null: valid';
CREATE INDEX ix_tokens_user_id ON tokens (user_id);
CREATE TABLE attachments (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    blob VARCHAR(64) NOT NULL,
    name TEXT NOT NULL,
    media_type VARCHAR(80) NOT NULL,
    size_bytes BIGINT NOT NULL,
    width INTEGER,
    height INTEGER,
    created_by VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_attachments PRIMARY KEY (id),
    CONSTRAINT fk_attachments_created_by FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_attachments_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
COMMENT ON COLUMN attachments.id IS 'prefixed id';
COMMENT ON COLUMN attachments.project_id IS 'whose members may open it';
COMMENT ON COLUMN attachments.blob IS 'SHA-256 of the content, its name in the blob store';
COMMENT ON COLUMN attachments.name IS 'file name as uploaded';
COMMENT ON COLUMN attachments.media_type IS 'found from the content, not from the name';
COMMENT ON COLUMN attachments.size_bytes IS 'of the content';
COMMENT ON COLUMN attachments.width IS 'pixels; null: not an image';
COMMENT ON COLUMN attachments.height IS 'pixels; null: not an image';
COMMENT ON COLUMN attachments.created_by IS 'who';
COMMENT ON COLUMN attachments.created_at IS 'when';
CREATE INDEX ix_attachments_project_id ON attachments (project_id);
CREATE TABLE invitations (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    role VARCHAR(10) NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    hash VARCHAR(64) NOT NULL,
    created_by VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    accepted_at BIGINT,
    accepted_by VARCHAR(40),
    CONSTRAINT pk_invitations PRIMARY KEY (id),
    CONSTRAINT fk_invitations_accepted_by FOREIGN KEY(accepted_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_invitations_created_by FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_invitations_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_invitations_hash UNIQUE (hash)
);
COMMENT ON COLUMN invitations.id IS 'prefixed id';
COMMENT ON COLUMN invitations.project_id IS 'to';
COMMENT ON COLUMN invitations.role IS 'owner | editor | viewer';
COMMENT ON COLUMN invitations.name IS 'who is meant, for the inviter''s eyes';
COMMENT ON COLUMN invitations.hash IS 'SHA-256 of the invitation''s token';
COMMENT ON COLUMN invitations.created_by IS 'who invited';
COMMENT ON COLUMN invitations.created_at IS 'when';
COMMENT ON COLUMN invitations.expires_at IS 'not accepted afterwards';
COMMENT ON COLUMN invitations.accepted_at IS 'null: open';
COMMENT ON COLUMN invitations.accepted_by IS 'null: open';
CREATE INDEX ix_invitations_project_id ON invitations (project_id);
CREATE TABLE locks (
    resource_type VARCHAR(10) NOT NULL,
    resource_id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    holder_id VARCHAR(40) NOT NULL,
    acquired_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    requested_by VARCHAR(40),
    requested_at BIGINT,
    CONSTRAINT pk_locks PRIMARY KEY (resource_type, resource_id),
    CONSTRAINT fk_locks_holder_id FOREIGN KEY(holder_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_locks_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_locks_requested_by FOREIGN KEY(requested_by) REFERENCES users (id) ON DELETE CASCADE
);
COMMENT ON COLUMN locks.resource_type IS 'thread | section';
COMMENT ON COLUMN locks.resource_id IS 'which';
COMMENT ON COLUMN locks.project_id IS 'in';
COMMENT ON COLUMN locks.holder_id IS 'who drives';
COMMENT ON COLUMN locks.acquired_at IS 'since';
COMMENT ON COLUMN locks.expires_at IS 'from then on anyone may take over';
COMMENT ON COLUMN locks.requested_by IS 'who asked for a hand-over; null: nobody';
COMMENT ON COLUMN locks.requested_at IS 'when they asked';
CREATE INDEX ix_locks_project_id ON locks (project_id);
CREATE TABLE members (
    project_id VARCHAR(40) NOT NULL,
    user_id VARCHAR(40) NOT NULL,
    role VARCHAR(10) NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_members PRIMARY KEY (project_id, user_id),
    CONSTRAINT fk_members_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_members_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
COMMENT ON COLUMN members.project_id IS 'of';
COMMENT ON COLUMN members.user_id IS 'who';
COMMENT ON COLUMN members.role IS 'owner | editor | viewer';
COMMENT ON COLUMN members.created_at IS 'since';
CREATE INDEX ix_members_user_id ON members (user_id);
CREATE TABLE sessions (
    id_hash VARCHAR(64) NOT NULL,
    user_id VARCHAR(40) NOT NULL,
    token_id VARCHAR(40),
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT pk_sessions PRIMARY KEY (id_hash),
    CONSTRAINT fk_sessions_token_id FOREIGN KEY(token_id) REFERENCES tokens (id) ON DELETE CASCADE,
    CONSTRAINT fk_sessions_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
COMMENT ON COLUMN sessions.id_hash IS 'SHA-256 of the cookie''s value';
COMMENT ON COLUMN sessions.user_id IS 'whose';
COMMENT ON COLUMN sessions.token_id IS 'the token it was exchanged for; null: local mode or invitation';
COMMENT ON COLUMN sessions.created_at IS 'when';
COMMENT ON COLUMN sessions.expires_at IS 'the cookie is refused afterwards';
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE TABLE threads (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    title TEXT NOT NULL,
    titled BOOLEAN DEFAULT false NOT NULL,
    profile VARCHAR(80) NOT NULL,
    status VARCHAR(10) NOT NULL,
    run_status VARCHAR(20) NOT NULL,
    active_run_id VARCHAR(40),
    workspace_id VARCHAR(40),
    anchor TEXT,
    parent_thread_id VARCHAR(40),
    parent_message_id VARCHAR(40),
    message_count BIGINT DEFAULT '0' NOT NULL,
    log_seq BIGINT DEFAULT '0' NOT NULL,
    created_by VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT pk_threads PRIMARY KEY (id),
    CONSTRAINT fk_threads_created_by FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_threads_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
COMMENT ON COLUMN threads.id IS 'prefixed id';
COMMENT ON COLUMN threads.project_id IS 'in';
COMMENT ON COLUMN threads.title IS 'shown; made from the first message until renamed';
COMMENT ON COLUMN threads.titled IS 'a person chose the title';
COMMENT ON COLUMN threads.profile IS 'agent profile: chat | …';
COMMENT ON COLUMN threads.status IS 'open | archived';
COMMENT ON COLUMN threads.run_status IS 'idle | generating | awaiting_approval | paused | complete | error';
COMMENT ON COLUMN threads.active_run_id IS 'the run that is not ended and not waiting behind another; null: none';
COMMENT ON COLUMN threads.workspace_id IS 'where its agent works; null until the first use';
COMMENT ON COLUMN threads.anchor IS 'what it is about: {type: section|comment|screen|page|selection, …}; null: nothing';
COMMENT ON COLUMN threads.parent_thread_id IS 'forked from; null: not a fork';
COMMENT ON COLUMN threads.parent_message_id IS 'last message copied at the fork';
COMMENT ON COLUMN threads.message_count IS 'messages in it; also the last position given';
COMMENT ON COLUMN threads.log_seq IS 'last number given in the thread''s log';
COMMENT ON COLUMN threads.created_by IS 'who';
COMMENT ON COLUMN threads.created_at IS 'when';
COMMENT ON COLUMN threads.updated_at IS 'last message, run or rename; lists are sorted by it';
CREATE INDEX ix_threads_list ON threads (project_id, status, updated_at);
CREATE TABLE workspaces (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    owner_type VARCHAR(10) NOT NULL,
    owner_id VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    CONSTRAINT pk_workspaces PRIMARY KEY (id),
    CONSTRAINT fk_workspaces_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_workspaces_owner_type UNIQUE (owner_type, owner_id)
);
COMMENT ON COLUMN workspaces.id IS 'prefixed id';
COMMENT ON COLUMN workspaces.project_id IS 'in';
COMMENT ON COLUMN workspaces.owner_type IS 'thread | screen | page';
COMMENT ON COLUMN workspaces.owner_id IS 'which';
COMMENT ON COLUMN workspaces.created_at IS 'when';
COMMENT ON COLUMN workspaces.last_used_at IS 'last tool call or visit';
CREATE INDEX ix_workspaces_project_id ON workspaces (project_id);
CREATE TABLE followers (
    thread_id VARCHAR(40) NOT NULL,
    node_id VARCHAR(40) NOT NULL,
    lease_until BIGINT NOT NULL,
    CONSTRAINT pk_followers PRIMARY KEY (thread_id, node_id),
    CONSTRAINT fk_followers_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE
);
COMMENT ON COLUMN followers.thread_id IS 'followed';
COMMENT ON COLUMN followers.node_id IS 'the node with at least one follower';
COMMENT ON COLUMN followers.lease_until IS 'refreshed while followed';
CREATE TABLE grants (
    id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    tool VARCHAR(80) NOT NULL,
    arguments TEXT NOT NULL,
    created_by VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_grants PRIMARY KEY (id),
    CONSTRAINT fk_grants_created_by FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_grants_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE
);
COMMENT ON COLUMN grants.id IS 'prefixed id';
COMMENT ON COLUMN grants.thread_id IS 'remembered for';
COMMENT ON COLUMN grants.tool IS 'tool name';
COMMENT ON COLUMN grants.arguments IS 'glob over the canonical arguments that is allowed without asking';
COMMENT ON COLUMN grants.created_by IS 'who approved';
COMMENT ON COLUMN grants.created_at IS 'when';
CREATE INDEX ix_grants_thread_id ON grants (thread_id);
CREATE TABLE messages (
    id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    position INTEGER NOT NULL,
    role VARCHAR(10) NOT NULL,
    sender_id VARCHAR(40),
    status VARCHAR(10) NOT NULL,
    parts TEXT NOT NULL,
    model TEXT,
    run_id VARCHAR(40),
    reply_to VARCHAR(40),
    credits INTEGER,
    error TEXT,
    stop_reason VARCHAR(20),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_messages PRIMARY KEY (id),
    CONSTRAINT fk_messages_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE,
    CONSTRAINT uq_messages_thread_id UNIQUE (thread_id, position)
);
COMMENT ON COLUMN messages.id IS 'prefixed id';
COMMENT ON COLUMN messages.thread_id IS 'in';
COMMENT ON COLUMN messages.position IS '1, 2, 3 … within the thread';
COMMENT ON COLUMN messages.role IS 'user | assistant | tool | system';
COMMENT ON COLUMN messages.sender_id IS 'the user who wrote it; null: an agent';
COMMENT ON COLUMN messages.status IS 'complete | partial | cancelled | error';
COMMENT ON COLUMN messages.parts IS 'list of parts as in base/events.py';
COMMENT ON COLUMN messages.model IS 'model id of an answer';
COMMENT ON COLUMN messages.run_id IS 'for an answer: the run that made it';
COMMENT ON COLUMN messages.reply_to IS 'for an answer: the user message it answers';
COMMENT ON COLUMN messages.credits IS 'settled for an answer';
COMMENT ON COLUMN messages.error IS 'code, message, hint of a failed answer';
COMMENT ON COLUMN messages.stop_reason IS 'of the run that made it';
COMMENT ON COLUMN messages.created_at IS 'when';
CREATE INDEX ix_messages_run_id ON messages (run_id);
CREATE TABLE runs (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    workspace_id VARCHAR(40),
    profile VARCHAR(80) NOT NULL,
    model TEXT NOT NULL,
    message_id VARCHAR(40) NOT NULL,
    answer_id VARCHAR(40),
    parent_run_id VARCHAR(40),
    mode VARCHAR(10) NOT NULL,
    after_run_id VARCHAR(40),
    started_by VARCHAR(40) NOT NULL,
    status VARCHAR(20) NOT NULL,
    leg VARCHAR(10) NOT NULL,
    waiting_for VARCHAR(10),
    stop_reason VARCHAR(20),
    problems TEXT NOT NULL,
    error TEXT,
    attempt INTEGER DEFAULT '0' NOT NULL,
    owner VARCHAR(40),
    lease_until BIGINT,
    ready_at BIGINT,
    seq_saved BIGINT DEFAULT '0' NOT NULL,
    seq_reserved BIGINT DEFAULT '0' NOT NULL,
    cancel_requested_at BIGINT,
    cancelled_by VARCHAR(40),
    cancel_reason VARCHAR(20),
    unwatched_since BIGINT,
    paused_at BIGINT,
    input_tokens BIGINT DEFAULT '0' NOT NULL,
    output_tokens BIGINT DEFAULT '0' NOT NULL,
    cached_tokens BIGINT DEFAULT '0' NOT NULL,
    reasoning_tokens BIGINT DEFAULT '0' NOT NULL,
    cost_usd FLOAT,
    credits INTEGER NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    cleaned BOOLEAN DEFAULT false NOT NULL,
    CONSTRAINT pk_runs PRIMARY KEY (id),
    CONSTRAINT fk_runs_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_runs_started_by FOREIGN KEY(started_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_runs_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE
);
COMMENT ON COLUMN runs.id IS 'prefixed id';
COMMENT ON COLUMN runs.project_id IS 'in';
COMMENT ON COLUMN runs.thread_id IS 'in';
COMMENT ON COLUMN runs.workspace_id IS 'where it works; null until the first use';
COMMENT ON COLUMN runs.profile IS 'agent profile';
COMMENT ON COLUMN runs.model IS 'model id';
COMMENT ON COLUMN runs.message_id IS 'the user message it answers; its context ends there';
COMMENT ON COLUMN runs.answer_id IS 'the saved answer; null until the run has ended, or if none was made';
COMMENT ON COLUMN runs.parent_run_id IS 'retried or continued from';
COMMENT ON COLUMN runs.mode IS 'start | retry | continue';
COMMENT ON COLUMN runs.after_run_id IS 'queued behind this run; null: none';
COMMENT ON COLUMN runs.started_by IS 'who started and pays';
COMMENT ON COLUMN runs.status IS 'queued | running | awaiting_approval | paused | completed | cancelled | error';
COMMENT ON COLUMN runs.leg IS 'blocked: behind another run | ready: to be claimed | held: by a worker | parked: waits for a person | ended';
COMMENT ON COLUMN runs.waiting_for IS 'approval | answer while parked';
COMMENT ON COLUMN runs.stop_reason IS 'end | user | steps | abandoned | credits | policy | provider | sandbox | problems | superseded';
COMMENT ON COLUMN runs.problems IS 'what is wrong with a run completed with problems';
COMMENT ON COLUMN runs.error IS 'code, message, hint';
COMMENT ON COLUMN runs.attempt IS 'the fence: raised at each claim; writes naming an older one are refused';
COMMENT ON COLUMN runs.owner IS 'the node that holds the lease';
COMMENT ON COLUMN runs.lease_until IS 'the lease lapses then';
COMMENT ON COLUMN runs.ready_at IS 'not claimed before; null: at once';
COMMENT ON COLUMN runs.seq_saved IS 'last number saved in its log';
COMMENT ON COLUMN runs.seq_reserved IS 'no number above this has been sent to anybody';
COMMENT ON COLUMN runs.cancel_requested_at IS 'durable cancel flag; null: no';
COMMENT ON COLUMN runs.cancelled_by IS 'the user who cancelled first';
COMMENT ON COLUMN runs.cancel_reason IS 'user | abandoned | superseded';
COMMENT ON COLUMN runs.unwatched_since IS 'running with nobody following since then; null: somebody follows, or it waits for a person';
COMMENT ON COLUMN runs.paused_at IS 'since when the run is paused';
COMMENT ON COLUMN runs.input_tokens IS 'sum over its model turns';
COMMENT ON COLUMN runs.output_tokens IS 'sum over its model turns';
COMMENT ON COLUMN runs.cached_tokens IS 'part of the input that the provider had cached';
COMMENT ON COLUMN runs.reasoning_tokens IS 'part of the output';
COMMENT ON COLUMN runs.cost_usd IS 'sum where known; null: unknown';
COMMENT ON COLUMN runs.credits IS 'reserved at the start, settled at the end';
COMMENT ON COLUMN runs.created_at IS 'when it was asked for';
COMMENT ON COLUMN runs.started_at IS 'first claim';
COMMENT ON COLUMN runs.ended_at IS 'null: not ended';
COMMENT ON COLUMN runs.cleaned IS 'its raw records (effects, log) were removed after the retention time';
CREATE INDEX ix_runs_after_run_id ON runs (after_run_id);
CREATE INDEX ix_runs_claim ON runs (leg, ready_at, created_at);
CREATE INDEX ix_runs_list ON runs (project_id, created_at);
CREATE INDEX ix_runs_thread_id ON runs (thread_id);
CREATE INDEX ix_runs_user ON runs (started_by, created_at);
CREATE UNIQUE INDEX uq_runs_one_active ON runs (thread_id) WHERE leg IN ('ready', 'held', 'parked');
CREATE TABLE sandboxes (
    id VARCHAR(40) NOT NULL,
    workspace_id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    provider VARCHAR(80) NOT NULL,
    ref TEXT DEFAULT '' NOT NULL,
    state VARCHAR(10) NOT NULL,
    pause_kind VARCHAR(10),
    node_id VARCHAR(40),
    created_at BIGINT NOT NULL,
    last_used_at BIGINT NOT NULL,
    ended_at BIGINT,
    CONSTRAINT pk_sandboxes PRIMARY KEY (id),
    CONSTRAINT fk_sandboxes_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_sandboxes_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
COMMENT ON COLUMN sandboxes.id IS 'prefixed id';
COMMENT ON COLUMN sandboxes.workspace_id IS 'runs its files';
COMMENT ON COLUMN sandboxes.project_id IS 'in';
COMMENT ON COLUMN sandboxes.provider IS 'local | …';
COMMENT ON COLUMN sandboxes.ref IS 'how the provider finds it again';
COMMENT ON COLUMN sandboxes.state IS 'creating | ready | pausing | paused | resuming | lost | killed';
COMMENT ON COLUMN sandboxes.pause_kind IS 'frozen | stopped while paused';
COMMENT ON COLUMN sandboxes.node_id IS 'the node whose machine it runs on';
COMMENT ON COLUMN sandboxes.created_at IS 'when';
COMMENT ON COLUMN sandboxes.last_used_at IS 'last command, file access or visit';
COMMENT ON COLUMN sandboxes.ended_at IS 'lost or killed; null: lives';
CREATE INDEX ix_sandboxes_project_id ON sandboxes (project_id);
CREATE INDEX ix_sandboxes_workspace_id ON sandboxes (workspace_id);
CREATE TABLE search_entries (
    id BIGSERIAL NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    position INTEGER NOT NULL,
    words TEXT NOT NULL,
    CONSTRAINT pk_search_entries PRIMARY KEY (id),
    CONSTRAINT fk_search_entries_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE,
    CONSTRAINT uq_search_entries_thread_id UNIQUE (thread_id, position)
);
COMMENT ON COLUMN search_entries.id IS 'row in the index';
COMMENT ON COLUMN search_entries.thread_id IS 'in';
COMMENT ON COLUMN search_entries.position IS 'the message''s; 0: the thread''s title';
COMMENT ON COLUMN search_entries.words IS 'derived: the project''s mark and the distinct words, as kernel/threads/search.py cuts them';
CREATE TABLE effects (
    id VARCHAR(40) NOT NULL,
    run_id VARCHAR(40) NOT NULL,
    ordinal INTEGER NOT NULL,
    step INTEGER NOT NULL,
    kind VARCHAR(10) NOT NULL,
    status VARCHAR(12) NOT NULL,
    tool VARCHAR(80),
    call_id VARCHAR(120),
    part_id VARCHAR(40),
    arguments TEXT,
    attempt INTEGER DEFAULT '0' NOT NULL,
    retries INTEGER DEFAULT '0' NOT NULL,
    result TEXT,
    error TEXT,
    usage TEXT,
    inherited BOOLEAN DEFAULT false NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    CONSTRAINT pk_effects PRIMARY KEY (id),
    CONSTRAINT fk_effects_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
    CONSTRAINT uq_effects_run_id UNIQUE (run_id, ordinal)
);
COMMENT ON COLUMN effects.id IS 'prefixed id';
COMMENT ON COLUMN effects.run_id IS 'of';
COMMENT ON COLUMN effects.ordinal IS 'order within the run';
COMMENT ON COLUMN effects.step IS '1, 2, 3 … the model turn it belongs to';
COMMENT ON COLUMN effects.kind IS 'model | tool';
COMMENT ON COLUMN effects.status IS 'allowed | waiting | started | finished | denied | interrupted | cancelled | failed';
COMMENT ON COLUMN effects.tool IS 'tool name; null: a model turn';
COMMENT ON COLUMN effects.call_id IS 'the model''s id of the call';
COMMENT ON COLUMN effects.part_id IS 'the part that shows it';
COMMENT ON COLUMN effects.arguments IS 'JSON text the tool is called with (edited arguments replace the model''s)';
COMMENT ON COLUMN effects.attempt IS 'the run attempt that started it last';
COMMENT ON COLUMN effects.retries IS 'transient failures so far';
COMMENT ON COLUMN effects.result IS 'model: the turn as pieces, finish, usage; tool: content, is_error';
COMMENT ON COLUMN effects.error IS 'last failure';
COMMENT ON COLUMN effects.usage IS 'tokens and cost of a model turn';
COMMENT ON COLUMN effects.inherited IS 'copied from the run this one continues';
COMMENT ON COLUMN effects.created_at IS 'when it was named';
COMMENT ON COLUMN effects.started_at IS 'first start';
COMMENT ON COLUMN effects.ended_at IS 'null: open';
CREATE TABLE approvals (
    id VARCHAR(40) NOT NULL,
    run_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    effect_id VARCHAR(40) NOT NULL,
    kind VARCHAR(10) NOT NULL,
    status VARCHAR(10) NOT NULL,
    tool VARCHAR(80) NOT NULL,
    arguments TEXT NOT NULL,
    reason TEXT DEFAULT '' NOT NULL,
    decision TEXT,
    decided_by VARCHAR(40),
    decided_at BIGINT,
    announced BOOLEAN DEFAULT false NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_approvals PRIMARY KEY (id),
    CONSTRAINT fk_approvals_effect_id FOREIGN KEY(effect_id) REFERENCES effects (id) ON DELETE CASCADE,
    CONSTRAINT fk_approvals_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
    CONSTRAINT fk_approvals_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE
);
COMMENT ON COLUMN approvals.id IS 'apr_… or que_…';
COMMENT ON COLUMN approvals.run_id IS 'of';
COMMENT ON COLUMN approvals.thread_id IS 'in';
COMMENT ON COLUMN approvals.effect_id IS 'the tool call';
COMMENT ON COLUMN approvals.kind IS 'approval | question';
COMMENT ON COLUMN approvals.status IS 'open | approved | denied | answered | cancelled';
COMMENT ON COLUMN approvals.tool IS 'tool name';
COMMENT ON COLUMN approvals.arguments IS 'the exact arguments (JSON text) the decision is bound to';
COMMENT ON COLUMN approvals.reason IS 'which policy asked';
COMMENT ON COLUMN approvals.decision IS 'reason, edited arguments, remember; or the answers';
COMMENT ON COLUMN approvals.decided_by IS 'who; null: open, or closed by the run''s end';
COMMENT ON COLUMN approvals.decided_at IS 'null: open';
COMMENT ON COLUMN approvals.announced IS 'its resolution stands in the run''s log';
COMMENT ON COLUMN approvals.created_at IS 'when';
CREATE INDEX ix_approvals_open ON approvals (status, created_at);
CREATE INDEX ix_approvals_run_id ON approvals (run_id);
CREATE INDEX ix_approvals_thread_id ON approvals (thread_id);
-- revision 0002
CREATE INDEX ix_search_entries_words ON search_entries
        USING gin (array_to_tsvector(string_to_array(words, ' ')));
-- revision 0003
CREATE TABLE snapshots (
    name VARCHAR(80) NOT NULL,
    provider VARCHAR(80) NOT NULL,
    state VARCHAR(80) NOT NULL,
    recipe TEXT NOT NULL,
    ref TEXT DEFAULT '' NOT NULL,
    error TEXT,
    size_bytes BIGINT DEFAULT '0' NOT NULL,
    node_id VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    built_at BIGINT,
    last_used_at BIGINT NOT NULL,
    CONSTRAINT pk_snapshots PRIMARY KEY (name, provider, node_id)
);
COMMENT ON COLUMN snapshots.name IS 'hash of what it was built from';
COMMENT ON COLUMN snapshots.provider IS 'whose sandboxes start from it';
COMMENT ON COLUMN snapshots.state IS 'building | ready | failed';
COMMENT ON COLUMN snapshots.recipe IS 'sorted dependencies with versions, set-up commands, template';
COMMENT ON COLUMN snapshots.ref IS 'how the provider finds it; empty until ready';
COMMENT ON COLUMN snapshots.error IS 'why the build failed, with the end of its output; null: it did not';
COMMENT ON COLUMN snapshots.size_bytes IS 'on disk';
COMMENT ON COLUMN snapshots.node_id IS 'the node that built it and holds its files';
COMMENT ON COLUMN snapshots.created_at IS 'build begun';
COMMENT ON COLUMN snapshots.built_at IS 'ready or failed; null: building';
COMMENT ON COLUMN snapshots.last_used_at IS 'a sandbox was last started from it; unused ones are collected';
CREATE TABLE secret_uses (
    id BIGSERIAL NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    sandbox_id VARCHAR(40) NOT NULL,
    user_id VARCHAR(40),
    secret VARCHAR(80) NOT NULL,
    host TEXT NOT NULL,
    method VARCHAR(80) NOT NULL,
    path TEXT NOT NULL,
    status INTEGER,
    at BIGINT NOT NULL,
    CONSTRAINT pk_secret_uses PRIMARY KEY (id),
    CONSTRAINT fk_secret_uses_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
COMMENT ON COLUMN secret_uses.id IS 'running number';
COMMENT ON COLUMN secret_uses.project_id IS 'in';
COMMENT ON COLUMN secret_uses.sandbox_id IS 'asked for by code in it';
COMMENT ON COLUMN secret_uses.user_id IS 'whom the work was done for; null: nobody in particular';
COMMENT ON COLUMN secret_uses.secret IS 'its name; the value is nowhere';
COMMENT ON COLUMN secret_uses.host IS 'the host it was sent to';
COMMENT ON COLUMN secret_uses.method IS 'of the request';
COMMENT ON COLUMN secret_uses.path IS 'of the request, without its query';
COMMENT ON COLUMN secret_uses.status IS 'of the answer; null: none came';
COMMENT ON COLUMN secret_uses.at IS 'when';
CREATE INDEX ix_secret_uses_at ON secret_uses (at);
CREATE INDEX ix_secret_uses_project_id ON secret_uses (project_id);
CREATE INDEX ix_secret_uses_sandbox_id ON secret_uses (sandbox_id);
CREATE TABLE checkpoints (
    id VARCHAR(40) NOT NULL,
    workspace_id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    run_id VARCHAR(40),
    message_id VARCHAR(40),
    effect_id VARCHAR(40),
    parent_id VARCHAR(40),
    reason VARCHAR(80) NOT NULL,
    tree VARCHAR(64) NOT NULL,
    files BIGINT DEFAULT '0' NOT NULL,
    size_bytes BIGINT DEFAULT '0' NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_checkpoints PRIMARY KEY (id),
    CONSTRAINT fk_checkpoints_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_checkpoints_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
COMMENT ON COLUMN checkpoints.id IS 'prefixed id';
COMMENT ON COLUMN checkpoints.workspace_id IS 'whose files';
COMMENT ON COLUMN checkpoints.project_id IS 'in';
COMMENT ON COLUMN checkpoints.run_id IS 'made in this run; null: by hand or by the life cycle';
COMMENT ON COLUMN checkpoints.message_id IS 'the answer it belongs to; null: none yet';
COMMENT ON COLUMN checkpoints.effect_id IS 'made after this tool call';
COMMENT ON COLUMN checkpoints.parent_id IS 'the workspace''s checkpoint before it';
COMMENT ON COLUMN checkpoints.reason IS 'tool | message | sleep | fork | restore | person';
COMMENT ON COLUMN checkpoints.tree IS 'SHA-256 of its manifest, a blob: path, mode, size, hash';
COMMENT ON COLUMN checkpoints.files IS 'files in it';
COMMENT ON COLUMN checkpoints.size_bytes IS 'sum of their sizes';
COMMENT ON COLUMN checkpoints.created_at IS 'when';
CREATE INDEX ix_checkpoints_message_id ON checkpoints (message_id);
CREATE INDEX ix_checkpoints_project_id ON checkpoints (project_id);
CREATE INDEX ix_checkpoints_run_id ON checkpoints (run_id);
CREATE INDEX ix_checkpoints_workspace_id ON checkpoints (workspace_id);
CREATE TABLE hosted_sandboxes (
    workspace_id VARCHAR(40) NOT NULL,
    user_id VARCHAR(40) NOT NULL,
    template VARCHAR(80) DEFAULT 'base' NOT NULL,
    metadata TEXT NOT NULL,
    env TEXT NOT NULL,
    options TEXT NOT NULL,
    ends_at BIGINT NOT NULL,
    on_timeout VARCHAR(80) NOT NULL,
    paused_at BIGINT,
    access_token VARCHAR(80) NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_hosted_sandboxes PRIMARY KEY (workspace_id),
    CONSTRAINT fk_hosted_sandboxes_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_hosted_sandboxes_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
COMMENT ON COLUMN hosted_sandboxes.workspace_id IS 'its files and sandboxes';
COMMENT ON COLUMN hosted_sandboxes.user_id IS 'made it through the E2B surface';
COMMENT ON COLUMN hosted_sandboxes.template IS 'a snapshot''s name or alias';
COMMENT ON COLUMN hosted_sandboxes.metadata IS 'the caller''s own words';
COMMENT ON COLUMN hosted_sandboxes.env IS 'environment of what runs inside';
COMMENT ON COLUMN hosted_sandboxes.options IS 'network, life cycle and the like, as asked for';
COMMENT ON COLUMN hosted_sandboxes.ends_at IS 'paused or killed then';
COMMENT ON COLUMN hosted_sandboxes.on_timeout IS 'pause | kill';
COMMENT ON COLUMN hosted_sandboxes.paused_at IS 'paused by its caller or at its end; null: it runs';
COMMENT ON COLUMN hosted_sandboxes.access_token IS 'opens this sandbox alone, for programs that talk to it';
COMMENT ON COLUMN hosted_sandboxes.created_at IS 'when';
CREATE INDEX ix_hosted_sandboxes_ends_at ON hosted_sandboxes (ends_at);
CREATE INDEX ix_hosted_sandboxes_user_id ON hosted_sandboxes (user_id);
CREATE TABLE hosted_snapshots (
    workspace_id VARCHAR(40) NOT NULL,
    source_id VARCHAR(40) NOT NULL,
    name VARCHAR(80),
    template VARCHAR(80) NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_hosted_snapshots PRIMARY KEY (workspace_id),
    CONSTRAINT fk_hosted_snapshots_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
COMMENT ON COLUMN hosted_snapshots.workspace_id IS 'holds the files, as a checkpoint';
COMMENT ON COLUMN hosted_snapshots.source_id IS 'the workspace it was made from';
COMMENT ON COLUMN hosted_snapshots.name IS 'the caller''s own word for it; null: none';
COMMENT ON COLUMN hosted_snapshots.template IS 'a snapshot''s name or alias, as its source had it';
COMMENT ON COLUMN hosted_snapshots.created_at IS 'when';
CREATE INDEX ix_hosted_snapshots_source_id ON hosted_snapshots (source_id);
CREATE TABLE services (
    workspace_id VARCHAR(40) NOT NULL,
    name VARCHAR(40) NOT NULL,
    command TEXT NOT NULL,
    port INTEGER NOT NULL,
    health_path TEXT NOT NULL,
    state VARCHAR(80) NOT NULL,
    error TEXT,
    restarts INTEGER DEFAULT '0' NOT NULL,
    created_at BIGINT NOT NULL,
    changed_at BIGINT NOT NULL,
    CONSTRAINT pk_services PRIMARY KEY (workspace_id, name),
    CONSTRAINT fk_services_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
COMMENT ON COLUMN services.workspace_id IS 'runs in it';
COMMENT ON COLUMN services.name IS 'unique in the workspace';
COMMENT ON COLUMN services.command IS 'shell command that stays running';
COMMENT ON COLUMN services.port IS 'where it listens';
COMMENT ON COLUMN services.health_path IS 'answers below 500 once it is up; empty: a connection is enough';
COMMENT ON COLUMN services.state IS 'stopped | starting | healthy | failed';
COMMENT ON COLUMN services.error IS 'why it failed, with the end of its output';
COMMENT ON COLUMN services.restarts IS 'since it was declared';
COMMENT ON COLUMN services.created_at IS 'declared';
COMMENT ON COLUMN services.changed_at IS 'state last changed';
CREATE TABLE preview_grants (
    hash VARCHAR(64) NOT NULL,
    kind VARCHAR(80) NOT NULL,
    workspace_id VARCHAR(40) NOT NULL,
    port INTEGER NOT NULL,
    user_id VARCHAR(40) NOT NULL,
    via VARCHAR(80) NOT NULL,
    token_id VARCHAR(40),
    session_hash VARCHAR(64),
    opener TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    CONSTRAINT pk_preview_grants PRIMARY KEY (hash),
    CONSTRAINT fk_preview_grants_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_preview_grants_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE
);
COMMENT ON COLUMN preview_grants.hash IS 'of the ticket or cookie';
COMMENT ON COLUMN preview_grants.kind IS 'ticket (one use) | cookie';
COMMENT ON COLUMN preview_grants.workspace_id IS 'whose port is shown';
COMMENT ON COLUMN preview_grants.port IS 'inside';
COMMENT ON COLUMN preview_grants.user_id IS 'who may see it';
COMMENT ON COLUMN preview_grants.via IS 'local | token | session: how they were signed in';
COMMENT ON COLUMN preview_grants.token_id IS 'ends with this token; null: not from one';
COMMENT ON COLUMN preview_grants.session_hash IS 'ends with this session; null: not from one';
COMMENT ON COLUMN preview_grants.opener IS 'origin of the page that may show it in a frame; empty: none';
COMMENT ON COLUMN preview_grants.created_at IS 'when';
COMMENT ON COLUMN preview_grants.expires_at IS 'good until then';
CREATE INDEX ix_preview_grants_expires_at ON preview_grants (expires_at);
CREATE TABLE packed_files (
    hash VARCHAR(64) NOT NULL,
    blob VARCHAR(64) NOT NULL,
    "offset" BIGINT NOT NULL,
    CONSTRAINT pk_packed_files PRIMARY KEY (hash)
);
COMMENT ON COLUMN packed_files.hash IS 'SHA-256 of a small file''s content';
COMMENT ON COLUMN packed_files.blob IS 'the blob that it is a part of';
COMMENT ON COLUMN packed_files."offset" IS 'where in the blob it begins';
CREATE INDEX ix_packed_files_blob ON packed_files (blob);
ALTER TABLE sandboxes ADD COLUMN snapshot VARCHAR(80);
COMMENT ON COLUMN sandboxes.snapshot IS 'what it was started from; null: the bare base';
ALTER TABLE sandboxes ADD COLUMN restarted_at BIGINT;
COMMENT ON COLUMN sandboxes.restarted_at IS 'last started again after a stop; null: never';
ALTER TABLE workspaces ADD COLUMN checkpoint_id VARCHAR(40);
COMMENT ON COLUMN workspaces.checkpoint_id IS 'the newest checkpoint; null: none yet';
ALTER TABLE workspaces ADD COLUMN changed_at BIGINT;
COMMENT ON COLUMN workspaces.changed_at IS 'files may have changed since then and are not in a checkpoint; null: all are';
ALTER TABLE workspaces ADD COLUMN evicted_at BIGINT;
COMMENT ON COLUMN workspaces.evicted_at IS 'its files lie nowhere but in the checkpoint; null: they lie on its node';
ALTER TABLE workspaces ADD COLUMN node_id VARCHAR(40);
COMMENT ON COLUMN workspaces.node_id IS 'the node whose disk holds its files; null: not noted yet';
COMMENT ON COLUMN workspaces.owner_type IS 'thread | screen | page | api';
-- revision 0004
ALTER TABLE workspaces ADD COLUMN template VARCHAR(80);
COMMENT ON COLUMN workspaces.template IS 'the app template its files began as and its packages come from; null: none';
CREATE TABLE screens (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    workspace_id VARCHAR(40) NOT NULL,
    title TEXT NOT NULL,
    named BOOLEAN DEFAULT false NOT NULL,
    template VARCHAR(80) NOT NULL,
    theme VARCHAR(80) NOT NULL,
    theme_tokens TEXT,
    x INTEGER NOT NULL,
    y INTEGER NOT NULL,
    width INTEGER NOT NULL,
    height INTEGER NOT NULL,
    files TEXT NOT NULL,
    problems TEXT NOT NULL,
    trouble TEXT,
    picture_id VARCHAR(40),
    pictured_at BIGINT,
    created_by VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT pk_screens PRIMARY KEY (id),
    CONSTRAINT fk_screens_created_by FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_screens_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_screens_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE,
    CONSTRAINT uq_screens_thread_id UNIQUE (thread_id),
    CONSTRAINT uq_screens_workspace_id UNIQUE (workspace_id)
);
COMMENT ON COLUMN screens.id IS 'prefixed id';
COMMENT ON COLUMN screens.project_id IS 'on whose canvas';
COMMENT ON COLUMN screens.thread_id IS 'the conversation that builds it';
COMMENT ON COLUMN screens.workspace_id IS 'holds its files';
COMMENT ON COLUMN screens.title IS 'shown above it';
COMMENT ON COLUMN screens.named IS 'a person chose the title, so the agent''s is not taken';
COMMENT ON COLUMN screens.template IS 'what its app began as: next | vite';
COMMENT ON COLUMN screens.theme IS 'id of its theme, or custom';
COMMENT ON COLUMN screens.theme_tokens IS 'a custom theme''s tokens: {light: {name: colour}, dark: {…}}; null: a named theme';
COMMENT ON COLUMN screens.x IS 'left edge on the canvas, CSS pixels';
COMMENT ON COLUMN screens.y IS 'top edge, downwards';
COMMENT ON COLUMN screens.width IS 'of its frame';
COMMENT ON COLUMN screens.height IS 'of its frame';
COMMENT ON COLUMN screens.files IS 'what the agent said of its files: list of {path, description}';
COMMENT ON COLUMN screens.problems IS 'what is wrong with it since its last run; empty: nothing known';
COMMENT ON COLUMN screens.trouble IS 'why its sandbox could not be had when it was last opened; null: it could, or nobody has';
COMMENT ON COLUMN screens.picture_id IS 'the attachment with its last screenshot; null: none yet';
COMMENT ON COLUMN screens.pictured_at IS 'when that was taken';
COMMENT ON COLUMN screens.created_by IS 'who';
COMMENT ON COLUMN screens.created_at IS 'when';
COMMENT ON COLUMN screens.updated_at IS 'last change of the row, moves included';
CREATE INDEX ix_screens_project_id ON screens (project_id);
CREATE INDEX ix_threads_workspace_id ON threads (workspace_id);
COMMENT ON COLUMN effects.kind IS 'model | tool | prepare | check';
COMMENT ON COLUMN checkpoints.reason IS 'tool | message | sleep | fork | restore | person | template';
-- revision 0005
CREATE TABLE pages (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    workspace_id VARCHAR(40) NOT NULL,
    title TEXT NOT NULL,
    named BOOLEAN DEFAULT false NOT NULL,
    version BIGINT DEFAULT '0' NOT NULL,
    html TEXT DEFAULT '' NOT NULL,
    problems TEXT NOT NULL,
    created_by VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    active_at BIGINT NOT NULL,
    CONSTRAINT pk_pages PRIMARY KEY (id),
    CONSTRAINT fk_pages_created_by FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_pages_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_pages_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE,
    CONSTRAINT uq_pages_thread_id UNIQUE (thread_id),
    CONSTRAINT uq_pages_workspace_id UNIQUE (workspace_id)
);
COMMENT ON COLUMN pages.id IS 'prefixed id';
COMMENT ON COLUMN pages.project_id IS 'in';
COMMENT ON COLUMN pages.thread_id IS 'the conversation that changes it';
COMMENT ON COLUMN pages.workspace_id IS 'where its code runs and modules lie';
COMMENT ON COLUMN pages.title IS 'shown';
COMMENT ON COLUMN pages.named IS 'a person chose the title, so the agent''s is not taken';
COMMENT ON COLUMN pages.version IS 'of its HTML: how many changes stand';
COMMENT ON COLUMN pages.html IS 'as it is now: sanitised, as a browser writes it';
COMMENT ON COLUMN pages.problems IS 'what its last run left undone; empty: nothing known';
COMMENT ON COLUMN pages.created_by IS 'who';
COMMENT ON COLUMN pages.created_at IS 'when';
COMMENT ON COLUMN pages.updated_at IS 'last change';
COMMENT ON COLUMN pages.active_at IS 'last run or action: dormancy counts from here';
CREATE INDEX ix_pages_project_id ON pages (project_id);
CREATE TABLE page_versions (
    page_id VARCHAR(40) NOT NULL,
    version BIGINT NOT NULL,
    base_version BIGINT NOT NULL,
    kind VARCHAR(80) NOT NULL,
    patches TEXT,
    html TEXT,
    run_id VARCHAR(40),
    step INTEGER,
    summary TEXT DEFAULT '' NOT NULL,
    by VARCHAR(40),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_page_versions PRIMARY KEY (page_id, version),
    CONSTRAINT fk_page_versions_page_id FOREIGN KEY(page_id) REFERENCES pages (id) ON DELETE CASCADE
);
COMMENT ON COLUMN page_versions.page_id IS 'of';
COMMENT ON COLUMN page_versions.version IS 'what it became';
COMMENT ON COLUMN page_versions.base_version IS 'what it was made from';
COMMENT ON COLUMN page_versions.kind IS 'created | full | patches | undo | restore | copy';
COMMENT ON COLUMN page_versions.patches IS 'as they were told; null: `html` says it all';
COMMENT ON COLUMN page_versions.html IS 'the whole page; null: apply the patches to the version before';
COMMENT ON COLUMN page_versions.run_id IS 'made by this run; null: by a person';
COMMENT ON COLUMN page_versions.step IS 'of the run: taken back when the step is asked again';
COMMENT ON COLUMN page_versions.summary IS 'one line for people';
COMMENT ON COLUMN page_versions.by IS 'the user who did it, or whose run did';
COMMENT ON COLUMN page_versions.created_at IS 'when';
CREATE INDEX ix_page_versions_run_id ON page_versions (run_id);
CREATE TABLE page_actions (
    id VARCHAR(40) NOT NULL,
    page_id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    user_id VARCHAR(40) NOT NULL,
    name VARCHAR(80) NOT NULL,
    data TEXT NOT NULL,
    state VARCHAR(80) NOT NULL,
    run_id VARCHAR(40),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_page_actions PRIMARY KEY (id),
    CONSTRAINT fk_page_actions_page_id FOREIGN KEY(page_id) REFERENCES pages (id) ON DELETE CASCADE,
    CONSTRAINT fk_page_actions_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_page_actions_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
COMMENT ON COLUMN page_actions.id IS 'prefixed id';
COMMENT ON COLUMN page_actions.page_id IS 'on';
COMMENT ON COLUMN page_actions.project_id IS 'in';
COMMENT ON COLUMN page_actions.user_id IS 'who did it';
COMMENT ON COLUMN page_actions.name IS 'the element''s data-action';
COMMENT ON COLUMN page_actions.data IS 'values that came with it';
COMMENT ON COLUMN page_actions.state IS 'waiting | taken | done | failed | dropped';
COMMENT ON COLUMN page_actions.run_id IS 'the run that takes it up; null: taken back';
COMMENT ON COLUMN page_actions.created_at IS 'when';
CREATE INDEX ix_page_actions_page_id ON page_actions (page_id);
CREATE INDEX ix_page_actions_run_id ON page_actions (run_id);
CREATE INDEX ix_page_actions_user ON page_actions (user_id, created_at);
CREATE TABLE page_links (
    id VARCHAR(40) NOT NULL,
    page_id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    hash VARCHAR(64) NOT NULL,
    name TEXT DEFAULT '' NOT NULL,
    created_by VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    CONSTRAINT pk_page_links PRIMARY KEY (id),
    CONSTRAINT fk_page_links_created_by FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_page_links_page_id FOREIGN KEY(page_id) REFERENCES pages (id) ON DELETE CASCADE,
    CONSTRAINT fk_page_links_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT uq_page_links_hash UNIQUE (hash)
);
COMMENT ON COLUMN page_links.id IS 'prefixed id';
COMMENT ON COLUMN page_links.page_id IS 'shown by it, read only';
COMMENT ON COLUMN page_links.project_id IS 'in';
COMMENT ON COLUMN page_links.hash IS 'SHA-256 of the link''s secret';
COMMENT ON COLUMN page_links.name IS 'where it is used, for its maker''s eyes';
COMMENT ON COLUMN page_links.created_by IS 'who';
COMMENT ON COLUMN page_links.created_at IS 'when';
COMMENT ON COLUMN page_links.expires_at IS 'null: never';
COMMENT ON COLUMN page_links.revoked_at IS 'null: valid';
CREATE INDEX ix_page_links_page_id ON page_links (page_id);
CREATE TABLE modules (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40),
    workspace_id VARCHAR(40),
    page_id VARCHAR(40),
    user_id VARCHAR(40) NOT NULL,
    scope VARCHAR(80) NOT NULL,
    path TEXT NOT NULL,
    description TEXT NOT NULL,
    exports TEXT NOT NULL,
    usage TEXT NOT NULL,
    hash VARCHAR(64) NOT NULL,
    content_hash VARCHAR(64),
    blob VARCHAR(64),
    dependencies VARCHAR(64),
    verified_at BIGINT,
    run_id VARCHAR(40),
    published_by VARCHAR(40),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT pk_modules PRIMARY KEY (id),
    CONSTRAINT fk_modules_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE SET NULL,
    CONSTRAINT fk_modules_published_by FOREIGN KEY(published_by) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_modules_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_modules_workspace_id FOREIGN KEY(workspace_id) REFERENCES workspaces (id) ON DELETE CASCADE,
    CONSTRAINT uq_modules_workspace_id UNIQUE (workspace_id, path)
);
COMMENT ON COLUMN modules.id IS 'prefixed id';
COMMENT ON COLUMN modules.project_id IS 'where it was written; null: that is gone, and the published one stays';
COMMENT ON COLUMN modules.workspace_id IS 'whose file it is; null: published, lies in the blobs';
COMMENT ON COLUMN modules.page_id IS 'the page it was written for; null: a thread';
COMMENT ON COLUMN modules.user_id IS 'for whom it was written, and published to';
COMMENT ON COLUMN modules.scope IS 'session | user';
COMMENT ON COLUMN modules.path IS 'relative to the workspace';
COMMENT ON COLUMN modules.description IS 'what it does, in the agent''s words';
COMMENT ON COLUMN modules.exports IS 'names';
COMMENT ON COLUMN modules.usage IS 'an import to copy';
COMMENT ON COLUMN modules.hash IS 'SHA-256 of the text that is searched';
COMMENT ON COLUMN modules.content_hash IS 'SHA-256 of the file when it was last looked at';
COMMENT ON COLUMN modules.blob IS 'the file of a published one';
COMMENT ON COLUMN modules.dependencies IS 'hash of the dependencies that it was verified with';
COMMENT ON COLUMN modules.verified_at IS 'null: not since the dependencies changed';
COMMENT ON COLUMN modules.run_id IS 'which run announced it';
COMMENT ON COLUMN modules.published_by IS 'who approved it; null: not published';
COMMENT ON COLUMN modules.created_at IS 'when';
COMMENT ON COLUMN modules.updated_at IS 'last announced';
CREATE INDEX ix_modules_project_id ON modules (project_id);
CREATE INDEX ix_modules_user_id ON modules (user_id);
CREATE INDEX ix_modules_workspace_id ON modules (workspace_id);
CREATE TABLE memories (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    run_id VARCHAR(40) NOT NULL,
    summary TEXT NOT NULL,
    hash VARCHAR(64) NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_memories PRIMARY KEY (id),
    CONSTRAINT fk_memories_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_memories_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE,
    CONSTRAINT uq_memories_run_id UNIQUE (run_id)
);
COMMENT ON COLUMN memories.id IS 'prefixed id';
COMMENT ON COLUMN memories.project_id IS 'in';
COMMENT ON COLUMN memories.thread_id IS 'whose runs';
COMMENT ON COLUMN memories.run_id IS 'of which it is the summary';
COMMENT ON COLUMN memories.summary IS 'one line: what was asked → what was done';
COMMENT ON COLUMN memories.hash IS 'SHA-256 of the text that is searched';
COMMENT ON COLUMN memories.created_at IS 'when';
CREATE INDEX ix_memories_thread_id ON memories (thread_id);
CREATE TABLE knowledge_sources (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40),
    package TEXT NOT NULL,
    kind VARCHAR(80) NOT NULL,
    location TEXT NOT NULL,
    version TEXT DEFAULT '' NOT NULL,
    etag TEXT,
    modified TEXT,
    cut TEXT DEFAULT '' NOT NULL,
    revision BIGINT DEFAULT '0' NOT NULL,
    hash VARCHAR(64),
    state VARCHAR(80) NOT NULL,
    error TEXT,
    passages BIGINT DEFAULT '0' NOT NULL,
    size_bytes BIGINT DEFAULT '0' NOT NULL,
    added_by VARCHAR(40),
    fetched_at BIGINT,
    checked_at BIGINT,
    due_at BIGINT,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_knowledge_sources PRIMARY KEY (id),
    CONSTRAINT fk_knowledge_sources_added_by FOREIGN KEY(added_by) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_knowledge_sources_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
COMMENT ON COLUMN knowledge_sources.id IS 'prefixed id';
COMMENT ON COLUMN knowledge_sources.project_id IS 'for whom; null: everybody, from the configuration';
COMMENT ON COLUMN knowledge_sources.package IS 'npm:NAME, pypi:NAME, or any name';
COMMENT ON COLUMN knowledge_sources.kind IS 'markdown | llms_txt | sitemap | package | folder | text';
COMMENT ON COLUMN knowledge_sources.location IS 'address, file, folder or package';
COMMENT ON COLUMN knowledge_sources.version IS 'of the package that it describes; empty: not known';
COMMENT ON COLUMN knowledge_sources.etag IS 'the last answer''s; null: none';
COMMENT ON COLUMN knowledge_sources.modified IS 'the last answer''s Last-Modified; null: none';
COMMENT ON COLUMN knowledge_sources.cut IS 'how its passages were cut: rules and length; another one cuts anew';
COMMENT ON COLUMN knowledge_sources.revision IS 'raised whenever its passages change';
COMMENT ON COLUMN knowledge_sources.hash IS 'SHA-256 of what was last read; null: nothing yet';
COMMENT ON COLUMN knowledge_sources.state IS 'waiting | fetching | ready | failed';
COMMENT ON COLUMN knowledge_sources.error IS 'why the last try failed; null: it did not';
COMMENT ON COLUMN knowledge_sources.passages IS 'in the index';
COMMENT ON COLUMN knowledge_sources.size_bytes IS 'of what was read';
COMMENT ON COLUMN knowledge_sources.added_by IS 'who; null: the configuration';
COMMENT ON COLUMN knowledge_sources.fetched_at IS 'its content was last read anew';
COMMENT ON COLUMN knowledge_sources.checked_at IS 'it was last asked for';
COMMENT ON COLUMN knowledge_sources.due_at IS 'to be asked for again; null: never';
COMMENT ON COLUMN knowledge_sources.created_at IS 'when';
CREATE INDEX ix_knowledge_sources_due_at ON knowledge_sources (due_at);
CREATE INDEX ix_knowledge_sources_project_id ON knowledge_sources (project_id);
CREATE TABLE knowledge_pages (
    source_id VARCHAR(40) NOT NULL,
    url TEXT NOT NULL,
    etag TEXT,
    modified TEXT,
    hash VARCHAR(64) NOT NULL,
    CONSTRAINT pk_knowledge_pages PRIMARY KEY (source_id, url),
    CONSTRAINT fk_knowledge_pages_source_id FOREIGN KEY(source_id) REFERENCES knowledge_sources (id) ON DELETE CASCADE
);
COMMENT ON COLUMN knowledge_pages.source_id IS 'a source of several documents';
COMMENT ON COLUMN knowledge_pages.url IS 'of one of them; its passages'' addresses begin with it';
COMMENT ON COLUMN knowledge_pages.etag IS 'the last answer''s; null: none';
COMMENT ON COLUMN knowledge_pages.modified IS 'the last answer''s Last-Modified; null: none';
COMMENT ON COLUMN knowledge_pages.hash IS 'SHA-256 of its text';
CREATE TABLE knowledge_passages (
    id VARCHAR(40) NOT NULL,
    source_id VARCHAR(40) NOT NULL,
    package TEXT NOT NULL,
    version TEXT DEFAULT '' NOT NULL,
    position INTEGER NOT NULL,
    heading TEXT NOT NULL,
    body TEXT NOT NULL,
    url TEXT NOT NULL,
    hash VARCHAR(64) NOT NULL,
    CONSTRAINT pk_knowledge_passages PRIMARY KEY (id),
    CONSTRAINT fk_knowledge_passages_source_id FOREIGN KEY(source_id) REFERENCES knowledge_sources (id) ON DELETE CASCADE
);
COMMENT ON COLUMN knowledge_passages.id IS 'prefixed id';
COMMENT ON COLUMN knowledge_passages.source_id IS 'from';
COMMENT ON COLUMN knowledge_passages.package IS 'as its source''s';
COMMENT ON COLUMN knowledge_passages.version IS 'as its source''s';
COMMENT ON COLUMN knowledge_passages.position IS 'order in the source, from 0';
COMMENT ON COLUMN knowledge_passages.heading IS 'headings above it, › between';
COMMENT ON COLUMN knowledge_passages.body IS 'Markdown; code kept whole';
COMMENT ON COLUMN knowledge_passages.url IS 'where to read it, with a fragment where there is one';
COMMENT ON COLUMN knowledge_passages.hash IS 'SHA-256 of the text that is searched';
CREATE INDEX ix_knowledge_passages_hash ON knowledge_passages (hash);
CREATE INDEX ix_knowledge_passages_source_id ON knowledge_passages (source_id);
CREATE TABLE vectors (
    model VARCHAR(120) NOT NULL,
    hash VARCHAR(64) NOT NULL,
    vector BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_vectors PRIMARY KEY (model, hash)
);
COMMENT ON COLUMN vectors.model IS 'embedding model, with its dimensions';
COMMENT ON COLUMN vectors.hash IS 'SHA-256 of the text';
COMMENT ON COLUMN vectors.vector IS 'float16, little-endian, length 1';
COMMENT ON COLUMN vectors.created_at IS 'when';
COMMENT ON COLUMN timers.kind IS 'approval_pause | paused_kill | abandon | cancel_force | fold | clean_up | page_dormant';
COMMENT ON COLUMN timers.subject_id IS 'the run, thread, workspace or page';
-- revision 0006
CREATE TABLE documents (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    title TEXT NOT NULL,
    version BIGINT DEFAULT '0' NOT NULL,
    words BIGINT DEFAULT '0' NOT NULL,
    created_by VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT pk_documents PRIMARY KEY (id),
    CONSTRAINT fk_documents_created_by FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_documents_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_documents_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE,
    CONSTRAINT uq_documents_thread_id UNIQUE (thread_id)
);
COMMENT ON COLUMN documents.id IS 'prefixed id';
COMMENT ON COLUMN documents.project_id IS 'in';
COMMENT ON COLUMN documents.thread_id IS 'its own conversation';
COMMENT ON COLUMN documents.title IS 'shown';
COMMENT ON COLUMN documents.version IS 'how many changes were made: the newest of document_versions';
COMMENT ON COLUMN documents.words IS 'in its headings and blocks';
COMMENT ON COLUMN documents.created_by IS 'who';
COMMENT ON COLUMN documents.created_at IS 'when';
COMMENT ON COLUMN documents.updated_at IS 'last change';
CREATE INDEX ix_documents_project_id ON documents (project_id);
CREATE TABLE sections (
    id VARCHAR(40) NOT NULL,
    document_id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    rank VARCHAR(200) NOT NULL,
    heading TEXT NOT NULL,
    level INTEGER NOT NULL,
    version BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT pk_sections PRIMARY KEY (id),
    CONSTRAINT fk_sections_document_id FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE,
    CONSTRAINT fk_sections_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
COMMENT ON COLUMN sections.id IS 'prefixed id';
COMMENT ON COLUMN sections.document_id IS 'of';
COMMENT ON COLUMN sections.project_id IS 'in';
COMMENT ON COLUMN sections.rank IS 'its place: they are sorted by it as text';
COMMENT ON COLUMN sections.heading IS 'plain text, one line; empty at level 0';
COMMENT ON COLUMN sections.level IS '1 to 6; 0: before the first heading';
COMMENT ON COLUMN sections.version IS 'the document''s that changed it last';
COMMENT ON COLUMN sections.updated_at IS 'last change';
CREATE INDEX ix_sections_document_id ON sections (document_id);
CREATE TABLE blocks (
    id VARCHAR(40) NOT NULL,
    document_id VARCHAR(40) NOT NULL,
    section_id VARCHAR(40) NOT NULL,
    rank VARCHAR(200) NOT NULL,
    kind VARCHAR(80) NOT NULL,
    markdown TEXT NOT NULL,
    version BIGINT NOT NULL,
    editor_kind VARCHAR(80) NOT NULL,
    editor_id VARCHAR(40),
    updated_at BIGINT NOT NULL,
    CONSTRAINT pk_blocks PRIMARY KEY (id),
    CONSTRAINT fk_blocks_document_id FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE,
    CONSTRAINT fk_blocks_editor_id FOREIGN KEY(editor_id) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_blocks_section_id FOREIGN KEY(section_id) REFERENCES sections (id) ON DELETE CASCADE
);
COMMENT ON COLUMN blocks.id IS 'prefixed id';
COMMENT ON COLUMN blocks.document_id IS 'of';
COMMENT ON COLUMN blocks.section_id IS 'in';
COMMENT ON COLUMN blocks.rank IS 'its place in the section';
COMMENT ON COLUMN blocks.kind IS 'paragraph | list | code | table | quote | rule | html';
COMMENT ON COLUMN blocks.markdown IS 'one block, never empty';
COMMENT ON COLUMN blocks.version IS 'the document''s that changed it last';
COMMENT ON COLUMN blocks.editor_kind IS 'person | agent: who wrote its text last';
COMMENT ON COLUMN blocks.editor_id IS 'who wrote it, or accepted it';
COMMENT ON COLUMN blocks.updated_at IS 'last change';
CREATE INDEX ix_blocks_document_id ON blocks (document_id);
CREATE INDEX ix_blocks_section_id ON blocks (section_id);
CREATE TABLE document_versions (
    document_id VARCHAR(40) NOT NULL,
    version BIGINT NOT NULL,
    kind VARCHAR(80) NOT NULL,
    summary TEXT DEFAULT '' NOT NULL,
    changes TEXT NOT NULL,
    touched TEXT NOT NULL,
    state TEXT,
    by VARCHAR(40),
    thread_id VARCHAR(40),
    message_id VARCHAR(40),
    run_id VARCHAR(40),
    proposal_id VARCHAR(40),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_document_versions PRIMARY KEY (document_id, version),
    CONSTRAINT fk_document_versions_by FOREIGN KEY(by) REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_document_versions_document_id FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE
);
COMMENT ON COLUMN document_versions.document_id IS 'of';
COMMENT ON COLUMN document_versions.version IS '1, 2, 3 …';
COMMENT ON COLUMN document_versions.kind IS 'created | edit | agent | import | restore';
COMMENT ON COLUMN document_versions.summary IS 'one line for people';
COMMENT ON COLUMN document_versions.changes IS 'each section and block touched: {noun, id, before, after}; null: was not, is not';
COMMENT ON COLUMN document_versions.touched IS '{sections, blocks}: the ids of what people call changed';
COMMENT ON COLUMN document_versions.state IS 'the whole document after it, now and then, so that no reader walks far; null: walk';
COMMENT ON COLUMN document_versions.by IS 'who wrote, or accepted';
COMMENT ON COLUMN document_versions.thread_id IS 'the conversation that proposed it';
COMMENT ON COLUMN document_versions.message_id IS 'the answer that proposed it';
COMMENT ON COLUMN document_versions.run_id IS 'whose answer that is';
COMMENT ON COLUMN document_versions.proposal_id IS 'whose edits were accepted';
COMMENT ON COLUMN document_versions.created_at IS 'when';
CREATE INDEX ix_document_versions_by ON document_versions (by, created_at);
CREATE INDEX ix_document_versions_proposal_id ON document_versions (proposal_id);
CREATE TABLE comments (
    id VARCHAR(40) NOT NULL,
    document_id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    parent_id VARCHAR(40),
    section_id VARCHAR(40),
    block_id VARCHAR(40),
    quote TEXT,
    orphaned BOOLEAN DEFAULT false NOT NULL,
    linked_sections TEXT NOT NULL,
    body TEXT NOT NULL,
    mentions TEXT NOT NULL,
    status VARCHAR(80) NOT NULL,
    assigned_to VARCHAR(40),
    thread_id VARCHAR(40),
    by VARCHAR(40),
    resolved_by VARCHAR(40),
    resolved_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT pk_comments PRIMARY KEY (id),
    CONSTRAINT fk_comments_document_id FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE,
    CONSTRAINT fk_comments_parent_id FOREIGN KEY(parent_id) REFERENCES comments (id) ON DELETE CASCADE,
    CONSTRAINT fk_comments_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
COMMENT ON COLUMN comments.id IS 'prefixed id';
COMMENT ON COLUMN comments.document_id IS 'on';
COMMENT ON COLUMN comments.project_id IS 'in';
COMMENT ON COLUMN comments.parent_id IS 'answers this one; null: begins a talk';
COMMENT ON COLUMN comments.section_id IS 'where; null: on the whole document; stays when it goes';
COMMENT ON COLUMN comments.block_id IS 'the block; null: the section; stays when it goes';
COMMENT ON COLUMN comments.quote IS 'selected text {text, prefix, suffix}; null: none';
COMMENT ON COLUMN comments.orphaned IS 'the section, block or quote is not there now';
COMMENT ON COLUMN comments.linked_sections IS 'ids of further sections that it is about';
COMMENT ON COLUMN comments.body IS 'Markdown';
COMMENT ON COLUMN comments.mentions IS 'ids of users named in it';
COMMENT ON COLUMN comments.status IS 'open | resolved';
COMMENT ON COLUMN comments.assigned_to IS 'a user''s id, or agent; null: nobody';
COMMENT ON COLUMN comments.thread_id IS 'the conversation about it';
COMMENT ON COLUMN comments.by IS 'the user who wrote it; null: an agent';
COMMENT ON COLUMN comments.resolved_by IS 'null: open';
COMMENT ON COLUMN comments.resolved_at IS 'null: open';
COMMENT ON COLUMN comments.created_at IS 'when';
COMMENT ON COLUMN comments.updated_at IS 'last change';
CREATE INDEX ix_comments_by ON comments (by, created_at);
CREATE INDEX ix_comments_document_id ON comments (document_id);
CREATE INDEX ix_comments_parent_id ON comments (parent_id);
CREATE INDEX ix_comments_thread_id ON comments (thread_id);
CREATE TABLE mentions (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    user_id VARCHAR(40) NOT NULL,
    by VARCHAR(40),
    source VARCHAR(80) NOT NULL,
    source_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40),
    document_id VARCHAR(40),
    text TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    read_at BIGINT,
    CONSTRAINT pk_mentions PRIMARY KEY (id),
    CONSTRAINT fk_mentions_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_mentions_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
COMMENT ON COLUMN mentions.id IS 'prefixed id';
COMMENT ON COLUMN mentions.project_id IS 'in';
COMMENT ON COLUMN mentions.user_id IS 'who is named';
COMMENT ON COLUMN mentions.by IS 'who named them; null: an agent';
COMMENT ON COLUMN mentions.source IS 'message | comment | assigned';
COMMENT ON COLUMN mentions.source_id IS 'the message or comment';
COMMENT ON COLUMN mentions.thread_id IS 'the message''s; null: a comment''s';
COMMENT ON COLUMN mentions.document_id IS 'the comment''s; null: a message''s';
COMMENT ON COLUMN mentions.text IS 'its beginning, in one line';
COMMENT ON COLUMN mentions.created_at IS 'when';
COMMENT ON COLUMN mentions.read_at IS 'null: it waits in the inbox';
CREATE INDEX ix_mentions_document_id ON mentions (document_id);
CREATE INDEX ix_mentions_inbox ON mentions (user_id, read_at);
CREATE INDEX ix_mentions_source_id ON mentions (source_id);
CREATE INDEX ix_mentions_thread_id ON mentions (thread_id);
CREATE TABLE proposals (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    document_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    message_id VARCHAR(40),
    run_id VARCHAR(40),
    effect_id VARCHAR(40),
    summary TEXT DEFAULT '' NOT NULL,
    state VARCHAR(80) NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_proposals PRIMARY KEY (id),
    CONSTRAINT fk_proposals_document_id FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE,
    CONSTRAINT fk_proposals_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_proposals_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE,
    CONSTRAINT uq_proposals_effect_id UNIQUE (effect_id)
);
COMMENT ON COLUMN proposals.id IS 'prefixed id';
COMMENT ON COLUMN proposals.project_id IS 'in';
COMMENT ON COLUMN proposals.document_id IS 'about';
COMMENT ON COLUMN proposals.thread_id IS 'whose agent proposes it';
COMMENT ON COLUMN proposals.message_id IS 'the answer; null: its run has not ended';
COMMENT ON COLUMN proposals.run_id IS 'the run that proposed it; null: copied into a fork';
COMMENT ON COLUMN proposals.effect_id IS 'the tool call that made it: once; null: a copy';
COMMENT ON COLUMN proposals.summary IS 'one line for people';
COMMENT ON COLUMN proposals.state IS 'open | closed';
COMMENT ON COLUMN proposals.created_at IS 'when';
CREATE INDEX ix_proposals_document_id ON proposals (document_id);
CREATE INDEX ix_proposals_run_id ON proposals (run_id);
CREATE INDEX ix_proposals_thread_id ON proposals (thread_id);
CREATE TABLE edits (
    id VARCHAR(40) NOT NULL,
    proposal_id VARCHAR(40) NOT NULL,
    document_id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    ordinal INTEGER NOT NULL,
    op VARCHAR(80) NOT NULL,
    block_id VARCHAR(40),
    section_id VARCHAR(40),
    after_id VARCHAR(40),
    heading TEXT,
    level INTEGER,
    old_text TEXT NOT NULL,
    new_text TEXT NOT NULL,
    state VARCHAR(80) NOT NULL,
    applied_text TEXT,
    decided_by VARCHAR(40),
    decided_at BIGINT,
    version BIGINT,
    superseded_by VARCHAR(40),
    reason TEXT DEFAULT '' NOT NULL,
    origin_id VARCHAR(40),
    CONSTRAINT pk_edits PRIMARY KEY (id),
    CONSTRAINT fk_edits_document_id FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE,
    CONSTRAINT fk_edits_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_edits_proposal_id FOREIGN KEY(proposal_id) REFERENCES proposals (id) ON DELETE CASCADE,
    CONSTRAINT uq_edits_proposal_id UNIQUE (proposal_id, ordinal)
);
COMMENT ON COLUMN edits.id IS 'prefixed id';
COMMENT ON COLUMN edits.proposal_id IS 'of';
COMMENT ON COLUMN edits.document_id IS 'about';
COMMENT ON COLUMN edits.project_id IS 'in';
COMMENT ON COLUMN edits.ordinal IS '1, 2, 3 … within the proposal';
COMMENT ON COLUMN edits.op IS 'replace | insert | delete | move | insert_section';
COMMENT ON COLUMN edits.block_id IS 'which block; null: a new one';
COMMENT ON COLUMN edits.section_id IS 'the block''s section, or where it goes; null: a new one';
COMMENT ON COLUMN edits.after_id IS 'goes after this block or section; null: first';
COMMENT ON COLUMN edits.heading IS 'of a new section';
COMMENT ON COLUMN edits.level IS 'of a new section';
COMMENT ON COLUMN edits.old_text IS 'the block''s when it was proposed; empty: a new one';
COMMENT ON COLUMN edits.new_text IS 'proposed; empty: none';
COMMENT ON COLUMN edits.state IS 'open | accepted | rejected | superseded';
COMMENT ON COLUMN edits.applied_text IS 'what was written; null: nothing yet';
COMMENT ON COLUMN edits.decided_by IS 'who; null: open, or superseded';
COMMENT ON COLUMN edits.decided_at IS 'null: open';
COMMENT ON COLUMN edits.version IS 'of the document, made by its acceptance';
COMMENT ON COLUMN edits.superseded_by IS 'an edit''s id, or version:NUMBER';
COMMENT ON COLUMN edits.reason IS 'why it is superseded, for people';
COMMENT ON COLUMN edits.origin_id IS 'a copy in a fork: the edit that it was copied from, the first of all; null: it is the first';
CREATE INDEX ix_edits_block_id ON edits (block_id);
CREATE INDEX ix_edits_decided ON edits (decided_by, decided_at);
CREATE INDEX ix_edits_open ON edits (document_id, state);
CREATE INDEX ix_edits_origin_id ON edits (origin_id);
CREATE INDEX ix_edits_proposal_id ON edits (proposal_id);
CREATE TABLE artifacts (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    blob VARCHAR(64) NOT NULL,
    name TEXT NOT NULL,
    media_type VARCHAR(80) NOT NULL,
    size_bytes BIGINT NOT NULL,
    state VARCHAR(80) NOT NULL,
    source_id VARCHAR(40),
    text_blob VARCHAR(64),
    pages INTEGER,
    characters BIGINT DEFAULT '0' NOT NULL,
    width INTEGER,
    height INTEGER,
    trouble TEXT,
    due_at BIGINT,
    created_by VARCHAR(40) NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_artifacts PRIMARY KEY (id),
    CONSTRAINT fk_artifacts_created_by FOREIGN KEY(created_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_artifacts_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
COMMENT ON COLUMN artifacts.id IS 'prefixed id';
COMMENT ON COLUMN artifacts.project_id IS 'whose members may open it';
COMMENT ON COLUMN artifacts.blob IS 'SHA-256 of the content, its name in the blob store';
COMMENT ON COLUMN artifacts.name IS 'file name as uploaded';
COMMENT ON COLUMN artifacts.media_type IS 'found from the content, not from the name';
COMMENT ON COLUMN artifacts.size_bytes IS 'of the content';
COMMENT ON COLUMN artifacts.state IS 'reading | ready | no_text | failed';
COMMENT ON COLUMN artifacts.source_id IS 'its text in the index of documentation; null: none';
COMMENT ON COLUMN artifacts.text_blob IS 'its text in the blob store; null: none';
COMMENT ON COLUMN artifacts.pages IS 'of a PDF; null: it has none';
COMMENT ON COLUMN artifacts.characters IS 'of its text';
COMMENT ON COLUMN artifacts.width IS 'pixels; null: not an image';
COMMENT ON COLUMN artifacts.height IS 'pixels; null: not an image';
COMMENT ON COLUMN artifacts.trouble IS 'why there is no text, for people; null: none';
COMMENT ON COLUMN artifacts.due_at IS 'its text is to be read from then on; null: it was';
COMMENT ON COLUMN artifacts.created_by IS 'who';
COMMENT ON COLUMN artifacts.created_at IS 'when';
CREATE INDEX ix_artifacts_user ON artifacts (created_by, created_at);
CREATE INDEX ix_artifacts_project_id ON artifacts (project_id);
ALTER TABLE threads ADD COLUMN document_id VARCHAR(40);
COMMENT ON COLUMN threads.document_id IS 'the document that its anchor is, or lies in; null: none';
CREATE INDEX ix_threads_document_id ON threads (document_id);
CREATE INDEX ix_artifacts_due_at ON artifacts (due_at);
-- revision 0007
CREATE UNIQUE INDEX uq_users_one_local ON users (is_local) WHERE is_local;
-- revision 0008
ALTER TABLE runs ADD COLUMN deaths BIGINT DEFAULT '0' NOT NULL;
COMMENT ON COLUMN runs.deaths IS 'attempts in a row whose process died before they recorded a result; from 2 on a suspect';
ALTER TABLE runs ADD COLUMN died_attempt INTEGER;
COMMENT ON COLUMN runs.died_attempt IS 'the attempt counted last in deaths; null: none';
-- revision 0009
ALTER TABLE users ADD COLUMN is_admin BOOLEAN DEFAULT false NOT NULL;
COMMENT ON COLUMN users.is_admin IS 'may run the server';
-- revision 0010
ALTER TABLE edits ADD COLUMN reopened INTEGER DEFAULT '0' NOT NULL;
COMMENT ON COLUMN edits.reopened IS 'how often a decision was taken back: a higher count is newer news';
-- revision 0011
CREATE TABLE set_aside (
    kind VARCHAR(80) NOT NULL,
    id VARCHAR(200) NOT NULL,
    since BIGINT NOT NULL,
    tries INTEGER NOT NULL,
    code VARCHAR(80) NOT NULL,
    reason TEXT NOT NULL,
    CONSTRAINT pk_set_aside PRIMARY KEY (kind, id)
);
COMMENT ON COLUMN set_aside.kind IS 'what was tried: kernel/set_aside/kinds.py';
COMMENT ON COLUMN set_aside.id IS 'of the sandbox, source, run, workspace or file';
COMMENT ON COLUMN set_aside.since IS 'not tried since';
COMMENT ON COLUMN set_aside.tries IS 'after its first failure';
COMMENT ON COLUMN set_aside.code IS 'of the last failure';
COMMENT ON COLUMN set_aside.reason IS 'the last failure, for administrators; holds no secret';
-- revision 0012
ALTER TABLE threads ADD COLUMN last_position BIGINT DEFAULT '0' NOT NULL;
COMMENT ON COLUMN threads.last_position IS 'the last position given to a message; one that moved behind others left its own';
UPDATE threads SET last_position = message_count;
COMMENT ON COLUMN threads.message_count IS 'messages in it';
-- revision 0013
CREATE TABLE screen_image_hosts (
    screen_id VARCHAR(40) NOT NULL,
    host VARCHAR(300) NOT NULL,
    asked_at BIGINT NOT NULL,
    allowed_by VARCHAR(40),
    allowed_at BIGINT,
    CONSTRAINT pk_screen_image_hosts PRIMARY KEY (screen_id, host),
    CONSTRAINT fk_screen_image_hosts_allowed_by FOREIGN KEY(allowed_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_screen_image_hosts_screen_id FOREIGN KEY(screen_id) REFERENCES screens (id) ON DELETE CASCADE
);
COMMENT ON COLUMN screen_image_hosts.screen_id IS 'of';
COMMENT ON COLUMN screen_image_hosts.host IS 'whose pictures it wants to load: HOST or HOST:PORT';
COMMENT ON COLUMN screen_image_hosts.asked_at IS 'when a browser first blocked one, or somebody named the host';
COMMENT ON COLUMN screen_image_hosts.allowed_by IS 'null: blocked';
COMMENT ON COLUMN screen_image_hosts.allowed_at IS 'null: blocked';
CREATE INDEX ix_messages_sender ON messages (sender_id, created_at);
CREATE INDEX ix_threads_user ON threads (created_by, created_at);
CREATE INDEX ix_attachments_user ON attachments (created_by, created_at);
