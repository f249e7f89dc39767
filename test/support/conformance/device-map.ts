/** A device's map as a master finds it: by walking the chain with the definitions alone. */
import { definitionOf } from './definitions.ts';
import type { Group, Point } from './definitions.ts';
import type { Master } from './master.ts';
import { isAbsent, numberIn, numberTypeOf, textIn, wordsOf } from './registers.ts';

export const maxRead = 125;
export const maxWrite = 123;

/** One point and its address. */
export interface PlacedPoint {
  readonly modelId: number;
  /** path inside the model, indices from 0: `Crv[1].Pt[0].V` */
  readonly path: string;
  /** `705.Crv[1].Pt[0].V` */
  readonly name: string;
  /** `705.Crv.Pt.V` */
  readonly plainName: string;
  readonly def: Point;
  readonly address: number;
}

export interface FoundModel {
  readonly id: number;
  /** of the ID register */
  readonly address: number;
  readonly length: number;
  readonly points: readonly PlacedPoint[];
}

const bases = [40_000, 0, 50_000];

export class DeviceMap {
  readonly base: number;
  readonly models: readonly FoundModel[];
  /** address of the end model's ID, and its L */
  readonly end: { readonly address: number; readonly length: number };
  readonly #master: Master;
  readonly #byName: ReadonlyMap<string, PlacedPoint>;

  private constructor(master: Master, base: number, models: readonly FoundModel[], end: DeviceMap['end']) {
    this.#master = master;
    this.base = base;
    this.models = models;
    this.end = end;
    this.#byName = new Map(models.flatMap(({ points }) => points.map((point) => [point.name, point] as const)));
  }

  /** @throws Error where no base address has the marker, or the chain does not end */
  static async scan(master: Master): Promise<DeviceMap> {
    const base = await findBase(master);
    const models: FoundModel[] = [];
    for (let address = base + 2; address < 65_534; ) {
      const [id = 0, length = 0] = await master.read(address, 2);
      if (id === 0xffff) return new DeviceMap(master, base, models, { address, length });
      const points = await placed(master, id, address, length);
      models.push({ id, address, length, points });
      address += 2 + length;
    }
    throw new Error('the chain has no end');
  }

  model(id: number): FoundModel {
    const model = this.models.find((each) => each.id === id);
    if (!model) throw new Error(`there is no model ${id}`);
    return model;
  }

  has(name: string): boolean {
    return this.#byName.has(name);
  }

  point(name: string): PlacedPoint {
    const point = this.#byName.get(name);
    if (!point) throw new Error(`there is no point ${name}`);
    return point;
  }

  async words(point: PlacedPoint): Promise<readonly number[]> {
    return this.#master.read(point.address, point.def.size);
  }

  /** Value in engineering units, symbol of an enumeration, text; null: not implemented. */
  async value(name: string): Promise<number | string | null> {
    const point = this.point(name);
    return this.decoded(point, await this.words(point));
  }

  async number(name: string): Promise<number> {
    const value = await this.value(name);
    if (typeof value !== 'number') throw new Error(`${name} is ${value ?? 'not implemented'} and no number`);
    return value;
  }

  async decoded(point: PlacedPoint, words: readonly number[]): Promise<number | string | null> {
    const { def } = point;
    if (def.type === 'string') return textIn(words);
    if (!numberTypeOf(def)) return null;
    if (isAbsent(def, words)) return null;
    const number = numberIn(def, words);
    if (def.symbols && def.type.startsWith('enum'))
      return Object.entries(def.symbols).find(([, value]) => value === number)?.[0] ?? number;
    const exponent = await this.exponent(point);
    return exponent < 0 ? number / 10 ** -exponent : number * 10 ** exponent;
  }

  /** Exponent of the scale factor of a point: of the same group, else of the model. */
  async exponent(point: PlacedPoint): Promise<number> {
    const factor = this.scaleFactor(point);
    if (typeof factor === 'number') return factor;
    return numberIn(factor.def, await this.words(factor));
  }

  scaleFactor(point: PlacedPoint): PlacedPoint | number {
    const { sf } = point.def;
    if (sf === null || typeof sf === 'number') return sf ?? 0;
    const group = point.path.slice(0, point.path.lastIndexOf('.') + 1);
    return this.#byName.get(`${point.modelId}.${group}${sf}`) ?? this.point(`${point.modelId}.${sf}`);
  }

  /** Registers that hold a value in engineering units or a symbol. */
  async encoded(name: string, value: number | string): Promise<number[]> {
    const point = this.point(name);
    if (typeof value === 'string') {
      const number = point.def.symbols?.[value];
      if (number === undefined) throw new Error(`${name} has no symbol ${value}`);
      return wordsOf(point.def, number);
    }
    const exponent = await this.exponent(point);
    return wordsOf(point.def, Math.round(exponent < 0 ? value * 10 ** -exponent : value / 10 ** exponent));
  }

  /** Writes one point; one register by function 6, several by function 16. @throws ModbusRefusal */
  async write(name: string, value: number | string): Promise<void> {
    await this.writeWords(this.point(name), await this.encoded(name, value));
  }

  async writeWords(point: PlacedPoint, words: readonly number[]): Promise<void> {
    const [only] = words;
    if (words.length === 1 && only !== undefined) await this.#master.writeOne(point.address, only);
    else await this.#master.writeMany(point.address, words);
  }
}

async function findBase(master: Master): Promise<number> {
  for (const base of bases) {
    try {
      if (textIn(await master.read(base, 2)) === 'SunS') return base;
    } catch {
      /* it is at another one, or nowhere */
    }
  }
  throw new Error('no base address has the marker');
}

const sizeOf = (points: readonly Point[]) => points.reduce((sum, { size }) => sum + size, 0);

/** The points of a model, repeated as often as its count points say, or as its length has room for. */
async function placed(master: Master, modelId: number, start: number, length: number): Promise<PlacedPoint[]> {
  const points: PlacedPoint[] = [];
  let address = start;
  const countOf = async (count: string | number): Promise<number> => {
    if (typeof count === 'number') return count;
    const point = points.find(({ path }) => path === count);
    if (!point) throw new Error(`model ${modelId}: no count point ${count}`);
    return numberIn(point.def, await master.read(point.address, point.def.size));
  };
  async function walk(group: Group, prefix: string): Promise<void> {
    for (const def of group.points) {
      const path = prefix + def.name;
      const name = `${modelId}.${path}`;
      points.push({ modelId, path, name, plainName: name.replace(/\[\d+\]/g, ''), def, address });
      address += def.size;
    }
    for (const inner of group.groups) {
      const room = start + 2 + length - address;
      const count = inner.count === 0 ? Math.floor(room / sizeOf(inner.points)) : await countOf(inner.count);
      for (let i = 0; i < count; i += 1)
        await walk(inner, `${prefix}${inner.name}${inner.count === 1 ? '' : `[${i}]`}.`);
    }
  }
  await walk(definitionOf(modelId), '');
  return points;
}
