/** Text with a button that copies it. console.js shows the button. */
export const CopyableText = ({ label, text }: { label: string; text: string }) => (
  <div class="copyable">
    <pre tabindex={0} role="group" aria-label={label}>
      <code data-copy-source>{text}</code>
    </pre>
    <button type="button" class="secondary" data-copy hidden>
      Copy
    </button>
  </div>
)
