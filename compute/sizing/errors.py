"""The one way in which a config is refused."""

from __future__ import annotations


class ConfigError(ValueError):
    """A config that cannot be billed, the key that decides so, and what to do about it.

    key: config key (dotted inside a nested object), or "config" for the text as a whole.
    remedy: one sentence a person can act on.
    """

    def __init__(self, key: str, problem: str, remedy: str):
        super().__init__(
            f"config key {key!r} {problem}; {remedy}" if key != "config" else f"config {problem}; {remedy}"
        )
        self.key = key
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self):
        return type(self), (self.key, self.problem, self.remedy)
