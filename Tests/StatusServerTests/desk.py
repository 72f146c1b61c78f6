"""Orders on the dashboard, from answers that the test writes itself."""

import copy
import json

from looks import legible, reachable
from scripted import CALM, lane

# Intercepts the page's requests. `answers` has an answer for the start of an address.
SOURCE = """
  const network = window.fetch;
  let seconds = 0;
  window.answers = JSON.parse(sessionStorage.getItem("answers") ?? "{}");
  window.fetch = (address, options) => {
    const paths = Object.keys(window.answers).filter((path) => String(address).startsWith(path));
    const path = paths.sort((one, other) => other.length - one.length)[0];
    if (!path) return network(address, options);
    if (path === "api/status") {
      if (window.answers.fails) return Promise.reject(new TypeError("Failed to fetch"));
      seconds += 1;
      window.answers[path].at = new Date(Date.parse(window.answers[path].startedAt) + seconds * 1000).toISOString();
    }
    (window.asked ??= []).push(String(address));
    return Promise.resolve(new Response(JSON.stringify(window.answers[path])));
  };
"""

START = "2026-01-01T12:00:00Z"
LATER = "2026-01-01T12:01:00Z"
STOPPED = {"what": "hub", "events": 142, "categories": {"Sports": 42, "World": 100}, "oldest": START, "tooOld": 7, "expiring": 12, "nextExpiry": START}
STATUS = CALM | {
    "startedAt": START, "at": START, "replica": "news-1", "group": "newswire", "hub": {"name": "breaking", "host": "ns.example.net"},
    "stopped": [STOPPED], "held": {"events": 1234, "ours": 3, "nextDue": START},
    "lanes": [lane("live", lag=300, held=142), lane("backfill")]}
STOP = {"scope": "stop/hub", "do": "stop", "at": START, "by": "m.muster", "reason": "wrong alert", "until": None, "unconfirmed": ["news-2"]}
CONTROL = {
    "at": LATER, "known": True, "standing": 1, "orders": [STOP], "silent": [{"replica": "news-3", "lastHeard": START, "version": "0.0.9"}],
    "processes": [
        {"replica": "news-1", "lastHeard": START, "version": "0.1.0", "shards": 2, "group": "newswire", "hub": "breaking"},
        {"replica": "news-2", "lastHeard": START, "version": "0.2.0", "shards": 4, "group": "newswire", "hub": "breaking"}],
    "recent": [{"scope": "stop/hub", "do": "stop", "at": START, "by": "m.muster", "reason": "wrong alert", "processes": 2, "met": {"waiting": 430, "inFlight": 2, "held": 0}}]}
RESULTS = {"results": [
    {"eventId": f"quake-{number}", "story": "quake", "platform": "template", "outcome": "accepted", "categories": ["World"], "tags": ["World"],
     "lane": "live", "source": {"topic": "news.events", "partition": 0, "offset": number}, "settledAt": START} for number in range(9)]}
STORY = {"story": "quake", "found": "event", "unknown": [],
         "accepted": [{"eventId": "quake-7", "at": START, "categories": ["World", "Science"]}, {"eventId": "quake-8", "at": START, "categories": [], "singleReaders": True}]}


def history(seconds=3600):
    def point(second):
        return {"at": f"2026-01-01T{11 + second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z", "requests": 9,
                "lanes": [{"rate": 2, "accepted": 2, "failed": 0, "p50": 0.03, "p95": 0.05, "p99": 0.07},
                          {"rate": 500, "accepted": 500, "failed": 5, "p50": 12, "p95": 14, "p99": 15}]}
    return {"lanes": ["live", "backfill"], "points": [point(second) for second in range(0, seconds, 10)]}


