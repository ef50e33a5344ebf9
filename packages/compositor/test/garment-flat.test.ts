// Product photos without a person, drawn here: what is cut out, and where the landmarks are.
import { describe, expect, it } from 'vitest'
import type { UpperGarment } from '../src/garment.ts'
import { gridGraph } from '../src/garment/edges.ts'
import { groundOf } from '../src/garment/ground.ts'
import { drawGarment } from '../samples/index.ts'
import { pointsOf, polygon } from '../samples/shapes.ts'
import { reachOf } from '../src/fit/sleeve.ts'
import { fillStripes } from '../src/garment/holes.ts'
import { crotchOf } from '../src/garment/lower.ts'
import { maskWhere, type Mask } from '../src/garment/mask.ts'
import { differsFromAround, edgelessShareOf } from '../src/garment/outline-quality.ts'
import { toLab } from '../src/oklab.ts'
import { bodyRowsOf } from '../src/garment/body-rows.ts'
import { paintCloth } from '../src/garment/before-cloth.ts'
import { clothsOf } from '../src/garment/cloth-mask.ts'
import { readGarment } from '../src/garment/read.ts'
import { hasOneSleeve } from '../src/garment/shape.ts'
import { shapeOnLegs, wornShapeOf } from '../src/garment/worn.ts'
import { wornUpperOf } from '../src/garment/worn-upper.ts'
import { bestFirst, withBothSleeves } from '../src/garment/whole.ts'
import { isWornOnLegs, showsSkin, wearerIn, withShoulders } from '../src/garment/wearer.ts'
import { between } from '../src/lines.ts'
import { LABEL, type Label } from '../src/parsing.ts'
import type { Perceiver, Perception } from '../src/perception.ts'
import { createPlane } from '../src/plane.ts'
import { ramp, shrink, type Point, type Raster, type Size } from '../src/raster.ts'
import { tools } from './files.ts'
import { eachPixel, plain } from './pixels.ts'
import { poseAt } from './pose.ts'

type Colour = readonly [number, number, number]

function draw(width: number, height: number, at: (x: number, y: number) => Colour): Raster {
  const data = new Uint8ClampedArray(width * height * 4)
  for (let y = 0, i = 0; y < height; y++) {
    for (let x = 0; x < width; x++, i += 4) data.set([...at(x + 0.5, y + 0.5), 255], i)
  }
  return { width, height, data }
}

const GROUND: Colour = [244, 244, 244]

/** A T-shirt 120 wide at the chest, with short sleeves and a round neck that shows a darker lining. */
function shirt(colour: Colour): Raster {
  return draw(300, 400, shirtAt(colour))
}

const shirtAt = (colour: Colour) => (x: number, y: number) => {
  const off = Math.abs(x - 150)
  const body = off < 60 && y > 80 && y < 330
  const sleeve = off >= 60 && off < 110 && y > 80 + (off - 60) * 0.9 && y < 140 + (off - 60) * 0.5
  if (!body && !sleeve) return GROUND
  const opening = Math.hypot(off, y - 80) < 28
  return opening ? ([colour[0] * 0.45, colour[1] * 0.45, colour[2] * 0.45] as const) : colour
}

/** A dark garment from the polygons of its left half, in a picture 300 wide: "x y, …". */
function cutOut(halves: readonly string[]): Raster {
  const shapes = halves.map((points) => polygon(pointsOf(points)))
  return draw(300, 400, (x, y) =>
    shapes.some((shape) => shape(Math.min(x, 300 - x), y) < 0) ? [40, 60, 120] : GROUND,
  )
}

/** @param isSalient at a place in a picture of 300 × 400 */
const perceiving = (
  perception: Perception,
  isSalient: (x: number, y: number) => boolean = () => false,
): Perceiver => ({
  perceive: async () => perception,
  async salience({ width, height }) {
    const plane = createPlane(width, height)
    eachPixel(width, [0, 0, width, height], (at, x, y) => {
      plane.data[at] = isSalient((x / width) * 300, (y / height) * 400) ? 0.95 : 0.05
    })
    return plane
  },
  product: async ({ width, height }) => new Uint8Array(width * height),
  opening: async ({ width, height }) => createPlane(width, height),
  parts: async (planes) => (await tools.perceiver()).parts(planes),
  usage: () => ({ tensors: 0, heapBytes: 0 }),
})

const read = async (picture: Raster) => readGarment(picture, await tools.perceiver())

/** Read without the models of people and of what stands out. */
const readUnaided = async (picture: Raster) =>
  readGarment(picture, {
    ...(await tools.perceiver()),
    perceive: async (size) => ({
      pose: poseAt({}),
      person: createPlane(size.width, size.height),
      face: null,
    }),
    salience: async (size) => createPlane(size.width, size.height),
  })

const colourAt = ({ width, data }: Raster, x: number, y: number): Colour => {
  const i = (Math.floor(y) * width + Math.floor(x)) * 4
  return [data[i]!, data[i + 1]!, data[i + 2]!]
}

const alphaAt = (picture: Raster, x: number, y: number) =>
  picture.data[(y * picture.width + x) * 4 + 3]

describe('groundOf', () => {
  it('knows a ground by most of the border where cloth reaches into it', async () => {
    const picture = draw(300, 400, (x, y) =>
      Math.abs(x - 150) > 142 && y % 100 < 38 ? [100, 100, 100] : GROUND,
    )
    expect(await groundOf(toLab(picture))).toMatchObject({ exact: true })
  })
})

describe('hasOneSleeve', () => {
  it('holds where one of the sleeves is hardly seen', async () => {
    const garment = (await read(shirt([40, 60, 120]))) as UpperGarment
    const withLeft = (share: number) => {
      const { shoulder, sleeve } = garment.left
      const nearer = (points: Point[]) => points.map((point) => between(shoulder, point, share))
      const { outer, inner } = sleeve!
      return {
        ...garment,
        left: { ...garment.left, sleeve: { outer: nearer(outer), inner: nearer(inner) } },
      }
    }
    expect([1, 0.7, 0.4].map((share) => hasOneSleeve(withLeft(share)))).toEqual([
      false,
      false,
      true,
    ])
    expect(hasOneSleeve({ ...garment, left: { ...garment.left, sleeve: null } })).toBe(true)
  })
})

describe('withBothSleeves', () => {
  it('finds a sleeve that lies against the body opposite to the other one', () => {
    const sleeve = (off: number, y: number) => off < 100 && y > 80 && y < 280 && off > 76
    const top = (isHidden: boolean, low = 0) =>
      maskWhere({ width: 300, height: 400 }, (i) => {
        const [x, y] = [(i % 300) - 150, Math.floor(i / 300)]
        const isGap = Math.abs(x) > 70 && Math.abs(x) <= 76 && y > 140 && !(isHidden && x > 0)
        const isBody = Math.abs(x) <= 76 && y > 80 && y < 320
        const isLow = x > 76 && x < 100 && y > 80 && y < 280 + low
        return (isBody && !isGap) || sleeve(Math.abs(x), y) || isLow
      })
    const sleevesOf = (mask: Mask) =>
      maskWhere(mask, (i) => mask.data[i] === 1 && Math.abs((i % 300) - 150) > 76)
    const { left, right } = withBothSleeves(top(true), sleevesOf(top(true)))
    expect(right.sleeve!.inner.at(-1)!.y).toBeCloseTo(left.sleeve!.inner.at(-1)!.y, 0)
    expect(() => withBothSleeves(top(true, 90), sleevesOf(top(true, 90)))).toThrow(
      'One of the sleeves',
    )
  })
})

describe('bestFirst', () => {
  const cut = (isCloth: (x: number, y: number) => boolean) => ({
    mask: maskWhere({ width: 200, height: 200 }, (i) => isCloth(i % 200, Math.floor(i / 200))),
    isOnPattern: false,
    hasEdge: true,
    isSalient: false,
  })
  const whole = cut((x, y) => x >= 40 && x < 160 && y >= 30 && y < 180)
  const torn = cut(
    (x, y) => x >= 40 && x < 160 && y >= 30 && y < 180 && (x < 90 || (x + y) % 40 < 30),
  )

  it('prefers a more symmetrical and smoother cut to the first one', async () => {
    const masks = []
    for await (const { mask } of bestFirst([torn, whole])) masks.push(mask)
    expect(masks).toEqual([whole.mask, torn.mask])
  })

  it('looks for no other cut where the first one is whole', async () => {
    const cuts = async function* () {
      yield whole
      throw new Error('too many cuts')
    }
    const { value } = await bestFirst(cuts()).next()
    expect(value).toMatchObject(whole)
  })
})

/** The left half of a jacket with a hood, whose sleeves lie against its body. */
const HOODED =
  '150 20, 116 20, 92 34, 86 46, 88 62, 64 74, 36 120, 12 190, 20 250, 32 312, 58 312, 62 324, 150 324'

