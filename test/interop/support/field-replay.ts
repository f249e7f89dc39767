/** Replays the requests of a field client over a connection of its own, and fails where the client would. */
import { expect } from 'chai';
import { ask } from '../../support/http.ts';
import type { Json } from '../../support/http.ts';
import { adu, RawClient } from '../../support/modbus-client.ts';
import type { Place, Step, Taken, Word } from './field-clients.ts';
import type { Stage } from './stage.ts';

const marker = [0x5375, 0x6e53];
const endModel = 0xffff;
/** L of 160 with four inputs */
const hybridInputs = 88;
/** An idle battery exchanges less, in parts of 702.WMax. */
const atRest = 0.01;
const inverterModels = [101, 102, 103, 111, 112, 113];

interface Found {
  readonly id: number;
  readonly address: number;
  readonly length: number;
}

/** The device answered with an exception. */
class Refused extends Error {
  readonly code: number;
  constructor(what: string, code: number) {
    super(`${what}: exception ${code}`);
    this.code = code;
  }
}

const signed = (word: number) => (word << 16) >> 16;
const hex = (word: number) => word.toString(16).padStart(4, '0');

export class Replay {
  readonly #client: RawClient;
  readonly #stage: Stage;
  readonly #unit: number;
  readonly #models = new Map<number, Found>();
  #base = 0;
  #requests = 0;

  private constructor(client: RawClient, stage: Stage, unit: number) {
    this.#client = client;
    this.#stage = stage;
    this.#unit = unit;
  }

  /** @param unit unit id of all requests */
  static async open(stage: Stage, unit: number): Promise<Replay> {
    return new Replay(await RawClient.open(stage.simulator.modbusPort), stage, unit);
  }

  close(): void {
    this.#client.destroy();
  }

  async expectAnswers(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.#step(step);
  }

