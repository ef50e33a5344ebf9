// The place of a job's result on the playground. playground.js submits the form and follows the job here.
import { Link } from './link.tsx'

interface ResultProps {
  /** The address of the state of a job, which console.js follows. */
  live: string | undefined
  jobId: string | undefined
}

export const PlaygroundResult = ({ live, jobId }: ResultProps) => (
  <section class="card result" aria-labelledby="result">
    <h2 id="result">Result</h2>
    <div data-run-result>
      {live ? (
        <section data-live={live} aria-label="Job" />
      ) : (
        <div class="frame">
          <span>The result appears here</span>
        </div>
      )}
    </div>
    <p data-job-link hidden={jobId === undefined || undefined}>
      <Link to={`/jobs/${jobId ?? ''}`}>Open the job</Link>
    </p>
  </section>
)