describe('a product photo without a wearer', () => {
  it.each([-25, 12])('turns a garment upright that lies aslant by %i degrees', async (degrees) => {
    const [cos, sin] = [Math.cos, Math.sin].map((of) => of((degrees * Math.PI) / 180)) as [
      number,
      number,
    ]
    const at = shirtAt([40, 60, 120])
    const aslant = draw(420, 440, (x, y) => {
      const [across, down] = [x - 210, y - 220]
      return at(150 + across * cos + down * sin, 205 + down * cos - across * sin)
    })
    const garment = (await read(aslant)) as UpperGarment
    const { left, right } = garment
    expect(garment.shoulders).toBe('sleeves')
    for (const point of ['neck', 'shoulder', 'armpit'] as const) {
      expect(Math.abs(left[point].y - right[point].y)).toBeLessThan(6)
    }
    const hem = [left, right].map(({ side }) => side.at(-1)!) as [Point, Point]
    expect(Math.abs(hem[0].y - hem[1].y)).toBeLessThan(6)
    expect(Math.abs(hem[1].x - hem[0].x - 120)).toBeLessThan(6)
  })

  it.each<[string, Colour]>([
    ['dark', [40, 60, 120]],
    ['white', [255, 255, 255]],
  ])('cuts out a %s T-shirt without its lining', async (_, colour) => {
    const garment = await read(shirt(colour))
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    expect(alphaAt(garment.picture, 150, 200)).toBe(255)
    expect(alphaAt(garment.picture, 20, 20)).toBe(0)
    expect(alphaAt(garment.picture, 150, 95)).toBe(0)
    expect(garment.shoulders).toBe('sleeves')
  })

  it('cuts dark cloth along the weak edge of its opening, and not along a print', async () => {
    const cloth = shirt([40, 40, 44])
    const picture = draw(300, 400, (x, y) => {
      const off = Math.abs(x - 150)
      if (off < 40 && y > 140 && y < 200) return [200, 200, 200]
      const grain = (Math.floor(x) * 7 + Math.floor(y) * 13) % 5
      const tone = y > 80 && Math.hypot(off, y - 80) < 30 ? 32 : 40
      return y > 80 && y < 330 && off < 60
        ? [tone + grain, tone + grain, tone + grain]
        : colourAt(cloth, x, y)
    })
    const garment = await read(picture)
    expect(alphaAt(garment!.picture, 150, 90)).toBe(0)
    expect(alphaAt(garment!.picture, 150, 125)).toBe(255)
  })

  it('keeps the band along an open neck', async () => {
    const cloth = shirt([200, 110, 40])
    const neck = (x: number, y: number) => Math.hypot(x - 150, (y - 80) * 1.2)
    const picture = draw(300, 400, (x, y) => {
      if (neck(x, y) < 34) return GROUND
      return neck(x, y) < 42 && y > 80 ? [176, 94, 32] : colourAt(cloth, x, y)
    })
    const garment = await read(picture)
    expect(alphaAt(garment!.picture, 150, 112)).toBe(255)
  })

  it('tells cloth in the colour of a ground without noise by its texture', async () => {
    const white = shirt([225, 225, 225])
    for (let y = 80; y < 250; y++) {
      for (let x = 60; x < 240; x++) {
        const at = (y * 300 + x) * 4
        const value = 243 + ((x * 7 + y * 13) % 4)
        if (white.data[at] === 225) white.data.fill(value, at, at + 3)
      }
    }
    const garment = await read(white)
    for (const x of [100, 150, 200]) expect(alphaAt(garment!.picture, x, 150)).toBe(255)
    for (const x of [20, 280]) expect(alphaAt(garment!.picture, x, 150)).toBe(0)
  })

  it('tells the pale ends of sleeves from shadows, which fade', async () => {
    const seen = draw(300, 400, (x, y) => {
      const off = Math.abs(x - 150)
      if (off < 60 && y > 80 && y < 330) return [200, 200, 200]
      if (y > 90 && y < 140 && off < 80) return off > 64 ? [236, 236, 236] : [190, 190, 190]
      const shade = x > 210 && y > 170 && y < 330 ? Math.max(0, 24 - 2 * (x - 210)) : 0
      return [244 - shade, 244 - shade, 244 - shade]
    })
    const garment = await read(seen)
    for (const x of [76, 224]) expect(alphaAt(garment!.picture, x, 115)).toBe(255)
    for (const x of [216, 224]) expect(alphaAt(garment!.picture, x, 250)).toBe(0)
  })

  it('leaves out a ground whose light falls off beside the cloth', async () => {
    const cloth = shirt([176, 152, 128])
    const picture = draw(300, 400, (x, y) => {
      const dark = Math.round(8 * Math.exp(-(((x - 60) / 45) ** 2) - ((y - 240) / 90) ** 2))
      const [r, g, b] = colourAt(cloth, x, y)
      return r === GROUND[0] ? [r - dark, g - dark, b - dark] : [r, g, b]
    })
    const { picture: cut } = (await read(picture))!
    expect(alphaAt(cut, 70, 240)).toBe(0)
    expect(alphaAt(cut, 100, 240)).toBe(255)
  })

  it('leaves out the wide shadow that dark cloth casts on a wall', async () => {
    const cloth = shirt([24, 24, 26])
    const picture = draw(300, 400, (x, y) => {
      const [r, g, b] = colourAt(cloth, x, y)
      const shadow = y > 140 && y < 330 && x < 90 ? 26 * ramp(x, 66, 78) : 0
      const grain = (x * 7 + y * 13) % 3
      return r === GROUND[0] ? [r - shadow - grain, g - shadow - grain, b - shadow] : [r, g, b]
    })
    const { picture: cut } = (await read(picture))!
    expect(alphaAt(cut, 80, 240)).toBe(0)
    expect(alphaAt(cut, 100, 240)).toBe(255)
  })

  it('leaves out the even core of a shadow that is lighter than the dark cloth', async () => {
    const cloth = shirt([24, 24, 40])
    const picture = draw(300, 400, (x, y) => {
      const [r, g, b] = colourAt(cloth, x, y)
      if (r !== GROUND[0]) return [r, g, b]
      const shadow = y > 150 && y < 330 && x < 90 ? 30 * ramp(x, 40, 66) + 70 * ramp(x, 62, 72) : 0
      return [r - shadow, g - shadow, b - shadow]
    })
    const garment = (await read(picture))!
    for (const x of [66, 76, 84]) expect(alphaAt(garment.picture, x, 250)).toBe(0)
    expect(alphaAt(garment.picture, 95, 250)).toBe(255)
  })

  it('tells a shadow beside dark cloth from pale cloth, which is even', async () => {
    const legs = cutOut(['150 60, 112 60, 84 360, 126 360, 150 170'])
    const shaded = draw(300, 400, (x, y) => {
      if (colourAt(legs, x, y)[0] !== GROUND[0]) return [30, 30, 36]
      const fading = ramp(x, 0, 25) * ramp(x, 105, 104) * ramp(y, 260, 285) * ramp(y, 375, 350)
      const noise = (Math.floor(x) * 7 + Math.floor(y) * 13) % 5
      const grey = GROUND[0] - (fading > 0 ? 30 * fading * (0.4 + x / 150) + noise : 0)
      return [grey, grey, grey]
    })
    const trousers = (await read(shaded))!
    expect(trousers.kind).toBe('trousers')
    for (const x of [20, 50, 75]) expect(alphaAt(trousers.picture, x, 330)).toBe(0)
    expect(alphaAt(trousers.picture, 105, 330)).toBe(255)
  })

  it('leaves out an even shadow with a soft edge to the ground and a hard one to the cloth', async () => {
    const cloth = shirt([200, 40, 40])
    const picture = draw(300, 400, (x, y) => {
      const [r, g, b] = colourAt(cloth, x, y)
      if (r !== GROUND[0]) return [r, g, b]
      const shadow = y > 160 && y < 330 && x < 90 ? 5 * ramp(x, 64, 68) : 0
      return [r - shadow, g - shadow, b - shadow]
    })
    const garment = (await read(picture))!
    expect(alphaAt(garment.picture, 82, 250)).toBe(0)
    expect(alphaAt(garment.picture, 95, 250)).toBe(255)
  })

  it('leaves out the shaded ground in a narrow gap between long legs', async () => {
    const legs = cutOut(['150 40, 100 40, 96 370, 141 370, 144 150, 150 150'])
    const picture = draw(300, 400, (x, y) => {
      const [r, g, b] = colourAt(legs, x, y)
      const isGap = Math.abs(x - 150) < 12 && y > 140 && y < 370
      const grey = isGap ? 206 + Math.abs(x - 150) : GROUND[0]
      return r === GROUND[0] ? [grey, grey, grey] : [r, g, b]
    })
    const trousers = (await read(picture))!
    expect(trousers.kind).toBe('trousers')
    for (const y of [220, 300]) expect(alphaAt(trousers.picture, 150, y)).toBe(0)
  })

  it('leaves out a shadow of pale cloth that is wider than one move of the outline', async () => {
    const cloth = shirt([206, 190, 160])
    const picture = draw(300, 400, (x, y) => {
      const [r, g, b] = colourAt(cloth, x, y)
      if (r !== GROUND[0]) return [r, g, b]
      const shadow = y > 150 && y < 330 && x < 90 ? 80 * ramp(x, 30, 89) ** 6 : 0
      return [r - shadow, g - shadow, b - shadow]
    })
    const garment = (await read(picture))!
    for (const x of [60, 70, 80, 88]) expect(alphaAt(garment.picture, x, 250)).toBe(0)
    expect(alphaAt(garment.picture, 95, 250)).toBe(255)
  })

  it('cuts what stands out from a ground that has its colours', async () => {
    const cloth = shirt([120, 112, 88])
    const isCloth = (x: number, y: number) => colourAt(cloth, x, y)[0] !== GROUND[0]
    const picture = draw(300, 400, (x, y) => {
      const isLight = Math.floor(x / 30) % 2 === Math.floor(y / 40) % 2
      return isCloth(x, y) ? colourAt(cloth, x, y) : isLight ? GROUND : [126, 118, 92]
    })
    const { salience } = perceiving(
      { pose: poseAt({}), person: createPlane(1, 1), face: null },
      isCloth,
    )
    const cuts = await Array.fromAsync(clothsOf(picture, toLab(picture), () => salience(picture)))
    const { mask } = cuts.find(({ isSalient }) => isSalient)!
    const at = (x: number, y: number) => mask.data[y * 300 + x]
    expect([at(60, 130), at(100, 250), at(150, 320), at(75, 250)]).toEqual([1, 1, 1, 0])
    const alone = await Array.fromAsync(clothsOf(picture, toLab(picture)))
    expect(alone.some(({ isSalient }) => isSalient)).toBe(false)
  })

  it('reads a garment in a picture with a white frame', async () => {
    const cloth = shirt([120, 112, 88])
    const screenshot = draw(373, 571, (x, y) => {
      if (y < 6 || x > 370 || y > 569) return [255, 255, 255]
      const colour = colourAt(cloth, x * 0.8, y * 0.7)
      // The blocks of a JPEG.
      const noise = (Math.floor(x / 8) * 7 + Math.floor(y / 8) * 13) % 3
      return colour[0] === GROUND[0] ? [229 - noise, 235 - noise, 236 - noise] : colour
    })
    const garment = await read(screenshot)
    expect(garment?.kind).toBe('top')
    for (const x of [20, 372]) expect(alphaAt(garment!.picture, x, 250)).toBe(0)
  })

  it('leaves out the dummy that shows a dress, but no neck of the same cloth', async () => {
    const ground: Colour = [190, 190, 190]
    const denim: Colour = [70, 110, 150]
    const pale: Colour = [238, 234, 226]
    const drawn = (neck: Colour, shoulders: Colour) =>
      draw(300, 400, (x, y) => {
        const off = Math.abs(x - 150)
        if (off < 14 && y > 30 && y < 62) return neck
        const isStrap = off > 30 && off < 40 && y > 60
        if (y < 120) return isStrap ? denim : off < 52 && y > 58 + off / 8 ? shoulders : ground
        return off < 40 + (y - 120) * 0.2 && y < 360 ? denim : ground
      })
    const dress = (await read(drawn(pale, pale)))!
    expect(dress.kind).toBe('dress')
    for (const [x, y] of [
      [150, 45],
      [150, 90],
      [195, 90],
    ] as const) {
      expect(alphaAt(dress.picture, x, y)).toBe(0)
    }
    for (const y of [90, 200]) expect(alphaAt(dress.picture, 115, y)).toBe(255)
    const turtleneck = (await read(drawn(denim, denim)))!
    expect(alphaAt(turtleneck.picture, 150, 45)).toBe(255)
  })

  it('takes no yoke and collar of another colour for a dummy', async () => {
    const cloth = shirt([30, 35, 60])
    const polo = draw(300, 400, (x, y) => {
      const isCollar = Math.abs(x - 150) < 20 && y > 60 && y < 110
      const colour = colourAt(cloth, x, y)
      const isLight = y < 150 && (isCollar || colour[0] !== GROUND[0])
      return isLight ? [180, 215, 245] : colour
    })
    const garment = (await read(polo))!
    expect(garment).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
    expect(alphaAt(garment.picture, 105, 110)).toBe(255)
  })

  it('takes no yoke in the colour of a hanger for a part of it', async () => {
    const cloth = shirt([30, 35, 60])
    const hung = draw(300, 400, (x, y) => {
      const isHook = Math.abs(x - 150) < 6 && y > 40 && y < 90
      const isYoke = y < 170 && colourAt(cloth, x, y)[0] !== GROUND[0]
      return isHook || isYoke ? [150, 150, 155] : colourAt(cloth, x, y)
    })
    expect(alphaAt((await read(hung))!.picture, 110, 110)).toBe(255)
  })

  it('takes no grey yoke for a dummy that holds sleeves and body together', async () => {
    const cloth = cutOut(['150 80, 110 84, 40 190, 78 206, 100 160, 98 330, 150 330'])
    const polo = draw(300, 400, (x, y) => {
      const isCollar = Math.abs(x - 150) < 22 && y > 60 && y < 84
      const isCloth = isCollar || colourAt(cloth, x, y)[0] !== GROUND[0]
      if (!isCloth) return GROUND
      return y < 165 && Math.abs(x - 150) < 84 ? [128, 128, 128] : [24, 24, 40]
    })
    const garment = (await read(polo))!
    expect(garment).toMatchObject({ shoulders: 'sleeves' })
    for (const y of [75, 120]) expect(alphaAt(garment.picture, 130, y)).toBe(255)
  })

  it('leaves out the ground between sleeves that a shadow on the floor closes', async () => {
    const picture = draw(300, 400, (x, y) => {
      const off = Math.abs(x - 150)
      const body = off < 60 && y > 60 && y < 290 && Math.hypot(off, y - 60) > 25
      const sleeve = off >= 60 && off < 105 && y > 60 + (off - 60) * 0.6 && y < 341
      const tone = 236 - 8 * Math.sin(x) * Math.sin(y)
      if (body || (sleeve && (y < 200 || off > 75))) return [tone, tone - 6, tone - 14]
      const floor = off < 105 && y > 332 ? Math.max(0, 1 - Math.abs(y - 338) / 6) : 0
      const ground = 251 + ((x * 7 + y * 13) % 3) - 50 * floor
      return [ground, ground, ground]
    })
    const garment = (await read(picture))!
    expect(alphaAt(garment.picture, 150, 312)).toBe(0)
    expect(garment).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
  })

  it('places armpits and hem of a T-shirt', async () => {
    const garment = await read(shirt([160, 30, 40]))
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    const { left, right, hem } = garment
    expect(Math.abs(left.armpit.x - 90)).toBeLessThan(6)
    expect(Math.abs(left.armpit.y - 140)).toBeLessThan(8)
    expect(Math.abs(right.armpit.x - 210)).toBeLessThan(6)
    expect(Math.abs(hem[8]!.y - 330)).toBeLessThan(4)
    expect(left.sleeve?.outer).toHaveLength(9)
  })

  it.each(['stripes', 'checks', 'plain'] as const)(
    'does not take the neckline of a tank top with %s for an armhole',
    async (pattern) => {
      const garment = await read(
        drawGarment({ width: 800, height: 900, kind: 'tank', pattern, background: 'gradient' }),
      )
      if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
      const middle = (garment.left.neck.x + garment.right.neck.x) / 2
      const [left, right] = [middle - garment.left.armpit.x, garment.right.armpit.x - middle]
      expect(left).toBeGreaterThan(180)
      expect(Math.abs(left - right)).toBeLessThan(20)
    },
  )

  it('does not take the end of a sloping shoulder for an armhole', async () => {
    const garment = await read(
      cutOut(['128 40, 150 40, 150 350, 92 350, 91 150, 88 72, 86 66, 122 50']),
    )
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    for (const { shoulder, armpit } of [garment.left, garment.right]) {
      expect(Math.abs(shoulder.x - 150)).toBeGreaterThan(55)
      expect(shoulder.y).toBeLessThan(75)
      expect(armpit.y).toBeGreaterThan(85)
    }
    expect(garment.shoulders).toBe('none')
  })

  it('finds the legs of trousers', async () => {
    const picture = draw(240, 400, (x, y) => {
      const off = Math.abs(x - 120)
      const cloth =
        y > 30 && y < 370 && off < 50 + y * 0.02 && !(y > 140 && off < 4 + (y - 140) * 0.03)
      return cloth ? [60, 70, 90] : GROUND
    })
    const garment = await read(picture)
    if (garment?.kind !== 'trousers') throw new Error(`read as ${garment?.kind}`)
    expect(Math.abs(garment.legs!.crotch.y - 140)).toBeLessThan(8)
    expect(Math.abs(garment.waist[0]!.x - 70)).toBeLessThan(6)
  })

  it('finds the legs of long trousers that touch by their seam, and none in a long skirt', async () => {
    const long = (isSeam: (side: number, y: number) => boolean) =>
      draw(300, 400, (x, y) => {
        const side = Math.abs(x - 150)
        if (y < 50 || y > 350 || side > 55 + (y - 50) * 0.05) return GROUND
        return isSeam(side, y) ? [20, 30, 60] : [70, 100, 170]
      })
    const trousers = await read(long((side, y) => side < 2 && y > 140))
    const skirt = await read(long((side, y) => side < 2 && y < 200))
    if (trousers?.kind !== 'trousers') throw new Error(`read as ${trousers?.kind}`)
    expect(trousers.legs!.crotch.y).toBeGreaterThan(120)
    expect(trousers.legs!.crotch.y).toBeLessThan(180)
    expect(trousers.legs!.leftInner.at(-1)!.y).toBeGreaterThan(330)
    expect(skirt?.kind).toBe('skirt')
  })

  it('ends the inner side of a leg at the corner of a pointed hem', async () => {
    const garment = await read(
      cutOut(['100 30, 150 30, 150 140, 146 140, 138 340, 114 358, 90 340, 94 100']),
    )
    if (garment?.kind !== 'trousers') throw new Error(`read as ${garment?.kind}`)
    expect(Math.abs(garment.legs!.leftInner.at(-1)!.x - 138)).toBeLessThan(6)
  })

  it('cuts off the threads that hang below a frayed hem', async () => {
    const legs = '100 30, 150 30, 150 130, 144 140, 138 330, 90 330, 94 100'
    const frayed = await read(cutOut([legs, '92 320, 100 320, 98 360, 94 360']))
    if (frayed?.kind !== 'trousers') throw new Error(`read as ${frayed?.kind}`)
    expect(Math.abs(frayed.left.at(-1)!.y - 330)).toBeLessThan(8)
    expect(alphaAt(frayed.picture, 96, 350)).toBe(0)
  })

  it('ends a bodysuit where the legs begin', async () => {
    const garment = await read(
      cutOut([
        '70 60, 100 52, 130 110, 150 114, 150 340, 138 340, 82 250, 82 120',
        '70 60, 84 110, 82 150, 52 332, 30 330, 50 76',
      ]),
    )
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    expect(Math.abs(garment.hem[8]!.y - 256)).toBeLessThan(10)
    expect(garment.left.sleeve!.outer.at(-1)!.y).toBeGreaterThan(300)
    expect(garment.right.sleeve!.outer.at(-1)!.y).toBeGreaterThan(300)
  })

  it('places the armpit that a sleeve hides at the height of the other one', async () => {
    const garment = await read(
      draw(300, 400, (x, y) => {
        const side = Math.abs(x - 150)
        const edge = 60 + Math.max(0, y - 150) * 0.25
        const below = y > 80 + Math.max(0, side - 40) * 1.4 && Math.hypot(side, y - 80) > 28
        const body = side < edge && y < 330
        const gap = y > (x < 150 ? 150 : 240) && side < edge + 10
        const sleeve = side < edge + 40 && y < 310 && !gap
        return below && (body || sleeve) ? [40, 60, 120] : GROUND
      }),
    )
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    const { left, right } = garment
    expect(Math.abs(left.armpit.y - right.armpit.y)).toBeLessThan(8)
    expect(Math.abs(left.armpit.x + right.armpit.x - 300)).toBeLessThan(8)
    expect(right.sleeve!.outer.at(-1)!.y).toBeGreaterThan(280)
  })

  it('tells short sleeves that fall steeply from the shoulders of a sleeveless top', async () => {
    const shouldersAt = async (tip: number) => {
      const half = `150 86, 122 60, 100 64, ${tip} 82, 88 118, 86 250, 150 250`
      const garment = await read(cutOut([half]))
      if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
      return garment.shoulders
    }
    expect([await shouldersAt(67), await shouldersAt(76)]).toEqual(['sleeves', 'none'])
  })

  it('finds wide sleeves that hide the sides and end at the hem', async () => {
    const garment = await read(
      cutOut(['150 50, 125 50, 118 70, 92 86, 22 296, 50 306, 62 288, 62 310, 150 310']),
    )
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    expect(garment.shoulders).toBe('sleeves')
    expect(garment.left.sleeve!.outer.at(-1)!.y).toBeGreaterThan(270)
  })

  it('finds sleeves that lie against the body', async () => {
    const dress = (isSeam: (side: number, y: number) => boolean) =>
      draw(300, 400, (x, y) => {
        const side = Math.abs(x - 150)
        const edge = 80 + (y - 80) * 0.12
        if (y < 80 + Math.max(0, side - 40) * 0.5 || y > 300 || side > edge) return GROUND
        return isSeam(side, y) ? [20, 30, 60] : [70, 100, 170]
      })
    const jacket = await read(dress((side, y) => Math.abs(side - 64) < 2 && y > 130))
    if (jacket?.kind !== 'top') throw new Error('not read as a top')
    expect(jacket.shoulders).toBe('sleeves')
    for (const { armpit, sleeve } of [jacket.left, jacket.right]) {
      expect(Math.abs(Math.abs(armpit.x - 150) - 64)).toBeLessThan(5)
      expect(armpit.y).toBeLessThan(190)
      expect(sleeve!.inner.at(-1)!.y).toBeGreaterThan(280)
    }
  })

  it('finds the sleeves of a jacket whose front opens below the armpits', async () => {
    const jacket = draw(300, 400, (x, y) => {
      const side = Math.abs(x - 150)
      const edge = 80 + (y - 80) * 0.12
      const hem = x < 85 ? 324 : 300
      if (y < 80 + Math.max(0, side - 40) * 0.5 || y > hem || side > edge) return GROUND
      if (side < (210 - y) * 0.28) return [190, 90, 60]
      return Math.abs(side - 64) < 2 && y > 130 ? [20, 30, 60] : [70, 100, 170]
    })
    const open = await read(jacket)
    expect(open).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
    expect(alphaAt(open!.picture, 150, 120)).toBe(0)
  })

  it('finds the sleeves of a jacket whose hood hides its shoulders', async () => {
    const cloth = cutOut([HOODED])
    const jacket = draw(300, 400, (x, y) =>
      Math.abs(Math.abs(x - 150) - 88) < 2 && y > 150 && y < 320
        ? [110, 130, 190]
        : colourAt(cloth, x, y),
    )
    expect(await read(jacket)).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
  })

  it('finds the sleeves of a top that widens down to them by a weak seam', async () => {
    const cloth = cutOut([HOODED])
    const hoodie = draw(300, 400, (x, y) => {
      const isSeam = Math.abs(Math.abs(x - 150) - 88) < 2 && y > 150 && y < 320 && y % 20 < 10
      return isSeam ? [110, 130, 190] : colourAt(cloth, x, y)
    })
    expect(await read(hoodie)).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
  })

  it('opens the gap between a wide sleeve and the body, which the end of the sleeve closes', async () => {
    const jacket = cutOut(['150 50, 120 50, 66 70, 46 120, 42 330, 150 330'])
    for (let y = 150; y < 290; y++) {
      const half = 6 * Math.sin(((y - 150) / 140) * Math.PI)
      for (const middle of [90, 210]) {
        const at = (x: number) => (y * 300 + Math.round(x)) * 4
        for (let x = middle - half; x < middle + half; x++) jacket.data.set(GROUND, at(x))
      }
    }
    const garment = (await read(jacket))!
    expect(garment).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
    expect(alphaAt(garment.picture, 90, 220)).toBe(0)
    expect(alphaAt(garment.picture, 90, 320)).toBe(255)
    if (garment.kind !== 'top') throw new Error(`read as ${garment.kind}`)
    for (const { armpit, sleeve } of [garment.left, garment.right]) {
      expect(Math.abs(Math.abs(armpit.x - 150) - 60)).toBeLessThan(8)
      expect(sleeve!.inner.at(-1)!.y).toBeGreaterThan(310)
    }
  })

  it('does not take a hood for the waist of a skirt', async () => {
    const hem = '66 270, 80 270, 80 310, 150 310'
    const garment = await read(cutOut([`150 50, 104 50, 100 74, 84 100, 22 296, 50 306, ${hem}`]))
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    expect(garment.shoulders).toBe('sleeves')
  })

  it('cuts a hood off that stands up above the shoulders', async () => {
    const hood = '150 20, 130 24, 112 44, 104 86, 108 96'
    const sleeves = '84 104, 22 296, 50 306, 70 220, 70 310, 150 310'
    const garment = (await read(cutOut([`${hood}, ${sleeves}`])))!
    expect(garment).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
    if (garment.kind !== 'top') throw new Error(`read as ${garment.kind}`)
    expect(alphaAt(garment.picture, 150, 60)).toBe(0)
    expect(alphaAt(garment.picture, 150, 130)).toBe(255)
    expect(Math.abs(garment.left.neck.x - 108)).toBeLessThan(6)
    expect(Math.abs(garment.left.neck.y - 96)).toBeLessThan(6)
    const folded = '84 104, 50 200, 60 310, 150 310'
    await expect(read(cutOut([`${hood}, ${folded}`]))).rejects.toThrow('with its sleeves')
  })

  it('reads a photo on white that is padded with grey', async () => {
    const photo = shirt([40, 60, 120])
    const padded = draw(420, 560, (x, y) => {
      const [left, top] = [x - 60, y - 40]
      if (left < 0 || left >= 300 || top < 0 || top >= 400) return [226, 227, 229]
      const colour = colourAt(photo, left, top)
      return colour[0] === GROUND[0] ? [255, 255, 255] : colour
    })
    const garment = (await readUnaided(padded))!
    expect(garment).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
    expect(alphaAt(garment.picture, 80, 60)).toBe(0)
    expect(alphaAt(garment.picture, 210, 300)).toBe(255)
  })

  it('finds the armholes of a jacket behind sleeves that hang before its sides', async () => {
    const garment = await read(
      cutOut(['150 60, 128 50, 92 62, 66 90, 40 320, 50 344, 92 344, 96 316, 150 316']),
    )
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    expect(garment.shoulders).toBe('sleeves')
    for (const { armpit } of [garment.left, garment.right]) {
      expect(Math.abs(Math.abs(armpit.x - 150) - 56)).toBeLessThan(20)
      expect(armpit.y).toBeLessThan(160)
    }
  })

  describe('of a top that stands out on one side', () => {
    /** A top whose halves have these edges. */
    const topWith = (left: string, right: string) => {
      const [one, other] = [polygon(pointsOf(left)), polygon(pointsOf(right))]
      return draw(300, 400, (x, y) =>
        (x < 150 ? one(x, y) : other(300 - x, y)) < 0 ? [40, 60, 120] : GROUND,
      )
    }
    const armhole = '150 80, 118 64, 92 66, 98 120, 96 134, 94 320, 150 320'

    it('takes a loose thread beside an armhole for no sleeve', async () => {
      const loose = '150 80, 118 64, 92 66, 98 120, 85 122, 85 131, 96 134, 94 320, 150 320'
      expect(await read(topWith(loose, armhole))).toMatchObject({
        shoulders: 'none',
        left: { sleeve: null },
        right: { sleeve: null },
      })
    })

    it('refuses one sleeve', async () => {
      const sleeve = '150 70, 118 64, 62 84, 40 160, 84 166, 94 140, 94 320, 150 320'
      await expect(read(topWith(sleeve, armhole))).rejects.toThrow('One of the sleeves')
    })
  })

  it('ends the armhole of a dress with long straps that lean outwards below them', async () => {
    const dress = cutOut(['92 20, 96 20, 104 84, 150 124, 150 380, 60 380, 92 190, 72 124, 96 90'])
    const garment = (await read(dress))!
    expect(garment).toMatchObject({
      shoulders: 'straps',
      left: { neck: { y: expect.closeTo(20, -1) }, armpit: { y: expect.closeTo(124, -1) } },
    })
  })

  it('does not take the narrow shoulders of a wide neck for straps', async () => {
    const garment = await read(
      cutOut([
        '96 50, 90 55, 64 74, 80 110, 100 140, 150 150, 150 330, 88 330, 88 160, 70 190, 30 170, 46 76',
      ]),
    )
    if (garment?.kind !== 'top') throw new Error(`read as ${garment?.kind}`)
    expect(garment.shoulders).toBe('sleeves')
  })

  it('shows the ground between the front and the back of a strap', async () => {
    const garment = await read(
      cutOut([
        '150 120, 60 112, 40 150, 40 330, 150 330',
        '40 40, 56 40, 62 118, 57 122, 53 47, 45 47, 45 160, 40 160',
      ]),
    )
    expect(alphaAt(garment!.picture, 50, 95)).toBe(0)
    expect(alphaAt(garment!.picture, 42, 95)).toBeGreaterThan(200)
  })

  it('leaves out a label in the neck', async () => {
    const plain = cutOut(['150 80, 90 80, 40 130, 50 165, 90 140, 90 330, 150 330'])
    for (let y = 92; y < 104; y++) {
      for (let x = 142; x < 158; x++) plain.data.set([250, 250, 250], (y * 300 + x) * 4)
    }
    const garment = await read(plain)
    expect(alphaAt(garment!.picture, 150, 98)).toBe(0)
    expect(alphaAt(garment!.picture, 150, 130)).toBe(255)
  })

  it('does not take tinted ground beside a leg for cloth', async () => {
    // The blocks of a JPEG around the cloth can have another white than the rest.
    const garment = await read(
      draw(300, 400, (x, y) => {
        const off = Math.abs(x - 150)
        const trousers = y > 30 && y < 370 && off < 34 && !(y > 140 && off < 4)
        const flap = x > 70 && x < 150 && y > 120 && y < 150
        if (trousers || flap) return [60, 70, 90]
        return x > 72 && x < 150 && y > 140 && y < 372 ? [255, 253, 255] : [255, 255, 255]
      }),
    )
    expect(garment?.kind).toBe('trousers')
    expect(alphaAt(garment!.picture, 100, 300)).toBe(0)
  })

  it.each<['dress' | 'top', number, string]>([
    ['dress', 350, 'a short dress with thin straps and a waist'],
    ['top', 310, 'a straight tunic'],
    ['top', 280, 'a tank top with a waist'],
  ])('reads as %s, with a hem at %i: %s', async (kind, hem, what) => {
    const waist = what.includes('waist') ? 106 : 88
    const garment = await read(
      cutOut([
        `98 40, 106 40, 120 110, 150 116, 150 ${hem}, 84 ${hem}, ${waist} 200, ${waist} 170, 88 100`,
      ]),
    )
    expect(garment?.kind).toBe(kind)
  })

  it.each<[string, Raster]>([
    ['a black picture', draw(200, 200, () => [0, 0, 0])],
    ['a dot', draw(200, 200, (x, y) => (Math.hypot(x - 100, y - 100) < 8 ? [255, 0, 0] : GROUND))],
    ['stripes', draw(200, 200, (_, y) => (y % 20 < 3 ? [0, 0, 0] : GROUND))],
  ])('refuses %s', async (_, picture) => {
    expect(await read(picture)).toBeNull()
  })

  it('refuses a garment that the side of the picture cuts off', async () => {
    const cloth = shirt([40, 60, 120])
    const cut = draw(200, 400, (x, y) => {
      const [r, g, b] = colourAt(cloth, x + 100, y)
      const fold = r === GROUND[0] ? 0 : 25 * Math.sin(y / 9)
      return [r + fold, g + fold, b + fold]
    })
    await expect(read(cut)).rejects.toMatchObject({
      code: 'garment_not_found',
      message: expect.stringContaining('cut off'),
    })
  })

  it('reads shorts that fill the picture and touch its side', async () => {
    const shorts = draw(300, 400, (x, y) => {
      const off = Math.abs(x - 120)
      const isCloth = y > 90 && y < 320 && off < 80 + (y - 90) * 0.3 && (y < 220 || off > 6)
      return isCloth ? [40, 60, 120] : GROUND
    })
    expect((await read(shorts))?.kind).toBe('trousers')
  })

  it('refuses a top of which one side is lost in the background', async () => {
    const cloth = shirt([40, 60, 120])
    const isLost = (x: number, y: number) => y > 200 && x < 115 + 15 * Math.sin(y / 3)
    const faded = draw(300, 400, (x, y) => (isLost(x, y) ? GROUND : colourAt(cloth, x, y)))
    await expect(readUnaided(faded)).rejects.toMatchObject({
      code: 'garment_not_found',
      message: expect.stringContaining('another colour'),
    })
  })

  it('reads a creased top whose sleeves are not equally high, before a ground of another colour', async () => {
    const picture = draw(300, 400, (x, y) => {
      const off = Math.abs(x - 150)
      const crease = 3 * Math.sin((x + y) / 4.5)
      const isBody = off < 60 + (y > 170 ? crease : 0) && y > 80 && y < 330
      const level = y - (off - 60) * (x < 150 ? 0 : 1)
      const isSleeve =
        off >= 60 &&
        off < 110 + crease &&
        level > 80 + (off - 60) * 0.9 &&
        level < 140 + crease + (off - 60) * 0.5
      return isBody || isSleeve ? [40, 60, 120] : GROUND
    })
    expect(await read(picture)).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
  })

  it('reads a dress with one shoulder, which is cut out as a whole', async () => {
    const outline = polygon(pointsOf('100 60, 130 60, 190 150, 210 350, 70 350, 105 150'))
    const dress = draw(300, 400, (x, y) => (outline(x, y) < 0 ? [40, 60, 120] : GROUND))
    expect(await read(dress)).toMatchObject({ kind: 'dress' })
  })

  it('refuses a folded shirt, whose sleeves are not seen', async () => {
    const shirt = cutOut(['150 40, 120 40, 112 52, 84 62, 84 340, 150 340'])
    await expect(read(shirt)).rejects.toMatchObject({
      code: 'garment_not_found',
      message: expect.stringContaining('folded'),
    })
  })

  it('reads a garment on planks, and leaves out the lines that touch it and other things', async () => {
    const plank = (x: number, y: number): Colour => {
      if (x % 37 < 1.5) return [70, 50, 35]
      const tone = ((Math.floor(x / 37) * 29) % 50) + 8 * Math.sin(y / 9 + Math.floor(x / 37))
      return [190 - tone, 150 - tone, 105 - tone]
    }
    const cloth = shirt([60, 90, 170])
    const picture = draw(300, 400, (x, y) => {
      const colour = colourAt(cloth, x, y)
      if (x > 240 && x < 270 && y > 350 && y < 380) return [200, 30, 40]
      return colour[0] === GROUND[0] ? plank(x, y) : colour
    })
    const garment = await read(picture)
    if (!garment || !('hem' in garment)) throw new Error('no top')
    expect(garment.shoulders).toBe('sleeves')
    for (const { y } of garment.hem) expect(y).toBeCloseTo(330, -1)
    expect(alphaAt(garment.picture, 150, 250)).toBe(255)
    for (const [x, y] of [
      [255, 365],
      [40, 250],
      [148, 40],
    ] as const) {
      expect(alphaAt(garment.picture, x, y)).toBe(0)
    }
  })

  it('leaves out what the border of the picture cuts off: the sides of a dummy and its stand', async () => {
    const skirt = cutOut(['150 120, 100 120, 60 330, 150 340'])
    const held = draw(300, 400, (x, y) => {
      const isDummy = y < 120 && Math.abs(Math.abs(x - 150) - 44) < 6
      const isStand = y > 330 && Math.abs(x - 150) < 4
      return isDummy ? [200, 190, 180] : isStand ? [20, 20, 20] : colourAt(skirt, x, y)
    })
    const garment = (await read(held))!
    expect(garment.kind).toBe('skirt')
    expect(alphaAt(garment.picture, 106, 60)).toBe(0)
    expect(alphaAt(garment.picture, 150, 380)).toBe(0)
    expect(alphaAt(garment.picture, 150, 200)).toBe(255)
  })

  it('keeps a sleeve beside the body that the lower border cuts off', async () => {
    const seen = draw(300, 400, (x, y) => {
      const off = Math.abs(x - 150)
      const isBody = off < 70 && y > 80 && y < 360
      const isSleeve = y > 80 && off >= 70 && off < 76 + y * 0.12 && off > y * 0.22
      return isBody || isSleeve ? [40, 60, 120] : GROUND
    })
    const garment = (await read(seen))!
    for (const x of [50, 250]) expect(alphaAt(garment.picture, x, 340)).toBe(255)
  })

  it('keeps the cuffs below the hem that the lower border cuts off', async () => {
    const hoodie = cutOut([
      '150 60, 120 62, 112 84, 90 96, 40 250, 20 340, 30 400, 66 400, 92 330, 98 350, 150 350',
    ])
    const garment = (await read(hoodie))!
    for (const x of [50, 250]) expect(alphaAt(garment.picture, x, 390)).toBe(255)
  })

  it('keeps straps that the upper border cuts off', async () => {
    const dress = cutOut(['128 0, 104 0, 110 90, 104 130, 60 330, 150 340, 150 110, 134 84'])
    const garment = (await read(dress))!
    expect(garment.kind).toBe('dress')
    for (const x of [116, 184]) expect(alphaAt(garment.picture, x, 10)).toBe(255)
  })

  it.each([
    ['the hook of a hanger', [90, 60, 40], 0],
    ['a hook of the same colour with the knob on which it hangs', [40, 60, 120], 15],
  ] as const)('leaves out %s', async (_, colour, knob) => {
    const cloth = shirt([40, 60, 120])
    const hung = draw(300, 400, (x, y) =>
      (Math.abs(x - 150) < 6 && y > 50 && y < 112) || Math.hypot(x - 150, y - 48) < knob
        ? colour
        : colourAt(cloth, x, y),
    )
    const garment = (await read(hung))!
    expect(garment).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
    expect(alphaAt(garment.picture, 150, 60)).toBe(0)
    expect(alphaAt(garment.picture, 150, 45)).toBe(0)
  })

  it('leaves out a hanger of another colour with its hook, and the hand that holds it', async () => {
    const cloth = shirt([40, 60, 120])
    const wood: Colour = [150, 110, 70]
    const hung = (hand: boolean) =>
      draw(300, 400, (x, y) => {
        const off = Math.abs(x - 150)
        const isHook =
          Math.abs(Math.hypot(x - 158, y - 30) - 8) < 2 || (off < 2 && y > 30 && y < 60)
        const isWood = y > 54 && y < 88 && off < 8 + (y - 54) * 0.6
        const isHand = hand && x > 150 && Math.abs(y - 24) < 12
        if (isHook || isWood) return wood
        return isHand ? [225, 180, 150] : colourAt(cloth, x, y)
      })
    for (const hand of [false, true]) {
      const garment = (await read(hung(hand)))!
      expect(garment).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
      expect(alphaAt(garment.picture, 150, 70)).toBe(0)
      expect(alphaAt(garment.picture, 250, 24)).toBe(0)
      expect(alphaAt(garment.picture, 100, 120)).toBe(255)
    }
  })

  it('leaves out a wooden hanger although the cloth has colours like it, and finds the sleeves', async () => {
    const outline = polygon(
      pointsOf('150 92, 100 88, 66 130, 20 330, 36 372, 70 372, 104 330, 112 334, 150 334'),
    )
    const cardigan = draw(300, 400, (x, y) => {
      const off = Math.abs(x - 150)
      if (outline(Math.min(x, 300 - x), y) < 0)
        return (y >> 3) % 6 ? [238, 232, 212] : [226, 208, 178]
      return y > 54 && y < 92 && off < 6 + (y - 54) * 0.7 ? [222, 200, 168] : [250, 250, 250]
    })
    const garment = (await read(cardigan))!
    expect(garment).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
    expect(alphaAt(garment.picture, 150, 75)).toBe(0)
    expect(alphaAt(garment.picture, 150, 200)).toBe(255)
  })

  it('leaves out a hanger that the picture cuts off above its arms', async () => {
    const trousers = cutOut(['150 70, 84 66, 60 260, 132 280, 150 220'])
    const hung = draw(300, 400, (x, y) => {
      const off = Math.abs(x - 150)
      const colour = colourAt(trousers, x, y)
      if (off < 2 && y < 22) return [120, 120, 120]
      const isWood = colour[0] === GROUND[0] && y > 20 && y < 70 && off < (y - 20) * 1.1
      return isWood ? [190, 140, 90] : colour
    })
    const garment = (await read(hung))!
    expect(garment.kind).toBe('trousers')
    for (const x of [130, 170]) expect(alphaAt(garment.picture, x, 55)).toBe(0)
    expect(alphaAt(garment.picture, 120, 120)).toBe(255)
  })

  it('tells a short dress by its high waist from a jacket with a wide hem', async () => {
    const fitted = (waist: number) =>
      cutOut([`150 90, 122 70, 96 76, 100 130, 110 ${waist}, 98 ${waist + 60}, 84 300, 150 300`])
    expect((await read(fitted(168)))?.kind).toBe('dress')
    expect((await read(fitted(205)))?.kind).toBe('top')
  })

  it('tells a sundress by its wide hem from a tunic of this length', async () => {
    const sundress = cutOut(['150 78, 130 70, 120 50, 112 50, 110 110, 54 270, 150 276'])
    expect((await read(sundress))?.kind).toBe('dress')
  })

  it('takes nothing with sleeves that hang down to the hem for a dress', async () => {
    const sweater = cutOut([
      '150 80, 124 72, 96 84, 70 130, 60 310, 92 320, 108 180, 112 180, 112 300, 150 300',
    ])
    expect(await read(sweater)).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
  })

  it('takes a long straight garment whose sleeves end far above its hem for a dress', async () => {
    const dress = cutOut([
      '150 60, 124 52, 104 62, 84 100, 74 204, 98 208, 109 130, 110 130, 116 290, 150 290',
    ])
    expect(await read(dress)).toMatchObject({ kind: 'dress', shoulders: 'sleeves' })
  })

  it('finds the legs between which a long shadow lies', async () => {
    const legs = polygon(pointsOf('150 60, 100 60, 92 360, 138 360, 140 180, 150 170'))
    const trousers = draw(300, 400, (x, y) => {
      if (legs(Math.min(x, 300 - x), y) < 0) return [24, 24, 28]
      const shadow = Math.abs(x - 150) < 60 && y > 100 ? 70 * ramp(y, 380, 160) : 0
      const grey = GROUND[0] - shadow
      return [grey, grey, grey]
    })
    const found = await read(trousers)
    expect(found?.kind).toBe('trousers')
    expect(alphaAt(found!.picture, 150, 300)).toBe(0)
  })

  it.each([
    ['an A-line skirt', '150 88, 120 86, 96 80, 60 300, 150 304'],
    ['a pencil skirt', '150 90, 110 86, 84 80, 62 250, 66 300, 150 304'],
    ['a wide skirt', '150 92, 130 90, 112 84, 60 200, 30 300, 90 318, 150 322'],
    ['short shorts', '150 92, 120 90, 96 84, 70 150, 62 200, 120 226, 134 252, 150 252'],
  ])('reads as skirt: %s with an upper edge that dips', async (_, outline) => {
    expect(await read(cutOut([outline]))).toMatchObject({ kind: 'skirt' })
  })

  it('finds the waist of a skirt although loops for a belt rise above it, and no legs in its waves', async () => {
    const skirt = cutOut([
      '150 66, 120 66, 120 61, 112 61, 100 120, 70 380, 90 390, 140 385, 150 370',
    ])
    expect(await read(skirt)).toMatchObject({ kind: 'skirt' })
  })

  it('refuses trousers of which the ground has taken a part', async () => {
    const trousers = polygon(pointsOf('100 60, 200 60, 226 360, 166 360, 150 180, 134 360, 74 360'))
    const seen = (lost: boolean) =>
      draw(300, 400, (x, y) => {
        const teeth = 215 - (y % 30) ** 2 / 10
        const isLost = lost && y > 150 && x > teeth
        return trousers(x, y) < 0 && !isLost ? [40, 60, 120] : GROUND
      })
    expect(await read(seen(false))).toMatchObject({ kind: 'trousers' })
    await expect(read(seen(true))).rejects.toThrow(/cannot be told from the background/)
  })

  it('cuts off the strings that hang from the hem of a jacket', async () => {
    const jacket = [
      '150 80, 110 84, 60 190, 84 200, 100 160, 96 300, 150 300',
      '140 300, 140 360, 144 360, 144 300',
    ]
    const garment = await read(cutOut(jacket))
    if (!garment || !('hem' in garment)) throw new Error('no top')
    for (const { y } of garment.hem) expect(y).toBeLessThan(304)
    expect(alphaAt(garment.picture, 142, 340)).toBe(0)
    expect(alphaAt(garment.picture, 150, 290)).toBe(255)
  })

  it('keeps a collar of another colour that stands up', async () => {
    const jacket = '150 60, 124 60, 122 80, 92 94, 56 240, 84 246, 98 180, 96 320, 150 320'
    const cloth = cutOut([jacket])
    const picture = draw(300, 400, (x, y) => {
      const isCollar = y > 60 && Math.hypot(x - 150, y - 60) < 22
      return isCollar ? [190, 150, 110] : colourAt(cloth, x, y)
    })
    const garment = await read(picture)
    expect(garment && 'shoulders' in garment && garment.shoulders).toBe('sleeves')
    expect(alphaAt(garment!.picture, 150, 80)).toBeGreaterThan(128)
  })

  it('finds the waist of shorts although it curves between its corners', async () => {
    const shorts = ['150 87, 110 84, 84 80, 60 260, 132 280, 150 220']
    const level = cutOut(shorts)
    const tilted = draw(300, 400, (x, y) => colourAt(level, x, Math.max(0, y + (x - 150) / 35)))
    for (const picture of [level, tilted]) {
      expect((await read(picture))?.kind).toBe('trousers')
    }
  })

  it('finds the legs of trousers whose waist a hanger hides', async () => {
    const trousers = [
      '150 60, 146 60, 146 84, 150 84',
      '150 84, 118 80, 112 72, 106 80, 104 100, 90 360, 128 360, 150 170',
    ]
    expect((await read(cutOut(trousers)))?.kind).toBe('trousers')
  })

  it('reads a garment on a creased sheet in light that falls off', async () => {
    const cloth = shirt([150, 150, 155])
    const sheet = draw(300, 400, (x, y) => {
      const fall = Math.hypot((x - 150) / 150, (y - 200) / 200) ** 2
      const colour = colourAt(cloth, x, y)
      const isSheet = colour[0] === GROUND[0]
      const crease = isSheet ? 0.15 * Math.sin(x / 7 + 3 * Math.sin(y / 40)) : 0
      const light = 1 - (isSheet ? 0.4 : 0.2) * fall + crease
      const [r, g, b] = isSheet ? [215, 190, 160] : colour
      return [r * light, g * light, b * light]
    })
    expect(await read(sheet)).toMatchObject({ kind: 'top', shoulders: 'sleeves' })
  })

  it('reads a plain garment on a wall of stones in its own colours, and refuses one like the stones', async () => {
    const plain = shirt([40, 60, 120])
    const stones = (x: number, y: number): Colour => {
      const stone = 0.6 + ((Math.floor(x / 12) * 37 + Math.floor(y / 12) * 71) % 120) / 100
      return [40 * stone, 60 * stone, 120 * stone]
    }
    const wall = (cloth: (x: number, y: number) => Colour) =>
      draw(300, 400, (x, y) => {
        const colour = colourAt(plain, x, y)
        return colour[0] === GROUND[0] ? stones(x, y) : cloth(x, y)
      })
    expect(await read(wall(() => [40, 60, 120]))).toMatchObject({
      kind: 'top',
      shoulders: 'sleeves',
    })
    expect(await read(wall((x, y) => stones(x + 7, y + 5)))).toBeNull()
  })
})

