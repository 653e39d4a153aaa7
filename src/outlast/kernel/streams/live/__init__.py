"""Live text, presence and other passing news between nodes.

`port` is what the hub needs of it. `memory` is the adapter of one node: the hub alone. `database` passes text through
the database: a run that is followed on another node is saved every 100 ms there. `redis_carrier` adds Redis to it, for
text within milliseconds; whatever Redis loses or delays, the database has. Adapters share `tail` (pure: which lines a
follower may be shown, whatever arrives and in which order), `feed` (keeps a run's channel on a node that follows it),
`interests` (who follows what elsewhere) and `messages` (small news that may be lost).
"""
