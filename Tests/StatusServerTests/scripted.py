"""The dashboard in every state, from a status that the test writes itself."""

import copy
import json

from looks import legible, reachable

# Intercepts the page's requests. Each answer is a second later than the previous one.
SOURCE = """
  const network = window.fetch;
  let seconds = 0;
  const counts = [0, 0];
  window.fetch = (address, options) => {
    if (!String(address).endsWith("api/status")) return network(address, options);
    window.asked = (window.asked ?? 0) + 1;
    const { status, perSecond, fails } = window.told ?? { fails: "refused" };
    if (fails === "refused") return Promise.reject(new TypeError("Failed to fetch"));
    if (fails === "silent") return new Promise((_, reject) => options.signal.addEventListener("abort", () => reject(options.signal.reason)));
    seconds += 1;
    status.at = new Date(Date.parse(status.startedAt) + seconds * 1000).toISOString();
    perSecond.forEach((count, index) => {
      counts[index] += count;
      status.lanes[index].outcomes.accepted = counts[index];
    });
    status.requests = counts[0] + counts[1];
    return Promise.resolve(new Response(JSON.stringify(status)));
  };
"""

NONE = [0] * 49


def lane(name, **changes):
    times = {"counts": NONE}
    return {
        "name": name, "topics": [f"news.{name}"], "partitions": 4, "paused": False, "flooded": False, "lag": 0, "lagSeconds": 0,
        "held": 0, "heldBytes": 0, "ready": 0, "delayed": 0, "outcomes": {"accepted": 0}, "deadLetters": {},
        "latency": {"queue": times, "hub": times, "total": times}} | changes


CALM = {
    "startedAt": "2026-01-01T12:00:00Z", "version": "0.1.0", "healthy": True, "ready": True, "notReady": [], "waits": [],
    "halts": [], "limitedBy": [], "requests": 0, "inFlight": 0, "concurrencyLimit": 64, "connections": 2, "streams": 0, "http": "HTTP/2", "tokens": 50,
    "rate": {"perSecond": 500, "burst": 50}, "kafka": {"errors": 0}, "lanes": [lane("live"), lane("backfill")],
    "categories": [{"name": "World", "outcomes": {}}], "latencyBounds": [0.001 * step for step in range(1, 49)]}


def reason(code, detail="it is so", remedy="mend it", of=None):
    return {"code": code, "detail": detail, "remedy": remedy} | ({"lane": of} if of else {})


def halt(name):
    return {"reason": name, "detail": "401 Unauthorized", "remedy": "check the key", "since": "2026-01-01T12:00:00Z", "probeAt": "2026-01-01T12:01:00Z"}