describe('wearerIn', () => {
  const joint = (x: number, y: number) => ({ x, y, score: 0.8 })
  const pose = Object.fromEntries(
    ['Eye', 'Ear', 'Shoulder', 'Elbow', 'Wrist', 'Hip', 'Knee', 'Ankle'].flatMap((name, i) => [
      [`left${name}`, joint(130, 50 + 10 * i)],
      [`right${name}`, joint(70, 50 + 10 * i)],
    ]),
  )
  const perceptionFrom = (top: number) => ({
    pose: { ...pose, nose: joint(100, 45) } as Perception['pose'],
    person: {
      width: 200,
      height: 200,
      data: new Float32Array(40_000).fill(1, top * 200),
    },
    face: null,
  })

  const white = plain(200, 200, [255, 255, 255, 255])

  it('finds a person with a head, or cut off by the picture', () => {
    expect(wearerIn(perceptionFrom(10), white)).not.toBeNull()
    expect(wearerIn(perceptionFrom(0), white)).not.toBeNull()
  })

  it('does not take a shirt with a collar for a person', () => {
    expect(wearerIn(perceptionFrom(58), white)).toBeNull()
  })

  it('finds a person with hidden arms by the skin where the picture cuts off the neck', () => {
    const seen = perceptionFrom(0)
    for (const name of ['leftWrist', 'rightWrist', 'leftElbow', 'rightElbow', 'nose'] as const) {
      seen.pose[name] = { ...seen.pose[name], score: 0.4 }
    }
    const withNeck = (colour: readonly number[]) => {
      const picture = plain(200, 200, [255, 255, 255, 255])
      eachPixel(200, [80, 0, 120, 10], (at) => picture.data.set(colour, at * 4))
      return picture
    }
    expect(wearerIn(seen, white)).toBeNull()
    expect(wearerIn(seen, withNeck([200, 150, 125]))).not.toBeNull()
    expect(wearerIn(seen, withNeck([90, 60, 45]))).not.toBeNull()
    expect(wearerIn(seen, withNeck([60, 90, 160]))).toBeNull()
  })

  it('finds a person whose face is seen where the picture ends above the hips', () => {
    const withHips = (score: number) => {
      const seen = perceptionFrom(10)
      for (const name of ['leftHip', 'rightHip', 'leftWrist', 'rightWrist'] as const) {
        seen.pose[name] = { ...seen.pose[name], score }
      }
      return seen
    }
    expect(wearerIn(withHips(0.25), white)).not.toBeNull()
    expect(wearerIn(withHips(0.1), white)).toBeNull()
    const headless = withHips(0.25)
    headless.pose.nose = { ...headless.pose.nose, score: 0.1 }
    expect(wearerIn(headless, white)).toBeNull()
  })

  it('tells the wearer of a coat from a hooded jacket alone by the skin', () => {
    const shows = (hands: number) => {
      const labels = new Uint8Array(10_000).fill(LABEL.top)
      return showsSkin({ width: 100, height: 100, labels: labels.fill(LABEL.skin, 0, hands) })
    }
    expect([shows(40), shows(10)]).toEqual([true, false])
  })
})

