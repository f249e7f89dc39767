/** Quantities in what a server of IEEE 2030.5 was told last: readings of the mirror, and documents of the DER. */
import type { CsipClient } from '../../contract/csip-client.ts';
import type { CsipReadingSet, CsipReadings, CsipSentDocument } from '../../contract/csip-reports.ts';
import { shownAs, tidy } from './model.ts';
import type { CsipDocumentPlace, CsipMember, CsipReadingPlace, Presented, QuantityRow, Shown, Value } from './model.ts';

/** FlowDirectionType: delivered by the device. */
const reverse = 19;
const units: Readonly<Record<number, string>> = { 29: 'V', 33: 'Hz', 38: 'W', 63: 'var' };

/** The value as the server takes it: with the multiplier that it was told. */
function taken({ multiplier, sentMultiplier }: CsipReadingSet, value: number): number {
  const sent = sentMultiplier ?? multiplier;
  return sent === multiplier ? value : tidy(value * 10 ** (sent - multiplier));
}

function shownOf(set: CsipReadingSet, value: number): Shown {
  const sent = set.sentMultiplier ?? set.multiplier;
  return shownAs(set.description ?? `uom ${set.uom}`, Math.round(value * 10 ** -set.multiplier), {
    multiplier: Number(`1e${sent}`),
    unit: units[set.uom] ?? `uom ${set.uom}`,
  });
}

export class CsipReader {
  readonly #readings: CsipReadings;
  readonly #documents: ReturnType<CsipClient['der']>;

  /** @throws SimError UNKNOWN_DEVICE: no client stands for the device */
  constructor(client: CsipClient, deviceIndex: number) {
    this.#readings = client.readings(deviceIndex);
    this.#documents = client.der(deviceIndex);
  }

  read({ csip: place }: QuantityRow): Presented | null {
    if (place === undefined) return null;
    return 'uom' in place ? this.#reading(place) : this.#document(place);
  }

  /** Sets of both directions are one quantity. */
  #reading({ uom, phase }: CsipReadingPlace): Presented | null {
    const sets = this.#readings.sets.filter(
      (set) => set.meter === 'device' && set.uom === uom && (phase === undefined || set.phase === phase),
    );
    const [first] = sets;
    if (first === undefined) return null;
    const common = {
      presenter: 'csip',
      place: `reading of uom ${uom}${phase === undefined ? '' : `, phase ${phase}`}`,
    } as const;
    const last = first.values.at(-1);
    if (last === undefined)
      return {
        ...common,
        value: null,
        missing: 'no reading has been sent yet',
        resolution: null,
        atMs: null,
        shown: [],
      };
    const value = sets.reduce((sum, set) => {
      const each = taken(set, set.values.at(-1)?.value ?? 0);
      return sum + (isDirected(set) && set.flowDirection !== reverse ? -each : each);
    }, 0);
    return {
      ...common,
      value: tidy(value),
      missing: null,
      resolution: Number(`1e${first.sentMultiplier ?? first.multiplier}`),
      atMs: null,
      ...(first.lastPostMs !== null && { sentAtMs: first.lastPostMs }),
      interval: { startMs: last.startServerMs, endMs: last.startServerMs + 1000 * last.durationS },
      shown: sets.map((set) => shownOf(set, set.values.at(-1)?.value ?? 0)),
      ...(sets.some(({ sentMultiplier }) => sentMultiplier !== undefined) && { disturbed: true as const }),
    };
  }

  #document({ document: name, member: usual, others = [], read }: CsipDocumentPlace): Presented | null {
    const sent = this.#documents[name];
    if (sent === null) return null;
    const member = [usual, ...others].find((each) => sent.body[each] !== undefined) ?? usual;
    const common = { presenter: 'csip', place: `${name}.${member}`, atMs: null, sentAtMs: sent.sentAtMs } as const;
    const disturbed = sent.arrived === undefined ? {} : { disturbed: true as const };
    const none = (missing: string) => ({ ...common, ...disturbed, value: null, missing, resolution: null, shown: [] });
    if (sent.result !== 'accepted') return none(`the server has not taken the last document (${sent.result})`);
    if (sent.arrived === null) return none('the server has got nothing that can be read');
    const decoded = read((sent.arrived ?? sent.body)[member]);
    // a device without the member has nothing to tell; a fault may have taken it out
    if (decoded === undefined)
      return disturbed.disturbed && hasMember(sent, member) ? none('the member is missing') : null;
    const { raw, multiplier, value } = decoded;
    return {
      ...common,
      ...disturbed,
      value,
      missing: null,
      resolution: multiplier,
      shown: [shownAs(`${name}.${member}`, raw, { multiplier })],
    };
  }
}

/** Powers have a direction, voltage and frequency do not. */
const isDirected = ({ flowDirection }: CsipReadingSet) => flowDirection !== null && flowDirection !== 0;

const hasMember = ({ body }: CsipSentDocument, member: string) => body[member] !== undefined;

// members of documents, decoded as a server decodes them

type ReadMember = (member: unknown) => CsipMember | undefined;

function objectOf(member: unknown): Readonly<Record<string, unknown>> {
  return typeof member === 'object' && member !== null ? (member as Readonly<Record<string, unknown>>) : {};
}

/** value x 10^multiplier: ActivePower and its like. */
export function scaledMember(): ReadMember {
  return (member) => {
    const { value, multiplier = 0 } = objectOf(member);
    if (typeof value !== 'number' || typeof multiplier !== 'number') return undefined;
    return { raw: value, multiplier: Number(`1e${multiplier}`), value: Number(`${value}e${multiplier}`) };
  };
}

/** A status whose value counts hundredths: PerCent. */
export const hundredthsMember: ReadMember = (member) => {
  const { value } = objectOf(member);
  return typeof value === 'number' ? { raw: value, multiplier: 0.01, value: value / 100 } : undefined;
};

/** A status whose value is a code. */
export function wordMember(words: Readonly<Record<number, Value>>): ReadMember {
  return (member) => {
    const { value } = objectOf(member);
    return typeof value === 'number' ? { raw: value, multiplier: null, value: words[value] ?? value } : undefined;
  };
}

/** A status whose value is a bit field in hexadecimal. */
export function flagMember(bit: number, [off, on]: readonly [Value, Value]): ReadMember {
  return (member) => {
    const { value } = objectOf(member);
    if (typeof value !== 'string') return undefined;
    return { raw: value, multiplier: null, value: (parseInt(value, 16) & (1 << bit)) === 0 ? off : on };
  };
}
