// Links to pages of the current organisation, whose ID is part of every address.
import { createContext, useContext, type Child } from 'hono/jsx'

/** The address of the organisation's overview. On guest pages, the console selects an organisation. */
export const OrganisationPath = createContext('/console')

interface LinkProps {
  /** A page of the organisation, such as `/jobs`; empty for the overview. */
  to: string
  class?: string
  role?: 'button'
  'aria-current'?: 'page' | 'true' | undefined
  'aria-label'?: string
  title?: string
  children?: Child
}

export const Link = ({ to, children, ...attributes }: LinkProps) => (
  <a href={useContext(OrganisationPath) + to} {...attributes}>
    {children}
  </a>
)

/** The pages above the current one. @param to their texts by their addresses */
export const Breadcrumb = ({ to }: { to: Record<string, string> }) => (
  <p class="breadcrumb">
    {Object.entries(to).map(([page, text]) => (
      <Link to={page}>{text}</Link>
    ))}
  </p>
)
