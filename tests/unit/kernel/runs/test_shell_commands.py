"""Which programs a script would run: dev servers and builds are found however they are called, words about them not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from outlast.kernel.runs.shell_commands import ANYTHING, first_match, programs_of
from outlast.kernel.runs.shell_syntax import LONGEST, Budget

PATTERNS = (
    *(f"npm run {script}" for script in ("dev", "build", "start", "preview", "serve")),
    *(f"next {verb}" for verb in ("dev", "build", "start")),
    *(f"vite {verb}" for verb in ("dev", "build", "preview")),
)

RUNS = [
    "npm run dev",
    "npm start",
    "npm run build",
    "npm  run\tdev",
    "cd x && npm  run   dev",
    "cd x; npm run dev &",
    "ls\nnpm run dev",
    "npm \\\n run dev",
    "(npm run dev)",
    "{ npm run dev; }",
    "if npm run build; then echo ok; fi",
    "while true; do npm run dev; done",
    "true || npm run start",
    "echo x | npm run dev",
    "npm run dev > log.txt 2>&1 &",
    "npm run dev &> log",
    "PORT=3001 npm run dev",
    "A=1 B='2 3' npm run dev",
    "export PORT=3001; npm run dev",
    "env PORT=3001 npm run dev",
    "env -i PATH=/bin npm run dev",
    "nohup npm run dev",
    "timeout 30 npm run build",
    "timeout --foreground 10 npm run dev",
    "timeout --signal=KILL 10 npm run dev",
    "flock /tmp/lock npm run dev",
    "flock /tmp/lock -c 'npm run dev'",
    "watch -n 1 'npm run build'",
    "parallel npm run ::: dev build",
    "nodemon --exec 'npm run dev'",
    "npx --yes --package next -- next dev",
    "bun x vite",
    "script -qc 'npm run dev' /dev/null",
    "timeout -k 5 30s nice -n 5 npm run build",
    "setsid nohup npm run dev >/dev/null 2>&1 < /dev/null & disown",
    "time npm run build",
    "! npm run build",
    "exec npm run dev",
    "command npm run dev",
    "sudo -u nobody npm run dev",
    "sh -c 'npm run dev'",
    'bash -lc "cd app && npm run dev"',
    "bash -c \"sh -c 'npm run dev'\"",
    "timeout 5 bash -ec 'npm run build'",
    "eval 'npm run dev'",
    "eval npm run dev",
    "sh <<EOF\nnpm run dev\nEOF",
    "bash -s <<'X'\ncd app\nnpm run build\nX",
    "bash <<< 'npm run dev'",
    "echo 'npm run dev' | sh",
    "printf 'npm run %s\\n' dev | bash",
    "cat <<EOF | sh\nnpm run dev\nEOF",
    "echo $(npm run build)",
    "X=`npm run build`",
    'echo "built: $(npm run build)"',
    "cat <<EOF\n$(npm run build)\nEOF",
    "diff <(npm run build) x",
    "n'p'm r\"u\"n d\\ev",
    "$'npm' run dev",
    "$'\\x6epm' run dev",
    "'npm' 'run' 'dev'",
    "{npm,run,dev}",
    "X=dev; npm run $X",
    "X='run dev'; npm $X",
    "C=npm; $C run dev",
    "npm run ${SCRIPT}",
    "for s in dev build; do npm run $s; done",
    "$RUNNER run dev",
    "echo dev | xargs npm run",
    "echo dev | xargs -I{} npm run {}",
    "find . -maxdepth 0 -exec npm run build \\;",
    "f() { npm run dev; }; f",
    "function f { npm run dev; }; f",
    "case x in *) npm run dev ;; esac",
    "trap 'npm run dev' EXIT",
    "npm run-script dev",
    "npm --prefix app run dev",
    "npm run --prefix app dev",
    "npm run -s dev -- --port 3001",
    "npm --silent start",
    "npm -C app start",
    "/usr/bin/npm run dev",
    "pnpm dev",
    "pnpm run dev",
    "pnpm --filter web dev",
    "yarn dev",
    "yarn --cwd web dev",
    "yarn run build",
    "yarn start",
    "bun dev",
    "bun run dev",
    "bun --bun run dev",
    "deno task dev",
    "turbo dev",
    "turbo run build",
    "npm-run-all build",
    "run-p dev watch",
    "corepack pnpm dev",
    "concurrently 'npm run dev' 'npm run watch'",
    "next",
    "next dev",
    "next .",
    "next -p 3001",
    "next --turbo dev",
    "next build",
    "next start",
    "next dev --help-me",
    "npx next dev",
    "npx --yes next@16.4 build",
    "npx -p next next build",
    "npm exec next dev",
    "npm exec -- next dev",
    "npm x -- next build",
    "pnpm exec next dev",
    "pnpm dlx next dev",
    "pnpm next dev",
    "yarn next dev",
    "bunx next dev",
    "bunx --bun vite",
    "npx -c 'next dev'",
    "./node_modules/.bin/next dev",
    "node_modules/.bin/next",
    "node node_modules/next/dist/bin/next dev",
    "node --inspect ./node_modules/.bin/next dev",
    "vite",
    "vite --port 3001",
    "vite dev",
    "vite serve",
    "vite build",
    "vite preview",
    "npx vite",
    "npx vite@latest build",
    "./node_modules/.bin/vite --host",
    "node node_modules/vite/bin/vite.js",
    "deno run -A npm:vite",
    "bun run vite",
    "npm exec -- timeout 5 next dev",
    "python3 -c 'import os; os.system(\"npm run dev\")'",
    "python3 -c \"import subprocess; subprocess.run(['npm', 'run', 'dev'])\"",
    "node -e \"require('child_process').spawn('npm', ['run', 'dev'])\"",
    'node -e \'require("child_process").execSync("next build")\'',
    "python3 <<EOF\nimport os\nos.system('npm run build')\nEOF",
]

RUNS_NOT = [
    "",
    "ls",
    'grep "npm run dev" README.md',
    "grep -rn 'next dev' .",
    "echo 'npm run dev'",
    'echo "start it with npm run dev"',
    "echo npm run dev > notes.txt",
    "cat <<EOF > README.md\nnpm run dev\nEOF",
    "# npm run dev",
    "ls # then npm run dev",
    "git commit -m 'npm run dev works'",
    "cat package.json | grep dev",
    "sed -i 's/next dev/next dev --turbo/' package.json",
    "npm install",
    "npm install start",
    "npm i -D vite",
    "npm install next@latest",
    "npm ls next",
    "npm view vite version",
    "npm run lint",
    "npm run build:css",
    "npm run typecheck -- dev",
    "npm test",
    "npm run test",
    "yarn add dev",
    "pnpm add next",
    "yarn lint",
    "pnpm tsc --noEmit",
    "next --version",
    "npx next --help",
    "next info",
    "next telemetry disable",
    "vite --version",
    "npx tsc --noEmit",
    "./node_modules/.bin/tsc --noEmit",
    "node -e \"console.log('npm run dev')\"",
    "node scripts/check.js",
    "which npm vite next",
    "ls node_modules/next node_modules/.bin/vite",
    "cat node_modules/next/package.json",
    "mkdir -p next/dev vite/build",
    "rm -rf .next build",
    "curl -s localhost:3000",
    "test -f vite.config.ts && echo yes",
    "X=next; echo $X",
    "echo npm run dev | wc -w",
    "$EDITOR notes.txt",
    "kill %1",
    "command -v next",
    "command -v vite && echo yes",
    "bun add vite",
    "bun install",
    "deno add npm:vite",
    "time ls next",
    "timeout 5 grep -rn 'next dev' .",
    "timeout -s KILL 5 ls vite",
    "find . -name '*.md' | xargs grep -l 'npm run dev'",
    "ls | xargs grep next",
    "nice -n 5 cat next",
    "env | grep vite",
    "node --check next.config.js",
    "node vite.config.ts",
    "sudo -u nobody ls next",
    "npx prettier --check next",
    "npx create-next-app --help",
    "npx vitest run",
]


def runs_one_of(script: str, patterns: tuple[str, ...] | list[str]) -> str | None:
    """The first pattern that a program of the script matches; None: none does."""
    return first_match(programs_of(script), patterns)


@pytest.mark.parametrize("script", RUNS)
def test_a_dev_server_or_build_is_found_however_it_is_called(script: str) -> None:
    assert runs_one_of(script, PATTERNS) is not None


@pytest.mark.parametrize("script", RUNS_NOT)
def test_words_about_it_and_other_commands_are_let_be(script: str) -> None:
    assert runs_one_of(script, PATTERNS) is None


@pytest.mark.parametrize(
    ("script", "pattern"),
    [
        ("cd repo && git push --force", "git push"),
        ("npx --yes prettier@3 --write .", "prettier"),
        ("psql -c 'drop table x'", "psql"),
        ("npm run dev:css", "npm run dev*"),
    ],
)  # fmt: skip
def test_other_programs_can_be_named_too(script: str, pattern: str) -> None:
    assert runs_one_of(script, [pattern]) == pattern


def test_the_pattern_that_matched_is_told() -> None:
    assert runs_one_of("yarn start", PATTERNS) == "npm run start"


_PREFIXES = ("{}", "A=1 {}", "env A=1 {}", "env -u B {}", "nohup {}", "timeout 9 {}", "nice -n 5 {}")
_AROUND = (
    "  {}  ",
    "cd app && {}",
    "ls; {}",
    "true\n{}\n",
    "({})",
    "{{ {}; }}",
    "{} &",
    "if {}; then :; fi",
    "echo x | {}",
    "{} > out.txt 2>&1",
    "echo $({})",
)
_QUOTES = ("sh -c '{}'", "bash -lc '{}'", "eval '{}'", "echo '{}' | sh", "sh <<X\n{}\nX")
_CORES = ("npm run dev", "npm start", "yarn build", "npx next dev", "next", "vite build", "./node_modules/.bin/vite")


@settings(max_examples=300)
@given(
    st.sampled_from(_CORES),
    st.lists(st.sampled_from(_PREFIXES), max_size=2),
    st.lists(st.sampled_from(_AROUND), max_size=2),
    st.sampled_from(("{}", *_QUOTES)),
    st.lists(st.sampled_from(_AROUND), max_size=2),
)
def test_no_wrapping_hides_it(core: str, prefixes: list[str], inner: list[str], quoted: str, outer: list[str]) -> None:
    script = core
    for wrap in (*prefixes, *inner):
        script = wrap.format(script)
    script = quoted.format(script)
    for wrap in outer if "\nX" not in script else ():
        script = wrap.format(script)
    assert runs_one_of(script, PATTERNS) is not None, script


_soup = st.lists(
    st.one_of(
        st.sampled_from(
            ["npm", "run", "dev", " ", " ", "'", '"', "`", "$(", ")", "${", "}", "$X", "<<", "<<<", "\n", "|", "&", ";",
             "sh", "-c", "\\", "#", "{a,b}", ">", "<(", "EOF", "X=1", "eval", "xargs", "{}"]
        ),
        st.text(max_size=5),
    ),
    max_size=40,
).map("".join)  # fmt: skip


@settings(max_examples=500)
@given(_soup)
def test_any_text_is_read_to_its_end(script: str) -> None:
    programs_of(script)


@pytest.mark.parametrize(
    "script",
    ["env " + "a " * 9_990, "$(" * 6_000, "sh -c '" * 2_000, "`" * 20_000, "{a,b}" * 4_000, "<<a " * 5_000,
     "((" * 10_000, "npm run " * 2_500],
)  # fmt: skip
def test_a_script_of_the_greatest_length_is_read_to_its_end(script: str) -> None:
    assert len(script) <= LONGEST
    programs_of(script)


def test_nested_here_documents_of_a_few_hundred_bytes_are_read_at_once() -> None:
    """What followed each `$(` and backtick in a here-document was read again from every start: 380 bytes took for
    ever, on the only thread that writes to the database."""
    script = "".join(f"cat <<E{i}\n$(`" for i in range(30))
    budget = Budget(script)
    programs_of(script, budget)
    assert budget.spent <= budget.most


def test_a_readme_with_many_code_spans_is_read_within_its_steps() -> None:
    lines = "\n".join(f"- `span {i}` calls $(x) and `y`" for i in range(200))
    script = f"cat > README.md <<EOF\n{lines}\nEOF\nnpm run build"
    budget = Budget(script)
    assert runs_one_of(script, PATTERNS) == "npm run build"
    assert programs_of(script, budget) is not ANYTHING
    assert budget.spent < 10 * len(script)


_MOTIFS = st.lists(
    st.sampled_from([*"$({`<\"' ;&|\n)}=[]x-,\\", "<<E", "${", "$(", "((", "x=", "if ", "env "]), min_size=1, max_size=6
)


@settings(max_examples=120, deadline=None)
@given(_MOTIFS.map("".join), st.sampled_from([200, 2_000, LONGEST]))
def test_the_steps_of_any_text_stay_below_what_its_length_allows(motif: str, length: int) -> None:
    script = (motif * LONGEST)[:length]
    budget = Budget(script)
    programs_of(script, budget)
    assert budget.spent <= budget.most + length
    assert budget.most <= 20 * length + 20_000


@pytest.mark.parametrize(
    "script",
    ["x|" * 10_000, "x" * (LONGEST + 1), "pnpm " * 4_000, "a=(" * 6_000, "x=aa;" + "x=$x$x;" * 40 + "sh -c $x"],
    ids=["pipes", "too long", "managers", "arrays", "doubling"],
)  # fmt: skip
def test_a_script_that_takes_too_many_steps_counts_as_one_that_runs_anything(script: str) -> None:
    assert runs_one_of(script, PATTERNS) == PATTERNS[0]


def test_characters_beyond_ascii_never_reach_the_grammar() -> None:
    """The scanner of tree-sitter-bash looks each character up in tables of ASCII: `{` and a letter beyond ended the
    process, once in some ten thousand texts."""
    script = "{\U00010abc npm run dev; echo 'größer' && X='ü é'; npm run $X"
    for _ in range(200):
        assert runs_one_of(script, PATTERNS) is not None
    assert runs_one_of("echo 'größer als next dev' > größe.txt", PATTERNS) is None


@pytest.mark.parametrize(
    "script",
    ["for i\ndo npm run dev; done", "if true; then npm run dev", "{npm,run,dev}", "ls; ) npm run dev",
     "echo 'x\nnpm run dev"],
)  # fmt: skip
def test_in_a_script_with_an_error_any_word_may_begin_a_command(script: str) -> None:
    assert runs_one_of(script, PATTERNS) is not None


@pytest.mark.parametrize(
    ("script", "pattern", "matches"),
    [
        ("rm x -vfR", "rm -R", True),
        ("rm -v --recursive x", "rm --r*", True),
        ("rm -f x", "rm -R", False),
        ("rm x; ls -R", "rm -R", False),
        ("git -C a -c b=c push -f", "git push", True),
        ("git --git-dir a reset x --hard", "git reset --hard", True),
        ("git reset x", "git reset --hard", False),
        ("git stash push", "git push", False),
        ("find . -name x -delete", "find -delete", True),
        ('rm "$f"', "rm -R", False),
        ("F=-rf; rm $F x", "rm -r", True),
    ],
)
def test_an_option_of_a_pattern_is_found_wherever_it_stands(script: str, pattern: str, matches: bool) -> None:
    assert (runs_one_of(script, [pattern]) is not None) == matches


@pytest.mark.parametrize(
    "script",
    [
        'exec python3 -m http.server --bind 127.0.0.1 "$PORT"',
        'node --inspect server.js "$PORT" "$HOST" localhost',
        'npx --yes serve -l "$PORT"',
        'exec npx vite-node app.ts --port "$PORT"',
    ],
)
def test_a_value_that_is_not_known_is_no_program_behind_an_option_or_an_interpreter(script: str) -> None:
    assert runs_one_of(script, ["dd", "shred", "rm -r", "git push"]) is None


@pytest.mark.parametrize("script", ["timeout 9 $X", "env $X a", "$X", "sudo -u root $X", "timeout -k 5 9 $X"])
def test_a_program_that_is_not_known_may_be_any(script: str) -> None:
    assert runs_one_of(script, ["dd"]) is not None
