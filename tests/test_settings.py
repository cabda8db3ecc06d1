"""The table of switches: what the environment and `context` may say, and who sees it."""

import threading
from pathlib import Path

import pytest

from uopc_core.errors import SettingsError
from uopc_core.settings import SWITCHES, context, current, settings_from_environment

VALID = [
    ("UOPC_DEBUG", "3", "debug", 3),
    ("UOPC_VERIFY", "1", "verify", True),
    ("UOPC_VERIFY", "false", "verify", False),
    ("UOPC_TIER", "interpret", "tier", "interpret"),
    ("UOPC_NUM_THREADS", "7", "num_threads", 7),
    ("UOPC_CACHE_DIR", "/a b/é", "cache_dir", Path("/a b/é")),
    ("CC", "gcc -m64", "cc", "gcc -m64"),
]
INVALID = [
    ("UOPC_DEBUG", "5", "0, 1, 2, 3, 4"),
    ("UOPC_DEBUG", "much", "0, 1, 2, 3, 4"),
    ("UOPC_VERIFY", "2", "0, 1, false, true"),
    ("UOPC_TIER", "fast", "auto, compile, interpret"),
    ("UOPC_NUM_THREADS", "0", "1 to 256"),
    ("CC", "  ", "a command"),
]
INVALID_VALUES = [
    ("debug", True, "0, 1, 2, 3, 4"),
    ("verify", 1, "0, 1, false, true"),
    ("tier", "jit", "auto, compile, interpret"),
    ("num_threads", 2.0, "1 to 256"),
    ("cache_dir", 3, "a path"),
    ("cc", "", "a command"),
]


@pytest.mark.parametrize(("variable", "text", "name", "value"), VALID, ids=lambda x: str(x))
def test_the_environment_sets_a_switch(variable, text, name, value):
    assert getattr(settings_from_environment({variable: text}), name) == value


@pytest.mark.parametrize("variable", [switch.environment for switch in SWITCHES])
def test_an_empty_variable_counts_as_unset(variable):
    assert settings_from_environment({variable: ""}) == settings_from_environment({})


@pytest.mark.parametrize(("variable", "text", "valid"), INVALID)
def test_a_wrong_text_is_refused_with_the_valid_ones(variable, text, valid):
    with pytest.raises(SettingsError, match=f"{variable}: expected {valid}, got '?{text}"):
        settings_from_environment({variable: text})


def test_an_unknown_variable_is_refused_with_the_known_ones():
    with pytest.raises(SettingsError, match=r"UOPC_THREADS: unknown; the known ones are .*UOPC_NUM_THREADS"):
        settings_from_environment({"UOPC_THREADS": "1"})


@pytest.mark.parametrize(("name", "value", "valid"), INVALID_VALUES)
def test_a_wrong_value_is_refused_with_the_valid_ones(name, value, valid):
    with pytest.raises(SettingsError, match=f"'{name}': expected {valid}"), context(**{name: value}):
        pass


def test_an_unknown_setting_is_refused_with_the_known_ones():
    with pytest.raises(SettingsError, match=r"'threads': unknown; the known ones are debug, .*num_threads"):
        with context(threads=1):
            pass


def test_contexts_nest_and_end():
    before = current()
    with context(num_threads=3) as outer:
        with context(tier="interpret"):
            assert (current().num_threads, current().tier) == (3, "interpret")
        assert current() is outer
    assert current() is before


def test_a_context_ends_with_an_exception():
    before = current()
    with pytest.raises(KeyError), context(debug=1):
        raise KeyError
    assert current() is before


def test_a_thread_does_not_see_the_overrides_of_another():
    seen = []
    with context(num_threads=current().num_threads + 1):
        thread = threading.Thread(target=lambda: seen.append(current().num_threads))
        thread.start()
        thread.join()
        assert seen == [current().num_threads - 1]


def test_settings_cannot_be_changed_in_place():
    with pytest.raises(AttributeError):
        current().debug = 1  # pyright: ignore[reportAttributeAccessIssue]


def test_the_documentation_has_a_row_for_every_switch():
    text = Path(__file__).parents[1].joinpath("docs/settings.md").read_text(encoding="utf-8")
    for switch in SWITCHES:
        assert f"| `{switch.name}` | `{switch.environment}` | {switch.valid} |" in text
