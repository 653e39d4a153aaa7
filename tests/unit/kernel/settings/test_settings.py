"""Settings: what is read from where, and how each bad one is refused."""

import pickle
from pathlib import Path

import pytest

from outlast.base.errors import InvalidSetting
from outlast.base.settings.fields import SecretUrl
from outlast.base.settings.toml_lines import key_lines, line_of
from outlast.kernel.runs.settings import PolicyRule
from outlast.kernel.runs.shipped_policy import SHIPPED_POLICY
from outlast.kernel.settings import Settings, settings_class
from outlast.kernel.settings.load import load_settings

CONFIGURATIONS = Path(__file__).with_name("configurations")


@pytest.fixture
def written(tmp_path: Path):
    def write(text: str) -> Path:
        file = tmp_path / "outlast.toml"
        file.write_text(text)
        return file

    return write


def refused(file: Path | None, environ: dict[str, str] | None = None, flags=None) -> InvalidSetting:
    with pytest.raises(InvalidSetting) as caught:
        load_settings(file, environ=environ or {}, flags=flags)
    return caught.value


def test_no_file_gives_the_embedded_defaults_and_the_demo_model():
    settings = load_settings(environ={})
    assert settings == settings_class()()
    assert [model.id for model in settings.models] == ["demo"]
    assert settings.providers["demo"].kind == "demo"
    assert settings.sandbox is not None
    assert settings.sandbox.provider == "local"
    assert settings.credits.default_plan == "unlimited"


def test_a_flag_beats_the_environment_which_beats_the_file(written):
    file = written("[server]\nport = 1111\nhost = '127.0.0.2'\n[runs]\nmax_steps = 7\n")
    environ = {"OUTLAST_SERVER_PORT": "2222", "OUTLAST_SERVER_HOST": "127.0.0.3"}
    settings = load_settings(file, environ=environ, flags={"server.port": 3333, "server.host": None})
    assert (settings.server.port, settings.server.host, settings.runs.max_steps) == (3333, "127.0.0.3", 7)


def test_the_environment_can_name_the_file(written):
    file = written("[runs]\nmax_steps = 9\n")
    assert load_settings(environ={"OUTLAST_CONFIG": str(file)}).runs.max_steps == 9


def test_lists_and_tables_come_from_the_environment_too():
    environ = {
        "OUTLAST_SERVER_ALLOWED_HOSTS": "a.example, b.example",
        "OUTLAST_POLICY": '[{"tool": "terminal", "decision": "deny"}]',
    }
    settings = load_settings(environ=environ)
    assert settings.server.allowed_hosts == ("a.example", "b.example")
    assert settings.policy == (PolicyRule(tool="terminal", decision="deny"), *SHIPPED_POLICY)


def test_rules_of_a_persons_own_come_before_those_that_keep_dev_servers_out_of_screens(written):
    own = """
[[policy]]
tool = "terminal"
profile = "screen"
commands = ["npm run build"]
decision = "allow"
"""
    settings = load_settings(written(own), environ={})
    assert settings.policy[0].commands == ("npm run build",)
    assert settings.policy[1:] == SHIPPED_POLICY


def test_a_rule_with_the_name_of_shipped_ones_changes_their_decision_and_allow_switches_them_off(written):
    own = """
[[policy]]
name = "git-push"
decision = "allow"
[[policy]]
tool = "run_code"
decision = "ask"
[[policy]]
name = "delete-recursively"
decision = "deny"
reason = "Move it to trash/ instead."
"""
    rules = load_settings(written(own), environ={}).policy
    assert [rule.tool for rule in rules if not rule.name] == ["run_code"]
    assert rules[0].tool == "run_code"
    named = {rule.name: (rule.decision, rule.reason) for rule in rules if rule.name}
    assert "git-push" not in named
    assert named["delete-recursively"] == ("deny", "Move it to trash/ instead.")
    assert named["git-discard"][0] == "ask"


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ('name = "git-psuh"\ndecision = "allow"', "policy.0.name"),
        ('name = "git-push"\ntool = "terminal"\ndecision = "allow"', "policy.0"),
        ('decision = "allow"', "policy.0.tool"),
    ],
)
def test_a_rule_that_names_no_tool_and_no_shipped_rule_stops_the_start(written, own, named):
    with pytest.raises(InvalidSetting) as refused:
        load_settings(written(f"[[policy]]\n{own}\n"), environ={})
    assert refused.value.fields["setting"] == named


