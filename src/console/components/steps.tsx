// The steps from nothing to the first API key.

const STEPS = [
  ['account', 'Account'],
  ['email', 'Email'],
  ['name', 'Organisation'],
  ['region', 'Region'],
  ['workspace', 'Workspace'],
  ['key', 'API key'],
] as const

/** How far the way into the service has come. */
export const Steps = ({ at }: { at: (typeof STEPS)[number][0] }) => {
  const current = STEPS.findIndex(([step]) => step === at)
  return (
    <nav aria-label="Progress" class="steps">
      <ol>
        {STEPS.map(([, label], index) => (
          <li
            class={index < current ? 'past' : undefined}
            aria-current={index === current ? 'step' : undefined}
          >
            <span>{label}</span>
          </li>
        ))}
      </ol>
      <p class="quiet">
        Step {current + 1} of {STEPS.length}: {STEPS[current]?.[1]}
      </p>
    </nav>
  )
}
