// Pictures that people upload in the console, kept like our copies of inputs: for a day.
import { newId } from '../ids.ts'
import { EngineError } from '../engines/engine.ts'
import { checkImage } from '../images/fetch.ts'
import type { Role } from '../images/fetch.ts'
import { inputKey, signedUrl } from '../outputs/link.ts'
import { MAX_IMAGE_BYTES } from '../settings.ts'
import { storePicture } from './pictures.ts'

/** Keeps a picture. @returns its signed link, or null when it is none that could be worked on */
export async function keepUpload(
  env: Env,
  baseUrl: string,
  role: Role,
  file: Blob,
): Promise<string | null> {
  if (file.size > MAX_IMAGE_BYTES) return null
  try {
    const picture = checkImage(role, new Uint8Array(await file.arrayBuffer()))
    const key = inputKey(newId('upl'), role, picture.format)
    await storePicture(env, key, picture)
    return signedUrl(env, baseUrl, key)
  } catch (error) {
    if (error instanceof EngineError) return null
    throw error
  }
}
