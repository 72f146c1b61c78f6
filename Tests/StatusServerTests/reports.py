"""Tests the pages of processes other than the publisher: reports.py ADDRESS feeds|telemetry [FOLDER FOR SCREENSHOTS]"""

import copy
import json
import sys
import urllib.request

from browser import opened
from looks import legible, reachable

address, mode, *folder = sys.argv[1:]

# Intercepts the page's requests. The test sets the answer; "silence" simulates a missing server.
SOURCE = """
  const network = window.fetch;
  window.fetch = (address, options) => {
    if (!window.told || !String(address).includes("api/status")) return network(address, options);
    if (window.told === "silence") return Promise.reject(new TypeError("Failed to fetch"));
    return Promise.resolve(new Response(JSON.stringify(window.told)));
  };
"""


def rows(page, body):
    return page.script("[...document.getElementById(arguments[0]).rows].map(row => [...row.cells].map(cell => cell.innerText))", body)


def looks_right(page, name):
    unnamed = page.unnamed("a, section, [role=region]")
    assert not unnamed, unnamed
    for shape, size in [("", (1280, 1100)), ("-narrow", (390, 844))]:
        for scheme in ["dark", "light"]:
            page.emulate(prefers_color_scheme=scheme)
            page.picture(f"{name}-{scheme}{shape}", *size)
        page.fits()
        legible(page)
        reachable(page)
    # Cells show their own labels if columns have no heads.
    labels = page.script("[...document.querySelectorAll('tbody td')].every(cell => getComputedStyle(cell, '::before').content.length > 2)")
    assert labels, "a cell has no label"
    page.picture(name, 320, 640)
    page.fits()


def feeds(page):
    page.wait("the feeds", lambda: page.text("#title") == "3 feeds of 6 cannot be read")
    assert page.text("#state") == "Look" and page.text("#why").startswith("afp: No answer within 20 s")
    assert "It has lasted " in page.text("#why"), page.text("#why")
    found, healthy = rows(page, "feeds"), rows(page, "healthy")
    assert [row[0].split("\n")[0] for row in found] == ["afp", "dpa", "old", 'quote"d', "sport"], found
    assert [row[0] for row in healthy] == ["world"], healthy
    assert "Strangely quiet: usually something new every 60 s." in found[4][0], found[4]
    assert found[2][4] == "never" and healthy[0][5] == "7" and healthy[0][9] == "75 %", healthy
    assert page.text("#version").endswith("started 60 min ago"), page.text("#version")
    looks_right(page, "feeds")

    with urllib.request.urlopen(f"{address}api/status") as answer:
        real = json.load(answer)
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SOURCE})

    def told(feeds):
        problems = len([feed for feed in feeds if feed["problem"]])
        page.driver.execute_script("window.told = arguments[0]", real | {"reasons": [], "feeds": feeds, "feedCount": len(feeds), "problemCount": problems})

    calm = next(feed for feed in real["feeds"] if feed["name"] == "world")
    failed = next(feed for feed in real["feeds"] if feed["name"] == "afp")
    page.driver.refresh()
    told([failed | {"name": f"feed-{number}"} for number in range(4)])
    page.wait("that nothing can be read", lambda: page.text("#title") == "4 feeds of 4 cannot be read")
    assert page.script("document.getElementById('verdict').dataset.tone") == "bad"
    assert page.text("#why").startswith("4 feeds (feed-0, feed-1, feed-2, feed-3): No answer within 20 s"), page.text("#why")
    # The same reason needs one line.
    assert [row[0].split("\n")[0] for row in rows(page, "feeds")] == ["4 feeds"], rows(page, "feeds")
    assert rows(page, "feeds")[0][1].startswith("failing for up to "), rows(page, "feeds")

    # Ninety feeds, of which ten fail: what is healthy is folded.
    told([failed | {"name": f"feed-{number}"} for number in range(10)] + [calm | {"name": f"calm-{number}"} for number in range(80)])
    page.wait("many feeds", lambda: page.text("#title") == "10 feeds of 90 cannot be read")
    assert page.script("document.getElementById('verdict').dataset.tone") == "warn"
    for width, most in [(1280, 1000), (390, 1600)]:
        page.driver.refresh()
        page.picture("many", width, 844)
        told([failed | {"name": f"feed-{number}"} for number in range(10)] + [calm | {"name": f"calm-{number}"} for number in range(80)])
        page.wait("many feeds", lambda: page.text("#healthy-remark") == "80 feeds without a problem")
        page.picture(f"feeds-many-{width}", width, 844)
        height = page.script("document.documentElement.scrollHeight")
        assert height < most, (width, height)


