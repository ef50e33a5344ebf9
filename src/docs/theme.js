// Sets the saved colour theme before the first paint. A blocking script, because a deferred one would
// show the other theme first.
try {
  const theme = localStorage.getItem('docs-theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage is disabled: the page follows the system.
}
