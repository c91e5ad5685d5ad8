"""Limits of the time that a query may take."""

from time import monotonic

STEPS = 1024
"""Steps between two looks at the clock."""


class Steps:
    """Counts a query's steps and stops the query after some seconds of work.

    seconds: seconds from now on; infinite for no limit.
    """

    def __init__(self, seconds: float = float("inf")) -> None:
        self.seconds = seconds
        self.end = monotonic() + seconds
        self.left = STEPS

    def step(self, n: int = 1) -> None:
        """Count `n` steps. Raises TimeoutError when the time is over."""
        self.left -= n
        if self.left <= 0:
            self.left = STEPS
            if monotonic() > self.end:
                raise TimeoutError(
                    f"the query took more than {self.seconds:g} seconds: make it more specific, "
                    "or give it more time"
                )
