import { describe, expect, it } from 'vitest'
import { csvLine, csvPages } from '../../src/http/csv.ts'

describe('CSV', () => {
  it('writes a header and one line per row, each with CR LF', async () => {
    async function* pages() {
      yield [['id', 'credits']]
      yield [['job_1', 1]]
      yield []
    }
    expect((await Array.fromAsync(csvPages(pages()))).join('')).toBe('id,credits\r\njob_1,1\r\n')
    expect(csvLine(['id'])).toBe('id\r\n')
  })

  it('quotes cells with commas, quotes and line breaks', () => {
    expect(csvLine(['a,b', 'say "yes"', 'two\nlines', 'CR\rin', 'plain; text'])).toBe(
      '"a,b","say ""yes""","two\nlines","CR\rin",plain; text\r\n',
    )
  })

  it('writes missing values as empty cells, dates in ISO 8601 and numbers unchanged', () => {
    expect(csvLine([null, undefined, '', new Date(0), -1, 0.5])).toBe(
      ',,,1970-01-01T00:00:00.000Z,-1,0.5\r\n',
    )
  })

  it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '=HYPERLINK("http://x","y")'])(
    'adds an apostrophe to the formula %j',
    (text) => {
      const cell = csvLine([text]).replace(/^"/, '')
      expect(cell.startsWith(`'${text.slice(0, 2)}`)).toBe(true)
    },
  )

  it('leaves text with these characters inside unchanged', () => {
    expect(csvLine(['a=b', 'job-1', 'me@example.com', "'quoted'"])).toBe(
      "a=b,job-1,me@example.com,'quoted'\r\n",
    )
  })
})
