// Parts of pages: a section with a heading, and a list of names and values.
import type { Child } from 'hono/jsx'

interface SectionProps {
  id: string
  title: Child
  /** Shows a frame. */
  card?: boolean
  /** Beside the heading. */
  action?: Child
  children?: Child
}

export const Section = ({ id, title, card = false, action, children }: SectionProps) => (
  <section class={card ? 'card' : undefined} aria-labelledby={id}>
    {action === undefined ? (
      <h2 id={id}>{title}</h2>
    ) : (
      <div class="bar">
        <h2 id={id}>{title}</h2>
        {action}
      </div>
    )}
    {children}
  </section>
)

/** @param rows names with their values; a row without them is left out */
export const Details = ({
  rows,
}: {
  rows: (false | null | '' | [name: string, value: Child])[]
}) => <dl>{rows.map((row) => row && [<dt>{row[0]}</dt>, <dd>{row[1]}</dd>])}</dl>

export interface FiguresProps {
  /** Each with an optional line below. */
  figures: (false | null | [label: string, value: Child, note?: Child])[]
}

/** Numbers and facts as tiles. */
export const Figures = ({ figures }: FiguresProps) => (
  <dl class="metrics">
    {figures.map(
      (figure) =>
        figure && (
          <div>
            <dt>{figure[0]}</dt>
            <dd>{figure[1]}</dd>
            {figure[2] && <dd class="note">{figure[2]}</dd>}
          </div>
        ),
    )}
  </dl>
)