def test_screens_keep_their_own_limits_unless_others_are_given(written):
    shipped = load_settings(environ={}).profiles["screen"]
    assert (shipped.max_steps, shipped.context_messages) == (15, 20)
    file = written("[profiles.screen]\nmax_steps = 30\n[profiles.chat]\ncontext_messages = 5\n")
    profiles = load_settings(file, environ={}).profiles
    assert (profiles["screen"].max_steps, profiles["screen"].context_messages) == (30, 20)
    assert (profiles["chat"].max_steps, profiles["chat"].context_messages) == (None, 5)


def test_own_plans_join_the_shipped_ones(written):
    file = written('[credits]\ndefault_plan = "team"\n[credits.plans]\nteam = 200\nstaff = "unlimited"\n')
    plans = load_settings(file, environ={}).credits.plans
    assert dict(plans) == {"starter": 25, "pro": 50, "unlimited": None, "team": 200, "staff": None}


def test_the_provider_none_takes_the_sandbox_section_away(written):
    assert load_settings(written('[sandbox]\nprovider = "none"\n'), environ={}).sandbox is None


REFUSED = [
    ("[runs]\nmax_step = 3\n", "runs.max_step", ":2", "runs.max_steps"),
    ("[run]\nmax_steps = 3\n", "run", ":1", "runs"),
    ("\n\n[runs]\n\nmax_steps = 'many'\n", "runs.max_steps", ":5", ""),
    ("[runs]\nmax_steps = 0\n", "runs.max_steps", ":2", ""),
    ("[runs]\nmax_steps = true\n", "runs.max_steps", ":2", ""),
    ("runs.max_steps = 1.5\n", "runs.max_steps", ":1", ""),
    ("[retention]\ncompleted_days = nan\n", "retention.completed_days", ":2", ""),
    ("[sandbox]\nmode = 'eager'\n", "sandbox.mode", ":2", ""),
    ("server = 3\n", "server", ":1", ""),
    ("[models]\nid = 'a'\n", "models", ":1", ""),
    ("[[models]]\nid = 'a'\nname = 'a'\n", "models.0.provider", ":1", ""),
    ("[[models]]\nid = 'a'\nname = 'a'\nprovider = 'p'\n", "models.0.provider", ":4", ""),
    ("default_model = 'x'\n", "default_model", ":1", ""),
    ("[credits]\ndefault_plan = 'gold'\n", "credits.default_plan", ":2", ""),
    ("[credits.plans]\ngold = -1\n", "credits.plans", ":1", ""),
    ("[database]\nurl = 'mysql://u:pw@h/d'\n", "database.url", ":2", ""),
    ("[streams]\nsave_interval_s = 5\n", "streams.save_interval_s", ":2", ""),
    ("[[policy]]\ntool = 'terminal'\ndecision = 'maybe'\n", "policy.0.decision", ":3", ""),
    ("[providers.p]\nkind = 'ollama'\napikey = 'sk-secret'\n", "providers.p.apikey", ":3", ""),
    ("[knowledge]\nallow_private = ['127.0.0.1']\n", "knowledge.allow_private", ":2", ""),
    ("[embeddings]\nurl = 'https://api.example/v1'\n", "embeddings.url", ":2", ""),
    ("[embeddings]\nurl = 'api.example/v1'\nmodel = 'm'\n", "embeddings.url", ":2", ""),
    ("[embeddings]\napi_key_env = 'sk-secret-key'\n", "embeddings.api_key_env", ":2", ""),
    ("[[sandbox.dependencies]]\ndocs = ['package']\n", "sandbox.dependencies.0.docs", ":2", ""),
]


@pytest.mark.parametrize(("text", "setting", "line", "suggestion"), REFUSED)
def test_a_bad_setting_is_refused_by_name_and_line(written, text, setting, line, suggestion):
    error = refused(written(text))
    assert error.fields["setting"] == setting
    assert error.fields["read_from"].endswith(f"outlast.toml{line}")
    assert setting in error.message
    assert suggestion in error.hint


