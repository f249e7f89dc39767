/** A master of SunSpec that reads a device through its window: it finds the models by the chain, as any master does. */
import { Buffer } from 'node:buffer';
import type { RegisterWindow } from '../../contract/modbus-report.ts';
import { SimError } from '../../core/errors.ts';
import type { Layout, PointSlot } from '../../sunspec/map/layout.ts';
import type { WordsOf } from './decode.ts';

/** Addresses at which masters look for the marker. */
const bases = [40_000, 0, 50_000] as const;
const marker = 'SunS';
const endModel = 0xffff;
/** A chain with more models goes in a circle. */
const maxModels = 200;

/** What a master has found: addresses of models by id, or why it has found none. */
type Chain = { readonly models: ReadonlyMap<number, number> } | { readonly problem: string };

function peekOrNull(window: RegisterWindow, address: number, count: number): Buffer | null {
  try {
    return Buffer.from(window.peek(address, count));
  } catch (error) {
    if (error instanceof SimError) return null;
    throw error;
  }
}

/** @param own base of the undisturbed map, which a master of the site may know */
function walk(window: RegisterWindow, own: number): Chain {
  const base = [...new Set([own, ...bases])].find(
    (address) => peekOrNull(window, address, 2)?.toString('latin1') === marker,
  );
  if (base === undefined) return { problem: 'a master finds no SunSpec map' };
  const models = new Map<number, number>();
  let address = base + 2;
  for (let count = 0; count < maxModels; count += 1) {
    const header = peekOrNull(window, address, 2);
    const id = header?.readUInt16BE(0) ?? endModel;
    if (header === null || id === endModel) break;
    if (!models.has(id)) models.set(id, address);
    address += 2 + header.readUInt16BE(2);
  }
  return { models };
}

export class Master {
  readonly #layout: Layout;
  readonly #window: RegisterWindow;
  #chain: Chain | null = null;

  constructor(layout: Layout, window: RegisterWindow) {
    this.#layout = layout;
    this.#window = window;
  }

  /** Why a point cannot be read; null: its model is in the chain. */
  problem({ modelId }: PointSlot): string | null {
    const chain = this.#found;
    if ('problem' in chain) return chain.problem;
    return chain.models.has(modelId) ? null : `a master finds no model ${modelId}`;
  }

  /** Registers of a point where the chain leads to; call it only without a `problem`. @throws SimError as a refusal */
  readonly wordsOf: WordsOf = ({ modelId, address, def }) => {
    const chain = this.#found;
    const place = this.#layout.models.find((model) => model.def.id === modelId);
    const found = 'models' in chain ? chain.models.get(modelId) : undefined;
    if (place === undefined || found === undefined)
      throw new SimError('MAP_ILLEGAL_ADDRESS', `there is no model ${modelId}`);
    return Buffer.from(this.#window.peek(found + address - place.address, def.size));
  };

  get #found(): Chain {
    return (this.#chain ??= walk(this.#window, this.#layout.base));
  }
}
