"""Threads: conversations in a project, their messages, and data derived from them.

A *thread* owns messages, numbered 1, 2, 3 … by `position`, and may be *anchored* to its subject. It is open or
*archived* (hidden from the list, found by search, accepting nothing new). A *fork* is a new thread that begins as a
copy of another up to one message; `parent_thread_id` and `parent_message_id` keep the lineage. `locks/thread_locks.py`
ties the thread's lock to its events. `search.py` keeps a *derived* index, which can be deleted and rebuilt. Every
change of a message or thread appends to the thread's log; the project's log gets the thread's summary
(`thread.updated`), so lists follow.

        create, fork                archive
    ───────────────────▶ open ◀────────────────▶ archived          delete (owner): gone with everything in it
                                    unarchive
"""