CONTRADICTIONS = [
    (
        "runs.approval_pause_after_s = 1000\n[sandbox]\n",
        "runs.approval_pause_after_s",
        "sandbox.idle_pause_s",
        "1000 s",
        "900 s",
    ),
    ("[sandbox]\nidle_pause_s = 1801\n", "sandbox.idle_pause_s", "sandbox.stop_after_s", "1801 s", "1800 s"),
    ("[sandbox]\nstop_after_s = 1801\n", "sandbox.stop_after_s", "sandbox.volume_ttl_minutes", "1801 s", "1800 s"),
    (
        "runs.paused_kill_after_s = 1800\n[sandbox]\n",
        "sandbox.volume_ttl_minutes",
        "runs.paused_kill_after_s",
        "1800 s",
        "1800 s",
    ),
    ("[sandbox]\nkill_after_s = 60\n", "sandbox.volume_ttl_minutes", "sandbox.kill_after_s", "1800 s", "60 s"),
    ("[retention]\ncompleted_days = 1\n", "runs.paused_kill_after_s", "retention.completed_days", "86400 s", "86400 s"),
    ("[retention]\nerror_days = 0.5\n", "runs.paused_kill_after_s", "retention.error_days", "86400 s", "43200 s"),
    ("[runs]\nlease_s = 9\n", "runs.heartbeat_s", "runs.lease_s", "10 s", "9 s"),
    (
        "[sandbox]\nprovider = 'none'\n[runs]\napproval_pause_after_s = 86400\n",
        "runs.approval_pause_after_s",
        "runs.paused_kill_after_s",
        "86400 s",
        "86400 s",
    ),
]


@pytest.mark.parametrize(("text", "shorter", "longer", "first", "second"), CONTRADICTIONS)
def test_clocks_that_contradict_are_refused_with_both_names_and_numbers(written, text, shorter, longer, first, second):
    error = refused(written(text))
    assert (error.fields["setting"], error.fields["other"]) == (shorter, longer)
    for part in (shorter, longer, first, second, "outlast.toml:"):
        assert part in error.message


def test_a_contradiction_names_the_place_of_each_side(written):
    error = refused(written("[runs]\nlease_s = 5\n"), {"OUTLAST_RUNS_HEARTBEAT_S": "4"})
    assert "outlast.toml:2" in error.message
    assert "environment OUTLAST_RUNS_HEARTBEAT_S" in error.message


def test_a_misspelt_variable_of_ours_is_refused_and_a_foreign_one_is_not():
    assert "OUTLAST_RUNS_MAX_STEPS" in refused(None, {"OUTLAST_RUNS_MAX_STEP": "3"}).hint
    kubernetes = {"OUTLAST_SERVICE_HOST": "10.0.0.1", "OUTLAST_PORT": "tcp://10.0.0.1:8400"}
    assert load_settings(environ=kubernetes) == settings_class()()


def test_a_bad_flag_is_named_as_a_flag():
    assert refused(None, flags={"server.port": "many"}).fields["read_from"] == "flag --port"


def test_a_file_that_is_missing_or_not_toml_is_refused(written, tmp_path: Path):
    assert "No such file" in refused(tmp_path / "none.toml").message
    assert "line 1" in refused(written("[runs\n")).message


def test_a_password_in_an_address_prints_as_dots_everywhere():
    url = SecretUrl("postgresql://u:hunter2@host/db")
    for text in (str(url), repr(url), f"{url}", repr(Settings().database.__class__(url=url))):
        assert "hunter2" not in text
    assert url.reveal() == "postgresql://u:hunter2@host/db"
    assert pickle.loads(pickle.dumps(url)).reveal() == url.reveal()


def test_a_refused_address_does_not_tell_its_password(written):
    assert "hunter2" not in refused(written("[database]\nurl = 'mysql://u:hunter2@h/d'\n")).message
    assert "hunter2" not in refused(written("[live]\nredis_url = ['redis://u:hunter2@h']\n")).message


def test_lines_are_found_in_every_way_of_writing_toml():
    text = '''
top = 1
"quoted key" = [
  "# no comment", # [[
  "]",
]
a.b = """
[not.a.table]
c = 2
"""
[one.two]
x = { y = 1 } # comment
[[many]]
id = 1
[many.sub]
z = 1
[[many]]
id = 2
'''
    lines = key_lines(text)
    assert lines["top",] == 2
    assert lines["quoted key",] == 3
    assert lines["a", "b"] == 7
    assert lines["one", "two", "x"] == 12
    assert lines["many", 0, "sub", "z"] == 16
    assert lines["many", 1, "id"] == 18
    assert line_of(lines, ("one", "two", "x", "y")) == 12
    assert ("not", "a", "table") not in lines


