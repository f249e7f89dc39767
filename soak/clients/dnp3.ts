/** DNP3 masters: polls of events and static data, and set-points that must survive a restart. */
import { Buffer } from 'node:buffer';
import type { RandomStream } from '../../src/core/random.ts';
import { hex } from '../../test/dnp3/rig/frames.ts';
import { TestMaster } from '../../test/dnp3/rig/master.ts';
import { masterAddress } from '../fleet.ts';
import type { Promises } from '../promises.ts';
import type { Gate, Tally } from '../tally.ts';
import { pause, textOf } from '../tally.ts';
import { get } from './rest-call.ts';

const events = hex('3c 02 06 3c 03 06 3c 04 06');
const integrity = hex('3c 02 06 3c 03 06 3c 04 06 3c 01 06');
const clearRestart = hex('50 01 00 07 07 00');
const [readCode, writeCode, directOperate] = [1, 2, 5];
/** IIN2.0 to IIN2.2: function, object or parameter refused */
const refusals = 0x0700;
/** the set-point of AO93, 0.1 % of the power that a battery can discharge with */
const setPoint = 93;
const outputBlock = 0x29;

/** g41v1: a set-point of 32 bits with the prefix of 16 bits */
function operateRequest(index: number, value: number): Buffer {
  const request = Buffer.alloc(12);
  request.set([outputBlock, 1, 0x28]);
  request.writeUInt16LE(1, 3);
  request.writeUInt16LE(index, 5);
  request.writeInt32LE(value, 7);
  return request;
}

class Refused extends Error {}

export interface ScadaOptions {
  readonly gate: Gate;
  readonly tally: Tally;
  readonly random: RandomStream;
  readonly promises: Promises;
  readonly device: number;
  /** a battery takes set-points */
  readonly operates: boolean;
  readonly periodMs: number;
}

/** A master of one outstation on a shared port. */
export class Scada {
  readonly #options: ScadaOptions;
  #master: TestMaster | null = null;

  constructor(options: ScadaOptions) {
    this.#options = options;
  }

  async run(): Promise<void> {
    const { gate, tally } = this.#options;
    while (!gate.isEnded) {
      const { dnp3 } = await gate.open();
      try {
        await this.#session(dnp3);
      } catch (error) {
        tally.error(`outstation ${this.#options.device + 1}: ${textOf(error)}`);
        await pause(100);
      } finally {
        this.cut();
      }
    }
  }

  async #session(port: number): Promise<void> {
    const { gate, tally, device, periodMs, operates, random } = this.#options;
    const master = await TestMaster.connect({
      port,
      outstation: device + 1,
      address: masterAddress,
      timeoutMs: 10_000,
    });
    this.#master = master;
    tally.add('connections');
    await this.#ask(master, writeCode, clearRestart);
    await this.#ask(master, readCode, integrity);
    while (gate.isOpen && !gate.isEnded) {
      if (operates && random.next() < 0.5) await this.#operate(master);
      else await this.#ask(master, readCode, random.next() < 0.2 ? integrity : events);
      await pause(periodMs);
    }
  }

  async #ask(master: TestMaster, code: number, objects: Buffer): Promise<Buffer> {
    // fragments of before are not needed any more
    master.frames.length = 0;
    master.fragments.length = 0;
    const sentMs = performance.now();
    const answer = await master.request(code, objects);
    this.#options.tally.add('answers');
    this.#options.tally.answered(performance.now() - sentMs);
    const iin = answer.at(-1)?.iin ?? 0;
    if ((iin & refusals) !== 0) throw new Refused(`function ${code} is refused with IIN ${iin.toString(16)}`);
    return answer.at(-1)?.objects ?? Buffer.alloc(0);
  }

  async #operate(master: TestMaster): Promise<void> {
    const { device, promises, random, tally } = this.#options;
    const value = Math.floor(random.next() * 1000);
    const operate = async () => {
      const answer = await this.#ask(master, directOperate, operateRequest(setPoint, value));
      const status = answer.at(-1) ?? -1;
      if (status !== 0) throw new Refused(`AO${setPoint} = ${value} is refused with status ${status}`);
      tally.add('promises');
    };
    await promises.change(`704.WSetPct of ${device}`, value / 10, operate, (error) => error instanceof Refused);
  }

  /** Registers after a restart that differ from the set-point that was answered. */
  async issues(http: number): Promise<readonly string[]> {
    const { device, promises } = this.#options;
    const key = `704.WSetPct of ${device}`;
    if (!promises.keys.includes(key)) return [];
    const { points } = await get(http, `registers/704?device=${device}&points=WSetPct`);
    const [point] = points as readonly { value: number | null }[];
    const issue = promises.check(key, point?.value ?? null);
    return issue === null ? [] : [issue];
  }

  cut(): void {
    this.#master?.close().catch(() => undefined);
    this.#master = null;
  }
}
