// The progress bar of sign-up and onboarding.

const STEPS = [
  ['account', 'Account'],
  ['email', 'Email'],
  ['name', 'Organisation'],
  ['region', 'Region'],
  ['workspace', 'Workspace'],
  ['key', 'API key'],
] as const

export type Step = (typeof STEPS)[number][0]

export const Steps = ({ current: name }: { current: Step }) => {
  const current = STEPS.findIndex(([step]) => step === name)
  return (
    <nav aria-label="Progress" class="steps">
      <ol>
        {STEPS.map(([, label], index) => (
          <li
            class={index < current ? 'done' : undefined}
            aria-current={index === current ? 'step' : undefined}
          >
            <span>{label}</span>
          </li>
        ))}
      </ol>
      <p class="muted">
        Step {current + 1} of {STEPS.length}: {STEPS[current]?.[1]}
      </p>
    </nav>
  )
}
