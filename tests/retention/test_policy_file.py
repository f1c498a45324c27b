"""The policy file: the packaged one says what the code holds, and where a policy is looked for."""

from pathlib import Path

import cortex
from cortex.retention.policy_file import parse_policy
from policies.retention import DEFAULT_POLICY


def test_the_packaged_file_says_what_the_default_of_the_code_says():
    data = (Path(cortex.__file__).parent / "memory-policy.yaml").read_bytes()
    assert parse_policy(data) == DEFAULT_POLICY


def test_levels_stand_at_the_top_or_under_levels_and_other_keys_are_ignored():
    top = parse_policy(b"note: x\nL3:\n  holds: y\n  forget: {after_days: 9}\n")
    below = parse_policy(b"levels:\n  L3: {forget: {after_days: 9}}\nversion: 2\n")
    assert top == below
    assert list(top) == ["L3"]
    assert top["L3"].after_days == 9
