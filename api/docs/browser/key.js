// Fills the reader's own values into the samples: the address of this service, and a key that stays in this tab.
const KEY = 'docs-key'
const keyField = document.getElementById('key-value')
const createButton = document.getElementById('key-create')
const keyStatus = document.getElementById('key-status')
const keyWindow = document.getElementById('key')
const values = { origin: location.origin, url: `${location.origin}/v1` }

const stored = () => JSON.parse(sessionStorage.getItem(KEY) ?? '{}')

/** Fills each place whose values are known, and restores the others. */
function fill() {
  const { key } = stored()
  const known = { ...values, key }
  document.querySelectorAll('[data-filled]').forEach((place) => {
    place.dataset.printed ??= place.textContent
    const names = [...place.dataset.filled.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
    const isKnown = names.every((name) => known[name])
    const filled = place.dataset.filled.replace(/\{(\w+)\}/g, (_all, name) => known[name])
    place.textContent = isKnown ? filled : place.dataset.printed
    place.classList.toggle('filled', isKnown)
  })
  document.getElementById('key-forget').hidden = !key
  document.getElementById('key-open').textContent = key ? `Key …${key.slice(-4)}` : 'Use your key'
  keyField.value = key ?? ''
  // The API page gives the key to Swagger UI.
  dispatchEvent(new CustomEvent(KEY, { detail: key }))
}

/** @param session - The session in which the key was created or pasted, if any. A key of a session ends with it. */
function keep(key, session) {
  const owner = session && ownerOf(session)
  if (key) sessionStorage.setItem(KEY, JSON.stringify({ key, owner }))
  else sessionStorage.removeItem(KEY)
  fill()
}

/** The session of the dashboard; undefined for a reader who is not signed in. */
async function readSession() {
  const response = await fetch('/dashboard/api/session')
  if (response.status === 401) return undefined
  if (!response.ok) throw new Error(`The session returned ${response.status}.`)
  return response.json()
}

/** Viewers create no keys. A failure is reported when the button is pressed. */
async function offerCreation() {
  const session = await readSession().catch(() => undefined)
  createButton.hidden = session?.role === 'viewer'
}

const ownerOf = ({ user, account }) => `${user.id} ${account.id}`

async function create() {
  const session = await readSession()
  if (!session) return report('Sign in to the dashboard first, then try again.')
  const expiresAt = new Date(Date.now() + 24 * 60 * 60 * 1_000).toISOString()
  // On mainnet a key in a page must not move money.
  const isReadOnly = session.environment === 'mainnet'
  const scopes = isReadOnly ? ['read'] : ['read', 'write']
  const body = JSON.stringify({ name: 'Documentation', scopes, expiresAt })
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch('/dashboard/api/keys', { method: 'POST', headers, body })
  const made = await response.json()
  if (!response.ok) return report(made.message)
  keep(made.key, session)
  const limits = isReadOnly ? 'It can only read and expires' : 'It expires'
  report(`The key of ${session.account.name} is in the samples. ${limits} in 24 hours.`)
}

const report = (text) => {
  keyStatus.textContent = text
}

const reportFailure = () => report('The service did not answer. Try again.')

async function save() {
  const key = keyField.value.trim()
  if (!/^svc_sk_\w+$/.test(key)) return report('A key starts with svc_sk_. Paste the whole key.')
  keep(key, await readSession())
  report('The key is in the samples.')
}

/** Removes a key of a session after a sign-out or a switch of the account, also after one in another tab. */
async function forgetAfterSignOut() {
  const { owner } = stored()
  if (!owner) return
  const session = await readSession()
  if (!session || ownerOf(session) !== owner) keep(undefined)
}

keyWindow.addEventListener('toggle', ({ newState }) => {
  if (newState === 'open') void offerCreation()
})
createButton.addEventListener('click', async () => {
  createButton.disabled = true
  await create().catch(reportFailure)
  createButton.disabled = false
})
keyField.form.addEventListener('submit', (event) => {
  event.preventDefault()
  save().catch(reportFailure)
})
document.getElementById('key-forget').addEventListener('click', () => {
  keep(undefined)
  report('The key is removed from this tab.')
})
fill()
forgetAfterSignOut().catch(reportFailure)
