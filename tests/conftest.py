"""For all tests: no test may fail because the machine was busy, or because a generator drew other numbers today."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "rocketdiff",
    deadline=None,  # a figure of the wall clock
    derandomize=True,  # a failure in CI must be one here too
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("rocketdiff")
