// Sections of a page of which one is shown. The tabs are links to the sections, so that a link to anything
// in a section opens it, without a script.
import type { Child } from 'hono/jsx'

/** @param shown the section that an address without a fragment shows */
export const Tabs = ({
  label,
  shown,
  tabs,
}: {
  label: string
  shown: string
  tabs: [id: string, label: string, content: Child][]
}) => (
  <div class="tabs">
    <nav aria-label={label}>
      {tabs.map(([id, text]) => (
        <a href={`#${id}`} class={id === shown ? 'shown' : undefined}>
          {text}
        </a>
      ))}
    </nav>
    {tabs.map(([id, , content]) => (
      <div id={id} class={id === shown ? 'panel shown' : 'panel'}>
        {content}
      </div>
    ))}
  </div>
)
