-- revision 0001
CREATE TABLE log (
    stream_id VARCHAR(40) NOT NULL,
    first_seq BIGINT NOT NULL,
    last_seq BIGINT NOT NULL,
    folded BOOLEAN DEFAULT 0 NOT NULL,
    body BLOB NOT NULL,
    saved_at BIGINT NOT NULL,
    CONSTRAINT pk_log PRIMARY KEY (stream_id, first_seq)
);
CREATE TABLE meta (
    "key" VARCHAR(40) NOT NULL,
    value TEXT NOT NULL,
    CONSTRAINT pk_meta PRIMARY KEY ("key")
);
CREATE TABLE timers (
    kind VARCHAR(30) NOT NULL,
    subject_id VARCHAR(40) NOT NULL,
    due_at BIGINT NOT NULL,
    CONSTRAINT pk_timers PRIMARY KEY (kind, subject_id)
);
CREATE INDEX ix_timers_due_at ON timers (due_at);
CREATE TABLE users (
    id VARCHAR(40) NOT NULL,
    name TEXT NOT NULL,
    "plan" VARCHAR(80) NOT NULL,
    is_local BOOLEAN NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_users PRIMARY KEY (id)
);
CREATE TABLE idempotency (
    user_id VARCHAR(40) NOT NULL,
    "key" VARCHAR(255) NOT NULL,
    request_hash VARCHAR(64) NOT NULL,
    response TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_idempotency PRIMARY KEY (user_id, "key"),
    CONSTRAINT fk_idempotency_user_id FOREIGN KEY(user_id) REFERENCES users (id) ON DELETE CASCADE
);
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
CREATE INDEX ix_sessions_user_id ON sessions (user_id);
CREATE TABLE threads (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    title TEXT NOT NULL,
    titled BOOLEAN DEFAULT 0 NOT NULL,
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
CREATE INDEX ix_workspaces_project_id ON workspaces (project_id);
CREATE TABLE followers (
    thread_id VARCHAR(40) NOT NULL,
    node_id VARCHAR(40) NOT NULL,
    lease_until BIGINT NOT NULL,
    CONSTRAINT pk_followers PRIMARY KEY (thread_id, node_id),
    CONSTRAINT fk_followers_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE
);
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
    cleaned BOOLEAN DEFAULT 0 NOT NULL,
    CONSTRAINT pk_runs PRIMARY KEY (id),
    CONSTRAINT fk_runs_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE,
    CONSTRAINT fk_runs_started_by FOREIGN KEY(started_by) REFERENCES users (id) ON DELETE CASCADE,
    CONSTRAINT fk_runs_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE
);
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
CREATE INDEX ix_sandboxes_project_id ON sandboxes (project_id);
CREATE INDEX ix_sandboxes_workspace_id ON sandboxes (workspace_id);
CREATE TABLE search_entries (
    id INTEGER NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    position INTEGER NOT NULL,
    words TEXT NOT NULL,
    CONSTRAINT pk_search_entries PRIMARY KEY (id),
    CONSTRAINT fk_search_entries_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE,
    CONSTRAINT uq_search_entries_thread_id UNIQUE (thread_id, position)
);
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
    inherited BOOLEAN DEFAULT 0 NOT NULL,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    ended_at BIGINT,
    CONSTRAINT pk_effects PRIMARY KEY (id),
    CONSTRAINT fk_effects_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
    CONSTRAINT uq_effects_run_id UNIQUE (run_id, ordinal)
);
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
    announced BOOLEAN DEFAULT 0 NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_approvals PRIMARY KEY (id),
    CONSTRAINT fk_approvals_effect_id FOREIGN KEY(effect_id) REFERENCES effects (id) ON DELETE CASCADE,
    CONSTRAINT fk_approvals_run_id FOREIGN KEY(run_id) REFERENCES runs (id) ON DELETE CASCADE,
    CONSTRAINT fk_approvals_thread_id FOREIGN KEY(thread_id) REFERENCES threads (id) ON DELETE CASCADE
);
CREATE INDEX ix_approvals_open ON approvals (status, created_at);
CREATE INDEX ix_approvals_run_id ON approvals (run_id);
CREATE INDEX ix_approvals_thread_id ON approvals (thread_id);
-- revision 0002
CREATE VIRTUAL TABLE search_words USING fts5(
        words, content='search_entries', content_rowid='id', tokenize='ascii', detail='none', prefix='2 3'
    );
CREATE TRIGGER search_entries_added AFTER INSERT ON search_entries BEGIN
        INSERT INTO search_words(rowid, words) VALUES (new.id, new.words);
    END;
CREATE TRIGGER search_entries_removed AFTER DELETE ON search_entries BEGIN
        INSERT INTO search_words(search_words, rowid, words) VALUES ('delete', old.id, old.words);
    END;
