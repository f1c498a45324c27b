"""`cortex forget`: who goes at which boundary, what a mark changes, and what is refused."""

import json

import pytest
from support.nobody import as_nobody, give_to_nobody, open_folder
from support.stores import NOW, OPERATOR, Memory, laid_out
from support.vaults import DAY, Vault, ago, files, note, plans

from cortex.retention.frontmatter import read_frontmatter
from policies.timestamps import parse_timestamp

SECOND_IN_DAYS = 1 / 86_400


def at(text):
    instant = parse_timestamp(text)
    assert instant is not None
    return instant


@pytest.mark.parametrize(
    ("level", "header", "marked"),
    [
        ("L2", f"created: {ago(364 + 1 - SECOND_IN_DAYS)}\n", False),
        ("L2", f"created: {ago(365)}\n", True),
        ("L2", f"created: {ago(366)}\n", True),
        ("L2", f"created: {ago(366)}\nrecall_count: 4\n", True),
        ("L2", f"created: {ago(366)}\nrecall_count: 5\n", False),
        ("L3", f"created: {ago(90 - SECOND_IN_DAYS)}\n", False),
        ("L3", f"created: {ago(90)}\n", True),
        ("L3", f"created: {ago(90)}\nrecall_count: 2\n", True),
        ("L3", f"created: {ago(90)}\nrecall_count: 3\n", False),
        ("L3", f"created: {ago(400)}\nlast_recalled: {ago(89)}\n", False),
        ("L3", f"created: {ago(90)}\nlast_recalled: {ago(400)}\n", True),  # recalled before it was created
        ("L3", f"created: {ago(89)}\nlast_recalled: {ago(400)}\n", False),
        ("L3", f"created: {ago(400)}\nlast_recalled: {ago(-1)}\n", False),
        ("L3", f"created: {ago(-1)}\n", False),
        ("L3", "title: undated\n", False),
        ("L3", f"created: {ago(400)}\nlevel: L3\n", True),
        ("L0", f"created: {ago(4000)}\n", False),
        ("L1", f"created: {ago(4000)}\n", False),
        ("L4", f"created: {ago(4000)}\n", False),
    ],
)
@pytest.mark.parametrize("language", ["记忆", "memory"])
def test_an_entry_goes_at_its_boundary_and_not_before(tmp_path, language, level, header, marked):
    vault = Vault(tmp_path / "vault", language)
    path = vault.put(level, "semantic/it", header)
    vault.forget()
    assert (b"archive_pending: true" in path.read_bytes()) == marked


@pytest.mark.parametrize(
    ("header", "reason"),
    [
        ('recall_count: "3"\n', "recall_count"),
        ("recall_count: -1\n", "recall_count"),
        ("recall_count: true\n", "recall_count"),
        ("recall_count: 2.9\n", "recall_count"),
        ("recall_count:\n", "recall_count"),
        ("last_recalled: soon\n", "last_recalled"),
        ("last_recalled: 1700000000000\n", "last_recalled"),
        ("level: L2\n", "contradicts"),
        ("level: L9\n", "none of"),
        ("level: 3\n", "none of"),
        ("title: A: B\n", "plain YAML"),
        ("title: &a x\nother: *a\n", "alias"),
        ("created: yesterday\n", "created is no date"),
    ],
)
def test_what_cannot_be_trusted_is_kept_and_told_not_read_as_nothing(tmp_path, header, reason):
    vault = Vault(tmp_path / "vault")
    path = vault.put("L3", "x", f"created: {ago(400)}\n{header}")
    before = path.read_bytes()
    for _ in range(2):
        data = vault.forget()
        assert path.read_bytes() == before
        assert data["marked"] == 0
        (told,) = data["corrupted"]
        assert (told["path"], reason in told["reason"]) == ("记忆/L3-情节/x.md", True)


