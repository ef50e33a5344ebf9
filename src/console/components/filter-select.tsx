// A filter of a list. console.js applies it when it is chosen.

/** @param options values with their labels; a value alone is its own label */
export const FilterSelect = ({
  name,
  label,
  value,
  options,
}: {
  name: string
  label: string
  value: string | undefined
  options: readonly (string | readonly [value: string, label: string])[]
}) => (
  <div class="field">
    <label for={name}>{label}</label>
    <select id={name} name={name} data-submit-on-change>
      <option value="">All</option>
      {options
        .map((option) => (typeof option === 'string' ? ([option, option] as const) : option))
        .map(([option, text]) => (
          <option value={option} selected={option === value || undefined}>
            {text}
          </option>
        ))}
    </select>
  </div>
)
