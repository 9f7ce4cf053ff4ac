#!/usr/bin/env python3
"""Shows that status.py reads test names as meant and reports each kind of disagreement."""

import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
import status

NAMES = [
    ("R4340_CLS_01_ClosesCleanly", ["R4340-CLS-01"]),
    ("R4340_AV_06_DD_04_Bug_C35_AFullQueue", ["R4340-AV-06", "R4340-DD-04", "Bug-C35"]),
    ("Bug_A5_EVT_16_ASecondCloseReq", ["Bug-A5", "R4340-EVT-16"]),
    ("Bug_C3_C4_AbortIsAReset", ["Bug-C3", "Bug-C4"]),
    ("R4341_RTO_01_Bug_D11_OneSample", ["R4341-RTO-01", "Bug-D11"]),
    ("Cve_2011_1770_Bug_B9_TooShort", ["Cve-2011-1770", "Bug-B9"]),
    ("R4340_SEQ_19_BlindAttack_TheVictim", ["R4340-SEQ-19"]),
    ("R4340_NoItem", []),
]

LIST = "\n".join([
    "id\tsection\tlevel\ttext\thow",
    "R4340-CLS-01\t§8.3\tMUST\tCloses\t",
    "R4340-CLS-02\t§8.3\tMUST\tNeither test nor reason\t",
    "R4340-CLS-03\t§8.3\tMUST\tA reason\treview: look there",
    "R4340-CLS-03\t§8.3\tMUST\tTwice\treview: look there",
    "R4340-CLS-04\t§8.3\tMUST\tNo reason at all\tbecause",
    "R4340-NIX-01\t§8.3\tMUST\tNo such section\t",
    "R4340-CLS-05\tthree fields only",
]) + "\n"
TESTS = "TEST(Close, R4340_CLS_01_Closes) {\nTEST_P(Close, R4340_CLS_77_Unknown) {\nTEST(C, R4340_X) {\n"
COMPLAINTS = [
    "R4340-CLS-02 has neither",
    "R4340-CLS-03 is there twice",
    "'because' is neither",
    "no section for R4340-NIX-01",
    "five fields are due",
    "names R4340-CLS-77, which",
    "R4340_X names an RFC and no",
    "STATUS.md: out of date",
    "README.md: out of date",
]


def run_in(root, arguments):
    """status.py's exit status and what it printed, on the tree at `root`."""
    status.ROOT, status.HERE = root, root / "tests/conformance"
    status.LIST, status.STATUS = status.HERE / "requirements.tsv", status.HERE / "STATUS.md"
    status.README = root / "README.md"
    sys.argv = ["status.py", *arguments]
    printed = root / "printed"
    with printed.open("w") as out:
        before, sys.stdout = sys.stdout, out
        try:
            code = status.main()
        finally:
            sys.stdout = before
    return code, printed.read_text()


def main():
    faults = [f"{name}: {status.ids_of(name)}" for name, ids in NAMES if status.ids_of(name) != ids]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "tests/conformance").mkdir(parents=True)
        (root / "tests/conformance/requirements.tsv").write_text(LIST)
        (root / "tests/conformance/close_test.cc").write_text(TESTS)
        (root / "README.md").write_text(f"before\n{status.BEGIN}\n{status.END}\nafter\n")
        code, printed = run_in(root, ["--check"])
        faults += [f"not reported: {text}" for text in COMPLAINTS if text not in printed or code != 1]

        (root / "tests/conformance/requirements.tsv").write_text(
            "R4340-CLS-01\t§8.3\tMUST\tCloses\t\nBug-A1\tA\tfailure\tLater\tlater: not now\n")
        (root / "tests/conformance/close_test.cc").write_text(TESTS.splitlines()[0] + "\n")
        run_in(root, [])
        code, printed = run_in(root, ["--check"])
        if code != 0 or printed:
            faults.append(f"what it wrote does not please it: {printed}")
        (root / "tests/conformance/a_test.cc").write_text("TEST(A, Bug_A1_Now) {\n")
        run_in(root, [])
        if "later" in (root / "tests/conformance/requirements.tsv").read_text():
            faults.append("an item with a test is still for later")
        readme = (root / "README.md").read_text()
        if not (readme.startswith("before\n") and readme.endswith("\nafter\n")):
            faults.append("README.md lost what was around the markers")
    print("\n".join(faults), end="\n" if faults else "")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
