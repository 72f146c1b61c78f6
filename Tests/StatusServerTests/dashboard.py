"""Looks at the dashboard as its readers do: python3 dashboard.py ADDRESS working|halted [FOLDER FOR SCREENSHOTS]"""

import shutil
import sys

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

address, mode = sys.argv[1:3]
folder = sys.argv[3] if len(sys.argv) > 3 else None

options = webdriver.ChromeOptions()
for argument in ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--window-size=1280,1500"]:
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
options.binary_location = shutil.which("chromium")
browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(shutil.which("chromedriver")))


def text(selector):
    return browser.find_element(By.CSS_SELECTOR, selector).text


def wait(what, condition):
    WebDriverWait(browser, 20, 0.1).until(lambda _: condition(), f"waited for {what}; the page says:\n{text('body')}")


def script(source, *arguments):
    return browser.execute_script(f"return {source}", *arguments)


def rows(body):
    # In one go: the page draws itself anew every second.
    return script("[...document.getElementById(arguments[0]).rows].map(row => [...row.cells].map(cell => cell.innerText))", body)


def picture(name):
    if folder:
        browser.save_screenshot(f"{folder}/{name}.png")


def colours(scheme):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})


def search(event):
    field = browser.find_element(By.ID, "event")
    field.clear()
    field.send_keys(event)


try:
    browser.get(address)
    if mode == "halted":
        wait("the halt", lambda: "Halted: key-refused" in text("#notices"))
        assert "What to do: check hub.connectionString" in text("#notices")
        assert text("#state") == "halted" and text("#limit") == "sending is halted"
        picture("halted")
    else:
        wait("the state", lambda: text("#state") == "sending")
        wait("the results", lambda: len(rows("results")) == 20)
        wait("the counts", lambda: rows("lane-outcomes") and rows("lane-outcomes")[0][:2] == ["live", "41"])
        assert ["World", "41"] in [row[:2] for row in rows("category-outcomes")]
        assert "truncated-json" in text("#dead") and "newswire redrive" in text("#dead")
        # A second status makes the first stretch of each line.
        wait("the charts", lambda: script("document.querySelector('#rate-chart path').getAttribute('d').includes('L')"))

        search("event-7")
        wait("the one result", lambda: [row[1] for row in rows("results")] == ["event-7"])
        search("<b>bold</b>")
        wait("markup shown as text", lambda: [row[1] for row in rows("results")] == ["<b>bold</b>"])
        search("nobody")
        wait("nothing found", lambda: text("#results-note") == "No result of this event is kept here.")
        search(" ")
        wait("all again", lambda: len(rows("results")) == 20)

        button = browser.find_element(By.CSS_SELECTOR, "#lanes button")
        assert button.accessible_name == "Pause lane live"
        button.click()
        wait("the pause", lambda: rows("lanes")[0][7:] == ["paused", "Resume"])
        button.click()
        wait("the resumption", lambda: rows("lanes")[0][7:] == ["open", "Pause"])
        assert text("#action") == "Asked lane live to resume."

        unnamed = [element.tag_name for element in browser.find_elements(By.CSS_SELECTOR, "button, input, svg, a, [role=region]")
                   if element.is_displayed() and not element.accessible_name]
        assert not unnamed, unnamed
        colours("light")
        picture("light")
        colours("dark")
        picture("dark")
        for scheme in ["light", "dark"]:
            colours(scheme)
            browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", {"width": 390, "height": 1600, "deviceScaleFactor": 1, "mobile": True})
            picture(f"phone-{scheme}")
        place = script("(({left, right}) => [left, right])(document.querySelector('#lanes button').getBoundingClientRect())")
        assert 0 <= place[0] < place[1] <= 390, place
        assert script("document.documentElement.scrollWidth <= document.documentElement.clientWidth"), "the page is too wide"

    loaded = script("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert all(name.startswith((address, "data:")) for name in loaded), loaded
    complaints = [entry["message"] for entry in browser.get_log("browser")]
    assert not complaints, complaints
finally:
    browser.quit()
