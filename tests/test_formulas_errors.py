"""Bad formulas, examples and classes, as the command line answers them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import assay
from tests.support.drives import drives

Edits = dict[str, str]
PAID = "X.over (S.source.constant constant.paid) (M.value rate)"
SUM = "X.plus (M.value writes.binary) (X.times (M.value elsewhere) (X.quantity 2.0 U.hour))"
BY_YEAR = "X.times (X.over A.amount (M.value writes.decimal)) formulas.year"
LEAST = "(X.quantity 1.0 U.kibibyte)"
YEAR = "X.times (M.value rate) year"
EXAMPLES = "//  { examples"

#: the slip -> edits of the package, edits of the formulas that it takes, what is said
SLIPS: dict[str, tuple[Edits, Edits, str]] = {
    "a rate for an amount": (
        {},
        {YEAR: "M.value rate"},
        """\
error[unit]: the formula of metric `disk_writes_per_year` comes out in a unit that does not convert to its own
  at specs/antelope/formulas.dhall:27:35
    27 |                       , formula = aYearOf rate
       |                                   ^^^^^^^^^^^^
  expected: terabyte
  found:    megabyte / second
  hint: a factor in `second` is lacking in: disk_write_rate

error[unit]: the formula of metric `disk_writes_per_year_binary` comes out in a unit that does not convert to its own
  at specs/antelope/formulas.dhall:41:35
    41 |                       , formula = aYearOf rate
       |                                   ^^^^^^^^^^^^
  expected: tebibyte
  found:    megabyte / second
  hint: a factor in `second` is lacking in: disk_write_rate
""",
    ),
    "a product for a quotient": (
        {PAID: PAID.replace("over", "times")},
        {},
        """\
error[unit]: the formula of metric `paid_lasts` comes out in a unit that does not convert to its own
  at specs/drives/package.dhall:97:25
    97 |             , formula = X.times (S.source.constant constant.paid) (M.value rate)
       |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: year
  found:    megabyte * terabyte / second
  hint: a factor in `second ** 2 / byte ** 2` is lacking in: paid × disk_write_rate
""",
    ),
    "a sum of an amount and a rate": (
        {SUM: "X.plus (M.value writes.binary) (M.value elsewhere)"},
        {},
        """\
error[unit]: the formula of metric `mixed` adds or compares units that do not convert
  at specs/drives/package.dhall:116:13
    116 |             X.greatest
        |             ^^^^^^^^^^
  expected: tebibyte
  found:    gibibyte / day
""",
    ),
    "an unknown unit": (
        {LEAST: '(X.quantity 1.0 (U.unit "kibbyte" ""))'},
        {},
        """\
error[unknown-unit]: the formula of metric `mixed` is in an unknown unit `kibbyte`
  at specs/drives/package.dhall:121:39
    121 |               (X.quantity 1.0 (U.unit "kibbyte" ""))
        |                                       ^^^^^^^^^
  hint: did you mean `kibibyte` or `kilobyte` or `gibibyte`?
""",
    ),
    "a metric that the package does not list": (
        {"metrics = [ rate, ofDrives, elsewhere": "metrics = [ rate, elsewhere"},
        {},
        """\
error[unknown-metric]: the formula of metric `mixed` refers to an unknown metric `rate_of_drives`
  at specs/drives/package.dhall:116:13
    116 |             X.greatest
        |             ^^^^^^^^^^
  hint: is it in the package's `metrics`? there are `disk_write_rate`, `disk_writes_per_year`, \
`disk_writes_per_year_binary`, `mixed`, `paid_lasts`, `rate_elsewhere`

error[unknown-metric]: report `writes` shows a metric that its package does not list: `rate_of_drives`
  at specs/drives/package.dhall:86:31
    86 | let ofDrives = rate // { id = "rate_of_drives", per = "drive" }
       |                               ^^^^^^^^^^^^^^^^
  hint: add it to the package's lists
""",
    ),
    "a metric that is misspelt": (
        {"(M.value writes.binary)": "(M.value writes.binry)"},
        {},
        """\
error[dhall-type]: unknown field `binry` in `writes`
  at specs/drives/package.dhall:118:43
    118 |                   (X.plus (M.value writes.binry) (X.times (M.value elsewhere) (X.quantity 2.0 U.hour)))
        |                                           ^^^^^
  hint: did you mean `binary`?
""",
    ),
    "a formula over itself": (
        {
            "metrics = [ rate,": 'metrics = [ rate // { measure = M.value paid, grain = "" },',
            "R.cdf rate": "R.cdf ofDrives",
        },
        {},
        """\
error[cycle]: metric `disk_write_rate` is a formula over itself: disk_write_rate -> paid_lasts -> disk_write_rate
  at specs/drives/package.dhall:77:14
    77 |       , id = "disk_write_rate"
       |              ^^^^^^^^^^^^^^^^^
  hint: break the circle: one of these must be measured

