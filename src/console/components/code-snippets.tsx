// The same code in several languages, as tabs of radio buttons, which need no script. console.css shows
// the code of the checked one.
import type { Snippet } from '../snippets.ts'
import { CopyButton } from './copyable-text.tsx'

/** @param id names the radio buttons; unique on the page */
export const CodeSnippets = ({ snippets, id }: { snippets: readonly Snippet[]; id: string }) => (
  <fieldset class="snippets">
    <legend class="visually-hidden">Language</legend>
    {snippets.map(({ label, code }, index) => (
      <>
        <input
          type="radio"
          name={id}
          id={`${id}-${index}`}
          autocomplete="off"
          checked={index === 0 || undefined}
        />
        <label for={`${id}-${index}`}>{label}</label>
        <div class="copyable">
          <pre tabindex={0} role="group" aria-label={`Code for ${label}`}>
            <code data-copy-source>{code}</code>
          </pre>
          <CopyButton label={`Copy the code for ${label}`} />
        </div>
      </>
    ))}
  </fieldset>
)
