// Text with a button that copies it. console.js shows the button.

export const CopyableText = ({ label, text }: { label: string; text: string }) => (
  <div class="copyable">
    <pre tabindex={0} role="group" aria-label={label}>
      <code data-copy-source>{text}</code>
    </pre>
    <CopyButton />
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
export const CopyButton = ({ label, value }: { label?: string; value?: string }) => (
  <button
    type="button"
    class="secondary"
    data-copy={value ?? true}
    hidden
    aria-label={label}
    title={label}
  >
    {label ? null : 'Copy'}
  </button>
)