describe('readGarment', () => {
  it('refuses a portrait, of which the face would be the garment', async () => {
    const pose = poseAt({
      nose: [150, 100],
      leftEye: [160, 90],
      rightEye: [140, 90],
      leftShoulder: [200, 200],
      rightShoulder: [100, 200],
    })
    const person = { width: 300, height: 400, data: new Float32Array(120_000).fill(1) }
    const perceiver = perceiving({ pose, person, face: null })
    await expect(readGarment(shirt([40, 60, 120]), perceiver)).rejects.toMatchObject({
      code: 'garment_not_found',
      message: expect.stringContaining('from the shoulders to the hips'),
    })
  })
})

describe('wornUpperOf', () => {
  const joint = (x: number, y: number) => ({ x, y, score: 0.8 })
  const limbs = (way: -1 | 1) => ({
    shoulder: joint(150 + way * 50, 100),
    elbow: joint(150 + way * 75, 160),
    wrist: joint(150 + way * 80, 220),
    hip: joint(150 + way * 35, 250),
    knee: joint(150 + way * 35, 350),
  })
  const wearer = {
    left: limbs(-1),
    right: limbs(1),
    centre: { x: 150, y: 100 },
    half: 50,
    torso: 150,
  }
  /** A shirt with cloth on the upper arms of these sides. */
  const shirtWith = (...ways: number[]) =>
    maskWhere({ width: 300, height: 400 }, (i) => {
      const [off, y] = [(i % 300) - 150, Math.floor(i / 300)]
      const onArm = Math.abs(Math.abs(off) - 50 - (y - 100) * 0.4) < 12
      return (
        (Math.abs(off) < 48 && y > 92 && y < 270) ||
        (onArm && y > 95 && y < 140 && ways.includes(Math.sign(off)))
      )
    })

  it('finds the sleeves of both sides', () => {
    const worn = wornUpperOf(shirtWith(-1, 1), wearer)
    expect(worn?.shoulders).toBe('sleeves')
    expect([worn?.left.sleeve, worn?.right.sleeve]).not.toContain(null)
  })

  it('takes no arm beside a sleeveless shirt for a sleeve', () => {
    const worn = wornUpperOf(shirtWith(1), wearer)
    expect(worn?.shoulders).toBe('none')
    expect([worn?.left.sleeve, worn?.right.sleeve]).toEqual([null, null])
    expect(worn?.right.armhole.length).toBeGreaterThan(2)
  })

  it('refuses a front that something covers', () => {
    const { width, height, data } = shirtWith(-1, 1)
    const wornWith = (isHidden: (x: number, y: number) => boolean) => {
      const labels = data.map((value, i) =>
        value === 1 && !isHidden(i % width, Math.floor(i / width)) ? LABEL.top : LABEL.ground,
      )
      return wornShapeOf({ width, height, labels }, wearer)
    }
    expect(wornWith((x, y) => x < 115 && y < 105)?.shape.kind).toBe('top')
    expect(() => wornWith((x, y) => x < 150 && y > 120 && y < 150)).toThrow('front of the garment')
  })

  it.each([
    ['trousers', LABEL.bottom, true],
    ['bare skin', LABEL.skin, false],
  ])('knows whether %s follow below the hem', (_, label, meetsBottom) => {
    const { width, height, data } = shirtWith(-1, 1)
    const labels = data.map((value, i) => {
      if (value === 1) return LABEL.top
      return i > 270 * width && Math.abs((i % width) - 150) < 45 ? label : LABEL.ground
    })
    const parsing = { width, height, labels }
    const shape = wornShapeOf(parsing, wearer)?.shape
    expect(shape).toMatchObject({ kind: 'top', wearer: { meetsBottom } })
  })

  it.each<[string, number, number, number]>([
    ['a hand before the front', LABEL.skin, 130, 210],
    ['hair on the shoulder', LABEL.hair, 118, 96],
  ])('paints cloth over %s', async (_, label, left, top) => {
    const { width, height, data } = shirtWith(-1, 1)
    const isHidden = (i: number) => Math.hypot((i % width) - left, Math.floor(i / width) - top) < 12
    const labels = data.map((value, i) =>
      isHidden(i) ? label : value === 1 ? LABEL.top : LABEL.ground,
    )
    const parsing = { width, height, labels }
    const withHand = { ...wearer, left: { ...wearer.left, wrist: joint(125, 205) } }
    const { mask, hidden } = wornShapeOf(parsing, withHand)!
    const at = top * width + left
    expect([mask.data[at], hidden?.data[at]]).toEqual([1, 1])

    const indexOf = (x: number, y: number) => Math.floor(y) * width + Math.floor(x)
    /** The cloth with what hides it, in a picture so many times as large. */
    const wearing = (clothAt: (y: number) => Colour, times: number) =>
      draw(width * times, height * times, (x, y) =>
        isHidden(indexOf(x / times, y / times)) ? [224, 176, 148] : clothAt(y / times),
      )
    const plain = wearing(() => [30, 60, 140], 1)
    await paintCloth(plain, plain, mask, hidden!)
    expect([...plain.data.subarray(at * 4, at * 4 + 3)]).toEqual([30, 60, 140])

    // Stripes, and threads that only the larger picture shows.
    const stripes = (y: number): Colour => [30, y % 12 < 6 ? 60 : 200, y % 1 < 0.5 ? 120 : 160]
    const large = wearing(stripes, 2)
    await paintCloth(large, shrink(large, height), mask, hidden!)
    let wrong = 0
    eachPixel(large.width, [0, 0, large.width, large.height], (_, x, y) => {
      if (hidden!.data[indexOf(x / 2, y / 2)] !== 1) return
      const [found, cloth] = [colourAt(large, x, y), stripes(y / 2)]
      if (found.some((value, c) => Math.abs(value - cloth[c]!) > (c === 1 ? 40 : 10))) wrong++
    })
    expect(wrong).toBeLessThan(4 * 45)
  })

  it('paints no cloth over skin that is no hand, and over hair on bare shoulders', () => {
    const { width, height, data } = shirtWith()
    const hiddenBy = (label: number, left: number, top: number) => {
      const labels = data.map((value, i) => {
        const [x, y] = [i % width, Math.floor(i / width)]
        if (Math.hypot(x - left, y - top) < 12) return label
        return value === 1 && y > 118 ? LABEL.top : value === 1 ? LABEL.skin : LABEL.ground
      })
      const parsing = { width, height, labels }
      return wornShapeOf(parsing, wearer)?.hidden
    }
    expect(hiddenBy(LABEL.skin, 130, 210)).toBeNull()
    expect(hiddenBy(LABEL.hair, 118, 104)).toBeNull()
  })

  it.each([
    ['dress', 380, 0.6, 100],
    ['dress', 380, 1, 125],
    ['top', 280, 0, 40],
  ])('follows the sides of a %s to the corners of its curved hem', (kind, end, flare, least) => {
    const cloth = maskWhere({ width: 300, height: 400 }, (i) => {
      const [off, y] = [Math.abs((i % 300) - 150), Math.floor(i / 300)]
      const isWithin = off < 48 + Math.max(0, y - 250) * flare && y > 92
      return isWithin && y < end - (off / 120) ** 2 * (kind === 'top' ? 80 : 26)
    })
    const worn = wornUpperOf(cloth, wearer)!
    expect(worn.kind).toBe(kind)
    for (const { side } of [worn.left, worn.right]) {
      expect(Math.abs(side.at(-1)!.x - 150)).toBeGreaterThan(least)
    }
  })

  it('follows a hem that rises to one side of a dress, and reads no cloth below it', () => {
    const dress = maskWhere({ width: 300, height: 400 }, (i) => {
      const [x, y] = [i % 300, Math.floor(i / 300)]
      const flare = Math.max(0, y - 250) * 1.2
      return x > 102 && x < 198 + flare && y > 92 && y < 380 - Math.max(0, x - 170) * 0.6
    })
    const { hem, right } = wornUpperOf(dress, wearer)!
    expect(right.side.at(-1)!.y).toBeLessThan(330)
    const below = hem.filter(({ x, y }) => y > 385 - Math.max(0, x - 170) * 0.6)
    expect(below).toEqual([])
  })

  it('reads a sleeve that reaches over the hand to its end, but not into the body', () => {
    const endOf = (isSleeve: (x: number, y: number) => boolean) => {
      const mask = maskWhere({ width: 300, height: 400 }, (i) => {
        const [x, y] = [Math.abs((i % 300) - 150), Math.floor(i / 300)]
        return (x < 48 && y > 92 && y < 270) || isSleeve(x, y)
      })
      return wornUpperOf(mask, wearer)!.left.sleeve!.outer.at(-1)!.y
    }
    const arm = (x: number, y: number) => Math.abs(x - 50 - Math.min(28, (y - 100) * 0.4)) < 10
    expect(endOf((x, y) => arm(x, y) && y > 95 && y < 250)).toBeGreaterThan(230)
    expect(endOf((x, y) => (arm(x, y) || (x < 78 && y > 180)) && y > 95 && y < 270)).toBeLessThan(
      225,
    )
  })

  it('takes a long top for a dress, also when it has a slit', () => {
    const off = (i: number) => Math.abs((i % 300) - 150)
    const kindOf = (below: Label, gapFrom = 400) => {
      const labels = Uint8Array.from({ length: 120_000 }, (_, i) =>
        i < 95 * 300 || i > 360 * 300 || off(i) > 45 + i / 9000 || (off(i) < 4 && i > gapFrom * 300)
          ? LABEL.ground
          : i < 200 * 300
            ? LABEL.top
            : below,
      )
      return wornShapeOf({ width: 300, height: 400, labels }, wearer)?.shape.kind
    }
    expect(kindOf(LABEL.top)).toBe('dress')
    expect(kindOf(LABEL.top, 330)).toBe('dress')
    expect(kindOf(LABEL.bottom)).toBe('skirt')
  })

  it('leaves out the ground between the legs that was taken for cloth', () => {
    const { width, height, data } = shirtWith(-1, 1)
    const isGap = (i: number) => Math.abs((i % width) - 150) < 5 && i > 265 * width
    const labels = data.map((value, i) => (value === 1 || isGap(i) ? LABEL.top : LABEL.ground))
    const worn = wornShapeOf({ width, height, labels }, wearer)
    expect(worn?.mask.data.lastIndexOf(1)).toBeLessThan(270 * width)
    expect(worn?.shape.kind).toBe('top')
  })
})

