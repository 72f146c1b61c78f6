"""Uses the page as its readers do: page.py demo|tabs ADDRESS, or page.py restart|mishaps|others|languages PROGRAM; then a FOLDER FOR SCREENSHOTS."""

import atexit
import base64
import hmac
import json
import re
import signal
import subprocess
import sys
import time
import urllib.parse
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

    def collect_hints(self):
        """Collects the hints from now on: one may be over before the next look at it."""
        self.page.script("(window.hints = [], new MutationObserver(() => hints.push(document.querySelector('#composer-hint').textContent)).observe(document.querySelector('#composer-hint'), {childList: true, characterData: true, subtree: true}))")

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
        assert page.text("#status").endswith(" · 4 phones subscribed"), page.text("#status")
        assert re.fullmatch("times in [A-Z]+.*", page.text("#zone")), page.text("#zone")
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

        # A phone shows four lines of a headline.
        send(reader, "World", "The ferry to the islands is late again because of the storm " * 8)
        page.wait("the long headline", lambda: any(text.startswith("The ferry to the islands") for text in reader.texts("apple")))
        lines = "(text => text.clientHeight / parseFloat(getComputedStyle(text).lineHeight))(document.querySelector('.phone.apple .text'))"
        assert 3.5 < page.script(lines) < 4.5, page.script(lines)
        page.wait("the outcome", lambda: reader.hint() == "Arrived on 3 phones.")
        # The outcome of the last story is gone as soon as the next one is begun.
        page.find("#headline").send_keys("A")
        page.wait("no old outcome", lambda: reader.hint() == "")
        page.find("#headline").clear()

        # A large screen is used.
        for width, height in [(1920, 1080), DESKTOP]:
            page.picture(f"demo-{width}", width, height)
            used = page.script("(rect => rect.right - rect.left)(document.querySelector('main').getBoundingClientRect())")
            assert used > 0.95 * width, (width, used)
            assert page.script("document.documentElement.scrollHeight <= innerHeight"), "the page does not fit the screen"

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

        follow = page.find(".phone.windows .follow input")
        follow.send_keys("nonsense", Keys.ENTER)
        assert not page.script("arguments[0].validity.valid", follow), "what is no interest is not followed"
        follow.clear()
        follow.send_keys("team:bvb", Keys.ENTER)
        page.wait("an interest", lambda: reader.state("windows") == "Subscribed to Business and team:bvb.")
        page.driver.refresh()
        reader = Reader(page)
        page.wait("the kept interest", lambda: reader.state("windows") == "Subscribed to Business and team:bvb.")
        page.find(".phone.windows input[value=team_bvb]").click()
        page.wait("the end of the interest", lambda: reader.state("windows") == "Subscribed to Business.")

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
    def __init__(self, port=0, *options):
        self.process = subprocess.Popen([subject, "hub", "--listen", f"127.0.0.1:{port}", *options], stdout=subprocess.PIPE, text=True)
        atexit.register(self.process.kill)
        lines = iter(self.process.stdout.readline, "")
        self.port = int(re.search(r":(\d+)/", next(lines)).group(1))
        self.connection = next(line.strip() for line in lines if line.startswith("Endpoint="))
        self.address = f"http://127.0.0.1:{self.port}/"

    def call(self, path, method="GET", body=None):
        request = urllib.request.Request(self.address + path, method=method, data=body and json.dumps(body).encode())
        return urllib.request.urlopen(request).read().decode()

    def send(self, platform, body, category="World"):
        """As a publisher of its own."""
        key = dict(field.split("=", 1) for field in self.connection.split(";"))
        resource, expires = urllib.parse.quote(self.address, safe=""), int(time.time()) + 600
        signature = base64.b64encode(hmac.digest(key["SharedAccessKey"].encode(), f"{resource}\n{expires}".encode(), "sha256"))
        request = urllib.request.Request(f"{self.address}breaking-news/messages?api-version=2020-06", body.encode(), {
            "Authorization": f"SharedAccessSignature sr={resource}&sig={urllib.parse.quote(signature, safe='')}&se={expires}&skn={key['SharedAccessKeyName']}",
            "ServiceBusNotification-Format": platform, "ServiceBusNotification-Tags": category,
            "X-WNS-Type": "wns/toast", "Content-Type": "application/xml" if platform == "windows" else "application/json;charset=utf-8"})
        urllib.request.urlopen(request).read()

    def outcome(self, outcome, *platforms):
        """What the phones' platforms make of pushes from now on."""
        for phone in json.loads(self.call("_emulator/phone"))["phones"]:
            if phone["platform"] in platforms:
                self.call(f"_emulator/devices/{urllib.parse.quote(phone['handle'], safe='')}", "PUT", {"outcome": outcome})

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
            page.find("#headline").send_keys("Unheard", Keys.ENTER)
            page.wait("the page's own words", lambda: reader.hint() == "Not sent. The hub does not answer.")
            page.find("#headline").clear()
            page.driver.execute_script("document.activeElement.blur()")
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
            page.wait("an empty hub", lambda: page.text("#status") == "0 sends · 0 deliveries · 0 phones subscribed")
        # Nothing but the refused connections and the 401.
        complaints = [entry["message"] for entry in page.driver.get_log("browser")]
        assert all(re.search("ERR_|status of (401|410)", complaint) for complaint in complaints), complaints
    hub.end()