def look(page):
    text, wait, script = page.text, page.wait, page.script
    page.driver.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": SOURCE})
    page.driver.refresh()

    def tell(status=None, perSecond=(0, 0), **changes):
        page.driver.execute_script(
            "window.told = { status: Object.assign(arguments[0], arguments[1]), perSecond: arguments[2] }",
            copy.deepcopy(status or CALM), changes, list(perSecond))

    def lanes(live={}, backfill={}):
        return [lane("live", **live), lane("backfill", **backfill)]

    def state():
        return [text("#state"), text("#title")]

    def marked():
        """The stations with a problem."""
        return script("[...document.querySelectorAll('.station')].filter(one => ['warn', 'bad'].includes(one.dataset.tone)).map(one => "
                      "one.id || [...one.classList].at(-1) + ' ' + one.closest('li').querySelector('.lane .name').textContent)")

    def flows():
        return script("[...document.querySelectorAll('.pipe')].map(pipe => pipe.dataset.flow)")

    # The page shows its state from the first second, before any answer.
    wait("no connection", lambda: text("#age") == "No connection")
    assert text("#title") == "The publisher cannot be reached" and text("#why") == "Nothing is known yet."
    tell()
    wait("calm", lambda: state() == ["Idle", "Nothing to send"])
    assert marked() == [] and set(flows()) == {"none"}
    page.picture("idle", 1280, 800)

    # One slow stream and one fast stream.
    tell(perSecond=(1, 0))
    wait("one a second", lambda: state() == ["Sending", "1 event a second"])
    assert flows()[0] == "slow" and flows()[2] == "none"
    page.picture("one", 1280, 800)
    wait("that it sends read out", lambda: script("document.getElementById('spoken').textContent") == "Sending.")
    page.driver.execute_script("""
        window.said = [];
        new MutationObserver(() => window.said.push(document.getElementById("spoken").textContent))
          .observe(document.getElementById("spoken"), { childList: true, characterData: true, subtree: true });""")
    tell(perSecond=(9000, 1000), limitedBy=["nothing"])
    wait("ten thousand a second", lambda: state() == ["Sending", "10,000 events a second"])
    assert "now 9,000" in page.find(".lane .spark").accessible_name
    assert flows()[0] == "fast" and text("#why") == "All lanes keep up."
    assert script("window.said") == [], "numbers are not read out"
    page.picture("swing", 1280, 800)

    def places():
        return script("['.map', '#hub', '.charts', '#details-title'].map(part => document.querySelector(part).getBoundingClientRect().top + scrollY)")

    sizes = [(1280, 800), (390, 844)]
    before = {}
    for size in sizes:
        page.picture("before", *size)
        before[size] = places()
    page.picture("before", 1280, 800)

    def check(name, wanted, at, **changes):
        tell(**changes)
        # A limiter is shown for some seconds, so that the word does not flicker.
        wait(name, lambda: state() == wanted and marked() == at)
        for size in sizes:
            page.picture(f"{name}-{size[0]}", *size)
            assert places() == before[size], (name, size, "the panels have moved", before[size], places())
            page.fits()
            legible(page)
            reachable(page)
        page.picture(name, 1280, 800)

    check("halt", ["Standing still", "The hub refuses the key"], ["hub"], ready=False, halts=[halt("key-refused")], limitedBy=["halt"],
          notReady=[reason("hub-key-refused", "hub: key-refused: 401 Unauthorized", "check hub.connectionString: the key or its name is wrong, or was regenerated")],
          lanes=lanes({"lag": 1200, "lagSeconds": 30}))
    assert text("#todo").startswith("Check hub.connectionString") and "1,200 events wait." in text("#why")
    assert flows() == ["none", "blocked", "none", "blocked", "blocked", "none"]
    wait("the halt read out", lambda: script("window.said") == ["Standing still. The hub refuses the key."])

    check("both", ["Standing still", "The hub is down or cannot be reached"], ["lane backfill", "hub"], ready=False, halts=[halt("outage")],
          notReady=[reason("hub-outage", "hub: outage: refused", "wait")], lanes=lanes(backfill={"paused": True}))
    assert text("#more") == "Lane backfill is paused. Press Resume when it may go on."
    # A refused key stops every lane, so it outranks a flood of one lane.
    flood = {"reason": "flood", "lane": "live", "detail": "lane live: most recent events ended as dead letters", "remedy": "release it", "since": "2026-01-01T12:00:00Z", "probeAt": "2026-01-01T12:01:00Z"}
    check("refused-flood", ["Standing still", "The hub refuses the key"], ["lane live", "hub"], ready=False, halts=[flood, halt("key-refused")],
          notReady=[reason("flood", of="live"), reason("hub-key-refused", "hub: key-refused: 401 Unauthorized", "check the key")])
    check("throttle", ["Waiting", "The hub asked us to wait"], ["hub"], limitedBy=["hub-pause"], ready=False,
          notReady=[reason(code, f"lane {of}: the hub asked to wait; sending continues in 12 s", "", of)
                    for of in ["live", "backfill"] for code in ["hub-failing", "hub-pause"]], lanes=lanes({"lag": 40, "lagSeconds": 3}))
    assert flows()[1] == flows()[3] == "paused" and "sending continues in 12 s" in text("#why") and text("#todo") == "Nothing: it continues automatically."
    check("pace", ["Limited", "Sending at the configured pace"], ["hub"], limitedBy=["rate"], perSecond=(500, 0), lanes=lanes({"lag": 12000, "lagSeconds": 20}))
    assert "rate.perSecond allows 500" in text("#why")
    check("paused", ["Partly paused", "Lane backfill is paused"], ["lane backfill"], perSecond=(20, 0), lanes=lanes(backfill={"paused": True, "lag": 7}))
    assert "The other lanes go on." in text("#why")
    check("ledger", ["Partly standing still", "Lane backfill cannot read back its results yet"], ["lane backfill"], ready=False,
          notReady=[reason("ledger", "lane backfill: the results for news.backfill-3 are being read: no leader", "check the brokers", "backfill")])
    check("missing", ["Partly standing still", "A topic is missing or may not be read"], ["source live"], ready=False,
          notReady=[reason("missing-topic", "lane live: the topic news.live does not exist", "newswire topics --create", "live")])
    check("rebalance", ["Waiting", "The group assigns its partitions again"], ["source live", "source backfill"],
          lanes=[{name: value for name, value in one.items() if name != "partitions"} for one in lanes()])
    check("broker", ["Standing still", "The broker does not store results"], ["outcomes"], ready=False,
          notReady=[reason("results", "lane live: the broker has not acknowledged results", "look at the brokers and at the topic", "live"),
                    reason("results", "lane backfill: the broker has not acknowledged results", "look at the brokers and at the topic", "backfill")])
    check("commits", ["Needs attention", "The broker refuses commits"], ["outcomes"], ready=False, perSecond=(40, 0),
          notReady=[reason("commit", "lane live: offsets cannot be committed: rebalance in progress", "", "live")])
    assert text("#why").startswith("Offsets cannot be committed") and flows()[-1] == "slow"
    check("ending", ["Ending", "Shutting down"], [], ready=False, notReady=[reason("shutting-down", "shutting down", "")])
    check("stuck", ["Standing still", "The process is stuck"], [], healthy=False, stuck="a shard has not reported for 61 s")

    # One lane is stopped. The buttons on its card that end the flood need their own room.
    tell(ready=False, halts=[flood], notReady=[reason("flood", of="live")], lanes=lanes({"flooded": True, "lag": 340}))
    wait("the flood", lambda: state() == ["Partly standing still", "Lane live is stopped: most of its events failed"])
    assert marked() == ["lane live"] and len([one for one in page.all(".orders button") if one.is_displayed()]) == 2
    page.picture("stopped", 1280, 800)
    assert places()[0] == before[1280, 800][0], "the map has moved"
    legible(page)
    reachable(page)

    # The place of the verdict says that the figures are outdated.
    tell(perSecond=(300, 10))
    wait("the stream", lambda: text("#state") == "Sending")
    for name, title in [("refused", "The publisher cannot be reached"), ("silent", "The publisher does not answer")]:
        page.driver.execute_script("window.told.fails = arguments[0]", name)
        wait(name, lambda: state() == ["No connection", title] and text("#age") == "No connection")
        wait("the age of the numbers", lambda: "The numbers below are" in text("#why"))
        assert page.driver.title == "No connection · Newswire"
        wait("the loss read out", lambda: script("window.said.at(-1)") == "No connection.")
        page.picture(name, 1280, 800)
        assert places() == before[1280, 800]
        legible(page)
        assert script("getComputedStyle(document.querySelector('.pipe'), '::before').display") == "none", "nothing seems to flow"
        page.driver.execute_script("window.told.fails = undefined")
        wait("the connection", lambda: text("#age").startswith("Live") and text("#state") == "Sending")
        wait("the end of it read out", lambda: script("window.said.at(-1)") == "Sending.")

    # A frozen page still announces that the connection is lost, and that it is back.
    page.find("#freeze").click()
    page.driver.execute_script("window.told.fails = 'refused'")
    wait("the loss while frozen", lambda: text("#state") == "No connection")
    page.driver.execute_script("window.told.fails = undefined")
    wait("the connection while frozen", lambda: text("#state") == "Sending")
    page.find("#freeze").click()

    # A restarted process counts from zero and may have other lanes.
    tell(perSecond=(5, 0), startedAt="2026-01-01T13:00:00Z", lanes=[lane("live"), lane("archive")])
    wait("the restart", lambda: state() == ["Sending", "5 events a second"])
    assert [one.text for one in page.all(".lane .name")] == ["live", "archive"]

    # A few uncommitted events are normal; old ones are a problem.
    tell(startedAt="2026-01-01T14:00:00Z", lanes=lanes({"lag": 2, "lagSeconds": 4}))
    wait("the few", lambda: state() == ["Idle", "Nothing to send"])
    tell(startedAt="2026-01-01T15:00:00Z", lanes=lanes({"lag": 2, "lagSeconds": 40}))
    wait("the old ones", lambda: state() == ["Waiting", "Events wait, and nothing has an outcome yet"])
    tell(startedAt="2026-01-01T15:10:00Z", lanes=lanes({"lag": 4000, "lagSeconds": 6}))
    wait("the many", lambda: state()[0] == "Waiting" and "just come" in text("#todo"))
    # A value that is not counted yet must not be shown as zero.
    uncounted = [{name: value for name, value in one.items() if name not in ("lag", "lagSeconds")} for one in lanes()]
    tell(startedAt="2026-01-01T15:20:00Z", lanes=uncounted)
    wait("the uncounted", lambda: state() == ["Measuring", "The first numbers come in a moment"])
    tell(startedAt="2026-01-01T15:25:00Z", perSecond=(100, 0), lanes=uncounted)
    wait("the uncounted that move", lambda: text("#why") == "Those that wait are being counted.")
    assert state() == ["Sending", "100 events a second"]
    tell(startedAt="2026-01-01T15:26:00Z", ready=False, healthy=False)
    wait("no reason", lambda: state() == ["Standing still", "The process is not ready"])
    tell(startedAt="2026-01-01T15:30:00Z", perSecond=(100, 0), lanes=lanes({"lag": 900, "lagSeconds": 20}))
    wait("the queue", lambda: state() == ["Sending", "100 events a second"] and text("#why") == "900 events wait.")
    wait("what helps", lambda: "start another process" in text("#todo"))
    tell(startedAt="2026-01-01T16:00:00Z", perSecond=(5, 0))
    wait("the end", lambda: state() == ["Sending", "5 events a second"])

    # A tab that becomes visible does not wait for its slow timer.
    wait("a question at once", lambda: script("(() => { const before = asked; document.dispatchEvent(new Event('visibilitychange')); return asked - before; })()") == 1)

    # Readers with reduced motion, and readers with forced colours.
    page.emulate(prefers_reduced_motion="reduce")
    assert script("getComputedStyle(document.querySelector('.pipe'), '::before').animationName") == "none"
    page.emulate(forced_colors="active")
    page.picture("forced", 1280, 800)
    page.emulate()

    # The scripted source refuses requests on purpose.
    page.driver.get_log("browser")
