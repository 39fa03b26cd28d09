// Fills the reader's own values into the samples: the address of this service, and a key that stays in this tab.
const KEY = 'docs-key'
const keyField = document.getElementById('key-value')
const keyStatus = document.getElementById('key-status')
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

/** @param owner - The signed-in user who created the key. */
function keep(key, owner) {
  if (key) sessionStorage.setItem(KEY, JSON.stringify({ key, owner }))
  else sessionStorage.removeItem(KEY)
  fill()
}

/** The session of the dashboard; undefined for a reader who is not signed in. */
async function readSession() {
  const response = await fetch('/dashboard/api/session')
  return response.ok ? response.json() : undefined
}

async function create() {
  const session = await readSession()
  if (!session) return report('Sign in to the dashboard first, then try again.')
  const expiresAt = new Date(Date.now() + 24 * 60 * 60 * 1_000).toISOString()
  const body = JSON.stringify({ name: 'Documentation', scopes: ['read', 'write'], expiresAt })
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch('/dashboard/api/keys', { method: 'POST', headers, body })
  const made = await response.json()
  if (!response.ok) return report(made.message)
  keep(made.key, session.user.id)
  report(`The key of ${session.account.name} is in the samples. It expires in 24 hours.`)
}

const report = (text) => {
  keyStatus.textContent = text
}

function save() {
  const key = keyField.value.trim()
  if (!/^svc_sk_\w+$/.test(key)) return report('A key starts with svc_sk_. Paste the whole key.')
  keep(key)
  report('The key is in the samples.')
}

/** A key that was created here is removed after a sign-out, also after one in another tab. */
async function forgetAfterSignOut() {
  const { owner } = stored()
  if (owner && (await readSession())?.user.id !== owner) keep(undefined)
}

document.getElementById('key-create').addEventListener('click', create)
keyField.form.addEventListener('submit', (event) => {
  event.preventDefault()
  save()
})
document.getElementById('key-forget').addEventListener('click', () => {
  keep(undefined)
  report('The key is removed from this tab.')
})
fill()
forgetAfterSignOut()
