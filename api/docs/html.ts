/** Pages are read without scripts; their one style is inline, as the policy of `/docs` allows. */
const STYLE = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem; color: #1d2733; background: #fff; }
h2 { margin-top: 3rem; border-bottom: 1px solid #d5dbe1; }
h3, h4 { margin: 2rem 0 .25rem; }
h4 { margin-left: 1.5rem; } h4 + ul { margin-left: 1.5rem; }
ul { margin: 0; padding-left: 1.25rem; }
code { font: .9em ui-monospace, monospace; background: #f0f3f6; padding: .1em .3em; border-radius: 3px; }
:target { background: #fff3c4; }
a { color: #0b5cad; }
`

/** A page in the plain style of the documentation. `body` is HTML. */
export const htmlPage = (title: string, body: string) => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${toHtml(title)}</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <style>${STYLE}</style>
  </head>
  <body>
${body}
  </body>
</html>
`

const escapes: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

/** Text for a page; what stands between backticks is code. */
export const toHtml = (text: string) =>
  text.replace(/[&<>"]/g, (sign) => escapes[sign] ?? sign).replace(/`([^`]+)`/g, '<code>$1</code>')
