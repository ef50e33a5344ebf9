import { describe, expect, it } from 'vitest'
import { KEY_FROM_ENVIRONMENT, tryOnSnippets } from '../../src/console/snippets.ts'

const codeOf = ({ apiKey = 'svc_test_sk_1', fields = {} } = {}) => {
  const [curl, typeScript, python] = tryOnSnippets({
    baseUrl: 'https://try-on.test',
    apiKey,
    fields: {
      model_image_url: 'https://shop.example/model.jpg',
      garment_image_url: 'https://shop.example/shirt.png',
      ...fields,
    },
  }).map(({ code }) => code)
  return { curl, typeScript, python }
}

describe('code snippets', () => {
  it('are complete', () => {
    expect(codeOf()).toEqual({
      curl: `curl 'https://try-on.test/v1/tryon' \\
  -H 'Authorization: Bearer svc_test_sk_1' \\
  -H 'Content-Type: application/json' \\
  -H 'Prefer: wait=30' \\
  -d '{
    "model_image_url": "https://shop.example/model.jpg",
    "garment_image_url": "https://shop.example/shirt.png"
  }'`,
      typeScript: `// npm install https://try-on.test/downloads/try-on-client-0.4.0.tgz
import { TryOnClient } from '@try-on/client'

const client = new TryOnClient({
  apiKey: 'svc_test_sk_1',
  baseUrl: 'https://try-on.test',
})
const job = await client.tryOn.run({
  model_image_url: 'https://shop.example/model.jpg',
  garment_image_url: 'https://shop.example/shirt.png',
})
console.log(job.output_url)`,
      python: `# pip install https://try-on.test/downloads/try_on-0.4.0.tar.gz
from try_on import TryOnClient

client = TryOnClient(
    api_key="svc_test_sk_1",
    base_url="https://try-on.test",
)
job = client.try_on.run(
    model_image_url="https://shop.example/model.jpg",
    garment_image_url="https://shop.example/shirt.png",
)
print(job["output_url"])`,
    })
  })

  it('read the key from the environment', () => {
    const { curl, typeScript, python } = codeOf({ apiKey: KEY_FROM_ENVIRONMENT })
    expect(curl).toContain('-H "Authorization: Bearer $TRY_ON_API_KEY"')
    expect(typeScript).toContain('apiKey: process.env.TRY_ON_API_KEY,')
    expect(python).toContain('api_key=os.environ["TRY_ON_API_KEY"],')
    expect(python).toContain('import os\n')
  })

  it('contain the workspace if it is given', () => {
    const code = codeOf({ fields: { workspace_id: 'ws_1' } })
    expect(code.curl).toContain('"workspace_id": "ws_1"\n  }')
    expect(code.typeScript).toContain("  workspace_id: 'ws_1',\n})")
    expect(code.python).toContain('    workspace_id="ws_1",\n)')
  })

  it('quote a URL that would end a string', () => {
    const code = codeOf({ fields: { model_image_url: `https://shop.example/'"\\$(id)` } })
    expect(code.curl).toContain(String.raw`"https://shop.example/'\''\"\\$(id)"`)
    expect(code.typeScript).toContain(String.raw`'https://shop.example/\'"\\$(id)'`)
    expect(code.python).toContain(String.raw`"https://shop.example/'\"\\$(id)"`)
  })
})
