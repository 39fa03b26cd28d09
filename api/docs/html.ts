/** A page in the style of the documentation. `body` is HTML, the title plain text without markup. */
export const htmlPage = (title: string, body: string, head = '') => `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>${title}</title>
    <link rel="icon" type="image/png" href="/docs/favicon-32x32.png" />
    <link rel="stylesheet" href="/docs/pages.css" />
    <script src="/docs/theme.js"></script>${head}
  </head>
  <body>
${body}
  </body>
</html>
`

/** What a page is part of: the guides, or the API with requests to try. */
type Place = '/docs' | '/docs/api'

const places: [path: string, text: string][] = [
  ['/docs', 'Guides'],
  ['/docs/api', 'API'],
  ['/dashboard', 'Dashboard'],
]

const toLink = ([path, text]: [string, string], current: string) =>
  `<a href="${path}"${path === current ? ' aria-current="true"' : ''}>${text}</a>`

/** The bar above each page: search, the parts of the service, and the reader's key. */
export const headerOf = (current: Place) => `<a class="skip" href="#main">Skip to the text</a>
<header>
<a class="brand" href="/docs">Steward <span>docs</span></a>
<form role="search">
<input id="search" type="search" placeholder="Search" aria-label="Search the documentation" aria-controls="results" autocomplete="off" />
<kbd aria-hidden="true">/</kbd>
<div id="results" hidden><p role="status"></p><ul></ul></div>
</form>
<div class="places">${places.map((place) => toLink(place, current)).join('')}
<button id="key-open" popovertarget="key">Use your key</button></div>
</header>
<div id="key" popover role="dialog" aria-label="Your key">
<form>
<label for="key-value">API key for the samples</label>
<div><input id="key-value" type="password" placeholder="svc_sk_…" autocomplete="off" spellcheck="false" /><button>Use</button></div>
</form>
<p>The samples and the API page then contain the key. It stays in this tab until you close it, remove the key, sign in or out of the dashboard, or switch the account.</p>
<p>A removed key works until it expires or you revoke it on the <a href="/dashboard/keys">keys page of the dashboard</a>.</p>
<div><button id="key-create" type="button" hidden>Create a key for one day</button><button id="key-forget" type="button" hidden>Remove the key</button></div>
<p id="key-status" role="status"></p>
</div>
<script src="/docs/search.js" type="module"></script>
<script src="/docs/key.js" type="module"></script>`
