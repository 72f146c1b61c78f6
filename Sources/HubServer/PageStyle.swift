/// The page's CSS: light and dark, from the width of a phone up.
let pageStyle = #"""
    :root {
      --ground: #f4f5f8; --card: #ffffff; --ink: #15171c; --soft: #5a6170; --line: #d9dde5;
      --accent: #b3122b; --accent-ink: #ffffff; --good: #12703c; --bad: #a8180f; --shell: #1b1d22;
      --screen: linear-gradient(165deg, #e9edf7 0%, #f6e9ee 100%);
      --glass: rgba(255, 255, 255, .86); --track: #8d95a5; --shadow: 0 12px 32px rgba(22, 28, 45, .14);
    }
    @media (prefers-color-scheme: dark) {
      :root {
        --ground: #0f1115; --card: #191c22; --ink: #eef0f4; --soft: #a4acba; --line: #2c313b;
        --accent: #ff5d73; --accent-ink: #1a0509; --good: #5fd394; --bad: #ff8a80; --shell: #2b2f38;
        --screen: linear-gradient(165deg, #1c2233 0%, #2a1b26 100%);
        --glass: rgba(38, 42, 52, .88); --track: #7d8595; --shadow: 0 12px 32px rgba(0, 0, 0, .5);
      }
    }
    *, *::before, *::after { box-sizing: border-box; }
    body {
      margin: 0; background: var(--ground); color: var(--ink);
      font: 16px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
    }
    h1, h2, p, ol, fieldset { margin: 0; padding: 0; border: 0; }
    h1 { font-size: 1.35rem; letter-spacing: -.01em; line-height: 1.15; }
    h2 { font-size: 1.05rem; }
    button, input, select { font: inherit; color: inherit; }
    :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
    .top, main, footer { width: min(1280px, 100%); margin: 0 auto; padding: 0 20px; }
    .top { display: flex; flex-wrap: wrap; gap: 12px 24px; align-items: center; justify-content: space-between; padding-block: 22px 18px; }
    .brand { display: flex; gap: 12px; align-items: center; }
    .brand svg rect { fill: var(--accent); }
    .brand svg path { fill: none; stroke: var(--accent-ink); stroke-width: 3.2; stroke-linecap: round; stroke-linejoin: round; }
    .brand p { color: var(--soft); font-size: .92rem; }
    .status { color: var(--soft); font-size: .88rem; font-variant-numeric: tabular-nums; padding: 6px 12px; border: 1px solid var(--line); border-radius: 99px; background: var(--card); }
    .status.bad { color: var(--bad); }
    .composer { background: var(--card); border: 1px solid var(--line); border-radius: 18px; padding: 18px 20px; margin-bottom: 26px; }
    #composer { display: grid; gap: 14px; margin-top: 12px; grid-template-columns: 1fr; align-items: end; }
    .choices legend { padding: 0; }
    .choices legend, .field { font-size: .85rem; color: var(--soft); }
    .chips { display: flex; flex-wrap: wrap; gap: 8px; margin-top: 6px; }
    .chip { position: relative; }
    .chip input { position: absolute; inset: 0; opacity: 0; cursor: pointer; margin: 0; width: 100%; height: 100%; }
    .chip span { display: block; padding: 7px 14px; border: 1px solid var(--line); border-radius: 99px; color: var(--ink); font-size: .92rem; }
    .chip input:checked + span { background: var(--accent); border-color: var(--accent); color: var(--accent-ink); font-weight: 600; }
    .chip input:focus-visible + span { outline: 3px solid var(--accent); outline-offset: 2px; }
    .field { display: grid; gap: 6px; min-width: 0; }
    .field input, .field select { width: 100%; min-width: 0; padding: 10px 12px; background: var(--ground); color: var(--ink); border: 1px solid var(--track); border-radius: 10px; font-size: 1rem; }
    .primary { padding: 10px 22px; border: 0; border-radius: 10px; background: var(--accent); color: var(--accent-ink); font-weight: 650; cursor: pointer; }
    .primary:hover { filter: brightness(1.08); }
    .primary:disabled { opacity: .55; cursor: default; }
    .hint { color: var(--soft); font-size: .88rem; }
    .hint:empty { display: none; }
    .hint.bad, .state.bad { color: var(--bad); }
    @media (min-width: 820px) {
      #composer { grid-template-columns: minmax(0, 1fr) minmax(180px, 260px) auto; }
      .choices, .hint { grid-column: 1 / -1; }
    }
    .phones { display: grid; gap: 26px 22px; grid-template-columns: repeat(auto-fit, minmax(264px, 1fr)); align-items: start; }
    .phone { max-width: 340px; width: 100%; margin: 0 auto; }
    .device { padding: 10px; background: var(--shell); border-radius: 40px; box-shadow: var(--shadow); }
    .screen { display: flex; flex-direction: column; height: 600px; padding: 14px 14px 16px; background: var(--screen); border-radius: 31px; overflow: hidden; }
    .bar { display: flex; justify-content: space-between; font-size: .78rem; font-weight: 600; padding: 0 8px; font-variant-numeric: tabular-nums; }
    .platform { color: var(--soft); font-weight: 500; }
    .name { text-align: center; font-size: 1.25rem; font-weight: 600; padding: 12px 0 10px; }
    .notifications { list-style: none; flex: 1; min-height: 0; overflow-y: auto; display: flex; flex-direction: column; gap: 8px; padding: 2px; scrollbar-width: thin; }
    .notifications:empty { flex: 0; }
    .empty { display: none; flex: 1; place-content: center; text-align: center; color: var(--soft); font-size: .92rem; }
    .notifications:empty + .empty { display: grid; }
    .notification { flex: none; background: var(--glass); border-radius: 16px; padding: 10px 12px 11px; animation: arrive .45s cubic-bezier(.2, .9, .3, 1.15); }
    .meta { display: flex; gap: 8px; align-items: center; font-size: .76rem; color: var(--soft); }
    .tag { font-weight: 700; color: var(--accent); text-transform: uppercase; letter-spacing: .05em; }
    .updated { border: 1px solid currentColor; border-radius: 99px; padding: 0 7px; font-size: .7rem; }
    .meta time { margin-left: auto; white-space: nowrap; font-variant-numeric: tabular-nums; }
    .text { font-size: .92rem; line-height: 1.35; overflow-wrap: anywhere; margin-top: 3px; }
    @keyframes arrive { from { opacity: 0; transform: translateY(-14px) scale(.97); } }
    @media (prefers-reduced-motion: reduce) { .notification { animation: none; } .slider::after { transition: none; } }
    .app { background: var(--glass); border-radius: 20px; padding: 12px 14px 12px; margin-top: 10px; }
    .app legend { font-weight: 700; font-size: .95rem; padding: 0; margin-bottom: 6px; }
    .switches { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1.15fr); gap: 2px 12px; }
    .switch { display: flex; justify-content: space-between; align-items: center; gap: 6px; font-size: .8rem; padding: 6px 0; cursor: pointer; position: relative; }
    .switch input { position: absolute; opacity: 0; inset: 0; margin: 0; width: 100%; height: 100%; cursor: pointer; }
    .slider { flex: none; width: 30px; height: 18px; border-radius: 99px; background: var(--track); position: relative; }
    .slider::after { content: ""; position: absolute; width: 14px; height: 14px; left: 2px; top: 2px; border-radius: 50%; background: #fff; transition: transform .15s; }
    .switch input:checked + .slider { background: var(--good); }
    .switch input:checked + .slider::after { transform: translateX(12px); }
    .switch input:focus-visible + .slider { outline: 3px solid var(--accent); outline-offset: 2px; }
    .app .primary { width: 100%; margin-top: 8px; padding: 9px; }
    .state { font-size: .78rem; color: var(--soft); margin-top: 7px; min-height: 1.3em; text-align: center; }
    .state.good { color: var(--good); }
    .phone.apple .notification { border-radius: 18px; }
    .phone.fcmv1 .device { border-radius: 30px; } .phone.fcmv1 .screen { border-radius: 22px; }
    .phone.fcmv1 .notification { border-radius: 24px; padding-inline: 16px; }
    .phone.windows .device { border-radius: 14px; } .phone.windows .screen { border-radius: 6px; }
    .phone.windows .notification, .phone.windows .app { border-radius: 6px; } .phone.windows .notification { border-left: 4px solid var(--accent); }
    .phone.browser .device { border-radius: 18px; padding-top: 30px; position: relative; } .phone.browser .screen { border-radius: 8px; height: 580px; }
    .phone.browser .device::before { content: ""; position: absolute; left: 18px; top: 11px; width: 10px; height: 10px; border-radius: 50%; background: #ff5f57; box-shadow: 16px 0 #febc2e, 32px 0 #28c840; }
    .phone.browser .notification { border-radius: 10px; }
    .notice { background: var(--card); border: 1px solid var(--line); border-radius: 14px; padding: 16px 20px; }
    footer { color: var(--soft); font-size: .85rem; padding-block: 28px 32px; text-align: center; }
    @media (max-width: 560px) {
      .top, main, footer { padding-inline: 14px; }
      .status { border-radius: 14px; }
      .phones { display: flex; overflow-x: auto; scroll-snap-type: x mandatory; gap: 14px; margin-inline: -14px; padding: 4px 14px 14px; }
      .phone { flex: 0 0 min(86vw, 340px); scroll-snap-align: center; }
    }
    """#
