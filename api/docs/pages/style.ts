/** The style of the documentation. It loads nothing. */
export const STYLE = `:root {
  color-scheme: light dark;
  --text: #1d2733; --quiet: #566372; --line: #d5dbe1; --page: #fff; --code: #f3f5f7; --link: #0b5cad; --mark: #fff3c4;
}
@media (prefers-color-scheme: dark) {
  :root { --text: #dce3ea; --quiet: #9aa7b4; --line: #2c3742; --page: #12181e; --code: #1b232b; --link: #6cb3f5; --mark: #4a3f12; }
}
* { box-sizing: border-box; }
body { font: 16px/1.6 system-ui, sans-serif; margin: 0; color: var(--text); background: var(--page); }
main { max-width: 50rem; margin: 0 auto; padding: 1.5rem 1.25rem 6rem; }
nav { padding: 1.25rem; border-bottom: 1px solid var(--line); font-size: .9rem; }
nav ul { list-style: none; margin: 0; padding: 0; }
nav ul ul { padding-left: .9rem; border-left: 1px solid var(--line); }
nav li { margin: .2rem 0; }
nav h2 { font-size: .75rem; margin: 1.1rem 0 .3rem; border: 0; padding: 0; text-transform: uppercase; letter-spacing: .05em; color: var(--quiet); }
nav a { color: inherit; text-decoration: none; } nav a:hover { text-decoration: underline; }
nav a[aria-current] { font-weight: 600; color: var(--link); }
nav small { display: block; color: var(--quiet); overflow-wrap: anywhere; }
#search { width: 100%; font: inherit; padding: .35rem .6rem; margin-bottom: .75rem; color: inherit; background: var(--code); border: 1px solid var(--line); border-radius: 6px; }
#results li { margin: .6rem 0; } #results a { color: var(--link); }
h1, h2, h3, h4 { line-height: 1.25; scroll-margin-top: 1rem; }
h2 { margin-top: 2.5rem; padding-bottom: .25rem; border-bottom: 1px solid var(--line); }
h3 { margin: 2rem 0 .5rem; } h4 { margin: 1.5rem 0 .25rem; }
.anchor { visibility: hidden; color: var(--quiet); text-decoration: none; font-weight: 400; }
:is(h1, h2, h3, h4):hover .anchor, .anchor:focus { visibility: visible; }
:target { background: var(--mark); }
a { color: var(--link); }
code { font: .88em ui-monospace, monospace; background: var(--code); padding: .1em .3em; border-radius: 4px; }
pre { overflow-x: auto; padding: .8rem 1rem; background: var(--code); border-radius: 6px; }
pre code { padding: 0; background: none; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; } th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
blockquote { margin: 1rem 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--quiet); }
@media (min-width: 60rem) {
  body:has(nav) { display: grid; grid-template-columns: 17rem minmax(0, 1fr); }
  nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border: 0; border-right: 1px solid var(--line); }
  main { padding-inline: 2.5rem; margin: 0; }
}
`