def choose(reader, platform, category):
    reader.page.find(f".phone.{platform} input[value={category}]").click()


def mishaps():
    """Whatever is sent, and whatever the hub does, the page goes on and tells what happened."""
    hub = Hub()
    with opened(hub.address, *folder, width=DESKTOP[0], height=DESKTOP[1]) as page:
        reader = Reader(page)
        for platform in PHONES:
            choose(reader, platform, "World")
            page.wait("the subscription", lambda: reader.state(platform) == "Subscribed to World.")

        hub.send("windows", '<toast launch="null"><visual><binding template="ToastGeneric"><text>Launches null</text></binding></visual></toast>')
        hub.send("windows", "<toast><visual><binding template='ToastGeneric'><text>Launches nothing</text></binding></visual></toast>")
        hub.send("apple", '{"aps":{"alert":7},"category":{"toString":1},"id":7}')
        hub.send("apple", '{"aps":{"alert":{"title":{"toString":1},"body":"Odd title"}}}')
        hub.send("fcmv1", '{"message":{"notification":{"title":"Null android"},"data":{"story":"s"},"android":null}}')
        own = '{"aps":{"alert":{"title":"World","subtitle":"Live","body":"World Cup"}}}'
        hub.send("apple", own)
        hub.send("fcmv1", '{"message":{"notification":{"title":"World","body":"An own body"}}}')
        hub.send("browser", '{"title":null,"message":7}')
        hub.send("browser", '{"title":"A whole story","category":null}')
        for platform, texts in [("windows", ["Launches nothing", "Launches null"]), ("apple", ["World: Live: World Cup", "Odd title"]), ("fcmv1", ["World: An own body", "Null android"]), ("browser", ["A whole story"])]:
            page.wait(f"what {platform} can show", lambda: reader.texts(platform) == texts)
        assert page.script("document.querySelector('.phone.apple .notification').title") == own

        hub.outcome("ExpiredChannel", "apple")
        hub.outcome("Throttled", "fcmv1", "windows", "browser")
        send(reader, "World", "Nobody can be reached")
        page.wait("why nobody has it", lambda: reader.hint() == "Sent to 0 phones: 1 expired channel, 3 throttled.")
        assert ["World", "Nobody can be reached", "0 phones: 1 expired channel, 3 throttled"] in reader.sends()
        page.picture("mishaps")
        for category in ["World", "Sports"]:
            for platform in ["fcmv1", "windows", "browser"]:
                choose(reader, platform, category)
        page.wait("the phone's end", lambda: reader.state("apple") == "Not registered: the hub has dropped it.")
        page.wait("nobody else to be left", lambda: all(hub.tags(platform) == ["Sports"] for platform in ["fcmv1", "windows", "browser"]))
        send(reader, "World", "The only phone is gone")
        page.wait("that it is missing", lambda: reader.hint() == "Sent to 0 phones: the hub has no registration for World.")
        send(reader, "Politics", "Nobody cares")
        page.wait("that nobody asks", lambda: reader.hint() == "Sent to 0 phones: nobody has asked for Politics.")
        hub.outcome("Success", *PHONES)

        # The switches act on the page's own stories too.
        page.find("#faults label:last-child").click()
        page.wait("the fault", lambda: "reset" in hub.call("_emulator/faults"))
        page.find("#composer input[value=World]").click()
        page.find("#headline").send_keys("Cut off", Keys.ENTER)
        page.wait("the cut", lambda: reader.hint() == "Not sent. The hub cut the connection.")
        page.wait("the cut in the list", lambda: ["World", "Cut off", "connection cut"] in reader.sends())
        page.find("#headline").clear()
        page.find("#faults label:nth-child(3)").click()
        page.wait("two faults", lambda: "latencyMs" in hub.call("_emulator/faults"))
        page.wait("both switches", lambda: page.script("document.querySelectorAll('#faults input:checked').length") == 2)
        # Both off in the same instant, and then another one on.
        page.driver.execute_script("for (const input of document.querySelectorAll('#faults input:checked')) input.click(); document.querySelector('#faults input').click()")
        page.wait("the other fault", lambda: "503" in hub.call("_emulator/faults"))
        assert len(json.loads(hub.call("_emulator/faults"))) == 1, "they turned each other on again"
        page.find("#faults label:first-child").click()
        page.wait("no faults", lambda: hub.call("_emulator/faults") == "[]")

        # A story's end is told although others have taken its place in the list.
        page.driver.execute_script("""const ask = fetch, gate = new Promise(open => window.openGate = open);
            window.fetch = (path, options) => path.includes("overview") ? gate.then(() => ask(path)) : ask(path, options);""")
        send(reader, "Politics", "Soon forgotten")
        for number in range(8):
            hub.send("template", json.dumps({"messageParam": f"Story {number}"}))
        page.driver.execute_script("openGate()")
        page.wait("the end of its story", lambda: reader.hint() == "Sent. Its outcome is not among the last sends.")
        complaints = [entry["message"] for entry in page.driver.get_log("browser")]
        assert len(complaints) <= 1 and all("502" in complaint for complaint in complaints), complaints
    hub.end()


