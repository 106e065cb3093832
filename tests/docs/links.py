#!/usr/bin/env python3
"""links.py TREE: links between the documents lead to files and headings that exist, the index in
docs/README.md has every document, paths of our own sources named in them are there, and the
laboratory's page and its README cite the same write-ups."""
import pathlib
import re
import sys

TREE = pathlib.Path(sys.argv[1]).resolve()
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# `src/apsp/closure/cpu.c`, with or without a brace or star, which stand for several
NAMED = re.compile(r"`((?:src|lab|tests|tools|include|examples|bench|cmake|docs)/[\w./+-]*\w)/?`")


def anchors(text):
    """What GitHub makes of headings."""
    found = set()
    for heading in re.findall(r"^#+ +(.*)$", text, re.MULTILINE):
        plain = re.sub(r"[`*_]|\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
        found.add(re.sub(r"[^\w\- ]", "", plain).replace(" ", "-"))
    return found


def main():
    pages = [TREE / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    pages += sorted((TREE / "docs").glob("*.md")) + [TREE / "lab/README.md", TREE / "tests/README.md"]
    wrong = []
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for link in LINK.findall(text):
            if re.match(r"[a-z]+:", link):
                continue
            name, _, anchor = link.partition("#")
            target = page.parent / name if name else page
            if not target.exists():
                wrong.append(f"{page.relative_to(TREE)}: no file {link}")
            elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text(encoding="utf-8")):
                wrong.append(f"{page.relative_to(TREE)}: no heading {link}")
        if page.name != "CHANGELOG.md":  # which speaks of the past
            wrong += [f"{page.relative_to(TREE)}: no file {name}" for name in NAMED.findall(text)
                      if not (TREE / name).exists() and not (page.parent / name).exists()]
    index = (TREE / "docs/README.md").read_text(encoding="utf-8")
    wrong += [f"docs/README.md does not have {page.name}" for page in sorted((TREE / "docs").glob("*.md"))
              if page.name != "README.md" and f"({page.name})" not in index]
    cited = re.findall(r'^    "([A-E])": "(.*?)"[,}]', (TREE / "lab/pages/pages.py").read_text(encoding="utf-8"), re.MULTILINE)
    lab = (TREE / "lab/README.md").read_text(encoding="utf-8")
    if len(cited) != 5:
        wrong.append(f"lab/pages/pages.py cites {len(cited)} write-ups, not 5")
    wrong += [f"lab/README.md does not cite {row}: {title}" for row, title in cited if f"| {row} | {title} |" not in lab]
    print("\n".join(wrong) if wrong else f"{len(pages)} pages, nothing found")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
