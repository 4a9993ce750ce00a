"""Files that are damaged, foreign, full or taken: one sentence each, and never a new beginning."""

import os
import sqlite3
import subprocess
import sys
import threading

import numpy as np
import pytest

import tailguard as tg
from tailguard.ledger import file

SMALL = tg.Privacy(0.01)


@pytest.fixture
def session(path):
    session = tg.Session(path, epsilon=1.0)
    for k in range(20):
        session.charge_other(SMALL, f"charge {k}")
    return session


def refusals(path):
    """What a session, a charge and a fit say about a file; all of them refuse."""
    X = np.zeros((100, 1))
    said = []
    for act in (
        lambda: tg.Session(path),
        lambda: tg.Session(path, epsilon=1.0),
        lambda: tg.Mean(session=str(path), epsilon=1e3).fit(X),
    ):
        with pytest.raises(tg.LedgerError) as caught:
            act()
        said.append(str(caught.value))
    return said


@pytest.mark.parametrize("content", [b"", b"nonsense", b"PAR1" * 500, b"SQLite format 3\0" + b"\0" * 4080])
def test_files_that_are_no_ledger_are_refused_and_kept(path, content):
    path.write_bytes(content)
    for sentence in refusals(path):
        assert "ledger" in sentence
        assert sentence.count(".") <= 3
    assert path.read_bytes() == content


def test_a_database_of_something_else_is_refused_and_kept(path):
    with sqlite3.connect(path) as other:
        other.execute("CREATE TABLE charges (number INTEGER)")
    other.close()
    before = path.read_bytes()
    assert all("another program" in sentence for sentence in refusals(path))
    assert path.read_bytes() == before


def test_a_ledger_of_another_version_is_refused(path, session):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    assert all("version 2" in sentence for sentence in refusals(path))


@pytest.mark.parametrize("size", [0, 1, 100, 4096, 6000, 8192, 12288])
def test_truncated_ledgers_are_refused(path, session, size):
    whole = path.read_bytes()
    assert size < len(whole)
    path.write_bytes(whole[:size])
    refusals(path)
    assert path.read_bytes() == whole[:size]


def test_a_flipped_byte_is_noticed_or_harmless(path, session):
    """Wherever it is: either the file is refused, or it still says exactly what it said."""
    whole = path.read_bytes()
    truth = session.statement()
    refused = 0
    for place in np.random.default_rng(0).integers(len(whole), size=300):
        damaged = bytearray(whole)
        damaged[place] ^= 0x15
        path.write_bytes(bytes(damaged))
        try:
            assert tg.Session(path).statement() == truth
        except tg.LedgerError:
            refused += 1
    assert refused > 40  # the rest are flips in empty parts of pages


@pytest.mark.parametrize(
    "edit",
    [
        "UPDATE charges SET body = replace(body, '0.01', '0.001') WHERE number = 7",
        "DELETE FROM charges WHERE number = 20",
        "DELETE FROM charges WHERE number = 7",
        "DELETE FROM charges",
        "DELETE FROM head",
        "DELETE FROM terms",
        "UPDATE terms SET body = replace(body, '\"epsilon\":1.0', '\"epsilon\":9.0')",
        "INSERT INTO terms SELECT * FROM terms",
        "UPDATE head SET count = 19",
        "UPDATE charges SET number = 99 WHERE number = 20",
        "UPDATE charges SET link = (SELECT link FROM charges WHERE number = 1) WHERE number = 2",
        "DROP TABLE charges",
        "UPDATE charges SET body = 'x' WHERE number = 3",
    ],
)
def test_edits_by_hand_are_noticed(path, session, edit):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(edit)
    assert connection.total_changes or edit.startswith("DROP")
    connection.close()
    assert all("damaged" in sentence for sentence in refusals(path))
    with pytest.raises(tg.LedgerError, match="damaged"):
        session.charge_other(SMALL, "one more")