def others():
    """Another browser, another hub, and a browser that may store nothing."""
    hub = Hub()
    size = {"width": DESKTOP[0], "height": DESKTOP[1]}
    with opened(hub.address, *folder, **size) as one, opened(hub.address, *folder, **size) as two:
        first, second = Reader(one), Reader(two)
        one.driver.execute_script("""window.heard = [], window.states = [];
            const watch = (element, seen) => new MutationObserver(() => seen.push(element.textContent)).observe(element, { childList: true });
            watch(document.getElementById("announcer"), heard);
            watch(document.querySelector(".phone.apple .state"), states);""")
        choose(first, "apple", "World")
        one.wait("the choice", lambda: first.state("apple") == "Subscribed to World.")
        assert one.script("heard") == ["iPhone: Subscribed to World."], one.script("heard")
        assert one.script("states") == ["Registering…", "Subscribed to World."], one.script("states")
        choose(first, "fcmv1", "World")

        two.wait("the choice of the other", lambda: second.state("apple") == "Subscribed to World.")
        choose(second, "apple", "World")
        two.wait("its end", lambda: second.state("apple") == "Not subscribed. Choose a category.")
        one.wait("its end here", lambda: first.state("apple") == "Not subscribed. Choose a category.")
        assert not one.find(".phone.apple .again").is_displayed()

        choose(first, "apple", "Sports")
        one.wait("another choice", lambda: first.state("apple") == "Subscribed to Sports.")
        hub.outcome("ExpiredChannel", "apple")
        send(first, "Sports", "The phone is gone")
        one.wait("the phone's end", lambda: first.state("apple") == "Not registered: the hub has dropped it.")
        hub.outcome("Success", "apple")
        one.driver.execute_script("states.length = heard.length = 0")
        one.find(".phone.apple .again").click()
        one.wait("the phone's return", lambda: first.state("apple") == "Subscribed to Sports.")
        assert one.script("states") == ["Registering…", "Subscribed to Sports."], one.script("states")
        assert one.script("heard").count("iPhone: Subscribed to Sports.") == 1, one.script("heard")

        # Another hub: one page is open, the other comes later and remembers another choice.
        two.wait("the choice of the other", lambda: second.state("apple") == "Subscribed to Sports.")
        two.driver.get("about:blank")
        one.find("#headline").send_keys("Half a head")
        hub.end()
        one.wait("the loss", lambda: first.state("apple") == "The hub does not answer.")
        hub = Hub(hub.port, "--name", "other-news")
        one.wait("the other hub's name", lambda: one.text(".copied b") == "other-news")
        one.wait("the other hub's key", lambda: one.find("#connection").get_attribute("value") == hub.connection)
        one.wait("the phones' return", lambda: first.state("apple") == "Subscribed to Sports.")
        assert one.find("#headline").get_attribute("value") == "Half a head"
        choose(first, "apple", "Science")
        one.wait("a newer choice", lambda: first.state("apple") == "Subscribed to Science and Sports.")
        two.driver.get(hub.address)
        Reader(two)
        two.wait("the hub's word", lambda: second.state("apple") == "Subscribed to Science and Sports.")
        assert hub.tags("apple") == ["Science", "Sports"], "opening a page has changed a registration"
        one.driver.get_log("browser")
        two.driver.get_log("browser")
    with opened(hub.address, *folder, **size, preferences={"profile.default_content_setting_values.cookies": 2}) as page:
        reader = Reader(page)
        choose(reader, "apple", "World")
        page.wait("a choice without a memory", lambda: reader.state("apple") == "Subscribed to World, Science, and Sports.")
        hub.end()
        page.wait("the loss", lambda: reader.state("apple") == "The hub does not answer.")
        hub = Hub(hub.port)
        page.wait("the phone's return", lambda: hub.tags("apple") == ["World", "Science", "Sports"])
        page.wait("the page to say so", lambda: reader.state("apple") == "Subscribed to World, Science, and Sports.")
        # A demo takes the hub's place, and a hub the demo's.
        hub.end()
        demo = subprocess.Popen([subject, "demo", "--port", str(hub.port)], stdout=subprocess.DEVNULL)
        atexit.register(demo.kill)
        page.wait("the demo", lambda: page.text("#next-title") == "A fifth phone, in a terminal" and page.find("#dashboard").is_displayed())
        page.wait("the demo's own phones", lambda: reader.state("apple") == "Subscribed to World and Sports.")
        page.find("#composer input[value=Politics]").click()
        reader.collect_hints()
        page.find("#headline").send_keys("Through Kafka", Keys.ENTER)
        page.wait("the outcome", lambda: reader.hint() == "Arrived on 1 phone.")
        assert "On its way through Kafka." in page.script("hints"), "the page did not show the way"
        demo.send_signal(signal.SIGTERM)
        demo.wait()
        hub = Hub(hub.port)
        page.wait("the hub", lambda: page.text("#next-title") == "Send news to it" and not page.find("#dashboard").is_displayed())
        page.find("#headline").send_keys("Not through Kafka", Keys.ENTER)
        page.wait("the outcome", lambda: reader.hint() == "Sent to 0 phones: nobody has asked for Politics.")
        complaints = [entry["message"] for entry in page.driver.get_log("browser")]
        assert all("ERR_" in complaint for complaint in complaints), complaints
    hub.end()


