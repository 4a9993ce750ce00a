"""Eight processes, fifty charges each, killed at random: spending is never hidden and never beyond the budget."""

import multiprocessing
import os
import random
import signal
import sys
import time
from itertools import count

import pytest

import tailguard as tg

PROCESSES, EACH, CARRIED, OVER = 8, 50, 300, "killing is over"
SMALL = tg.Privacy(1.0 / 512.0)  # a power of two: 300 of them are the budget, exactly


def work(path, out, life, todo):
    """Charge, and tell the world right afterwards: the line in `out` stands for a release."""
    session, dice = tg.Session(path), random.Random(life)
    with open(out, "a") as world:
        for k in range(todo):
            time.sleep(dice.uniform(0.0, 0.02))
            try:
                receipt = session.charge_other(SMALL, f"{life}, {k}")
            except tg.BudgetError:
                return
            world.write(f"{receipt.number} {life}, {k}\n")
            world.flush()
            # However fast the disk, half of the budget is left for those who are started when the killing is over.
            while receipt.number > CARRIED // 2 and not (path.parent / OVER).exists():
                time.sleep(0.001)


def told(folder):
    """Every release that got out: number of the line of the ledger, and what was released."""
    lines = [line for file in folder.glob("out-*") for line in file.read_text().splitlines(keepends=True)]
    whole = [line.rstrip("\n").split(" ", 1) for line in lines if line.endswith("\n")]
    return {int(number): label for number, label in whole}, len(whole)


@pytest.mark.skipif(sys.platform == "win32", reason="kill -9 is a matter of POSIX")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_processes_killed_at_random_hide_nothing(path):
    session = tg.Session(path, epsilon=CARRIED / 512.0)
    context, dice, lives = multiprocessing.get_context("fork"), random.Random(0), count()
    running, started, killed = [], 0, 0
    deadline = time.monotonic() + 60.0
    while started < PROCESSES * 6 or running:
        while len(running) < PROCESSES and started < PROCESSES * 6:
            life = next(lives)
            process = context.Process(target=work, args=(path, path.parent / f"out-{life}", life, EACH))
            process.start()
            running.append(process)
            started += 1
        time.sleep(dice.uniform(0.0, 0.03))
        victim = dice.choice(running)
        # The last ones live: they find the budget spent, whatever the others left behind.
        if victim.is_alive() and started < PROCESSES * 6:
            os.kill(victim.pid, signal.SIGKILL)
            killed += 1
        if started == PROCESSES * 6:
            (path.parent / OVER).touch()
        if dice.random() < 0.3:
            session.statement()  # readable at any moment
        assert all(process.exitcode in (None, 0, -signal.SIGKILL) for process in running)
        running = [process for process in running if process.is_alive()]
        assert time.monotonic() < deadline
    statement = tg.Session(path).check()
    released, lines = told(path.parent)
    recorded = {charge.number: charge.label for charge in statement.charges}
    assert killed > 10
    assert lines == len(released) > 100
    assert released.items() <= recorded.items()
    assert len(recorded) == len(set(recorded.values())) == CARRIED
    assert statement.spent == statement.privacy.epsilon
