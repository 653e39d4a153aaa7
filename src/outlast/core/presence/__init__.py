"""Who is here: who watches a thread, and who types. Shown, never logged.

Presence lives in memory and is gone with the process: every browser that follows a thread says it again when it
connects anew. A person with several tabs is shown once. Typing ends by itself 6 seconds after the last word of it.
"""
