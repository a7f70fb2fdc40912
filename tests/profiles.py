"""How many examples the laws try, and whether the same ones each time.

=================  ==============================================================================
`dev`, the default the same examples in every run: a failure is due to the change, not to chance
`quick`            a quarter of them
`interpreted`      a twentieth of them, for runs without a compiler
`thorough`         ten times as many, other ones in every run; it prints how to repeat a failure
=================  ==============================================================================

Choose one with ``--hypothesis-profile=NAME``. Examples have no deadline: the first one of a kernel
may compile it.
"""

from __future__ import annotations

from hypothesis import HealthCheck, settings

USUAL = 100

_NO_TIMES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}


def register() -> None:
    """Tell Hypothesis of the profiles and choose the default."""
    same = settings(derandomize=True, database=None, print_blob=True, **_NO_TIMES)
    settings.register_profile("dev", same, max_examples=USUAL)
    settings.register_profile("quick", same, max_examples=USUAL // 4)
    settings.register_profile("interpreted", same, max_examples=USUAL // 20)
    settings.register_profile("thorough", print_blob=True, max_examples=10 * USUAL, **_NO_TIMES)
    settings.load_profile("dev")


def examples(count: int) -> settings:
    """Return settings for `count` examples in the default profile, in proportion in the others."""
    return settings(max_examples=max(1, count * settings().max_examples // USUAL))