def look(page):
    text, wait, script = page.text, page.wait, page.script
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SOURCE})

    def answer(**more):
        answers = {"api/status": STATUS, "api/control": CONTROL, "api/results": RESULTS, "api/story": STORY,
                   "api/history": {"lanes": [], "points": []}} | {f"api/{name}": value for name, value in more.items()}
        page.driver.execute_script("sessionStorage.setItem('answers', arguments[0]); Object.assign(window.answers ?? {}, JSON.parse(arguments[0]))",
                                   json.dumps(answers))

    def rows(body):
        return script("[...document.getElementById(arguments[0]).rows].map(row => [...row.cells].map(cell => cell.innerText))", body)

    def dialog():
        return page.find("#order").is_displayed()

    def cancel():
        page.find("#order-no").click()
        wait("the end of the question", lambda: not dialog())

    answer()
    page.driver.refresh()
    wait("the orders", lambda: text("#stop-hub") == "Resume the hub…")
    assert text("#identity") == "Hub breaking at ns.example.net, consumer group newswire; this process is news-1"
    assert text("#held") == "1,234" and text("#held-next").startswith("next "), text("#held-next")
    assert text("#control-remark") == "1 order in force; only 1 of 2 processes confirmed it. 1 process fell silent without ending."
    for width, height in [(1280, 800), (390, 844)]:
        page.picture(f"desk-{width}", width, height)
        bottom = script("document.getElementById('stop-part').getBoundingClientRect().bottom + scrollY")
        assert bottom < height, (width, bottom, "the orders are below the fold")
        page.fits()
        legible(page)
        reachable(page)
    page.picture("desk", 1280, 900)

    # One line for each process, those that need somebody first. The section is open, because somebody must look.
    wait("the processes", lambda: len(rows("processes")) == 3 and rows("processes")[2][0] == "news-1 (this one)")
    found = [row[:4] for row in rows("processes")]
    assert found[0][:2] == ["news-3", "Fell silent without ending: killed, or cut off from Kafka"], found
    assert found[1] == ["news-2", "Not confirmed: stop of the hub", "0.2.0", "4"], found
    assert found[2] == ["news-1 (this one)", "Obeys the one order", "0.1.0", "2"], found
    assert "versions 0.1.0 and 0.2.0" in text("#processes-remark"), text("#processes-remark")

    # Before Resume: how many wait, of which categories, since when, and how many will expire.
    page.find("#stop-hub").click()
    wait("the question", dialog)
    said = text("#order-text")
    assert "142 events wait in this process: 100 of World and 42 of Sports.\nThe oldest is from " in said, said
    assert "7 are too old by now and will expire.\n12 will be too old within 5 minutes, the first at " in said and "\nAbout 158 events behind them are not read yet." in said, said
    assert "430 deliveries waited in 2 processes.\nThe other process holds back its own share" in said, said
    page.picture("resume")
    more = copy.deepcopy(STATUS)
    more["stopped"][0] |= {"events": 1, "categories": {}, "tooOld": 0, "expiring": 0, "nextExpiry": None}
    answer(status=more)
    wait("a later number", lambda: text("#order-text").startswith("1 event waits in this process.\n") and "None of them expires." in text("#order-text"))
    cancel()

    page.find("#stop-part").click()
    wait("the parts", dialog)
    options = script("[...document.getElementById('part').options].map(option => [option.value, option.text])")
    assert options == [["category:World", "category World"], ["lane:live", "lane live"], ["lane:backfill", "lane backfill"]], options
    page.picture("stop-part")
    legible(page)
    reachable(page)
    cancel()

    # A recall finds its story by a part of an id, says who has it, and shows its replacement with the audience.
    page.find("#recall-story").click()
    wait("the last results", lambda: len(page.all("#found button")) == 4)
    page.find("#story").send_keys("quake-7")
    wait("the one found", lambda: [one.text.split("\n")[0] for one in page.all("#found button")][0].startswith("quake-7"))
    page.find("#found button").click()
    wait("the readers", lambda: text("#sent").startswith("quake-7 is an event of the story quake; the recall is about the whole story. Readers have: quake-7, "))
    assert "for World, Science" in text("#sent") and "for single readers" in text("#sent"), text("#sent")
    page.find("#replace").send_keys("Withdrawn: <b>quake</b>")
    wait("the preview", lambda: "to the readers of World, Science, and single readers" in text("#preview"))
    assert "Withdrawn: <b>quake</b>" in text("#preview")
    for width, height in [(1280, 900), (390, 844)]:
        page.picture(f"recall-{width}", width, height)
        page.fits()
        legible(page)
        reachable(page)
    page.picture("desk", 1280, 900)
    page.find("#order-reason").send_keys("agency kill")
    page.find("#order-by").send_keys("night desk")
    answer(**{"control/recall": {
        "scope": "recall/story/quake", "processes": 2, "applied": 2, "milliseconds": 90, "missing": [], "silent": [], "met": {}, "former": None,
        "successor": None, "replaced": ["World", "Science"], "notReplaced": ["Sports", "readers whose results were removed"]}})
    page.find("#order-yes").click()
    wait("the answer", lambda: "The replacement goes to the readers of World, Science." in text("#action"))
    assert "whether the readers of Sports and readers whose results were removed have the story; they get no replacement" in text("#action"), text("#action")
    order = next(one for one in script("window.asked") if "recall" in one)
    assert "story=quake-7" in order and "replace=Withdrawn" in order and "reason=agency+kill" in order, order

    # Without a connection nobody can press anything, and the page says what to type.
    page.driver.execute_script("window.answers.fails = true")
    wait("the loss", lambda: not page.find("#stop-hub").is_enabled())
    assert text("#instead") == "No connection. Type instead: newswire resume hub"
    assert not any(button.is_enabled() for button in page.all("#desk button, #orders button"))
    page.picture("lost", 390, 844)
    page.fits()
    legible(page)
    page.picture("lost", 1280, 900)
    page.driver.execute_script("window.answers.fails = undefined")
    wait("the connection", lambda: page.find("#stop-hub").is_enabled())

    # The charts begin with the last hour. Each lane has its own, so that a backfill does not hide how fast live news is.
    answer(history=history())
    page.driver.refresh()
    captions = "[...document.querySelectorAll('.charts .caption')].map(caption => caption.textContent)"
    wait("a pair of charts for each lane", lambda: script(captions) == [
        f"{name}: {what}" for name in ["live", "backfill"] for what in ["events with an outcome, a second", "time from record to outcome"]])
    steps = "[...document.querySelectorAll('.charts figure')].map(chart => chart.querySelector('.line').getAttribute('d').split('L').length)"
    wait("full charts", lambda: min(script(steps)) > 300)
    scales = script("[...document.querySelectorAll('.charts svg')].map(svg => svg.querySelectorAll('text')[2].textContent)")
    assert scales[1].endswith("ms") and scales[3] == "20 s", scales
    page.picture("history", 1280, 1400)

    # A page that nobody scrolls through: everything that is healthy is folded.
    for width, most in [(1280, 2200), (390, 4400)]:
        page.picture("length", width, 900)
        height = script("document.documentElement.scrollHeight")
        assert height < most, (width, height)
    page.driver.get_log("browser")