@pytest.mark.parametrize(
    ("created", "now", "marked"),
    [
        # 2024 has a 29 February: 90 days are 90 days
        ("2024-02-29", "2024-05-28T23:59:59Z", False),
        ("2024-02-29", "2024-05-29T00:00:00Z", True),
        # clocks went forward on 2026-03-29 and back on 2026-10-25 in Berlin; instants know nothing of it
        ("2026-03-28T12:00:00+01:00", "2026-06-26T12:59:59+02:00", False),
        ("2026-03-28T12:00:00+01:00", "2026-06-26T13:00:00+02:00", True),
        ("2026-07-30T12:00:00+02:00", "2026-10-28T10:59:59+01:00", False),
        ("2026-07-30T12:00:00+02:00", "2026-10-28T11:00:00+01:00", True),
    ],
)
def test_leap_days_and_changes_of_clocks_bend_no_age(tmp_path, created, now, marked):
    vault = Vault(tmp_path / "vault", now=at(now))
    vault.put("L3", "x", f"created: {created}\n")
    assert vault.forget()["marked"] == marked


FAITHFUL = (
    b"---\r\ntitle: Wake  # not a time\r\nwake: 10:00\r\ncreated: 2025-01-11T23:39:45-04:00\r\ntags: [a, b]\r\n"
    b"zeta: 1\r\nalpha: 'x'\r\n---\r\nBody without a line end"
)


def test_a_mark_adds_its_lines_and_every_other_byte_stays(tmp_path):
    vault = Vault(tmp_path / "vault")
    path = vault.put("L3", "x", FAITHFUL)
    path.chmod(0o640)
    vault.forget()
    before, after = FAITHFUL.splitlines(keepends=True), path.read_bytes().splitlines(keepends=True)
    added = [line for line in after if line.startswith(b"archive_")]
    assert [line for line in after if line not in added] == before
    assert [line.split(b":")[0] for line in added] == [b"archive_pending", b"archive_reason", b"archive_marked_at"]
    assert all(line.endswith(b"\r\n") for line in added)
    assert path.stat().st_mode & 0o777 == 0o640
    fields = read_frontmatter(path.read_bytes())
    assert fields["archive_reason"] == "expired: 90d unused, recall<3"
    assert fields["archive_marked_at"] == "2026-08-01T12:00:00.000Z"


def due_vault(folder, count=12, language="记忆"):
    vault = Vault(folder / "vault", language)
    for number in range(4):
        vault.put("L2", f"semantic/s{number}", f"created: {ago(400)}\nrecall_count: {number}\n")
    for number in range(count):
        vault.put("L3", f"episodic/2026-01-01/slot{number:02}", f"created: {ago(200)}\n")
    vault.put("L0", "name", f"created: {ago(4000)}\n")
    vault.put("L1", "procedural/knots", note(f"created: {ago(4000)}\n", "A bowline holds.\n"))
    return vault


def test_running_twice_marks_nothing_new(tmp_path):
    vault = due_vault(tmp_path)
    first = vault.forget()
    once = files(vault.path)
    again = Vault(vault.path, now=NOW + DAY).forget()
    assert (first["marked"], again["marked"], len(again["already"])) == (16, 0, 16)
    assert files(vault.path) == once
    assert len(plans(vault.path)) == 1


def test_what_is_told_to_people(tmp_path):
    vault = due_vault(tmp_path, 1)
    memory = Memory(tmp_path / "none", tmp_path)
    words = ("forget", "--vault", str(vault.path), "--text")
    host_text = _text(memory, *words, *OPERATOR)
    assert host_text.splitlines()[:-1] == [
        "[forget] scanned L2 + L3",
        "L2 expired: 4 (365d unused, recall<5)",
        *[f"  L2://semantic/s{number}" for number in range(4)],
        "L3 expired: 1 (90d unused, recall<3)",
        "  L3://episodic/2026-01-01/slot00",
        "marked archive_pending=true on 5 entries",
        "alerts appended: 记忆/views/alerts.md",
    ]
    assert host_text.splitlines()[-1].startswith(f"next: cortex archive --vault {vault.path}")
    alerts = (vault.path / "记忆/views/alerts.md").read_text()
    assert alerts.count("\n") == 1
    assert "marked 5 entries" in alerts


def _text(memory, *words):
    from cortex.arguments import Host
    from cortex.cli import answer

    return answer(list(words), Host({"HOME": "/nonexistent"}, lambda: memory.now, str(memory.root)))[0].decode()


