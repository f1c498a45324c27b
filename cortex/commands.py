"""The one table of commands: parser, help and documentation are made from it.

To add a command, add a row to `COMMANDS`, its options to `OPTIONS` where they are new, and the function it names.
"""

from typing import Final, Literal, NamedTuple


class Option(NamedTuple):
    """An option. `metavar` is None for one that takes no value."""

    name: str
    metavar: str | None
    help: str
    repeatable: bool = False


class Positionals(NamedTuple):
    """How many positional arguments a command takes, and what they are called."""

    least: int
    most: int
    usage: str
    refusal: str


class Command(NamedTuple):
    """A command: what it takes, who may call it, and the `module:function` that carries it out.

    Without positionals, one that `reads_bare` only shows.
    `acts_with` is the option that makes a reading command an operator's act, `reads_with` one that makes any a read.
    """

    name: str
    summary: str
    positionals: Positionals
    options: tuple[str, ...]
    handler: str
    kind: Literal["read", "agent", "operator", "either"] = "read"
    needed: str | None = None
    reads_bare: bool = False
    acts_with: str | None = None
    reads_with: str = "--dry-run"


_NO_ARGUMENTS = Positionals(0, 0, "", "takes no arguments")
_QUERY = Positionals(1, 1, "QUERY", "takes exactly one query")
_IDS = Positionals(1, 100, "ID...", "takes 1 to 100 ids")
_PROPOSAL = Positionals(1, 1, "ID", "takes exactly one id of a proposal")
_DECISION = Positionals(2, 2, "ID VERDICT", "takes the id of a proposal, and accept, reject or edit")
_FOLDER = Positionals(0, 1, "[DIR]", "takes at most one folder")
_LOG = Positionals(1, 1, "LOG", "takes exactly one log")
_SETTING = Positionals(0, 2, "[KEY VALUE]", "takes a parameter of sleep and its value, or nothing")
_TITLE = Positionals(1, 1, "TITLE", "takes exactly one title")
_WORDS = Positionals(1, 1, "TEXT", "takes exactly one text")
_CARD = Positionals(1, 1, "ID", "takes exactly one id of a card")
_PLAN = Positionals(1, 101, "PLAN", "takes the id of a plan (and ids behind --only)")
_QUERY_AND_IDS = Positionals(2, 101, "QUERY ID...", "takes a query, and the 1 to 100 ids that it should find")
_PAYLOAD = Positionals(1, 1, "JSON-OR-DASH", "takes exactly one JSON payload, or - for standard input")

OPTIONS: Final = {
    option.name: option
    for option in (
        Option("--memory-root", "DIR", "the memory to use (else CORTEX_MEMORY_ROOT, else ~/.claude/LIFEOS/MEMORY)"),
        Option("--adapter", "NAME", "who calls: claude, hermes, codex or subagent"),
        Option("--now", "TIME", "the time to judge by, ISO or milliseconds since 1970 (else CORTEX_HEALTH_NOW, else the clock)"),
        Option("--text", None, "print for people instead of JSON"),
        Option("--type", "TYPE", "only records of this type"),
        Option("--source", "SOURCE", "only records from this source"),
        Option("--session", "ID", "only records of this session"),
        Option("--from", "TIME", "only records created at this time or later"),
        Option("--to", "TIME", "only records created at this time or earlier; a date means its whole day (UTC)"),
        Option("--page", "N", "which page, from 1"),
        Option("--page-size", "N", "cards a page, 1 to 100"),
        Option("--recency", "WEIGHT", "prefer what was updated lately: a number from 0 to 1e6"),
        Option("--expand", "ID", "add the records related to this one, breadth first"),
        Option("--max-nodes", "N", "records in the expansion, 1 to 100 (10 unless said)"),
        Option("--max-tokens", "N", "estimated tokens in the expansion, 1 to 50000 (2000 unless said)"),
        Option("--analyzer", "NAME", "how text becomes terms: ascii, unicode or auto (auto unless said)"),
        Option("--explain", "ID", "add why this record is, or is not, among the results"),
        Option("--anchor", "ID-OR-TIME", "the record or instant to look around"),
        Option("--before", "N", "records in front of the anchor, 0 to 100 (5 unless said)"),
        Option("--after", "N", "records behind the anchor, 0 to 100 (5 unless said)"),
        Option("--from-canonical", None, "rebuild from the canonical files (needed)"),
        Option("--list", None, "list every fault instead of stopping at the first"),
        Option("--labels", "FILE", "the label file: a query and what it should find, one JSON object a line"),
        Option("--output", "FILE", "write the report there too: a new BENCHMARKS/cortex-benchmark-vN-*.json of this memory"),
        Option("--adopt", "REPORT", "let the index answer, by this report of `cortex benchmark` on the same memory"),
        Option("--yes", None, "do not ask"),
        Option("--no-index", None, "read every file, whether an index is adopted or not"),
        Option("--record", None, "leave a row of evidence that this memory was searched"),
        Option("--allow-write", None, "permit this very call to write"),
        Option("--operator", "NAME", "who acts: a person, by the name that the audit is to have"),
        Option("--dry-run", None, "show what would be done, and do nothing"),
        Option("--status", "STATUS", "only proposals of this status"),
        Option("--digest", "DIGEST", "the digest that `proposals show` printed: what was seen is what is decided"),
        Option("--edit", "TEXT", "the text to put in place of the proposed one"),
        Option("--row", "N", "a row of a shape that proves nothing, by the number of its line"),
        Option("--vault", "DIR", "the vault to work on, instead of the memory"),
        Option("--level", "LEVEL", "only entries of this level: L2 or L3; with --match also L1, with a signature L0"),
        Option("--match", "QUERY", "what the user wants forgotten, whatever its age; of L0 the id of one entry"),
        Option("--user-signature", "TEXT", "the user's word that an entry of L0 may go; the audit keeps it"),
        Option("--allow-mass", None, "insist on marking more than half of all entries"),
        Option("--observability", None, "compress and shorten the logs that the auditor finds too old or too large"),
        Option("--only", "ID...", "take back these steps alone, by id or path"),
        Option("--fix", "WHAT", "put right what can be known: dates"),
        Option("--zone", "ZONE", "where the clock stood of dates without a zone: Europe/Berlin, +02:00"),
        Option("--day-first", None, "read 03/04/2025 as the third of April"),
        Option("--accept-loss", None, "only write down that the log is as it is for a good reason"),
        Option("--transcripts", "PATH", "a transcript, or a folder of them; may be given more than once", repeatable=True),
        Option("--why", "WHY", "what moved: session-step (the one that wakes), heartbeat or tool"),
        Option("--body", "TEXT", "what the card says"),
        Option("--kind", "KIND", "a kind of card: pitfall, playbook, hotspot, unresolved or fact"),
        Option("--archived", None, "the archived cards instead of the living ones"),
    )
}  # fmt: skip

