"""Uses the page as a reader with four phones does: page.py ADDRESS [FOLDER FOR SCREENSHOTS]"""

import sys

from browser import opened
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

CATEGORIES = ["World", "Politics", "Business", "Technology", "Science", "Sports"]
WISHES = {"apple": ["World", "Sports"], "fcmv1": ["World", "Technology"], "windows": ["Business", "World"], "browser": ["Politics"]}


with opened(*sys.argv[1:], height=1100) as page:
    page.wait("the page", lambda: page.script("document.documentElement.dataset.ready"))

    def phone(platform, selector):
        return page.find(f".phone.{platform} {selector}")

    def chosen(platform):
        return {c for c in CATEGORIES if phone(platform, f"input[value={c}]").is_selected()}

    def texts(platform):
        return page.script("[...document.querySelectorAll(`.phone.${arguments[0]} .text`)].map(text => text.innerText)", platform)

    def send(category, headline, corrects=None):
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
        assert page.text("#composer-hint") == "On its way through Kafka."

    def subscribed(platform):
        words = {"good" in phone(platform, ".state").get_attribute("class"), phone(platform, ".state").text.startswith("Subscribed to")}
        return words == {True} and chosen(platform) == set(WISHES[platform])

    for platform, wish in WISHES.items():
        for category in CATEGORIES:
            switch = phone(platform, f"input[value={category}]")
            if switch.is_selected() != (category in wish):
                # By hand on one phone, with the keyboard on the others.
                switch.click() if platform == "apple" else switch.send_keys(Keys.SPACE)
        assert chosen(platform) == set(wish)
        phone(platform, "button").click()
        page.wait(f"the subscription of {platform}", lambda: subscribed(platform))

    send("World", 'Parliament passes the "climate" bill & rests')
    send("Sports", "Underdogs win the cup final 3–2")
    send("Politics", "Cabinet <b>reshuffle</b> expected on Monday")
    page.wait("the last story where it is wanted", lambda: texts("browser") == ["Breaking Politics News : Cabinet <b>reshuffle</b> expected on Monday"])
    world = 'Breaking World News : Parliament passes the "climate" bill & rests'
    page.wait("two of the three stories", lambda: texts("apple") == ["Breaking Sports News : Underdogs win the cup final 3–2", world])
    assert texts("fcmv1") == texts("windows") == [world]

    page.driver.refresh()
    page.wait("the page again", lambda: page.script("document.documentElement.dataset.ready"))
    for platform in WISHES:
        page.wait(f"the kept choices of {platform}", lambda: subscribed(platform))
    page.wait("what came before", lambda: len(texts("apple")) == 2)
    send("World", "A ferry is late")
    corrected = "Breaking World News : The ferry is on time"
    for platform in ["apple", "fcmv1", "windows"]:
        page.wait(f"the story on {platform}", lambda: texts(platform)[0] == "Breaking World News : A ferry is late")
    send("World", "The ferry is on time", corrects="A ferry is late")
    for platform in ["apple", "fcmv1", "windows"]:
        page.wait(f"the correction on {platform}", lambda: texts(platform)[0] == corrected)
        assert not any("late" in text for text in texts(platform)), "the correction stands beside its story"
        assert phone(platform, ".updated").is_displayed()
    assert len(texts("browser")) == 1
    # Each phone has one registration for templates and one for native payloads, before the reload and after it.
    page.wait("the count", lambda: "8 registrations" in page.text("#status"))

    unnamed = page.unnamed("button, input, select, ol, article, section, fieldset")
    assert not unnamed, unnamed
    for scheme in ["light", "dark"]:
        page.emulate(prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
        page.picture(f"page-{scheme}", 1280, 1100)
        page.picture(f"page-{scheme}-narrow", 390, 1300)
        page.fits()

    # Whoever chooses nothing is registered no more.
    for category in WISHES["apple"]:
        phone("apple", f"input[value={category}]").click()
    phone("apple", "button").click()
    page.wait("the end of a subscription", lambda: "6 registrations" in page.text("#status"))
