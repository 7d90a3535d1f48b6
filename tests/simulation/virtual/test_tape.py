"""The tape of a script is splitmix64, draw for draw."""

from rocketdiff.simulation.virtual.tape import ScriptedTape


def test_draws_are_those_of_splitmix64() -> None:
    """The first numbers of seed 0 are 0xE220A8397B1DCDAF and 0x6E789E6AA1B965F4 (published test vector)."""
    tape = ScriptedTape(0)
    assert tape.int32() == 0x7B1DCDAF
    assert tape.int32() == 0xA1B965F4 - 2**32


def test_a_bounded_draw_takes_the_unsigned_number() -> None:
    """0xE220A8397B1DCDAF is 16,294,208,416,658,607,535, and 535 modulo 1,000."""
    assert ScriptedTape(0).below(1_000) == 535


def test_shuffling_draws_from_the_last_place_down() -> None:
    """Of three: 0xE220A8397B1DCDAF % 3 is 1, then 0x6E789E6AA1B965F4 % 2 is 0: x z y, then z x y."""
    items = ["x", "y", "z"]
    ScriptedTape(0).shuffle(items)
    assert items == ["z", "x", "y"]
