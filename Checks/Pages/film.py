"""Draws a film of two browsers. Examples/issue-board-film.png is a copy."""

import io
import time

from browser import ActionChains, Browser, Keys
from comparison import Image
from support import PICTURES, ROOT, Program, failures, post


def look_at_film(browser, program):
    if not Image:
        print("look: skipped the film, because Pillow is missing (Debian: python3-pil).")
        return
    other = Browser()
    try:
        with Program(program, "--port", "0", cwd=ROOT) as board:
            frames, times = film(browser, other, board.address())
    finally:
        other.close()
    write(frames, times)


def film(browser, other, address):
    """Returns the frames, and their times in milliseconds."""
    frames, times = [], []

    def frame(milliseconds):
        panes = [Image.open(io.BytesIO(each.driver.get_screenshot_as_png())) for each in [browser, other]]
        width, height = panes[0].size
        image = Image.new("RGB", (2 * width + 24, height), "#7b8494")
        for index, pane in enumerate(panes):
            image.paste(pane, (index * (width + 24), 0))
        frames.append(image.resize((image.width * 5 // 8, image.height * 5 // 8), Image.LANCZOS))
        times.append(milliseconds)

    def wait(what, expression):
        for each in [browser, other]:
            each.wait(what, expression)
        time.sleep(0.4)

    for each in [browser, other]:
        each.open(address, width=760, height=520)
    wait("both browsers have forty cards", "document.getElementById('total').innerText == '40 cards'")
    frame(1500)
    text = "Photograph the finished clock"
    browser.focus("#text")
    for part in ["Photograph", " the finished", " clock"]:
        browser.press(part)
        frame(300)
    browser.press(Keys.ENTER)
    wait("a card of one browser is in both", f"document.getElementById('todo').innerText.includes('{text}')")
    frame(1200)
    card, column = other.find("#todo li"), other.find("#done")
    ActionChains(other.driver).move_to_element(card).click_and_hold().move_by_offset(20, 10).perform()
    frame(300)
    # The target may scroll, so each step is computed again.
    ActionChains(other.driver).move_to_element(column).perform()
    frame(600)
    ActionChains(other.driver).release().perform()
    wait("a card dragged in one browser moves in both", f"document.getElementById('done').innerText.includes('{text}')")
    frame(1400)
    browser.focus("#search")
    for part in ["c", "lo", "ck"]:
        browser.press(part)
        time.sleep(0.4)
        frame(300)
    frame(900)
    post(address, "add Oil the clock")
    wait("a new card appears in a search", "document.getElementById('todo').innerText.includes('Oil the clock')")
    frame(2000)
    return frames, times


def write(frames, times):
    path = PICTURES / "issue-board-film.png"
    # One palette for all frames, so that a frame contains only its difference from the last.
    strip = Image.new("RGB", (frames[0].width, sum(frame.height for frame in frames)))
    for index, image in enumerate(frames):
        strip.paste(image, (0, index * image.height))
    palette = strip.quantize(160)
    drawn = [image.quantize(palette=palette, dither=Image.Dither.NONE) for image in frames]
    drawn[0].save(path, save_all=True, append_images=drawn[1:], duration=times, loop=0, optimize=True)
    print(f"look: the film has {len(drawn)} frames in {path.stat().st_size // 1000} kB")
    if path.stat().st_size > 500_000:
        failures.append("the film has more than 500 kB")