describe('a garment without a waist', () => {
  it('is no pair of trousers, though its front is open', async () => {
    const open = '150 60, 132 60, 118 66, 72 100, 52 300, 138 300, 138 150, 150 150'
    expect((await read(cutOut([open])))?.kind).not.toBe('trousers')
    const trousers = '150 60, 90 60, 80 84, 74 108, 52 300, 138 300, 138 150, 150 150'
    expect((await read(cutOut([trousers])))?.kind).toBe('trousers')
  })

  it('is no skirt, though its sleeves are bent and lie on it', async () => {
    const top = '150 60, 110 60, 108 84, 80 108, 54 180, 52 240, 86 280, 88 300, 150 300'
    expect((await read(cutOut([top])))?.kind).not.toBe('skirt')
    const skirt = '150 60, 100 60, 92 84, 80 150, 52 300, 150 300'
    expect((await read(cutOut([skirt])))?.kind).toBe('skirt')
  })
})

describe('clothes on a person who is seen from the hips down', () => {
  const size = { width: 300, height: 400 }
  const pose = poseAt({
    leftElbow: [230, 20],
    leftWrist: [235, 90],
    rightWrist: [65, 90],
    rightElbow: [70, 20],
    leftHip: [185, 70],
    rightHip: [115, 70],
    leftKnee: [185, 230],
    rightKnee: [115, 230],
    leftAnkle: [185, 370],
    rightAnkle: [115, 370],
  })
  const withHipsAt = (y: number) => ({
    ...pose,
    leftHip: { ...pose.leftHip, y },
    rightHip: { ...pose.rightHip, y },
  })
  const isGap = (x: number, y: number) => Math.abs(x - 150) < 20 && y > 150
  /** A shirt, trousers and legs, with what the models know of it. */
  const parsingFrom = (waist: number) => {
    const labels = new Uint8Array(size.width * size.height)
    for (let i = 0; i < labels.length; i++) {
      const [off, y] = [Math.abs((i % size.width) - 150), Math.floor(i / size.width)]
      if (off > 70 || (off < 12 && y > 130)) continue
      labels[i] = y < waist ? LABEL.top : y < 300 ? LABEL.bottom : LABEL.skin
    }
    return { ...size, labels }
  }
  const plane = (share: number) => {
    const data = new Float32Array(size.width * size.height)
    return { ...size, data: data.fill(1, 0, data.length * share) }
  }

  it('are told from trousers without a person by the arms', () => {
    const perception = { pose, person: plane(0.3), face: null }
    expect(isWornOnLegs(perception)).toBe(true)
    expect(isWornOnLegs({ ...perception, person: plane(0.02) })).toBe(false)
    const faint = { x: 0, y: 0, score: 0.3 }
    const armless = { ...pose, leftWrist: faint, rightWrist: faint }
    expect(isWornOnLegs({ ...perception, pose: armless })).toBe(false)
    const footless = { ...pose, leftAnkle: faint, rightAnkle: faint }
    expect(isWornOnLegs({ ...perception, pose: footless })).toBe(true)
    // At the edge of the picture, where hips are 70 pixels below, and knees 160 farther.
    const guessed = {
      ...pose,
      leftShoulder: { x: 190, y: 2, score: 0.7 },
      rightShoulder: { x: 110, y: 2, score: 0.7 },
    }
    expect(isWornOnLegs({ ...perception, pose: guessed })).toBe(true)
    const seen = {
      ...guessed,
      leftHip: { ...pose.leftHip, y: 125 },
      rightHip: { ...pose.rightHip, y: 125 },
    }
    expect(isWornOnLegs({ ...perception, pose: seen })).toBe(false)
  })

  it('are the trousers, when their waist was found or they are all that is seen', () => {
    const worn = shapeOnLegs(parsingFrom(60), pose)
    expect(worn?.shape.kind).toBe('trousers')
    expect(worn?.mask.data.indexOf(1)).toBe(60 * size.width + 80)
    expect(Math.floor(worn!.mask.data.lastIndexOf(1) / size.width)).toBe(299)
    expect(shapeOnLegs(parsingFrom(110), pose)).toBeNull()
    const inSocks = parsingFrom(60)
    inSocks.labels = inSocks.labels.map((label, i) =>
      label === LABEL.skin && i > 360 * size.width ? LABEL.bottom : label,
    )
    expect(shapeOnLegs(inSocks, pose)?.mask).toEqual(worn!.mask)
    const alone = parsingFrom(60)
    alone.labels = alone.labels.map((label, i) =>
      i < 60 * size.width ? LABEL.ground : label === LABEL.bottom ? LABEL.top : label,
    )
    expect(shapeOnLegs(alone, pose)?.shape.kind).toBe('trousers')
    const lost = parsingFrom(60)
    for (let y = 200; y < 230; y++) lost.labels.fill(LABEL.ground, y * 300 + 90, y * 300 + 138)
    expect(shapeOnLegs(lost, pose)).toBeNull()
    expect(shapeOnLegs(parsingFrom(0), withHipsAt(150))).toBeNull()
  })

  it('part below a shirt that hides most of what is above the crotch', () => {
    const underShirt = parsingFrom(80)
    for (const i of underShirt.labels.keys()) {
      const [x, y] = [i % 300, Math.floor(i / 300)]
      if (Math.abs(x - 150) < 12 && y > 100) underShirt.labels[i] = LABEL.ground
    }
    expect(shapeOnLegs(underShirt, pose)?.shape.kind).toBe('trousers')
  })

  it('have shoulders above the picture, a thigh above the hips', () => {
    const { leftShoulder, rightShoulder } = withShoulders(pose)
    expect([leftShoulder.y, rightShoulder.y]).toEqual([-90, -90])
    expect(leftShoulder.x - rightShoulder.x).toBeCloseTo(105.6)
    expect(leftShoulder.x + rightShoulder.x).toBeCloseTo(300)
  })

  it.each([
    ['misses a part of them', (x: number, y: number) => !isGap(x, y) && (x >= 130 || y >= 120)],
    ['fills the gap between them', () => true],
  ])('reads shorts on legs where the mask of the person %s', async (_, isMasked) => {
    const isSeen = (x: number, y: number) => Math.abs(x - 150) <= 70 && !isGap(x, y)
    const picture = draw(300, 400, (x, y) => {
      if (Math.abs(x - 150) > 70) return GROUND
      // The ground between the legs is in the shade, and has the colour of spots on the shorts.
      const isSpot = x % 24 < 8 && y % 24 < 8
      if (isGap(x, y) || (y > 40 && y < 270 && isSpot)) return [150, 152, 158]
      if (y > 330) return [120, 80, 50]
      return y < 40 ? [150, 40, 40] : y < 270 ? [40, 60, 120] : [224, 176, 148]
    })
    const person = maskWhere(picture, (i) => {
      const [x, y] = [i % 300, Math.floor(i / 300)]
      return Math.abs(x - 150) <= 70 && isMasked(x, y)
    })
    const above = { x: 150, y: -60, score: 0.1 }
    const perceiver = perceiving(
      {
        pose: { ...pose, leftShoulder: above, rightShoulder: above },
        person: { ...person, data: new Float32Array(person.data) },
        face: null,
      },
      isSeen,
    )
    const shorts = (await readGarment(picture, perceiver))!
    expect(shorts).toMatchObject({ kind: 'trousers', legs: { crotch: {} } })
    for (const x of [90, 210]) expect(alphaAt(shorts.picture, x, 80)).toBe(255)
    expect(alphaAt(shorts.picture, 150, 195)).toBe(0)
  })
})

