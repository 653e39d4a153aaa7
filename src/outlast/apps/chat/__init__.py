"""Chat: the assistant of a plain thread, and the summary that a fork can begin with."""
