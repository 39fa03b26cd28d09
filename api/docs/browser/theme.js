// Runs before the first paint. The dashboard stores a theme that was chosen; otherwise the system decides.
const system = matchMedia('(prefers-color-scheme: dark)')
const chosen = readTheme()
if (chosen) document.documentElement.dataset.theme = chosen
applyTheme()
system.addEventListener('change', applyTheme)

function readTheme() {
  try {
    const theme = localStorage.getItem('theme')
    return theme === 'light' || theme === 'dark' ? theme : undefined
  } catch {
    return undefined
  }
}

/** The class of Swagger UI. */
function applyTheme() {
  const isDark = chosen ? chosen === 'dark' : system.matches
  document.documentElement.classList.toggle('dark-mode', isDark)
}