@pytest.mark.parametrize("example", sorted(Path("examples").glob("*.toml")), ids=lambda path: path.name)
def test_every_example_is_a_valid_configuration(example: Path):
    load_settings(example, environ={})


def test_a_file_without_the_section_offers_no_sandboxes_and_no_file_offers_local_ones(tmp_path: Path) -> None:
    file = tmp_path / "outlast.toml"
    file.write_text("[server]\nport = 8401\n")
    assert load_settings(file, environ={}).sandbox is None
    asked = load_settings(file, environ={"OUTLAST_SANDBOX_MEMORY_MB": "512"}).sandbox
    assert asked is not None
    assert asked.memory_mb == 512
    file.write_text("[sandbox]\n")
    for settings in (load_settings(file, environ={}), load_settings(environ={})):
        assert settings.sandbox is not None
        assert settings.sandbox.provider == "local"


def test_the_folder_of_agents_is_next_to_the_file_that_names_it_or_is_named_agents(written, tmp_path, monkeypatch):
    assert load_settings(environ={}).agents.folder == ""
    assert load_settings(written(""), environ={}).agents.folder == str(tmp_path / "agents")
    (tmp_path / "bots").mkdir()
    file = written("[agents]\nfolder = 'bots'\n")
    assert load_settings(file, environ={}).agents.folder == str(tmp_path / "bots")
    monkeypatch.chdir(tmp_path)
    assert load_settings(environ={"OUTLAST_AGENTS_FOLDER": "bots"}).agents.folder == str(tmp_path / "bots")
    assert refused(written("[agents]\nfolder = 'elsewhere'\n")).fields["setting"] == "agents.folder"


def test_a_configuration_of_one_provider_and_its_model_needs_neither_a_kind_nor_a_table_of_models() -> None:
    settings = load_settings(CONFIGURATIONS / "groq_deno_linear_slack.toml", environ={})
    assert (settings.providers["groq"].kind, settings.providers["groq"].key_env) == ("groq", "GROQ_API_KEY")
    (model,) = settings.models
    assert model.id == model.name == settings.default_model == "moonshotai/kimi-k2-instruct-0905"
    assert model.provider == "groq"
    sandbox = settings.sandbox
    assert sandbox is not None
    assert (sandbox.provider, sandbox.mode, sandbox.region, sandbox.volume_ttl_minutes) == ("deno", "lazy", "ord", 30)
    assert sandbox.options == {}
    linear, slack = sandbox.dependencies
    assert (linear.package, linear.docs) == ("@linear/sdk", ("https://linear.app/developers/sdk.md",))
    assert (linear.secret_env, linear.hosts) == ("LINEAR_API_KEY", ("api.linear.app",))
    assert (slack.package, slack.docs) == ("@slack/web-api", ("https://api.slack.com/methods",))
    assert (slack.secret_env, slack.hosts) == ("SLACK_TOKEN", ("slack.com",))


def test_a_provider_says_its_kind_unless_its_name_does(written) -> None:
    error = refused(written("[providers.acme]\nbase_url = 'https://acme.example/v1'\n"))
    assert error.fields["setting"] == "providers.acme.kind"
    assert "openai-compatible, openrouter, groq" in error.message
    named = written("[providers.groq]\nkind = 'openai-compatible'\nbase_url = 'https://acme.example/v1'\n")
    assert load_settings(named, environ={}).providers["groq"].kind == "openai-compatible"


def test_a_model_that_more_than_one_provider_may_serve_needs_a_table(written) -> None:
    error = refused(written("default_model = 'm'\n[providers.groq]\n[providers.google]\n"))
    assert error.fields["setting"] == "default_model"
    assert "which provider (groq, google) serves it" in error.message


def test_the_demo_stays_the_default_model_beside_a_provider_without_models(written) -> None:
    settings = load_settings(written("default_model = 'demo'\n[providers.groq]\n"), environ={})
    assert [model.id for model in settings.models] == ["demo"]
