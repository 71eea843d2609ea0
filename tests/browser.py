"""A browser for the tests: Chromium of the system, driven by playwright, with nothing to reach."""

import shutil
from contextlib import contextmanager

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
RULES = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]


def reason_to_skip() -> str | None:
    """What is missing here, with what to do about it."""
    if CHROMIUM is None:
        return "Chromium is not installed (apt install chromium)"
    try:
        import axe_playwright_python  # noqa: F401
        import playwright  # noqa: F401
    except ImportError as missing:
        return f"{missing.name} is not installed (pip install -r requirements-test.txt)"
    return None


@contextmanager
def chromium():
    """A running browser; skips the test, aloud, where there can be none."""
    if reason := reason_to_skip():
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield browser
        browser.close()


@contextmanager
def opened(browser, path, **options):
    """The page of a file. Fails at the end if it reported an error or asked for another host."""
    context = browser.new_context(**options)
    page = context.new_page()
    wrong = []
    page.on("console", lambda said: wrong.append(said.text) if said.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on(
        "request",
        lambda asked: wrong.append(asked.url) if asked.url.startswith("http") else None,
    )
    page.goto(path.as_uri())
    yield page
    context.close()
    assert not wrong, wrong


def violations(page, within=None) -> list[str]:
    """What axe-core finds, in the whole page or below a selector."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"runOnly": {"type": "tag", "values": RULES}, "preload": False}  # file:// allows none
    found = Axe().run(page, context=within, options=options).response["violations"]
    return [
        f"{v['id']}: {n['html'][:120]} ({n['failureSummary'][:300]})"
        for v in found
        for n in v["nodes"]
    ]


def tab_to(page, selector: str):
    """Move the focus there with the Tab key, as somebody without a mouse must."""
    for _ in range(150):
        if page.evaluate("s => document.activeElement?.matches(s) ?? false", selector):
            return
        page.keyboard.press("Tab")
    pytest.fail(f"the Tab key never reaches {selector}")


class Interactive:
    """The first of its kind on a page, read as text and driven with the keyboard alone."""

    def __init__(self, page, name):
        self.page = page
        self.tag = f"tf-{name}"

    def find(self, selector):
        return self.page.locator(self.tag).first.locator(selector)

    def texts(self) -> list[str]:
        """All numbers and sentences that its state decides, in order."""
        return self.find("[data-out], .tf-finding").all_text_contents()

    def text(self, key: str) -> str:
        return self.find(f'[data-out="{key}"]').first.text_content()

    def value(self, key: str) -> float:
        text = self.text(key).replace("\N{MINUS SIGN}", "-")
        return float("".join(c for c in text if c not in ",%\N{NO-BREAK SPACE}"))

    def finding(self) -> str:
        return self.find(".tf-finding").text_content()

    def problem(self) -> str:
        return self.find(".tf-problem").text_content()

    def press(self, selector: str, *keys: str):
        """Tab to a control and press keys there."""
        tab_to(self.page, f"{self.tag} {selector}")
        for key in keys:
            self.page.keyboard.press(key)

    def write(self, key: str, typed):
        """Type over what the box of a number holds."""
        self.press(f'[type="number"][data-name="{key}"]', "Control+A", "Delete")
        self.page.keyboard.type(str(typed))

    def choose(self, key: str, *keys: str):
        """Press keys on radio buttons."""
        self.press(f'[type="radio"][data-name="{key}"]', *keys)

    def act(self, action: str):
        self.press(f'[data-action="{action}"]', "Enter")
