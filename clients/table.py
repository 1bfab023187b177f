"""The table in docs/clients.md: the results of the last run of all clients. Each run checks it."""

from pathlib import Path

PAGE = Path(__file__).parent.parent / "docs/clients.md"
BEGIN, END = "<!-- make clients -->", "<!-- end -->"
COLUMNS = ["list", "call", "list change", "question", "progress", "cancel", "one daemon"]


def row(name, result):
    cells = [result.get(column, "–") for column in COLUMNS]
    return f"| {name} {result['version']} | {' | '.join(cells)} |"


def check_table(results):
    """Reports rows that differ from the results. Failed and skipped clients are not compared."""
    rows = PAGE.read_text().split(BEGIN)[1].split(END)[0].splitlines()
    wanted = {name: row(name, result) for name, result in results.items() if result and result["version"]}
    missing = [line for line in wanted.values() if line not in rows]
    return [f"docs/clients.md has no such row; `make clients CLIENTS=--write-table` rewrites the table: {line}" for line in missing]


def write_table(results):
    before, rest = PAGE.read_text().split(BEGIN)
    after = rest.split(END)[1]
    head = f"| client | {' | '.join(COLUMNS)} |\n|---|{'---|' * len(COLUMNS)}"
    rows = "\n".join(row(name, result) for name, result in results.items() if result["version"])
    PAGE.write_text(f"{before}{BEGIN}\n{head}\n{rows}\n{END}{after}")