  async #step(step: Step): Promise<void> {
    switch (step.do) {
      case 'marker':
        return this.#findMarker(step.bases, step.count);
      case 'walk':
        return this.#walk(step);
      case 'read':
        return this.#readBlock(step.at, step.count, step.words ?? []);
      case 'modules':
        return this.#readModules(step.least);
      case 'write': {
        const { model, offset } = this.#place(step.at);
        const words = await this.#words(step.values, model);
        return this.#write(step.function, model.address + offset, words, step.at);
      }
      case 'write_model':
        return this.#writeModel(step);
      case 'limit':
        return this.#expectLimit(step.percent);
      case 'power':
        return this.#expectBattery(step.battery);
    }
  }

  // the discovery -----------------------------------------------------------------------------------------------------

  async #findMarker(bases: readonly number[], count: number): Promise<void> {
    for (const base of bases) {
      try {
        const words = await this.#read(base, count);
        if (words[0] !== marker[0] || words[1] !== marker[1]) continue;
        this.#base = base;
        return;
      } catch (error) {
        // a base outside of the map is refused, and the client goes on to the next
        if (!(error instanceof Refused)) throw error;
      }
    }
    throw new Error(`no marker at ${bases.join(', ')}`);
  }

  async #walk(step: Extract<Step, { do: 'walk' }>): Promise<void> {
    let address = this.#base + 2;
    for (;;) {
      const [id = 0, length = 0] =
        step.heads === 'pair'
          ? await this.#read(address, 2)
          : [...(await this.#read(address, 1)), ...(await this.#read(address + 1, 1))];
      if (id === endModel) {
        if (step.end_length !== undefined) expect(length, 'L of the end model').to.equal(step.end_length);
        break;
      }
      if (!this.#models.has(id)) this.#models.set(id, { id, address, length });
      const content = step.contents?.[id];
      if (content) await this.#read(address + content[0], content[1]);
      if (step.until_found?.every((wanted) => this.#models.has(wanted))) break;
      address += 2 + length;
    }
    const found = [...this.#models.keys()];
    for (const need of step.needs) {
      const any = typeof need === 'number' ? [need] : need;
      expect(
        any.some((id) => this.#models.has(id)),
        `the client looks for ${any.join(' or ')} and finds ${found.join(', ')}`,
      ).to.equal(true);
    }
  }

  /** @throws Error where the device has no such model */
  #place(places: Place | readonly Place[]): { readonly model: Found; readonly offset: number } {
    const list = typeof places === 'string' ? [places] : places;
    for (const place of list) {
      const [id, offset] = place.split('+').map(Number);
      const model = this.#models.get(id ?? 0);
      if (model && offset !== undefined) return { model, offset };
    }
    throw new Error(`the device has no model of ${list.join(', ')}`);
  }

  // blocks and values -------------------------------------------------------------------------------------------------

  async #readBlock(at: Place | readonly Place[], count: number, taken: readonly Taken[]): Promise<void> {
    const { model, offset } = this.#place(at);
    const words = await this.#read(model.address + offset, count);
    for (const value of taken) {
      const number = numberIn(words, offset, value);
      const what = `${model.id}+${value.offset}`;
      if (value.is !== undefined) expect(number, what).to.equal(value.is);
      if (value.above !== undefined) expect(number, what).to.be.above(value.above);
      if (value.shows === undefined) continue;
      const step = value.sf === undefined ? 0 : 10 ** signed(words[value.sf - offset]!);
      const { shown, step: shownStep } = await this.#shown(value.shows);
      // each model rounds to its own step
      const tolerance = (step + shownStep) / 2 + 1e-6 * Math.abs(shown);
      expect(number, `${what} and ${value.shows}`).to.be.closeTo(shown, tolerance);
    }
  }

  /** @param least number of inputs that the client needs */
  async #readModules(least = 1): Promise<void> {
    const { model } = this.#place('160+0');
    const [count = 0] = await this.#read(model.address + 8, 1);
    expect(model.length, 'L of 160 by its N').to.equal(8 + 20 * count);
    expect(count, '160.N').to.be.at.least(least);
    for (let i = 0; i < count; i += 1) {
      const [id] = await this.#read(model.address + 10 + 20 * i, 20);
      expect(id, `ID of input ${i}`).to.equal(i + 1);
    }
  }

  async #words(values: readonly Word[], { address }: Found): Promise<number[]> {
    const words: number[] = [];
    for (const value of values) {
      if (typeof value === 'number') {
        words.push(value);
        continue;
      }
      const [factor = 0] = await this.#read(address + value.sf, 1);
      words.push(Math.round(value.percent * 10 ** -signed(factor)) & 0xffff);
    }
    return words;
  }

  async #writeModel({ at, count, zero, set }: Extract<Step, { do: 'write_model' }>): Promise<void> {
    const { model, offset } = this.#place(at);
    const words = [...(await this.#read(model.address + offset, count))];
    for (const place of zero) words[place - offset] = 0;
    for (const [place, value] of Object.entries(set)) {
      const [word = 0] = await this.#words([value], model);
      words[Number(place) - offset] = word;
    }
    await this.#write(16, model.address + offset, words, at);
  }

  // what it comes to --------------------------------------------------------------------------------------------------

  /** What the REST interface shows of a point, and the step of its register. */
  async #shown(name: string): Promise<{ readonly shown: number; readonly step: number }> {
    const dot = name.indexOf('.');
    const { json } = await ask(this.#stage.simulator.httpPort, `/api/sim/registers/${name.slice(0, dot)}`);
    const point: Json = json.points.find((each: Json) => each.name === name.slice(dot + 1));
    if (typeof point?.value !== 'number') throw new Error(`${name} shows ${String(point?.value)}`);
    return { shown: point.value, step: 10 ** (point.scale_factor ?? 0) };
  }

  /** AC power in the newer model, and in the older one where the client sees it. */
  async #power(): Promise<{ readonly watts: number; readonly maxW: number; readonly step: number }> {
    await this.#stage.settle();
    const { shown: watts, step } = await this.#shown('701.W');
    const { shown: maxW } = await this.#shown('702.WMax');
    const older = [...this.#models.values()].find(({ id }) => inverterModels.includes(id));
    if (older) {
      const float = older.id > 110;
      const [first = 0, second = 0] = await this.#read(older.address + (float ? 22 : 14), 2);
      const old = float ? float32(first, second) : signed(first) * 10 ** signed(second);
      expect(old, `${older.id}.W and 701.W`).to.be.closeTo(watts, step / 2);
    }
    return { watts, maxW, step };
  }

  async #expectLimit(percent: number | null): Promise<void> {
    const { watts, maxW, step } = await this.#power();
    if (percent === null) expect(watts, '701.W without a limit').to.be.above(0.95 * maxW);
    // consumption of the device itself goes on at a limit of 0
    else expect(watts, `701.W at ${percent} %`).to.be.closeTo((percent / 100) * maxW, step + 0.002 * maxW);
  }

  async #expectBattery(battery: 'charges' | 'discharges' | 'rests'): Promise<void> {
    const share = await this.#batteryShare();
    if (battery === 'rests') expect(share, '701.W at rest').to.be.within(-atRest, atRest);
    else expect(Math.sign(share) * Number(Math.abs(share) > atRest), battery).to.equal(battery === 'charges' ? -1 : 1);
  }

  /** Power of the battery as a share of the rating, + to discharge: beside PV that of the inputs of 160, else 701.W. */
  async #batteryShare(): Promise<number> {
    const { watts, maxW } = await this.#power();
    const inputs = [...this.#models.values()].find(({ id, length }) => id === 160 && length === hybridInputs);
    if (!inputs) return watts / maxW;
    const [scale = 0] = await this.#read(inputs.address + 4, 1);
    const [charging = 0] = await this.#read(inputs.address + 61, 1);
    const [discharging = 0] = await this.#read(inputs.address + 81, 1);
    return ((discharging - charging) * 10 ** signed(scale)) / maxW;
  }

  // frames ------------------------------------------------------------------------------------------------------------

  async #read(address: number, count: number): Promise<readonly number[]> {
    const answer = await this.#exchange(`read of ${count} at ${address}`, `03${hex(address)}${hex(count)}`);
    expect(answer[1], 'octets of the answer').to.equal(2 * count);
    return Array.from({ length: count }, (_, i) => answer.readUInt16BE(2 + 2 * i));
  }

  async #write(fc: 6 | 16, address: number, words: readonly number[], at: Place): Promise<void> {
    const values = words.map(hex).join('');
    const size = (2 * words.length).toString(16).padStart(2, '0');
    await this.#exchange(
      `write of ${words.join(' ')} at ${at}`,
      fc === 6 ? `06${hex(address)}${values}` : `10${hex(address)}${hex(words.length)}${size}${values}`,
    );
  }

  /** The PDU of the answer. @throws Refused */
  async #exchange(what: string, pdu: string): Promise<Buffer> {
    this.#requests += 1;
    this.#client.send(adu(this.#requests, this.#unit, pdu));
    const answer = await this.#client.answer();
    expect(answer.readUInt16BE(0), 'transaction id').to.equal(this.#requests);
    expect(answer[6], 'unit id').to.equal(this.#unit);
    const body = answer.subarray(7);
    if ((body[0]! & 0x80) !== 0) throw new Refused(what, body[1]!);
    return body;
  }
}

function float32(first: number, second: number): number {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt16BE(first, 0);
  bytes.writeUInt16BE(second, 2);
  return bytes.readFloatBE(0);
}

function numberIn(words: readonly number[], start: number, { offset, type, sf }: Taken): number {
  const [first = 0, second = 0] = words.slice(offset - start);
  const raw = {
    int16: () => signed(first),
    uint16: () => first,
    uint32: () => first * 0x1_0000 + second,
    float32: () => float32(first, second),
  }[type]();
  if (sf === undefined) return raw;
  const exponent = signed(words[sf - start] ?? 0);
  return exponent < 0 ? raw / 10 ** -exponent : raw * 10 ** exponent;
}