def test_a_dry_run_needs_nobody_tells_all_and_writes_nothing(tmp_path):
    vault = due_vault(tmp_path, 1)
    before = {path: path.stat().st_mtime_ns for path in vault.path.rglob("*")}
    data = vault.call("forget", "--dry-run", operator=False).data
    assert {path: path.stat().st_mtime_ns for path in vault.path.rglob("*")} == before
    assert (data["marked"], data["dry_run"], len(data["steps"])) == (5, True, 5)
    step = data["steps"][-1]
    assert (step["id"], step["reason"]) == ("L3://episodic/2026-01-01/slot00", "expired: 90d unused, recall<3")
    assert step["hash_before"] != step["hash_after"]
    assert step["changes"]["archive_pending"] is True
    done = vault.forget()
    assert done["plan"] == data["plan"]
    written = json.loads((vault.path / f"_meta/plans/{done['plan']}.json").read_text())
    assert [step["hash_after"] for step in written["steps"]] == [step["hash_after"] for step in data["steps"]]


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--level", "L0"), "governance_refused"),
        (("--level", "L0", "--match", "L0://name"), "governance_refused"),
        (("--level", "L1"), "governance_refused"),
        (("--level", "L4"), "governance_refused"),
        (("--level", "L9"), "invalid_input"),
        (("--level", "L2", "--user-signature", "ada"), "invalid_input"),
        (("--level", "L0", "--match", "nobody", "--user-signature", "ada"), "not_found"),
        (("--match", "---"), "invalid_input"),
        (("--explain", "x", "--level", "L2"), "invalid_input"),
        (("--explain", "no-such"), "not_found"),
        (("--adapter", "claude"), "write_refused"),
    ],
)
def test_what_no_policy_allows_is_refused_and_nothing_changes(tmp_path, words, code):
    vault = due_vault(tmp_path, 1)
    before = files(vault.path)
    said = vault.call("forget", *words)
    assert said.envelope["error"]["code"] == code, said.envelope
    assert files(vault.path) == before


def test_it_needs_an_operator_and_permission(tmp_path):
    vault = due_vault(tmp_path, 1)
    assert vault.call("forget", operator=False).refusal == (5, "write_refused")
    assert vault.call("forget", "--operator", "ada", operator=False).refusal == (5, "write_refused")


def test_the_core_goes_by_its_id_and_a_signature_that_the_audit_keeps(tmp_path):
    vault = due_vault(tmp_path, 1)
    data = vault.forget("--level", "L0", "--match", "L0://name", "--user-signature", "Ada Byron, in writing")
    assert data["levels"]["L0"]["entries"] == ["L0://name"]
    rows = [json.loads(line) for line in (vault.path / "OBSERVABILITY/memory-writes.jsonl").read_text().splitlines()]
    assert rows[-1]["signature"] == "Ada Byron, in writing"
    assert (rows[-1]["act"], rows[-1]["actor"], rows[-1]["state"]) == ("forget", "ada", "done")


def test_long_memory_goes_by_the_users_query_alone(tmp_path):
    vault = due_vault(tmp_path, 1)
    assert vault.forget("--level", "L1", "--match", "bowline")["levels"]["L1"]["entries"] == ["L1://procedural/knots"]


def test_a_query_marks_what_it_finds_whatever_its_age_at_most_twenty(tmp_path):
    vault = Vault(tmp_path / "vault")
    for number in range(60):
        body = "The tide is late.\n" if number < 30 else "Nothing here.\n"
        vault.put("L3", f"n{number:02}", note(f"created: {ago(1)}\n", body))
    data = vault.forget("--match", "tide")
    assert (data["marked"], len(data["levels"]["L3"]["entries"])) == (20, 20)
    assert all(int(name[-2:]) < 30 for name in data["levels"]["L3"]["entries"])


def full_vault(folder, policy=None):
    vault = Vault(folder / "vault")
    for number in range(100):
        vault.put(
            "L2" if number % 2 else "L3",
            f"n{number:02}",
            "created: 2020-01-01\n" if policy is None else f"created: {ago(0)}\n",
        )
    vault.put("L0", "a", "created: 2020-01-01\n")
    vault.put("L1", "b", "created: 2020-01-01\n")
    if policy:
        (vault.path / "_meta").mkdir()
        (vault.path / "_meta/memory-policy.yaml").write_text(policy)
    return vault


