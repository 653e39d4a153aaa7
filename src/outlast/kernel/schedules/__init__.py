"""Schedules: an agent that starts by the clock.

A *schedule* has a cron expression in a time zone; the times at which it comes due are its *due times*. Each due time
starts at most one run, as the user who made the schedule and with that user's rights at that moment.

The timer `schedule` of a row is set to its `next_at`, the earliest due time that was not handled. The timer's handler
(`due_runs.py`) holds the row, starts the run and moves both in one transaction: after a crash or on two nodes a due
time is handled once or not yet, never twice. A due time more than `rules.GRACE` ago was *missed*; `on_missed` says
whether all missed ones start nothing or one run. Nothing polls: a paused schedule has no timer.

    on ⇄ paused        a person, or because its maker has left the project

A due time that is *refused* (no rights, no credits, no such agent …) leaves its problem on the row and one item in the
maker's inbox; the next due time is tried again. Schedules of the operator's code (`code_schedules.py`) follow it.
"""