def telemetry(page):
    def verdict(what, state, title, why="", todo=""):
        page.wait(what, lambda: (page.text("#state"), page.text("#title")) == (state, title))
        assert why in page.text("#why") and todo in page.text("#todo"), (page.text("#why"), page.text("#todo"))

    verdict("what the server says", "Look", "No notifications on Windows (wns)", "The hub accepts sends all the same", "in Azure")
    assert rows(page, "sends") == [
        ["backfill, template", "1", "120", "30", "25 %", "over 30 min", "over 30 min", "0", "0"],
        ["live, template", "12", "1,542", "1,450", "94 %", "1.0 s", "5.0 s", "4", "1"]], rows(page, "sends")
    outcomes = {(row[0], row[1]): row[2:] for row in rows(page, "outcomes")}
    assert outcomes["Apple (apns), live", "WrongToken"] == ["the device’s address is of another app", "50", "60 s ago"], outcomes
    assert outcomes["Windows (wns), live", "InvalidCredentials"][1:] == ["42", "2 min ago"], outcomes
    assert rows(page, "tags") == [["Wrold", "3", "20 s ago"], ["<b>Sprots</b>", "1", "40 s ago"]], rows(page, "tags")
    questions = dict(rows(page, "questions"))
    assert questions["Sends followed now"] == "3" and questions["The oldest of them"] == "2 min", questions
    assert questions["Answered with details"] == "14" and questions["Sends not asked about: not in the sample"] == "1", questions
    assert "Did not answer" not in questions, questions
    looks_right(page, "telemetry")

    with urllib.request.urlopen(f"{address}api/status") as answer:
        real = json.load(answer)

    def told(**changes):
        status = copy.deepcopy(real) | changes
        page.driver.execute_script("window.told = arguments[0]", status)
        return status

    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SOURCE})
    page.driver.refresh()
    harmless = [row for row in real["outcomes"] if row["outcome"] == "Success"]
    # Old problems are not shown, and recent ones come first.
    old = [row | {"last": "2020-01-01T00:00:00.000Z"} for row in real["outcomes"]]
    told(outcomes=old)
    verdict("a tag of nobody", "Look", "Nobody has the tag Wrold", "3 sends to it found no device, the last 20 s ago.", "typing error")
    # The verdict keeps what it has named, although another tag is worse now.
    worse = [{"tag": "Other", "sends": 9, "last": real["at"]}] + real["withoutTarget"]
    told(outcomes=old, withoutTarget=worse, withoutTargetCount=3)
    page.wait("the other tag", lambda: len(rows(page, "tags")) == 3 and "1 other tag is like it." in page.text("#why"))
    assert page.text("#title") == "Nobody has the tag Wrold"
    few = [tag | {"sends": 2} for tag in real["withoutTarget"]]
    told(outcomes=old, withoutTarget=few, withoutTargetCount=300)
    page.wait("what the table leaves out", lambda: page.text("#tags-more") == "The last 2 of 300.")
    verdict("a lane that reaches few", "Look", "Only 25 % of the devices on lane backfill were reached", "30 of 120 devices")
    calm = {"outcomes": harmless, "withoutTarget": [], "withoutTargetCount": 0, "sends": real["sends"][1:]}
    told(**calm)
    verdict("good news", "Good", "89 % of the devices reached", "1,480 of 1,662 devices, in 13 sends.", "Nothing.")
    assert page.find("#no-tags").is_displayed() and not page.find("#some-tags").is_displayed()
    told(**calm, problem="throttled")
    verdict("a pause", "Waiting", "The hub asked for a pause", "sends do not")
    reason = {"code": "unreachable", "detail": "the hub cannot be asked", "remedy": "see the log for the reason"}
    told(**calm, ready=False, reasons=[reason], problem="unreachable")
    verdict("what keeps it from asking", "Not ready", "The hub is not asked what became of sends", "News goes out all the same.", "See the log for the reason.")
    nothing = {"outcomes": [], "withoutTarget": [], "withoutTargetCount": 0, "sends": [], "ended": 0, "targets": 0, "successes": 0}
    lost = real["sends"][0] | {"states": {"NoTargetFound": 4, "Unknown": 1}, "targets": 0, "successes": 0}
    told(**nothing | {"ended": 5, "sends": [lost]})
    verdict("sends of unknown fate", "Look", "No device is known to be reached", "4 sends of 5 found none", "how they ended")
    told(**nothing | {"ended": 5, "sends": [lost | {"states": {"NoTargetFound": 5}}]})
    verdict("a hub without devices", "Look", "No device at all", "None of 5 sends found a device", "whether the apps register")
    told(**nothing)
    verdict("the first sends", "Asking", "3 sends followed", "the end of none yet")
    assert page.find("#no-sends").is_displayed() and not page.find("#outcomes-section").is_displayed()
    page.picture("telemetry-empty", 1280, 800)
    told(**nothing, open=0)
    verdict("nothing to ask about", "Standing by", "No accepted send to ask about yet")
    told(**nothing, open=0, skipped={"without-id": 4})
    verdict("a hub below the tier", "Look", "The hub gives sends no id", "below Standard")
    page.driver.execute_script("window.told = 'silence'")
    page.wait("the age", lambda: page.text("#age").startswith("No answer for"))


with opened(address, *folder, width=1280, height=1100) as page:
    {"feeds": feeds, "telemetry": telemetry}[mode](page)
