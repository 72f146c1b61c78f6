"""Uses the page as its readers do: page.py demo|tabs ADDRESS, or page.py restart PROGRAM; then a FOLDER FOR SCREENSHOTS."""

import atexit
import json
import re
import signal
import subprocess
import sys
import urllib.request

from browser import opened
from looks import legible, reachable
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

DESKTOP, PHONE = (1280, 800), (390, 844)
CATEGORIES = ["World", "Politics", "Business", "Technology", "Science", "Sports"]
PHONES = {"apple": "World and Sports", "fcmv1": "World and Technology", "windows": "Politics and Business", "browser": "World and Science"}

mode, subject, *folder = sys.argv[1:]


class Reader:
    """Whoever has the page open."""

    def __init__(self, page):
        self.page = page
        page.wait("the page", lambda: page.script("document.documentElement.dataset.ready"))

    def state(self, platform):
        return self.page.text(f".phone.{platform} .state")

    def texts(self, platform):
        return self.page.script("[...document.querySelectorAll(`.phone.${arguments[0]} .text`)].map(text => text.textContent)", platform)

    def sends(self):
        """Category, headline and outcome of each."""
        return self.page.script("[...document.getElementById('sends').rows].map(row => [...row.cells].slice(1).map(cell => cell.textContent))")

    def hint(self):
        return self.page.text("#composer-hint")

    def panels(self):
        return self.page.script("[...document.querySelectorAll('.panel, .phone, .connect, .app')].map(panel => `${panel.offsetLeft} ${panel.offsetTop} ${panel.offsetWidth} ${panel.offsetHeight}`)")

    def tab_to(self, selector):
        """With the keyboard alone, from wherever the focus is."""
        for _ in range(100):
            if self.page.script("document.activeElement.matches(arguments[0])", selector):
                # What hides under a chip or a switch has its ring there.
                ring = "[document.activeElement, document.activeElement.nextElementSibling].some(element => element && getComputedStyle(element).outlineStyle === 'solid')"
                assert self.page.script(ring), f"{selector} has no ring"
                return
            self.press(Keys.TAB)
        raise AssertionError(f"the keyboard does not reach {selector}")

    def press(self, *keys):
        ActionChains(self.page.driver).send_keys(*keys).perform()

    def size(self, size):
        self.page.picture("size", *size)


def send(reader, category, headline, corrects=None):
    page = reader.page
    if corrects:
        choices = Select(page.find("#corrects"))
        choices.select_by_visible_text(next(o.text for o in choices.options if corrects in o.text))
        assert page.find(f"#composer input[value={category}]").is_selected(), "a correction keeps the category"
    else:
        page.find(f"#composer input[value={category}]").click()
    field = page.find("#headline")
    field.clear()
    field.send_keys(headline, Keys.ENTER)
    page.wait("the field to empty", lambda: field.get_attribute("value") == "")


