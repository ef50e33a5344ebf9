// An upload belongs to one organisation. Its signed link does not work for others.
import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, it } from 'vitest'
import { dailyBytes } from '../../src/credits/storage-allowance.ts'
import { uploadKeyOf } from '../../src/platform/signing/signed-url.ts'
import { BASE, clientOf } from '../support/client.ts'
import { png } from '../support/picture.ts'
import { newOwner, sendFile, tryOn, type Owner } from '../support/browser.ts'
import { postUpload } from '../support/upload.ts'
import { newOrganisation } from '../support/world.ts'

describe('an upload', () => {
  let owner: Owner
  let link: string

  beforeAll(async () => {
    owner = await newOwner()
    link = (await sendFile(owner.browser, png())).body.url ?? ''
  })

  it('has the id of its organisation in its link', () => {
    const { organisationId } = owner
    expect(link).toMatch(new RegExp(`^${BASE}/uploads/upl_\\w{26}/${organisationId}\\.png\\?`))
    expect(uploadKeyOf(env, { baseUrl: BASE, organisationId }, link)).toContain(organisationId)
  })

  it('is rejected as an input of another organisation', async () => {
    const other = await newOwner()
    const { page } = await tryOn(other.browser, { model_image_url: link })
    expect(page.status).toBe(422)
    expect(page.html).toContain('is an upload of another organisation')

    const response = await clientOf(other.testKey).post('/v1/tryon', {
      model_image_url: link,
      garment_image_url: 'https://shop.test/garment.png',
    })
    expect(response.status).toBe(422)
  })

  it('is not found by the id of another organisation, even with a valid signature', async () => {
    const { orgId } = await newOrganisation()
    expect(uploadKeyOf(env, { baseUrl: BASE, organisationId: orgId }, link)).toBeNull()
    const forged = link.replace(owner.organisationId, orgId)
    expect(uploadKeyOf(env, { baseUrl: BASE, organisationId: orgId }, forged)).toBeNull()
  })

  it('from the console takes its bytes from the daily allowance of the API', async () => {
    const { organisationId, browser, testKey } = await newOwner()
    const caller = { organisationId, mode: 'test', keyHash: null } as const
    const stub = env.ORGANISATION.getByName(organisationId)
    const left = png().byteLength
    expect(await stub.admitUpload(caller, dailyBytes('uploads-taken', 60) - left)).toMatchObject({
      ok: true,
    })
    expect((await sendFile(browser, png())).status).toBe(201)
    expect(await sendFile(browser, png())).toEqual({
      status: 422,
      body: { error: expect.stringContaining('The daily allowance for uploads is used up.') },
    })
    expect((await postUpload(testKey)).status).toBe(429)
  })
})
