"""Check the groups of articles: their names, and the parts and verdicts that refer to them."""

from __future__ import annotations

import re
from collections import Counter

from assay.lang import scopes
from assay.lang.check.checker import Checker
from assay.lang.model.article import Article, Part

NAME = re.compile(r"[A-Za-z0-9][\w.-]*")


def check_run_groups(checker: Checker, owner: str, article: Article) -> None:
    """Check the groups of an article, which messages call `owner`, and what refers to them."""
    names = [group.name for group in article.groups]
    for name, count in Counter(names).items():
        if count > 1:
            checker.report("duplicate-group", f"{owner} has several groups `{name}`", name, hint="rename all but one")
        if not NAME.fullmatch(name):
            checker.report(
                "group-name", f"invalid name of a group of {owner}: `{name}`", name or article.name,
                expected="letters, digits, `_`, `.` and `-`", found=f"`{name}`",
            )  # fmt: skip
    for part in article.parts:
        _check_part(checker, owner, article, part)
    titles = Counter(part.title for part in article.parts if names)
    for part in {part.title: part for part in article.parts if titles[part.title] > 1}.values():
        checker.report(
            "duplicate-part", f"{owner} has several parts `{part.title}`", part.group or part.title,
            hint="rename all but one; `A.ofGroup` begins titles with the group's",
        )  # fmt: skip
    used_names = {block.get_group(part) for part in article.parts for block in part.blocks}
    for group in article.groups:
        if group.name not in used_names:
            checker.report(
                "unused-group", f"no part of {owner} shows group `{group.name}`", group.name,
                hint="name it in a part with `A.ofGroup`, or remove it", within=(article.name,),
            )  # fmt: skip
    if article.revision and article.revision not in scopes.collect_constants(checker.package):
        constants = scopes.collect_constants(checker.package)
        checker.report_unknown("constant", article.revision, f"in `revision` of {owner}", constants)


def _check_part(checker: Checker, owner: str, article: Article, part: Part) -> None:
    """Check that a part, and each of its blocks, is about one group if the article has any."""
    names = [group.name for group in article.groups]
    part_owner, within = f"part `{part.title}` of {owner}", (article.name, part.title)
    block_groups = [group for block in part.blocks if (group := getattr(block, "group", ""))]
    for name in dict.fromkeys((part.group, *block_groups)):
        if name and name not in names:
            checker.report_unknown("group", name, f"in {part_owner}", names)
    for name in dict.fromkeys(block_groups):
        if part.group and name != part.group:
            checker.report(
                "other-group", f"a verdict of {part_owner} is about another group", name,
                expected=part.group, found=name,
            )  # fmt: skip
    blocks = [block for block in part.blocks if names and not block.get_group(part)]
    if blocks:
        checker.report(
            "part-group", f"{part_owner} names no group, but shows `{blocks[0].title}` of one",
            part.title if checker.locate(part.title)[0] else article.name,
            expected=f"one of the groups {', '.join(names)}",
            hint="put the part into `A.ofGroup`, or a verdict into `A.verdictOfGroup`", within=within,
        )  # fmt: skip
