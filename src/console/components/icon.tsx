// Icons of the navigation. The drawings are in static/icons.svg, which browsers cache.

export type IconName =
  | 'account'
  | 'api'
  | 'billing'
  | 'changelog'
  | 'credits'
  | 'docs'
  | 'jobs'
  | 'key'
  | 'log'
  | 'menu'
  | 'organisation'
  | 'overview'
  | 'playground'
  | 'requests'
  | 'support'
  | 'team'
  | 'webhook'
  | 'workspace'

/** A decorative icon in the colour of the text. */
export const Icon = ({ name }: { name: IconName }) => (
  <svg class="icon" viewBox="0 0 24 24" aria-hidden="true">
    <use href={`/static/icons.svg#${name}`} />
  </svg>
)
