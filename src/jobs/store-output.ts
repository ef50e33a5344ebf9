// The one place that stores outputs. Each is marked as synthetic in its metadata (docs/guides/marked-pictures.md).
import { withMetadata } from '@try-on/image-files'
import { JobFailure } from '../domain/failure.ts'
import type { ImageFile } from '../domain/image.ts'
import { outputKey } from '../platform/signing/signed-url.ts'
import { storeObject } from './pictures.ts'

/**
 * Stores the output of a job: the picture with a new mark instead of all metadata that it had. Storing a
 * stored output again gives the same file.
 * @param engine the engine that generated the picture; null for the placeholder of test mode
 * @returns the key
 * @throws JobFailure `generation_failed` when the picture is truncated or malformed, so that it cannot be
 * marked
 */
export async function storeOutput(
  env: Env,
  { jobId, engine }: { jobId: string; engine: string | null },
  { bytes, format }: ImageFile,
): Promise<string> {
  const parts = withMetadata(bytes, format, markOf(jobId, engine ?? 'placeholder'))
  if ('corrupt' in parts) {
    throw new JobFailure('generation_failed', `the output cannot be marked: ${parts.corrupt}`)
  }
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  const key = outputKey(jobId, format)
  await storeObject(env, key, {
    format,
    // A stream, because joining the parts would copy a picture of up to 20 MB.
    open: () => streamOf(parts).pipeThrough(new FixedLengthStream(length)),
    ...(engine !== null && { engine }),
  })
  return key
}

function streamOf(parts: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  const rest = parts.values()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = rest.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}

/** The engines that do not use a generative model. */
const COMPOSITES = new Set(['compositor', 'placeholder'])

/** An XMP packet: how the picture was made (IPTC NewsCodes), by which engine, and for which job. */
function markOf(jobId: string, engine: string): string {
  const source = COMPOSITES.has(engine) ? 'compositeSynthetic' : 'trainedAlgorithmicMedia'
  return `<?xpacket begin="\uFEFF" id="W5M0MpCehiHzreSzNTczkc9d"?>
<x:xmpmeta xmlns:x="adobe:ns:meta/">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about=""
 xmlns:Iptc4xmpExt="http://iptc.org/std/Iptc4xmpExt/2008-02-29/"
 xmlns:xmp="http://ns.adobe.com/xap/1.0/"
 xmlns:dc="http://purl.org/dc/elements/1.1/"
 Iptc4xmpExt:DigitalSourceType="http://cv.iptc.org/newscodes/digitalsourcetype/${source}"
 xmp:CreatorTool="try-on/${engine}"
 dc:identifier="${jobId}"/>
</rdf:RDF>
</x:xmpmeta>
<?xpacket end="r"?>`
}
