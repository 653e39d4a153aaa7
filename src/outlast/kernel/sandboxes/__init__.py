"""Sandboxes: isolated machines that run an agent's commands over the files of a workspace.

Words: a *workspace* is a folder of files owned by a thread, screen or page; a *sandbox* is the isolated machine
that runs them and may die while the files stay; a *provider* makes sandboxes (`local` here, others by entry point);
a *command* or *evaluation* is one effect inside, known by effect id and attempt, whose output and result are kept
inside until the server acknowledges them, so that the next attempt re-attaches instead of starting it again.

The package `outlast_sandbox` makes sandboxes and knows no database. Here, `providers.py` opens the provider that the
settings name, `translation.py` makes the package's errors the server's; `rules.py` is the life cycle (states creating,
ready, pausing, paused, resuming, lost, killed; drawn in `docs/states.md`); `store.py` its rows; `manager.py` joins the
three.
"""
