"""Finds what HTML and SVG of notebooks must not have: bad form, scripts, and anything that loads from another place."""

from __future__ import annotations

from xml.etree import ElementTree

_TAGS = {"b", "code", "details", "div", "li", "p", "pre", "summary", "table", "td", "th", "tr", "ul"}
_DRAWN = {"defs", "line", "path", "pattern", "polygon", "rect", "svg", "text", "title"}
_SVG = "{http://www.w3.org/2000/svg}"


def problems(markup: str) -> list[str]:
    """Returns the problems of a representation, whose text is HTML that is also XML."""
    try:
        root = ElementTree.fromstring(f"<div>{markup}</div>")
    except ElementTree.ParseError as error:
        return [f"not well formed: {error}"]
    found = []
    for element in root.iter():
        if element.tag not in _TAGS and element.tag.removeprefix(_SVG) not in _DRAWN:
            found.append(f"element {element.tag}")
        for name, value in element.attrib.items():
            if name.startswith("on") or "href" in name or name == "src" or "//" in value:
                found.append(f"attribute {name} of {element.tag}")
            if "url(" in value and value != "url(#padding)":
                found.append(f"attribute {name} of {element.tag}")
    return found
