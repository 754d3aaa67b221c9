"""Headless Chromium, driven by Selenium."""

try:
    from selenium import webdriver
    from selenium.common.exceptions import TimeoutException
    from selenium.webdriver import ActionChains, Keys
    from selenium.webdriver.support.ui import WebDriverWait
except ImportError:
    # Checks/look then opens no browser.
    webdriver = ActionChains = Keys = None

from support import PICTURES, failures

# The rectangles of the compared screenshots that show times and counts, by name.
masks = {}


class Browser:
    def __init__(self):
        options = webdriver.ChromeOptions()
        for option in ["--headless=new", "--disable-gpu", "--hide-scrollbars",
                       "--disable-dev-shm-usage", "--no-sandbox"]:
            options.add_argument(option)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        self.driver = webdriver.Chrome(options=options)

    def open(self, address, width=1100, height=1080, dark=False):
        self.size(width, height, dark)
        self.driver.get(address)

    def value(self, expression):
        return self.run(f"return {expression}")

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def focus(self, selector):
        self.run("document.querySelector(arguments[0]).focus()", selector)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def wait(self, what, expression, seconds=20):
        """Waits until the expression is true. After a timeout, records a failure."""
        try:
            WebDriverWait(self.driver, seconds, 0.1).until(lambda _: self.value(expression))
        except TimeoutException:
            failures.append(f"{what}: timed out after {seconds} s")
        else:
            print(f"look: {what}")

    def check_console(self, name):
        """Fails on errors and on violations of the content policy, in the pages opened since the last check."""
        for entry in self.driver.get_log("browser"):
            if entry["level"] in ["SEVERE", "WARNING"] and "net::ERR_" not in entry["message"]:
                failures.append(f"{name}: console: {entry['message']}")

    def check_width(self, name):
        """Fails if the page is wider than the window."""
        wide = self.value("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            failures.append(f"{name} is {wide} pixels too wide")

    def picture(self, name, except_=None):
        """Writes a screenshot. With a selector of the elements that differ in each run, it is compared."""
        path = PICTURES / f"{name}.png"
        if except_ is not None:
            # A caret blinks, a hovered element depends on the mouse, and cards slide to their places.
            self.run("document.activeElement?.blur(); document.getAnimations().forEach(each => each.finish())")
            masks[name] = self.run("""
              return [...document.querySelectorAll(arguments[0] || 'no-element')].map(element => {
                const { left, top, right, bottom } = element.getBoundingClientRect();
                return [left - 2, top - 2, right + 2, bottom + 2];
              });""", except_)
        self.driver.save_screenshot(str(path))
        return path

    def size(self, width, height, dark=False):
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})

    def press(self, *keys, shift=False):
        """Presses the keys in sequence, in the focused element."""
        actions = ActionChains(self.driver)
        if shift:
            actions.key_down(Keys.SHIFT)
        for key in keys:
            actions.send_keys(key)
        if shift:
            actions.key_up(Keys.SHIFT)
        actions.perform()

    def find(self, selector):
        return self.driver.find_element("css selector", selector)

    def close(self):
        self.driver.quit()