# Every command takes these.
COMMON: Final = ("--memory-root", "--adapter", "--now", "--text")
_OPERATOR = ("--operator", "--allow-write")
_SLEEPER = (*_OPERATOR, "--transcripts")
_FILTERS = ("--type", "--source", "--session", "--from", "--to", "--page", "--page-size")

COMMANDS: Final = {
    command.name: command
    for command in (
        Command("status", "say which memory this is, and how many records it holds", _NO_ARGUMENTS, ("--no-index",), "cortex.reading:status"),
        Command(
            "search", "rank records by a query and show their cards", _QUERY,
            (*_FILTERS, "--recency", "--expand", "--max-nodes", "--max-tokens", "--analyzer", "--explain", "--no-index", "--record"),
            "cortex.retrieval.recorded:search",
        ),
        Command(
            "timeline", "show what was created around a record or an instant", _NO_ARGUMENTS,
            ("--anchor", "--before", "--after", *_FILTERS, "--no-index"), "cortex.searching:timeline", needed="--anchor",
        ),
        Command("get", "read records in full", _IDS, (), "cortex.reading:get"),
        Command("export", "read records in full, to keep elsewhere", _IDS, (), "cortex.reading:export"),
        Command(
            "rebuild", "read everything twice, independently, and compare the digests", _NO_ARGUMENTS,
            ("--from-canonical",), "cortex.reading:rebuild", needed="--from-canonical",
        ),
        Command(
            "check", "say whether the canonical files are sound", _NO_ARGUMENTS,
            ("--list", "--page", "--page-size", "--fix", "--zone", "--day-first", "--dry-run", *_OPERATOR),
            "cortex.checking:check", acts_with="--fix",
        ),
        Command(
            "benchmark", "measure retrieval by labelled queries", _NO_ARGUMENTS,
            ("--labels", "--output", "--no-index", "--allow-write"), "cortex.benchmark.run:benchmark", needed="--labels",
        ),
        Command(
            "benchmark label", "run a query, show what it returns, and append a label that says what it should",
            _QUERY_AND_IDS, (*_OPERATOR, "--labels", "--yes"), "cortex.benchmark.label:label", "operator", needed="--labels",
        ),
        Command(
            "remember", "add an item to the memory", _PAYLOAD, ("--allow-write",), "cortex.writing:remember", "agent",
        ),
        Command(
            "propose", "propose a change to a governed file", _PAYLOAD, ("--allow-write",), "cortex.writing:propose",
            "agent",
        ),
        Command(
            "proposals list", "list the proposals", _NO_ARGUMENTS, ("--status",), "cortex.writing:proposals_list",
        ),
        Command(
            "proposals show", "show what a proposal would change, and the digest to decide it by", _PROPOSAL, (),
            "cortex.writing:proposals_show",
        ),
        Command(
            "proposals decide", "accept, reject or edit a proposal", _DECISION,
            (*_OPERATOR, "--digest", "--edit"), "cortex.writing:proposals_decide", "operator", needed="--digest",
        ),
        Command(
            "index build", "make an index of everything; with --adopt, by evidence, let it answer", _NO_ARGUMENTS,
            (*_OPERATOR, "--adopt", "--labels"), "cortex.indexing:build", "operator",
        ),
        Command(
            "index refresh", "make the index anew, as far as files have changed", _NO_ARGUMENTS, _OPERATOR,
            "cortex.indexing:refresh", "operator",
        ),
        Command(
            "index verify", "read every file again, and say whether the index says the same", _NO_ARGUMENTS, (),
            "cortex.indexing:verify",
        ),
        Command(
            "index drop", "throw the index away, and leave the marker that there is none", _NO_ARGUMENTS, _OPERATOR,
            "cortex.indexing:drop", "operator",
        ),
        Command(
            "index status", "say whether there is an index, and whether it answers", _NO_ARGUMENTS, (),
            "cortex.indexing:status",
        ),
        Command("init", "lay out a memory", _FOLDER, _OPERATOR, "cortex.writing:init", "operator"),
        Command(
            "mend", "move lines that prove nothing out of a log, to a file beside it", _LOG,
            (*_OPERATOR, "--dry-run", "--row", "--accept-loss"), "cortex.writing:mend", "operator",
        ),
        Command(
            "sleep status", "say how awake the memory is, and what keeps it so", _NO_ARGUMENTS, (),
            "cortex.sleeping:status",
        ),
        Command(
            "sleep activity", "tell that a session moved, a heart beat or a tool ran", _NO_ARGUMENTS,
            ("--allow-write", "--why"), "cortex.sleeping:activity", "agent", needed="--why",
        ),
        Command(
            "sleep enter", "fall deep asleep by hand, and consolidate at once", _NO_ARGUMENTS, _SLEEPER,
            "cortex.sleeping:enter", "either",
        ),
        Command("sleep wake", "wake by hand", _NO_ARGUMENTS, _OPERATOR, "cortex.sleeping:wake", "either"),
        Command(
            "sleep tick", "consolidate if it is time to, else say why not", _NO_ARGUMENTS, _SLEEPER,
            "cortex.sleeping:tick", "either",
        ),
        Command(
            "sleep consolidate", "turn new experience into cards now", _NO_ARGUMENTS, _SLEEPER,
            "cortex.sleeping:consolidate_now", "either",
        ),
        Command("sleep history", "list the last sleeps", _NO_ARGUMENTS, (), "cortex.sleeping:history"),
        Command(
            "sleep config", "show the parameters of sleep, or set one", _SETTING, _OPERATOR,
            "cortex.sleeping:config", "operator", reads_bare=True,
        ),
        Command("cards search", "show the cards that answer a text; nothing is counted", _WORDS, (), "cortex.carding:search"),
        Command(
            "cards recall", "show the cards that answer a text best, and count that they were used", _WORDS,
            ("--allow-write",), "cortex.carding:recall", "agent",
        ),
        Command(
            "cards add", "write a fact on a card", _TITLE, ("--allow-write", "--body", "--kind"), "cortex.carding:add",
            "agent", needed="--body",
        ),
        Command("cards list", "list the cards, the weightiest first", _NO_ARGUMENTS, ("--kind", "--archived"), "cortex.carding:cards"),
        Command("cards stats", "count the cards", _NO_ARGUMENTS, (), "cortex.carding:stats"),
        Command("cards forget", "put a card away; nothing of it is lost", _CARD, _OPERATOR, "cortex.carding:forget", "operator"),
        Command("cards revive", "bring a card back", _CARD, _OPERATOR, "cortex.carding:revive", "operator"),
        *(
            Command(f"hook {event}", summary, _NO_ARGUMENTS, ("--allow-write",), f"cortex.hook_events:{event}", "agent")
            for event, summary in (
                ("prompt", "print the cards that a host is to inject for a prompt"),
                ("step", "tell that the session moved"),
                ("tool", "write down what a tool did"),
                ("stop", "consolidate in the background"),
            )
        ),
        Command(
            "forget", "mark what the policy lets go, or what the user names; nothing moves", _NO_ARGUMENTS,
            (*_OPERATOR, "--vault", "--level", "--match", "--user-signature", "--allow-mass", "--dry-run", "--explain"),
            "cortex.retaining:forget", "operator", reads_with="--explain",
        ),
        Command(
            "archive", "move what is marked out of the memory, to where it is kept", _NO_ARGUMENTS,
            (*_OPERATOR, "--vault", "--dry-run"), "cortex.retaining:archive", "operator",
        ),
        Command(
            "compact", "compress old raw events, or logs that have grown too old or too large", _NO_ARGUMENTS,
            (*_OPERATOR, "--vault", "--observability", "--dry-run"), "cortex.retaining:compact", "operator",
        ),
        Command(
            "recalled", "count that notes were used", _IDS, ("--allow-write", "--dry-run"),
            "cortex.retaining:recalled", "agent",
        ),
        Command(
            "undo", "take back what a plan did, or a part of it", _PLAN,
            (*_OPERATOR, "--vault", "--only", "--dry-run"), "cortex.retaining:undo", "operator",
        ),
    )
}  # fmt: skip
