"""Compactions: summaries that stand for the oldest messages of a thread in the prompts of its runs.

Before a turn of the model, a *crowded* history (`rules.py`) is summarized by a model turn of its own, an effect of the
run (`kernel/runs/compaction.py`). The summary is kept here; later runs read it and the messages after it. The messages
themselves stay in the thread, its search and its forks, and agents read them with the tool `read_thread`.

               undone by an editor
    in use ───────────────────────────▶ undone

The newest one in use counts; it includes those before it. Steps of one long run are summarized in the same way, but
only in the run's journal: later runs read the saved answer.
"""