def looks_right(reader, name):
    page = reader.page
    unnamed = page.unnamed("a, button, input, textarea, select, ol, article, section, fieldset")
    assert not unnamed, unnamed
    for shape, size in [("", DESKTOP), ("-narrow", PHONE)]:
        for scheme in ["light", "dark"]:
            page.emulate(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
            page.picture(f"{name}-{scheme}{shape}", *size)
        page.fits()
        legible(page)
        reachable(page)
    # As narrow as a desktop is at 400 %.
    reader.size((320, 640))
    page.fits()
    reader.size(DESKTOP)
    page.emulate(forced_colors="active", prefers_reduced_motion="reduce")
    colours = "[...document.querySelectorAll(arguments[0])].map(chip => getComputedStyle(chip).backgroundColor)"
    on, off = (set(page.script(colours, f".chip input{state} + span")) for state in [":checked", ":not(:checked)"])
    assert len(on) == 1 and not on & off, "with forced colours nobody sees what is chosen"
    page.picture(f"{name}-forced")
    page.emulate(prefers_color_scheme="light")
    assert page.script("document.documentElement.scrollHeight <= innerHeight"), "the page does not fit the screen"


def demo():
    with opened(subject, *folder, width=DESKTOP[0], height=DESKTOP[1]) as page:
        reader = Reader(page)
        reader.size(DESKTOP)
        page.driver.execute_script("""window.heard = [];
            new MutationObserver(() => heard.push(document.getElementById("announcer").textContent)).observe(document.getElementById("announcer"), { childList: true });""")
        for platform, choice in PHONES.items():
            page.wait(f"the subscription of {platform}", lambda: reader.state(platform) == f"Subscribed to {choice}.")
        page.wait("the first story while one looks", lambda: reader.texts("apple"))
        assert page.find("#connection").get_attribute("value").startswith(f"Endpoint={subject};SharedAccessKeyName=")
        assert "newswire device --hub breaking-news" in page.find("#next").get_attribute("value")
        assert page.find("#dashboard").get_attribute("href").startswith("http://127.0.0.1:")
        page.find("[data-copies=connection]").click()
        page.wait("the answer to Copy", lambda: page.text("[data-copies=connection]").startswith(("Copied", "Selected")))
        assert page.script("getSelection().toString()") == page.find("#connection").get_attribute("value")

        send(reader, "World", 'Parliament passes the "climate" bill & rests')
        page.wait("the outcome", lambda: reader.hint() == "Arrived on 3 phones.")
        for platform in ["apple", "fcmv1", "browser"]:
            page.wait(f"the story on {platform}", lambda: 'Parliament passes the "climate" bill & rests' in reader.texts(platform))
        assert ["World", 'Parliament passes the "climate" bill & rests', "3 phones"] in reader.sends()
        page.wait("an arrival for those who cannot see", lambda: any(re.search("Parliament passes|stories arrived", said) for said in page.script("heard")))

        send(reader, "Politics", "Cabinet <b>reshuffle</b> expected on Monday")
        page.wait("the outcome", lambda: reader.hint() == "Arrived on 1 phone.")
        assert "Cabinet <b>reshuffle</b> expected on Monday" in reader.texts("windows")

        send(reader, "World", "A ferry is late")
        page.wait("the ferry", lambda: "A ferry is late" in reader.texts("apple"))
        send(reader, "World", "The ferry is on time", corrects="A ferry is late")
        for platform in ["apple", "fcmv1", "browser"]:
            page.wait(f"the correction on {platform}", lambda: "The ferry is on time" in reader.texts(platform))
            assert "A ferry is late" not in reader.texts(platform), "the correction stands beside its story"
            assert any(mark.is_displayed() for mark in page.all(f".phone.{platform} .updated"))
        assert "Breaking" not in "".join(sum((reader.texts(platform) for platform in PHONES), [])), "the category stands there twice"

        page.find(".phone.windows input[value=Politics]").click()
        page.wait("a choice that counts at once", lambda: reader.state("windows") == "Subscribed to Business.")
        send(reader, "Politics", "Nobody asked for this")
        page.wait("the outcome", lambda: reader.hint() == "Sent to 0 phones: nobody has asked for Politics.")
        assert ["Politics", "Nobody asked for this", "0 phones"] in reader.sends()

        page.find("#faults label:first-child").click()
        page.wait("the fault", lambda: page.find("#faults input").is_selected())
        send(reader, "World", "Held up by the hub")
        page.wait("the refusal", lambda: reader.hint() == "The hub answered 503; the publisher will try again.")
        page.find("#faults label:first-child").click()
        page.wait("the second attempt", lambda: reader.hint() == "Arrived on 3 phones.")

        # Three phones show each story; it is told once, and at most one sentence a second.
        heard = page.script("heard")
        assert len([said for said in heard if said.endswith("A ferry is late")]) <= 1 and len(heard) == len(set(heard)), heard

        page.driver.refresh()
        Reader(page)
        page.wait("the kept choice", lambda: reader.state("windows") == "Subscribed to Business.")
        page.wait("what came before", lambda: "The ferry is on time" in reader.texts("apple"))
        looks_right(reader, "page")


def tabs():
    """A browser opens six connections to a host, for all of its tabs."""
    with opened(subject, *folder, width=DESKTOP[0], height=DESKTOP[1]) as page:
        readers = {page.driver.current_window_handle: Reader(page)}
        for _ in range(6):
            page.driver.switch_to.new_window("tab")
            page.driver.get(subject)
            readers[page.driver.current_window_handle] = Reader(page)
        send(Reader(page), "World", "Seven tabs are open")
        for tab, reader in readers.items():
            page.driver.switch_to.window(tab)
            page.wait("the story in every tab", lambda: "Seven tabs are open" in reader.texts("apple"))
        send(reader, "World", "And seven tabs can send")
        page.wait("the outcome", lambda: reader.hint() == "Arrived on 3 phones.")
        # The tab with the stream closes; another takes its place.
        for tab in list(readers)[:-1]:
            page.driver.switch_to.window(tab)
            page.driver.close()
        page.driver.switch_to.window(tab := list(readers)[-1])
        send(readers[tab], "World", "One tab is left")
        page.wait("the story in the last tab", lambda: "One tab is left" in readers[tab].texts("apple"))


class Hub:
    def __init__(self, port=0):
        self.process = subprocess.Popen([subject, "hub", "--listen", f"127.0.0.1:{port}"], stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        lines = iter(self.process.stdout.readline, "")
        self.port = int(re.search(r":(\d+)/", next(lines)).group(1))
        self.connection = next(line.strip() for line in lines if line.startswith("Endpoint="))
        self.address = f"http://127.0.0.1:{self.port}/"

    def call(self, path, method="GET", body=None):
        request = urllib.request.Request(self.address + path, method=method, data=body and json.dumps(body).encode())
        return urllib.request.urlopen(request).read().decode()

    def tags(self, platform):
        tags = json.loads(self.call("_emulator/overview"))["phones"][platform] or []
        return [category for category in CATEGORIES if category in tags]

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def restart():
    """With the keyboard alone, on both sizes; the hub ends and starts in between."""
    hub = Hub()
    html = hub.call("")
    assert hub.connection in html and "<noscript>" in html, "nothing to read without JavaScript"
    with opened(hub.address, *folder, width=DESKTOP[0], height=DESKTOP[1]) as page:
        reader = Reader(page)
        for size in [PHONE, DESKTOP]:
            reader.size(size)
            page.driver.execute_script("document.activeElement.blur()")
            before = reader.panels()
            reader.tab_to(".phone.apple input[value=Science]")
            reader.press(Keys.SPACE)
            page.wait("the first choice", lambda: reader.state("apple") == "Subscribed to Science.")
            reader.tab_to(".phone.browser input[value=Politics]")
            reader.press(Keys.SPACE)
            reader.tab_to(".phone.browser input[value=Science]")
            reader.press(Keys.SPACE)
            page.wait("two choices", lambda: reader.state("browser") == "Subscribed to Politics and Science.")
            page.driver.execute_script("document.activeElement.blur()")
            reader.tab_to("#composer input[name=category]")
            while not page.script("document.activeElement.value === 'Science'"):
                reader.press(Keys.ARROW_RIGHT)
            reader.tab_to("#headline")
            reader.press("A moon of a moon", Keys.ENTER)
            page.wait("the outcome", lambda: reader.hint() == "Arrived on 2 phones.")
            page.wait("the story", lambda: reader.texts("apple") == reader.texts("browser") == ["A moon of a moon"])

            hub.end()
            page.wait("the loss", lambda: reader.state("apple") == "The hub does not answer." == page.text("#status"))
            hub = Hub(hub.port)
            page.wait("the hub to know the phones again", lambda: hub.tags("apple") == ["Science"] and hub.tags("browser") == ["Politics", "Science"])
            page.wait("the page to say so", lambda: reader.state("browser") == "Subscribed to Politics and Science.")
            page.wait("the new key", lambda: page.find("#connection").get_attribute("value") == hub.connection)
            assert reader.texts("apple") == [], "the new hub has sent nothing"

            reader.tab_to("#faults input[value*=expired]")
            reader.press(Keys.SPACE)
            page.wait("the fault", lambda: "expired" in hub.call("_emulator/faults"))
            page.driver.execute_script("document.activeElement.blur()")
            reader.tab_to(".phone.apple input[value=Sports]")
            reader.press(Keys.SPACE)
            page.wait("the refusal", lambda: reader.state("apple") == "Not registered: the hub answered 401.")
            reader.tab_to("#faults input[value*=expired]")
            reader.press(Keys.SPACE)
            page.wait("the registration after all", lambda: reader.state("apple") == "Subscribed to Science and Sports.")

            handle = json.loads(hub.call("_emulator/phone"))["phones"][0]["handle"]
            hub.call(f"_emulator/devices/{handle}", "PUT", {"outcome": "ExpiredChannel"})
            page.driver.execute_script("document.activeElement.blur()")
            reader.tab_to("#headline")
            reader.press("The phone is gone", Keys.ENTER)
            page.wait("the phone's end", lambda: reader.state("apple") == "Not registered: the hub has dropped it.")
            hub.call(f"_emulator/devices/{handle}", "PUT", {"outcome": "Success"})
            assert reader.panels() == before, f"the panels have moved: {set(reader.panels()) ^ set(before)}"
            reader.tab_to(".phone.apple .again")
            reader.press(Keys.ENTER)
            page.wait("the phone's return", lambda: hub.tags("apple") == ["Science", "Sports"])
            page.wait("the page to say so", lambda: reader.state("apple") == "Subscribed to Science and Sports.")

            # As at first, for the other size.
            for platform, categories in [("apple", ["Science", "Sports"]), ("browser", ["Politics", "Science"])]:
                for category in categories:
                    page.find(f".phone.{platform} input[value={category}]").send_keys(Keys.SPACE)
                page.wait("the end of a subscription", lambda: reader.state(platform) == "Not subscribed. Choose a category." and hub.tags(platform) == [])
            hub.end()
            page.wait("the loss", lambda: page.text("#status") == "The hub does not answer.")
            hub = Hub(hub.port)
            page.wait("an empty hub", lambda: page.text("#status") == "0 sends · 0 deliveries · 0 registrations")
        # Nothing but the refused connections and the 401.
        complaints = [entry["message"] for entry in page.driver.get_log("browser")]
        assert all(re.search("ERR_|status of (401|410)", complaint) for complaint in complaints), complaints
    hub.end()


{"demo": demo, "tabs": tabs, "restart": restart}[mode]()