describe('reachOf', () => {
  it('measures a wide short sleeve by its outer edge', () => {
    const outer = [
      { x: 80, y: 0 },
      { x: 0, y: 80 },
    ]
    const inner = [
      { x: 80, y: 100 },
      { x: 78, y: 100 },
    ]
    expect(reachOf({ outer, inner }, 200, 300, 1, 200)).toBeGreaterThan(0.3)
  })

  it('covers the whole arm with a wide sleeve that hangs to the hem', () => {
    const outer = [
      { x: 60, y: 0 },
      { x: 0, y: 250 },
    ]
    const inner = [
      { x: 60, y: 110 },
      { x: 40, y: 250 },
    ]
    expect(reachOf({ outer, inner }, 200, 250, 0.5, 200)).toBe(1)
    expect(reachOf({ outer, inner }, 280, 265, 0.5, 200)).toBe(1)
    expect(reachOf({ outer, inner }, 200, 400, 0.5, 200)).toBeLessThan(0.6)
  })
})

describe('FlowGraph', () => {
  it('costs no more than any other cut of a small grid', async () => {
    const width = 4
    const height = 3
    let seed = 7
    const random = () => (seed = (seed * 16807) % 2147483647) / 2147483647
    for (let round = 0; round < 20; round++) {
      const terminal = Float32Array.from({ length: 12 }, () => Math.round(random() * 20 - 10))
      const links = Float32Array.from({ length: 48 }, () => Math.round(random() * 6))
      const cost = (side: ArrayLike<number>) => costOf(side, terminal, links, width, height)
      const sides = Array.from({ length: 4096 }, (_, bits) =>
        Uint8Array.from({ length: 12 }, (_, i) => (bits >> i) & 1),
      )
      const least = Math.min(...sides.map(cost))
      const graph = gridGraph(width, height)
      graph.arcs.set(links)
      graph.terminals.set(terminal)
      expect(cost(await graph.cut())).toBe(least)
    }
  })
})

