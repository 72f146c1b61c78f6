"""A headless browser, used like a person would."""

import contextlib
import shutil

from selenium import webdriver
from selenium.common.exceptions import TimeoutException
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait


class Browser:
    def __init__(self, address, folder=None, width=1280, height=1500, preferences=None):
        self.address, self.folder = address, folder
        options = webdriver.ChromeOptions()
        for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", f"--window-size={width},{height}"]:
            options.add_argument(argument)
        options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
        options.add_experimental_option("prefs", preferences or {})
        options.binary_location = shutil.which("chromium")
        self.driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))

    def find(self, selector):
        return self.driver.find_element(By.CSS_SELECTOR, selector)

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def text(self, selector):
        return self.find(selector).text

    def wait(self, what, condition):
        """Waits until the condition is true. Reports the text of the page if it never is."""
        try:
            WebDriverWait(self.driver, 20, 0.1).until(lambda _: condition())
        except TimeoutException:
            raise AssertionError(f"waited for {what}; the page says:\n{self.text('body')}") from None

    def script(self, source, *arguments):
        return self.driver.execute_script(f"return {source}", *arguments)

    def picture(self, name, width=None, height=None):
        if width:
            # A browser window cannot be as narrow as a phone.
            self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {
                "width": width, "height": height, "deviceScaleFactor": 1, "mobile": False})
        if self.folder:
            self.driver.save_screenshot(f"{self.folder}/{name}.png")

    def emulate(self, **features):
        """Emulates media features, e.g. prefers_color_scheme="dark"."""
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {
            "features": [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]})

    def fits(self):
        assert self.script("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "the page is too wide"

    def unnamed(self, selector):
        """The elements without an accessible name."""
        return [element.tag_name for element in self.all(selector) if element.is_displayed() and not element.accessible_name]

    def is_sound(self):
        """Checks that nothing was loaded from elsewhere and the console has no errors."""
        loaded = self.script("performance.getEntriesByType('resource').map(entry => entry.name)")
        assert all(name.startswith((self.address, "data:")) for name in loaded), loaded
        complaints = [entry["message"] for entry in self.driver.get_log("browser")]
        assert not complaints, complaints


@contextlib.contextmanager
def opened(address, folder=None, **size):
    browser = Browser(address, folder, **size)
    try:
        browser.driver.get(address)
        yield browser
        browser.is_sound()
    finally:
        browser.driver.quit()