CREATE TRIGGER search_entries_changed AFTER UPDATE OF words ON search_entries BEGIN
        INSERT INTO search_words(search_words, rowid, words) VALUES ('delete', old.id, old.words);
        INSERT INTO search_words(rowid, words) VALUES (new.id, new.words);
    END;
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
CREATE TABLE secret_uses (
    id INTEGER NOT NULL,
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
CREATE INDEX ix_preview_grants_expires_at ON preview_grants (expires_at);
CREATE TABLE packed_files (
    hash VARCHAR(64) NOT NULL,
    blob VARCHAR(64) NOT NULL,
    "offset" BIGINT NOT NULL,
    CONSTRAINT pk_packed_files PRIMARY KEY (hash)
);
CREATE INDEX ix_packed_files_blob ON packed_files (blob);
ALTER TABLE sandboxes ADD COLUMN snapshot VARCHAR(80);
ALTER TABLE sandboxes ADD COLUMN restarted_at BIGINT;
ALTER TABLE workspaces ADD COLUMN checkpoint_id VARCHAR(40);
ALTER TABLE workspaces ADD COLUMN changed_at BIGINT;
ALTER TABLE workspaces ADD COLUMN evicted_at BIGINT;
ALTER TABLE workspaces ADD COLUMN node_id VARCHAR(40);
-- revision 0004
ALTER TABLE workspaces ADD COLUMN template VARCHAR(80);
CREATE TABLE screens (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    workspace_id VARCHAR(40) NOT NULL,
    title TEXT NOT NULL,
    named BOOLEAN DEFAULT 0 NOT NULL,
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
CREATE INDEX ix_screens_project_id ON screens (project_id);
CREATE INDEX ix_threads_workspace_id ON threads (workspace_id);
-- revision 0005
CREATE TABLE pages (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    thread_id VARCHAR(40) NOT NULL,
    workspace_id VARCHAR(40) NOT NULL,
    title TEXT NOT NULL,
    named BOOLEAN DEFAULT 0 NOT NULL,
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
    "by" VARCHAR(40),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_page_versions PRIMARY KEY (page_id, version),
    CONSTRAINT fk_page_versions_page_id FOREIGN KEY(page_id) REFERENCES pages (id) ON DELETE CASCADE
);
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
CREATE INDEX ix_knowledge_passages_hash ON knowledge_passages (hash);
CREATE INDEX ix_knowledge_passages_source_id ON knowledge_passages (source_id);
CREATE TABLE vectors (
    model VARCHAR(120) NOT NULL,
    hash VARCHAR(64) NOT NULL,
    vector BLOB NOT NULL,
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_vectors PRIMARY KEY (model, hash)
);
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
    "by" VARCHAR(40),
    thread_id VARCHAR(40),
    message_id VARCHAR(40),
    run_id VARCHAR(40),
    proposal_id VARCHAR(40),
    created_at BIGINT NOT NULL,
    CONSTRAINT pk_document_versions PRIMARY KEY (document_id, version),
    CONSTRAINT fk_document_versions_by FOREIGN KEY("by") REFERENCES users (id) ON DELETE SET NULL,
    CONSTRAINT fk_document_versions_document_id FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE
);
CREATE INDEX ix_document_versions_by ON document_versions ("by", created_at);
CREATE INDEX ix_document_versions_proposal_id ON document_versions (proposal_id);
CREATE TABLE comments (
    id VARCHAR(40) NOT NULL,
    document_id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    parent_id VARCHAR(40),
    section_id VARCHAR(40),
    block_id VARCHAR(40),
    quote TEXT,
    orphaned BOOLEAN DEFAULT 0 NOT NULL,
    linked_sections TEXT NOT NULL,
    body TEXT NOT NULL,
    mentions TEXT NOT NULL,
    status VARCHAR(80) NOT NULL,
    assigned_to VARCHAR(40),
    thread_id VARCHAR(40),
    "by" VARCHAR(40),
    resolved_by VARCHAR(40),
    resolved_at BIGINT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    CONSTRAINT pk_comments PRIMARY KEY (id),
    CONSTRAINT fk_comments_document_id FOREIGN KEY(document_id) REFERENCES documents (id) ON DELETE CASCADE,
    CONSTRAINT fk_comments_parent_id FOREIGN KEY(parent_id) REFERENCES comments (id) ON DELETE CASCADE,
    CONSTRAINT fk_comments_project_id FOREIGN KEY(project_id) REFERENCES projects (id) ON DELETE CASCADE
);
CREATE INDEX ix_comments_by ON comments ("by", created_at);
CREATE INDEX ix_comments_document_id ON comments (document_id);
CREATE INDEX ix_comments_parent_id ON comments (parent_id);
CREATE INDEX ix_comments_thread_id ON comments (thread_id);
CREATE TABLE mentions (
    id VARCHAR(40) NOT NULL,
    project_id VARCHAR(40) NOT NULL,
    user_id VARCHAR(40) NOT NULL,
    "by" VARCHAR(40),
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
CREATE INDEX ix_artifacts_user ON artifacts (created_by, created_at);
CREATE INDEX ix_artifacts_project_id ON artifacts (project_id);
ALTER TABLE threads ADD COLUMN document_id VARCHAR(40);
CREATE INDEX ix_threads_document_id ON threads (document_id);
CREATE INDEX ix_artifacts_due_at ON artifacts (due_at);
-- revision 0007
CREATE UNIQUE INDEX uq_users_one_local ON users (is_local) WHERE is_local;
-- revision 0008
ALTER TABLE runs ADD COLUMN deaths BIGINT DEFAULT '0' NOT NULL;
ALTER TABLE runs ADD COLUMN died_attempt INTEGER;
-- revision 0009
ALTER TABLE users ADD COLUMN is_admin BOOLEAN DEFAULT 0 NOT NULL;
-- revision 0010
ALTER TABLE edits ADD COLUMN reopened INTEGER DEFAULT '0' NOT NULL;
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
-- revision 0012
ALTER TABLE threads ADD COLUMN last_position BIGINT DEFAULT '0' NOT NULL;
UPDATE threads SET last_position = message_count;
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
CREATE INDEX ix_messages_sender ON messages (sender_id, created_at);
CREATE INDEX ix_threads_user ON threads (created_by, created_at);
CREATE INDEX ix_attachments_user ON attachments (created_by, created_at);
