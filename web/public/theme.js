// Before the first paint, so that a dark page never flashes white. Kept as a file: no inline script is needed.
;(function () {
  var choice = null
  try {
    choice = localStorage.getItem('outlast.theme')
  } catch (_) {}
  var dark = choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches)
  document.documentElement.classList.toggle('dark', dark)
})()