def speak(reader, platform, language):
    Select(reader.page.find(f".phone.{platform} .language")).select_by_visible_text(language)


def languages():
    """Three readers in three languages: one send, three texts; who changes the language has one registration."""
    hub = Hub()
    readers = {"apple": "English", "fcmv1": "Français", "browser": "中文"}
    with opened(hub.address, *folder, width=DESKTOP[0], height=DESKTOP[1]) as page:
        reader = Reader(page)
        for platform, language in readers.items():
            # A language may be chosen before there is anything to ask for.
            speak(reader, platform, language)
            choose(reader, platform, "World")
            page.wait("the subscription", lambda: reader.state(platform) == "Subscribed to World.")
        choose(reader, "windows", "World")
        page.wait("a reader without a language", lambda: reader.state("windows") == "Subscribed to World.")

        def write(**texts):
            field = page.find("#headline")
            written = []
            for code, text in texts.items():
                Select(page.find("#language")).select_by_value(code)
                assert field.get_attribute("lang") == code and field.get_attribute("value") == "", "the field is of another language"
                if written:
                    assert reader.hint() == f"Also in {' and '.join(written)}; each phone shows its own language.", reader.hint()
                field.send_keys(text)
                written = sorted([*written, {"en": "English", "fr": "Français", "zh": "中文"}[code]])
            field.send_keys(Keys.ENTER)
            page.wait("the outcome", lambda: reader.hint() == "Arrived on 4 phones.")

        write(en="Good morning", fr="Bonjour", zh="早上好")
        for platform, text in {"apple": "Good morning", "fcmv1": "Bonjour", "browser": "早上好", "windows": "Good morning"}.items():
            page.wait(f"the text on {platform}", lambda: reader.texts(platform) == [text])
        assert len(json.loads(hub.call("_emulator/messages"))["messages"]) == 1, "one send for all"

        assert reader.sends()[0] == ["World", "Good morning", "4 phones · 3 languages"], reader.sends()

        # With the language that a story has, a correction has its translation too.
        Select(page.find("#corrects")).select_by_index(1)
        assert page.find("#headline").get_attribute("value") == "Good morning"
        assert reader.hint() == "Also in Français and 中文; each phone shows its own language."
        Select(page.find("#language")).select_by_value("fr")
        assert page.find("#headline").get_attribute("value") == "Bonjour"
        page.find("#headline").send_keys(" à tous", Keys.ENTER)
        for platform, text in {"apple": "Good morning", "fcmv1": "Bonjour à tous", "browser": "早上好"}.items():
            page.wait(f"the correction on {platform}", lambda: reader.texts(platform) == [text])
        page.wait("the outcome", lambda: reader.hint() == "Arrived on 4 phones.")
        page.wait("both sends", lambda: len(reader.sends()) == 2)
        updated = page.script("[...document.querySelectorAll('.phone')].filter(phone => phone.querySelector('.updated:not([hidden])')).map(phone => phone.classList[1])")
        assert updated == ["fcmv1"], f"the others see the same text: {updated}"

        write(fr="Bonne nuit", en="Good night")
        for platform, text in {"apple": "Good night", "fcmv1": "Bonne nuit", "browser": "Good night"}.items():
            page.wait(f"the translation, or the fallback, on {platform}", lambda: reader.texts(platform)[0] == text)

        registrations = json.loads(hub.call("_emulator/overview"))["registrations"]
        speak(reader, "apple", "Français")
        page.wait("the other language", lambda: "language_fr" in json.loads(hub.call("_emulator/overview"))["phones"]["apple"])
        page.wait("the page to say so", lambda: reader.state("apple") == "Subscribed to World.")
        assert json.loads(hub.call("_emulator/overview"))["registrations"] == registrations, "a language has left a registration behind"
        write(en="Good evening", fr="Bonsoir")
        page.wait("the new language", lambda: reader.texts("apple")[0] == "Bonsoir")
        assert reader.sends()[0][1:] == ["Good evening", "4 phones · 2 languages"], reader.sends()
        assert reader.texts("apple") == ["Bonsoir", "Good night", "Good morning"], "it came twice"

        page.driver.refresh()
        reader = Reader(page)
        page.wait("the kept language", lambda: page.find(".phone.apple .language").get_attribute("value") == "fr")
        speak(reader, "apple", "Any language")
        page.wait("the text for all", lambda: "language_fr" not in json.loads(hub.call("_emulator/overview"))["phones"]["apple"])
        looks_right(reader, "languages")
    hub.end()


{"languages": languages, "demo": demo, "tabs": tabs, "restart": restart, "mishaps": mishaps, "others": others}[mode]()
