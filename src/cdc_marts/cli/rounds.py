"""The rounds of `cdc-marts run`, and what is printed about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from cdc_marts.cli.console import FAILED, errors, say, stop, tell
from cdc_marts.cli.report import write_report
from cdc_marts.cli.session import open_session
from cdc_marts.operations.round_view import lines_of
from cdc_marts.operations.rounds import Rounds, StopRequest, is_alive, run_round
from cdc_marts.printing import counted, one_line
from cdc_marts.project.dbt_commands import outcome_of_dbt
from cdc_marts.project.locks import turn_to_write
from cdc_marts.project.session import explain, known_errors
from cdc_marts.project.target import Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from cdc_marts.landing.outcome import Landing
    from cdc_marts.project.dbt_commands import DbtOutcome


@dataclass(frozen=True)
class Lander:
    """A function that lands new messages in a session, if any, and the jars that it needs."""

    land: Callable[[SparkSession], Iterable[Landing]] | None = None
    packages: Sequence[str] = ()


class RoundRunner:
    """The rounds on a target, and what is printed about them."""

    def __init__(
        self,
        target: Target,
        lander: Lander,
        dbt: Sequence[str],
        report: Path | None,
        is_verbose: bool,
    ) -> None:
        self._target, self._lander = target, lander
        self._dbt, self._report, self._is_verbose = dbt, report, is_verbose

    def run_once(self) -> bool:
        """Run one round, and return whether it succeeded."""
        with open_session(self._target, packages=self._lander.packages) as session:
            return self._round(session, 1)

    def repeat(self, every: float, max_failures: int | None) -> bool:
        """Run rounds until they end, and return whether somebody asked for the end."""
        from dbt_common.exceptions import DbtRuntimeError

        stop_request = StopRequest(
            lambda: say("Stopping after this round. Another signal abandons it.")
        )
        rounds = Rounds(every, stop_request, max_failures)

        def in_turn(number: int) -> bool:
            with ExitStack() as turn:
                try:
                    turn.enter_context(turn_to_write(self._target, say))
                except DbtRuntimeError as error:  # another process did not end in time
                    say(f"Round {number} failed: {explain(error, self._target)}")
                    has_succeeded = False
                else:
                    has_succeeded = self._round(session, number)
            if not has_succeeded and not is_alive(session):
                stop("Spark's Java process has ended. Start the command again.", FAILED)
            return has_succeeded

        def rest(seconds: float) -> None:
            if rounds.failures:
                say(
                    f"{counted(rounds.failures, 'round')} failed in a row. The next one begins in"
                    f" {seconds:.0f} s."
                )

        with open_session(self._target, packages=self._lander.packages) as session:
            try:
                with stop_request.by_signals():
                    was_asked_to_end = rounds.run(in_turn, rest)
            except KeyboardInterrupt:
                say("The round was abandoned. The next run does the rest.")
                was_asked_to_end = True
        if not was_asked_to_end:
            say(f"Gave up after {counted(rounds.failures, 'failed round')} in a row.")
        return was_asked_to_end

    def _round(self, session: SparkSession, number: int) -> bool:
        with errors.status("Landing") as status:

            def build() -> DbtOutcome:
                if self._is_verbose:
                    status.stop()
                    return outcome_of_dbt(self._dbt, self._target)
                command = [*self._dbt, "--quiet"]
                status.update(f"dbt {self._dbt[0]}")
                return outcome_of_dbt(
                    command,
                    self._target,
                    lambda ended, total: status.update(
                        f"dbt {self._dbt[0]}: {ended} of {total} nodes"
                    ),
                )

            land = self._lander.land
            done = run_round(
                number,
                None if land is None else lambda: land(session),
                build,
                lambda error: explain(error, self._target, "Spark failed: "),
            )
        for line in lines_of(done, f"dbt {self._dbt[0]}"):
            tell(line)
        has_report = self._report is None or self._write_report(session, self._report)
        return done.failure is None and has_report

    def _write_report(self, session: SparkSession, output: Path) -> bool:
        """Write the page and return whether it was written. The next round tries again."""
        try:
            with errors.status("Reporting"):
                write_report(session, self._target, output)
        except known_errors() as error:
            say(f"The report failed: {one_line(explain(error, self._target))}")
        except OSError as error:
            say(f"The page can't be written to {output}: {error.strerror}.")
        else:
            return True
        return False
