// Parts of pages: a section with a heading, and a list of names and values.
import type { Child } from 'hono/jsx'

/** @param card shows a frame */
export const Section = ({
  id,
  title,
  card = false,
  children,
}: {
  id: string
  title: Child
  card?: boolean
  children?: Child
}) => (
  <section class={card ? 'card' : undefined} aria-labelledby={id}>
    <h2 id={id}>{title}</h2>
    {children}
  </section>
)

/** @param rows names with their values; a row without them is left out */
export const Details = ({
  rows,
}: {
  rows: (false | null | '' | [name: string, value: Child])[]
}) => (
  <dl>
    {rows.map(
      (row) =>
        row && (
          <>
            <dt>{row[0]}</dt>
            <dd>{row[1]}</dd>
          </>
        ),
    )}
  </dl>
)

/** Numbers and facts as tiles, each with an optional line below. */
export const Figures = ({
  figures,
}: {
  figures: (false | null | [label: string, value: Child, note?: Child])[]
}) => (
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