/** The cost of the terminals and links that a division of the grid cuts. */
function costOf(
  side: ArrayLike<number>,
  terminal: Float32Array,
  links: Float32Array,
  width: number,
  height: number,
): number {
  let sum = 0
  for (let i = 0; i < width * height; i++) {
    if (side[i] === 1) sum += Math.max(0, -terminal[i]!)
    else sum += Math.max(0, terminal[i]!)
    const x = i % width
    const next = [x > 0 ? i - 1 : -1, x < width - 1 ? i + 1 : -1, i - width, i + width]
    for (const [way, to] of next.entries()) {
      if (to < 0 || to >= width * height) continue
      if (side[i] === 1 && side[to] === 0) sum += links[i * 4 + way]!
    }
  }
  return sum
}

describe('crotchOf', () => {
  it('takes no gap that begins near the upper end for that between legs', () => {
    const parted = (from: number) =>
      maskWhere({ width: 100, height: 200 }, (i) => {
        const [x, y] = [i % 100, Math.floor(i / 100)]
        return x >= 10 && x < 90 && y >= 20 && y < 180 && (y < from || x < 40 || x >= 60)
      })
    const crotch = (mask: Mask) => crotchOf(mask, bodyRowsOf(mask)!)
    expect(crotch(parted(68))).toEqual({ x: 50, y: 68 })
    expect(crotch(parted(44))).toBeNull()
  })

  it('finds the gap between legs above a notch in the hem of one', () => {
    const legs = maskWhere({ width: 100, height: 200 }, (i) => {
      const [x, y] = [i % 100, Math.floor(i / 100)]
      const isLeft = x >= 10 && x < 40 && y < 165
      const isRight = x >= 46 && x < 90 && (y < 179 || x < 52 || x >= 56)
      return y >= 20 && y < 180 && (y < 80 ? x >= 10 && x < 90 : isLeft || isRight)
    })
    expect(crotchOf(legs, bodyRowsOf(legs)!)).toEqual({ x: 43, y: 80 })
  })
})

