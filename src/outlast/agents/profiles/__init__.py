"""One file a profile: prompt, tools, context and finisher of an agent."""
