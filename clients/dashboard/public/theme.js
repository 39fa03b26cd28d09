// Runs before the first paint, so that the page does not flash in the wrong theme.
try {
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage may be disabled. The system theme applies then.
}
