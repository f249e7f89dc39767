/** Ratings and modes of devices as a server knows them, from the DERCapability documents that it has taken. */
import type { ModeName } from '../control/model.ts';
import { scaledOf } from '../control/model.ts';
import { modeTable } from '../control/modes.ts';
import type { ModeBitmap } from '../control/modes.ts';
import type { SeenAnswer } from '../transport/exchange.ts';
import type { DERCapability } from '../xml/documents.ts';
import { Remembered } from './model.ts';

/** Documents of one connection that are remembered. */
const maxDocuments = 200;

interface Taken {
  readonly bitmaps: Readonly<Record<ModeBitmap, bigint>>;
  /** the largest of its rated powers, W */
  readonly ratedW: number;
  /** on `WallClock.monotonicMs` */
  readonly atMs: number;
}

/** Capability of all devices of an EndDevice together. */
export interface TakenCapability {
  readonly ratedW: number;
  /** of the latest document, on `WallClock.monotonicMs` */
  readonly atMs: number;
  readonly supports: (mode: ModeName) => boolean;
}

const bitsOf = (hex: string | undefined) => (hex === undefined ? 0n : BigInt(`0x${hex}`));

function takenOf(capability: DERCapability, atMs: number): Taken {
  const { modesSupported, modesSupported2, doeModesSupported, vppModesSupported } = capability;
  const { rtgMaxW, rtgMaxChargeRateW, rtgMaxDischargeRateW } = capability;
  const powers = [rtgMaxW, rtgMaxChargeRateW, rtgMaxDischargeRateW].map((power) =>
    power === undefined ? 0 : (scaledOf(power.value, power.multiplier) ?? 0),
  );
  const bitmaps = {
    modes: bitsOf(modesSupported),
    modes2: bitsOf(modesSupported2),
    doe: bitsOf(doeModesSupported),
    vpp: bitsOf(vppModesSupported),
  };
  return { bitmaps, ratedW: Math.max(...powers), atMs };
}

export class TakenCapabilities {
  /** by device index; `null`: one document for all devices of a site */
  readonly #documents = new Remembered<Taken>(maxDocuments);

  answered({ request, status, isDisturbed }: SeenAnswer, nowMs: number): void {
    const { method, body, deviceIndex } = request;
    if (method !== 'PUT' || body?.name !== 'DERCapability' || status >= 300 || isDisturbed) return;
    this.#documents.set(String(deviceIndex), takenOf(body.value, nowMs));
  }

  /**
   * @param deviceIndex null: all devices of a site
   * @param documents number of those that an EndDevice with these devices sends
   * @returns null: the server has not taken all of them
   */
  of(deviceIndex: number | null, documents: number): TakenCapability | null {
    const whole = this.#documents.get(String(deviceIndex));
    const parts = deviceIndex === null ? this.#documents.entries().map(([, taken]) => taken) : [];
    const taken = whole === undefined ? parts : [whole];
    if (taken.length === 0 || (whole === undefined && taken.length < documents)) return null;
    return {
      ratedW: taken.reduce((sum, { ratedW }) => sum + ratedW, 0),
      atMs: Math.max(...taken.map(({ atMs }) => atMs)),
      supports: (mode) => {
        const { bitmap, bit } = modeTable[mode];
        return taken.some(({ bitmaps }) => ((bitmaps[bitmap] >> BigInt(bit)) & 1n) === 1n);
      },
    };
  }
}
