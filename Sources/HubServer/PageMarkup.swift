/// The page's HTML. Everything in it works without its script except the phones themselves.
let pageMarkup = #"""
    <!doctype html>
    <html lang="en">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>Newswire: breaking news on four phones</title>
    <link rel="stylesheet" href="/page.css">
    <script src="/page.js" type="module"></script>
    </head>
    <body>
    <header class="top">
      <div class="brand">
        <svg viewBox="0 0 32 32" width="32" height="32" aria-hidden="true"><rect width="32" height="32" rx="8"/><path d="M8 22V10l16 12V10"/></svg>
        <div><h1>Newswire</h1><p>Breaking news, on every phone that asked for it.</p></div>
      </div>
      <p class="status" id="status" role="status">Connecting…</p>
    </header>
    <main>
      <section class="composer" aria-labelledby="composer-title">
        <h2 id="composer-title">Send a story</h2>
        <form id="composer">
          <fieldset class="choices">
            <legend>Category</legend>
            <div class="chips" id="composer-categories"></div>
          </fieldset>
          <label class="field">Headline
            <input id="headline" name="headline" maxlength="500" required autocomplete="off"
              placeholder="Parliament passes the climate bill">
          </label>
          <label class="field">This is
            <select id="corrects" name="corrects"><option value="">a new story</option></select>
          </label>
          <button class="primary" type="submit">Send</button>
          <p class="hint" id="composer-hint" role="status"></p>
        </form>
      </section>
      <section class="phones" id="phones" aria-label="Phones"></section>
      <noscript><p class="notice">The phones on this page need JavaScript.</p></noscript>
    </main>
    <footer><p>Each phone registers over the hub's own interface with a Listen-only key, and keeps its choices in this browser.</p></footer>
    <template id="phone-template">
      <article class="phone">
        <div class="device">
          <div class="screen">
            <div class="bar"><span class="clock"></span><span class="platform"></span></div>
            <h2 class="name"></h2>
            <ol class="notifications" aria-live="polite" tabindex="0"></ol>
            <p class="empty">No notifications yet.</p>
            <form class="app">
              <fieldset>
                <legend>Breaking News</legend>
                <div class="switches"></div>
              </fieldset>
              <button class="primary" type="submit">Subscribe</button>
              <p class="state" role="status"></p>
            </form>
          </div>
        </div>
      </article>
    </template>
    <template id="notification-template">
      <li class="notification">
        <div class="meta"><span class="tag"></span><span class="updated" hidden>Updated</span><time></time></div>
        <p class="text"></p>
      </li>
    </template>
    </body>
    </html>
    """#