/** A disc in a picture of 200 × 200 pixels. */
const inDisc = (x: number, y: number) => Math.hypot(x - 100, y - 100) < 60
const cutFrom = (size: Size, isCloth: (x: number, y: number) => boolean) =>
  maskWhere(size, (i) => isCloth((i % size.width) + 0.5, Math.floor(i / size.width) + 0.5))

describe('edgelessShareOf', () => {
  const lab = toLab(draw(200, 200, (x, y) => (inDisc(x, y) ? [40, 60, 120] : GROUND)))
  const shareOf = (isCloth: (x: number, y: number) => boolean, noise: number) =>
    edgelessShareOf(cutFrom(lab, isCloth), lab, noise)

  it('is 0 where an outline follows the edges of the picture', () => {
    expect(shareOf(inDisc, 0.02)).toBe(0)
  })

  it('grows with what is missing of the cloth, and with the ground that is taken for cloth', () => {
    const missing = shareOf((x, y) => inDisc(x, y) && y < 100, 0.02)
    expect(missing).toBeGreaterThan(0.3)
    expect(missing).toBeLessThan(0.5)
    expect(
      shareOf((x, y) => inDisc(x, y) || (x > 100 && Math.abs(y - 100) < 20 && x < 190), 0.02),
    ).toBeGreaterThan(0.1)
  })

  it('is 0 on a ground without noise, where every difference counts', () => {
    expect(shareOf((x, y) => inDisc(x, y) && y < 100, 0)).toBe(0)
  })

  it('is 0 where a single pixel was cut out, or nothing', () => {
    expect(shareOf((x, y) => Math.hypot(x - 99.5, y - 99.5) < 1, 0.02)).toBe(0)
    expect(shareOf(() => false, 0.02)).toBe(0)
  })
})

describe('differsFromAround', () => {
  it('is false where a part of the cloth may lie beside what was cut out', () => {
    const picture = draw(200, 200, (x, y) => (inDisc(x, y) ? [40, 60, 120] : [190, 150, 105]))
    const cutAt = (end: number) => cutFrom(picture, (x, y) => inDisc(x, y) && y < end)
    expect(differsFromAround(cutAt(200), picture)).toBe(true)
    expect(differsFromAround(cutAt(90), picture)).toBe(false)
  })
})

describe('fillStripes', () => {
  it('fills the stripes of a sleeve in the colour of the ground, but not a few gaps', () => {
    const size = { width: 60, height: 200 }
    const striped = (period: number) =>
      maskWhere(size, (i) => {
        const [x, y] = [i % 60, Math.floor(i / 60)]
        return x < 40 || y % period < period - 4
      })
    expect(fillStripes(striped(12)).data).not.toContain(0)
    expect(fillStripes(striped(40)).data).toEqual(striped(40).data)
  })
})