@pytest.mark.parametrize("policy", [None, "L2: {forget: {after_days: 0}}\nL3: {forget: {after_days: 0}}\n"])
def test_a_run_that_would_mark_most_of_a_memory_is_refused_and_says_how_to_insist(tmp_path, policy):
    vault = full_vault(tmp_path, policy)._replace(now=at("2099-01-01") if policy is None else NOW)
    before = files(vault.path)
    said = vault.call("forget")
    assert said.refusal == (5, "governance_refused")
    assert "--allow-mass" in said.message
    assert "L3://n00" in said.message
    assert files(vault.path) == before
    listed = vault.call("forget", "--dry-run", operator=False).data
    assert (len(listed["steps"]), listed["needs_allow_mass"]) == (100, True)
    assert vault.forget("--allow-mass")["marked"] == 100
    assert b"archive" not in (vault.level("L0") / "a.md").read_bytes() + (vault.level("L1") / "b.md").read_bytes()


@pytest.mark.parametrize(("due", "others", "refused"), [(20, 0, False), (21, 20, True), (21, 21, False)])
def test_most_is_more_than_half_and_more_than_twenty(tmp_path, due, others, refused):
    vault = Vault(tmp_path / "vault")
    for number in range(due):
        vault.put("L3", f"d{number}", f"created: {ago(400)}\n")
    for number in range(others):
        vault.put("L2", f"o{number}", f"created: {ago(1)}\n")
    assert (vault.call("forget").exit == 5) == refused


@pytest.mark.parametrize(
    ("policy", "told"),
    [
        ("levels:\n  L3:\n    forget:\n      after_day: 3\n", ("after_day", "line 4")),
        ("L3: {forget: {after_days: -1}}\n", ("after_days", "line 1")),
        ("L3: {forget: {after_days: '9'}}\n", ("after_days",)),
        ("L3: {forget: !!python/object:os.system {}}\n", ("tag",)),
        ("a: &a {b: 1}\nL3: *a\n", ("alias",)),
        ("L3: [\n", ("no plain YAML",)),
        ("L3: {forget: {after_days: 1}}\nL3: {forget: {after_days: 2}}\n", ("twice",)),
        ("", ("no level",)),
        ("x" * (1024 * 1024 + 1), ("more than",)),
    ],
)
def test_a_policy_with_a_fault_is_refused_whole_by_key_and_line(tmp_path, policy, told):
    vault = full_vault(tmp_path, policy or "# nothing\n")
    before = files(vault.path)
    said = vault.call("forget", "--allow-mass")
    assert said.refusal == (4, "invalid_input")
    assert all(word in said.message for word in told), said.message
    assert files(vault.path) == before


def test_a_rule_of_the_file_that_matches_nothing_is_a_warning_and_the_packaged_one_warns_of_nothing(tmp_path):
    vault = Vault(tmp_path / "vault")
    vault.put("L3", "x", f"created: {ago(1)}\n")
    assert vault.forget()["warnings"] == []
    (vault.path / "_meta").mkdir(exist_ok=True)
    (vault.path / "_meta/memory-policy.yaml").write_text(
        "L3: {forget: {after_days: 9}}\nL7: {forget: {after_days: 9}}\n"
    )
    (warning,) = vault.forget()["warnings"]
    assert "L7.forget (after_days: 9)" in warning


def test_a_vault_takes_the_policy_of_the_memory_root_where_it_has_none(tmp_path):
    memory = laid_out(tmp_path)
    (memory.root / "_meta").mkdir()
    (memory.root / "_meta/memory-policy.yaml").write_text("L3: {forget: {after_days: 5}}\n")
    vault = Vault(tmp_path / "vault")
    path = vault.put("L3", "x", f"created: {ago(6)}\n")
    data = memory.call("forget", *OPERATOR, "--vault", str(vault.path)).data
    assert data["policy"].endswith("MEMORY/_meta/memory-policy.yaml")
    assert b"archive_pending" in path.read_bytes()


@pytest.mark.parametrize("folder", ["L3", "L3 情节", "L3_x", "L3情节"])
def test_a_level_folder_is_found_by_its_beginning(tmp_path, folder):
    path = tmp_path / "vault" / "记忆" / folder / "x.md"
    path.parent.mkdir(parents=True)
    path.write_bytes(note(f"created: {ago(400)}\n"))
    assert Vault(tmp_path / "vault").forget()["marked"] == 1


