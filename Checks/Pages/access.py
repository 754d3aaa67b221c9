"""Checks that a page is accessible: its names, its contrast, and the rules of axe-core."""

import functools
import importlib.util
import pathlib

from support import ROOT, failures


def check_access(browser, name):
    """Fails on missing names, on faint text, and on serious findings of axe-core."""
    check_names(browser, name)
    check_contrast(browser, name)
    if not axe():
        return
    browser.run(axe())
    for finding in browser.driver.execute_async_script("""
      const done = arguments[0], elements = nodes => nodes.map(({ target }) => target.join(' ')).join(', ');
      axe.run().then(({ violations }) => done(violations.map(({ id, impact, help, nodes }) =>
        ({ impact, text: `${id}: ${help}: ${elements(nodes)}` }))),
        error => done([{ impact: 'serious', text: `${error}` }]));
    """):
        text = f"{name}: axe-core: {finding['impact']}: {finding['text'][:300]}"
        if finding["impact"] in ["serious", "critical"]:
            failures.append(text)
        else:
            print(f"look: {text}")


@functools.cache
def axe():
    """Returns the script of axe-core, or `None` without the Python package axe-core-python."""
    folder = ROOT / ".build-look/python/axe_core_python"
    if not folder.exists() and (found := importlib.util.find_spec("axe_core_python")):
        folder = pathlib.Path(found.submodule_search_locations[0])
    script = folder / "axe.min.js"
    if script.exists():
        return script.read_text()
    print("look: skipped axe-core. `pip install --no-deps --target .build-look/python axe-core-python` installs it.")


def check_names(browser, name):
    """Fails on controls, lists, and regions that have no name in Chromium's accessibility tree."""
    roles = ["button", "textbox", "searchbox", "combobox", "slider", "region", "navigation", "search", "dialog"]
    for node in browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"]:
        role = node.get("role", {}).get("value")
        if role in roles and not node.get("ignored") and not node.get("name", {}).get("value"):
            failures.append(f"{name}: a {role} has no name")


def check_contrast(browser, name):
    """Fails on text whose contrast with its background is below 4.5, the minimum of WCAG 2."""
    faint = browser.run("""
      const light = color => {
        const [r, g, b] = color.map(c => (c /= 255) <= .04045 ? c / 12.92 : ((c + .055) / 1.055) ** 2.4);
        return .2126 * r + .7152 * g + .0722 * b + .05;
      };
      const parse = text => text.match(/[\\d.]+/g).map(Number);
      const behind = element => {
        for (; element; element = element.parentElement) {
          const color = parse(getComputedStyle(element).backgroundColor);
          if (color[3] !== 0) return color.slice(0, 3);
        }
        return [255, 255, 255];
      };
      return [...document.querySelectorAll("body *")].filter(element =>
        element.checkVisibility() && !element.disabled
        && [...element.childNodes].some(node => node.nodeType === 3 && node.data.trim())
      ).filter(element => {
        const pair = [parse(getComputedStyle(element).color).slice(0, 3), behind(element)].map(light);
        return Math.max(...pair) / Math.min(...pair) < 4.5;
      }).map(element => element.outerHTML.slice(0, 60));
    """)
    for element in faint:
        failures.append(f"{name}: too little contrast: {element}")
