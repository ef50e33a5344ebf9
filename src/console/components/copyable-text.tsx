// Text and code with a button that copies it. console.js shows the button.
import type { Snippet } from '../snippets.ts'

/** @param copy the name of the button */
export const CopyableText = ({
  label,
  text,
  copy,
}: Record<'label' | 'text', string> & { copy?: string }) => (
  <div class="copyable">
    <pre tabindex={0} role="group" aria-label={label}>
      <code data-copy-source>{text}</code>
    </pre>
    <CopyButton label={copy} />
  </div>
)

/** An ID in a line of text. @param label what it identifies, such as "job ID" */
export const CopyableId = ({ id, label }: { id: string; label: string }) => (
  <span class="copyable inline">
    <span class="id" data-copy-source>
      {id}
    </span>
    <CopyButton label={`Copy ${label}`} />
  </span>
)

/**
 * @param label the name of a button that shows only an icon
 * @param value what it copies, instead of the text beside it
 */
export const CopyButton = ({ label, value }: { label?: string | undefined; value?: string }) => (
  <button
    type="button"
    class="secondary"
    data-copy={value ?? true}
    hidden
    aria-label={label}
    title={label}
  >
    Copy
  </button>
)

/**
 * The same code in several languages, as tabs of radio buttons, which need no script. console.css shows the code
 * of the checked one.
 * @param id names the radio buttons; unique on the page
 */
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
          checked={index === 0}
        />
        <label for={`${id}-${index}`}>{label}</label>
        <CopyableText label={`Code for ${label}`} text={code} copy={`Copy the code for ${label}`} />
      </>
    ))}
  </fieldset>
)