error[unit]: the formula of metric `disk_write_rate` comes out in a unit that does not convert to its own
  at specs/drives/package.dhall:173:39
    173 |     , metrics = [ rate // { measure = M.value paid, grain = "" }, ofDrives, elsewhere, writes.decimal, \
writes.binary, p…
        |                                       ^^^^^^^^^^^^
  expected: megabyte / second
  found:    year
  hint: a factor in `byte / second ** 2` is lacking in: paid_lasts
""",
    ),
    "a column of a grain in a formula": (
        {LEAST: "(X.column c.rate)"},
        {},
        """\
error[unknown-column]: the formula of metric `mixed` refers to an unknown column `rate`
  at specs/drives/package.dhall:116:13
    116 |             X.greatest
        |             ^^^^^^^^^^
  hint: a formula is over values of metrics (`M.value`), not over what rows have
""",
    ),
    "a word that is no arithmetic": (
        {LEAST: "(X.floor (M.value writes.binary))"},
        {},
        """\
error[type]: the formula of metric `mixed` is no arithmetic over values of metrics
  at specs/drives/package.dhall:116:13
    116 |             X.greatest
        |             ^^^^^^^^^^
  expected: arithmetic over values of metrics
  found:    floor in floor(metric disk_writes_per_year_binary)
""",
    ),
    "a condition on the rows of a formula": (
        {EXAMPLES: EXAMPLES.replace("examples", "where = X.yes, examples")},
        {},
        """\
error[formula]: metric `paid_lasts` is a formula, which measures no rows: `where` means nothing there
  at specs/drives/package.dhall:94:20
    94 |             { id = "paid_lasts"
       |                    ^^^^^^^^^^^^
  hint: `where` belongs to the metrics that it is over
""",
    ),
    "another grain than that of its metrics": (
        {EXAMPLES: EXAMPLES.replace("examples", 'grain = "other", examples')},
        {},
        """\
error[formula]: metric `paid_lasts` is a formula of another grain than it says
  at specs/drives/package.dhall:94:20
    94 |             { id = "paid_lasts"
       |                    ^^^^^^^^^^^^
  expected: row
  found:    other
  hint: `M.formula` leaves the grain to the metrics
""",
    ),
    "a chart of a formula": (
        {"R.cdf rate": "R.cdf paid"},
        {},
        """\
error[chart-of-formula]: report `writes` has a chart of `paid_lasts`, a formula, which has no distribution
  at specs/drives/package.dhall:94:20
    94 |             { id = "paid_lasts"
       |                    ^^^^^^^^^^^^
  hint: a section can show it
""",
    ),
    "a formula of two grains on rows": (
        {"[ rate, writes.decimal ] ]": "[ rate, mixed ] ]"},
        {},
        """\
error[other-grain]: part `Disk` of article `endurance` shows metric `mixed`, which is of another grain than its rows
  at specs/drives/package.dhall:149:26
    149 |           , listings = [ A.listing "Rows" row [ c.drive ] [ rate, mixed ] ]
        |                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  expected: row
  found:    none: it is a formula over metrics of several grains
""",
    ),
    "an example that does not come out": (
        {},
        {'"126.1"': '"120.3"'},
        """\
error[example]: an example of metric `disk_writes_per_year` does not come out: disk_write_rate = 4 MB/s
  at specs/antelope/formulas.dhall:32:48
    32 |                       [ example 4.0 U.megabyte "120.3" U.terabyte "prefixes of 1000 throughout"
       |                                                ^^^^^^^
  expected: 120.3 TB
  found:    126.1 TB
  note: exactly 15768/125 terabyte
  hint: the example, the formula or a unit is wrong: a prefix of 1000 for one of 1024?
""",
    ),
    "an example that divides by zero": (
        {"M.given rate 4.0": "M.given rate 0.0"},
        {},
        """\
error[example]: an example of metric `paid_lasts` does not come out: paid = 252.288 TB, disk_write_rate = 0 MB/s
  at specs/drives/package.dhall:103:19
    103 |                   "2.000"
        |                   ^^^^^^^
  expected: 2.000 years
  found:    no value (division by zero: disk_write_rate is 0)
  hint: the example, the formula or a unit is wrong: a prefix of 1000 for one of 1024?
""",
    ),
    "an example that lacks a value": (
        {"M.givenConstant constant.paid 252.288 U.terabyte, ": ""},
        {},
        """\
error[example]: an example of metric `paid_lasts` does not give a value to just what the formula is over
  at specs/drives/package.dhall:103:19
    103 |                   "2.000"
        |                   ^^^^^^^
  expected: paid, disk_write_rate
  found:    disk_write_rate
""",
    ),
    "an example of another unit": (
        {"M.given rate 4.0 (U.perSecond U.megabyte)": "M.given rate 4.0 U.megabyte"},
        {},
        """\
error[unit]: an example of metric `paid_lasts` has a value in a unit that does not convert
  at specs/drives/package.dhall:77:14
    77 |       , id = "disk_write_rate"
       |              ^^^^^^^^^^^^^^^^^
  expected: megabyte / second
  found:    megabyte
""",
    ),
    "an example without a number": (
        {'"2.000"': '"two"'},
        {},
        """\
error[example]: an example of metric `paid_lasts` has a value that is no decimal number
  at specs/drives/package.dhall:103:19
    103 |                   "two"
        |                   ^^^^^
  found:    two
""",
    ),
    "examples of what is no formula": (
        {'per = "drive" }': 'per = "drive", examples = [ M.example ([] : List M.Given) "1" U.year "" ] }'},
        {},
        """\
error[example]: metric `rate_of_drives` has worked examples and is no formula
  at specs/drives/package.dhall:86:31
    86 | let ofDrives = rate // { id = "rate_of_drives", per = "drive", examples = [ M.example ([] : List M.Given) \
"1" U.year ""…
       |                               ^^^^^^^^^^^^^^^^
""",
    ),
    "a class of no amount": (
        {BY_YEAR: BY_YEAR},
        {'"300 TBW" 300.0': '"300 TBW" 0.0'},
        """\
error[class]: class `300 TBW` of table `Years until a drive is used up` in part `Disk` of article `endurance` has \
no amount
  at specs/antelope/formulas.dhall:57:15
    57 |       , bears "300 TBW" 0.0
       |               ^^^^^^^^^
  expected: a number above 0, in terabyte
  found:    0.0
  note: 1 more like it

error[class]: class `300 TBW` of table `By the year` in part `Disk` of article `endurance` has no amount
  at specs/antelope/formulas.dhall:57:15
    57 |       , bears "300 TBW" 0.0
       |               ^^^^^^^^^
  expected: a number above 0, in terabyte
  found:    0.0
""",
    ),
    "classes of two kinds": (
        {"classes = formulas.drives": 'classes = formulas.drives # [ A.class "a year" 1.0 U.year ]'},
        {},
        """\
error[unit]: class `a year` of table `By the year` in part `Disk` of article `endurance` has an amount of another \
kind than the first one
  at specs/drives/package.dhall:155:57
    155 |                 , classes = formulas.drives # [ A.class "a year" 1.0 U.year ]
        |                                                         ^^^^^^^^
  expected: terabyte
  found:    year
""",
    ),
    "two classes of a name": (
        {"classes = formulas.drives": 'classes = formulas.drives # [ A.class "300 TBW" 1.0 U.terabyte ]'},
        {},
        """\
error[class]: table `By the year` in part `Disk` of article `endurance` has 2 classes called `300 TBW`
  at specs/antelope/formulas.dhall:57:15
    57 |       , bears "300 TBW" 300.0
       |               ^^^^^^^^^
  hint: rename all but one
""",
    ),
    "no classes": (
        {"classes = formulas.drives": "classes = [] : List A.Class"},
        {},
        """\
error[class]: table `By the year` in part `Disk` of article `endurance` is against no classes
  at specs/drives/package.dhall:153:27
    153 |                 { title = "By the year"
        |                           ^^^^^^^^^^^^^
  hint: name some in `classes`
""",
    ),
    "classes whose formula does not come out": (
        {BY_YEAR: "X.over A.amount (M.value writes.decimal)"},
        {},
        """\
error[unit]: the formula of table `By the year` in part `Disk` of article `endurance` comes out in a unit that \
does not convert to its own
  at specs/drives/package.dhall:153:27
    153 |                 { title = "By the year"
        |                           ^^^^^^^^^^^^^
  expected: year
  found:    dimensionless
  hint: a factor in `second` is lacking in: class / disk_writes_per_year
""",
    ),
    "classes across an unknown column": (
        {"A.across c.drive": 'A.across (c.drive // { name = "drives" })'},
        {},
        """\
error[unknown-column]: table `Years until a drive is used up` in part `Disk` of article `endurance` calls rows by \
an unknown column `drives` of grain `row`
  at specs/drives/package.dhall:159:45
    159 |             , A.across (c.drive // { name = "drives" }) (formulas.usedUp rate)
        |                                             ^^^^^^^^
  hint: did you mean `drive`?
""",
    ),
    "classes across rows of two grains": (
        {
            "A.across c.drive (formulas.usedUp rate)": "A.across c.drive (formulas.usedUp rate) // "
            "{ value = X.times (M.value mixed) (X.over A.amount A.amount), unit = U.gibibyte }"
        },
        {},
        """\
error[other-grain]: table `Years until a drive is used up` in part `Disk` of article `endurance` has a column for \
each row of a grain, and its metrics are not all of one
  at specs/antelope/formulas.dhall:66:21
    66 |           { title = "Years until a drive is used up"
       |                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  found:    none
""",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_told_with_its_place_and_what_was_expected(tmp_path: Path, cache: Path, slip: str) -> None:
    package, formulas, due = SLIPS[slip]
    done = assay("check", "--cache", cache, within=drives(tmp_path, package, formulas))
    assert (done.status, done.out, done.err) == (1, "", due)
