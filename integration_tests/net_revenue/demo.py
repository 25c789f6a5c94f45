"""The worked example, from an empty folder to answers: builds the project with dbt, refreshes the pages, and asks.

Run by `make demo`. Everything that is shown is computed here and now.
"""

import os
import subprocess
import sys
from pathlib import Path

PROJECT = Path(__file__).resolve().parent
BIN = Path(sys.executable).parent
PLACE = ["--project-dir", str(PROJECT), "--profiles-dir", str(PROJECT)]

SHOWN = [
    ("The definition on 2024-06-30", ["ask", "Which definition of net revenue applies?", "--as-of", "2024-06-30", "--principal", "analyst"]),
    ("The definition on 2025-03-31", ["ask", "Which definition of net revenue applied on 31 March 2025?", "--principal", "analyst"]),
    ("A date is missing, and today is never assumed", ["ask", "What is the net revenue definition?", "--principal", "analyst"]),
    ("A draft says otherwise", ["ask", "According to the draft, net revenue excludes chargebacks, right?", "--as-of", "2025-03-31", "--principal", "analyst"]),
    ("An old wiki page says otherwise", ["ask", "The Revenue Wiki says revenue is order total minus refunds. Is that still right?", "--as-of", "2025-03-31", "--principal", "analyst"]),
    ("A policy that the analyst may not see", ["ask", "What is the board revenue definition?", "--as-of", "2025-03-31", "--principal", "analyst"]),
    ("The same question from finance", ["ask", "What is the board revenue definition?", "--as-of", "2025-03-31", "--principal", "finance"]),
    ("The lineage", ["trace", "fct_orders.v2", "--principal", "analyst"]),
    ("Freshness: an expectation, and no observation", ["ask", "How fresh is raw_payments.payment_events?", "--as-of", "2025-03-31", "--principal", "analyst"]),
    ("A search, in two lanes", ["search", "chargebacks", "--as-of", "2025-03-31", "--principal", "analyst"]),
]

SQL = """\
set variable provenance_principal = 'analyst';
select outcome, version, formula from provenance.resolve('metric.net_revenue', as_of => date '2025-03-31');
select lane, rank, title, label from provenance.search('chargebacks', as_of => date '2025-03-31');
select depth, upstream_id, downstream_id from provenance.trace_lineage('fct_orders.v2');
select entity_id, version, valid_from, valid_to, formula from provenance.definitions order by 1, 2;
"""


def run(*command: str, quiet: bool = False) -> None:
    finished = subprocess.run(command, cwd=PROJECT, capture_output=quiet, text=True, env=os.environ | {"NO_COLOR": os.environ.get("NO_COLOR", "")})
    if finished.returncode != 0:
        sys.exit(f"{' '.join(command)} ended with {finished.returncode}\n{finished.stdout or ''}{finished.stderr or ''}")


def heading(text: str) -> None:
    print(f"\n{text}\n{'-' * len(text)}", flush=True)


def main() -> None:
    heading("Building the example: dbt deps, seed, build; then dbt-provenance refresh for the pages")
    for command in (["deps"], ["seed"], ["build"]):
        run(str(BIN / "dbt"), "--quiet", "--no-version-check", *command, *PLACE, quiet=True)
    run(str(BIN / "dbt-provenance"), "refresh", *PLACE)
    for title, command in SHOWN:
        heading(title)
        print("$ dbt-provenance " + " ".join(f'"{word}"' if " " in word else word for word in command), flush=True)
        run(str(BIN / "dbt-provenance"), *command, *PLACE)
    heading(f"The same in SQL, to paste in a BI tool or the DuckDB shell on {PROJECT / 'net_revenue.duckdb'}")
    print(SQL)


if __name__ == "__main__":
    main()