def test_a_line_that_was_charged_too_little_is_found_by_its_events(path, tmp_path, monkeypatch):
    """Somebody who recomputes all links still has to change the events, and with them the plan's."""
    session = tg.Session(path, epsilon=1.0, delta=1e-6)
    session.charge(tg.Mean(epsilon=0.5).plan(20_000, 1))
    connection = sqlite3.connect(path, isolation_level=None)
    ((terms,),) = connection.execute("SELECT body FROM terms").fetchall()
    ((body,),) = connection.execute("SELECT body FROM charges").fetchall()
    cheap = body.replace('"rho":0.0', '"rho":0.00')
    last = file.link(file.link("", terms), cheap)
    connection.execute("UPDATE charges SET body = ?, link = ?", (cheap, last))
    connection.execute("UPDATE head SET link = ?", (last,))
    connection.close()
    assert session.statement().charges[0].rho < 0.001
    with pytest.raises(tg.LedgerError, match="charged too little for line 1"):
        session.check()


def test_a_missing_ledger_is_not_made_by_a_fit(path):
    for act in (lambda: tg.Session(path), lambda: tg.Mean(session=str(path)).fit(np.zeros((10_000, 1)))):
        with pytest.raises(tg.LedgerError, match="There is no ledger"):
            act()
    assert not path.exists()


def test_the_remains_of_a_ledger_forbid_a_new_one(path):
    for name in ("ledger.db-wal", "ledger.db-shm", "ledger.db-journal"):
        remains = path.parent / name
        remains.write_bytes(b"")
        with pytest.raises(tg.LedgerError, match="is left of one: restore it"):
            tg.Session(path, epsilon=1.0)
        assert not path.exists()
        remains.unlink()


def test_a_ledger_that_was_replaced_is_noticed(path, session):
    path.unlink()
    tg.Session(path, epsilon=1.0)
    with pytest.raises(tg.LedgerError, match="replaced"):
        session.charge_other(SMALL, "one more")


def test_a_folder_that_does_not_exist(path):
    with pytest.raises(tg.LedgerError, match="cannot be made there"):
        tg.Session(path.parent / "nowhere" / "ledger.db", epsilon=1.0)
    with pytest.raises(tg.LedgerError, match="cannot be made there"):
        tg.Session(path.parent / ("x" * 300), epsilon=1.0)
    with pytest.raises(tg.LedgerError, match="no ledger"):
        tg.Session(path.parent, epsilon=1.0)


def test_another_writer_is_waited_for_but_not_for_ever(path, session, monkeypatch):
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    monkeypatch.setattr(file, "PATIENCE", 0.05)
    with pytest.raises(tg.LedgerError, match="Another program has held"):
        session.charge_other(SMALL, "refused")
    monkeypatch.setattr(file, "PATIENCE", 30.0)
    waiting = threading.Timer(0.2, other.close)
    waiting.start()
    assert session.charge_other(SMALL, "after a while").number == 21
    waiting.join()


FULL = """
import resource, sys
import tailguard as tg
session = tg.Session(sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), int(sys.argv[2])))
for k in range(5):
    try:
        session.charge_other(tg.Privacy(0.01), "x" * 3000)
        print("charged")
    except tg.LedgerError as error:
        print(error)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of files are a matter of POSIX")
@pytest.mark.parametrize("limit", [0, 12_000])
def test_a_full_disk_is_an_error_and_the_ledger_stays_good(path, session, limit):
    """A file that may not grow fails like a full disk; what did not get to the disk was not charged."""
    done = subprocess.run(
        [sys.executable, "-c", FULL, str(path), str(limit)], capture_output=True, text=True, env={**os.environ}
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) == 5
    failed = [line for line in lines if line != "charged"]
    assert failed
    assert all("cannot be written, perhaps because the disk is full" in line for line in failed)
    assert len(session.check().charges) >= 20 + lines.count("charged")
    assert session.charge_other(SMALL, "there is room again").number > 20


def test_two_programs_that_make_the_same_ledger_share_it(path, monkeypatch):
    """The slower one finds the name taken at the last moment, and takes what is there."""
    true = os.link

    def late(source, target):
        monkeypatch.setattr(os, "link", true)
        tg.Session(path, epsilon=1.0).charge_other(SMALL, "the faster one")
        true(source, target)

    monkeypatch.setattr(os, "link", late)
    assert [charge.label for charge in tg.Session(path, epsilon=1.0).statement().charges] == ["the faster one"]
    monkeypatch.setattr(os, "link", late)
    path.unlink()
    with pytest.raises(tg.ParameterError, match="as in the ledger"):
        tg.Session(path, epsilon=2.0)
    assert {entry.name for entry in path.parent.iterdir()} == {"ledger.db"}
