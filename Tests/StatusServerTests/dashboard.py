"""Tests the dashboard as its readers use it: dashboard.py ADDRESS working|halted|flooded|orders|desk|scripted [FOLDER FOR SCREENSHOTS]"""

import sys

from selenium.webdriver import ActionChains, Keys

import desk
import scripted
from browser import opened
from looks import legible, reachable

address, mode = sys.argv[1:3]


class Reader:
    """A reader with a keyboard and without a pointer."""

    def __init__(self, page):
        self.page = page

    def press(self, *keys):
        ActionChains(self.page.driver).send_keys(*keys).perform()

    def focused(self):
        return self.page.driver.switch_to.active_element

    def reach(self, selector):
        """Presses Tab from the top of the page until the element has the focus."""
        self.page.script("document.activeElement.blur()")
        for _ in range(200):
            self.press(Keys.TAB)
            if self.page.script("document.activeElement.matches(arguments[0])", selector):
                visible = self.page.script("getComputedStyle(document.activeElement).outlineStyle")
                assert visible != "none", f"the focus on {selector} cannot be seen"
                return self.focused()
        raise AssertionError(f"no way to {selector} by keyboard")


with opened(address, *sys.argv[3:]) as page:
    text, wait, script = page.text, page.wait, page.script
    reader = Reader(page)

    def rows(body):
        # Read in one step, because the page redraws itself every second.
        return script("[...document.getElementById(arguments[0]).rows].map(row => [...row.cells].map(cell => cell.textContent))", body)

    def badge(station):
        return text(f"{station} .word")

    def search(event):
        reader.reach("#event")
        # The field's existing text is selected when it gets the focus.
        reader.press(Keys.DELETE, event)

    if mode == "halted":
        wait("the halt", lambda: text("#state") == "Standing still")
        assert text("#title") == "The hub refuses the key"
        assert "Check hub.connectionString" in text("#todo") and "next attempt at" in text("#why")
        assert badge("#hub") == "Key refused"
        assert script("document.querySelector('.to-hub').dataset.flow") == "blocked"
        page.picture("halted", 1280, 800)
    elif mode == "flooded":
        wait("the flood", lambda: badge(".lane") == "Stopped")
        assert text("#state") == "Standing still"
        assert "press “Send the rest”" in text("#todo")
        page.picture("flooded", 1280, 800)
        send = reader.reach(".orders button:first-child")
        assert send.accessible_name == "Send the rest of lane live"
        reader.press(Keys.ENTER)
        wait("the question", lambda: text("#confirm-title") == "Send the rest of lane live?")
        page.picture("question")
        reader.press(Keys.ESCAPE)
        wait("the way back", lambda: not page.find("#confirm").is_displayed())
        assert badge(".lane") == "Stopped" and text("#action") == ""
        assert reader.focused() == send
        reader.press(Keys.ENTER)
        wait("the question", lambda: page.find("#confirm").is_displayed())
        # The harmless answer has the focus, and the other one is next.
        assert reader.focused().text == "Cancel"
        reader.press(Keys.TAB, Keys.ENTER)
        wait("the release", lambda: text("#action") == "Asked lane live to release." and badge(".lane") != "Stopped")
        assert not send.is_displayed()
    elif mode == "orders":
        awkward = "100% Grüße + ✓ a=b&c"

        def order(reason):
            wait("the question", lambda: page.find("#order").is_displayed())
            page.find("#order-by").clear()
            page.find("#order-by").send_keys(f"n {awkward}")
            page.find("#order-reason").send_keys(reason)
            page.find("#order-yes").click()

        wait("the orders", lambda: page.find("#recall-story").is_displayed())
        page.find("#recall-story").click()
        wait("the question", lambda: page.find("#order").is_displayed())
        page.find("#story").send_keys(awkward, Keys.ENTER)
        wait("that it was never seen", lambda: "was not seen" in text("#sent"))
        assert page.find("#order").is_displayed(), "Enter in the field only looks the story up"
        order(f"r {awkward}")
        wait("the doubt", lambda: "was not seen" in text("#order-text"))
        # The browser logs the refusals.
        complaints = [entry["message"] for entry in page.driver.get_log("browser")]
        assert complaints and all("404" in complaint for complaint in complaints), complaints
        order("")
        wait("the recall", lambda: len(rows("orders")) == 1)
        row = rows("orders")[0]
        assert f"story {awkward}" in " ".join(row), row
        assert f"n {awkward} (dashboard, 127.0.0.1)" in " ".join(row) and f"r {awkward}" in " ".join(row), row
        page.find("#orders button").click()
        order("")
        wait("the end of the recall", lambda: not rows("orders"))
    elif mode == "desk":
        desk.look(page)
    elif mode == "scripted":
        scripted.look(page)
    else:
        wait("the state", lambda: text("#state") in ["Sending", "Idle"])
        wait("the results", lambda: len(rows("results")) == 20)
        wait("the counts", lambda: rows("lane-outcomes") and rows("lane-outcomes")[0][:2] == ["live", "41"])
        assert ["World", "41"] in [row[:2] for row in rows("category-outcomes")]
        assert "truncated-json" in text("#some-dead") and "newswire redrive" in text("#some-dead")
        assert text("#accepted") == "41" and text("#failed") == text("#dead-letters") == "1"
        # A second status makes the first segment of each line.
        wait("the charts", lambda: script("document.querySelector('.charts .line').getAttribute('d').includes('L')"))
        wait("the sparkline", lambda: page.find(".lane .spark").accessible_name.startswith("Lane live, events a second"))

        search("event-7")
        wait("the one result", lambda: [row[1] for row in rows("results")] == ["event-7"])
        search("<b>bold</b>")
        wait("markup shown as text", lambda: [row[1] for row in rows("results")] == ["<b>bold</b>"])
        search("nobody")
        wait("nothing found", lambda: text("#results-note") == "No result of this event is kept here.")
        search(" ")
        wait("all again", lambda: len(rows("results")) == 20)

        # A figure shows its definition on hover and focus until it is dismissed. Screen readers get it as the description.
        behind = reader.reach("[data-term=behind]")
        wait("the definition", lambda: page.find("#tip").is_displayed())
        assert text("#tip").startswith("Events on the lane’s topics")
        described = script("document.getElementById(arguments[0].getAttribute('aria-describedby')).textContent", behind)
        assert described == text("#tip")
        page.picture("definition", 1280, 800)
        reader.press(Keys.ESCAPE)
        assert not page.find("#tip").is_displayed() and reader.focused() == behind
        ActionChains(page.driver).move_to_element(page.find("#hub [data-term=flight]")).perform()
        wait("the definition under the pointer", lambda: text("#tip").startswith("Requests that the hub has not answered"))
        ActionChains(page.driver).move_to_element(page.find("#tip")).perform()
        assert page.find("#tip").is_displayed(), "the pointer can rest on it"
        # What is folded opens by keyboard.
        reader.reach("details:has(#details) summary")
        reader.press(Keys.ENTER)
        reader.reach("[data-term=total]")
        wait("the definition far below", lambda: page.find("#tip").is_displayed() and text("#tip").endswith("since the start."))
        undefined = script("[...document.querySelectorAll('[data-term]')].filter(term => !document.getElementById(`term-${term.dataset.term}`)).map(term => term.dataset.term)")
        assert not undefined, undefined

        button = reader.reach(".toggle")
        assert button.accessible_name == "Pause lane live"
        reader.press(Keys.ENTER)
        wait("the pause", lambda: badge(".lane") == "Paused" and button.accessible_name == "Resume lane live")
        wait("the verdict", lambda: text("#state") == "Paused" and text("#todo") == "Press Resume when it may go on.")
        assert reader.focused() == button, "a change takes nobody's place away"
        reader.press(Keys.SPACE)
        wait("the resumption", lambda: badge(".lane") != "Paused" and button.accessible_name == "Pause lane live")
        assert text("#action") == "Asked lane live to resume."

        reader.reach("#freeze")
        reader.press(Keys.ENTER)
        wait("the standstill", lambda: text("#frozen").startswith("Frozen at"))
        reader.press(Keys.ENTER)
        wait("life again", lambda: text("#frozen") == "")

        for width, height in [(1280, 800), (390, 844)]:
            page.picture(f"light-{width}", width, height)
            page.fits()
            legible(page)
            reachable(page)
            unnamed = page.unnamed("button, input, svg[role], a, [role=region]")
            assert not unnamed, unnamed
            left, right = script("(({left, right}) => [left, right])(document.querySelector('.toggle').getBoundingClientRect())")
            assert 0 <= left < right <= width, (left, right)
        page.picture("phone", 390, 3600)
        page.emulate(prefers_color_scheme="dark")
        page.picture("dark", 1280, 2600)

        # Two tabs more than a browser has connections to a host. The last one works like the first.
        page.emulate(prefers_color_scheme="light")
        first = page.driver.current_window_handle
        for _ in range(7):
            page.driver.switch_to.new_window("window")
            page.driver.get(address)
            wait("the numbers in every tab", lambda: text("#age").startswith("Live") and text("#accepted") == "41")
        page.find(".toggle").click()
        wait("an order from the last tab", lambda: badge(".lane") == "Paused")
        page.driver.switch_to.window(first)
        wait("its effect in the first", lambda: badge(".lane") == "Paused")
        page.find(".toggle").click()
        wait("the end of the pause", lambda: badge(".lane") != "Paused")
