// Arrow keys move the focus between the bars of a chart, so that a chart is one stop of the Tab key.
for (const chart of document.querySelectorAll('.chart svg[role=group]')) {
  const bars = [...chart.querySelectorAll('.bar')]
  chart.addEventListener('keydown', (event) => {
    const current = bars.indexOf(event.target.closest('.bar'))
    const last = bars.length - 1
    const next = { ArrowLeft: current - 1, ArrowRight: current + 1, Home: 0, End: last }[event.key]
    if (next === undefined || current === -1) return
    event.preventDefault()
    bars[Math.min(last, Math.max(0, next))].focus()
  })
  chart.addEventListener('focusin', (event) => {
    const focused = event.target.closest('.bar')
    for (const bar of bars) bar.setAttribute('tabindex', bar === focused ? '0' : '-1')
  })
}