def test_what_is_no_vault_is_not_found(tmp_path):
    (tmp_path / "empty").mkdir()
    assert Vault(tmp_path / "empty").call("forget").refusal == (3, "not_found")
    assert Vault(tmp_path / "nowhere").call("forget").refusal == (3, "not_found")


def test_why_an_entry_stays_and_when_that_changes(tmp_path):
    vault = Vault(tmp_path / "vault")
    vault.put("L3", "x", f"created: {ago(31)}\nrecall_count: 2\n")
    vault.put("L3", "y", f"created: {ago(400)}\n")
    told = vault.call("forget", "--explain", "L3://x", operator=False).data
    assert (told["decision"], told["reason"], told["recall_count"]) == ("keep", "young", 2)
    assert told["rule"] == {"after_days": 90, "unless_recalled": 3}
    assert told["changes_at"] == ago(31 - 90)
    assert (
        Vault(vault.path, now=at(told["changes_at"])).call("forget", "--explain", "L3://x").data["decision"] == "expire"
    )
    assert vault.call("forget", "--explain", "L3://y", operator=False).data["reason"] == "expired: 90d unused, recall<3"


class TestInAMemoryRoot:
    """Notes of the corpus that say their level; all others are never touched."""

    @pytest.fixture
    def memory(self, tmp_path):
        memory = laid_out(tmp_path)
        for name, header in {
            "due": f"id: kb_due\nlevel: L3\ncreated: {ago(400)}\n",
            "young": f"id: kb_young\nlevel: L2\ncreated: {ago(40)}\n",
            "plain": f"id: kb_plain\ncreated: {ago(4000)}\n",
            "L2-x/odd": f"id: kb_odd\nlevel: L3\ncreated: {ago(400)}\n",
            "L10n/fine": f"id: kb_fine\nlevel: L3\ncreated: {ago(400)}\n",
        }.items():
            path = memory.root / "KNOWLEDGE" / f"{name}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(note(header))
        return memory

    def test_only_levelled_notes_that_are_due_are_marked(self, memory):
        before = files(memory.root)
        data = memory.call("forget", *OPERATOR).data
        after = files(memory.root)
        changed = sorted(name for name in after if after[name] != before.get(name))
        assert changed == ["KNOWLEDGE/L10n/fine.md", "KNOWLEDGE/due.md"]
        assert data["levels"]["L3"]["entries"] == ["kb_fine", "kb_due"]
        assert data["corrupted"] == [{"path": "KNOWLEDGE/L2-x/odd.md", "reason": "its level contradicts its folder"}]
        assert memory.call("check").exit == 0
        assert (memory.root / "OBSERVABILITY/alerts.md").read_text().count("marked 2 entries") == 1

    def test_one_without_a_level_is_never_touched_and_says_so(self, memory):
        assert memory.call("forget", "--explain", "kb_plain").data["reason"] == "no_level"

    def test_after_the_archive_search_does_not_find_it_and_the_index_resolves_it(self, memory):
        (memory.root / "_meta").mkdir(exist_ok=True)
        index = memory.root / "_meta/uri-index.json"
        index.write_text('{"entries": {"kb_due": {"path": "KNOWLEDGE/due.md"}}}\n')
        assert "kb_due" in {item["id"] for item in memory.call("search", "text").data["items"]}
        memory.call("forget", *OPERATOR)
        memory.call("archive", *OPERATOR)
        assert "kb_due" not in {item["id"] for item in memory.call("search", "text").data["items"]}
        entry = json.loads(index.read_text())["entries"]["kb_due"]
        assert entry["archived"] is True
        assert (memory.root / entry["archived_path"]).read_bytes().startswith(b"---\nid: kb_due")


def test_a_note_that_may_not_be_written_is_told():
    with open_folder() as folder:
        vault = Vault(folder / "vault")
        vault.put("L3", "x", f"created: {ago(400)}\n").chmod(0o444)
        give_to_nobody(folder)
        with as_nobody():
            data = vault.forget()
        assert (data["marked"], [one["path"] for one in data["unwritable"]]) == (0, ["记忆/L3-情节/x.md"])
