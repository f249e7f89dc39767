/** Keeps pinned captures in the store, all of them in one slot. */
import { keepingCapture, restoredCapture } from '../capture/kept.ts';
import type { EarlierCapture } from '../capture/kept.ts';
import { captureBounds } from '../contract/captures.ts';
import type { Capture } from '../contract/captures.ts';
import type { Plant } from '../contract/plant.ts';
import { errorText } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { slotName } from '../core/store.ts';
import type { JsonValue } from '../core/store.ts';
import { Turns } from '../core/turns.ts';
import type { LoopShare } from '../core/turns.ts';
import type { State } from './state.ts';

export const captureSlot = slotName('captures', 'pinned');

interface Options {
  readonly state: Pick<State, 'store' | 'values'>;
  readonly plant: Pick<Plant, 'dateMs' | 'simAt'>;
  readonly log: Pick<Logger, 'error' | 'warning'>;
  readonly share: LoopShare;
  /** default: that of the product */
  readonly maxBytes?: number;
}

interface Form {
  readonly value: JsonValue;
  readonly bytes: number;
}

function formOf(value: unknown): Form {
  const text = JSON.stringify(value);
  return { value: JSON.parse(text) as JsonValue, bytes: Buffer.byteLength(text) };
}

export class CaptureKeeping {
  readonly #options: Options;
  readonly #forms = new Map<Capture, Form>();
  /** captures that a warning has named */
  readonly #tooLarge = new WeakSet<Capture>();
  readonly #turns = new Turns();

  constructor(options: Options) {
    this.#options = options;
  }

  /** The captures of the process before; a value that is none is left out with a warning. */
  earlier(): readonly EarlierCapture[] {
    const { state, plant, log } = this.#options;
    const captures: EarlierCapture[] = [];
    for (const value of state.values(captureSlot)) {
      try {
        const capture = restoredCapture(value, (dateMs) => plant.simAt(dateMs));
        if (captures.some(({ id }) => id >= capture.id)) throw new Error(`capture ${capture.id} is not in its order`);
        captures.push(capture);
        this.#forms.set(capture, formOf(value));
      } catch (error) {
        log.warning(`a value of ${captureSlot} in the kept state is left out: ${errorText(error)}`);
      }
    }
    return captures;
  }

  /** Keeps these captures, and no other ones. Resolves when that is durable, or has failed with a line in the log. */
  keep(captures: readonly Capture[]): Promise<void> {
    return this.#turns.take(async () => {
      const { state, log } = this.#options;
      try {
        for (const capture of this.#forms.keys()) if (!captures.includes(capture)) this.#forms.delete(capture);
        await state.store.slot(captureSlot).replace(await this.#valuesOf(captures));
      } catch (error) {
        log.error(`the pinned captures are not kept: ${errorText(error)}`);
      }
    });
  }

  async #valuesOf(captures: readonly Capture[]): Promise<readonly JsonValue[]> {
    const { plant, share, maxBytes = captureBounds.keptBytes } = this.#options;
    const values: JsonValue[] = [];
    let left = maxBytes;
    for (const capture of captures) {
      const form =
        this.#forms.get(capture) ?? formOf(await share.runInParts(keepingCapture(capture, (t) => plant.dateMs(t))));
      this.#forms.set(capture, form);
      if (form.bytes > left) this.#warn(capture);
      else {
        values.push(form.value);
        left -= form.bytes;
      }
    }
    return values;
  }

  #warn(capture: Capture): void {
    if (this.#tooLarge.has(capture)) return;
    this.#tooLarge.add(capture);
    this.#options.log.warning(`capture ${capture.id} ends with the process: the pinned ones are too large to keep it`);
  }
}
