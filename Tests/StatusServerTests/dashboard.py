"""Looks at the dashboard as its readers do: dashboard.py ADDRESS working|halted|flooded [FOLDER FOR SCREENSHOTS]"""

import sys

from browser import opened

address, mode = sys.argv[1:3]

with opened(address, *sys.argv[3:]) as page:
    text, wait, script = page.text, page.wait, page.script

    def rows(body):
        # In one go: the page draws itself anew every second.
        return script("[...document.getElementById(arguments[0]).rows].map(row => [...row.cells].map(cell => cell.innerText))", body)

    def search(event):
        field = page.find("#event")
        field.clear()
        field.send_keys(event)

    if mode == "halted":
        wait("the halt", lambda: "Halted: key-refused" in text("#notices"))
        assert "What to do: check hub.connectionString" in text("#notices")
        assert text("#state") == "halted" and text("#limit") == "sending is halted"
        page.picture("halted")
    elif mode == "flooded":
        wait("the flood", lambda: rows("lanes") and rows("lanes")[0][7] == "stopped")
        assert "newswire release --config FILE --lane live" in text("#notices")
        page.picture("flooded")
        page.find("#lanes button[aria-label^=Send]").click()
        wait("the release", lambda: rows("lanes")[0][7:] == ["open", "Pause"])
        assert text("#action") == "Asked lane live to release."
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

        button = page.find("#lanes button")
        assert button.accessible_name == "Pause lane live"
        button.click()
        wait("the pause", lambda: rows("lanes")[0][7:] == ["paused", "Resume"])
        button.click()
        wait("the resumption", lambda: rows("lanes")[0][7:] == ["open", "Pause"])
        assert text("#action") == "Asked lane live to resume."

        unnamed = page.unnamed("button, input, svg, a, [role=region]")
        assert not unnamed, unnamed
        for scheme in ["light", "dark"]:
            page.emulate(prefers_color_scheme=scheme)
            page.picture(scheme, 1280, 1500)
            page.picture(f"phone-{scheme}", 390, 1600)
            left, right = script("(({left, right}) => [left, right])(document.querySelector('#lanes button').getBoundingClientRect())")
            assert 0 <= left < right <= 390, (left, right)
            page.fits()
