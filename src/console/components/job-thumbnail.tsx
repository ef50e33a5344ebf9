// The small picture of a job's result in lists. jobs.css has its style.
import { useContext } from 'hono/jsx'
import type { JobRow } from '../../db/schema.ts'
import { OrganisationPath } from './link.tsx'

/** The picture is decorative: the link to the job is next to it. */
export const JobThumbnail = ({
  job: { id, mode, status, outputFormat },
}: {
  job: Pick<JobRow, 'id' | 'mode' | 'status' | 'outputFormat'>
}) => {
  const organisationPath = useContext(OrganisationPath)
  // Every test job has the same placeholder as its result.
  if (mode === 'test' || status !== 'completed' || outputFormat === null) {
    return <span class={`thumbnail ${status}`} aria-hidden="true"></span>
  }
  return (
    <img
      class="thumbnail"
      src={`${organisationPath}/jobs/${id}/thumbnail`}
      alt=""
      width="36"
      height="48"
      loading="lazy"
      decoding="async"
    />
  )
}
