"""Nothing that is private shows in what retention says, plans, or leaves in the audit."""

import json

from support.stores import texts_below
from support.vaults import Vault, ago, note

SECRET = "wolfram-7431"


def test_private_words_reach_no_output_plan_or_audit(tmp_path):
    vault = Vault(tmp_path / "vault")
    hidden = f"<private>{SECRET}</private>"
    vault.put("L3", "a", note(f"created: {ago(400)}\ntitle: x {hidden}\n", f"Tide. {hidden}\n"))
    vault.put("L3", "b", note(f"created: soon {hidden}\n"))
    vault.put("L3", "c", note(f"created: {ago(400)}\n", "Tide.\n"))
    vault.put("L0", "d", note(f"created: {ago(4)}\narchive_pending: true\narchive_reason: x {hidden}\n"))
    said = [
        vault.call("forget", "--dry-run"),
        vault.call("forget", "--match", f"tide {hidden}"),
        vault.call("forget", "--explain", "L3://b"),
        vault.call("forget", "--level", "L0", "--match", "L0://d", "--user-signature", f"ada {hidden}"),
        vault.call("forget"),
        vault.call("archive", "--dry-run"),
        vault.call("archive"),
    ]
    assert all(one.exit == 0 for one in said)
    assert SECRET not in json.dumps([one.envelope for one in said])
    for folder in ("_meta", "OBSERVABILITY", "记忆/views"):
        assert SECRET not in texts_below(vault.path / folder)
