"""Runs: durable attempts of an agent to answer.

A *run* is a row. A *leg* is one stretch of work on it by one worker: it begins with a claim (a *lease* on the run
and a raised *attempt*, the fence) and ends when the run has ended or waits for a user. The *transcript* is the run's
*effects*: model turns and tool calls, each named before it starts and recorded after it ends; a leg rebuilds
everything from it, so killing a worker costs only the effect that it was in.

`rules` decides the next step (pure), `leg` executes it: `model_turn` and `tool_calls` are its effects, `stages`
the work around them. `store` holds the queries, `settlement` the last transaction, `parked` how a run waits for a
user without using a worker, `sweeper` the timers, `worker` the `claims` and `leases`. States: docs/states.md.
"""
