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

/** @param label the name of a button that shows only an icon */
export const CopyButton = ({ label }: { label?: string }) => (
  <button type="button" class="secondary" data-copy hidden aria-label={label} title={label}>
    {label ? null : 'Copy'}
  </button>
)
